//! The file of pairs: whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
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

    /// Writes the pairs, and gives the file its name.
    pub(crate) fn write(self, pairs: &[Collision]) -> anyhow::Result<()> {
        write_pairs(&self.file, pairs)
            .and_then(|()| fs::rename(&self.temporary, &self.path))
            .with_context(|| cannot_write(&self.path))
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

/// `{:?}` writes the fewest digits that read back as the same float32.
fn write_pairs(file: &File, pairs: &[Collision]) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    writeln!(out, "a,b,toi,depth")?;
    for Collision { a, b, toi, depth } in pairs {
        writeln!(out, "{a},{b},{toi:?},{depth:?}")?;
    }
    out.flush()?;
    drop(out);
    // A name must not come to stand for contents that a crash then loses.
    file.sync_all()
}
