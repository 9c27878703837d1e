// Draws the background, the spheres, the mesh, the edges of the box, and the text. Each sphere is drawn as a
// square that faces the eye, in which each fragment intersects its ray with the sphere.

struct View {
    clip_from_world: mat4x4<f32>,
    eye: vec3<f32>,
    // Angle that a pixel covers as seen from the eye, in radians.
    pixel: f32,
    up: vec3<f32>,
    // Speed unit of the colour scale of the spheres.
    speed: f32,
    half: vec3<f32>,
    // Distance over which light between the spheres fades to 1/e, as in fog.
    depth: f32,
    size: vec2<f32>,
    words: vec2<f32>,
}

struct Triangle {
    a: vec3<f32>,
    b: vec3<f32>,
    c: vec3<f32>,
}

// Whether the shader encodes colours as sRGB, because the render target does not.
override encode = false;

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<storage, read> positions: array<vec4<f32>>;
// Velocity (xyz) and glow (w) of each sphere.
@group(0) @binding(2) var<storage, read> glowing: array<vec4<f32>>;
@group(0) @binding(3) var words: texture_2d<f32>;
@group(0) @binding(4) var<storage, read> triangles: array<Triangle>;

const CORNERS = array(vec2(-1.0, -1.0), vec2(1.0, -1.0), vec2(-1.0, 1.0), vec2(1.0, 1.0));

// Direction from the spheres to the light source.
const KEY = vec3(0.30, 0.87, 0.39);

fn shown(light: vec3<f32>) -> vec3<f32> {
    // Narkowicz's fit of the ACES film curve turns bright colours white instead of clipping them.
    let x = max(light, vec3(0.0));
    let film = clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), vec3(0.0), vec3(1.0));
    return coded(film);
}

fn coded(linear: vec3<f32>) -> vec3<f32> {
    if !encode {
        return linear;
    }
    let curve = 1.055 * pow(linear, vec3(1.0 / 2.4)) - 0.055;
    return select(curve, 12.92 * linear, linear <= vec3(0.0031308));
}

struct Impostor {
    @builtin(position) clip: vec4<f32>,
    // Vector from the eye to a corner of a sphere's square.
    @location(0) ray: vec3<f32>,
    // Vector from the eye to the centre of a sphere (xyz), and its radius (w).
    @location(1) @interpolate(flat) centre: vec4<f32>,
    @location(2) @interpolate(flat) colour: vec3<f32>,
    @location(3) @interpolate(flat) glow: vec3<f32>,
}

fn by_speed(x: f32) -> vec3<f32> {
    let slow = mix(vec3(0.020, 0.045, 0.15), vec3(0.035, 0.22, 0.42), smoothstep(0.0, 3.5, x));
    let fast = mix(slow, vec3(0.75, 0.42, 0.16), smoothstep(3.0, 9.0, x));
    return mix(fast, vec3(0.80, 0.14, 0.03), smoothstep(8.0, 24.0, x));
}

// Returns the colour in which a sphere glows after an impact. x is the change of the sphere's velocity, in
// units of the colour scale.
fn by_heat(x: f32) -> vec3<f32> {
    let colour = mix(vec3(1.0, 0.11, 0.015), vec3(1.0, 0.42, 0.07), smoothstep(4.0, 26.0, x));
    return colour * (x * x / (40.0 + x * x)) * (0.35 + 0.045 * x);
}

@vertex
fn sphere(@builtin(vertex_index) corner: u32, @builtin(instance_index) i: u32) -> Impostor {
    let sphere = positions[i];
    let velocity = glowing[i];
    let centre = sphere.xyz - view.eye;
    let radius = sphere.w;
    let square = dot(centre, centre);
    var out: Impostor;
    if square <= 1.001 * radius * radius {
        out.clip = vec4(0.0, 0.0, 2.0, 1.0);
        return out;
    }
    // Half the side of a sphere's square, which contains the outline of the sphere and a margin of one pixel
    // for the soft edge.
    let distance = sqrt(square);
    let size = radius * sqrt(square / (square - radius * radius)) + view.pixel * distance;
    let ahead = centre / distance;
    let right = normalize(cross(ahead, view.up));
    let up = cross(right, ahead);
    let at = CORNERS[corner];
    out.ray = centre + size * (at.x * right + at.y * up);
    out.clip = view.clip_from_world * vec4(view.eye + out.ray, 1.0);
    out.centre = vec4(centre, radius);
    out.colour = by_speed(length(velocity.xyz) / view.speed);
    out.glow = by_heat(velocity.w / view.speed);
    // A glowing sphere loses its own colour, because an orange glow and a blue sphere would add up to grey.
    out.colour *= 1.0 - 0.9 * saturate(2.5 * out.glow.r);
    return out;
}

// Returns the distance from `place` along `direction` to the nearest wall of the box.
fn to_wall(place: vec3<f32>, direction: vec3<f32>) -> f32 {
    let walls = (select(-view.half, view.half, direction > vec3(0.0)) - place) / direction;
    return max(0.0, min(walls.x, min(walls.y, walls.z)));
}

// Returns the light from a place on a surface towards the eye, which looks along `ray`.
fn lighting(place: vec3<f32>, normal: vec3<f32>, ray: vec3<f32>, colour: vec3<f32>, glow: vec3<f32>) -> vec3<f32> {
    // Light gets weaker with the distance that it travels inside the box, as if the spheres absorbed it.
    // This applies both to its way from the light source to a surface and to its way from there to the
    // eye.
    let key = exp(-to_wall(place, KEY) / view.depth);
    let sky = exp(-to_wall(place, -ray) / (1.5 * view.depth));
    let facing = dot(normal, KEY);
    let wrapped = saturate((facing + 0.25) / 1.25);
    let half_way = normalize(KEY - ray);
    let shine = pow(saturate(dot(normal, half_way)), 40.0) * saturate(4.0 * facing);
    let rim = pow(1.0 - saturate(-dot(normal, ray)), 3.0);
    let ambient = mix(vec3(0.10, 0.09, 0.12), vec3(0.34, 0.42, 0.58), 0.5 + 0.5 * normal.y);

    let light = colour * (2.6 * key * wrapped * vec3(1.0, 0.94, 0.84) + sky * ambient);
    return light + sky * rim * vec3(0.10, 0.16, 0.26) + 0.5 * key * shine + glow * mix(0.35, 1.0, sky);
}

struct Lit {
    @builtin(frag_depth) depth: f32,
    @location(0) colour: vec4<f32>,
}

@fragment
fn lit(in: Impostor) -> Lit {
    let ray = normalize(in.ray);
    let centre = in.centre.xyz;
    let radius = in.centre.w;
    let along = dot(centre, ray);
    // Vector to the sphere's centre from the closest point of the ray. The length of this vector could also
    // be computed as a difference of squares, but cancellation would lose digits.
    let beside = centre - along * ray;
    let square = dot(beside, beside);
    let cover = saturate((radius - sqrt(square)) / (view.pixel * along) + 0.5);
    if cover <= 0.0 {
        discard;
    }
    let hit = (along - sqrt(max(radius * radius - square, 0.0))) * ray;
    let normal = normalize(hit - centre);
    let place = view.eye + hit;

    // A sphere glows after a bounce, brightest where its surface faces the eye.
    let glow = in.glow * (0.5 + 1.0 * saturate(-dot(normal, ray)));
    let light = lighting(place, normal, ray, in.colour, glow);
    let clip = view.clip_from_world * vec4(place, 1.0);
    return Lit(clip.z / clip.w, vec4(shown(light), cover));
}

struct Facet {
    @builtin(position) clip: vec4<f32>,
    @location(0) place: vec3<f32>,
    @location(1) @interpolate(flat) normal: vec3<f32>,
}

@vertex
fn mesh(@builtin(vertex_index) corner: u32, @builtin(instance_index) i: u32) -> Facet {
    let triangle = triangles[i];
    var corners = array(triangle.a, triangle.b, triangle.c);
    let place = corners[corner];
    let normal = normalize(cross(triangle.b - triangle.a, triangle.c - triangle.a));
    return Facet(view.clip_from_world * vec4(place, 1.0), place, normal);
}

@fragment
fn facet(in: Facet) -> @location(0) vec4<f32> {
    let ray = normalize(in.place - view.eye);
    // The normal may point to either side of the triangle.
    let normal = faceForward(in.normal, ray, in.normal);
    let light = lighting(in.place, normal, ray, vec3(0.15, 0.16, 0.18), vec3(0.0));
    return vec4(shown(light), 1.0);
}

@vertex
fn edge(@builtin(vertex_index) end: u32, @builtin(instance_index) i: u32) -> @builtin(position) vec4<f32> {
    let axis = i / 4u;
    var corner: vec3<f32>;
    corner[axis] = f32(end) * 2.0 - 1.0;
    corner[(axis + 1u) % 3u] = f32(i % 2u) * 2.0 - 1.0;
    corner[(axis + 2u) % 3u] = f32(i / 2u % 2u) * 2.0 - 1.0;
    return view.clip_from_world * vec4(1.004 * view.half * corner, 1.0);
}

@fragment
fn line() -> @location(0) vec4<f32> {
    return vec4(coded(vec3(0.20, 0.28, 0.40)), 1.0);
}

@vertex
fn everywhere(@builtin(vertex_index) corner: u32) -> @builtin(position) vec4<f32> {
    return vec4(CORNERS[corner], 0.0, 1.0);
}

@fragment
fn background(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    let from_middle = length((at.xy - 0.5 * view.size) / view.size.y);
    let colour = mix(vec3(0.020, 0.028, 0.045), vec3(0.004, 0.005, 0.009), saturate(from_middle));
    // Noise of half a colour step hides the bands of a smooth gradient.
    let noise = fract(52.9829189 * fract(dot(at.xy, vec2(0.06711056, 0.00583715)))) - 0.5;
    return vec4(coded(colour) + noise * 0.0006, 1.0);
}

struct Word {
    @builtin(position) clip: vec4<f32>,
    @location(0) texel: vec2<f32>,
}

@vertex
fn word(@builtin(vertex_index) corner: u32) -> Word {
    let at = 0.5 + vec2(0.5, -0.5) * CORNERS[corner];
    let pixel = 12.0 + at * view.words;
    let clip = vec2(2.0, -2.0) * pixel / view.size + vec2(-1.0, 1.0);
    return Word(vec4(clip, 1.0, 1.0), at * view.words);
}

@fragment
fn ink(in: Word) -> @location(0) vec4<f32> {
    let cover = textureLoad(words, vec2<i32>(in.texel), 0).r;
    let colour = mix(vec3(0.006, 0.008, 0.013), vec3(0.75, 0.80, 0.87), cover);
    return vec4(coded(colour), mix(0.7, 1.0, cover));
}
