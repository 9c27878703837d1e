// Checks that a frame of a trajectory file can be read alone.

use carom_formats::read::{Layout, Trajectory};

/// Reads all frames of a trajectory, reads the last frame again from its place in the file, and compares the
/// two results.
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
    // `Trajectory::count` does not parse atoms, so it may count a last frame that `Trajectory::read` rejects.
    if last.frame.is_some_and(|frame| frame.number == mark.number) {
        let found = trajectory.read().ok().flatten();
        assert_eq!(format!("{found:?}"), format!("{:?}", Some(last)));
    }
}
