//! Recognises the format of an input from its first bytes.

use crate::read::{Format, number};

/// What the first bytes of an input tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Detected {
    Format(Format),
    /// A format that is not read: its name, and how to convert the input.
    Foreign(&'static str, &'static str),
    Unknown,
}

/// Number of bytes from which the format is recognised.
pub(crate) const ENOUGH: usize = 1 << 14;

const WITH_ASE: &str = "convert it with ASE (`pip install ase`): `ase convert INPUT out.xyz`";
const GRO: &str = "convert it with ASE (`pip install ase`): `ase convert -i gromacs INPUT out.xyz`";
const GSD: &str = "convert it with Python (`pip install gsd`): `python -c \"import gsd.hoomd, numpy; \
                   f = gsd.hoomd.open('INPUT')[-1]; p = f.particles; numpy.savez('out.npz', \
                   position=p.position, velocity=p.velocity, diameter=p.diameter, \
                   box=f.configuration.box)\"`";
const WITH_MDANALYSIS: &str = "convert a frame with Python (`pip install MDAnalysis`): `python -c \"import \
                               MDAnalysis, numpy; u = MDAnalysis.Universe('TOPOLOGY', 'INPUT'); \
                               numpy.savez('out.npz', positions=u.atoms.positions, \
                               dimensions=u.dimensions)\"`";
const BINARY_DUMP: &str = "convert it with LAMMPS's tool `binary2txt INPUT`, or write a text dump";
const RESTART: &str = "convert it with LAMMPS: `lmp -restart2data INPUT out.data`";
const TEXT_DUMP: &str = "write a text dump instead: `dump 1 all custom 100 dump.txt id type x y z`";
const PARAVIEW: &str = "save it from ParaView as CSV (File, Save Data), and read that with --columns \
                        x=Points:0,y=Points:1,z=Points:2";
const WITH_OVITO: &str = "export it as a LAMMPS dump or as extended XYZ, for example with OVITO";

const WITH_CLOUD_COMPARE: &str = "save it as CSV, for example with CloudCompare";

/// Magic bytes, and where they are, of formats that are not read.
const MAGIC: [(usize, &[u8], &str, &str); 25] = [
    (0, b"\xdf\x65\xdf\x65\xdf\x65\xdf\x65", "a GSD file", GSD),
    (4, b"CORD", "a DCD trajectory", WITH_MDANALYSIS),
    (0, b"\x00\x00\x07\xcb", "an XTC trajectory", WITH_MDANALYSIS),
    (0, b"\x00\x00\x07\xc9", "a TRR trajectory", WITH_MDANALYSIS),
    (0, b"CDF\x01", "a NetCDF file", WITH_OVITO),
    (0, b"CDF\x02", "a NetCDF file", WITH_OVITO),
    (0, b"CDF\x05", "a NetCDF file", WITH_OVITO),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file", WITH_OVITO),
    (0, b"- of Ulm", "a trajectory of ASE", WITH_ASE),
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

/// Recognises the format of an input from its first bytes, after decompression. `is_whole` tells whether these are all.
pub(crate) fn detect(begin: &[u8], is_whole: bool) -> Detected {
    if begin.starts_with(b"\x93NUMPY") {
        return Detected::Format(Format::Npy);
    }
    if begin.starts_with(b"PK\x03\x04") {
        return Detected::Format(Format::Npz);
    }
    for (at, magic, name, way_out) in MAGIC {
        if begin.get(at..).is_some_and(|rest| rest.starts_with(magic)) {
            return Detected::Foreign(name, way_out);
        }
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
        return Detected::Foreign("a YAML dump of LAMMPS", TEXT_DUMP);
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
        return Detected::Foreign("a GRO file of GROMACS", GRO);
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
    if header.iter().any(is_count) && header.iter().any(is_bound) {
        return Detected::Format(Format::LammpsData);
    }
    if any(&["ATOM  ", "HETATM", "CRYST1"]) {
        return Detected::Foreign("a PDB file", WITH_ASE);
    }
    if any(&["data_"]) && any(&["_cell_length_a", "_atom_site", "loop_"]) {
        return Detected::Foreign("a CIF file", WITH_ASE);
    }
    let is_scale = matches!(*words(1), [word] if is_number(&word));
    let counts = |k: usize| !words(k).is_empty() && words(k).iter().all(|word| is_whole(word));
    if is_scale && (2..5).all(|k| is_vector(k) && words(k).len() == 3) && (counts(5) || counts(6)) {
        return Detected::Foreign("a POSCAR file of VASP", WITH_ASE);
    }
    if any(&["CRYSTAL", "PRIMVEC"]) && any(&["PRIMCOORD"]) {
        return Detected::Foreign("an XSF file", WITH_ASE);
    }
    if first.first().is_some_and(|word| word.starts_with(b"<?xml")) && any(&["<VTKFile"]) {
        return Detected::Foreign("a VTK file", PARAVIEW);
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
    Detected::Unknown
}
