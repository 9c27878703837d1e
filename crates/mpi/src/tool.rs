//! `carom-mpi collide` and `carom-mpi neighbors`.

use std::io::Write;
use std::path::PathBuf;

use carom::{Backend, Detector, HardSphere, NeighborSearch, Options, Spheres, Step, Wall, Walls};
use carom_formats::read::{self as formats, Frames, Input, ReadOptions};
use carom_formats::write::{Columns, Subject, Target};
use carom_mpi::{
    DistributedDetector, DistributedList, DistributedSearch, DistributedStatistics,
    DistributedStep, Error, Part, Sphere64,
};
use clap::builder::{PathBufValueParser, TypedValueParser};
use mpi::topology::SimpleCommunicator;

use crate::args::read_args::{self, ReadArgs, time_step};
use crate::args::world_args::{Where, WorldArgs, in_float32, keep_files, single};
use crate::read::{self, Given};

/// The arguments of `carom-mpi collide`. Those of `carom collide` with the same names have the same meaning.
#[derive(Debug, clap::Args)]
pub(crate) struct CollideArgs {
    /// File with the spheres, which all ranks can read
    ///
    /// Plain tables (*.csv) and arrays (*.npy) are read by all ranks, each a range of bytes. Other files are read by rank 0.
    #[arg(value_name = "INPUT")]
    path: PathBuf,

    /// Length of the time step, in the input's unit of time
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = time_step)]
    dt: f64,

    #[command(flatten)]
    reading: ReadArgs,

    /// Take all spheres as at rest: the motion in the file is not read
    #[arg(long, help_heading = "Reading")]
    at_rest: bool,

    #[command(flatten)]
    world: WorldArgs,

    #[command(flatten)]
    run: RunArgs,

    /// Write all pairs to this file: a,b,toi,depth as CSV (*.csv) or NumPy arrays (*.npy, *.npz)
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(Target::from_path))]
    output: Option<Target>,

    /// Wall that spheres may touch, as in `carom collide`
    #[arg(long = "wall", value_name = "SHAPE", allow_hyphen_values = true, value_parser = formats::wall_of,
        help_heading = "Walls")]
    simple_walls: Vec<Wall<f64>>,

    /// Triangle mesh that spheres may touch, from an STL or OBJ file that all ranks can read
    #[arg(long = "mesh", value_name = "FILE.stl|.obj", help_heading = "Walls")]
    meshes: Vec<PathBuf>,

    /// Write all spheres that touch walls to this file: sphere,wall,toi,depth
    #[arg(long, value_name = "FILE", help_heading = "Walls",
        value_parser = PathBufValueParser::new().try_map(Target::from_path))]
    walls_output: Option<Target>,
}

/// The arguments of `carom-mpi neighbors`. Those of `carom neighbors` with the same names have the same meaning.
#[derive(Debug, clap::Args)]
pub(crate) struct NeighborsArgs {
    /// File with the particles, which all ranks can read
    #[arg(value_name = "INPUT")]
    path: PathBuf,

    /// Largest distance of two neighbours, in the input's unit of length
    #[arg(long, value_name = "R", allow_hyphen_values = true, value_parser = cutoff)]
    cutoff: f64,

    /// List each pair twice: once as i,j and once as j,i
    #[arg(long)]
    full: bool,

    /// Format of the input, if neither its contents nor its name tells it
    #[arg(long, value_enum, help_heading = "Reading")]
    format: Option<read_args::Format>,

    #[command(flatten)]
    world: WorldArgs,

    #[command(flatten)]
    run: RunArgs,

    /// Write all pairs to this file: i,j,n1,n2,n3,dx,dy,dz,d as CSV (*.csv) or NumPy (*.npy, *.npz)
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(Target::from_path))]
    output: Option<Target>,
}

#[derive(Debug, clap::Args)]
struct RunArgs {
    /// Processor that each rank uses
    #[arg(long, value_enum, default_value = "auto")]
    backend: Where,

    /// Say on standard error what is being done
    #[arg(long)]
    progress: bool,
}

fn cutoff(text: &str) -> carom_formats::Result<f64> {
    formats::magnitude("cutoff", text)
}

impl RunArgs {
    fn detector(&self, comm: &SimpleCommunicator) -> Result<DistributedDetector, Error> {
        DistributedDetector::new(comm, self.options())
    }

    fn options(&self) -> Options {
        Options::new().with_backend(Backend::from(self.backend))
    }

    fn say(&self, detector: &DistributedDetector, what: &str) {
        if self.progress && detector.rank() == 0 {
            tell(what);
        }
    }

    fn read(
        &self,
        detector: &DistributedDetector,
        input: &Input,
        frame: Frames,
        options: &ReadOptions,
    ) -> Result<Given, Error> {
        self.say(detector, "reading");
        let given = read::read(detector, input, frame, options)?;
        notes(detector, &given);
        self.say(
            detector,
            if given.in_parts {
                "read by all ranks"
            } else {
                "read by rank 0"
            },
        );
        Ok(given)
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is the argument of `map_err`"
)]
fn shown(error: carom_formats::Error) -> String {
    format!("{error:?}")
}

/// A failure to write is ignored.
fn tell(what: &str) {
    let _ = writeln!(std::io::stderr(), "{what}");
}

/// Refuses what only the tool for one machine does.
fn check(
    world: &WorldArgs,
    input: &Input,
    outputs: &[(&str, Option<&Target>)],
) -> Result<(), String> {
    world.conflict(input)?;
    if world.ids || world.types {
        return Err("`--ids` and `--types` are not for carom-mpi, whose lists have row numbers; leave them out".into());
    }
    if world.frame.are_several() {
        return Err("carom-mpi searches one frame; choose it with `--frame K`".into());
    }
    let files: Vec<_> = outputs
        .iter()
        .map(|&(option, target)| (option, target.and_then(Target::path)))
        .collect();
    keep_files(input, &[], &files)
}

pub(crate) fn collide(comm: &SimpleCommunicator, args: &CollideArgs) -> Result<(), Error> {
    let mut detector = args.run.detector(comm)?;
    let input = args.reading.input(std::slice::from_ref(&args.path));
    let outputs = [
        ("--output", args.output.as_ref()),
        ("--walls-output", args.walls_output.as_ref()),
    ];
    let input = input.and_then(|input| check(&args.world, &input, &outputs).map(|()| input));
    let input = detector.agree(input)?;
    let options = args.world.options(ReadOptions {
        at_rest: args.at_rest,
        ..args.reading.options()
    });
    let given = args
        .run
        .read(&detector, &input, args.world.frame, &options)?;
    let list = create(&detector, args.output.as_ref())?;
    let wall_list = create(&detector, args.walls_output.as_ref())?;
    let Given {
        world,
        first,
        float32,
        domain,
        ..
    } = given;
    args.run.say(&detector, "colliding");
    let has_walls = !args.simple_walls.is_empty() || !args.meshes.is_empty();
    let source = (args.world.frame, &options, &input);
    let start = std::time::Instant::now();
    let found = if float32 {
        let walls = formats::walls(&args.simple_walls, &args.meshes, single);
        let walls = detector.agree(walls.map_err(shown))?;
        let domain = in_float32(&domain);
        let spheres = detector.agree(world.in_float32().map_err(shown))?;
        drop(world);
        let step = DistributedStep::new(Part::<f32>::starting_at(first, spheres), single(args.dt));
        let step = with_walls(step.in_domain(&domain), &walls, has_walls);
        detector.detect(step).map_err(|error| {
            explained(&detector, error, source, |ready, world, k| {
                // Without memory for this, the error stays as it is.
                let Ok(spheres) = world.in_float32() else {
                    return Ok(());
                };
                let one = spheres.get(k..=k).unwrap_or_default();
                let step = Step::new(one, single(args.dt)).in_domain(&domain);
                ready.detect(&step).map(drop)
            })
        })?
    } else {
        let walls = formats::walls(&args.simple_walls, &args.meshes, |x| x);
        let walls = detector.agree(walls.map_err(shown))?;
        let spheres: Vec<_> = world
            .spheres
            .iter()
            .map(|&sphere| Sphere64::from(sphere))
            .collect();
        drop(world);
        let step = DistributedStep::new(Part::<f64>::starting_at(first, spheres), args.dt);
        let step = with_walls(step.in_domain(&domain), &walls, has_walls);
        detector.detect(step).map_err(|error| {
            explained(&detector, error, source, |ready, world, k| {
                let one: &[HardSphere] = world.spheres.get(k..=k).unwrap_or_default();
                let step = Step::new(one, args.dt).in_domain(&domain);
                ready.detect(&step).map(drop)
            })
        })?
    };
    let seconds = start.elapsed().as_secs_f64();
    let columns = Columns {
        float64: !float32,
        images: !domain.is_open(),
        ids: is_large(&found.statistics),
        ..Columns::default()
    };
    let later = |pairs: &[carom_mpi::Pair]| pairs.iter().filter(|pair| pair.toi > 0.0).count();
    let later = [later(&found.pairs), later(&found.walls)].map(|count| detector.sum(count as u64));
    let statistics = &found.statistics;
    let mut text = summary(&detector, "spheres ", statistics, seconds);
    let counts = |all: u64, later: u64| {
        format!(
            "{all} ({} touch at the start, {later} meet later)",
            all - later
        )
    };
    text += &format!("pairs    {}\n", counts(statistics.pairs, later[0]));
    if has_walls {
        text += &format!("walls    {}\n", counts(statistics.walls, later[1]));
    }
    print(&detector, &text, &outputs)?;
    args.run.say(&detector, "writing");
    if let Some(list) = wall_list {
        let columns = Columns {
            subject: Subject::Walls,
            ..columns
        };
        list.write(&detector, columns, found.walls)?;
    }
    match list {
        Some(list) => list.write(&detector, columns, found.pairs),
        None => Ok(()),
    }
}

fn with_walls<'a, T: carom_mpi::Real>(
    step: DistributedStep<'a, T>,
    walls: &'a Walls<T>,
    has_walls: bool,
) -> DistributedStep<'a, T> {
    if has_walls {
        step.with_walls(walls)
    } else {
        step
    }
}

pub(crate) fn neighbors(comm: &SimpleCommunicator, args: &NeighborsArgs) -> Result<(), Error> {
    let mut detector = args.run.detector(comm)?;
    let input = read_args::inputs(std::slice::from_ref(&args.path), args.format);
    let outputs = [("--output", args.output.as_ref())];
    let checked = check(&args.world, &input, &outputs);
    detector.agree(checked)?;
    let options = args.world.options(ReadOptions {
        centers_only: true,
        ..ReadOptions::default()
    });
    let given = args
        .run
        .read(&detector, &input, args.world.frame, &options)?;
    let list = create(&detector, args.output.as_ref())?;
    let Given {
        world,
        first,
        float32,
        domain,
        ..
    } = given;
    args.run.say(&detector, "searching");
    let source = (args.world.frame, &options, &input);
    let start = std::time::Instant::now();
    let found = if float32 {
        let domain = in_float32(&domain);
        let spheres = detector.agree(world.in_float32().map_err(shown))?;
        drop(world);
        let search = DistributedSearch::<f32>::within(
            Part::starting_at(first, spheres),
            single(args.cutoff),
        );
        let search = if args.full { search.full() } else { search };
        detector
            .find_neighbors(search.in_domain(&domain))
            .map_err(|error| {
                explained(&detector, error, source, |ready, world, k| {
                    // Without memory for this, the error stays as it is.
                    let Ok(spheres) = world.in_float32() else {
                        return Ok(());
                    };
                    let one: Spheres<'_> = spheres.get(k..=k).unwrap_or_default().into();
                    let search =
                        NeighborSearch::within(one, single(args.cutoff)).in_domain(&domain);
                    ready.find_neighbors(&search).map(drop)
                })
            })?
    } else {
        let spheres: Vec<_> = world
            .spheres
            .iter()
            .map(|&sphere| Sphere64::from(sphere))
            .collect();
        drop(world);
        let search =
            DistributedSearch::<f64>::within(Part::starting_at(first, spheres), args.cutoff);
        let search = if args.full { search.full() } else { search };
        detector
            .find_neighbors(search.in_domain(&domain))
            .map_err(|error| {
                explained(&detector, error, source, |ready, world, k| {
                    let one: &[HardSphere] = world.spheres.get(k..=k).unwrap_or_default();
                    let search = NeighborSearch::within(one, args.cutoff).in_domain(&domain);
                    ready.find_neighbors(&search).map(drop)
                })
            })?
    };
    let seconds = start.elapsed().as_secs_f64();
    let mut text = summary(&detector, "particles", &found.statistics, seconds);
    let pairs = found.statistics.pairs / if args.full { 2 } else { 1 };
    text += &format!("pairs     {pairs}\n");
    print(&detector, &text, &outputs)?;
    args.run.say(&detector, "writing");
    let columns = Columns {
        subject: Subject::Neighbors,
        float64: !float32,
        images: true,
        ids: is_large(&found.statistics),
        ..Columns::default()
    };
    match list {
        Some(list) => list.write(&detector, columns, found.entries),
        None => Ok(()),
    }
}

/// Whether row numbers need 64 bits.
fn is_large(statistics: &DistributedStatistics) -> bool {
    statistics.spheres > 1 << 31
}

fn create(
    detector: &DistributedDetector,
    target: Option<&Target>,
) -> Result<Option<DistributedList>, Error> {
    target
        .map(|target| DistributedList::create(detector, target))
        .transpose()
}

fn notes(detector: &DistributedDetector, given: &Given) {
    if detector.rank() == 0 {
        for note in &given.world.notes {
            tell(&format!("note: {note}"));
        }
    }
}

/// Adds the line or row of a sphere to an error, as `carom` does. Rank 0 reads the file again for that. Collective.
fn explained(
    detector: &DistributedDetector,
    error: Error,
    (frame, options, input): (Frames, &ReadOptions, &Input),
    probe: impl Fn(&mut Detector, &formats::World, usize) -> Result<(), carom::Error>,
) -> Error {
    let Some(index) = error.sphere().and_then(|index| usize::try_from(index).ok()) else {
        return error;
    };
    let explain = || {
        let world = read::whole(input, frame, options).ok()?;
        let ready = Detector::new(Options::new().with_backend(Backend::Cpu)).ok();
        let mut error = probe(&mut ready?, &world, index).err()?;
        if let carom::Error::InvalidSphere { index: own, .. }
        | carom::Error::ImageOutOfRange { index: own, .. } = &mut error
        {
            *own = index;
        }
        Some(format!("{:?}", world.explain(error)))
    };
    let text = (detector.rank() == 0).then(explain).flatten();
    let text = detector.tell(text.unwrap_or_default().as_bytes());
    if text.is_empty() {
        return error;
    }
    Error::input(String::from_utf8_lossy(&text))
}

fn summary(
    detector: &DistributedDetector,
    what: &str,
    statistics: &DistributedStatistics,
    seconds: f64,
) -> String {
    let [bytes, messages] = [statistics.bytes, statistics.messages].map(|own| detector.sum(own));
    let width = what.len();
    format!(
        "{:<width$} {}\n{what} {}\n{:<width$} {bytes} bytes in {messages} messages\n{:<width$} {:.3}\n{:<width$} {seconds:.6}\n",
        "ranks",
        detector.ranks(),
        statistics.spheres,
        "sent",
        "uneven",
        statistics.imbalance,
        "seconds",
    )
}

/// On standard error if a list goes to standard output.
fn print(
    detector: &DistributedDetector,
    text: &str,
    outputs: &[(&str, Option<&Target>)],
) -> Result<(), Error> {
    let mut printed = Ok(());
    if detector.rank() == 0 {
        let is_list =
            |(_, target): &(&str, Option<&Target>)| matches!(target, Some(Target::StandardOutput));
        if outputs.iter().any(is_list) {
            let _ = write!(std::io::stderr(), "{text}");
        } else if let Err(error) = write!(std::io::stdout(), "{text}")
            && error.kind() != std::io::ErrorKind::BrokenPipe
        {
            printed = Err(format!("cannot write to standard output: {error}"));
        }
    }
    detector.agree(printed)
}
