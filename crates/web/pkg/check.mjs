// check.mjs PACKAGE: uses the npm package in a folder, as programs in Node.js do.
import assert from 'node:assert/strict';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = pathToFileURL(path.resolve(process.argv[2]) + path.sep);
for (const name of ['index.js', 'inline.js']) {
  const { Detector, Simulation, read, readMesh } = await import(new URL(name, folder));
  const detector = await Detector.create();
  assert.equal(detector.backend, 'cpu');
  for (const Numbers of [Float32Array, Float64Array]) {
    const { pairs, walls } = await detector.detect({
      center: new Numbers([0, 0, 0, 5, 0, 0, 0, 9, 0]), radius: 1, velocity: new Numbers([10, 0, 0, 0, 0, 0, 0, 0, 0]), dt: 1,
      walls: [{ halfSpace: { normal: [0, -1, 0], offset: -9.5 } }, { mesh: { vertices: [-9, 8.5, -9, 9, 8.5, -9, 0, 8.5, 9], triangles: [0, 1, 2] } }],
    });
    // The spheres are 5 apart, and meet when they are 2 apart: at 3/10.
    assert.deepEqual([...pairs.a, ...pairs.b, ...pairs.toi], [0, 1, new Numbers([0.3])[0]]);
    assert.ok(pairs.toi instanceof Numbers && pairs.images === null);
    assert.deepEqual([[...walls.sphere], [...walls.wall], [...walls.toi], [...walls.depth]], [[2, 2], [0, 1], [0, 0], [0.5, 0.5]]);
    const domain = { lengths: [10, 20, 20] };
    const list = await detector.findNeighbors({ center: new Numbers([0.5, 0, 0, 9.5, 0, 0]), cutoff: 2, skin: 0.5, domain });
    assert.deepEqual([[...list.a], [...list.b], [...list.images], [...list.distances]], [[0], [1], [-1, 0, 0], [1]]);
    const moved = (x) => ({ center: new Numbers([x, 0, 0, 9.5, 0, 0]), cutoff: 2, skin: 0.5, domain });
    assert.ok(list.update(moved(0.625)));
    assert.deepEqual([...list.distances], [1.125]);
    assert.ok(!list.update(moved(1.5)));
    list.free();
  }
  const wrong = async (step, kind, what) => assert.rejects(() => detector.detect(step), (error) => {
    assert.equal(error.name, 'CaromError');
    assert.equal(error.kind, kind);
    assert.match(error.message, what);
    return true;
  });
  const center = new Float32Array(6);
  await wrong({ center, radius: -1 }, 'input', /sphere 0.*radius/s);
  await wrong({ center, radius: 1, raduis: 2 }, 'input', /unknown field raduis/);
  await wrong({ center }, 'input', /lacks the field radius/);
  await wrong({ radius: 1 }, 'input', /lacks the field center/);
  await wrong({ center: center.subarray(1), radius: 1 }, 'input', /center must be three numbers/);
  await wrong({ center, radius: new Float64Array(2) }, 'input', /radius must be a Float32Array as center is/);
  await wrong({ center, radius: [1, 2, 3] }, 'input', /./);
  await wrong({ center, radius: 1, walls: [{}] }, 'input', /a wall needs one of/);
  await wrong({ center, radius: 1, domain: { lengths: [1, 2] } }, 'input', /lengths must be an array of 3 numbers/);
  await wrong(7, 'input', /must be an object/);
  const two = [detector.detect({ center, radius: 1 }), detector.detect({ center, radius: 1 })];
  const ends = await Promise.allSettled(two);
  assert.ok(ends.every(({ status, reason }) => status === 'fulfilled' || reason.kind === 'misuse'));
  assert.equal((await detector.detect({ center, radius: 1 })).pairs.count, 1);
  detector.free();

  const simulation = new Simulation({
    center: [2, 5, 5, 6, 5, 5], radius: 1, velocity: [6, 0, 0, 0, 0, 0], walls: [{ box: { low: [0, 0, 0], high: [10, 10, 10] } }], impacts: true,
  });
  // The first sphere stops at x = 4 after 1/3, and the second one goes on to the wall.
  const report = simulation.step(1);
  assert.ok(report.completed && simulation.time === 1);
  assert.deepEqual([report.sphereImpacts, report.wallImpacts, [...report.impactSphere], [...report.impactPartner]], [1, 1, [0, 1], [1, -2]]);
  assert.ok(Math.abs(report.impactTime[0] - 1 / 3) < 1e-12);
  assert.ok(Math.abs(simulation.center[0] - 4) < 1e-9 && Math.abs(simulation.center[3] - 8) < 1e-9);
  assert.throws(() => simulation.setRestitution(2), { kind: 'input' });
  simulation.free();

  const bytes = (text) => new TextEncoder().encode(text);
  const world = read('melt.xyz', bytes('1\n\nAr 0 0 0\n2\n\nAr 0 0 0\nAr 0 0 3\n'), { radius: 0.5, frame: 0 });
  assert.deepEqual([[...world.center], [...world.radius], world.frame, world.domain], [[0, 0, 0], [0.5], 0, null]);
  assert.throws(() => read('bad.csv', bytes('x,y,z,radius\n0,0,0,1\n0,oops,0,1\n')), { kind: 'input', message: /bad\.csv, line 3: field y/ });
  assert.deepEqual([...readMesh('corner.obj', bytes('v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n')).triangles], [0, 1, 2]);
}
console.log('The npm package does what its README says, with a separate wasm file and with the wasm inlined.');
