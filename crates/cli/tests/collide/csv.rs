//! Tests of `carom collide` with valid and invalid CSV input.

use crate::run::{CSV, Folder, PAIRS, Test, run, run_with};
use std::fs;

#[test]
fn csv_is_read_in_all_its_forms() -> Test {
    let folder = Folder::new("csv")?;
    let forms: &[(&str, &str)] = &[
        ("plain", CSV),
        (
            "other order",
            "vx,radius,z,y,x\n10,1,0,0,0\n0,1,0,0,5\n0,1,0,90,0\n",
        ),
        (
            "further columns",
            "id,x,y,z,name,radius,vx\n7,0,0,0,a,1,10\n8,5,0,0,\"b, c\",1,0\n",
        ),
        (
            "names in capitals, spaces",
            " X ,Y, Z,Radius , VX\n 0,0 ,0,1, 10\n5,0,0,1,0\n",
        ),
        (
            "byte-order mark",
            "\u{feff}x,y,z,radius,vx\n0,0,0,1,10\n5,0,0,1,0\n",
        ),
        ("CRLF", "x,y,z,radius,vx\r\n0,0,0,1,10\r\n\r\n5,0,0,1,0\r\n"),
        ("no last line end", "x,y,z,radius,vx\n0,0,0,1,10\n5,0,0,1,0"),
        (
            "blank lines",
            "\nx,y,z,radius,vx\n\n0,0,0,1,10\n \n5,0,0,1,0\n\n",
        ),
        (
            "quoted",
            "\"x\",y,z,radius,vx\n\"0\",0,0,1,\"10\"\n5,0,0,1,0\n",
        ),
        (
            "ways to write a number",
            "x,y,z,radius,vx\n-0,.0,0.,1e0,+1.0E+1\n50e-1,0,0,1,0\n",
        ),
    ];
    for (name, text) in forms {
        let input = folder.file("World.CSV", text)?;
        assert_eq!(folder.pairs(&input)?, PAIRS, "{name}");
    }
    Ok(())
}

#[test]
fn missing_velocities_are_zero() -> Test {
    let folder = Folder::new("still")?;
    let input = folder.file("still.csv", "x,y,z,radius\n0,0,0,1\n1.5,0,0,1\n9,0,0,1\n")?;
    assert_eq!(folder.pairs(&input)?, "a,b,toi,depth\n0,1,0.0,0.5\n");
    Ok(())
}

#[test]
fn a_missing_velocity_column_yields_a_note() -> Test {
    let folder = Folder::new("velz")?;
    let input = folder.file("velz.csv", "x,y,z,radius,vx,vy,mass\n0,0,0,1,0,0,0\n")?;
    let run = run(&[&input, "--backend", "cpu"])?;
    run.expect_success("velz");
    assert!(run.stderr.contains("no column vz"), "{}", run.stderr);
    Ok(())
}

#[test]
fn a_hyphen_reads_csv_from_standard_input() -> Test {
    let folder = Folder::new("stdin")?;
    let output = folder.path("pairs.csv")?;
    run_with(
        &["-", "--backend", "cpu", "--output", &output],
        CSV.as_bytes(),
        &[],
    )?
    .expect_success("-");
    assert_eq!(fs::read_to_string(output)?, PAIRS);
    let bad = run_with(&["-"], b"x,y,z,radius\n0,0,zero,1\n", &[])?;
    bad.expect_error("-", 1, &["standard input, line 2", "field z", "`zero`"]);
    Ok(())
}

#[test]
fn errors_in_csv_name_file_line_and_field() -> Test {
    let folder = Folder::new("bad-csv")?;
    let head = "x,y,z,radius,vx";
    let cases: &[(&str, &str, &[&str])] = &[
        ("empty", "", &["empty"]),
        ("only blank lines", "\n\n", &["empty"]),
        (
            "no column",
            "x,z,radius\n1,2,3\n",
            &["line 1", "no column y"],
        ),
        (
            "no radius",
            "x,y,z,size\n1,2,3,4\n",
            &["line 1", "no column radius", "diameter"],
        ),
        (
            "column twice",
            "x,y,z,radius,X\n1,2,3,4,5\n",
            &["line 1", "more than one column x", "--columns x=1"],
        ),
        (
            "word",
            "@\n0,0,0,1,0\n0,here,0,1,0\n",
            &["line 3", "field y", "`here`"],
        ),
        (
            "after blank lines",
            "@\r\n\r\n0,0,0,1,0\r\n\r\n0,0,0,1,fast",
            &["line 5", "field vx", "`fast`"],
        ),
        (
            "not a number",
            "@\n0,0,NaN,1,0\n",
            &["line 2", "field z", "`NaN`"],
        ),
        (
            "infinite",
            "@\n0,0,0,1,-inf\n",
            &["line 2", "field vx", "`-inf`"],
        ),
        (
            "infinity",
            "@\n0,0,0,Infinity,0\n",
            &["line 2", "field radius", "`Infinity`"],
        ),
        (
            "too large for float64",
            "@\n0,0,0,1e309,0\n",
            &["line 2", "field radius", "`1e309`", "float64"],
        ),
        (
            "empty field",
            "@\n0,,0,1,0\n",
            &["line 2", "field y", "empty"],
        ),
        (
            "too few fields",
            "@\n0,0,0,1,0\n0,0,0,1\n",
            &["line 3", "4 fields", "5"],
        ),
        (
            "too many fields",
            "@\n0,0,0,1,0,7\n",
            &["line 2", "6 fields", "5"],
        ),
        (
            "open quote",
            "@\n0,0,0,1,\"0\n0,0,0,1,0\n",
            &["line 2", "quote"],
        ),
        ("Mac lines", "@,id\r0,0,0,1,0,7\r", &["line 1", "CR"]),
        (
            "negative radius",
            "@\n0,0,0,1,0\n\n0,0,0,-1,0\n",
            &["line 4", "field radius", "-1"],
        ),
        (
            "out of range",
            "@\n0,0,3e118,1,0\n",
            &["line 2", "field z", "3e118"],
        ),
    ];
    for (name, text, parts) in cases {
        let input = folder.file("bad.csv", text.replace('@', head))?;
        let run = run(&[&input, "--backend", "cpu"])?;
        run.expect_error(name, 1, parts);
        run.expect_error(name, 1, &[&input]);
    }
    let latin1 = folder.file(
        "latin1.csv",
        b"x,y,z,radius,\xfc\n0,0,0,1,\xe4\n0,0,\xe4,1,0\n",
    )?;
    run(&[&latin1])?.expect_error("Latin-1", 1, &["line 3", "field z"]);
    Ok(())
}
