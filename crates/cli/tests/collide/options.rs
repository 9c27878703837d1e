//! Tests of the options of `carom collide`.

use std::fs;
use std::io::{Cursor, Read, Write};

use crate::run::{CSV, Folder, Test, run, run_as_it_is, run_with, start};
use crate::written::data;

/// Returns a LAMMPS frame of four spheres in a row, with `gap` between neighbouring centres.
fn frame(step: usize, gap: f64) -> String {
    let mut text = format!(
        "ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n4\nITEM: BOX BOUNDS ff ff ff\n0 9\n0 9\n0 9\n\
         ITEM: ATOMS id type x y z\n"
    );
    for (k, (id, kind)) in [(40, 1), (30, 2), (20, 1), (10, 2)].into_iter().enumerate() {
        text += &format!("{id} {kind} {} 0 0\n", gap * k as f64);
    }
    text
}

fn list(folder: &Folder, args: &[&str]) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let output = folder.path("list.csv")?;
    let args = [args, &["--backend", "cpu", "--output", &output]].concat();
    run(&args)?.expect_success(&format!("{args:?}"));
    Ok(fs::read_to_string(output)?
        .lines()
        .map(String::from)
        .collect())
}

#[test]
fn a_dump_may_have_any_name() -> Test {
    let folder = Folder::new("names")?;
    let text = frame(0, 1.0);
    let expected = ["a,b,toi,depth", "0,1,0.0,0.5", "1,2,0.0,0.5", "2,3,0.0,0.5"];
    for name in [
        "dump.pour",
        "dump.pour.1000",
        "a.trj",
        "pour",
        "pour.csv",
        "pour.xyz.gz",
    ] {
        let input = folder.file(name, &text)?;
        assert_eq!(list(&folder, &[&input, "--radius", "0.75"])?, expected);
    }
    let input = folder.file("pour.txt", &text)?;
    assert_eq!(list(&folder, &[&input, "--radius", "0.75"])?, expected);
    let other = folder.file("other.txt", "something else\n")?;
    run(&[&other, "--radius", "0.75"])?.expect_error("name", 1, &["other.txt", "--format"]);
    let args = [&input, "--format", "lammps", "--radius", "0.75"];
    assert_eq!(list(&folder, &args)?, expected);
    Ok(())
}

#[test]
fn standard_input_may_have_any_format() -> Test {
    let folder = Folder::new("stdin")?;
    let output = folder.path("list.csv")?;
    let dump = frame(0, 9.0) + &frame(1, 1.0);
    let numpy = |name: &str| fs::read(data(name));
    let [npy, npz] = [numpy("c-f4.npy")?, numpy("plain.npz")?];
    let inputs = [
        ("lammps", dump.as_bytes(), &["--radius", "0.75"][..], 3),
        ("csv", CSV.as_bytes(), &[], 1),
        ("npy", &npy, &[], 0),
        ("npz", &npz, &[], 0),
    ];
    for (format, input, more, pairs) in inputs {
        let args = ["-", "--format", format, "--backend", "cpu", "--output"];
        let args = [&args[..], &[&output], more].concat();
        run_with(&args, input, &[])?.expect_success(format);
        let written = fs::read_to_string(&output)?;
        let found = written.lines().count() - 1;
        if pairs > 0 {
            assert_eq!(found, pairs, "{format}");
        } else {
            let file = data(if format == "npy" {
                "c-f4.npy"
            } else {
                "plain.npz"
            });
            assert_eq!(written, folder.pairs(&file)?, "{format}");
        }
    }
    Ok(())
}

#[test]
fn radii_may_come_from_the_command_line() -> Test {
    let folder = Folder::new("radii")?;
    let dump = folder.file("dump.row", frame(0, 1.0))?;
    // The spheres have the types 1, 2, 1, 2, and neighbouring centres are 1 apart. With the radii 0.4 and
    // 0.7, neighbours overlap by 0.4 + 0.7 - 1 = 0.1.
    let by_type = list(&folder, &[&dump, "--radius-by-type", "1=0.4,2=0.7"])?;
    assert_eq!(by_type.len(), 4);
    for line in &by_type[1..] {
        let depth: f32 = line.rsplit(',').next().ok_or("a depth")?.parse()?;
        assert!((depth - 0.1).abs() < 1e-6, "{line}");
    }
    run(&[&dump])?.expect_error(
        "none",
        1,
        &["radius or diameter", "--radius", "id, type, x"],
    );
    let unknown = ["line 11", "field type is 2", "--radius-by-type"];
    run(&[&dump, "--radius-by-type", "1=0.4"])?.expect_error("type", 1, &unknown);

    let csv = folder.file("bare.csv", "x,y,z\n0,0,0\n1,0,0\n")?;
    assert_eq!(
        list(&folder, &[&csv, "--radius", "0.75"])?[1..],
        ["0,1,0.0,0.5"]
    );
    let missing = ["line 1", "no column type", "--radius-by-type"];
    run(&[&csv, "--radius-by-type", "1=1"])?.expect_error("type", 1, &missing);

    let spheres = folder.file("spheres.csv", CSV)?;
    for option in [["--radius", "1"], ["--radius-by-type", "1=1"]] {
        let args = [&[spheres.as_str()][..], &option].concat();
        run(&args)?.expect_error("both", 1, &["line 1", "column radius", option[0]]);
    }
    Ok(())
}

#[test]
fn arrays_may_come_without_radii() -> Test {
    let folder = Folder::new("bare-arrays")?;
    let array = |rows: &[&[f32]]| {
        let columns = rows[0].len();
        let header = format!(
            "{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {columns}), }}\n",
            rows.len()
        );
        let length = u16::try_from(header.len()).unwrap().to_le_bytes();
        let numbers = rows.concat().into_iter().flat_map(f32::to_le_bytes);
        let mut bytes = [&b"\x93NUMPY\x01\x00"[..], &length, header.as_bytes()].concat();
        bytes.extend(numbers);
        bytes
    };
    let at_rest = array(&[&[0.0, 0.0, 0.0], &[1.0, 0.0, 0.0]]);
    let moving = array(&[
        &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        &[2.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ]);
    for (name, bytes, row) in [
        ("at-rest.npy", &at_rest, "0,1,0.0,0.5"),
        ("moving.npy", &moving, "0,1,0.5,0.0"),
    ] {
        let input = folder.file(name, bytes)?;
        assert_eq!(list(&folder, &[&input, "--radius", "0.75"])?[1..], [row]);
        run(&[&input])?.expect_error(name, 1, &["(N, 7)", "--radius"]);
    }
    let args = [&data("at-rest.npy"), "--radius", "1"];
    run(&args)?.expect_error("radii in the array", 1, &["(N, 6)", "--radius"]);
    let args = [&data("plain.npz"), "--radius", "1"];
    run(&args)?.expect_error("radii in the archive", 1, &["array radius", "--radius"]);
    Ok(())
}

#[test]
fn csv_may_have_diameters() -> Test {
    let folder = Folder::new("diameter")?;
    let input = folder.file("world.csv", "diameter,x,y,z\n2,0,0,0\n1,1,0,0\n")?;
    assert_eq!(folder.pairs(&input)?, "a,b,toi,depth\n0,1,0.0,0.5\n");
    Ok(())
}

#[test]
fn types_are_copied_to_the_list() -> Test {
    let folder = Folder::new("types")?;
    let text = "id,type,x,y,z,radius\n7,3,0,0,0,1\n5,4,1,0,0,1\n6,3,9,0,0,1\n";
    let input = folder.file("world.csv", text)?;
    let header = "a,b,type_a,type_b,toi,depth";
    assert_eq!(
        list(&folder, &[&input, "--types"])?,
        [header, "0,1,3,4,0.0,1.0"]
    );
    // With `--ids`, the sphere with the smaller id comes first in a pair. Here the second sphere of
    // the file has the smaller id, so it comes first, and `type_a` is its type.
    let named = list(&folder, &[&input, "--types", "--ids"])?;
    assert_eq!(named, [header, "5,7,4,3,0.0,1.0"]);
    let printed = run(&[&input, "--types", "--backend", "cpu"])?;
    printed.expect_success("printed");
    assert!(printed.stdout.contains("type_a"), "{}", printed.stdout);

    let none = folder.file("none.csv", CSV)?;
    run(&[&none, "--types"])?.expect_error("none", 1, &["line 1", "type", "--types"]);
    let bad = folder.file("bad.csv", "x,y,z,radius,type\n0,0,0,1,1.5\n")?;
    run(&[&bad, "--types"])?.expect_error("bad", 1, &["line 2", "field type", "`1.5`"]);
    let large = folder.file("large.csv", "x,y,z,radius,type\n0,0,0,1,2147483648\n")?;
    run(&[&large, "--types"])?.expect_error("large", 1, &["line 2", "2147483648"]);
    // Without `--types`, the column `type` of a CSV file may have any contents.
    assert_eq!(folder.pairs(&bad)?, "a,b,toi,depth\n");
    Ok(())
}

#[test]
fn frames_are_chosen_as_in_python() -> Test {
    let folder = Folder::new("frames")?;
    // Frame k of the LAMMPS dump has k touching pairs of spheres.
    let text: String = (0..4_usize)
        .map(|k| {
            let mut text = format!(
                "ITEM: TIMESTEP\n{}\nITEM: NUMBER OF ATOMS\n8\nITEM: BOX BOUNDS ff ff ff\n0 9\n0 9\n0 9\n\
                 ITEM: ATOMS x y z radius\n",
                100 * k
            );
            for pair in 0..4 {
                let gap = if pair < k { 1 } else { 5 };
                text += &format!("0 {0} 0 0.75\n{gap} {0} 0 0.75\n", 10 * pair);
            }
            text
        })
        .collect();
    let input = folder.file("run.dump", &text)?;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes())?;
    let packed = folder.file("run.dump.gz", gzip.finish()?)?;
    for (frames, expected) in [
        ("0", &[0][..]),
        ("2", &[2]),
        ("-1", &[3]),
        ("-3", &[1]),
        ("last", &[3]),
        ("all", &[0, 1, 2, 3]),
        ("1:3", &[1, 2]),
        ("-2:", &[2, 3]),
        (":-1", &[0, 1, 2]),
        ("::2", &[0, 2]),
        ("1:99:2", &[1, 3]),
    ] {
        for input in [&input, &packed] {
            let lines = list(&folder, &[input, "--frames", frames])?;
            let several = frames.contains(':') || frames == "all";
            let mut found = vec![0; 4];
            for line in &lines[1..] {
                let number = if several {
                    line.split(',').next().ok_or("a frame")?.parse()?
                } else {
                    expected[0]
                };
                found[number] += 1;
            }
            assert_eq!(lines[0].starts_with("frame,"), several, "{frames}");
            let truth: Vec<usize> = (0..4)
                .map(|k| if expected.contains(&k) { k } else { 0 })
                .collect();
            assert_eq!(found, truth, "{frames} of {input}");
        }
    }
    for frames in ["4", "-5", "4:", "3:1", ":-9"] {
        let parts = [frames, &input, "it has 4", "from 0 to 3"];
        run(&[&input, "--frames", frames])?.expect_error(frames, 1, &parts);
    }
    Ok(())
}

#[test]
fn a_missing_velocity_array_yields_a_note() -> Test {
    let folder = Folder::new("other-name")?;
    let run = run(&[&data("at-rest.npz"), "--backend", "cpu"])?;
    run.expect_success("at rest");
    for part in ["no array velocity", "position", "radius"] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    drop(folder);
    Ok(())
}

/// CSV of five spheres. Sphere 0 reaches sphere 1 at time 3, and sphere 2 reaches sphere 1 at time 1. Sphere
/// 3 overlaps sphere 4 from the start.
const TIMES: &str = "id,x,y,z,radius,vx,vy,vz\n1,0,0,0,1,1,0,0\n9,5,0,0,1,0,0,0\n5,8,0,0,1,-1,0,0\n\
                     3,0,9,0,1,0,0,0\n4,1,9,0,1,0,0,0\n";

#[test]
fn pairs_are_sorted_by_time_on_request() -> Test {
    let folder = Folder::new("sort")?;
    let input = folder.file("world.csv", TIMES)?;
    let args = [&input, "--dt", "5", "--sort", "time"];
    let sorted = list(&folder, &args)?;
    assert_eq!(sorted[1..3], ["3,4,0.0,1.0", "1,2,1.0,0.0"]);
    let times = |lines: &[String]| -> Result<Vec<f32>, Box<dyn std::error::Error>> {
        let time = |line: &String| Ok(line.split(',').nth(2).ok_or("a time")?.parse()?);
        lines[1..].iter().map(time).collect()
    };
    assert!(times(&sorted)?.is_sorted());
    let ids = list(&folder, &[&args[..], &["--ids"]].concat())?;
    assert_eq!(ids[1..3], ["3,4,0.0,1.0", "5,9,1.0,0.0"]);
    assert!(times(&ids)?.is_sorted());
    let mut by_pair = list(&folder, &[&input, "--dt", "5"])?;
    assert!(!times(&by_pair)?.is_sorted());
    let mut by_time = sorted;
    by_pair.sort();
    by_time.sort();
    assert_eq!(by_pair, by_time);
    Ok(())
}

#[test]
fn the_list_may_go_to_standard_output() -> Test {
    let folder = Folder::new("stdout")?;
    let input = folder.file("world.csv", TIMES)?;
    let run = run(&[&input, "--dt", "5", "--backend", "cpu", "--output", "-"])?;
    run.expect_success("-");
    assert_eq!(
        run.stdout.lines().collect::<Vec<_>>(),
        list(&folder, &[&input, "--dt", "5"])?
    );
    assert!(run.stderr.contains("spheres  5"), "{}", run.stderr);
    Ok(())
}

#[test]
fn a_list_whose_reader_leaves_is_not_an_error() -> Test {
    let folder = Folder::new("list-pipe")?;
    let rows: String = (0..20_000).map(|i| format!("{i},0,0,0.75\n")).collect();
    let input = folder.file("world.csv", format!("x,y,z,radius\n{rows}"))?;
    let mut child = start(&[&input, "--output", "-"])?;
    drop(child.stdout.take());
    let output = child.wait_with_output()?;
    let stderr = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(!stderr.contains("error"), "{stderr}");
    Ok(())
}

#[test]
fn archives_have_an_array_for_each_column() -> Test {
    let folder = Folder::new("npz-out")?;
    let input = folder.file("world.csv", TIMES.replace("id,", "type,"))?;
    let output = folder.path("pairs.npz")?;
    let args = [&input, "--dt", "5", "--types"];
    run(&[&args[..], &["--backend", "cpu", "--output", &output]].concat())?.expect_success("npz");
    let mut archive = zip::ZipArchive::new(Cursor::new(fs::read(&output)?))?;
    let mut columns = Vec::new();
    for name in ["a", "b", "type_a", "type_b", "toi", "depth"] {
        let mut bytes = Vec::new();
        archive
            .by_name(&format!("{name}.npy"))?
            .read_to_end(&mut bytes)?;
        let array = npyz::NpyFile::new(&bytes[..])?;
        assert_eq!(array.shape().len(), 1, "{name}");
        let column: Vec<String> = if matches!(name, "toi" | "depth") {
            let numbers = array.into_vec::<f64>()?.into_iter();
            numbers.map(|x| format!("{x:?}")).collect()
        } else {
            let numbers = array.into_vec::<i32>()?.into_iter();
            numbers.map(|x| x.to_string()).collect()
        };
        columns.push(column);
    }
    assert_eq!(archive.len(), columns.len());
    let expected = list(&folder, &args)?;
    assert!(expected.len() > 3);
    for (row, line) in expected[1..].iter().enumerate() {
        let found: Vec<&str> = columns.iter().map(|column| column[row].as_str()).collect();
        assert_eq!(found.join(","), *line);
    }

    let alone = folder.file("alone.csv", "x,y,z,radius\n0,0,0,1\n")?;
    run(&[&alone, "--backend", "cpu", "--output", &output])?.expect_success("alone");
    let mut archive = zip::ZipArchive::new(Cursor::new(fs::read(&output)?))?;
    let array = npyz::NpyFile::new(archive.by_name("toi.npy")?)?;
    assert_eq!(array.shape(), [0]);
    assert!(array.into_vec::<f64>()?.is_empty());
    Ok(())
}

#[test]
fn the_plot_is_written_when_the_reader_of_the_list_leaves() -> Test {
    let folder = Folder::new("left")?;
    let input = folder.file("world.csv", TIMES)?;
    let plot = folder.path("world.png")?;
    let args = ["collide", &input, "--dt", "5", "--backend", "cpu"];
    let mut child = std::process::Command::new(crate::run::BINARY)
        .args(args)
        .args(["--output", "-", "--plot", &plot])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()?;
    drop(child.stdout.take());
    assert_eq!(child.wait()?.code(), Some(0));
    assert!(fs::metadata(&plot)?.len() > 0);
    Ok(())
}

#[test]
fn a_gzip_file_may_arrive_byte_by_byte() -> Test {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(CSV.as_bytes())?;
    let packed = gzip.finish()?;
    let mut child = start(&["-", "--output", "-"])?;
    let mut pipe = child.stdin.take().ok_or("no input")?;
    let (first, rest) = packed.split_at(1);
    pipe.write_all(first)?;
    std::thread::sleep(std::time::Duration::from_millis(300));
    pipe.write_all(rest)?;
    drop(pipe);
    let output = child.wait_with_output()?;
    assert_eq!(String::from_utf8(output.stdout)?, crate::run::PAIRS);
    Ok(())
}

#[cfg(unix)]
#[test]
fn the_input_is_not_overwritten_even_as_standard_input() -> Test {
    let folder = Folder::new("redirected")?;
    let input = folder.file("world.csv", CSV)?;
    let output = std::process::Command::new(crate::run::BINARY)
        .args([
            "collide",
            "-",
            "--dt",
            "1",
            "--backend",
            "cpu",
            "--output",
            &input,
        ])
        .stdin(fs::File::open(&input)?)
        .output()?;
    let stderr = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("overwrite the input"), "{stderr}");
    assert_eq!(fs::read_to_string(&input)?, CSV);
    Ok(())
}

#[cfg(unix)]
#[test]
fn output_keeps_existing_permissions_and_links() -> Test {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("permissions")?;
    let input = folder.file("world.csv", CSV)?;
    let real = folder.file("real.csv", "what was there before\n")?;
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600))?;
    let link = folder.path("link.csv")?;
    std::os::unix::fs::symlink(&real, &link)?;
    run(&[&input, "--backend", "cpu", "--output", &link])?.expect_success("link");
    assert_eq!(fs::read_to_string(&real)?, crate::run::PAIRS);
    assert_eq!(fs::metadata(&real)?.permissions().mode() & 0o777, 0o600);
    assert!(fs::symlink_metadata(&link)?.is_symlink());
    Ok(())
}

#[test]
fn a_file_of_another_format_is_recognized() -> Test {
    let csv = ["-", "--format", "csv"];
    let dump = frame(0, 1.0);
    run_with(&csv, dump.as_bytes(), &[])?.expect_error("dump", 1, &["--format lammps"]);
    let npy = fs::read(data("c-f4.npy"))?;
    run_with(&csv, &npy, &[])?.expect_error("npy", 1, &["--format npy"]);
    // Without --format, the contents tell the format of standard input.
    run_with(&["-", "--radius", "1"], dump.as_bytes(), &[])?.expect_success("dump");
    run_with(&["-"], &npy, &[])?.expect_success("npy");
    Ok(())
}

#[test]
fn ids_may_be_written_as_numpy_writes_them() -> Test {
    let folder = Folder::new("savetxt-ids")?;
    let text = "id,x,y,z,radius\n7.0e+00,0,0,0,1\n5.0e+00,1,0,0,1\n";
    let input = folder.file("world.csv", text)?;
    assert_eq!(list(&folder, &[&input, "--ids"])?[1..], ["5,7,0.0,1.0"]);
    let halves = folder.file("halves.csv", text.replace("7.0e", "7.5e"))?;
    run(&[&halves, "--ids"])?.expect_error("halves", 1, &["line 2", "field id", "7.5e+00"]);
    // No id is rounded, not even one that float64 would round to another id.
    for (id, is) in [
        ("9007199254740991.0", "9007199254740991"),
        ("70e-1", "7"),
        ("0.70D1", "7"),
        ("9007199254740993", "9007199254740993"),
    ] {
        let input = folder.file("exact.csv", text.replace("7.0e+00", id))?;
        assert_eq!(
            list(&folder, &[&input, "--ids"])?[1..],
            [format!("5,{is},0.0,1.0")]
        );
    }
    for id in [
        "9007199254740993.0",
        "9007199254740992.0",
        "4503599627370497.4",
        "1e300",
        "1e-1",
        "-7.0",
        ".e0",
    ] {
        let input = folder.file("rounded.csv", text.replace("7.0e+00", id))?;
        run(&[&input, "--ids"])?.expect_error(id, 1, &["line 2", "field id", id, "2^53"]);
    }
    Ok(())
}

#[test]
fn wrong_use_of_bench_exits_with_2() -> Test {
    for (args, part) in [
        (&["bench", "--radius", "1"][..], "--input"),
        (&["bench", "--format", "csv"], "--input"),
        (&["bench", "--n", "18446744073709551615"], "2^30"),
    ] {
        run_as_it_is(args)?.expect_error(&format!("{args:?}"), 2, &[part]);
    }
    Ok(())
}

#[test]
fn the_list_is_complete_when_standard_error_is_closed() -> Test {
    let folder = Folder::new("no-summary")?;
    let text = frame(0, 1.0) + &frame(1, 1.0);
    let input = folder.file("dump.row", text)?;
    let args = [&input, "--radius", "0.75", "--frames", "all"];
    let mut child = start(&[&args[..], &["--output", "-"]].concat())?;
    drop(child.stderr.take());
    let output = child.wait_with_output()?;
    assert_eq!(output.status.code(), Some(0));
    let expected = list(&folder, &args)?;
    assert_eq!(expected.len(), 7);
    let found = String::from_utf8(output.stdout)?;
    assert_eq!(found.lines().collect::<Vec<_>>(), expected);
    Ok(())
}

#[test]
fn coarse_coordinates_yield_one_note() -> Test {
    let folder = Folder::new("coarse")?;
    let text = frame(0, 1e6) + &frame(1, 2e6);
    let input = folder.file("dump.row", text)?;
    let args = [
        &input,
        "--radius",
        "0.1",
        "--frames",
        "all",
        "--backend",
        "cpu",
    ];
    // Text is read and decided in float64, also at walls.
    let fine = run(&[&args[..], &["--wall", "plane 0 0 1 -9"]].concat())?;
    fine.expect_success("fine");
    assert!(!fine.stderr.contains("in float32"), "{}", fine.stderr);
    Ok(())
}
