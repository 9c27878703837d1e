import init, { Stage, View } from './carom/carom_web.js';
import { drawing } from './draw.js';

const $ = (id) => document.getElementById(id);
const say = (text) => { $('status').textContent = text; };
const warn = (text) => {
  $('alert').textContent = text ?? '';
  $('alert').hidden = !text;
};
const STEP = 1000 / 60;
const BROWSERS = 'WebGPU is in Chrome and Edge from version 113, in Safari from 26, and in Firefox from 141 (Windows), where the computer has a GPU that the browser trusts.';

// Settings, which the address of the page keeps.
const COUNTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 400000];
const DEFAULTS = { n: 0, mix: 0.5, restitution: 1, gravity: 0, device: 'auto', seed: 1 };
const LIMITS = { n: [0, 400000], mix: [0, 0.9], restitution: [0, 1], gravity: [0, 20], seed: [0, 4294967295] };
// Without a number in the address, the device decides.
const FEWEST = { gpu: 100000, software: 500, cpu: 1000 };
const MOST = { gpu: 400000, software: 5000, cpu: 20000 };
const settings = { ...DEFAULTS };

const from_address = () => {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const [name, [low, high]] of Object.entries(LIMITS)) {
    const number = Number(given.get(name));
    settings[name] = given.has(name) && Number.isFinite(number) ? Math.min(high, Math.max(low, number)) : DEFAULTS[name];
  }
  settings.n = Math.round(settings.n);
  settings.seed = Math.round(settings.seed);
  const device = given.get('device');
  settings.device = ['gpu', 'cpu'].includes(device) ? device : 'auto';
};
const to_address = () => {
  const changed = Object.entries(settings).filter(([name, value]) => value !== DEFAULTS[name]);
  history.replaceState(null, '', changed.length ? `#${new URLSearchParams(changed)}` : location.pathname + location.search);
};
const count_at = (place) => {
  const [low, high] = [COUNTS[0], MOST[runner()]];
  const exact = low * (high / low) ** (place / 100);
  return COUNTS.filter((n) => n <= high).reduce((best, n) => (Math.abs(Math.log(n / exact)) < Math.abs(Math.log(best / exact)) ? n : best));
};
const place_of = (n) => Math.round(100 * Math.log(Math.max(n, 1)) / Math.log(MOST[runner()]));
const count = () => Math.min(settings.n || FEWEST[runner()], MOST[runner()]);
const show_settings = () => {
  $('n').value = place_of(count());
  $('n-out').textContent = count().toLocaleString('en');
  $('n').setAttribute('aria-valuetext', count());
  for (const name of ['mix', 'restitution', 'gravity']) {
    $(name).value = settings[name];
    $(`${name}-out`).textContent = settings[name];
  }
  $('device').value = settings.device;
};

// The worker answers with promises.
let worker = null;
const asked = new Map();
let asks = 0;
const ask = (what, args) => new Promise((resolve, reject) => {
  if (!worker) {
    worker = new Worker(new URL('worker.js', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data: { id, result, error } }) => {
      const { resolve, reject } = asked.get(id);
      asked.delete(id);
      if (error === undefined) resolve(result); else reject(new Error(error));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      worker.terminate();
      worker = null;
      const error = new Error(`the worker of this page failed: ${event.message ?? 'it cannot be loaded'}`);
      asked.forEach(({ reject }) => reject(error));
      asked.clear();
    };
  }
  asked.set(asks, { resolve, reject });
  worker.postMessage({ id: asks++, what, with: args });
});

// What the page shows.
let shown = 'world';
let gpu = null; // { software } where WebGPU can be used
let no_gpu = '';
let stage = null;
let solid = null;
let view = null;
let own_view = null;
let paused = false;
let steps = 0;
let serial = 0; // of the world, so that late answers are of no effect
let stepping = false;
let lost = [];
let due = 0;
let times = [];
let rates = { at: 0, impacts: 0 };
let own = null;
let world = null;

const runner = () => (!gpu ? 'cpu' : gpu.software ? 'software' : 'gpu');
const current = () => (shown === 'own' ? own_view : view);
const size = (canvas) => {
  const scale = Math.min(devicePixelRatio || 1, 2);
  const box = $('picture').getBoundingClientRect();
  const [width, height] = [box.width, box.height].map((side) => Math.max(1, Math.round(side * scale)));
  if (canvas.width === width && canvas.height === height) return false;
  canvas.width = width;
  canvas.height = height;
  return true;
};
const show_canvas = (id) => {
  $('gpu').hidden = id !== 'gpu';
  $('gl').hidden = id !== 'gl';
  $('wait').hidden = Boolean(id);
};
const figure = (id, text) => {
  if ($(id).textContent !== text) $(id).textContent = text;
};

// Finds out what WebGPU can do here.
const find_gpu = async () => {
  gpu = null;
  no_gpu = '';
  if (settings.device === 'cpu') {
    no_gpu = 'The CPU was chosen.';
  } else if (!navigator.gpu) {
    no_gpu = isSecureContext
      ? `This browser has no WebGPU, so the CPU simulates fewer spheres. ${BROWSERS}`
      : 'Browsers have WebGPU only on pages from https or localhost, so the CPU simulates fewer spheres.';
  } else {
    const adapter = await navigator.gpu.requestAdapter({ powerPreference: 'high-performance' }).catch(() => null);
    const { info } = adapter ?? {};
    const software = Boolean(info?.isFallbackAdapter ?? adapter?.isFallbackAdapter)
      || /swiftshader|llvmpipe/i.test(`${info?.architecture} ${info?.description}`);
    if (!adapter) {
      no_gpu = `This browser has WebGPU, but no GPU for it, so the CPU simulates fewer spheres. ${BROWSERS}`;
    } else if (software && settings.device !== 'gpu') {
      no_gpu = `This browser has WebGPU only in software, so the CPU simulates fewer spheres. ${BROWSERS}`;
    } else {
      gpu = { software };
    }
  }
};

const drop_stage = () => {
  stage?.free();
  stage = null;
};

// Begins the bouncing spheres anew.
const begin = async () => {
  const mine = ++serial;
  drop_stage();
  rates = { at: 0, impacts: 0 };
  show_settings();
  if (gpu) {
    show_canvas(shown === 'own' ? 'gl' : '');
    $('wait').textContent = 'The GPU prepares its programs…';
    try {
      size($('gpu'));
      const made = await Stage.create($('gpu'), count(), settings.mix, settings.seed, settings.restitution);
      if (mine !== serial) {
        made.free();
        return;
      }
      made.setRules(settings.restitution, settings.gravity);
      stage = made;
      figure('backend', gpu.software ? 'WebGPU in software' : 'WebGPU');
      see(made.half);
      if (shown === 'world') show_canvas('gpu');
      wake();
      return;
    } catch (error) {
      if (mine !== serial) return;
      gpu = null;
      no_gpu = `WebGPU failed (${error.message ?? error}), so the CPU simulates fewer spheres.`;
      show_settings();
    }
  }
  figure('backend', 'the CPU');
  say(no_gpu);
  try {
    const made = await ask('begin', { count: count(), mix: settings.mix, seed: settings.seed, restitution: settings.restitution, gravity: settings.gravity });
    if (mine !== serial) return;
    world = made;
    see(made.half);
    if (shown === 'world') show_world();
  } catch (error) {
    warn(`The simulation cannot run: ${error.message}`);
  }
};
// The camera stays where it is while the box has the same size.
let seen_half = '';
const see = (half) => {
  const text = Array.from(half).join();
  if (text === seen_half) return;
  seen_half = text;
  view?.free();
  view = new View(...half);
};
const show_world = () => {
  if (stage) {
    show_canvas('gpu');
  } else if (world && solid) {
    solid.show(world);
    solid.move(world.positions, world.look);
    figure('spheres', world.count.toLocaleString('en'));
    show_canvas('gl');
  } else if (!solid) {
    $('wait').textContent = 'This browser can draw neither with WebGL2 nor on a flat canvas, so there is no picture. Files can still be read.';
    show_canvas('');
  }
  wake();
};

// Draws a frame. Runs only while something moves or has changed.
let awake = false;
const wake = () => {
  if (!awake) {
    awake = true;
    requestAnimationFrame(frame);
  }
};
let before = 0;
const frame = (now) => {
  awake = false;
  const moves = shown === 'world' && (!paused || steps > 0) && !document.hidden;
  if (before && now - before < 1000) due = Math.min(due + now - before, 3 * STEP);
  const is_due = due >= 0.9 * STEP || steps > 0;
  if (moves && before) times.push(now - before);
  times = times.slice(-60);
  before = moves ? now : 0;
  const canvas = stage && shown === 'world' ? $('gpu') : $('gl');
  const resized = size(canvas);
  const seen = current()?.numbers(canvas.width, canvas.height);
  try {
    if (stage && shown === 'world') {
      if (resized) stage.resize(canvas.width, canvas.height);
      const took = stage.frame(view, moves && is_due);
      if (took && moves && is_due) {
        due = Math.max(0, due - STEP);
        steps = Math.max(0, steps - 1);
      }
      const { time, pairs, impacts, behind } = stage.report();
      figures(count(), pairs, impacts, time);
      if (behind > 1) say(`The GPU is ${behind.toFixed(1)} s behind.`);
    } else if (solid && seen) {
      solid.draw(seen);
      if (moves && is_due && !stage && world && !stepping) {
        due = Math.max(0, due - STEP);
        steps = Math.max(0, steps - 1);
        step_world();
      }
    }
  } catch (error) {
    fail(error);
    return;
  }
  if (moves) wake();
};
const step_world = async () => {
  const mine = serial;
  stepping = true;
  try {
    const { positions, look, pairs, impacts, time, took } = await ask('step');
    if (mine !== serial) return;
    Object.assign(world, { positions, look });
    if (shown === 'world') {
      solid.move(positions, look);
      figures(world.count, pairs, impacts, time, took);
    }
    wake();
  } catch (error) {
    if (mine === serial) {
      warn(`The simulation ended: ${error.message}. Reset begins anew.`);
      paused = true;
      show_paused();
    }
  } finally {
    stepping = false;
  }
};
const figures = (spheres, pairs, impacts, time, took) => {
  figure('spheres', spheres.toLocaleString('en'));
  const now = performance.now();
  if (now - rates.at < 500) return;
  if (times.length > 2) {
    const mean = times.reduce((sum, x) => sum + x, 0) / times.length;
    figure('frame-time', `${mean.toFixed(1)} ms${took === undefined ? '' : `, step ${took.toFixed(1)} ms`}`);
  }
  figure('pairs-name', stage ? 'Near pairs' : 'Impacts of pairs in a frame');
  figure('pairs', pairs.toLocaleString('en'));
  const passed = time - (rates.time ?? 0);
  if (passed > 0) figure('impacts', Math.round((impacts - rates.impacts) / passed).toLocaleString('en'));
  rates = { at: now, impacts, time };
};
// A lost device, or another error of the GPU.
const fail = (error) => {
  const text = error.message ?? String(error);
  const now = performance.now();
  lost = [...lost.filter((at) => now - at < 60000), now];
  // A stage whose code has failed cannot be freed.
  try { drop_stage(); } catch { stage = null; }
  if (gpu && lost.length <= 3) {
    begin().then(() => say(`The GPU failed (${text}). The world began anew.`));
  } else if (gpu) {
    gpu = null;
    no_gpu = `The GPU failed several times (${text}), so the CPU simulates fewer spheres.`;
    begin();
  } else {
    warn(`The picture cannot be drawn: ${text}`);
  }
};

// Controls.
const show_paused = () => {
  $('pause').setAttribute('aria-pressed', String(paused));
  $('pause').textContent = paused ? 'Go on' : 'Pause';
};
const toggle = () => {
  paused = !paused;
  show_paused();
  say('');
  wake();
};
const step_once = () => {
  paused = true;
  steps += 1;
  show_paused();
  wake();
};
let late = 0;
const anew = () => {
  clearTimeout(late);
  late = setTimeout(begin, 200);
};
$('n').addEventListener('input', () => { settings.n = count_at(Number($('n').value)); changed(); anew(); });
$('mix').addEventListener('input', () => { settings.mix = Number($('mix').value); changed(); anew(); });
for (const name of ['restitution', 'gravity']) {
  $(name).addEventListener('input', () => {
    settings[name] = Number($(name).value);
    changed();
    try { stage?.setRules(settings.restitution, settings.gravity); } catch (error) { fail(error); }
    if (!stage && world) ask('rules', { restitution: settings.restitution, gravity: settings.gravity }).catch((error) => warn(error.message));
  });
}
$('device').addEventListener('change', async () => {
  settings.device = $('device').value;
  settings.n = 0;
  lost = [];
  changed();
  say('');
  await find_gpu();
  begin();
});
const changed = () => {
  to_address();
  show_settings();
};
addEventListener('hashchange', async () => {
  from_address();
  await find_gpu();
  begin();
});
$('pause').addEventListener('click', toggle);
$('step').addEventListener('click', step_once);
const reset = () => {
  warn('');
  if (shown === 'own') back();
  begin();
};
$('reset').addEventListener('click', reset);
$('link').addEventListener('click', async () => {
  to_address();
  try {
    await navigator.clipboard.writeText(location.href);
    say('The link is in the clipboard.');
  } catch {
    say(`The link: ${location.href}`);
  }
});
for (const form of document.forms) form.addEventListener('submit', (event) => event.preventDefault());

// Drag, wheel, touch, keyboard.
const picture = $('picture');
const pointers = new Map();
const apart = () => {
  const [p, q] = [...pointers.values()];
  return Math.hypot(p.x - q.x, p.y - q.y);
};
picture.addEventListener('pointerdown', (event) => {
  picture.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
});
picture.addEventListener('pointermove', (event) => {
  const from = pointers.get(event.pointerId);
  if (!from || !current()) return;
  const gap = pointers.size === 2 ? apart() : 0;
  const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
  pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  if (pointers.size === 2) {
    if (gap > 0) current().wheel(Math.log(apart() / gap) / -Math.log(0.9));
  } else {
    current().drag(dx, dy);
  }
  wake();
});
for (const name of ['pointerup', 'pointercancel']) picture.addEventListener(name, (event) => pointers.delete(event.pointerId));
picture.addEventListener('wheel', (event) => {
  event.preventDefault();
  current()?.wheel(-event.deltaY / (event.deltaMode ? 3 : 100));
  wake();
}, { passive: false });
const KEYS = {
  ArrowLeft: () => current()?.drag(-30, 0), ArrowRight: () => current()?.drag(30, 0),
  ArrowUp: () => current()?.drag(0, -30), ArrowDown: () => current()?.drag(0, 30),
  '+': () => current()?.wheel(1), '=': () => current()?.wheel(1), '-': () => current()?.wheel(-1),
  ' ': toggle, '.': step_once, r: reset, R: reset,
};
picture.addEventListener('keydown', (event) => {
  const does = !event.ctrlKey && !event.metaKey && !event.altKey && KEYS[event.key];
  if (!does) return;
  event.preventDefault();
  does();
  wake();
});
new ResizeObserver(wake).observe(picture);
document.addEventListener('visibilitychange', wake);

// Own files.
const table = { key: 'a', down: false, from: 0, count: 100, total: 0 };
const HEADS = [['a', 'a'], ['b', 'b'], ['toi', 'Time'], ['depth', 'Depth']];
const NAMES = ['no contact', '1', '2', '3', '4', '5 and more'];
const DOTS = ['#4d6280', '#3f97dd', '#36c3ad', '#a5cf45', '#f2bd3c', '#f26350'];
const number_in = (id) => {
  const text = $(id).value.trim();
  const number = Number(text);
  return text === '' || !Number.isFinite(number) ? undefined : number;
};
const own_settings = () => ({ radius: number_in('radius'), dt: number_in('dt') ?? 0, device: settings.device });
const open = async (files) => {
  if (!files.length) return;
  warn('');
  say(`Reading ${files.map(({ name }) => name).join(', ')}…`);
  try {
    const read = await Promise.all(files.map(async (file) => ({ name: file.name, bytes: await file.arrayBuffer() })));
    const names = read.map(({ name }) => name);
    show_own(await ask('open', { files: read, ...own_settings() }), [...new Set([...(own?.names ?? []), ...names])].slice(-2));
    say('');
  } catch (error) {
    say('');
    warn(error.message);
  }
};
const look = async (frame) => {
  warn('');
  try {
    show_own(await ask('look', { frame, ...own_settings() }), own.names);
  } catch (error) {
    warn(error.message);
  }
};
const show_own = (made, names) => {
  // The camera stays where it is from frame to frame.
  if (own?.names.join() !== names.join()) {
    own_view?.free();
    own_view = new View(...made.half);
  }
  own = { ...made, names };
  shown = 'own';
  if (solid) {
    solid.show(made);
    solid.move(made.positions, made.look);
    show_canvas('gl');
  }
  $('back').hidden = false;
  $('result').hidden = false;
  $('file-name').textContent = names.join(' and ');
  const plural = (n, what) => `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`;
  const parts = [plural(made.count, 'sphere')];
  if (made.triangles) parts.push(plural(made.triangles, 'triangle'));
  parts.push(`${plural(made.pairs, 'pair')} (${plural(made.touching, 'pair').replace(/ pairs?/, '')} touch at the start)`);
  if (made.walls) parts.push(plural(made.walls, 'contact with walls').replace('contact with wallss', 'contacts with walls'));
  if (made.periodic) parts.push('periodic box');
  parts.push(`found in ${made.time.toFixed(1)} ms on the ${made.backend === 'gpu' ? 'GPU' : 'CPU'}`);
  $('summary').textContent = parts.join(', ') + '.' + (made.triangles && !made.count ? ' Open a file of spheres to see which touch this mesh.' : '');
  $('notes').replaceChildren(...made.notes.map((note) => Object.assign(document.createElement('li'), { textContent: note })));
  $('legend').replaceChildren(...NAMES.map((name, k) => {
    const span = document.createElement('span');
    const dot = document.createElement('i');
    dot.style.background = DOTS[k];
    span.append(dot, name);
    return span;
  }), 'contacts of a sphere');
  $('frames').hidden = made.frames < 2;
  $('frame').max = made.frames - 1;
  $('frame').value = made.frame ?? 0;
  $('frame-out').textContent = `${made.frame ?? 0} of ${made.frames - 1}${made.timestep === null ? '' : ` (timestep ${made.timestep})`}`;
  figure('spheres', made.count.toLocaleString('en'));
  figure('pairs', (made.pairs + made.walls).toLocaleString('en'));
  figure('backend', made.backend === 'gpu' ? 'WebGPU' : 'the CPU');
  figure('frame-time', `list ${made.time.toFixed(1)} ms`);
  figure('impacts', '–');
  $('pairs-name').textContent = 'Touching pairs';
  table.from = 0;
  show_rows();
  wake();
};
const show_rows = async () => {
  try {
    const { rows, total } = await ask('rows', { key: table.key, down: table.down, from: table.from, count: table.count });
    table.total = total;
    $('rows').replaceChildren(...rows.map((row) => {
      const line = document.createElement('tr');
      line.append(...row.map((text) => Object.assign(document.createElement('td'), { textContent: text })));
      return line;
    }));
    $('range').textContent = total ? `${(table.from + 1).toLocaleString('en')} to ${Math.min(total, table.from + table.count).toLocaleString('en')} of ${total.toLocaleString('en')}` : 'nothing touches';
    $('earlier').disabled = table.from === 0;
    $('later').disabled = table.from + table.count >= total;
    $('save').disabled = total === 0;
    [...$('heads').children].forEach((head, k) => {
      const own = HEADS[k][0] === table.key;
      head.setAttribute('aria-sort', own ? (table.down ? 'descending' : 'ascending') : 'none');
      head.firstChild.textContent = HEADS[k][1] + (own ? (table.down ? ' ▼' : ' ▲') : '');
    });
  } catch (error) {
    warn(error.message);
  }
};
$('heads').append(...HEADS.map(([key, name]) => {
  const head = document.createElement('th');
  head.scope = 'col';
  const button = Object.assign(document.createElement('button'), { type: 'button', textContent: name });
  button.addEventListener('click', () => {
    table.down = table.key === key && !table.down;
    table.key = key;
    table.from = 0;
    show_rows();
  });
  head.append(button);
  return head;
}));
$('earlier').addEventListener('click', () => { table.from = Math.max(0, table.from - table.count); show_rows(); });
$('later').addEventListener('click', () => { table.from += table.count; show_rows(); });
$('save').addEventListener('click', async () => {
  const url = URL.createObjectURL(await ask('csv'));
  Object.assign(document.createElement('a'), { href: url, download: 'pairs.csv' }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
});
const back = () => {
  shown = 'world';
  own = null;
  own_view?.free();
  own_view = null;
  ask('close');
  $('file').value = '';
  $('back').hidden = true;
  $('result').hidden = true;
  figure('pairs', '–');
  figure('backend', stage ? (gpu.software ? 'WebGPU in software' : 'WebGPU') : 'the CPU');
  warn('');
  show_world();
};
$('back').addEventListener('click', back);
$('file').addEventListener('change', () => open([...$('file').files]));
let frame_late = 0;
$('frame').addEventListener('input', () => {
  clearTimeout(frame_late);
  frame_late = setTimeout(() => look(Number($('frame').value)), 60);
});
for (const id of ['radius', 'dt']) {
  $(id).addEventListener('change', () => {
    if (own) look(Number($('frame').value));
    else if ($('file').files.length) open([...$('file').files]);
  });
}
addEventListener('dragover', (event) => {
  event.preventDefault();
  document.body.classList.add('over');
});
addEventListener('dragleave', () => document.body.classList.remove('over'));
addEventListener('drop', (event) => {
  event.preventDefault();
  document.body.classList.remove('over');
  open([...event.dataTransfer.files]);
});
$('example').addEventListener('click', () => {
  // Three frames of spheres that fall on each other.
  let seed = 7;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const spheres = Array.from({ length: 400 }, () => [0, 1, 2].map(() => 10 * random()));
  let text = '';
  for (let k = 0; k < 3; k++) {
    text += `400\nProperties=species:S:1:pos:R:3:radius:R:1 Lattice="10 0 0 0 10 0 0 0 10" pbc="F F F"\n`;
    for (const place of spheres) {
      text += `A ${place.map((x) => x.toFixed(3)).join(' ')} ${(0.3 + 0.1 * k).toFixed(1)}\n`;
    }
  }
  open([new File([text], 'example.xyz')]);
});

// The start.
addEventListener('unhandledrejection', ({ reason }) => warn(`Something failed: ${reason?.message ?? reason}`));
const start = async () => {
  from_address();
  show_settings();
  try {
    if (typeof WebAssembly !== 'object') throw new Error('this browser has no WebAssembly');
    await init({ module_or_path: new URL('carom/carom_web_bg.wasm', import.meta.url) });
  } catch (error) {
    $('wait').textContent = 'No picture without WebAssembly.';
    warn(`carom cannot start: ${error.message}. The page needs WebAssembly, which all current browsers have; some companies and private modes switch it off.`);
    for (const element of document.querySelectorAll('form input, form button, form select')) element.disabled = true;
    return;
  }
  try {
    solid = drawing($('gl'));
  } catch (error) {
    warn(error.message);
  }
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
    paused = true;
    show_paused();
  }
  await find_gpu();
  await begin();
  if (paused) say(`Paused, because your system asks for less motion. ${no_gpu}`);
};
start();
