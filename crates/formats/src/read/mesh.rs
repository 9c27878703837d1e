//! Readers of triangle meshes: STL, binary and text, and Wavefront OBJ.
//!
//! Several crates read these formats (`stl_io`, `nom_stl`, `mesh-loader`, `tobj`, `obj-rs`), but
//! none says where in the file an error is. `stl_io` takes each file that begins with `solid ` for
//! text, but many programs write binary files that begin in this way. `tobj` accepts infinities and
//! NaN. So carom has its own readers.

mod obj;
mod stl;
mod triangles;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

pub use self::obj::read as read_obj;
pub use self::stl::read as read_stl;
pub use self::triangles::Mesh;
use super::unpack::{is_packed, unpacked};
use super::{extension, number};
use crate::error::{Context, Result, bail};

/// Reads a mesh from a file, which may be compressed. The extension of its name, `.stl` or `.obj`, tells the format;
/// `.gz`, `.zst`, `.bz2` or `.xz` may follow.
///
/// # Errors
/// Returns an error that names the file, and the line or triangle, if the mesh cannot be read.
pub fn read(path: impl AsRef<Path>) -> Result<Mesh> {
    let path = path.as_ref();
    let source = number::shown_path(path);
    let read = reader(path)?;
    let file = File::open(path).with_context(|| format!("cannot open {source}"))?;
    let text = unpacked(BufReader::new(file)).with_context(|| format!("cannot read {source}"))?;
    read(&source, text)
}

/// Does the same as [`read()`] for a mesh that is not in a file: for example, for the bytes of a file that was
/// dropped on a page in a browser. `name` is the name that the file would have.
///
/// ```
/// let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
/// let mesh = carom_formats::read::mesh::read_from("corner.obj", text.as_bytes())?;
/// assert_eq!(mesh.triangles, [[0, 1, 2]]);
/// # Ok::<(), carom_formats::Error>(())
/// ```
///
/// # Errors
/// Returns an error that has the name, and the line or triangle, if the mesh cannot be read.
pub fn read_from(name: &str, mut input: impl BufRead) -> Result<Mesh> {
    let read = reader(Path::new(name))?;
    let begin = input.fill_buf();
    if is_packed(begin.with_context(|| format!("cannot read {name}"))?) {
        bail!("{name} is compressed; decompress it first");
    }
    read(name, input)
}

/// Returns whether a name is that of a mesh: it ends in `.stl` or `.obj`, in any case, or such an ending precedes that of a
/// compressed file.
///
/// ```
/// use carom_formats::read::mesh;
///
/// assert!(mesh::is_name("funnel.STL"));
/// assert!(!mesh::is_name("spheres.csv"));
/// ```
pub fn is_name(path: impl AsRef<Path>) -> bool {
    matches!(&*kind(path.as_ref()), "stl" | "obj")
}

/// Returns the ending of a name, without that of a compressed file.
fn kind(path: &Path) -> String {
    match &*extension(path) {
        "gz" | "zst" | "bz2" | "xz" => extension(&path.with_extension("")),
        other => other.to_owned(),
    }
}

/// Returns the reader of the format that the name of a mesh implies.
fn reader<R: BufRead>(name: &Path) -> Result<fn(&str, R) -> Result<Mesh>> {
    match kind(name).as_str() {
        "stl" => Ok(read_stl),
        "obj" => Ok(read_obj),
        _ => bail!(
            "{}: the name of a mesh must end in .stl or .obj",
            number::shown_path(name)
        ),
    }
}
