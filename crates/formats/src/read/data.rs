//! Reader of LAMMPS data files: <https://docs.lammps.org/read_data.html>. A first line, which is a comment, and a header
//! with the number of atoms and the box come before sections, of which `Atoms`, `Velocities` and `Atom Type Labels` are
//! read.

use std::collections::HashMap;
use std::io::BufRead;

use ::csv::ByteRecord;

use crate::error::{Error, ErrorKind, Result, bail};
use crate::read::cell::{self, Cell, Given};
use crate::read::columns::{Columns, Names};
use crate::read::frame_text::fields;
use crate::read::text::{Place, Text};
use crate::read::{Radii, ReadOptions, Type, World, number};

/// Columns of the section `Atoms` in each atom style.
const STYLES: [(&str, &str); 10] = [
    ("atomic", "id type x y z"),
    ("charge", "id type q x y z"),
    ("bond", "id mol type x y z"),
    ("angle", "id mol type x y z"),
    ("molecular", "id mol type x y z"),
    ("full", "id mol type q x y z"),
    ("sphere", "id type diameter density x y z"),
    ("bpm/sphere", "id mol type diameter density x y z"),
    ("dipole", "id type q x y z mux muy muz"),
    ("ellipsoid", "id type ellipsoidflag density x y z"),
];

/// Words of the lines of the header that number atoms, bonds, types and so on.
const COUNTED: [&str; 19] = [
    "atoms",
    "bonds",
    "angles",
    "dihedrals",
    "impropers",
    "crossterms",
    "ellipsoids",
    "lines",
    "triangles",
    "bodies",
    "atom",
    "bond",
    "angle",
    "dihedral",
    "improper",
    "types",
    "extra",
    "special",
    "per",
];

/// Words of the names of sections, beside `Labels` and `Coeffs`.
const SECTIONS: [&str; 12] = [
    "Atoms",
    "Velocities",
    "Masses",
    "Ellipsoids",
    "Lines",
    "Triangles",
    "Bodies",
    "Bonds",
    "Angles",
    "Dihedrals",
    "Impropers",
    "CMAP",
];

/// Returns whether the words are the name of a section that LAMMPS knows, such as `Pair Coeffs`.
fn is_section(words: &[&[u8]]) -> bool {
    match words {
        [only] => SECTIONS.iter().any(|name| name.as_bytes() == *only),
        [_, b"Type", b"Labels"] | [_, b"Coeffs"] => true,
        _ => false,
    }
}

/// Largest number of labels of types that are kept.
const MOST_LABELS: usize = 1 << 16;

/// What comes before the atoms.
#[derive(Default)]
struct Head {
    count: Option<u64>,
    bounds: [Option<[f64; 2]>; 3],
    tilts: Option<[f64; 3]>,
    edges: [Option<[f64; 3]>; 3],
    origin: Option<[f64; 3]>,
    /// Line of the box that cannot be read, and what is wrong.
    wrong: Option<(u64, String)>,
    /// What the lines so far say.
    seen: Vec<String>,
    labels: HashMap<Vec<u8>, Vec<u8>>,
}

/// Reads spheres from a LAMMPS data file. The file does not say which edges of its box are periodic, so all are, as
/// LAMMPS's `boundary p p p` has it, unless the options say otherwise. `source` names the file in messages.
///
/// # Errors
/// Returns an error that names the line and the field if the file cannot be read.
pub fn read(source: &str, input: impl BufRead, options: &ReadOptions) -> Result<World> {
    let mut text = Text::new(source, input, Place::default());
    if !text.next()? {
        bail!("{source} is empty; it must be a data file of LAMMPS");
    }
    let mut head = Head::default();
    let mut world = None;
    let mut has_velocities = false;
    let mut ended = true;
    let mut within_header = true;
    let mut labels = false;
    let mut may_begin_with_label = false;
    // A section that has been read, after which another one must begin.
    let mut complete = None;
    while text.next()? {
        ended = text.is_ended();
        let line = content(&text).to_vec();
        let words: Vec<&[u8]> = fields(&line).collect();
        let Some(first) = words.first() else { continue };
        // The label of a type may begin a row of coefficients or masses.
        let is_row = may_begin_with_label
            && !is_section(&words)
            && words.iter().skip(1).any(|word| number::parse(word).is_ok());
        if is_row {
            continue;
        }
        if !first.first().is_some_and(u8::is_ascii_alphabetic) {
            if let (Some(section), Some(count)) = (complete, head.count) {
                return Err(text.wrong(&format!(
                    "the section {section} has more lines than the {count} atoms that the header says; correct the \
                     number or the section"
                )));
            }
            if within_header {
                head.read(&words, text.place().line);
            } else if labels
                && let [number, label] = *words
                && head.labels.len() < MOST_LABELS
            {
                head.labels.insert(number.to_vec(), label.to_vec());
            }
            continue;
        }
        within_header = false;
        complete = None;
        labels = words == [&b"Atom"[..], b"Type", b"Labels"];
        may_begin_with_label = matches!(*words, [b"Masses"] | [_, b"Coeffs"]);
        match *words {
            [b"Atoms"] => {
                if world.is_some() {
                    return Err(text.wrong("this is a second section Atoms"));
                }
                world = Some(atoms(&mut text, &head, options)?);
                complete = Some("Atoms");
            }
            [b"Velocities"] => {
                let Some(world) = &mut world else {
                    return Err(text.wrong("the section Velocities must come after Atoms"));
                };
                if has_velocities {
                    return Err(text.wrong("this is a second section Velocities"));
                }
                velocities(&mut text, world)?;
                has_velocities = true;
                complete = Some("Velocities");
            }
            _ if is_section(&words) => {}
            _ => {
                let what = format!(
                    "the line is `{}`, which is no section of LAMMPS's data files, such as Atoms, Velocities or Atom \
                     Type Labels; correct it, or remove it with its lines",
                    number::shown(&line)
                );
                return Err(unless_cut(&text, true, &what));
            }
        }
        ended &= text.is_ended();
    }
    let Some((mut world, _, columns)) = world else {
        let what = match (head.count, &head.wrong) {
            (None, Some((line, what))) => {
                format!("the header has no line `COUNT atoms` (line {line}: {what})")
            }
            (None, None) => "the header has no line `COUNT atoms`".to_owned(),
            (Some(_), _) => "there is no section Atoms; was the file cut off?".to_owned(),
        };
        return Err(text.wrong(&what).with_kind(ErrorKind::CutOff));
    };
    let rests = !columns.are_moving() && !has_velocities;
    if rests && !options.centers_only && !options.at_rest {
        let note = "there is no section Velocities: every sphere is at rest";
        world.notes.push(note.to_owned());
    }
    let given = head.given(source);
    world.flatten(&given, options)?;
    if options.centers_only || options.at_rest {
        for sphere in &mut world.spheres {
            sphere.velocity = [0.0; 3];
        }
    }
    if !ended {
        world.notes.push(text.unended());
    }
    world.check_ids()?;
    Ok(world)
}

impl Head {
    /// Reads a line of the header. A line that is not known may concern the box.
    fn read(&mut self, words: &[&[u8]], line: u64) {
        if let Err(what) = self.read_line(words) {
            self.wrong.get_or_insert((line, what));
        }
    }

    fn read_line(&mut self, words: &[&[u8]]) -> Result<(), String> {
        let is_word = |word: &&[u8]| word.first().is_some_and(u8::is_ascii_alphabetic);
        let begin = words.iter().position(is_word).unwrap_or(words.len());
        let name = String::from_utf8_lossy(&words[begin..].join(&b' ')).into_owned();
        let number = |word: &&[u8]| {
            number::parse(word).map_err(|what| format!("a number before `{name}` {what}"))
        };
        let numbers = || {
            words[..begin]
                .iter()
                .map(number)
                .collect::<Result<Vec<f64>, _>>()
        };
        let three = || match *numbers()? {
            [a, b, c] => Ok([a, b, c]),
            _ => Err(format!("the line of `{name}` must have three numbers")),
        };
        match &*name {
            "xlo xhi" | "ylo yhi" | "zlo zhi" => {
                let bounds = match *numbers()? {
                    [low, high] if low <= high => [low, high],
                    [_, _] => {
                        return Err(
                            "the upper bound of the box is below the lower bound".to_owned()
                        );
                    }
                    _ => return Err(format!("the line of `{name}` must have two numbers")),
                };
                self.bounds[usize::from(name.as_bytes()[0] - b'x')] = Some(bounds);
            }
            "xy xz yz" => self.tilts = Some(three()?),
            "abc origin" => self.origin = Some(three()?),
            "avec" | "bvec" | "cvec" => {
                self.edges[usize::from(name.as_bytes()[0] - b'a')] = Some(three()?)
            }
            // Numbers of other things and of types, such as `2 bonds` or `3 extra bond per atom`.
            _ => {
                let count = std::str::from_utf8(words[0])
                    .ok()
                    .and_then(|word| word.parse().ok());
                let is_known =
                    !name.is_empty() && name.split(' ').all(|word| COUNTED.contains(&word));
                let Some(count) = count.filter(|_| begin == 1 && is_known) else {
                    let text = number::shown(&words.join(&b' '));
                    return Err(format!(
                        "the line `{text}` of the header is not known; correct or remove it"
                    ));
                };
                if name == "atoms" {
                    self.count = self.count.or(Some(count));
                }
            }
        }
        if self.seen.contains(&name) {
            return Err(format!(
                "this is a second line of `{}`",
                number::printable(&name, 40)
            ));
        }
        self.seen.push(name);
        Ok(())
    }

    /// Returns the box, and what the file says of its edges.
    fn given(&self, source: &str) -> Given {
        let [x, y, z] = self.bounds;
        let bounds = x.zip(y).zip(z);
        let has_bounds = self.bounds.iter().any(Option::is_some) || self.tilts.is_some();
        let has_edges = self.edges.iter().any(Option::is_some) || self.origin.is_some();
        let (cell, wrong) = match (self.edges, bounds) {
            _ if self.wrong.is_some() => (None, self.wrong.clone()),
            _ if has_bounds && has_edges => {
                let what = format!(
                    "the header of {source} has a box of lines such as `xlo xhi` and one of lines such as `avec`; \
                     remove one of them"
                );
                (None, Some((1, what)))
            }
            ([Some(a), Some(b), Some(c)], _) => (
                Some(Cell::new(self.origin.unwrap_or_default(), [a, b, c])),
                None,
            ),
            (_, Some((([x, xx], [y, yy]), [z, zz]))) => {
                let [xy, xz, yz] = self.tilts.unwrap_or_default();
                let edges = [[xx - x, 0.0, 0.0], [xy, yy - y, 0.0], [xz, yz, zz - z]];
                (Some(Cell::new([x, y, z], edges)), None)
            }
            _ => {
                let what = format!(
                    "the header of {source} lacks the box: the lines `xlo xhi`, `ylo yhi` and `zlo zhi`, or \
                     `avec`, `bvec` and `cvec`"
                );
                (None, Some((1, what)))
            }
        };
        Given {
            cell,
            wrong_cell: wrong,
            ..Given::default()
        }
    }
}

/// Returns a line without its comment.
fn content<R: BufRead>(text: &Text<R>) -> &[u8] {
    let line = text.line();
    let end = line.iter().position(|&byte| byte == b'#');
    line[..end.unwrap_or(line.len())].trim_ascii()
}

/// A world, the ids of its spheres, and its columns.
type Atoms = (World, HashMap<i64, usize>, Columns);

/// Reads the section `Atoms`, whose first line was read.
fn atoms(text: &mut Text<impl BufRead>, head: &Head, options: &ReadOptions) -> Result<Atoms> {
    let heading = text.line().to_vec();
    let Some(count) = head.count else {
        return Err(text.wrong("the header before Atoms has no line `COUNT atoms`"));
    };
    let comment = heading.split(|&byte| byte == b'#').nth(1);
    let style = comment.map(|style| String::from_utf8_lossy(style.trim_ascii()).into_owned());
    let mut names: Vec<String> = columns_of(text, style.as_deref(), options)?;
    if let Some(given) = &options.columns {
        let applied = given.apply(&mut names, false, false);
        applied.map_err(|what| text.wrong(&what))?;
    }
    let columns =
        Columns::find(&names, &[Names::PLAIN.center], options).map_err(|what| text.wrong(&what))?;
    let mut world = World::new(text.source(), columns.names, "line");
    let given = head.given(text.source());
    given.check(text.source(), options)?;
    let has_flat_box = given.cell.is_some_and(|cell| cell.is_flat());
    if given.cell.is_some() && !options.says_so() {
        world.notes.push(format!(
            "{} does not say which edges of its box are periodic, so all are, as in LAMMPS unless `boundary` \
             says otherwise; --periodic or --open says otherwise",
            text.source()
        ));
    }
    let periodic = [given.cell.is_some(); 3];
    world.domain = cell::domain(given.cell.as_ref(), periodic, has_flat_box, options)
        .map_err(|what| text.wrong(&what))?;
    // If radii are given for the numbers of types, labels do not replace them.
    let by_number =
        matches!(&options.radii, Radii::ByType(given) if !given.keys().any(Type::is_name));
    let kind = names
        .iter()
        .position(|name| name == "type")
        .filter(|_| !by_number);
    let id = names.iter().position(|name| name == "id");
    let mut ids = HashMap::new();
    let mut record = ByteRecord::new();
    let mut read = 0;
    while read < count {
        if !text.next()? {
            let what = format!("the file ends after {read} of {count} atoms; was it cut off?");
            return Err(text.wrong(&what).with_kind(ErrorKind::CutOff));
        }
        let line = content(text);
        if line.is_empty() {
            continue;
        }
        record.clear();
        fields(line).for_each(|field| record.push_field(field));
        // Three image flags may follow.
        if record.len() != names.len() && record.len() != names.len() + 3 {
            let what = format!(
                "the line has {}, but an atom has {} ({}), and perhaps three image flags",
                number::counted(record.len(), "field"),
                names.len(),
                names.join(" ")
            );
            return Err(unless_cut(text, record.len() < names.len(), &what));
        }
        world.parse(text.place().line, &columns, |column| {
            let field = record.get(column)?;
            let label = head.labels.get(field).filter(|_| Some(column) == kind);
            Some(label.map_or(field, Vec::as_slice))
        })?;
        if let Some(id) = id.and_then(|column| record.get(column)) {
            let id = number::id(id).map_err(|what| text.wrong(&format!("field id {what}")))?;
            if ids.insert(id, world.spheres.len() - 1).is_some() {
                return Err(text.wrong(&format!("the id {id} occurs more than once")));
            }
        }
        read += 1;
    }
    Ok((world, ids, columns))
}

/// Returns the names of the columns of an atom: those of its style, unless the options name all.
fn columns_of(
    text: &Text<impl BufRead>,
    style: Option<&str>,
    options: &ReadOptions,
) -> Result<Vec<String>> {
    if let Some(all) = options.columns.as_ref().and_then(|given| given.all()) {
        return Ok(all.to_vec());
    }
    let found = STYLES.iter().find(|(name, _)| Some(*name) == style);
    if let Some((_, columns)) = found {
        return Ok(columns.split(' ').map(str::to_owned).collect());
    }
    let styles = STYLES.map(|(name, _)| name).join(", ");
    let what = match style {
        Some(style) if !style.is_empty() => format!(
            "the atom style `{}` is not known",
            number::printable(style, 40)
        ),
        _ => "the atom style is not said".to_owned(),
    };
    Err(text.unsupported(&format!(
        "{what}; the line is `Atoms # STYLE` with one of {styles}; correct it, or name the columns with --columns, \
         as in --columns id,type,x,y,z"
    )))
}

/// Reads the section `Velocities`, whose first line was read.
fn velocities(text: &mut Text<impl BufRead>, atoms: &mut Atoms) -> Result<()> {
    let (world, ids, _) = atoms;
    if ids.len() < world.spheres.len() {
        return Err(
            text.wrong("velocities belong to ids, but --columns names no column id of the atoms")
        );
    }
    let count = ids.len();
    let mut seen = vec![false; count];
    let mut read = 0;
    while read < count {
        if !text.next()? {
            let what = format!("the file ends after {read} of {count} velocities; was it cut off?");
            return Err(text.wrong(&what).with_kind(ErrorKind::CutOff));
        }
        let line = content(text);
        let words: Vec<&[u8]> = fields(line).collect();
        if words.is_empty() {
            continue;
        }
        let [id, velocity @ ..] = &*words else {
            continue;
        };
        // The angular velocity or momentum, or the radial velocity of an electron, may follow.
        if velocity.len() < 3 {
            let what = format!(
                "the line has {}, but a velocity has id vx vy vz",
                number::counted(words.len(), "field")
            );
            return Err(unless_cut(text, true, &what));
        }
        let wrong = |name: &str, what: String| text.wrong(&format!("field {name} {what}"));
        let id = number::id(id).map_err(|what| wrong("id", what))?;
        let Some(&row) = ids.get(&id) else {
            return Err(text.wrong(&format!("there is no atom with the id {id}")));
        };
        if std::mem::replace(&mut seen[row], true) {
            return Err(text.wrong(&format!("the id {id} occurs more than once")));
        }
        for (axis, field) in velocity.iter().take(3).enumerate() {
            let x =
                number::parse(field).map_err(|what| wrong(Names::PLAIN.velocity[axis], what))?;
            world.spheres[row].velocity[axis] = x;
            world.leaves_plane |= axis == 2 && x != 0.0;
        }
        read += 1;
    }
    Ok(())
}

/// Returns the error for a line with too few fields, which was cut off if it has no line end.
fn unless_cut(text: &Text<impl BufRead>, is_short: bool, what: &str) -> Error {
    if is_short && !text.is_ended() {
        return text
            .wrong(&format!("{what}, and has no line end; was it cut off?"))
            .with_kind(ErrorKind::CutOff);
    }
    text.wrong(what)
}
