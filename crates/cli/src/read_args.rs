//! Command-line options of both subcommands that control how an input file is read.

use std::path::PathBuf;

use carom_formats::read::{self, Input, Radii, ReadOptions};
use clap::{Args, ValueEnum};

/// Command-line options that control how an input file is read.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// Format of the input, if neither its contents nor its name tells it
    #[arg(long, value_enum, help_heading = "Reading")]
    pub(crate) format: Option<Format>,

    /// Radius of all spheres, for an input file without radii
    #[arg(long, value_name = "R", allow_hyphen_values = true, value_parser = radius,
        conflicts_with = "radius_by_type", help_heading = "Reading")]
    radius: Option<f64>,

    /// Radius of each type of sphere (1=0.5,2=0.8 or Na=1,Cl=2), for an input file with a column named `type`,
    /// `element` or `species` but without radii
    #[arg(long, value_name = "TYPE=R,...", value_parser = Radii::by_type, help_heading = "Reading")]
    radius_by_type: Option<Radii>,
}

/// Values of the option `--format`: the format of the input file.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Format {
    /// Comma-separated values with a header line
    Csv,
    /// LAMMPS text dump
    Lammps,
    /// LAMMPS data file
    LammpsData,
    /// XYZ or extended XYZ
    Xyz,
    /// NumPy array (.npy)
    Npy,
    /// Archive of named NumPy arrays (.npz)
    Npz,
}

impl From<Format> for read::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Csv => Self::Csv,
            Format::Lammps => Self::Lammps,
            Format::LammpsData => Self::LammpsData,
            Format::Xyz => Self::Xyz,
            Format::Npy => Self::Npy,
            Format::Npz => Self::Npz,
        }
    }
}

impl ReadArgs {
    pub(crate) fn is_given(&self) -> bool {
        self.format.is_some() || self.radius.is_some() || self.radius_by_type.is_some()
    }

    /// Returns the input at the paths, or an error message if the options for reading do not fit the file
    /// format.
    pub(crate) fn input(&self, paths: &[PathBuf]) -> Result<Input, String> {
        let input = inputs(paths, self.format);
        if self.radius_by_type.is_some() && is_archive(&input) {
            return Err(
                "`--radius-by-type` needs a column type, which .npz archives lack; use `--radius`"
                    .into(),
            );
        }
        Ok(input)
    }

    pub(crate) fn options(&self) -> ReadOptions {
        let radii = match (self.radius, &self.radius_by_type) {
            (Some(radius), _) => Radii::Constant(radius),
            (None, Some(by_type)) => by_type.clone(),
            (None, None) => Radii::InFile,
        };
        ReadOptions {
            radii,
            ..ReadOptions::default()
        }
    }
}

/// Returns a file, or several files as a series.
pub(crate) fn inputs(paths: &[PathBuf], format: Option<Format>) -> Input {
    let input = |path: &PathBuf| Input::new(path, format.map(Into::into));
    match paths {
        [path] => input(path),
        paths => Input::series(paths.iter().map(input)),
    }
}

/// Returns whether an input is an archive of NumPy arrays, which have no ids and no types of spheres.
pub(crate) fn is_archive(input: &Input) -> bool {
    input.format() == Some(read::Format::Npz)
}

pub(crate) fn time_step(text: &str) -> carom_formats::Result<f64> {
    read::magnitude("time step", text)
}

fn radius(text: &str) -> carom_formats::Result<f64> {
    read::magnitude("radius", text)
}
