//! Recognises the format of an input from its first bytes.

use crate::read::{Format, number};

/// What the first bytes of an input tell.
#[derive(Debug, PartialEq)]
pub(crate) enum Detected {
    Format(Format),
    /// A format that is not read: its name, and how to convert the input.
    Foreign(&'static str, String),
    Unknown,
}

/// Number of bytes from which the format is recognised.
pub(crate) const ENOUGH: usize = 1 << 14;

/// `FORMAT` is ASE's name of the format.
const WITH_ASE: &str =
    "convert it with ASE (`pip install ase`): `ase convert -i FORMAT INPUT out.xyz`";
const GSD: &str = "convert it with Python (`pip install gsd`): `python -c \"import gsd.hoomd, numpy; \
                   f = gsd.hoomd.open('INPUT')[-1]; p = f.particles; numpy.savez('out.npz', \
                   position=p.position, velocity=p.velocity, diameter=p.diameter, \
                   box=f.configuration.box)\"` takes the last frame, [-1], without types; several .npz files are read \
                   as one series";
/// `FILES` are the arguments of `Universe`.
const WITH_MDANALYSIS: &str = "convert a frame, the last one, with Python (`pip install MDAnalysis`): `python -c \"import \
                               MDAnalysis, numpy; u = MDAnalysis.Universe(FILES); t = u.trajectory[-1]; v = \
                               t.velocities if t.has_velocities else None; a = dict(positions=t.positions, \
                               velocities=v, dimensions=t.dimensions); numpy.savez('out.npz', **{k: a[k] for k in a \
                               if a[k] is not None})\"` (lengths are in Å then, and velocities in Å/ps)";
/// Of a trajectory without names of atoms.
const TRAJECTORY: &str = "'TOPOLOGY', 'INPUT'";
const BINARY_DUMP: &str = "convert it with LAMMPS's tool `binary2txt INPUT`, or write a text dump";
const RESTART: &str = "convert it with LAMMPS: `lmp -restart2data INPUT out.data`";
const TEXT_DUMP: &str = "write a text dump instead: `dump 1 all custom 100 dump.txt id type x y z`";
const PARAVIEW: &str = "save it from ParaView as CSV (File, Save Data), and read that with --columns \
                        x=Points:0,y=Points:1,z=Points:2";
const WITH_OVITO: &str = "export it as a LAMMPS dump or as extended XYZ, for example with OVITO";

const WITH_CLOUD_COMPARE: &str = "save it as CSV, for example with CloudCompare";
const TRAJ: &str = "convert it with ASE (`pip install ase`): `ase convert -i traj INPUT out.xyz`";
const MESH: &str = "give the mesh of a wall with --mesh (STL or OBJ), or save its points as CSV";
const PARQUET: &str = "convert it with Python (`pip install pandas pyarrow`): `python -c \"import pandas; \
                       pandas.read_parquet('INPUT').to_csv('out.csv', index=False)\"`";
const FEATHER: &str = "convert it with Python (`pip install pandas pyarrow`): `python -c \"import pandas; \
                       pandas.read_feather('INPUT').to_csv('out.csv', index=False)\"`";
const MATLAB: &str = "convert it with Python (`pip install scipy`): `python -c \"import scipy.io, numpy; m = \
                      scipy.io.loadmat('INPUT'); numpy.savez('out.npz', position=m['NAME'])\"`, with the names \
                      of the file, and also with radius and velocity";
const WITH_NUMPY: &str = "load it with the program that wrote it, and write CSV, or save the arrays in Python: \
                          `numpy.savez('out.npz', position=…, radius=…, velocity=…)`";
const SQLITE: &str = "if ASE wrote it, `ase convert -i db INPUT out.xyz` converts it; otherwise save its table as CSV";
const JSON: &str = "if ASE wrote it, `ase convert -i json INPUT out.xyz` converts it; otherwise load it with the \
                    program that wrote it, and write CSV, or save the arrays in Python: `numpy.savez('out.npz', \
                    position=…, radius=…, velocity=…)`";
const TINKER: &str = "convert it with Python (`pip install MDAnalysis`): `python -c \"import MDAnalysis; \
                      MDAnalysis.Universe('INPUT', format='TXYZ').atoms.write('out.xyz')\"`";
const PICTURE: &str = "give the file with the numbers instead";
/// `COUNT` is the number of spheres of a frame.
const MERCURY: &str = "take its last frame as a table: `tail -n COUNT INPUT > out.txt`, and read that with \
                       --format csv --separator space --columns x,y,z,vx,vy,vz,radius,_,_,_,_,_,_,_";

/// Magic bytes, and where they are, of formats that are not read.
const MAGIC: [(usize, &[u8], &str, &str); 43] = [
    (0, b"\xdf\x65\xdf\x65\xdf\x65\xdf\x65", "a GSD file", GSD),
    (4, b"CORD", "a DCD trajectory", TRAJECTORY),
    (0, b"\x00\x00\x07\xcb", "an XTC trajectory", TRAJECTORY),
    (0, b"\x00\x00\x07\xc9", "a TRR trajectory", TRAJECTORY),
    (0, b"CDF\x01", "a NetCDF file", WITH_OVITO),
    (0, b"CDF\x02", "a NetCDF file", WITH_OVITO),
    (0, b"CDF\x05", "a NetCDF file", WITH_OVITO),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file", WITH_OVITO),
    (0, b"- of Ulm", "a trajectory of ASE", TRAJ),
    (8, b"DUMPATOM", "a binary LAMMPS dump", BINARY_DUMP),
    (8, b"DUMPCUSTOM", "a binary LAMMPS dump", BINARY_DUMP),
    (0, b"LammpS RestartT", "a restart file of LAMMPS", RESTART),
    (0, b"# vtk DataFile", "a VTK file", PARAVIEW),
    (0, b"<VTKFile", "a VTK file", PARAVIEW),
    (0, b"@<TRIPOS>", "a MOL2 file", WITH_OVITO),
    (0, b"ply\n", "a PLY file", WITH_CLOUD_COMPARE),
    (0, b"ply\r\n", "a PLY file", WITH_CLOUD_COMPARE),
    (0, b"# .PCD v", "a PCD point cloud", WITH_CLOUD_COMPARE),
    (0, b"LASF", "a LAS point cloud", WITH_CLOUD_COMPARE),
    (0, b"ASTM-E57", "an E57 point cloud", WITH_CLOUD_COMPARE),
    (0, b"glTF", "a glTF file", MESH),
    (0, b"OFF\n", "an OFF mesh", MESH),
    (0, b"\x89PNG", "a picture (PNG)", PICTURE),
    (0, b"\xff\xd8\xff", "a picture (JPEG)", PICTURE),
    (0, b"GIF8", "a picture (GIF)", PICTURE),
    (0, b"%PDF", "a PDF document", PICTURE),
    (0, b"PAR1", "a Parquet file", PARQUET),
    (0, b"ARROW1", "an Arrow (Feather) file", FEATHER),
    (0, b"MATLAB 5.0", "a MATLAB file", MATLAB),
    (0, b"SQLite format 3", "an SQLite database", SQLITE),
    (0, b"\x80\x02", "a pickle of Python", WITH_NUMPY),
    (0, b"\x80\x03", "a pickle of Python", WITH_NUMPY),
    (0, b"\x80\x04", "a pickle of Python", WITH_NUMPY),
    (0, b"\x80\x05", "a pickle of Python", WITH_NUMPY),
    (0, b"\x7fELF", "a program", PICTURE),
    (0, b"#F A ", "an IMD file", WITH_OVITO),
    (
        0,
        b"Number of particles =",
        "a CFG file of AtomEye",
        WITH_OVITO,
    ),
    (
        257,
        b"ustar",
        "an archive of tar",
        "unpack it: `tar -xf INPUT`",
    ),
    (
        0,
        b"\x1f\x9d",
        "compressed (.Z)",
        "decompress it: `gzip -dc INPUT > out`",
    ),
    (
        0,
        b"\x04\x22\x4d\x18",
        "compressed (lz4)",
        "decompress it: `lz4 -dc INPUT > out`",
    ),
    (
        0,
        b"\x5d\x00\x00",
        "compressed (lzma)",
        "decompress it: `xz -dc --format=lzma INPUT > out`",
    ),
    (
        0,
        b"LZIP",
        "compressed (lzip)",
        "decompress it: `lzip -dc INPUT > out`",
    ),
    (
        0,
        b"7z\xbc\xaf\x27\x1c",
        "an archive of 7-Zip",
        "unpack it: `7z x INPUT`",
    ),
];

fn foreign(name: &'static str, way_out: &str) -> Detected {
    Detected::Foreign(name, way_out.to_owned())
}

/// Returns what is said of a format that the package `MDAnalysis` reads from `files`.
fn of_mdanalysis(name: &'static str, files: &str) -> Detected {
    Detected::Foreign(name, WITH_MDANALYSIS.replace("FILES", files))
}

/// Returns what is said of a format that ASE reads under the name `format`.
fn of_ase(name: &'static str, format: &str) -> Detected {
    Detected::Foreign(name, WITH_ASE.replace("FORMAT", format))
}

/// Returns whether the bytes are a binary dump as LAMMPS wrote it before the year 2021: without a name of the format, it
/// begins with the time step, the number of atoms, and whether the box is triclinic and its six boundaries.
fn is_old_dump(begin: &[u8]) -> bool {
    let long = |at: usize| {
        let bytes = begin.get(at..at + 8)?.try_into().ok()?;
        Some(i64::from_le_bytes(bytes))
    };
    let flag = |k: usize| {
        let at = 16 + 4 * k;
        let bytes = begin.get(at..at + 4)?.try_into().ok()?;
        Some(i32::from_le_bytes(bytes))
    };
    let is_step = long(0).is_some_and(|step| (0..1 << 48).contains(&step));
    let is_count = long(8).is_some_and(|count| (1..1 << 48).contains(&count));
    let are_flags = (0..7).all(|k| flag(k).is_some_and(|flag| (0..4).contains(&flag)));
    is_step && is_count && are_flags
}

/// Recognises the format of an input from its first bytes, after decompression. `is_whole` tells whether these are all.
pub(crate) fn detect(begin: &[u8], is_whole: bool) -> Detected {
    if begin.starts_with(b"\x93NUMPY") {
        return Detected::Format(Format::Npy);
    }
    // An archive without files has only its end.
    if begin.starts_with(b"PK\x03\x04") || begin.starts_with(b"PK\x05\x06") {
        return Detected::Format(Format::Npz);
    }
    for (at, magic, name, way_out) in MAGIC {
        if begin.get(at..).is_some_and(|rest| rest.starts_with(magic)) {
            return if way_out == TRAJECTORY {
                of_mdanalysis(name, way_out)
            } else {
                foreign(name, way_out)
            };
        }
    }
    if is_old_dump(begin) {
        return foreign("a binary LAMMPS dump", BINARY_DUMP);
    }
    let text = begin.strip_prefix(b"\xef\xbb\xbf").unwrap_or(begin);
    let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    // The last line may be incomplete.
    if !is_whole && lines.len() > 1 {
        lines.pop();
    }
    let first = lines.iter().position(|line| !line.trim_ascii().is_empty());
    lines.drain(..first.unwrap_or(lines.len()));
    of_text(&lines)
}

fn of_text(lines: &[&[u8]]) -> Detected {
    let line = |k: usize| lines.get(k).copied().unwrap_or_default();
    let words = |k: usize| -> Vec<&[u8]> {
        let words = line(k).split(u8::is_ascii_whitespace);
        words.filter(|word| !word.is_empty()).collect()
    };
    let is_number = |word: &&[u8]| number::parse(word).is_ok();
    let is_whole = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    let is_vector = |k| words(k).len() >= 3 && words(k).iter().take(3).all(is_number);
    let any = |begins: &[&str]| {
        let begins_so = |line: &&[u8]| {
            begins
                .iter()
                .any(|begin| line.starts_with(begin.as_bytes()))
        };
        lines.iter().any(begins_so)
    };
    let first = words(0);
    if line(0).trim_ascii_start().starts_with(b"ITEM:") {
        return Detected::Format(Format::Lammps);
    }
    if first == [b"---"] && any(&["creator: LAMMPS"]) {
        return foreign("a YAML dump of LAMMPS", TEXT_DUMP);
    }
    // Fixed columns, after a title and the number of atoms.
    let number_at = |from: usize, to: usize| {
        let field = line(2).get(from..to).map(<[u8]>::trim_ascii);
        field.is_some_and(|field| is_number(&field))
    };
    if let [count] = *words(1)
        && is_whole(count)
        && line(2).len() >= 44
        && number_at(0, 5)
        && number_at(15, 20)
        && number_at(20, 28)
        && number_at(28, 36)
        && number_at(36, 44)
    {
        return of_mdanalysis(
            "a GRO file of GROMACS",
            "'INPUT', topology_format='GRO', format='GRO'",
        );
    }
    // The number of spheres, the time and the box, and rows of 14 numbers.
    let all_numbers = |k| words(k).iter().all(is_number);
    if let [count, _, _, _, _, _, _, _] = *first
        && is_whole(count)
        && words(1).len() == 14
        && all_numbers(0)
        && all_numbers(1)
    {
        let way_out = MERCURY.replace("COUNT", &String::from_utf8_lossy(count));
        return Detected::Foreign("a data file of MercuryDPM", way_out);
    }
    // Tinker numbers the atoms, and has the symbol before the position.
    let is_tinker_atom = |k: usize| {
        let words = words(k);
        words.len() >= 6
            && words[0] == k.to_string().as_bytes()
            && !is_number(&words[1])
            && words[2..6].iter().all(is_number)
    };
    if first.first().is_some_and(|count| is_whole(count))
        && is_tinker_atom(1)
        && (*first[0] == *b"1" || is_tinker_atom(2))
    {
        return foreign("an XYZ file of Tinker", TINKER);
    }
    if let [count] = *first
        && is_whole(count)
        && (words(2).len() >= 4 || lines.len() < 3 || count == b"0")
    {
        return Detected::Format(Format::Xyz);
    }
    // A comment may follow the words of a line.
    let without_comment = |k| {
        let mut words = words(k);
        words.truncate(
            words
                .iter()
                .position(|word| word.starts_with(b"#"))
                .unwrap_or(words.len()),
        );
        words
    };
    let header: Vec<Vec<&[u8]>> = (1..lines.len().min(100)).map(without_comment).collect();
    let is_count = |words: &Vec<&[u8]>| matches!(**words, [count, b"atoms"] if is_whole(count));
    let is_bound =
        |words: &Vec<&[u8]>| words.ends_with(&[b"xlo", b"xhi"]) || words.ends_with(&[b"avec"]);
    if header.iter().any(is_count) && (header.iter().any(is_bound) || any(&["Atoms"])) {
        return Detected::Format(Format::LammpsData);
    }
    if any(&["ATOM  ", "HETATM", "CRYST1"]) {
        let found = of_mdanalysis("a PDB file", "'INPUT', topology_format='PDB', format='PDB'");
        // A box before the first of several frames gets lost.
        let cell = (0..lines.len())
            .map(words)
            .find(|words| words.first() == Some(&&b"CRYST1"[..]));
        return match (found, cell.as_deref().and_then(|words| words.get(1..7))) {
            (Detected::Foreign(name, way_out), Some(cell)) if cell.iter().all(is_number) => {
                let cell = String::from_utf8_lossy(&cell.join(&b' ')).into_owned();
                let more = format!(
                    "; if out.npz has no box then, it is --box \"0 0 0 {cell}\" --periodic abc"
                );
                Detected::Foreign(name, way_out + &more)
            }
            (found, _) => found,
        };
    }
    if any(&["data_"]) && any(&["_cell_length_a", "_atom_site", "loop_"]) {
        return of_ase("a CIF file", "cif");
    }
    if any(&["Direct configuration="]) {
        return of_ase("an XDATCAR file of VASP", "vasp-xdatcar");
    }
    if line(0).starts_with(b" vasp.") {
        return of_ase("an OUTCAR file of VASP", "vasp-out");
    }
    let is_scale = matches!(*words(1), [word] if is_number(&word));
    let counts = |k: usize| !words(k).is_empty() && words(k).iter().all(|word| is_whole(word));
    if is_scale && (2..5).all(|k| is_vector(k) && words(k).len() == 3) && (counts(5) || counts(6)) {
        return of_ase("a POSCAR file of VASP", "vasp");
    }
    // DFTB+: the number of atoms and the kind of coordinates, the symbols, and rows of two numbers and a position.
    let is_kind = |word: &[u8]| word.len() == 1 && b"CSFH".contains(&word[0].to_ascii_uppercase());
    if let [count, kind] = *words(0)
        && is_whole(count)
        && is_kind(kind)
        && (words(2).len() == 5 && words(2).iter().all(is_number))
    {
        return of_ase("a GEN file of DFTB+", "gen");
    }
    // A coordinate file of CHARMM: titles that begin with `*`, the number of atoms, and rows with a position.
    let titles = lines
        .iter()
        .take_while(|line| line.starts_with(b"*"))
        .count();
    if titles > 0
        && words(titles).first().is_some_and(|count| is_whole(count))
        && words(titles + 1).len() >= 7
        && words(titles + 1)[4..7].iter().all(is_number)
    {
        return of_mdanalysis(
            "a coordinate file of CHARMM",
            "'INPUT', topology_format='CRD', format='CRD'",
        );
    }
    // A cube of Gaussian: after two titles, four lines of a whole number and a vector.
    let is_count_and_vector = |k| {
        let words = words(k);
        let count = words
            .first()
            .map(|word| word.strip_prefix(b"-").unwrap_or(word));
        (4..=5).contains(&words.len()) && count.is_some_and(is_whole) && words.iter().all(is_number)
    };
    if (2..6).all(is_count_and_vector) && words(6).len() == 5 && all_numbers(6) {
        return of_ase("a cube file of Gaussian", "cube");
    }
    // CONFIG of DL_POLY: after a title, two keys of one digit, and often the number of atoms.
    if let [levels, images, ..] = *words(1)
        && (2..=5).contains(&words(1).len())
        && [levels, images]
            .iter()
            .all(|word| word.len() == 1 && is_whole(word))
        && (2..5).all(|k| is_vector(k) && words(k).len() == 3)
        && (1..=2).contains(&words(5).len())
        && !is_vector(5)
        && is_vector(6)
    {
        return foreign("a CONFIG file of DL_POLY", WITH_OVITO);
    }
    if lines.iter().take(4).any(|line| {
        let line = line.trim_ascii_end();
        line.ends_with(b"V2000") || line.ends_with(b"V3000")
    }) {
        return of_ase("an SDF or MOL file", "sdf");
    }
    if first == [b"TITLE"] && any(&["POSITION"]) {
        return of_ase("a GROMOS96 file", "gromos");
    }
    if any(&["ATOMIC_POSITIONS"]) {
        return of_ase("an input of Quantum ESPRESSO", "espresso-in");
    }
    if any(&["atom "]) && lines.iter().all(|line| !line.contains(&b',')) && any(&["lattice_vector"])
    {
        return of_ase("a geometry of FHI-aims", "aims");
    }
    if first == [b"ATOMS"] && words(1).len() >= 4 {
        return of_ase("an XSF file", "xsf");
    }
    if first.first() == Some(&&b"VERSION"[..]) && any(&["FIELDS"]) {
        return foreign("a PCD point cloud", WITH_CLOUD_COMPARE);
    }
    if (first.first() == Some(&&b"solid"[..]) && any(&["facet", " facet", "  facet", "\tfacet"]))
        || (any(&["v "]) && any(&["f "]))
    {
        return foreign("a mesh", MESH);
    }
    let opens =
        line(0).starts_with(b"{") || line(0).trim_ascii() == b"[" || line(0).starts_with(b"[[");
    if opens && std::str::from_utf8(line(0)).is_ok() && !line(0).contains(&0) {
        return foreign("a JSON file", JSON);
    }
    if any(&["CRYSTAL", "PRIMVEC"]) && any(&["PRIMCOORD"]) {
        return of_ase("an XSF file", "xsf");
    }
    if first
        .first()
        .is_some_and(|word| word.starts_with(b"<?xml") || *word == b"<Xdmf")
    {
        if any(&["<VTKFile", "<Xdmf"]) {
            return foreign("a VTK or XDMF file", PARAVIEW);
        }
        if any(&["<modeling>"]) {
            return of_ase("a vasprun.xml file of VASP", "vasp-xml");
        }
        return foreign("an XML file", WITH_NUMPY);
    }
    // Yade names its columns so.
    if line(0).starts_with(b"#format ") {
        return Detected::Format(Format::Csv);
    }
    // A header with x and y.
    let header = line(0).trim_ascii().strip_prefix(b"#").unwrap_or(line(0));
    let names: Vec<Vec<u8>> = header
        .split(|&byte| byte == b',')
        .map(|name| name.trim_ascii().trim_ascii_start().to_ascii_lowercase())
        .collect();
    let has = |name: &[u8]| {
        names
            .iter()
            .any(|other| other.strip_prefix(b"\"").unwrap_or(other).starts_with(name))
    };
    if names.len() >= 2 && has(b"x") && has(b"y") {
        return Detected::Format(Format::Csv);
    }
    // Between other separators, the names must be whole. The reader says which separator to give.
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b";|\"".contains(byte);
    let has = |name: &[u8]| {
        header
            .split(is_end)
            .any(|other| other.eq_ignore_ascii_case(name))
    };
    if has(b"x") && has(b"y") {
        return Detected::Format(Format::Csv);
    }
    Detected::Unknown
}
