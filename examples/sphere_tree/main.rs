//! Searches for a collision of two compound bodies. The search first tests one bounding sphere around each body,
//! and then descends two hierarchies of smaller bounding spheres.
//!
//! `cargo run --release --example sphere_tree -- --output sphere_tree.svg`
//!
//! A rod flies through the opening of a body in the shape of a C. The bounding spheres of both bodies collide, but
//! the bodies do not. With `--shift 0.5` they do.

#[path = "../drawing/mod.rs"]
mod drawing;
mod tree;

use std::path::PathBuf;

use carom::{Backend, Detector, Options, Sphere, Step};
use clap::Parser;
use glam::{DVec2, Vec3};

use crate::drawing::Drawing;
use crate::tree::{Level, Tree, chain, descend, rod};

/// Duration of the step.
const DT: f32 = 1.0;

#[derive(Parser)]
#[command(
    about = "Finds the spheres of two compound bodies that touch, by hierarchies of bounding spheres"
)]
struct Args {
    /// Distance of the rod's path from the middle of the opening of the other body, which has the shape of a
    /// C. At 0.5, the rod hits this body.
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true, value_parser = shift)]
    shift: f32,
    /// Write a picture of the search in all levels of the two hierarchies of bounding spheres.
    #[arg(long, value_name = "FILE.svg")]
    output: Option<PathBuf>,
}

fn shift(text: &str) -> Result<f32, String> {
    let shift: f32 = text.parse().map_err(|_| "not a number".to_owned())?;
    if shift.abs() <= 1e6 {
        Ok(shift)
    } else {
        Err("must be from -1e6 to 1e6".to_owned())
    }
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let (chain, rod) = (Tree::new(chain()), Tree::new(rod(args.shift)));
    let mut detector = Detector::new(Options::new().with_backend(Backend::Cpu))?;
    let levels = descend(&mut detector, [&chain, &rod], DT)?;
    println!("level  spheres  pairs  touching");
    for (number, level) in levels.iter().enumerate() {
        let spheres = format!("{} + {}", level.spheres[0], level.spheres[1]);
        let [pairs, touching] = [level.pairs.len(), level.touching.len()];
        println!("{number:5}  {spheres:>7}  {pairs:5}  {touching:8}");
    }
    let pairs: usize = levels.iter().map(|level| level.pairs.len()).sum();
    let all = chain.leaves().len() * rod.leaves().len();
    println!("{pairs} pairs were tested, of {all} pairs of spheres of both bodies");
    let first = first(&levels);
    println!("by the hierarchies: {}", describe(first));
    let step = Step::between(chain.leaves(), rod.leaves(), DT);
    let direct = detector.detect(&step)?.pairs;
    let direct = direct.iter().map(|hit| hit.toi).min_by(f32::total_cmp);
    println!("by all pairs:       {}", describe(direct));
    anyhow::ensure!(first == direct, "the two results differ");
    if let Some(path) = args.output {
        picture(&levels, &chain, &rod, first).save(&path)?;
    }
    Ok(())
}

/// Returns the time of the first impact between two bodies that consist of spheres, or `None` if
/// the bodies do not collide. `levels` has the result of the search in each level of the bodies'
/// hierarchies of bounding spheres.
fn first(levels: &[Level]) -> Option<f32> {
    let touching = levels.last().map(|level| &level.touching);
    let times = touching.into_iter().flatten().map(|hit| hit.toi);
    times.min_by(f32::total_cmp)
}

fn describe(time: Option<f32>) -> String {
    time.map_or("no collision".to_owned(), |time| {
        format!("the first collision is at t = {time}")
    })
}

/// Draws a picture with a panel for each level of the hierarchies of bounding spheres.
fn picture(levels: &[Level], chain: &Tree, rod: &Tree, first: Option<f32>) -> Drawing {
    let panel = DVec2::new(5.6, 4.7);
    let rows = (levels.len() / 2) as f64;
    // The picture has two panels in each row. If the number of panels is odd, the legend stands beside the
    // last panel, and otherwise below the last row.
    let last = if levels.len().is_multiple_of(2) {
        2.2
    } else {
        panel.y
    };
    let high = DVec2::new(2.0 * panel.x, 0.0);
    let low = DVec2::new(0.0, -rows * panel.y - last);
    let mut drawing = Drawing::new(low, high, 1000.0);
    drawing.rectangle(low, high, "#ffffff");
    let mut corner = DVec2::ZERO;
    for (number, level) in levels.iter().enumerate() {
        let middle = corner + DVec2::new(2.2, -2.6);
        draw_level(&mut drawing, middle, number, level, [chain, rod]);
        let title = format!(
            "Level {number}: {} of {} pairs touch",
            level.touching.len(),
            level.pairs.len()
        );
        drawing.text(corner + DVec2::new(0.25, -0.4), &title, 0.24, "start");
        corner = if number % 2 == 0 {
            corner + DVec2::new(panel.x, 0.0)
        } else {
            DVec2::new(0.0, corner.y - panel.y)
        };
    }
    let legend = [
        (RED, "touches a sphere of the other body"),
        (BLUE, "was tested, and touches none"),
        (GREY, "spheres of the bodies; the rod at both ends"),
    ];
    let mut at = corner + DVec2::new(0.4, -0.6);
    for (color, text) in legend {
        drawing.disc(at, 0.1, &format!("{color}50"));
        drawing.circle(at, 0.1, color, 0.02);
        drawing.text(at + DVec2::new(0.25, -0.07), text, 0.2, "start");
        at.y -= 0.4;
    }
    let mut result = describe(first);
    result[..1].make_ascii_uppercase();
    drawing.text(
        at + DVec2::new(-0.1, -0.15),
        &format!("{result}."),
        0.22,
        "start",
    );
    drawing
}

const RED: &str = "#d1343f";
const BLUE: &str = "#2f6fc4";
const GREY: &str = "#8a8f98";

fn draw_level(
    drawing: &mut Drawing,
    middle: DVec2,
    number: usize,
    level: &Level,
    bodies: [&Tree; 2],
) {
    for (k, body) in bodies.into_iter().enumerate() {
        for sphere in body.leaves() {
            for time in [0.0, DT] {
                let (center, radius) = place(sphere, time);
                drawing.disc(middle + center, radius, &format!("{GREY}60"));
            }
        }
        for (node, sphere) in (0_u32..).zip(body.level(number)) {
            let touches = level.touching.iter().any(|hit| [hit.a, hit.b][k] == node);
            let tested = level.pairs.iter().any(|pair| pair[k] == node);
            if !tested {
                continue;
            }
            let color = if touches { RED } else { BLUE };
            let [from, to] = [0.0, DT].map(|time| place(sphere, time));
            let radius = from.1;
            for (center, _) in [from, to] {
                drawing.disc(middle + center, radius, &format!("{color}18"));
                drawing.circle(middle + center, radius, color, 0.02);
            }
            // The two lines and the two discs enclose the area that the moving sphere covers in the picture during
            // the step.
            if from.0 != to.0 {
                for side in [-radius, radius] {
                    let ends = [from.0, to.0].map(|center| middle + center + DVec2::new(0.0, side));
                    drawing.line(ends, &format!("{color}80"), 0.01);
                }
            }
        }
    }
}

/// Returns the centre and the radius of a sphere at a time.
fn place(sphere: &Sphere, time: f32) -> (DVec2, f64) {
    let center = Vec3::from(sphere.center) + time * Vec3::from(sphere.velocity);
    (center.truncate().as_dvec2(), sphere.radius.into())
}
