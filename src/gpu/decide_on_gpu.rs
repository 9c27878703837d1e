//! Tests of the decision on the device, on single pairs of spheres.

use fastrand::Rng;
use wgpu::util::DeviceExt;

use super::detector_backend::{Gpu, encoder};
use super::filter_on_gpu::adapter;
use crate::exact::{Hit, Translation, impact};
use crate::gpu::device::dispatch::Binder;
use crate::gpu::device::named_buffers::NamedBuffers;
use crate::gpu::device::shader::kernels::{Kernel, compile};
use crate::gpu::results::read_now;
use crate::shared::filter::tests::oracle::exact::Exact;
use crate::shared::filter::tests::tangency::{KINDS, Kind, Pair};
use crate::{Domain, Error, MAX_MAGNITUDE, Sphere};

/// A compute kernel that runs `decide` of `shaders/shared/exact_pair.wgsl`.
const KERNEL: Kernel = Kernel {
    name: "exact_pair",
    file: "exact pair on its own",
    text: "
#import exact_pair::{Displacement, SphereWords, decide}
#import wide_words::{nearest_product}

@group(0) @binding(0) var<storage, read> requests: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> decided: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
    let index = id.x + id.y * workgroups.x * 64u;
    if index < arrayLength(&decided) {
        let at = index * 8u;
        let i = SphereWords(requests[at], requests[at + 1u]);
        let j = SphereWords(requests[at + 2u], requests[at + 3u]);
        let image = bitcast<vec3<i32>>(vec3<u32>(requests[at + 4u].w, requests[at + 5u].w, requests[at + 6u].w));
        let by = Displacement(requests[at + 4u].xyz, requests[at + 5u].xyz, requests[at + 6u].xyz, image);
        let found = decide(i, j, by, requests[at + 7u].x, false);
        let product = nearest_product(requests[at + 7u].y, requests[at + 7u].z);
        decided[index] = vec4<u32>(found.verdict, found.toi, found.depth, select(0u, product.bits, product.normal));
    }
}
",
    entry: "main",
    constants: &[],
};

/// Two spheres, of which the second is displaced by an image of a periodic domain, and the duration of their step.
#[derive(Clone, Debug)]
struct Case {
    spheres: [Sphere; 2],
    dt: f32,
    domain: Domain,
    image: [i32; 3],
    /// Two numbers to multiply.
    factors: [f32; 2],
}

impl Case {
    fn open(pair: &Pair) -> Self {
        Self {
            spheres: pair.spheres,
            dt: pair.dt,
            domain: Domain::open(),
            image: [0; 3],
            factors: [1.0; 2],
        }
    }

    fn words(&self) -> [[u32; 4]; 8] {
        let [i, j]: [[[u32; 4]; 2]; 2] = self.spheres.map(bytemuck::cast);
        let [e, f, g] = [0, 1, 2].map(|k| self.domain.periodic_edge(k).as_vec3().to_array());
        let bits = |edge: usize, x: f32| {
            if self.image[edge] == 0 {
                0
            } else {
                x.to_bits()
            }
        };
        let along = |axis: usize| {
            let image = self.image[axis].cast_unsigned();
            [bits(0, e[axis]), bits(1, f[axis]), bits(2, g[axis]), image]
        };
        let [x, y] = self.factors.map(f32::to_bits);
        let last = [self.dt.to_bits(), x, y, 0];
        [i[0], i[1], j[0], j[1], along(0), along(1), along(2), last]
    }

    fn truth(&self) -> Option<Hit> {
        let [a, b] = &self.spheres;
        let shift = Translation::new(&self.domain, self.image);
        impact(a, b, shift, self.dt).0
    }
}

/// What the device has decided about a pair, or `None` if it has left the pair open.
type Answer = Option<Option<Hit>>;

fn decide(gpu: &Gpu, cases: &[Case]) -> Result<Vec<(Answer, u32)>, Error> {
    let requests: Vec<_> = cases.iter().flat_map(Case::words).collect();
    let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let buffer = |contents: &[u8]| {
        gpu.device
            .create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: None,
                contents,
                usage: storage,
            })
    };
    let size = 16 * cases.len() as u64;
    let requests = buffer(bytemuck::cast_slice(&requests));
    let decided = buffer(&vec![255; size as usize]);
    let named = NamedBuffers::default()
        .with::<[u32; 4]>("requests", &requests)
        .with::<[u32; 4]>("decided", &decided);
    let binder = Binder {
        device: &gpu.device,
        widest: gpu.device.limits().max_compute_workgroups_per_dimension,
    };
    let kernel = compile(&gpu.device, &KERNEL)?;
    let dispatch = binder.dispatch(&kernel, &[&named], cases.len().div_ceil(64) as u64)?;
    let mut encoder = encoder(&gpu.device);
    dispatch.record(&mut encoder.begin_compute_pass(&Default::default()));
    let mut read: Vec<[u32; 4]> = Vec::new();
    let part = [(&decided, 0, size)];
    read_now::read(&gpu.device, &gpu.queue, encoder, &part, &mut read)?;
    let answer = |[verdict, toi, depth, product]: [u32; 4]| {
        let hit = || Hit::from([toi, depth].map(f32::from_bits));
        let answer = match verdict {
            0 => Some(None),
            1 => Some(Some(hit())),
            2 => None,
            _ => panic!("no invocation has decided a pair"),
        };
        (answer, product)
    };
    Ok(read.into_iter().map(answer).collect())
}

/// Compares the device's decisions with those of the host. Returns how many are open, and how many of the others touch.
fn compare(gpu: &Gpu, cases: &[Case]) -> [usize; 2] {
    let decided = decide(gpu, cases).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(decided.len(), cases.len());
    let (mut open, mut touching) = (0, 0);
    for (case, (answer, product)) in cases.iter().zip(decided) {
        match answer {
            None => open += 1,
            Some(found) => {
                assert_eq!(found, case.truth(), "{case:?}");
                if let Some(Hit { toi, depth }) = found {
                    touching += 1;
                    let signs = toi.is_sign_positive() && depth.is_sign_positive();
                    assert!(signs, "{found:?} {case:?}");
                }
            }
        }
        let [x, y] = case.factors;
        let exact = x * y;
        let exact = if exact.is_normal() && exact < f32::MAX / 2.0 {
            exact.to_bits()
        } else {
            product.min(exact.to_bits())
        };
        assert_eq!(product, exact, "{x:e} times {y:e}");
    }
    [open, touching]
}

/// A pair near tangency, or, if `changes`, the same pair with another radius.
fn tangent_case(kind: Kind, changes: bool, rng: &mut Rng) -> Case {
    let pair = Pair::new(kind, rng);
    let mut case = Case::open(&pair);
    if changes {
        let part = 2.0 * rng.f32() - 1.0;
        case.spheres[0].radius *= 1.0 + part * 2_f32.powi(-rng.i32(0..30));
    }
    let mut factor = || {
        let low = rng.u32(1 << 23..200 << 23);
        f32::from_bits(low & !((1 << rng.u32(0..24)) - 1))
    };
    case.factors = [factor(), factor()];
    case
}

/// Tests pairs near tangency, and the same pairs with other radii, so that they overlap, touch or miss by far. Both the
/// host and an oracle decide them.
#[test]
fn pairs_near_tangency_are_decided_as_by_exact_arithmetic() {
    let gpu = adapter();
    for (number, kind) in KINDS.into_iter().enumerate() {
        let mut rng = Rng::with_seed(number as u64);
        let mut cases = Vec::new();
        for round in 0..20_000 {
            cases.push(tangent_case(kind, round % 2 == 1, &mut rng));
        }
        for case in cases.iter().take(500) {
            let [a, b] = &case.spheres;
            let truth = Exact::new(a, b);
            let found = case.truth();
            assert_eq!(found.is_some(), truth.collide(case.dt.into()), "{case:?}");
        }
        let [open, touching] = compare(&gpu, &cases);
        println!("{kind:?}: {open} open, {touching} touch");
        let (least, most) = match kind {
            // Most of these numbers are so small that times or depths are subnormal, or so far apart that they need
            // more than 64 bits.
            Kind::Subnormal => (100, 20_000),
            // The first and the second time of contact are often nearer to each other than two float32 numbers.
            _ => (3000, 12_000),
        };
        assert!(
            touching > least && open < most,
            "{kind:?}: {open} {touching}"
        );
    }
}

/// Tests times just below and above a power of two, where the distance of the float32 numbers changes.
#[test]
fn times_next_to_a_power_of_two_are_rounded_to_the_nearest() {
    let gpu = adapter();
    let mut cases = Vec::new();
    for power in [-3, 0, 5] {
        for rest in 0..200_u8 {
            // The surfaces are 1 minus or plus a small part of 2^-24 apart.
            let part = f32::from(rest) * 2_f32.powi(-28);
            let [one, other] = [
                Sphere::new([0.0; 3], 1.0),
                Sphere::new([2.0, 0.0, 0.0], part),
            ];
            let nearer = [one, other];
            let farther = [
                Sphere {
                    radius: 1.0 - f32::EPSILON,
                    ..one
                },
                other,
            ];
            for spheres in [nearer, farther] {
                let velocity = [-2_f32.powi(power), 0.0, 0.0];
                cases.push(Case {
                    spheres: [spheres[0], spheres[1].with_velocity(velocity)],
                    dt: 64.0,
                    domain: Domain::open(),
                    image: [0; 3],
                    factors: [1.0; 2],
                });
            }
        }
    }
    let [open, touching] = compare(&gpu, &cases);
    println!("{open} open, {touching} touch");
    assert!(touching > cases.len() / 2, "{open} {touching}");
}

fn periodic_case(rng: &mut Rng) -> Case {
    let scale = 2_f32.powi(rng.i32(-20..20));
    let bits = |rng: &mut Rng, x: f32| {
        let mask = (1_u32 << rng.u32(0..24)) - 1;
        f32::from_bits(x.to_bits() & !mask)
    };
    let signed = |rng: &mut Rng| rng.f32() * 2.0 - 1.0;
    let vector = |rng: &mut Rng, size: f32| {
        [0; 3].map(|_| {
            let x = signed(rng) * size * scale;
            bits(rng, x)
        })
    };
    let size = 2_f32.powi(rng.i32(0..8));
    let edges = [0; 3].map(|_| vector(rng, size));
    let domain = Domain::triclinic([0.0; 3], edges).with_periodic([0; 3].map(|_| rng.u8(..4) > 0));
    let most = [1, 2, 30, 511][rng.usize(..4)];
    let image = [0; 3].map(|_| rng.i32(-most..=most));
    let one = Sphere::new(vector(rng, size), (rng.f32() * scale).abs());
    let mut other = one;
    // The displaced sphere is near the first one.
    let apart = vector(rng, 2.0);
    let shift = domain.displacement(image);
    other.center =
        [0, 1, 2].map(|k| (f64::from(one.center[k]) + f64::from(apart[k]) - shift[k]) as f32);
    let speed = 2_f32.powi(rng.i32(-6..6));
    other.velocity = apart.map(|x| -x * rng.f32() * speed);
    let drift = vector(rng, speed);
    let with =
        |sphere: Sphere| sphere.with_velocity([0, 1, 2].map(|k| sphere.velocity[k] + drift[k]));
    Case {
        spheres: [with(one), with(other)],
        dt: [0.0, 1.0, rng.f32()][rng.usize(..3)],
        domain,
        image,
        factors: [1.0; 2],
    }
}

#[test]
fn images_are_decided_as_by_the_host() {
    let gpu = adapter();
    let mut rng = Rng::with_seed(4);
    let cases: Vec<Case> = (0..200_000).map(|_| periodic_case(&mut rng)).collect();
    let in_range = |case: &&Case| {
        let all = case.spheres.iter().flat_map(|sphere| sphere.center);
        all.into_iter().all(|x| x.abs() < MAX_MAGNITUDE)
    };
    let cases: Vec<Case> = cases.iter().filter(in_range).cloned().collect();
    let [open, touching] = compare(&gpu, &cases);
    println!("{open} of {} open, {touching} touch", cases.len());
    assert!(touching > 20_000 && open < 2000, "{open} {touching}");
}

/// Tests displacements that are 0 modulo 2⁶⁴ units. The pairs stay open, because the spheres would touch without them.
#[test]
fn displacements_of_too_many_bits_are_left_open() {
    let edge = 2_f32.powi(16);
    let edges = [[edge, 0.0, 0.0], [0.0, edge, 0.0], [0.0, 0.0, edge]];
    let cases = [0, 1, 2].map(|axis| {
        let sphere = |x: f32| Sphere::new([x, 0.0, 0.0], 2_f32.powi(-40));
        let mut image = [0; 3];
        image[axis] = 256;
        Case {
            spheres: [sphere(0.0), sphere(2_f32.powi(-41))],
            dt: 1.0,
            domain: Domain::triclinic([0.0; 3], edges),
            image,
            factors: [1.0; 2],
        }
    });
    assert_eq!(compare(&adapter(), &cases), [3, 0]);
}

/// A pair of random numbers of any size and with few or many digits.
fn any_case(rng: &mut Rng) -> Case {
    let low = [rng.i32(-149..0), [4, 16, 60][rng.usize(..3)]];
    let number = |rng: &mut Rng| {
        let x = 2_f64.powi(low[0] + rng.i32(0..low[1])) * (rng.f64() - 0.5);
        let mask = (1_u32 << rng.u32(0..24)) - 1;
        f32::from_bits((x as f32).to_bits() & !mask)
    };
    let spheres = [0; 2].map(|_| {
        let [place, motion] = [0; 2].map(|_| [0; 3].map(|_| number(rng)));
        Sphere::new(place, number(rng).abs()).with_velocity(motion)
    });
    Case {
        spheres,
        dt: [0.0, 1.0, 2_f32.powi(60)][rng.usize(..3)],
        domain: Domain::open(),
        image: [0; 3],
        factors: [1.0; 2],
    }
}

#[test]
fn pairs_of_any_numbers_are_decided_as_by_the_host_or_left_open() {
    let mut rng = Rng::with_seed(9);
    let cases: Vec<Case> = (0..200_000).map(|_| any_case(&mut rng)).collect();
    let [open, touching] = compare(&adapter(), &cases);
    println!("{open} open, {touching} touch");
    assert!(touching > 20_000 && open < 150_000, "{open} {touching}");
}

#[test]
#[ignore = "takes minutes"]
fn ten_million_pairs_are_decided_as_by_the_host_or_left_open() {
    let gpu = adapter();
    let in_range = |case: &Case| {
        let all = case.spheres.iter().flat_map(|sphere| sphere.center);
        all.into_iter().all(|x| x.abs() < MAX_MAGNITUDE)
    };
    let (mut pairs, mut open, mut touching) = (0, 0, 0);
    for seed in 1000.. {
        let mut rng = Rng::with_seed(seed);
        let mut cases: Vec<Case> = Vec::new();
        for round in 0..100_000 {
            let kind = KINDS[round % KINDS.len()];
            cases.push(tangent_case(kind, rng.bool(), &mut rng));
            cases.push(periodic_case(&mut rng));
            cases.push(any_case(&mut rng));
        }
        cases.retain(in_range);
        let counts = compare(&gpu, &cases);
        pairs += cases.len();
        open += counts[0];
        touching += counts[1];
        if pairs >= 10_000_000 {
            break;
        }
    }
    println!("{open} of {pairs} open, {touching} touch");
    assert!(
        touching > pairs / 10 && open < pairs / 2,
        "{open} {touching}"
    );
}
