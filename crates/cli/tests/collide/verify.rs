//! Tests of the option `--verify` of `carom collide`.

use crate::run::{CSV, Folder, Test, run_with};
use serde_json::Value;

fn crowd() -> String {
    let mut random = fastrand::Rng::with_seed(7);
    let mut rows = String::from("x,y,z,radius,vx,vy,vz\n");
    for _ in 0..500 {
        let number = |random: &mut fastrand::Rng, scale: f32| (random.f32() - 0.5) * scale;
        let [x, y, z] = [0; 3].map(|_| number(&mut random, 20.0));
        let [vx, vy, vz] = [0; 3].map(|_| number(&mut random, 8.0));
        rows += &format!("{x},{y},{z},{},{vx},{vy},{vz}\n", random.f32());
    }
    rows
}

/// Environment variables for two runs of `carom`. The first run finds the graphics adapters of this
/// machine. On Linux, the second run finds none, because it looks for drivers in a file that does
/// not exist.
const ADAPTERS: [&[(&str, &str)]; 2] = [
    &[],
    &[
        ("VK_DRIVER_FILES", "/nonexistent"),
        ("VK_ICD_FILENAMES", "/nonexistent"),
    ],
];

#[test]
fn verify_checks_with_and_without_an_adapter() -> Test {
    let folder = Folder::new("verify")?;
    let touching: String = (0..12).map(|i| format!("{i},0,0,0.5,0,0,0\n")).collect();
    let worlds = [
        crowd(),
        CSV.into(),
        format!("x,y,z,radius,vx,vy,vz\n{touching}"),
    ];
    for env in ADAPTERS {
        for world in &worlds {
            let input = folder.file("world.csv", world)?;
            let run = run_with(
                &[&input, "--backend", "cpu", "--verify", "--json"],
                b"",
                env,
            )?;
            run.expect_success("--verify");
            let object: Value = serde_json::from_str(&run.stdout)?;
            let verify = &object["verify"];
            assert_eq!(verify["passed"], true, "{object}");
            assert_eq!(verify["differing"], 0, "{object}");
            let n = object["spheres"].as_u64().ok_or("spheres")?;
            assert_eq!(verify["against"], "exact arithmetic", "{object}");
            assert_eq!(verify["checked"], n * (n - 1) / 2, "{object}");
        }
    }
    Ok(())
}

/// Checks that `--verify` never reports success without a check. If the CPU's list has too many spheres to
/// test every pair, it must be compared with a GPU's list, so a missing graphics adapter is an error.
#[test]
fn verify_never_passes_unchecked() -> Test {
    let folder = Folder::new("unchecked")?;
    let rows: String = (0..20_001).map(|i| format!("{i},0,0,0.25\n")).collect();
    let input = folder.file("many.csv", format!("x,y,z,radius\n{rows}"))?;
    let periodic = ["--box", "0 0 0 30000 9 9", "--periodic", "abc"];
    for (env, world) in [
        (ADAPTERS[0], &[][..]),
        (ADAPTERS[1], &[]),
        (ADAPTERS[0], &periodic),
        (ADAPTERS[1], &periodic),
    ] {
        let args = [&input, "--backend", "cpu", "--verify", "--json"];
        let run = run_with(&[&args[..], world].concat(), b"", env)?;
        if run.code == Some(0) {
            let object: Value = serde_json::from_str(&run.stdout)?;
            assert_eq!(object["verify"]["against"], "gpu", "{object}");
        } else {
            let parts = ["nothing was checked", "20001 spheres", "graphics adapter"];
            run.expect_error("unchecked", 1, &parts);
        }
    }
    Ok(())
}
