// The arguments of indirect dispatches.

#import carom::{CAROM_WORKGROUP}

struct DispatchArguments {
    x: u32,
    y: u32,
    z: u32,
}

// There are at most 65 535 workgroups along an axis.
fn dispatch_over(count: u32) -> DispatchArguments {
    let workgroups = count / CAROM_WORKGROUP + select(0u, 1u, count % CAROM_WORKGROUP > 0u);
    let rows = workgroups / 65535u + select(0u, 1u, workgroups % 65535u > 0u);
    let rest = select(0u, 1u, rows > 0u && workgroups % max(rows, 1u) > 0u);
    return DispatchArguments(workgroups / max(rows, 1u) + rest, rows, 1u);
}
