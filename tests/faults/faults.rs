//! Lets allocations and starts of threads fail in a program that a test starts, or in the test itself. Needs Linux with
//! glibc and a C compiler, which the linker of Rust needs, too.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::cell::Cell;
use std::env;
use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = include_str!("faults.c");
const WORDS: usize = 10;

/// What fails. The words are those of `struct control` in faults.c.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plan {
    /// This many allocations succeed, and the next one fails.
    pub(crate) before: i64,
    /// Only allocations of at least this many bytes count. 0: none.
    pub(crate) least: u64,
    /// Sizes of allocations that do not count.
    pub(crate) ignored: [u64; 4],
    /// No thread can be started.
    pub(crate) threads: bool,
    /// All further allocations fail, too.
    pub(crate) lasting: bool,
}

impl Plan {
    /// The allocations that may grow with the input: not small ones, nor those of constant size of `std::io` and of
    /// crossbeam-epoch, which rayon uses.
    pub(crate) const GROWING: Self = Self {
        before: 0,
        least: 2048,
        ignored: [8192, 1 << 16, 2072, 0],
        threads: false,
        lasting: false,
    };
}

/// The control of a program, or of this one.
pub(crate) struct Faults {
    file: File,
    path: PathBuf,
    /// A folder to remove.
    folder: Option<PathBuf>,
    left: Cell<i64>,
    failed: Cell<u64>,
}

impl Faults {
    /// Prepares the control of programs that [`command`](Self::command) changes.
    pub(crate) fn new(name: &str) -> Result<Self, Box<dyn Error>> {
        let folder = env::temp_dir().join(format!("carom-faults-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let source = folder.join("faults.c");
        fs::write(&source, SOURCE)?;
        let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let made = Command::new(compiler)
            .args(["-O2", "-shared", "-fPIC", "-o"])
            .args([&library(&folder), &source])
            .arg("-ldl")
            .status()?;
        assert!(made.success(), "the C compiler failed");
        let path = folder.join("control");
        fs::write(&path, [0; 8 * WORDS])?;
        let file = OpenOptions::new().read(true).write(true).open(&path)?;
        Ok(Self {
            file,
            path,
            folder: Some(folder),
            left: Cell::default(),
            failed: Cell::default(),
        })
    }

    pub(crate) fn command(&self, command: &mut Command) {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        command
            .env("LD_PRELOAD", library(folder))
            .env("CAROM_FAULTS", &self.path);
    }

    /// Returns the control of this program if it runs under one. Otherwise runs the test `name` of this program under one,
    /// which must pass.
    pub(crate) fn of_this_program(name: &str) -> Result<Option<Self>, Box<dyn Error>> {
        if let Some(path) = env::var_os("CAROM_FAULTS") {
            let path = PathBuf::from(path);
            let file = OpenOptions::new().read(true).write(true).open(&path)?;
            return Ok(Some(Self {
                file,
                path,
                folder: None,
                left: Cell::default(),
                failed: Cell::default(),
            }));
        }
        let faults = Self::new(name)?;
        let mut again = Command::new(env::current_exe()?);
        again.args([name, "--exact", "--include-ignored", "--nocapture"]);
        again.arg("--test-threads=1");
        faults.command(&mut again);
        assert!(again.status()?.success(), "{name} failed under faults");
        Ok(None)
    }

    pub(crate) fn set(&self, plan: Plan) -> std::io::Result<()> {
        let trace = u64::from(env::var_os("CAROM_TRACE_FAULTS").is_some());
        let [one, two, three, four] = plan.ignored;
        let (threads, lasting) = (plan.threads.into(), plan.lasting.into());
        let rest = [0, threads, one, two, three, four, trace, lasting];
        let words = [plan.before.cast_unsigned(), plan.least]
            .into_iter()
            .chain(rest);
        let bytes: Vec<u8> = words.flat_map(u64::to_ne_bytes).collect();
        self.file.write_all_at(&bytes, 0)
    }

    /// Ends the faults, and notes what has failed.
    pub(crate) fn end(&self) {
        let mut words = [[0; 8]; 3];
        let read = self.file.read_exact_at(words.as_flattened_mut(), 0);
        read.expect("the control is a file");
        self.set(Plan::default()).expect("the control is a file");
        self.left.set(i64::from_ne_bytes(words[0]));
        self.failed.set(u64::from_ne_bytes(words[2]));
    }

    /// Runs `call` with each of its allocations failing once (with many, some of them, unless the environment variable
    /// `CAROM_ALL_FAULTS` is set). `call` begins the faults with the function that it gets, ends them by [`end`](Self::end),
    /// and returns whether there was an error. There must be none without a fault.
    pub(crate) fn walk(&self, name: &str, plan: Plan, call: &mut dyn FnMut(&dyn Fn()) -> bool) {
        const FEW: i64 = 40;
        let arm = |before: i64| {
            let armed = self.set(Plan { before, ..plan });
            armed.expect("the control is a file");
        };
        assert!(!call(&|| arm(i64::MAX)), "{name} fails without faults");
        let count = i64::MAX - self.left.get();
        let stride = match env::var_os("CAROM_ALL_FAULTS") {
            Some(_) => 1,
            None => (count / FEW).max(1),
        };
        let (mut faults, mut errors) = (0, 0);
        // With threads, a run may make some allocations more than another.
        for before in 0..count + 8 {
            let is_inner = (8..count - 8).contains(&before);
            if is_inner && before % stride != 0 {
                continue;
            }
            let has_failed = call(&|| arm(before));
            let failed = self.failed.get();
            assert!(
                !has_failed || failed > 0,
                "{name}: an error without a fault"
            );
            faults += failed;
            errors += u64::from(has_failed);
        }
        println!("{name}: {count} allocations, {faults} failures, {errors} errors");
        assert!(count == 0 || faults > 0, "{name}: nothing failed");
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

fn library(folder: &Path) -> PathBuf {
    folder.join("libcarom_faults.so")
}
