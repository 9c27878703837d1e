//! Files that are written whole or not at all.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// Temporary files of killed runs that are passed over.
const MOST_LEFT: u32 = 1000;

/// A file to be written. It gets its name when it is complete; until then it is
/// a temporary one beside it, which goes when this is dropped.
pub(crate) struct Output {
    path: PathBuf,
    temporary: PathBuf,
    file: File,
}

impl Output {
    /// Makes the temporary file.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        if path.is_dir() {
            bail!("cannot write {}: it is a directory", path.display());
        }
        // A run that was killed leaves its file, and another may get its number.
        for number in 0..MOST_LEFT {
            let name = format!(".carom-{}-{number}.tmp", std::process::id());
            let temporary = path.with_file_name(name);
            match File::create_new(&temporary) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => {
                    return Ok(Self {
                        path: path.into(),
                        file: made.with_context(|| cannot_write(path))?,
                        temporary,
                    });
                }
            }
        }
        bail!(
            "{}: too many files .carom-*.tmp stand beside it; remove them",
            cannot_write(path)
        )
    }

    /// The file, for what writes bit by bit.
    pub(crate) fn file(&self) -> anyhow::Result<File> {
        self.file.try_clone().with_context(|| self.cannot_write())
    }

    /// Lets `contents` write, and gives the file its name.
    pub(crate) fn write(
        self,
        contents: impl FnOnce(&File) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        contents(&self.file).with_context(|| self.cannot_write())?;
        self.finish()
    }

    /// Gives the file its name.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        // A name must not come to stand for contents that a crash then loses.
        let synced = self.file.sync_all();
        synced
            .and_then(|()| fs::rename(&self.temporary, &self.path))
            .with_context(|| self.cannot_write())
    }

    /// What failed, if anything does.
    pub(crate) fn cannot_write(&self) -> String {
        cannot_write(&self.path)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // Gone already if it was renamed; and if it cannot be removed, there is
        // nothing left to try.
        let _ = fs::remove_file(&self.temporary);
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
