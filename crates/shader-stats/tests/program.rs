//! Tests of the program `carom-shader-stats` through its command line. The tests need RADV, Mesa's Vulkan
//! driver for AMD GPUs, but no GPU.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns a command that runs `carom-shader-stats` in the root folder of the repository.
fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_carom-shader-stats"));
    command
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command
}

fn run(arguments: &[&str]) -> Output {
    program(arguments).output().unwrap()
}

/// Runs `carom-shader-stats`, which must succeed, and returns its standard output.
fn printed(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn error(arguments: &[&str]) -> String {
    error_of(program(arguments))
}

/// Runs a command, which must fail with an error message, and returns its standard error.
fn error_of(mut command: Command) -> String {
    let output = command.output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{error}");
    assert!(
        error.contains("error: ") && !error.contains("panicked"),
        "{error}"
    );
    error
}

/// Returns the path of a file or folder in Cargo's folder for temporary test files.
fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Fails if the statistics of the compiled GPU kernels differ from the committed table. This test
/// does not capture the output of `carom-shader-stats`, so the test log has the new table.
#[test]
fn the_kernels_match_the_committed_table() {
    let status = program(&["--check", "crates/shader-stats/navi21.txt"]).status();
    assert!(status.unwrap().success());
}

#[test]
fn every_kernel_has_a_row() {
    let table = printed(&[]);
    let rows: Vec<&str> = table.lines().skip(2).collect();
    let names: Vec<&str> = rows
        .iter()
        .filter_map(|row| row.split(' ').next())
        .collect();
    let expected: Vec<&str> = carom::gpu::kernels().map(|kernel| kernel.name).collect();
    assert_eq!(names, expected);
}

#[test]
fn a_doctored_table_fails_and_a_true_one_does_not() {
    let path = own("doctored.txt");
    let path = path.to_str().unwrap();
    let names = "pairs,gather";
    let check = ["--only", names, "--check", path];
    let whole = printed(&["--write", path]);
    assert_eq!(fs::read_to_string(path).unwrap(), whole);
    printed(&["--check", path]);
    printed(&check);

    // The check must fail if the table in the file has half the real number of instructions of a
    // kernel.
    let row = whole.lines().find(|row| row.starts_with("pairs ")).unwrap();
    let count = row.split_whitespace().nth(8).unwrap();
    let half = (count.parse::<u32>().unwrap() / 2).to_string();
    fs::write(path, whole.replace(row, &row.replace(count, &half))).unwrap();
    let expected = format!("pairs: instructions {half} -> {count}, dearer\n");
    for check in [&check[..], &check[2..]] {
        let output = run(check);
        assert_eq!(output.status.code(), Some(1));
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(&expected), "{error}");
    }
    printed(&["--only", "gather", "--check", path]);

    // The check must fail if the table in the file lacks the row of a kernel.
    fs::write(path, whole.replace(&format!("{row}\n"), "")).unwrap();
    assert!(error(&check).contains("pairs: missing from the committed table"));

    // The table in the file names the version of the driver that compiled the kernels. Here, this is not the
    // version of the present driver. So the check must not compare the table, and it succeeds although a
    // value of the table is wrong.
    let (driver, rest) = whole.split_once(", ").unwrap();
    fs::write(
        path,
        format!(
            "Mesa 1.2.3, {}",
            rest.replace(row, "pairs 1 1 1 1 1 1 1 1 1")
        ),
    )
    .unwrap();
    let output = run(&check);
    assert!(output.status.success());
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(
        note.contains(&format!("with Mesa 1.2.3, this is {driver}")),
        "{note}"
    );

    // The program rejects a table of shader statistics that was made for another GPU family.
    fs::write(path, whole.replacen("navi21", "vega10", 1)).unwrap();
    assert!(error(&check).contains("add `--family vega10`"));
}

#[test]
fn invalid_arguments_are_reported() {
    let none = own("none.txt");
    let none = none.to_str().unwrap();
    assert!(error(&["--check", none]).contains(&format!("create it with --write {none}")));
    assert!(error(&["--check", "README.md"]).contains("README.md is not a table"));
    assert!(
        error(&["--only", "pears"]).contains("there is no such kernel; the kernels are measure_")
    );
    assert!(error(&["--family", "pears"]).contains("navi21"));
    assert!(error(&["--only", "pairs", "--write", none]).contains("--only"));
}

#[test]
fn without_radv_the_error_names_the_packages_to_install() {
    let mut command = program(&[]);
    for variable in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        command.env(variable, "/dev/null");
    }
    assert!(error_of(command).contains("apt-get install libvulkan1 mesa-vulkan-drivers"));
}

#[test]
fn the_option_ir_writes_the_assembly_and_changes_no_count() {
    let folder = own("ir");
    let path = folder.to_str().unwrap();
    assert_eq!(
        printed(&["--only", "scatter,gather", "--ir", path]),
        printed(&["--only", "gather,scatter"])
    );
    let assembly = fs::read_to_string(folder.join("scatter.assembly.txt")).unwrap();
    assert!(assembly.contains("s_endpgm"));
}
