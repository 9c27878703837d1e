// The list of wall collisions.

#import carom::{CaromWallCollision}
#import image_word::{pack_image}
#needs wall_collisions, wall_counters, wall_images, wall_params

// The counter goes on when the list is full.
fn list_at_wall(collision: CaromWallCollision, image: vec3<i32>) {
    let place = atomicAdd(&wall_counters.found[0], 1u);
    if place == 0xffffffffu {
        atomicAdd(&wall_counters.found[1], 1u);
    }
    if place < wall_params.capacity {
        wall_collisions[place] = collision;
        if place < arrayLength(&wall_images) {
            wall_images[place] = pack_image(image);
        }
    }
}
