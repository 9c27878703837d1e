// node.mjs FOLDER: runs the checks of the CPU backend.
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

const folder = resolve(process.argv[2]);
const carom = await import(pathToFileURL(`${folder}/carom_web_checks.js`).href);
await carom.default({ module_or_path: await readFile(`${folder}/carom_web_checks_bg.wasm`) });
console.log(`Node.js ${process.version}: ${carom.alone()}`);
