//! Fuzz target: the reader of LAMMPS dumps accepts or rejects arbitrary bytes, and accepted worlds
//! are valid. A mark, which is the place at which a frame begins in the file, lets a reader skip
//! the frames before it. Reading the last frame from its mark must give the same world as reading
//! all frames.

#![no_main]

include!("readers.rs");

use libfuzzer_sys::fuzz_target;

use carom_cli::read::lammps::Dump;

fuzz_target!(|data: &[u8]| {
    for options in ways() {
        every_frame(data, &options);
    }
});

/// Reads all frames, then reads the last frame again from its mark (the place at which it begins),
/// and compares the two results.
fn every_frame(data: &[u8], options: &ReadOptions) {
    let mut dump = Dump::new("input", data, options);
    let mut last = None;
    while let Ok(Some(world)) = dump.read() {
        check(&world, data.len() / 5);
        last = Some(world);
    }
    let counted = Dump::new("input", data, options).count(1);
    let (Some(last), Ok((count, marks))) = (last, counted) else {
        return;
    };
    let mark = marks[0];
    assert_eq!(mark.number + 1, count);
    let begin = usize::try_from(mark.place.byte).expect("the mark is within the data");
    let mut dump = Dump::new("input", &data[begin..], options);
    dump.start_at(mark);
    // `count` does not parse the atoms of a frame, so it may count a frame that `read` rejects. If
    // it did, `last` is not the frame at the mark, and there is nothing to compare.
    if last.frame.is_some_and(|frame| frame.number == mark.number) {
        let found = dump.read().ok().flatten();
        assert_eq!(format!("{found:?}"), format!("{:?}", Some(last)));
    }
}
