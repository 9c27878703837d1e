//! Compiles every kernel of carom's with Mesa's RADV, for an AMD GPU that need not be there, and tells
//! what registers, memory and instructions it takes.
//!
//! ```sh
//! cargo run --release -p carom-shader-stats -- --check crates/shader-stats/navi21.txt
//! ```

mod radv;
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

/// Compiles every kernel of carom's with Mesa's RADV, for an AMD GPU that need not be there, and
/// prints what registers, memory and instructions it takes.
///
/// These are counts, not times, and another version of Mesa gives others. The kernels are translated
/// as wgpu does it, so that the driver gets what it gets in a user's program.
#[derive(Parser)]
#[command(after_help = "\
Columns: registers and the memory of a workgroup (LDS) and of an invocation (scratch), in bytes; how \
many waves a SIMD may have in flight, more being better; spilled registers; instructions, and the bytes \
they take.")]
struct Arguments {
    /// The family of the GPU.
    #[arg(long, default_value = "navi21", value_parser = PossibleValuesParser::new(FAMILIES))]
    family: String,
    /// Compiles only these kernels.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Compares with the table in this file, and fails where a value differs by more than a tenth.
    /// Where the file was written with another version of Mesa, nothing is compared.
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    check: Option<PathBuf>,
    /// Writes the table to this file.
    #[arg(long, value_name = "FILE", conflicts_with = "only")]
    write: Option<PathBuf>,
    /// Writes what the driver has made of each kernel, down to the assembly, to files in this folder.
    #[arg(long, value_name = "DIR")]
    ir: Option<PathBuf>,
}

/// One of each generation. RADV ends the process when it does not know a family.
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
    // SAFETY: no other thread runs yet.
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
    write!(stdout(), "{table}").context("cannot write to the standard output")?;
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

/// The kernels that are asked for.
fn chosen(only: &[String]) -> anyhow::Result<Vec<&'static Kernel>> {
    for name in only {
        if !kernels().any(|kernel| kernel.name == name) {
            let names: Vec<&str> = kernels().map(|kernel| kernel.name).collect();
            bail!(
                "--only {name}: there is no such kernel. There are {}",
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
        .with_context(|| format!("cannot read {name}; --write {name} makes it"))?
        .parse()
        .with_context(|| format!("{name} is no table as --write makes it"))
}

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

/// Fails when the kernels are not what the committed table says.
fn check(path: &Path, committed: &Table, table: &Table) -> anyhow::Result<()> {
    let path = path.display();
    let (old, new) = (&committed.family, &table.family);
    ensure!(
        old == new,
        "{path} is of another family than {new}: add `--family {old}`"
    );
    let (old, new) = (&committed.driver, &table.driver);
    if old != new {
        eprintln!("Not compared: {path} is of {old}, and this is {new}.");
        return Ok(());
    }
    let found = differences(committed, table);
    ensure!(
        found.is_empty(),
        "{path} does not hold any more:\n  {}\nWhere that is meant, commit a new table: \
         cargo run --release -p carom-shader-stats -- --family {} --write {path}",
        found.join("\n  "),
        table.family
    );
    eprintln!("All values are as in {path}, to within a tenth.");
    Ok(())
}
