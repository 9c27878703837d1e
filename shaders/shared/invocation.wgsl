// The index of an invocation. A large dispatch has several rows, because at most 65 535 workgroups are
// allowed along each axis.

fn invocation(workgroup: vec3<u32>, workgroups: vec3<u32>, local: u32, size: u32) -> u32 {
    return (workgroup.x + workgroup.y * workgroups.x) * size + local;
}
