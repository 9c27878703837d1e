//! Dumps made from raw bytes are read or refused, and the last frame is the last of all.

#![no_main]
#![allow(dead_code, reason = "a target reads one format of all")]

include!("readers.rs");

use libfuzzer_sys::fuzz_target;

use lammps::{Dump, Mark};

fuzz_target!(|data: &[u8]| {
    let whole = |with_ids| Dump::new("input", data, Mark::default(), with_ids);
    let mut last = None;
    let mut dump = whole(true);
    while let Ok(Some(world)) = dump.read() {
        check(&world, data.len() / 7);
        last = Some(world);
    }
    let Ok(mark) = whole(false).last() else {
        return;
    };
    let begin = usize::try_from(mark.place.byte).expect("it is within the data");
    let found = Dump::new("input", &data[begin..], mark, true).frame(mark.number);
    let direct = whole(true).frame(mark.number);
    match (found, direct) {
        (Ok(found), Ok(direct)) => {
            check(&found, data.len() / 7);
            assert_eq!(format!("{found:?}"), format!("{direct:?}"));
            if let Some(last) =
                last.filter(|last| last.frame.is_some_and(|f| f.number == mark.number))
            {
                assert_eq!(format!("{found:?}"), format!("{last:?}"));
            }
        }
        (Err(found), Err(direct)) => assert_eq!(found.to_string(), direct.to_string()),
        (found, direct) => panic!("{found:?}, but {direct:?}"),
    }
});
