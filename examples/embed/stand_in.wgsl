struct Params { count: u32, dt: f32, table: u32, pad: u32 }
struct Earliest { toi: f32, partner: u32 }
struct Bounds { radius: atomic<u32>, speed: atomic<u32>, pairs: atomic<u32>, pad: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> positions: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> velocities: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> earliest: array<Earliest>;
@group(0) @binding(4) var<storage, read_write> bounds: Bounds;
@group(0) @binding(5) var<storage, read_write> heads: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> links: array<u32>;

@compute @workgroup_size(256)
fn measure(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= params.count { return; }
    atomicMax(&bounds.radius, bitcast<u32>(positions[id.x].w));
    atomicMax(&bounds.speed, bitcast<u32>(length(velocities[id.x].xyz)));
}
fn cell_of(i: u32) -> vec3<i32> {
    let size = 1.001 * (2.0 * bitcast<f32>(atomicLoad(&bounds.radius)) + 2.0 * bitcast<f32>(atomicLoad(&bounds.speed)) * params.dt) + 1e-20;
    return vec3<i32>(floor(positions[i].xyz / size));
}
fn slot(c: vec3<i32>) -> u32 {
    let u = bitcast<vec3<u32>>(c);
    var h = (u.x * 73856093u) ^ (u.y * 19349663u) ^ (u.z * 83492791u);
    h ^= h >> 15u;
    return h % params.table;
}
@compute @workgroup_size(256)
fn insert(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= params.count { return; }
    links[id.x] = atomicExchange(&heads[slot(cell_of(id.x))], id.x + 1u);
}
@compute @workgroup_size(256)
fn find(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if i >= params.count { return; }
    let p = positions[i];
    let v = velocities[i].xyz;
    var best = Earliest(3e38, 0xffffffffu);
    var pairs = 0u;
    let home = cell_of(i);
    for (var k = 0; k < 27; k++) {
        let c = home + vec3(k % 3 - 1, (k / 3) % 3 - 1, k / 9 - 1);
        var j = atomicLoad(&heads[slot(c)]);
        while j != 0u {
            let o = j - 1u;
            j = links[o];
            if o == i || any(cell_of(o) != c) { continue; }
            var toi = -1.0;
            let first = i < o;
            let d = select(p.xyz - positions[o].xyz, positions[o].xyz - p.xyz, first);
            let m = select(v - velocities[o].xyz, velocities[o].xyz - v, first);
            let r = p.w + positions[o].w;
            let cc = dot(d, d) - r * r;
            if cc <= 0.0 { toi = 0.0; } else {
                let b = dot(d, m);
                let a = dot(m, m);
                let disc = b * b - a * cc;
                if b < 0.0 && disc >= 0.0 {
                    let t = cc / (-b + sqrt(disc));
                    if t <= params.dt { toi = t; }
                }
            }
            if toi < 0.0 { continue; }
            pairs += 1u;
            if toi < best.toi || (toi == best.toi && o < best.partner) { best = Earliest(toi, o); }
        }
    }
    atomicAdd(&bounds.pairs, pairs);
    earliest[i] = best;
}
