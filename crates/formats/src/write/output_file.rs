//! Output files that appear only when they are complete.

use std::fs::File;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Context, Result, bail};

/// An output file that appears under its name only when it is complete. The contents go to a temporary file
/// in the same folder, which [`OutputFile::finish`] renames. Dropping an unfinished `OutputFile` deletes the
/// temporary file.
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
        // If the path is a symbolic link, the file to which the link points is replaced.
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let old = path.metadata().ok();
        if path.is_dir() {
            bail!("cannot write {}: this is a directory", path.display());
        }
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            bail!(
                "cannot write {}: this is not a regular file",
                path.display()
            );
        }
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let (path, folder) = (path.display(), folder.display());
            bail!("cannot write {path}: the folder {folder} does not exist; create it first");
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".carom-").suffix(".tmp");
        // The temporary file gets the same permissions as any other new file. Without this call, the crate
        // `tempfile` would let only the owner read it.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let temporary = builder
            .tempfile_in(folder.unwrap_or(Path::new(".")))
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

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
