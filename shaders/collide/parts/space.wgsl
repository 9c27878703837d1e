// The correlation curve, and the spacings and cell edges that follow from it. Twin of `src/shared/space.rs`.

#needs params

// As log2. Each kernel that imports this file must first fill it.
var<workgroup> sh_log_others: array<f32, OCTAVES>;

// In the cube of half edge `distance` around one of them. Segments are assumed to be
// distributed as the spheres are.
fn others(proxies: f32, distance: f32) -> f32 {
    let x = clamp(log2(distance) + 127.0, 0.0, f32(OCTAVES - 2u));
    let i = u32(x);
    let low = sh_log_others[i];
    let log = low + (sh_log_others[i + 1u] - low) * (x - f32(i));
    return exp2(log) * (proxies / f32(params.spheres));
}

// The edge of a cube around a proxy that contains one other on average.
fn spacing_of(proxies: f32) -> f32 {
    let level = log2(f32(params.spheres) / proxies);
    // The first entry above `level`. The entries never decrease.
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

// As small as the proxies allow, but not much smaller than their spacing. `proxies` is
// their number in one slab.
fn cell_edge(proxies: f32, half_cell: f32) -> f32 {
    return edge_at_least(MIN_CELL_PER_SPACING * spacing_of(proxies), half_cell);
}
