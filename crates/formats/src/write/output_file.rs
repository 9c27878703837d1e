//! Output files that appear only when they are complete.

use std::fs::File;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Context, Result, bail};
use crate::read::shown_path;

/// An output file that appears under its name only when it is complete. The contents go to a temporary file
/// in the same folder, which [`OutputFile::finish`] renames. Dropping an unfinished `OutputFile` deletes the
/// temporary file. If the name is a symbolic link, the file to which the link points is written.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    temporary: NamedTempFile,
}

impl OutputFile {
    /// Creates the temporary file that later becomes the output file at `path`.
    ///
    /// # Errors
    /// Returns an error if the folder is missing or not writable, or if `path` names something other than a
    /// regular file.
    pub fn create(path: &Path) -> Result<Self> {
        let path = &resolved(path);
        let old = path.metadata().ok();
        if path.is_dir() {
            bail!("{}: this is a directory", cannot_write(path));
        }
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            bail!("{}: this is not a regular file", cannot_write(path));
        }
        let folder = folder_of(path);
        if !folder.is_dir() {
            let (path, folder) = (cannot_write(path), shown_path(folder));
            bail!("{path}: the folder {folder} does not exist; create it first");
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".carom-").suffix(".tmp");
        // The temporary file gets the same permissions as any other new file. Without this call, the crate
        // `tempfile` would let only the owner read it.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let temporary = builder
            .tempfile_in(folder)
            .with_context(|| cannot_write(path))?;
        // A temporary file gets the permissions of the output file that it replaces.
        if let Some(old) = old {
            let same = temporary.as_file().set_permissions(old.permissions());
            same.with_context(|| cannot_write(path))?;
        }
        Ok(Self {
            path: path.into(),
            temporary,
        })
    }

    /// Returns a handle for writing to the temporary file.
    ///
    /// # Errors
    /// Returns an error if the operating system cannot create another handle.
    pub fn file(&self) -> Result<File> {
        self.temporary
            .as_file()
            .try_clone()
            .with_context(|| self.cannot_write())
    }

    /// Renames the temporary file to the name of the output file, and replaces an existing file of that name.
    ///
    /// # Errors
    /// Returns an error if the contents cannot be flushed to the disk, or the file cannot be
    /// renamed.
    pub fn finish(self) -> Result<()> {
        let Self { path, temporary } = self;
        // The contents must be on the disk before the temporary file is renamed, because a crash could
        // otherwise leave an empty output file.
        temporary
            .as_file()
            .sync_all()
            .with_context(|| cannot_write(&path))?;
        temporary
            .persist(&path)
            .map_err(|failed| failed.error)
            .with_context(|| cannot_write(&path))?;
        Ok(())
    }

    /// Returns the error message for a failure to write the output file.
    pub fn cannot_write(&self) -> String {
        cannot_write(&self.path)
    }
}

/// Returns whether two paths name the same file, whatever names and links lead to it, or would after both had been
/// written. A program that reads one of them and writes the other would lose the first.
///
/// ```
/// use carom_formats::write::is_same_file;
/// use std::path::Path;
///
/// assert!(is_same_file(Path::new("pairs.csv"), Path::new("./pairs.csv")));
/// assert!(!is_same_file(Path::new("pairs.csv"), Path::new("walls.csv")));
/// ```
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(one), Ok(other)) = (one.metadata(), other.metadata()) {
        use std::os::unix::fs::MetadataExt;
        return (one.dev(), one.ino()) == (other.dev(), other.ino());
    }
    let [one, other] = [one, other].map(resolved);
    if cfg!(any(windows, target_vendor = "apple")) {
        // The usual file systems of these systems do not distinguish case.
        let [one, other] = [one, other].map(|path| path.to_string_lossy().to_lowercase());
        return one == other;
    }
    one == other
}

/// Returns the file that a path stands for, which need not exist. A link that points to no file yet stands for the file
/// that it points to.
fn resolved(path: &Path) -> PathBuf {
    // As many as Linux follows.
    const MOST_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(path) = path.canonicalize() {
            return path;
        }
        match path.read_link() {
            Ok(link) => path = folder_of(&path).join(link),
            Err(_) => break,
        }
    }
    match (folder_of(&path).canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    folder.unwrap_or(Path::new("."))
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", shown_path(path))
}
