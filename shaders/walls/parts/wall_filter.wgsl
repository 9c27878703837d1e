// Tests in float32, with an error bound, whether a sphere touches a wall of a simple shape during the step.
// docs/exact.md (section 6) has the proof.

#import carom::{CAROM_HALF_SPACE, CAROM_HOLLOW_CYLINDER, CAROM_HOLLOW_SPHERE, CAROM_SOLID_CYLINDER, CaromWall}
#import filter::{Filtered, filter_motion, sum}
#import impact::{rough_impact}
#import opaque::{opaque, opaque3}
#import types::{Sphere}
#needs params

// Covers the underflow of products and components of velocities.
const LEAST_GROWTH = 64.0 * MIN_POSITIVE;

// `may` is false for a certain miss, `certain` true for a certain touch. Time and depth
// are estimates.
struct AtWall {
    may: bool,
    certain: bool,
    toi: f32,
    depth: f32,
}

// Relative to a sphere or a cylinder, for a cylinder perpendicular to its axis. `size`
// bounds the sum of the position, the displacement, the wall's size and the sphere's
// radius, with which the rounding errors grow. `speed` bounds that along all axes.
struct Relative {
    p: vec3<f32>,
    v: vec3<f32>,
    size: f32,
    speed: f32,
}

fn relative(wall: CaromWall, sphere: Sphere, shift: vec3<f32>, shift_size: f32, dt: f32) -> Relative {
    let apart = opaque3(sphere.center - wall.point);
    var p = opaque3(apart + shift);
    var v = opaque3(sphere.velocity - wall.velocity);
    let speed = sum(abs(v));
    let size = sum(abs(apart)) + shift_size + speed * dt + wall.size + sphere.radius;
    if wall.kind == CAROM_SOLID_CYLINDER || wall.kind == CAROM_HOLLOW_CYLINDER {
        p = opaque3(cross(wall.direction, p));
        v = opaque3(cross(wall.direction, v));
    }
    return Relative(p, v, size, speed);
}

// From the gaps at the start and the end, one of which must be the smallest, and a
// bound on their error.
fn by_gaps(first: f32, last: f32, error: f32) -> vec2<bool> {
    let least = min(first, last);
    return vec2<bool>(least <= error, least < -error);
}

// How the gap between a sphere and a wall changes at the start: the rate at which it grows, with a bound of its error.
struct Growth {
    rate: f32,
    error: f32,
}

// `away` is the vector from the wall, or to it from inside, along which the gap is measured, and `error` a bound of the
// error of this vector. The rounding errors of `v` grow with `speed`.
fn growth_along(away: vec3<f32>, error: f32, v: vec3<f32>, speed: f32) -> Growth {
    let distance = length_of(away);
    let rate = opaque(dot(opaque3(away / distance), v));
    return Growth(rate, opaque(speed * (4.0 * error / distance + WALL_ERROR * EPSILON)) + LEAST_GROWTH);
}

// Whether a sphere is left out because it touches at the start and does not approach.
const STAYS = 0u;
const LEAVES = 1u;
const UNCERTAIN = 2u;

// `gap` is the gap at the start, with an error of at most `error`. The gap from a convex wall, which only grows from then
// on, need not be certain. Twin of `WideWall::parts` in `src/walls/wide.rs`.
fn parting(gap: f32, error: f32, growth: Growth, convex: bool) -> u32 {
    if gap > error || growth.rate < -growth.error {
        return STAYS;
    }
    let parts = growth.rate > growth.error && (convex || gap < -error);
    return select(UNCERTAIN, LEAVES, parts);
}

// What is uncertain is marked as grazing.
fn without_parting(found: AtWall, parts: u32) -> AtWall {
    return AtWall(found.may && parts != LEAVES, found.certain && parts == STAYS, found.toi, found.depth);
}

fn at_half_space(wall: CaromWall, sphere: Sphere, dt: f32) -> AtWall {
    let v = opaque3(sphere.velocity - wall.velocity);
    let size = sum(abs(sphere.center)) + sum(abs(v)) * dt + abs(wall.size) + sphere.radius;
    let error = opaque(WALL_ERROR * EPSILON * size) + WALL_LEAST;
    let first = opaque(dot(wall.direction, sphere.center) - wall.size - sphere.radius);
    let approach = opaque(dot(wall.direction, v) * dt);
    let last = opaque(first + approach);
    let touches = by_gaps(first, last, error);
    let share = clamp(first / max(first - last, MIN_POSITIVE), 0.0, 1.0);
    let found = AtWall(touches.x, touches.y, select(share * dt, 0.0, first <= 0.0), max(-first, 0.0));
    if (params.flags & FLAG_APPROACHING) != 0u {
        let growth = growth_along(wall.direction, EPSILON, v, sum(abs(v)));
        return without_parting(found, parting(first, error, growth, true));
    }
    return found;
}

fn length_of(v: vec3<f32>) -> f32 {
    return sqrt(max(dot(v, v), MIN_POSITIVE));
}

// Estimates when a sphere inside a hollow wall reaches it. `gap` is the gap at the start. `reach` is the
// distance of the sphere's centre from the wall's centre or axis when they touch.
fn leaving_time(at: Relative, gap: f32, reach: f32, dt: f32) -> f32 {
    let square = dot(at.v, at.v);
    if square < SLOW {
        return dt;
    }
    let speed = sqrt(square);
    let ahead = dot(at.p, at.v / speed);
    let rest = max(gap * (reach + length_of(at.p)), 0.0);
    let half = sqrt(max(ahead * ahead + rest, MIN_POSITIVE));
    // The quadratic equation is solved in the form in which no two close numbers are subtracted.
    let way = select(half - ahead, rest / max(half + ahead, MIN_POSITIVE), ahead >= 0.0);
    return clamp(way / speed, 0.0, dt);
}

fn at_hollow(wall: CaromWall, sphere: Sphere, at: Relative, error: f32, dt: f32) -> AtWall {
    let reach = opaque(wall.size - sphere.radius);
    let first = opaque(reach - length_of(at.p));
    let last = opaque(reach - length_of(opaque3(at.p + at.v * dt)));
    var touches = by_gaps(first, last, error);
    if first <= 0.0 {
        return AtWall(touches.x, touches.y, 0.0, -first);
    }
    return AtWall(touches.x, touches.y, leaving_time(at, first, reach, dt), 0.0);
}

fn at_solid(wall: CaromWall, sphere: Sphere, at: Relative, error: f32, dt: f32) -> AtWall {
    let reach = opaque(wall.size + sphere.radius);
    let distance = sum(abs(at.p));
    // The computed path is within `error` of the true path. So if the sphere touches, the computed path
    // touches a wall that is thicker by `error`. If the computed path touches a wall thinner by `error`, the
    // sphere certainly touches.
    let thick = filter_motion(at.p, at.v, opaque(reach + error), distance, dt);
    if thick.margin < -thick.bound {
        return AtWall(false, false, 0.0, 0.0);
    }
    let thin = filter_motion(at.p, at.v, opaque(max(reach - error, 0.0)), distance, dt);
    let certain = reach > error && thin.margin > thin.bound;
    let own = Filtered(at.p, at.v, reach, distance, thin.slow, thin.t, thin.margin, thin.bound);
    let times = rough_impact(own, dt);
    return AtWall(true, certain, times.x, times.y);
}

// Tests a sphere, displaced by `shift`, against a wall. `shift_size` is an upper bound of the sum of the
// magnitudes that were added to compute `shift`.
fn filter_wall(wall: CaromWall, sphere: Sphere, shift: vec3<f32>, shift_size: f32, dt: f32) -> AtWall {
    if wall.kind == CAROM_HALF_SPACE {
        return at_half_space(wall, sphere, dt);
    }
    let at = relative(wall, sphere, shift, shift_size, dt);
    let error = opaque(WALL_ERROR * EPSILON * at.size) + WALL_LEAST;
    let hollow = wall.kind == CAROM_HOLLOW_SPHERE || wall.kind == CAROM_HOLLOW_CYLINDER;
    var found: AtWall;
    var outwards = 1.0;
    if hollow {
        found = at_hollow(wall, sphere, at, error, dt);
        outwards = -1.0;
    } else {
        found = at_solid(wall, sphere, at, error, dt);
    }
    if found.may && (params.flags & FLAG_APPROACHING) != 0u {
        let gap = opaque(outwards * (length_of(at.p) - wall.size) - sphere.radius);
        let growth = growth_along(at.p * outwards, error, at.v, at.speed);
        return without_parting(found, parting(gap, error, growth, !hollow));
    }
    return found;
}
