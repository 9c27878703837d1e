// The work that takes long, away from the page: the simulation on the CPU, and own files.
import init, { Detector, Scene, Simulation, read, readMesh } from './carom/carom_web.js';

const ready = init({ module_or_path: new URL('carom/carom_web_bg.wasm', import.meta.url) });
const STEP = 1 / 60;
// A step with more impacts goes on in the next one, so that the page can ask for something else.
const IMPACTS = 50000;
const GLOW = Math.exp(-STEP / 0.35);

const smooth = (low, high, x) => {
  const t = Math.min(1, Math.max(0, (x - low) / (high - low)));
  return t * t * (3 - 2 * t);
};
const SLOW = [0.020, 0.045, 0.15];
const COOL = [0.035, 0.22, 0.42];
const WARM = [0.75, 0.42, 0.16];
const HOT = [0.80, 0.14, 0.03];

// The picture of a simulation: places and radii, and colours by speed with the heat of the last impacts.
let world = null;

const picture = () => {
  const center = world.simulation.center;
  const velocity = world.simulation.velocity;
  const count = world.radius.length;
  const positions = new Float32Array(4 * count);
  const look = new Float32Array(4 * count);
  for (let i = 0; i < count; i++) {
    let [speed, change] = [0, 0];
    for (let k = 0; k < 3; k++) {
      positions[4 * i + k] = center[3 * i + k];
      speed += velocity[3 * i + k] ** 2;
      change += (velocity[3 * i + k] - world.before[3 * i + k]) ** 2;
    }
    positions[4 * i + 3] = world.radius[i];
    world.heat[i] = Math.max(world.heat[i] * GLOW, Math.sqrt(change));
    speed = Math.sqrt(speed);
    const [a, b, c] = [smooth(0, 3.5, speed), smooth(3, 9, speed), smooth(8, 24, speed)];
    for (let k = 0; k < 3; k++) {
      const slow = SLOW[k] + a * (COOL[k] - SLOW[k]);
      const fast = slow + b * (WARM[k] - slow);
      look[4 * i + k] = fast + c * (HOT[k] - fast);
    }
    look[4 * i + 3] = world.heat[i];
  }
  world.before = velocity;
  return { positions, look };
};

// The triangles of a mesh, nine numbers for each, around a middle.
const corners = ({ vertices, triangles }, middle) => {
  const all = new Float32Array(3 * triangles.length);
  triangles.forEach((vertex, n) => {
    for (let k = 0; k < 3; k++) all[3 * n + k] = vertices[3 * vertex + k] - middle[k];
  });
  return all;
};

let detector = null;
let own = { spheres: null, mesh: null, list: null };

const COLOURS = [[0.05, 0.075, 0.12], [0.03, 0.25, 0.55], [0.02, 0.45, 0.35], [0.35, 0.55, 0.06], [0.85, 0.50, 0.03], [0.85, 0.12, 0.05]];

// Finds what touches in the own world, and makes its picture.
const touch = async (dt, device) => {
  const { spheres, mesh } = own;
  if (detector?.device !== device) {
    detector?.detector.free();
    detector = null;
    detector = { device, detector: await Detector.create({ device }) };
  }
  const empty = { center: new Float32Array(0), radius: new Float32Array(0), velocity: new Float32Array(0) };
  const { center, radius, velocity, domain } = spheres ?? empty;
  const count = radius.length;
  const clock = performance.now();
  const found = await detector.detector.detect({ center, radius, velocity, dt, domain, walls: mesh ? [{ mesh }] : [] });
  const time = performance.now() - clock;
  const { pairs, walls } = found;
  const contacts = new Uint32Array(count);
  for (const side of [pairs.a, pairs.b, walls.sphere]) for (const i of side) contacts[i]++;
  own.list = { pairs, walls, order: null, key: null, ids: spheres?.ids };
  const low = [Infinity, Infinity, Infinity];
  const high = low.map((x) => -x);
  const extend = (numbers, reach) => {
    for (let n = 0; n < numbers.length; n++) {
      const k = n % 3;
      const r = reach ? reach[(n - k) / 3] : 0;
      low[k] = Math.min(low[k], numbers[n] - r);
      high[k] = Math.max(high[k], numbers[n] + r);
    }
  };
  extend(center, radius);
  if (mesh) extend(mesh.vertices);
  const span = Math.max(...high.map((x, k) => x - low[k]), 1e-30);
  const middle = low.map((x, k) => (Number.isFinite(x) ? 0.5 * (x + high[k]) : 0));
  const half = low.map((x, k) => (Number.isFinite(x) ? Math.max(0.5 * (high[k] - x), 0.01 * span) : 1));
  // The picture has the size of the one of the bouncing spheres, for worlds in metres and in nanometres.
  const scale = 10 / (0.5 * span);
  const positions = new Float32Array(4 * count);
  const look = new Float32Array(4 * count);
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < 3; k++) positions[4 * i + k] = (center[3 * i + k] - middle[k]) * scale;
    positions[4 * i + 3] = radius[i] * scale;
    look.set(COLOURS[Math.min(contacts[i], COLOURS.length - 1)], 4 * i);
  }
  return {
    positions, look, half: half.map((x) => x * scale), fog: 40,
    corners: mesh ? corners(mesh, middle).map((x) => x * scale) : new Float32Array(0),
    count, pairs: pairs.count, walls: walls.count, triangles: mesh ? mesh.triangles.length / 3 : 0,
    touching: pairs.toi.reduce((n, toi) => n + (toi === 0), 0), time,
    frame: spheres?.frame ?? null, timestep: spheres?.timestep ?? null, notes: spheres?.notes ?? [],
    periodic: Boolean(domain?.periodic.some((is) => is)), backend: found.statistics.backend,
  };
};

// Number `k` of the list, which has the pairs first and then the walls.
const entry = (k) => {
  const { pairs, walls, ids } = own.list;
  const name = (i) => (ids ? ids[i] : i);
  const w = k - pairs.count;
  return w < 0
    ? { a: name(pairs.a[k]), b: name(pairs.b[k]), toi: pairs.toi[k], depth: pairs.depth[k], wall: false }
    : { a: name(walls.sphere[w]), b: walls.wall[w], toi: walls.toi[w], depth: walls.depth[w], wall: true };
};
// The shortest text that is this float32 again, or this float64.
const text = (x, is32) => {
  if (!is32) return String(x);
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(x.toPrecision(digits));
    if (Math.fround(short) === x) return String(short);
  }
  return String(Number(x.toPrecision(9)));
};

const does = {
  begin({ count, mix, seed, restitution, gravity }) {
    const scene = new Scene(count, mix, seed);
    const { half, positions, velocities, vertices, triangles } = scene;
    scene.free();
    const part = (of, k, width) => {
      const all = new Float64Array((of.length / 4) * width);
      for (let i = 0; i < of.length / 4; i++) for (let j = 0; j < width; j++) all[width * i + j] = of[4 * i + k + j];
      return all;
    };
    const radius = part(positions, 3, 1);
    const velocity = part(velocities, 0, 3);
    const low = Array.from(half, (x) => -x);
    const simulation = new Simulation({
      center: part(positions, 0, 3), radius, velocity, mass: part(velocities, 3, 1).map((x) => 1 / x),
      walls: [{ box: { low, high: Array.from(half) } }, { mesh: { vertices, triangles } }],
      restitution, wallRestitution: restitution, gravity: [0, -gravity, 0], contactTime: STEP / 16, maxStepImpacts: IMPACTS,
    });
    world?.simulation.free();
    world = { simulation, radius, before: velocity, heat: new Float32Array(radius.length), impacts: 0 };
    return { ...picture(), half: Array.from(half), fog: 3, corners: corners({ vertices, triangles }, [0, 0, 0]), count: radius.length };
  },
  step() {
    const clock = performance.now();
    const report = world.simulation.step(STEP);
    world.impacts += report.sphereImpacts + report.wallImpacts;
    return { ...picture(), time: report.time, pairs: report.sphereImpacts, impacts: world.impacts, took: performance.now() - clock };
  },
  rules({ restitution, gravity }) {
    world?.simulation.setRestitution(restitution);
    world?.simulation.setWallRestitution(restitution);
    world?.simulation.setGravity(0, -gravity, 0);
  },
  async open({ files, radius, dt, device }) {
    // Nothing of the world before is lost if a file is broken.
    const before = own;
    own = { ...own };
    try {
      for (const { name, bytes } of files) {
        if (/\.(stl|obj)(\.(gz|zst|bz2|xz))?$/i.test(name)) {
          own.mesh = readMesh(name, new Uint8Array(bytes));
        } else {
          const spheres = read(name, new Uint8Array(bytes), { radius, ids: false });
          own.spheres = { ...spheres, name, bytes, given: radius, count: spheres.frame === null ? 1 : spheres.frame + 1 };
        }
      }
      return { ...(await touch(dt, device)), frames: own.spheres?.count ?? 1 };
    } catch (error) {
      own = before;
      throw error;
    }
  },
  async look({ frame, radius, dt, device }) {
    const { spheres } = own;
    if (spheres && (frame !== spheres.frame || radius !== spheres.given)) {
      const again = read(spheres.name, new Uint8Array(spheres.bytes), { radius, frame: spheres.frame === null ? undefined : frame });
      own.spheres = { ...spheres, ...again, given: radius };
    }
    return { ...(await touch(dt, device)), frames: own.spheres?.count ?? 1 };
  },
  close() {
    own = { spheres: null, mesh: null, list: null };
  },
  rows({ key, down, from, count }) {
    const { list } = own;
    const total = list.pairs.count + list.walls.count;
    const sorted = `${key} ${down}`;
    if (list.key !== sorted) {
      const numbers = new Float64Array(total);
      for (let k = 0; k < total; k++) numbers[k] = entry(k)[key];
      const sign = down ? -1 : 1;
      list.order = Uint32Array.from(numbers.keys()).sort((p, q) => sign * (numbers[p] - numbers[q]) || p - q);
      list.key = sorted;
    }
    const is32 = list.pairs.toi instanceof Float32Array;
    const rows = Array.from(list.order.subarray(from, from + count), (k) => {
      const { a, b, toi, depth, wall } = entry(k);
      return [String(a), wall ? `triangle ${b}` : String(b), text(toi, is32), text(depth, is32)];
    });
    return { rows, total };
  },
  csv() {
    const { list } = own;
    const is32 = list.pairs.toi instanceof Float32Array;
    const order = list.order ?? Uint32Array.from({ length: list.pairs.count + list.walls.count }, (_, k) => k);
    const lines = Array.from(order, (k) => {
      const { a, b, toi, depth, wall } = entry(k);
      return `${a},${wall ? '' : b},${wall ? b : ''},${text(toi, is32)},${text(depth, is32)}\n`;
    });
    return new Blob(['a,b,wall,toi,depth\n', ...lines], { type: 'text/csv' });
  },
};

let last = Promise.resolve();
onmessage = ({ data: { id, what, with: args } }) => {
  // One after the other: a detector does one thing at a time.
  last = last.then(async () => {
    try {
      await ready;
      const result = await does[what](args ?? {});
      const moved = Object.values(result ?? {}).filter(ArrayBuffer.isView).map(({ buffer }) => buffer);
      postMessage({ id, result }, moved);
    } catch (error) {
      postMessage({ id, error: error instanceof WebAssembly.RuntimeError ? `carom failed: ${error.message}` : error.message ?? String(error) });
    }
  });
};
