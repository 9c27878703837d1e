//! Tests of `carom` on full disks, without threads and without memory, and of names that lead to the same file.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Output};

use crate::faults::{Faults, Plan};
use crate::run::{BINARY, CSV, Folder, PAIRS, Test, run, run_as_it_is};

const WALL: [&str; 2] = ["--wall", "plane 0 0 1 0"];
const MESH: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";

/// Returns CSV of `count` spheres with ids, of which many touch.
fn crowd(count: usize) -> String {
    let mut random = fastrand::Rng::with_seed(5);
    let mut rows = String::from("id,x,y,z,radius,vx,vy,vz\n");
    for k in 0..count {
        let [x, y, z] = [0; 3].map(|_| random.f32() * 40.0);
        rows += &format!("{},{x},{y},{z},0.6,1,0,0\n", 2 * count - k);
    }
    rows
}

/// Fails if the folder has files that the program made.
fn expect_files(folder: &Folder, expected: &[&str]) -> Test {
    let mut names: Vec<String> = fs::read_dir(&folder.0)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<std::io::Result<_>>()?;
    names.sort_unstable();
    assert_eq!(names, expected);
    Ok(())
}

#[test]
fn no_output_takes_the_place_of_another_file() -> Test {
    let folder = Folder::new("same")?;
    let input = folder.file("a.csv", CSV)?;
    let mesh = folder.file("mesh.obj", MESH)?;
    let of = |name: &str| folder.path(name);
    symlink("later.csv", of("dangling.csv")?)?;
    symlink(&mesh, of("mesh.csv")?)?;
    symlink(&folder.0, of("folder")?)?;
    fs::hard_link(&mesh, of("hard.npy")?)?;
    let dotted = folder.0.join("./b.csv").display().to_string();
    for (list, walls) in [
        (of("b.csv")?, of("b.csv")?),
        (of("b.csv")?, dotted),
        (of("b.csv")?, of("folder/b.csv")?),
        (of("later.csv")?, of("dangling.csv")?),
    ] {
        let outputs = ["--output", &list, "--walls-output", &walls];
        let args = [&[input.as_str()][..], &WALL, &outputs].concat();
        run(&args)?.expect_error("two lists", 2, &["the file of `--output`"]);
    }
    for output in [of("mesh.csv")?, of("hard.npy")?, input.clone()] {
        let args = [&input, "--mesh", &mesh, "--output", &output];
        run(&args)?.expect_error("an input", 2, &["overwrite the input"]);
        let args = [&input, "--mesh", &mesh, "--walls-output", &output];
        run(&args)?.expect_error("an input", 2, &["overwrite the input"]);
    }
    let printed = of("printed.csv")?;
    let status = Command::new(BINARY)
        .args(["collide", &input, "--dt", "1", "--output", &printed])
        .stdout(fs::File::create(&printed)?)
        .output()?;
    assert_eq!(status.status.code(), Some(2));
    assert!(fs::read(&printed)?.is_empty());
    assert_eq!(fs::read_to_string(&mesh)?, MESH);
    // A link that points to no file yet stays, and its file appears.
    let args = [&input, "--backend", "cpu", "--output", &of("dangling.csv")?];
    run(&args)?.expect_success("a dangling link");
    assert!(fs::symlink_metadata(of("dangling.csv")?)?.is_symlink());
    assert_eq!(fs::read_to_string(of("later.csv")?)?, PAIRS);
    Ok(())
}

#[test]
fn a_limit_of_the_size_of_files_is_an_error() -> Test {
    let folder = Folder::new("limit")?;
    let input = folder.file("crowd.csv", crowd(5000))?;
    for (name, part) in [
        ("out.csv", "out.csv"),
        ("out.npy", "out.npy"),
        ("out.npz", "TMPDIR"),
    ] {
        let output = folder.path(name)?;
        let limited = format!(
            "ulimit -f 4; exec \"$0\" collide '{input}' --dt 1 --backend cpu --output '{output}'"
        );
        let run = Command::new("sh")
            .args(["-c", &limited])
            .arg(BINARY)
            .output()?;
        let stderr = String::from_utf8(run.stderr)?;
        assert_eq!(run.status.code(), Some(1), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(stderr.contains(part) && stderr.contains(name), "{stderr}");
        expect_files(&folder, &["crowd.csv"])?;
    }
    Ok(())
}

#[test]
fn help_to_a_full_device_fails() -> Test {
    for args in [&["--help"][..], &["--version"], &["collide", "--help"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full")?;
        let run = Command::new(BINARY).args(args).stdout(full).output()?;
        assert_eq!(run.status.code(), Some(1), "{args:?}");
        let stderr = String::from_utf8(run.stderr)?;
        assert!(
            stderr.contains("cannot write to standard output"),
            "{stderr}"
        );
        run_as_it_is(args)?.expect_success("to a pipe");
    }
    Ok(())
}

#[test]
fn control_characters_of_names_are_not_printed() -> Test {
    let folder = Folder::new("control")?;
    let input = folder.file("a.csv", CSV)?;
    let [mesh, output] = ["a\u{1b}[31m.stl", "no/a\u{1b}[31m.csv"].map(|name| folder.path(name));
    let (mesh, output) = (mesh?, output?);
    fs::write(&mesh, "x")?;
    for args in [
        [&input, "--mesh", &mesh],
        [&input, "--output", &output],
        [&input, "--plot", &output],
        [&mesh, "--dt", "1"],
    ] {
        let run = run(&args)?;
        assert_ne!(run.code, Some(0));
        assert!(!run.stderr.contains('\u{1b}'), "{}", run.stderr);
    }
    Ok(())
}

#[test]
fn numbers_of_threads_have_a_limit() -> Test {
    let folder = Folder::new("threads")?;
    let input = folder.file("a.csv", CSV)?;
    let many = [("RAYON_NUM_THREADS", "100000")];
    crate::run::run_with(&[&input, "--backend", "cpu"], b"", &many)?.expect_error(
        "threads",
        1,
        &["RAYON_NUM_THREADS", "100000", "at most"],
    );
    run_as_it_is(&["bench", "--threads", "3000"])?.expect_error("bench", 2, &["from 0 to"]);
    Ok(())
}

/// Runs the program under faults on the CPU.
fn under(faults: &Faults, args: &[&str]) -> std::io::Result<Output> {
    let mut command = Command::new(BINARY);
    faults.command(&mut command);
    command.args(args).output()
}

#[cfg(target_env = "gnu")]
#[test]
fn without_threads_the_calling_thread_does_the_work() -> Test {
    let folder = Folder::new("refused")?;
    let faults = Faults::new("refused")?;
    let output = folder.path("out.csv")?;
    for rows in [CSV.to_owned(), crowd(5000)] {
        let input = folder.file("a.csv", rows)?;
        let expected = folder.pairs(&input)?;
        faults.set(Plan {
            threads: true,
            ..Plan::default()
        })?;
        let args = [
            "collide",
            &input,
            "--dt",
            "1",
            "--backend",
            "cpu",
            "--verify",
            "--output",
        ];
        let run = under(&faults, &[&args[..], &[&output]].concat())?;
        let stderr = String::from_utf8(run.stderr)?;
        assert_eq!(run.status.code(), Some(0), "{stderr}");
        assert_eq!(fs::read_to_string(&output)?, expected);
        let args = ["neighbors", &input, "--cutoff", "1", "--backend", "cpu"];
        let run = under(&faults, &args)?;
        assert!(
            run.status.success(),
            "{}",
            String::from_utf8_lossy(&run.stderr)
        );
    }
    let args = ["bench", "--n", "1000", "--scene", "gas", "--backend", "cpu"];
    let run = under(&faults, &args)?;
    let stderr = String::from_utf8(run.stderr)?;
    assert_eq!(run.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("error: cannot start the threads"),
        "{stderr}"
    );
    Ok(())
}

/// Lets each allocation of at least 128 KiB fail: these grow with the input. Smaller ones of the crates that parse the
/// arguments end the program.
#[cfg(target_env = "gnu")]
#[test]
fn missing_memory_is_an_error_and_leaves_no_file() -> Test {
    let faults = Faults::new("memory")?;
    let plan = Plan {
        least: 1 << 17,
        ..Plan::default()
    };
    let folder = Folder::new("memory")?;
    let input = folder.file("a.csv", crowd(12_000))?;
    let [csv, npz, png] = ["out.csv", "out.npz", "out.png"].map(|name| folder.path(name));
    let (csv, npz, png) = (csv?, npz?, png?);
    let wall = ["--wall", "plane 0 0 1 5", "--walls-output", &npz];
    for (name, args) in [
        (
            "csv",
            vec!["collide", "--dt", "1", "--sort", "time", "--output", &csv],
        ),
        (
            "npz",
            vec!["collide", "--dt", "1", "--ids", "--output", &npz],
        ),
        (
            "walls",
            [&["collide", "--dt", "1", "--ids"][..], &wall].concat(),
        ),
        ("plot", vec!["collide", "--dt", "1", "--plot", &png]),
        (
            "neighbors",
            vec!["neighbors", "--cutoff", "1.2", "--ids", "--output", &csv],
        ),
    ] {
        let args = [&args[..], &["--backend", "cpu", &input]].concat();
        faults.walk(name, plan, &mut |arm| {
            arm();
            let run = under(&faults, &args).expect("it starts");
            faults.end();
            let outputs = [&csv, &npz, &png].map(|path| fs::remove_file(path).is_ok());
            let stderr = String::from_utf8_lossy(&run.stderr);
            let failed = run.status.code() != Some(0);
            if failed {
                assert_eq!(run.status.code(), Some(1), "{name}: {stderr}");
                assert!(stderr.contains("memory"), "{name}: {stderr}");
            }
            assert_eq!(outputs.contains(&true), !failed, "{name}: {stderr}");
            expect_files(&folder, &["a.csv"]).expect("the folder can be read");
            failed
        });
    }
    Ok(())
}
