//! Compiles all GPU kernels of carom with RADV, Mesa's Vulkan driver for AMD GPUs. No AMD GPU is needed.
//!
//! ```sh
//! cargo run --release -p carom-shader-stats -- --check crates/shader-stats/navi21.txt
//! ```

mod radv;
mod rounds;
mod shader;
mod table;

use std::fs;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use carom::gpu::{Kernel, kernels};
use clap::Parser;
use clap::builder::PossibleValuesParser;

use radv::Radv;
use shader::Shader;
use table::{Row, Table, differences};

/// Compiles all GPU kernels of carom with RADV, Mesa's Vulkan driver for AMD GPUs, and prints the registers,
/// memory and instructions that each kernel uses. No AMD GPU is needed.
///
/// The program prints counts, not times. The counts differ between versions of Mesa. The program translates
/// the kernels to SPIR-V as wgpu does, so the driver gets the same code as in a user's application.
#[derive(Parser)]
#[command(after_help = "\
Columns: vector registers (VGPRs) and scalar registers (SGPRs); number of waves that a SIMD can \
have in flight (more is better); memory of a workgroup (LDS) and of an invocation (scratch), in \
bytes; spilled registers; number of instructions, and their size in bytes.")]
struct Arguments {
    /// Family of AMD GPUs for which the kernels are compiled.
    #[arg(long, default_value = "navi21", value_parser = PossibleValuesParser::new(FAMILIES))]
    family: String,
    /// Compile only the GPU kernels with these names.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Compare the statistics of the compiled kernels with the table in FILE, and fail if a value
    /// differs by more than a tenth. If FILE was written with another version of Mesa, nothing is
    /// compared.
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    check: Option<PathBuf>,
    /// Write the table of all GPU kernels to this file.
    #[arg(long, value_name = "FILE", conflicts_with = "only")]
    write: Option<PathBuf>,
    /// Write the driver's intermediate representations and the assembly of each GPU kernel to files in this
    /// folder.
    #[arg(long, value_name = "DIR")]
    ir: Option<PathBuf>,
    /// Also print how often the loops of the kernel `pairs` run, in each benchmark scene with N spheres.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1000..=1_000_000))]
    rounds: Option<u32>,
}

/// AMD GPU families that `--family` accepts, one for each GPU generation. RADV ends the whole process if the
/// family is unknown.
const FAMILIES: [&str; 5] = ["polaris10", "vega10", "navi10", "navi21", "gfx1100"];

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> anyhow::Result<()> {
    let kernels = chosen(&arguments.only)?;
    let committed = arguments.check.as_deref().map(read).transpose()?;
    // SAFETY: this is the only thread of the process.
    let radv = unsafe { Radv::open(&arguments.family) }?;
    let rows = kernels.iter().map(|kernel| {
        compile(&radv, kernel, arguments.ir.as_deref())
            .with_context(|| format!("cannot compile the kernel {}", kernel.name))
    });
    let table = Table {
        driver: radv.version().to_owned(),
        rows: rows.collect::<anyhow::Result<_>>()?,
        family: arguments.family,
    };
    write!(stdout(), "{table}").context("cannot write to standard output")?;
    if let Some(n) = arguments.rounds {
        let report = rounds::report(n as usize)?;
        write!(stdout(), "\n{report}").context("cannot write to standard output")?;
    }
    if let Some(path) = &arguments.write {
        fs::write(path, table.to_string())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let (Some(path), Some(mut committed)) = (&arguments.check, committed) {
        if !arguments.only.is_empty() {
            committed
                .rows
                .retain(|row| arguments.only.contains(&row.kernel));
        }
        check(path, &committed, &table)?;
    }
    Ok(())
}

fn chosen(only: &[String]) -> anyhow::Result<Vec<&'static Kernel>> {
    for name in only {
        if !kernels().any(|kernel| kernel.name == name) {
            let names: Vec<&str> = kernels().map(|kernel| kernel.name).collect();
            bail!(
                "--only {name}: there is no such kernel; the kernels are {}",
                names.join(", ")
            );
        }
    }
    let is_chosen =
        |kernel: &&Kernel| only.is_empty() || only.iter().any(|name| name == kernel.name);
    Ok(kernels().filter(is_chosen).collect())
}

fn read(path: &Path) -> anyhow::Result<Table> {
    let name = path.display();
    fs::read_to_string(path)
        .with_context(|| format!("cannot read {name}; create it with --write {name}"))?
        .parse()
        .with_context(|| format!("{name} is not a table written by --write"))
}

/// Compiles a GPU kernel and returns its row of the table. The kernel's intermediate representations and
/// assembly are written to the folder `ir`.
fn compile(radv: &Radv, kernel: &Kernel, ir: Option<&Path>) -> anyhow::Result<Row> {
    let compiled = radv.compile(&Shader::new(kernel)?, ir.is_some())?;
    if let Some(folder) = ir {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        for (name, text) in &compiled.texts {
            let path = folder.join(format!("{}.{name}.txt", kernel.name));
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Row::new(kernel.name, &compiled.statistics)
}

/// Returns an error if two tables are for different GPU families, or if [`differences`] finds a difference.
fn check(path: &Path, committed: &Table, table: &Table) -> anyhow::Result<()> {
    let path = path.display();
    let (old, new) = (&committed.family, &table.family);
    ensure!(
        old == new,
        "{path} is for the family {old}, not {new}: add `--family {old}`"
    );
    let (old, new) = (&committed.driver, &table.driver);
    if old != new {
        eprintln!("Not compared: {path} was written with {old}, this is {new}.");
        return Ok(());
    }
    let found = differences(committed, table);
    ensure!(
        found.is_empty(),
        "{path} is out of date:\n  {}\nIf the changes are intended, commit a new table: \
         cargo run --release -p carom-shader-stats -- --family {} --write {path}",
        found.join("\n  "),
        table.family
    );
    eprintln!("All values agree with {path} to within a tenth.");
    Ok(())
}
