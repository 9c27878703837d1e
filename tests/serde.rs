//! Tests that carom's results, spheres and statistics survive a round trip through JSON.

/// A `Status` is serialized as the names of its bits. A bit without a name is kept as a hexadecimal
/// number.
#[cfg(feature = "gpu")]
#[test]
fn a_status_survives_a_round_trip_through_json() -> Result<(), Box<dyn std::error::Error>> {
    use carom::gpu::Status;

    let status = Status::TRUNCATED | Status::from_bits_retain(1 << 20);
    let text = serde_json::to_string(&status)?;
    assert_eq!(text, r#""TRUNCATED | 0x100000""#);
    assert_eq!(serde_json::from_str::<Status>(&text)?, status);
    Ok(())
}

#[test]
fn results_survive_a_round_trip_through_json() -> Result<(), Box<dyn std::error::Error>> {
    use carom::{
        Backend, Changes, Collision, Contacts, Detector, Earliest, Hits, Options, Sphere, Step,
    };

    let spheres = [0.0, 1.5, 9.0].map(|x| Sphere::new([x, 0.0, 0.0], 1.0).with_groups(1, 2));
    let text = serde_json::to_string(&spheres)?;
    assert_eq!(serde_json::from_str::<[Sphere; 3]>(&text)?, spheres);

    let mut detector = Detector::new(Options::new().with_backend(Backend::Cpu))?;
    let step = Step::between(&spheres[..1], &spheres, 1.0);
    let found = detector.detect(&step)?;
    let json = serde_json::to_value(&found)?;
    assert_eq!(json["sphere_count"], 4);
    assert_eq!(json["second_set_start"], 1);
    assert_eq!(json["statistics"]["pairs"], found.statistics.pairs);
    assert_eq!(json["statistics"]["backend"], "Cpu");
    let pairs: Hits<Collision> = serde_json::from_value(json["pairs"].clone())?;
    assert_eq!(pairs, found.pairs);

    let contact = found.pairs[1].contact(&spheres[0], &spheres[1]);
    let text = serde_json::to_string(&contact)?;
    assert_eq!(serde_json::from_str::<carom::Contact>(&text)?, contact);
    let text = serde_json::to_string(&found.earliest()?)?;
    let earliest: Vec<Option<Earliest>> = serde_json::from_str(&text)?;
    assert_eq!(earliest, found.earliest()?);
    let text = serde_json::to_string(&found.contacts()?)?;
    assert_eq!(serde_json::from_str::<Contacts>(&text)?, found.contacts()?);
    let changes = found.changes_since(&carom::Collisions::default())?;
    let text = serde_json::to_string(&changes)?;
    assert_eq!(serde_json::from_str::<Changes>(&text)?, changes);
    let truth = carom::verify(&step, &Hits::default())?;
    let text = serde_json::to_string(&truth)?;
    assert_eq!(serde_json::from_str::<carom::Verification>(&text)?, truth);
    Ok(())
}
