// Finds the images of proxies that reach into the periodic cell. `count` adds their
// number to that of the segments, and `main` appends them. Twin of
// `src/cpu/images/list.rs`.

#import invocation::{invocation}
#import carom::{carom_image}
#import image_word::{pack_image}
#import lattice::{along_edges, displacement, slack_of}
#import scan_block::{sh_sums, sum_before}
#import segments::{Path, extent_of, half_cell_of, middle, part_of, path_of}
#import size_class::{size_class_power}
#import sortable::{sortable}
#import types::{Counters, Entry, Lattice, Params, Segment, SizeClass, Space, Sphere}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<uniform> lattice: Lattice;
@group(0) @binding(2) var<storage, read> space: Space;
@group(0) @binding(3) var<storage, read_write> wrapped_spheres: array<Sphere>;
@group(0) @binding(4) var<storage, read_write> size_class_of_sphere: array<u32>;
@group(0) @binding(5) var<storage, read_write> segments: array<Segment>;
@group(0) @binding(6) var<storage, read_write> entries: array<Entry>;
@group(0) @binding(7) var<storage, read_write> size_classes: array<SizeClass>;
@group(0) @binding(8) var<storage, read_write> counters: Counters;

struct Listed {
    sphere: u32,
    number: u32,
    // Lower corner along the edges, in fixed point. An array, because the alignment
    // of a vector would enlarge this struct.
    low: array<i32, 3>,
    // The lowest multiple of each edge, packed by pack_image().
    first: u32,
    // Packed by pack_image().
    dims: u32,
}

// Segments without images, or TOO_MANY if the buffer is too small.
const TOO_MANY = 0xffffffffu;
var<workgroup> sh_further: u32;
var<workgroup> sh_listed: array<Listed, SCAN_WORKGROUP>;
var<workgroup> sh_base: u32;

// The box along the edges is enlarged by more than all rounding errors.
fn listed_at(sphere: u32, number: u32) -> Listed {
    let own = wrapped_spheres[sphere];
    let power = size_class_power(size_class_of_sphere[sphere]);
    let path = path_of(own.center, own.radius, own.velocity, space.frame);
    let at = along_edges(middle(path, power, number) - lattice.cell_corner);
    let shift = path.shift * part_of(power + 1u);
    let far = abs(path.center) + abs(path.shift) + abs(lattice.cell_corner);
    let error = BOX_ERROR * EPSILON * vec3<f32>(
        dot(lattice.dual_bounds[0].xyz, far),
        dot(lattice.dual_bounds[1].xyz, far),
        dot(lattice.dual_bounds[2].xyz, far),
    );
    let lengths = vec3<f32>(lattice.duals[0].w, lattice.duals[1].w, lattice.duals[2].w);
    // The first segments of spheres that hardly move relative to each other (see
    // STILL) report the pair, so their boxes must overlap.
    let half = (lengths * path.radius + abs(along_edges(shift))) * (1.0 + 32.0 * EPSILON) + error;
    let alone = pack_image(vec3<i32>(1));
    var listed = Listed(sphere, number, array<i32, 3>(), pack_image(vec3<i32>(0)), alone);
    let limit = vec3<f32>(lattice.most_cells);
    if lattice.most_cells < 0.0 || !all(abs(at) + half <= limit) {
        atomicMax(&counters.out_of_range, sphere + 1u);
        return listed;
    }
    let one = f32(1u << FRACTION_BITS);
    let low = vec3<i32>(floor((at - half) * one));
    let high = -vec3<i32>(floor(-(at + half) * one));
    // Image n reaches into the interval from 0 to 1 if high + n >= 0 and low + n < 1.
    let first = -(high >> vec3<u32>(FRACTION_BITS));
    let last = -(low >> vec3<u32>(FRACTION_BITS));
    let dims = last - first + 1;
    let image = carom_image(entries[sphere].image);
    if any(abs(vec3<f32>(image + first)) > limit) || any(abs(vec3<f32>(image + last)) > limit)
        || any(vec3<f32>(dims) > limit) || u32(dims.x * dims.y * dims.z) > MAX_IMAGES_EACH {
        atomicMax(&counters.out_of_range, sphere + 1u);
        return listed;
    }
    listed.low = array<i32, 3>(low.x, low.y, low.z);
    listed.first = pack_image(first);
    listed.dims = pack_image(dims);
    return listed;
}

fn images_of(listed: Listed) -> u32 {
    let dims = carom_image(listed.dims);
    return u32(dims.x * dims.y * dims.z);
}

// Among the images of a segment, or TOO_MANY.
fn place_of_wrapped(listed: Listed) -> u32 {
    let at = vec3<u32>(-carom_image(listed.first));
    let dims = vec3<u32>(carom_image(listed.dims));
    if any(at >= dims) {
        return TOO_MANY;
    }
    return (at.z * dims.y + at.y) * dims.x + at.x;
}

// Image 0 is a proxy already.
fn further_images(listed: Listed) -> u32 {
    return images_of(listed) - select(1u, 0u, place_of_wrapped(listed) == TOO_MANY);
}

fn has_several(listed: Listed) -> bool {
    return images_of(listed) > 1u || place_of_wrapped(listed) == TOO_MANY;
}

// Writes the `Entry` of a segment with several images. Those after the first segment
// get a copy of the sphere at an index of their own, `proxy`.
fn write_own(proxy: u32, listed: Listed) {
    let entry = entries[listed.sphere];
    if proxy >= params.spheres {
        segments[proxy - params.spheres].sphere = proxy;
        wrapped_spheres[proxy] = wrapped_spheres[listed.sphere];
        size_class_of_sphere[proxy] = size_class_of_sphere[listed.sphere];
    }
    entries[proxy] = Entry(
        listed.sphere | SEVERAL_IMAGES,
        entry.image,
        listed.low,
    );
}

fn raise(size_class: u32, axis: u32, x: f32) {
    let low = sortable(-x);
    let high = sortable(x);
    if atomicLoad(&size_classes[size_class].low[axis]) < low {
        atomicMax(&size_classes[size_class].low[axis], low);
    }
    if atomicLoad(&size_classes[size_class].high[axis]) < high {
        atomicMax(&size_classes[size_class].high[axis], high);
    }
}

fn include(size_class: u32, path: Path, number: u32) {
    let power = size_class_power(size_class);
    let at = middle(path, power, number);
    raise(size_class, 0u, at.x);
    raise(size_class, 1u, at.y);
    raise(size_class, 2u, at.z);
    let half_cell = bitcast<u32>(half_cell_of(extent_of(path), power));
    if atomicLoad(&size_classes[size_class].half_cell) < half_cell {
        atomicMax(&size_classes[size_class].half_cell, half_cell);
    }
}

// Counted without image 0. `proxy` is its index in `entries`.
fn write_image(proxy: u32, listed: Listed, k: u32) {
    let place = k + select(0u, 1u, k >= place_of_wrapped(listed));
    let dims = vec3<u32>(carom_image(listed.dims));
    let row = place / dims.x;
    let image = carom_image(listed.first) + vec3<i32>(vec3<u32>(place % dims.x, row % dims.y, row / dims.y));
    var sphere = wrapped_spheres[listed.sphere];
    sphere.radius += slack_of(sphere.center, sphere.radius, image);
    sphere.center += displacement(image);
    let size_class = size_class_of_sphere[listed.sphere];
    include(size_class, path_of(sphere.center, sphere.radius, sphere.velocity, space.frame), listed.number);
    segments[proxy - params.spheres] = Segment(proxy, listed.number);
    wrapped_spheres[proxy] = sphere;
    size_class_of_sphere[proxy] = size_class;
    entries[proxy] = Entry(
        listed.sphere | SEVERAL_IMAGES,
        pack_image(carom_image(entries[listed.sphere].image) + image),
        array<i32, 3>(
            listed.low[0] + (image.x << FRACTION_BITS),
            listed.low[1] + (image.y << FRACTION_BITS),
            listed.low[2] + (image.z << FRACTION_BITS),
        ),
    );
}

// The invocation that adds image k of the workgroup, in the order of the invocations.
fn owner_of(k: u32) -> u32 {
    var owner = 0u;
    for (var size = SCAN_WORKGROUP / 2u; size > 0u; size /= 2u) {
        owner += select(0u, size, sh_sums[owner + size - 1u] <= k);
    }
    return owner;
}

fn take_images(count: u32) -> u32 {
    let base = atomicAdd(&counters.images[0], count);
    if base + count < base {
        atomicAdd(&counters.images[1], 1u);
    }
    return base;
}

@compute @workgroup_size(SCAN_WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    if local == 0u {
        let low = atomicLoad(&counters.segments[0]);
        let fits = atomicLoad(&counters.segments[1]) == 0u && low <= params.segment_capacity;
        sh_further = select(TOO_MANY, low, fits);
    }
    let further = workgroupUniformLoad(&sh_further);
    if further == TOO_MANY {
        return;
    }
    let proxy = invocation(workgroup, workgroups, local, SCAN_WORKGROUP);
    var count = 0u;
    if proxy < params.spheres + further {
        var segment = Segment(proxy, 0u);
        if proxy >= params.spheres {
            segment = segments[proxy - params.spheres];
        }
        if size_class_of_sphere[segment.sphere] != NO_SIZE_CLASS {
            let listed = listed_at(segment.sphere, segment.number);
            count = further_images(listed);
            sh_listed[local] = listed;
            if has_several(listed) {
                write_own(proxy, listed);
            }
        }
    }
    let before = sum_before(count, local);
    if local == SCAN_WORKGROUP - 1u {
        sh_base = 0u;
        if before + count > 0u {
            sh_base = take_images(before + count);
        }
    }
    workgroupBarrier();
    // Images without room are counted. Then this step searches nothing.
    let room = params.segment_capacity - further;
    let left = room - min(sh_base, room);
    for (var k = local; k < min(sh_sums[SCAN_WORKGROUP - 1u], left); k += SCAN_WORKGROUP) {
        let owner = owner_of(k);
        let number = k - select(0u, sh_sums[max(owner, 1u) - 1u], owner > 0u);
        write_image(params.spheres + further + sh_base + k, sh_listed[owner], number);
    }
}

@compute @workgroup_size(1)
fn count() {
    let more = atomicLoad(&counters.images[0]);
    let before = atomicAdd(&counters.segments[0], more);
    let carry = select(0u, 1u, before + more < before);
    atomicAdd(&counters.segments[1], atomicLoad(&counters.images[1]) + carry);
}
