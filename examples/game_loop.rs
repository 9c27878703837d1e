//! A game loop: steps of a fixed duration whatever a frame takes, places between two steps for the picture, balls that
//! come and go, a pause, and a paddle under the mouse, which is a function of time here.
//!
//! `cargo run --release --example game_loop -- game.svg`

#[path = "drawing/mod.rs"]
mod drawing;

use carom::{HardSphere, Mesh, Simulation, SimulationOptions, Wall, Walls};
use drawing::Drawing;
use glam::{DVec2, DVec3};

const STEP: f64 = 1.0 / 120.0;
const END: f64 = 12.0;
const PADDLE: [f32; 2] = [0.8, 1.0];
const AWAY: DVec2 = DVec2::new(0.0, -9.0); // below the picture
fn mouse(time: f64) -> f64 {
    3.0 * (1.3 * time).sin()
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "velocities of walls are float32"
)]
fn main() -> anyhow::Result<()> {
    // Side walls, and a paddle of two triangles: half its length, and its height. All stays in the plane z = 0.
    let mut walls = Walls::from_iter([1.0, -1.0].map(|x| Wall::half_space([x, 0.0, 0.0], -4.0)));
    let [half, height] = PADDLE;
    let corners = [(-half, -1.0), (half, -1.0), (half, 1.0), (-half, 1.0)];
    let corners = corners.map(|(x, z)| [x, height, z]).to_vec();
    walls.push_mesh(Mesh::new(corners, vec![[0, 1, 2], [0, 2, 3]])?);
    let options = SimulationOptions::new()
        .with_walls(walls)
        .with_gravity([0.0, -9.8, 0.0])
        .with_wall_restitution(0.95)
        .with_contact_time(1e-3);
    let mut game = Simulation::new(vec![], options)?;
    let (mut clock, mut owed, mut paddle, mut lost) = (0.0, 0.0, 0.0, 0);
    // The spheres before the last step, the path of each ball that was ever there, and the path of each sphere.
    let (mut before, mut bar) = (Vec::new(), Vec::new());
    let (mut paths, mut path_of) = (Vec::<Vec<_>>::new(), Vec::<usize>::new());
    // Frames of uneven duration. The game is paused from 4 to 5.
    for frame in 0..580 {
        let duration = [0.011, 0.016, 0.035][frame % 3];
        clock += duration;
        if !(4.0..5.0).contains(&clock) {
            owed += duration;
        }
        while owed >= STEP {
            owed -= STEP;
            // The paddle is at the mouse when the step ends, and no ball passes through it on the way.
            let speed = ((mouse(clock) - paddle) / STEP) as f32;
            game.edit_walls(|walls| {
                let mesh = &mut walls.meshes_mut()[0];
                *mesh = mesh.clone().with_velocity([speed, 0.0, 0.0]);
            })?;
            paddle += f64::from(speed) * STEP;
            before = game.spheres().to_vec();
            game.step(STEP)?;
            for ball in 0..before.len() {
                if !game.is_removed(ball) && game.spheres()[ball].center[1] < -1.5 {
                    game.remove(ball)?;
                    lost += 1;
                    paths[path_of[ball]].push((clock, AWAY));
                }
            }
            if (2.0 * game.time()).fract() < 2.0 * STEP {
                let new = HardSphere::new([mouse(2.0 * game.time()), 6.0, 0.0], 0.2);
                // It may get the index of a ball that was lost.
                let ball = game.add(new)? as usize;
                before.resize(game.spheres().len(), new);
                path_of.resize(game.spheres().len(), 0);
                (before[ball], path_of[ball]) = (new, paths.len());
                paths.push(vec![(0.0, AWAY), (clock, AWAY)]);
            }
        }
        // The picture is between the last two steps.
        bar.push((clock, DVec2::new(paddle, height.into())));
        for (ball, now) in game.spheres().iter().enumerate() {
            let place = DVec3::from(before[ball].center).lerp(now.center.into(), owed / STEP);
            if !game.is_removed(ball) {
                paths[path_of[ball]].push((clock, place.truncate()));
            }
        }
    }
    println!("{} balls, of which {lost} were lost", paths.len());
    if let Some(file) = std::env::args_os().nth(1) {
        let [low, high] = [DVec2::new(-4.0, -1.0), DVec2::new(4.0, 7.0)];
        let mut drawing = Drawing::new(low, high, 800.0);
        drawing.rectangle(low, high, "#20242c");
        for path in &mut paths {
            path.extend(path.last().map(|&(_, place)| (END, place)));
            drawing.moving_disc(path, 0.2, "#ffd23f", END);
        }
        drawing.moving_bar(&bar, half.into(), "#f2f4f8", END);
        drawing.save(file.as_ref())?;
    }
    Ok(())
}
