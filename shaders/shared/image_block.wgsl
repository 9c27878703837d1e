// Along each edge, the images from `first` on, `dims` of them. Twin of
// `src/lattice/block.rs`.

struct ImageBlock {
    first: vec3<i32>,
    dims: vec3<u32>,
    too_many: bool,
}

fn image_count(block: ImageBlock) -> u32 {
    return block.dims.x * block.dims.y * block.dims.z;
}

fn image_of_block(block: ImageBlock, index: u32) -> vec3<i32> {
    let row = index / block.dims.x;
    return block.first + vec3<i32>(vec3<u32>(index % block.dims.x, row % block.dims.y, row / block.dims.y));
}
