// node.mjs FOLDER runs the checks of the CPU backend. node.mjs FOLDER speed [COUNT [REPEATS]] prints the time of a step of each
// scene, in ms.
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

const [folder, what, count = 100000, repeats = 15] = process.argv.slice(2);
const made = resolve(folder);
const carom = await import(pathToFileURL(`${made}/carom_web_checks.js`).href);
await carom.default({ module_or_path: await readFile(`${made}/carom_web_checks_bg.wasm`) });
console.log(what === 'speed' ? carom.speed(Number(count), Number(repeats)) : `Node.js ${process.version}: ${carom.alone()}`);
