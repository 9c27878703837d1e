//! Tests of `carom collide` with damaged input files.

use crate::run::{BINARY, Folder, Test, run, run_with};
use crate::written::data;
use std::fs;

#[test]
fn files_that_are_cut_off_are_rejected() -> Test {
    let folder = Folder::new("cut")?;
    for name in [
        "plain.lammpstrj",
        "packed.dump.gz",
        "packed.dump.zst",
        "packed.dump.bz2",
        "packed.dump.xz",
        "c-f4.npy",
        "packed.npz",
    ] {
        let whole = fs::read(data(name))?;
        // The input file is cut to every length within the header and near the end, and to some in between.
        let places = (0..whole.len()).filter(|&n| n < 150 || n % 13 == 0 || n + 30 > whole.len());
        // A dump that is cut within its last number may be complete, so it is read with a note.
        let last = whole
            .trim_ascii_end()
            .iter()
            .rposition(|&byte| byte == b' ');
        let is_dump = name == "plain.lammpstrj";
        let mut within_the_last_number = 0;
        for length in places {
            let input = folder.file(name, &whole[..length])?;
            let run = run(&[&input, "--backend", "cpu"])?;
            if is_dump && run.code == Some(0) && last.is_some_and(|last| length > last + 1) {
                assert!(run.stderr.contains("has no line end"), "{}", run.stderr);
                within_the_last_number += 1;
                continue;
            }
            run.expect_error(&format!("{name}, {length} bytes"), 1, &[&input]);
        }
        assert_eq!(within_the_last_number > 3, is_dump);
    }
    Ok(())
}

#[test]
fn csv_without_a_last_line_end_yields_a_note() -> Test {
    for (input, notes) in [
        ("x,y,z,radius,vx\n0,0,0,1,0\n5,0,0,1,0\n", 0),
        ("x,y,z,radius,vx\n0,0,0,1,0\n5,0,0,1,0", 1),
    ] {
        let run = run_with(&["-", "--backend", "cpu"], input.as_bytes(), &[])?;
        run.expect_success(input);
        assert_eq!(
            run.stderr.matches("cut off").count(),
            notes,
            "{}",
            run.stderr
        );
    }
    Ok(())
}

#[test]
fn every_reader_rejects_noise() -> Test {
    let folder = Folder::new("noise")?;
    let mut random = fastrand::Rng::with_seed(3);
    let noise: Vec<u8> = std::iter::repeat_with(|| random.u8(..))
        .take(100_000)
        .collect();
    let zeros = vec![0; 3 << 20];
    let packed_noise = |magic: &[u8]| [magic, &noise[..]].concat();
    let gzip = packed_noise(b"\x1f\x8b\x08\x00");
    let zstd = packed_noise(b"\x28\xb5\x2f\xfd");
    let skippable = packed_noise(b"\x50\x2a\x4d\x18");
    let bzip2 = packed_noise(b"BZh91AY&SY");
    let xz = packed_noise(b"\xfd7zXZ\x00");
    for name in [
        "noise.csv",
        "noise.dump",
        "noise.npy",
        "noise.npz",
        "noise.csv.gz",
    ] {
        for bytes in [&noise, &zeros, &gzip, &zstd, &skippable, &bzip2, &xz] {
            let input = folder.file(name, bytes)?;
            run(&[&input])?.expect_error(name, 1, &[&input]);
        }
    }
    Ok(())
}

#[test]
fn errors_name_the_form_of_unsuitable_text() -> Test {
    let folder = Folder::new("forms")?;
    let head = "x,y,z,radius\n";
    let utf16: Vec<u8> = "\u{feff}x,y"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let cases: &[(&str, Vec<u8>, &[&str])] = &[
        ("UTF-16", utf16, &["line 1", "UTF-16", "UTF-8"]),
        (
            "semicolons",
            b"x;y;z;radius\n0;0;0;1\n".to_vec(),
            &["line 1", "semicolons", "commas"],
        ),
        (
            "tabs",
            b"x\ty\tz\tradius\n".to_vec(),
            &["line 1", "tabs", "commas"],
        ),
        (
            "no header",
            b"0,0,0,1\n".to_vec(),
            &["line 1", "no header", "x,y,z,radius"],
        ),
        (
            "a line without end",
            [head.as_bytes(), &vec![b'1'; 2 << 20]].concat(),
            &["line 2", "1 MiB"],
        ),
        (
            "some lines end with CR alone",
            format!("{head}0,0,0,1\r\n0,0,0,2\r0,0,0,3\n").into_bytes(),
            &["line 3", "CR alone"],
        ),
        (
            "control characters",
            format!("{head}0,0,0,\u{1b}[31m\n").into_bytes(),
            &["line 2", "field radius", "`\u{fffd}[31m`"],
        ),
    ];
    for (name, bytes, parts) in cases {
        let input = folder.file("bad.csv", bytes)?;
        let run = run(&[&input])?;
        run.expect_error(name, 1, parts);
        run.expect_error(name, 1, &[&input]);
    }
    Ok(())
}

/// Checks that a reader of input files allocates no memory for the number of spheres that a file header
/// claims.
#[cfg(target_os = "linux")]
#[test]
fn claimed_sizes_take_no_memory() -> Test {
    let folder = Folder::new("claims")?;
    let huge = 1_000_000_000_000_u64;
    let header = format!("{{'descr': '<f8', 'fortran_order': True, 'shape': ({huge}, 7), }}\n");
    let length = u16::try_from(header.len())?.to_le_bytes();
    let npy = [
        b"\x93NUMPY\x01\x00",
        &length[..],
        header.as_bytes(),
        &[0; 80],
    ]
    .concat();
    let dump = format!(
        "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n{huge}\nITEM: BOX BOUNDS ff ff ff\n0 9\n0 9\n0 9\n\
         ITEM: ATOMS x y z radius\n0 0 0 1\n"
    );
    for (name, bytes) in [("claim.npy", npy), ("claim.dump", dump.into_bytes())] {
        let input = folder.file(name, bytes)?;
        // The memory limit suffices for the program `carom`, but not for the number of spheres that the file
        // header claims.
        let limited =
            format!("ulimit -v 500000; exec \"$0\" collide '{input}' --dt 1 --backend cpu");
        let output = std::process::Command::new("sh")
            .args(["-c", &limited])
            .arg(BINARY)
            .output()?;
        let message = String::from_utf8(output.stderr)?;
        assert_eq!(output.status.code(), Some(1), "{name}: {message}");
        assert!(
            message.contains("1000000000000") && message.contains("cut off"),
            "{message}"
        );
    }
    Ok(())
}

/// Tests an input file that the user may not read. Root may read every file, so a test that runs as root
/// runs `carom` as another user.
#[cfg(unix)]
#[test]
fn a_file_without_permission_is_named() -> Test {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let folder = Folder::new("permission")?;
    let input = folder.file("secret.csv", "x,y,z,radius\n")?;
    fs::set_permissions(&input, fs::Permissions::from_mode(0o000))?;
    // Root may read every file, so a test that runs as root starts the program as another user. This user may
    // have no access to the build folder, so the program is copied. The test does not write the copy itself,
    // because a process that another test starts at the same time could keep the written file open, and Linux
    // runs no file that is open for writing.
    let copy = folder.path("carom")?;
    let copied = std::process::Command::new("cp")
        .arg(BINARY)
        .arg(&copy)
        .status()?;
    assert!(copied.success());
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755))?;
    let mut command = std::process::Command::new(&copy);
    if fs::File::open(&input).is_ok() {
        command.uid(65_534);
    }
    let output = command.args(["collide", &input, "--dt", "1"]).output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    for part in ["error: ", &input, "ermission"] {
        assert!(stderr.contains(part), "no `{part}` in: {stderr}");
    }
    Ok(())
}

/// Checks that `carom collide` finds the last frame of a dump from a pipe, which can be read only
/// once.
#[cfg(target_os = "linux")]
#[test]
fn the_last_frame_of_a_pipe_is_found() -> Test {
    let folder = Folder::new("fifo")?;
    let input = folder.path("pipe.dump")?;
    let made = std::process::Command::new("mkfifo").arg(&input).status()?;
    assert!(made.success());
    let frame = |x| {
        format!(
            "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS ff ff ff\n0 9\n0 9\n0 9\n\
             ITEM: ATOMS x y z radius\n0 0 0 1\n{x} 0 0 1\n"
        )
    };
    let frames = frame(9) + &frame(1);
    let pipe = input.clone();
    let writer = std::thread::spawn(move || fs::write(pipe, frames));
    assert_eq!(folder.pairs(&input)?, "a,b,toi,depth\n0,1,0.0,1.0\n");
    writer.join().map_err(|_| "the writer failed")??;
    Ok(())
}
