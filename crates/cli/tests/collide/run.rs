//! Helpers that run `carom collide` in tests and create its input files.

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use std::process::{Child, Command};

pub(crate) type Test = Result<(), Box<dyn Error>>;

/// CSV of three spheres, of which two touch at time 0.3.
pub(crate) const CSV: &str =
    "x,y,z,radius,vx,vy,vz\n0,0,0,1,10,0,0\n5,0,0,1,0,0,0\n0,90,0,1,0,0,0\n";
pub(crate) const PAIRS: &str = "a,b,toi,depth\n0,1,0.3,0.0\n";

pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Fails unless the run ended with the exit code `code`, printed an `error:` message that contains all
    /// `parts` to standard error, and printed nothing to standard output.
    pub(crate) fn expect_error(&self, name: &str, code: i32, parts: &[&str]) {
        let Self { stdout, stderr, .. } = self;
        assert_eq!(self.code, Some(code), "{name}: {stderr}{stdout}");
        assert!(stderr.contains("error: "), "{name}: {stderr}");
        assert!(stdout.is_empty(), "{name}: {stdout}");
        for part in parts {
            assert!(stderr.contains(part), "{name}: no `{part}` in: {stderr}");
        }
    }

    pub(crate) fn expect_success(&self, name: &str) {
        assert_eq!(self.code, Some(0), "{name}: {}{}", self.stderr, self.stdout);
    }
}

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_carom");

/// Runs `carom collide` with `input` on standard input, and a time step of 1 unless the arguments contain
/// `--dt`.
pub(crate) fn run_with(
    args: &[impl AsRef<OsStr>],
    input: &[u8],
    env: &[(&str, &str)],
) -> Result<Run, Box<dyn Error>> {
    let mut command = Command::new(BINARY);
    command.arg("collide").args(args);
    if !args.iter().any(|arg| arg.as_ref() == "--dt") {
        command.args(["--dt", "1"]);
    }
    run_command(command, input, env)
}

/// Runs the program `carom` with exactly these arguments.
pub(crate) fn run_as_it_is(args: &[&str]) -> Result<Run, Box<dyn Error>> {
    run_with_input(args, b"")
}

/// Runs the program `carom` with exactly these arguments, and with `input` on standard input.
pub(crate) fn run_with_input(args: &[&str], input: &[u8]) -> Result<Run, Box<dyn Error>> {
    let mut command = Command::new(BINARY);
    command.args(args);
    run_command(command, input, &[])
}

/// Starts `carom collide` on the CPU with a time step of 1 and piped input and output.
pub(crate) fn start(args: &[&str]) -> std::io::Result<Child> {
    Command::new(BINARY)
        .arg("collide")
        .args(args)
        .args(["--dt", "1", "--backend", "cpu"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

fn run_command(
    mut command: Command,
    input: &[u8],
    env: &[(&str, &str)],
) -> Result<Run, Box<dyn Error>> {
    let mut child = command
        .envs(env.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // The program `carom` may end before it has read all of its input, so writing may fail.
    let _ = child
        .stdin
        .take()
        .ok_or("no standard input")?
        .write_all(input);
    let output = child.wait_with_output()?;
    Ok(Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout)?,
        stderr: String::from_utf8(output.stderr)?,
    })
}

pub(crate) fn run(args: &[impl AsRef<OsStr>]) -> Result<Run, Box<dyn Error>> {
    run_with(args, b"", &[])
}

/// A folder for the files of one test, removed on drop.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> std::io::Result<Self> {
        let path =
            std::env::temp_dir().join(format!("carom-collide-{test}-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    pub(crate) fn file(
        &self,
        name: &str,
        contents: impl AsRef<[u8]>,
    ) -> Result<String, Box<dyn Error>> {
        let path = self.path(name)?;
        fs::write(&path, contents)?;
        Ok(path)
    }

    pub(crate) fn path(&self, name: &str) -> Result<String, Box<dyn Error>> {
        Ok(self
            .0
            .join(name)
            .to_str()
            .ok_or("a path that is not UTF-8")?
            .into())
    }

    pub(crate) fn pairs(&self, input: &str) -> Result<String, Box<dyn Error>> {
        let output = self.path("pairs.csv")?;
        run(&[input, "--backend", "cpu", "--output", &output])?.expect_success(input);
        Ok(fs::read_to_string(output)?)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
