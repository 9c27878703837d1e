// The correlation curve (the mean number of other spheres within each distance of a sphere), and the spacings
// and cell edges that follow from it.
// Twin of `src/shared/space.rs`.

#needs params

// The workgroup's copy of the correlation curve: log2 of the mean number of other spheres within each
// distance of a sphere. Each kernel that uses the functions of this file must first fill it.
var<workgroup> sh_log_others: array<f32, OCTAVES>;

// Returns the mean number of other proxies (spheres or time segments) in the cube of half edge `distance`
// around one of them. Time segments are assumed to be distributed as the spheres are.
fn others(proxies: f32, distance: f32) -> f32 {
    let x = clamp(log2(distance) + 127.0, 0.0, f32(OCTAVES - 2u));
    let i = u32(x);
    let low = sh_log_others[i];
    let log = low + (sh_log_others[i + 1u] - low) * (x - f32(i));
    return exp2(log) * (proxies / f32(params.spheres));
}

// A cube centred at a sphere or time segment of a grid contains one other of them on average if its edge
// is as long as the *spacing*. Returns the spacing in a grid with `proxies` spheres or time segments.
fn spacing_of(proxies: f32) -> f32 {
    let level = log2(f32(params.spheres) / proxies);
    // A binary search finds the first entry of the correlation curve that is above `level`. The entries
    // never decrease.
    var low = 0u;
    var high = OCTAVES;
    while low < high {
        let middle = (low + high) / 2u;
        if sh_log_others[middle] <= level {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    if low == 0u {
        return 0.0;
    }
    if low == OCTAVES {
        return GREATEST;
    }
    let at = sh_log_others[low - 1u];
    let part = (level - at) / (sh_log_others[low] - at);
    return exp2(min(f32(low) + part - 127.0, 127.0));
}

fn edge_at_least(least: f32, half_cell: f32) -> f32 {
    return min(max(2.0 * half_cell, least), 8.0 * MAX_MAGNITUDE);
}

// Returns the edge for the cells of a grid: as small as its spheres allow, but not much smaller than their
// spacing. `proxies` is the number of spheres (or time segments) that the grid contains in one time slab
// (equal part of the step).
fn cell_edge(proxies: f32, half_cell: f32) -> f32 {
    return edge_at_least(MIN_CELL_PER_SPACING * spacing_of(proxies), half_cell);
}
