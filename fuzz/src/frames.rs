// Checks that a frame of a trajectory file can be read alone. The fuzz targets of trajectory
// formats share this code.

use carom_cli::read::{Layout, Trajectory};

/// Reads all frames of a trajectory. Then reads the last frame again from the place at which it
/// begins in the file, and compares the two results.
fn every_frame(layout: Layout, data: &[u8], options: &ReadOptions) {
    let mut trajectory = Trajectory::new(layout, "input", data, options);
    let mut last = None;
    while let Ok(Some(world)) = trajectory.read() {
        check(&world, data.len() / 5);
        last = Some(world);
    }
    let counted = Trajectory::new(layout, "input", data, options).count(1);
    let (Some(last), Ok((count, marks))) = (last, counted) else {
        return;
    };
    let mark = marks[0];
    assert_eq!(mark.number + 1, count);
    let begin = usize::try_from(mark.place.byte).expect("the mark is within the data");
    let mut trajectory = Trajectory::new(layout, "input", &data[begin..], options);
    trajectory.start_at(mark);
    // `Trajectory::count` does not parse the atoms of a frame, so it may count a last frame that
    // `Trajectory::read` rejects. Such a frame cannot be compared.
    if last.frame.is_some_and(|frame| frame.number == mark.number) {
        let found = trajectory.read().ok().flatten();
        assert_eq!(format!("{found:?}"), format!("{:?}", Some(last)));
    }
}
