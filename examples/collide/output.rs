//! Files that are written whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use carom::Collision;

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
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(name);
        let file = File::create_new(&temporary).with_context(|| cannot_write(path))?;
        Ok(Self {
            path: path.into(),
            temporary,
            file,
        })
    }

    /// Lets `contents` write, and gives the file its name.
    pub(crate) fn write(
        self,
        contents: impl FnOnce(&File) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let finish = || -> anyhow::Result<()> {
            contents(&self.file)?;
            // A name must not come to stand for contents that a crash then loses.
            self.file.sync_all()?;
            fs::rename(&self.temporary, &self.path)?;
            Ok(())
        };
        finish().with_context(|| cannot_write(&self.path))
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

/// Writes the pairs as CSV. `{:?}` writes the fewest digits that read back as
/// the same float32.
pub(crate) fn write_pairs(file: &File, pairs: &[Collision]) -> anyhow::Result<()> {
    let mut out = BufWriter::new(file);
    writeln!(out, "a,b,toi,depth")?;
    for Collision { a, b, toi, depth } in pairs {
        writeln!(out, "{a},{b},{toi:?},{depth:?}")?;
    }
    out.flush()?;
    Ok(())
}
