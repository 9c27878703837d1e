//! Files that are written whole or not at all.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tempfile::NamedTempFile;

/// A file to be written. It gets its name when it is complete; until then it is a temporary one
/// beside it, which goes when this is dropped.
pub struct OutputFile {
    path: PathBuf,
    temporary: NamedTempFile,
}

impl OutputFile {
    /// Makes the temporary file.
    ///
    /// # Errors
    /// If the folder is not there or cannot be written to.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        // The file that a link leads to is replaced, not the link.
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let old = path.metadata().ok();
        if path.is_dir() {
            bail!("cannot write {}: it is a directory", path.display());
        }
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            bail!("cannot write {}: it is no plain file", path.display());
        }
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let (path, folder) = (path.display(), folder.display());
            bail!("cannot write {path}: there is no folder {folder}");
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".carom-").suffix(".tmp");
        // Others may read it, as far as the user's umask allows.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let temporary = builder
            .tempfile_in(folder.unwrap_or(Path::new(".")))
            .with_context(|| cannot_write(path))?;
        // Who may read the old file may read the new one.
        if let Some(old) = old {
            let same = temporary.as_file().set_permissions(old.permissions());
            same.with_context(|| cannot_write(path))?;
        }
        Ok(Self {
            path: path.into(),
            temporary,
        })
    }

    /// The file, to write to.
    ///
    /// # Errors
    /// If the system has no more files to open.
    pub fn file(&self) -> anyhow::Result<File> {
        self.temporary
            .as_file()
            .try_clone()
            .with_context(|| self.cannot_write())
    }

    /// Gives the file its name, in place of a file that has it.
    ///
    /// # Errors
    /// If the system cannot.
    pub fn finish(self) -> anyhow::Result<()> {
        let Self { path, temporary } = self;
        // A name must not come to stand for contents that a crash then loses.
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

    /// What failed, if anything does.
    pub fn cannot_write(&self) -> String {
        cannot_write(&self.path)
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
