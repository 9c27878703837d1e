// Code that the fuzz targets of trajectories share: a check that frames can be read by themselves.

use carom_cli::read::{Layout, Trajectory};

/// Reads all frames of a trajectory, then reads the last frame again from its mark (the place at
/// which it begins in the file), and compares the two results.
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
    // `count` does not parse the atoms of a frame, so it may count a frame that `read` rejects. If
    // it did, `last` is not the frame at the mark, and there is nothing to compare.
    if last.frame.is_some_and(|frame| frame.number == mark.number) {
        let found = trajectory.read().ok().flatten();
        assert_eq!(format!("{found:?}"), format!("{:?}", Some(last)));
    }
}
