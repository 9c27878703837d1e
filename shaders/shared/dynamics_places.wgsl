// Converts a position of a sphere to a position relative to a wall, which may move.

#import carom::{CAROM_HALF_SPACE, CaromWall}
#needs simulation

// Returns a position relative to the wall's centre, to a point on its axis, or to its plane, at the start of
// the substep.
fn place_at_wall(wall: CaromWall, place: vec3<f32>) -> vec3<f32> {
    var point = wall.point;
    if wall.kind == CAROM_HALF_SPACE {
        point = wall.direction * wall.size;
    }
    return (place - point) - wall.velocity * (simulation.time.x + simulation.time.y);
}
