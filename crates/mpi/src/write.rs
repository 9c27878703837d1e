//! Writes a list of all ranks into one file, in which the bytes are those of a list that one machine writes.

use std::fs::File;
use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use carom_formats::write::{self as formats, Columns, List, ListFormat, OutputFile, Target};
use tempfile::NamedTempFile;

use crate::{DistributedDetector, Entry, Error, Neighbor, Pair};

/// Entries that are formatted together.
const CHUNK: usize = 1 << 16;

/// An entry that can be written.
pub trait Written: Entry {
    /// Returns the entry as it is written on one machine.
    fn written(&self) -> formats::Pair;
}

fn name(index: u64) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}

impl Written for Pair {
    fn written(&self) -> formats::Pair {
        formats::Pair {
            a: name(self.a),
            b: name(self.b),
            image: self.image,
            numbers: [self.toi, self.depth, 0.0, 0.0],
            ..formats::Pair::default()
        }
    }
}

impl Written for Neighbor {
    fn written(&self) -> formats::Pair {
        let [x, y, z] = self.vector;
        formats::Pair {
            a: name(self.i),
            b: name(self.j),
            image: self.image,
            numbers: [x, y, z, self.distance],
            ..formats::Pair::default()
        }
    }
}

/// An output file that does not have its name yet. All ranks can open it.
///
/// CSV and NumPy arrays (`.npy`) are written by all ranks together, each into its own range of bytes. Archives (`.npz`) and
/// standard output are written by rank 0, which receives the list part by part.
#[derive(Debug)]
pub struct DistributedList {
    target: Target,
    /// On rank 0.
    temporary: Option<NamedTempFile>,
    path: PathBuf,
}

impl DistributedList {
    /// Creates the file, in the folder in which it will be. Collective.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created.
    pub fn create(detector: &DistributedDetector, target: &Target) -> Result<Self, Error> {
        let mut temporary = None;
        let created = match target {
            Target::File(path, ListFormat::Csv | ListFormat::Npy) if detector.rank() == 0 => {
                create(path).map(|file| temporary = Some(file))
            }
            _ => Ok(()),
        };
        detector.agree(created)?;
        let name = temporary
            .as_ref()
            .map(|file| file.path().as_os_str().as_encoded_bytes());
        let name = detector.tell(name.unwrap_or_default());
        Ok(Self {
            target: target.clone(),
            temporary,
            path: String::from_utf8_lossy(&name).into_owned().into(),
        })
    }

    /// Writes the list, and gives the file its name. Collective.
    ///
    /// # Errors
    /// Returns an error if a rank cannot write. Then there is no file.
    pub fn write<E: Written>(
        self,
        detector: &DistributedDetector,
        columns: Columns,
        own: Vec<E>,
    ) -> Result<(), Error> {
        let own = detector.in_order(own)?;
        let (path, format) = match &self.target {
            Target::File(path, format @ (ListFormat::Csv | ListFormat::Npy)) => (path, *format),
            target => return by_first(detector, target, columns, &own),
        };
        let cannot = |what: String| format!("cannot write {}: {what}", path.display());
        let counted = measure(format, columns, detector.sum(own.len() as u64), &own);
        let (head, bytes) = detector.agree(counted.map_err(cannot))?;
        let begin = head.len() as u64 + detector.sum_before(bytes);
        let written = (|| {
            let mut file = File::options().write(true).open(&self.path)?;
            if detector.rank() == 0 {
                file.write_all(&head)?;
            }
            file.seek(SeekFrom::Start(begin))?;
            rows(format, columns, &own, |bytes| {
                file.write_all(bytes).map_err(|error| error.to_string())
            })
            .map_err(io::Error::other)?;
            file.sync_all()
        })();
        detector.agree(written.map_err(|error: io::Error| cannot(error.to_string())))?;
        let renamed = match self.temporary {
            Some(file) => {
                let path = path.canonicalize().unwrap_or_else(|_| path.clone());
                file.persist(path)
                    .map(drop)
                    .map_err(|error| cannot(error.error.to_string()))
            }
            None => Ok(()),
        };
        detector.agree(renamed)
    }
}

fn shown(error: &carom_formats::Error) -> String {
    format!("{error:?}")
}

/// With the checks and the permissions of an output file on one machine.
fn create(path: &Path) -> Result<NamedTempFile, String> {
    drop(OutputFile::create(path).map_err(|error| shown(&error))?);
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let folder = folder.unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".carom-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let cannot = |error: io::Error| format!("cannot write {}: {error}", path.display());
    // Other ranks may have another current folder.
    let folder = folder.canonicalize().map_err(cannot)?;
    let file = builder.tempfile_in(folder).map_err(cannot)?;
    if let Ok(old) = path.metadata() {
        let same = file.as_file().set_permissions(old.permissions());
        same.map_err(cannot)?;
    }
    Ok(file)
}

/// The bytes of a list on one machine.
fn text<E: Written>(format: ListFormat, columns: Columns, own: &[E]) -> Result<Vec<u8>, String> {
    let mut bytes = Cursor::new(Vec::new());
    let mut write = || {
        let mut list = List::to_writer(&mut bytes, format, columns)?;
        list.append(0, own.iter().map(Written::written))?;
        list.finish()
    };
    write().map_err(|error: carom_formats::Error| shown(&error))?;
    Ok(bytes.into_inner())
}

/// Passes on the bytes of the rows, without what precedes them.
fn rows<E: Written>(
    format: ListFormat,
    columns: Columns,
    own: &[E],
    mut out: impl FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), String> {
    let head = text(format, columns, &[] as &[E])?.len();
    own.chunks(CHUNK)
        .try_for_each(|chunk| out(&text(format, columns, chunk)?[head..]))
}

/// What precedes the rows of all ranks, and the number of bytes of the rows of this rank.
fn measure<E: Written>(
    format: ListFormat,
    columns: Columns,
    count: u64,
    own: &[E],
) -> Result<(Vec<u8>, u64), String> {
    let mut head = text(format, columns, &[] as &[E])?;
    if format == ListFormat::Npy {
        // The header of an array has room for the longest number of rows.
        const EMPTY: &[u8] = b"(0,), }";
        let shape = format!("({count},), }}");
        let at = head.windows(EMPTY.len()).position(|text| text == EMPTY);
        let room = at.and_then(|at| head.get_mut(at..at + shape.len()));
        let room = room.ok_or("the header of the array has an unknown form")?;
        room.copy_from_slice(shape.as_bytes());
    }
    let mut bytes = 0;
    if format == ListFormat::Npy {
        let row = text(format, columns, &own[..own.len().min(1)])?;
        bytes = (row.len() - head.len()) as u64 * own.len() as u64;
    } else {
        rows(format, columns, own, |text| {
            bytes += text.len() as u64;
            Ok(())
        })?;
    }
    Ok((head, bytes))
}

/// Rank 0 writes the list, which it receives part by part.
fn by_first<E: Written>(
    detector: &DistributedDetector,
    target: &Target,
    columns: Columns,
    own: &[E],
) -> Result<(), Error> {
    let is_first = detector.rank() == 0;
    let list = is_first.then(|| List::create(target, columns)).transpose();
    let mut list = detector.agree(list.map_err(|error| shown(&error)))?;
    let mut failed = None;
    detector.to_first(own, |part: &[E]| {
        if let (Some(list), None) = (&mut list, &failed) {
            failed = list.append(0, part.iter().map(Written::written)).err();
        }
    });
    let written = match (failed, list) {
        (Some(error), _) => Err(error),
        (None, Some(list)) => list.finish(),
        (None, None) => Ok(()),
    };
    // A reader that ends early, such as `head`, is no fault.
    let is_pipe = matches!(target, Target::StandardOutput);
    let is_closed = |error: &carom_formats::Error| {
        let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref());
        cause.is_some_and(|cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe)
    };
    let written = match written {
        Err(error) if is_pipe && is_closed(&error) => Ok(()),
        other => other.map_err(|error| shown(&error)),
    };
    detector.agree(written)
}
