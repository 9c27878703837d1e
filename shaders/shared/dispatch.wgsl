// Workgroups of CAROM_WORKGROUP along x and y that are enough for `count`, at most
// 65 535 along either.
fn dispatch_over(count: u32) -> vec2<u32> {
    let workgroups = count / CAROM_WORKGROUP + select(0u, 1u, count % CAROM_WORKGROUP > 0u);
    let rows = workgroups / 65535u + select(0u, 1u, workgroups % 65535u > 0u);
    return vec2<u32>(workgroups / max(rows, 1u) + select(0u, 1u, rows > 0u && workgroups % max(rows, 1u) > 0u), rows);
}
