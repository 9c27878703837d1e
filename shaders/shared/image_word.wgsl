// The three integers of an image, packed into one word.

const IMAGE_BIAS = i32(1u << (IMAGE_BITS - 1u));

// Words compare like the images: by x first, then by y, then by z.
fn pack_image(image: vec3<i32>) -> u32 {
    let n = vec3<u32>(image + IMAGE_BIAS);
    return (n.x << (2u * IMAGE_BITS)) | (n.y << IMAGE_BITS) | n.z;
}
