// Makes the entries of a neighbour list from the sorted list of pairs.

#import carom::{CaromNeighbor, carom_b, carom_image, carom_is_grazing}
#import image_word::{pack_image}
#needs list_images, neighbor_request, sorted_pairs

fn neighbor_of(index: u32) -> CaromNeighbor {
    let pair = sorted_pairs[index];
    var image = pack_image(vec3<i32>(0));
    if neighbor_request.periodic != 0u {
        image = list_images[index];
    }
    return CaromNeighbor(pair.a, carom_b(pair), image, select(0u, 1u, carom_is_grazing(pair)));
}

fn reversed(entry: CaromNeighbor) -> CaromNeighbor {
    return CaromNeighbor(entry.j, entry.i, pack_image(-carom_image(entry.image)), entry.grazing);
}
