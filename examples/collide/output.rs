//! The file of pairs: whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::args::extension;
use crate::list::{Form, List};
use crate::pairs::Pair;

/// A file to be written. It gets its name when it is complete; until then it is
/// a temporary one beside it, which goes when this is dropped.
pub(crate) struct Output {
    path: PathBuf,
    temporary: PathBuf,
    file: File,
    /// Taken when it is complete.
    list: Option<List>,
}

impl Output {
    /// Makes the temporary file.
    pub(crate) fn create(path: &Path, form: Form) -> anyhow::Result<Self> {
        if path.is_dir() {
            bail!("cannot write {}: it is a directory", path.display());
        }
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(name);
        let file = File::create_new(&temporary).with_context(|| cannot_write(path))?;
        let mut output = Self {
            path: path.into(),
            temporary,
            file,
            list: None,
        };
        output.list = Some(output.begin(form).with_context(|| cannot_write(path))?);
        Ok(output)
    }

    fn begin(&self, form: Form) -> io::Result<List> {
        let file = self.file.try_clone()?;
        if extension(&self.path) == "npy" {
            List::npy(file, form)
        } else {
            List::csv(file, form)
        }
    }

    /// Writes the pairs of a frame.
    pub(crate) fn append(
        &mut self,
        frame: u64,
        pairs: impl Iterator<Item = Pair>,
    ) -> anyhow::Result<()> {
        let list = self.list.as_mut();
        list.map_or(Ok(()), |list| list.append(frame, pairs))
            .with_context(|| cannot_write(&self.path))
    }

    /// Gives the file its name.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        let list = self.list.take();
        list.map_or(Ok(()), List::finish)
            // A name must not come to stand for contents that a crash then loses.
            .and_then(|()| self.file.sync_all())
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
