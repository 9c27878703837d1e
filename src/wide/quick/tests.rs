//! Tests of the quick test with estimates of any quality. A step gives it better ones.

use fastrand::Rng;
use glam::DVec3;

use crate::wide::pair::{WidePair, WidePairs};
use crate::wide::{WideScale, WideSphere};
use crate::{Collision, Domain};

/// Fails if the quick test gives a result for a pair and an estimate that is not exact. Returns whether it gives one.
fn check(
    spheres: &[WideSphere; 2],
    domain: &Domain,
    image: Option<[i32; 3]>,
    estimate: [f64; 2],
    dt: f64,
) -> bool {
    let all = WidePairs {
        domain,
        scale: WideScale::new(1.0, 1.0, dt),
        dt,
        depths: Some(1.0),
    };
    let pair = WidePair {
        a: &spheres[0],
        b: &spheres[1],
        image,
    };
    #[allow(clippy::cast_possible_truncation, reason = "an estimate")]
    let found = Collision {
        toi: (estimate[0] / dt) as f32,
        depth: estimate[1] as f32,
        ..Collision::default()
    };
    let quick = all.quick([&pair; 2], [&found; 2]);
    let is_hit = quick.hits & 1 == 1;
    if is_hit {
        let given = [quick.toi[0], quick.depth[0]];
        let (exact, _) = all.decide(&pair, given);
        assert_eq!(
            exact,
            Some(given),
            "{spheres:?} {domain:?} {image:?} {estimate:?} {dt:e}"
        );
    }
    is_hit
}

fn direction(rng: &mut Rng) -> DVec3 {
    let vector = DVec3::from([0; 3].map(|_| rng.f64() - 0.5));
    vector.normalize_or(DVec3::X)
}

#[test]
fn estimates_of_grazing_pairs_do_no_harm() {
    let mut rng = Rng::with_seed(1);
    let mut hits = 0;
    for _ in 0..40_000 {
        let normal = direction(&mut rng);
        let path = normal.any_orthonormal_vector() * (0.5 + rng.f64());
        let radii = [1.0 + rng.f64(), 1.0 + rng.f64()];
        let time = (1.0 + 9.0 * rng.f64()).exp2();
        let overlap = [f64::from(-rng.i32(0..46)).exp2(), rng.f64()][rng.usize(0..2)];
        let away = normal * (radii[0] + radii[1] - overlap) - path * time;
        let spheres = [
            WideSphere::new([0.0; 3], radii[0], [0.0; 3]),
            WideSphere::new(away.to_array(), radii[1], path.to_array()),
        ];
        let early = f64::from(-rng.i32(1..31)).exp2() * (1.0 + rng.f64());
        let first = time - (2.0 * (radii[0] + radii[1]) * overlap).sqrt() / path.length();
        let estimate = [[first, time][rng.usize(0..2)] - early, 0.0];
        hits += u32::from(check(
            &spheres,
            &Domain::open(),
            None,
            estimate,
            1.25 * time,
        ));
    }
    assert!(hits > 400, "{hits}");
}

#[test]
fn estimates_of_far_images_do_no_harm() {
    let mut rng = Rng::with_seed(2);
    let mut hits = 0;
    for _ in 0..40_000 {
        let small = |rng: &mut Rng| (1.0 + rng.f64()) * 0.5_f64.powi(37);
        let edges = [1.0 + rng.f64(), small(&mut rng), small(&mut rng)];
        let domain = Domain::triclinic_f64(
            [0.0; 3],
            [
                [edges[0], 0.0, 0.0],
                [edges[1], 1.0, 0.0],
                [edges[2], 0.0, 1.0],
            ],
        );
        let most = 1 << rng.u8(3..20);
        let image = [
            rng.i32(1..most),
            3 + 2 * rng.i32(0..4),
            3 + 2 * rng.i32(0..4),
        ];
        let [n, m, l] = image.map(f64::from);
        let apart = (1.0 + rng.f64()) * f64::from(-rng.i32(5..32)).exp2();
        let centers = [[0.0; 3], [n * edges[0] + apart, m, l]];
        let away = (-n).mul_add(edges[0], centers[1][0]) - m * edges[1] - l * edges[2];
        let depth = away * f64::from(-rng.i32(1..18)).exp2() * (1.0 + rng.f64());
        let spheres = [
            WideSphere::new(centers[0], away + depth, [0.0; 3]),
            WideSphere::new(centers[1], 0.0, [0.0; 3]),
        ];
        let image = Some(image.map(|n| -n));
        hits += u32::from(check(&spheres, &domain, image, [0.0, depth], 1.0));
    }
    assert!(hits > 1_000, "{hits}");
}
