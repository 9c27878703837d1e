//! Tests of a build without the GPU backend: `cargo test --release -p carom-cli --no-default-features --test
//! without_gpu`.

#![cfg(not(feature = "native"))]

use std::process::Command;

use carom::{Backend, Detector, Error, Options, Sphere, Step};

/// Checks that `Backend::Gpu` is an error that names the missing feature, and that `Backend::Auto` selects
/// the CPU and states the reason.
#[test]
fn the_library_works_on_the_cpu() -> Result<(), Error> {
    match Detector::new(Options::new().with_backend(Backend::Gpu)) {
        Err(Error::FeatureDisabled { feature, .. }) => assert_eq!(feature, "gpu"),
        other => panic!("{other:?}"),
    }
    let mut detector = Detector::new(Options::new())?;
    assert_eq!(detector.backend(), Backend::Cpu);
    assert!(detector.reason().contains("feature `gpu`"));
    let spheres = [Sphere::new([0.0; 3], 1.0); 2];
    let found = detector.detect(&Step::new(&spheres, 1.0))?;
    assert_eq!(found.pairs.len(), 1);
    assert!(found.statistics.reason.contains("feature `gpu`"));
    Ok(())
}

#[test]
fn the_tool_refuses_the_gpu() -> std::io::Result<()> {
    let run = |backend: &str| {
        Command::new(env!("CARGO_BIN_EXE_carom"))
            .args([
                "bench",
                "--scene",
                "gas",
                "--n",
                "100",
                "--repeats",
                "1",
                "--backend",
                backend,
            ])
            .output()
    };
    let refused = run("gpu")?;
    assert!(!refused.status.success());
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("feature `gpu`"), "{message}");
    assert!(message.contains("--backend cpu"), "{message}");
    let done = run("auto")?;
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    Ok(())
}
