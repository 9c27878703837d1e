import init from './carom_web.js';

const url = new URL('carom_web_bg.wasm', import.meta.url);
// Node.js does not fetch files. Bundlers are not to look for its modules.
const files = 'node:fs/promises';
const is_file = url.protocol === 'file:' && globalThis.process?.versions?.node;
await init({
  module_or_path: is_file ? (await import(/* webpackIgnore: true */ /* @vite-ignore */ files)).readFile(url) : url,
});

export { Detector, GpuSimulation, NeighborList, Simulation, read, readMesh } from './carom_web.js';
