// If all durations can be subtracted from the remaining time without a rounding error, the simulation ends
// exactly at the requested time. Otherwise, `CaromSimulation.carried` has the rounding error.

#import opaque::{opaque}

// Returns the largest duration, at most `duration`, that can be subtracted from `remaining` without a
// rounding error, or `duration` if there is none above 0.
fn exact_part(remaining: f32, duration: f32) -> f32 {
    let after = opaque(remaining - duration);
    var exact = opaque(remaining - after);
    if exact > duration {
        exact = remaining - bitcast<f32>(bitcast<u32>(after) + 1u);
    }
    return select(duration, exact, exact > 0.0);
}
