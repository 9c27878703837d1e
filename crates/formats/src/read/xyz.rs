//! Reader of XYZ and extended XYZ files: <https://github.com/libAtoms/extxyz>. Each frame has a line with the
//! number of atoms, a comment line, and a line for each atom. In extended XYZ, four keys of the comment are
//! read: `Lattice` (the edges of the box), `Origin` (the corner of the box), `pbc` (the edges along which the
//! world is periodic) and `Properties` (the columns).

use std::io::BufRead;

use crate::error::{Result, bail};
use crate::read::cell::{self, Cell, Given};
use crate::read::columns::{Columns, MOST_COLUMNS, Names, of_vector};
use crate::read::frame_text::{FrameText, fields};
use crate::read::{ReadOptions, World, number, words};

pub(crate) struct Head {
    /// Number of the line that holds the number of atoms, counted from 1.
    line: u64,
    pub(crate) count: u64,
    pub(crate) given: Given,
    /// Whether the comment of the XYZ file names the columns.
    is_extended: bool,
    /// Names of the columns. The columns of positions and velocities have the usual names `x`, `y`, `z`,
    /// `vx`, `vy`, `vz`.
    pub(crate) names: Vec<String>,
}

impl Head {
    pub(crate) fn names_from(&self) -> &'static str {
        if self.is_extended {
            "Properties"
        } else {
            "XYZ without Properties"
        }
    }

    /// Returns whether atoms may have more columns than the file names. Plain XYZ names none.
    pub(crate) fn may_have_more_columns(&self) -> bool {
        !self.is_extended
    }
}

/// Reads the header of the next frame of an XYZ file, or returns `None` at the end. A file without any frame
/// is an error.
pub(crate) fn head(from: &mut FrameText<impl BufRead>) -> Result<Option<Head>> {
    loop {
        if !from.text.next()? {
            if from.next == from.first {
                bail!(
                    "{} is empty; it must be an XYZ file, which begins with the number of atoms",
                    from.text.source()
                );
            }
            return Ok(None);
        }
        if !from.text.line().is_empty() {
            break;
        }
    }
    let count = match from.whole("number of atoms") {
        Ok(count) => count,
        Err(_) => {
            let stray = || stray(from.text.line(), from.next - from.first);
            let what = vector_of_box(from.text.line()).unwrap_or_else(stray);
            return Err(from.text.wrong(&what));
        }
    };
    let line = from.text.place().line;
    if !from.text.next()? {
        return Err(from.cut("the file ends before the comment line of a frame"));
    }
    let comment = from.text.line();
    let of_comment = read_comment(comment, line + 1).map_err(|what| from.text.wrong(&what))?;
    Ok(Some(Head {
        line,
        count,
        ..of_comment
    }))
}

/// Returns the error message for a line of an XYZ file that should have the number of atoms of frame `next`.
fn stray(line: &[u8], next: u64) -> String {
    let mut words = fields(line);
    let word = words.next().unwrap_or_default();
    let line = number::shown(line);
    if next == 0 {
        let advice = if number::parse(word).is_ok() && words.all(|word| number::parse(word).is_ok())
        {
            "a table of numbers is read with --format csv --separator space --columns x,y,z"
        } else {
            "write it alone on the first line, then a line with a comment, and for each atom SYMBOL X Y Z"
        };
        format!(
            "the line is `{line}`, but an XYZ file begins with the number of atoms, a whole number; {advice}"
        )
    } else {
        format!(
            "the line is `{line}`, but must be the number of atoms of the next frame, because the \
             last frame has as many atoms as its first line says"
        )
    }
}

/// Returns what is wrong with a line that gives an edge of the box, as `Tv` in Gaussian and `VEC1` in Jmol do.
fn vector_of_box(line: &[u8]) -> Option<String> {
    let is_number = |rest: &[u8]| {
        rest.iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'_')
    };
    let is_name = |word: &[u8]| {
        ["tv", "vec"].iter().any(|name| {
            let parts = word.split_at_checked(name.len());
            parts.is_some_and(|(begin, rest)| {
                begin.eq_ignore_ascii_case(name.as_bytes()) && is_number(rest)
            })
        })
    };
    // The symbol is the first word, or perhaps the last one.
    let last = line
        .rsplit(u8::is_ascii_whitespace)
        .next()
        .unwrap_or_default();
    let is_edge = [line, last].into_iter().any(|text| {
        text.first().is_some_and(|byte| b"tTvV".contains(byte))
            && fields(text).next().is_some_and(is_name)
    });
    is_edge.then(|| {
        format!(
            "the line is `{}`, which is an edge of the box and no atom; remove the lines of the box, and give it with \
             --box and --periodic, or write it as Lattice=\"ax ay az bx by bz cx cy cz\" before the atoms",
            number::shown(line)
        )
    })
}

/// Reads the next atom in an XYZ file. `read` is the number of atoms of the frame that were read before.
pub(crate) fn atom(from: &mut FrameText<impl BufRead>, head: &Head, read: u64) -> Result<()> {
    if from.text.next()? {
        if let Some(what) = vector_of_box(from.text.line()) {
            return Err(from.text.wrong(&what));
        }
        return Ok(());
    }
    Err(from.cut(&format!(
        "the frame that begins on line {} ends after {read} of {} atoms",
        head.line, head.count
    )))
}

/// Returns a [`World`] without spheres for a frame of an XYZ file, and the columns to read.
pub(crate) fn world(
    from: &FrameText<impl BufRead>,
    head: &Head,
    options: &ReadOptions,
) -> Result<(World, Columns)> {
    let wrong = |what: String| from.text.wrong(&what);
    let has_no_positions =
        head.is_extended && !head.names.iter().any(|name| name.eq_ignore_ascii_case("x"));
    let mut columns =
        Columns::find(&head.names, &[Names::PLAIN.center], options).map_err(|what| {
            let what = if has_no_positions {
                format!("Properties has no pos:R:3, the positions of the atoms: {what}")
            } else {
                what
            };
            wrong(what)
        })?;
    let source = from.text.source();
    let mut world = World::new(source, columns.names, "line");
    let given = &head.given;
    given.check(source, options)?;
    let periodic = given.periodic.unwrap_or([given.cell.is_some(); 3]);
    let is_flat = columns.is_flat();
    world.domain = cell::domain(given.cell.as_ref(), periodic, is_flat, options).map_err(wrong)?;
    world.notes.extend(columns.note_of_height());
    if given
        .cell
        .is_some_and(|cell| cell.middle_of_layer().is_some())
        && !given.is_certain
    {
        columns = columns.watching(&head.names);
    }
    if !given.has_any() && given.periodic.is_none() && !options.says_so() {
        world.notes.push(cell::without_box("XYZ file"));
    }
    if given.cell.is_some() && given.periodic.is_none() && !options.says_so() {
        world.notes.push(format!(
            "{source} has a Lattice without pbc, which means that it is periodic along {}; --periodic \
             says otherwise",
            if is_flat { "a and b" } else { "all edges" }
        ));
    }
    if columns.are_moving() {
        world.notes.extend(columns.note_of_motion());
    } else if !options.centers_only && !options.at_rest {
        world.notes.push(
            "there is no property velo, vel, velocities or momenta: every sphere is at rest"
                .to_owned(),
        );
    }
    world.notes.extend(columns.note_of_momenta());
    Ok((world, columns))
}

/// Parses the comment line of a frame in an XYZ file. The caller sets the number of atoms in the returned
/// header.
fn read_comment(comment: &[u8], line: u64) -> Result<Head, String> {
    let pairs = match pairs(comment) {
        Ok(pairs) => pairs,
        // The comment of a plain XYZ file may be any text.
        Err(_) if !is_extended(comment) => Vec::new(),
        Err(what) => return Err(what),
    };
    // Programs write the keys in different cases.
    let value = |key: &str| {
        let is_key = |pair: &&Pair| pair.key.eq_ignore_ascii_case(key.as_bytes());
        let mut found = pairs
            .iter()
            .filter(is_key)
            .filter_map(|pair| pair.value.as_deref());
        let value = found.next();
        match found.next() {
            Some(_) => Err(format!("the comment has the key {key} more than once")),
            None => Ok(value),
        }
    };
    let columns = value("Properties")?;
    let names = match columns {
        Some(text) => names(text)?,
        None => ["species", "x", "y", "z"].map(str::to_owned).to_vec(),
    };
    let is_flat = !names.iter().any(|name| name == "z");
    let mut given = Given::default();
    // A box that cannot be read is an error only if it is used.
    let edges =
        (value("Lattice")).and_then(|text| text.map(|text| lattice(text, is_flat)).transpose());
    let origin = value("Origin")
        .and_then(|text| text.map(|text| vector("Origin", text, is_flat)).transpose());
    match (edges, origin) {
        (Ok(Some(edges)), Ok(origin)) => {
            given.cell = Some(Cell::new(origin.unwrap_or_default(), edges));
        }
        (Err(what), _) | (_, Err(what)) => given.wrong_cell = Some((line, what)),
        (Ok(None), Ok(_)) => {
            let instead =
                "but carom reads the box from Lattice=\"ax ay az bx by bz cx cy cz\": write it so";
            let found = words::box_of_comment(comment, false);
            given.wrong_cell = found.map(|what| (line, format!("{what}, {instead}")));
        }
    }
    match value("pbc").and_then(|text| text.map(|text| flags(text, is_flat)).transpose()) {
        Ok(periodic) => given.periodic = periodic,
        Err(what) => given.wrong_periodic = Some((line, what)),
    }
    if !given.has_any() && given.periodic.is_some_and(|flags| flags != [false; 3]) {
        let what =
            "pbc says that the world is periodic, but there is no Lattice, which gives the box";
        given.wrong_cell = Some((line, what.to_owned()));
    }
    // `pbc: T T T` or only `pbc`.
    let is_other_pbc = |pair: &Pair| {
        let key = pair.key.to_ascii_lowercase();
        pair.value.is_none() && (key == b"pbc" || key.starts_with(b"pbc:"))
    };
    if given.cell.is_some() && pairs.iter().any(is_other_pbc) {
        let what = "the comment has pbc without `=`; write it as pbc=\"T T T\"";
        given.wrong_periodic = Some((line, what.to_owned()));
    }
    let is_other_name = |pair: &&Pair| {
        let is_false = pair.value.as_deref().is_none_or(is_open);
        words::is_periodicity(&String::from_utf8_lossy(&pair.key))
            && (given.cell.is_some() || !is_false)
    };
    if given.periodic.is_none()
        && given.wrong_periodic.is_none()
        && let Some(pair) = pairs
            .iter()
            .filter(|pair| pair.value.is_some())
            .find(is_other_name)
    {
        let what = format!(
            "the comment has the key `{}`, but carom reads the periodic edges from pbc: write it as pbc=\"T T T\"{}",
            number::shown(&pair.key),
            if given.has_any() {
                ""
            } else {
                ", beside a Lattice"
            }
        );
        given.wrong_periodic = Some((line, what));
    }
    given.is_certain = given.periodic.is_some();
    Ok(Head {
        line: 0,
        count: 0,
        given,
        is_extended: columns.is_some(),
        names,
    })
}

/// Returns whether a value says that no edge is periodic.
fn is_open(value: &[u8]) -> bool {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b",[]{}".contains(byte);
    let words = value.split(is_end).filter(|word| !word.is_empty());
    words.map(<[u8]>::to_ascii_lowercase).all(|word| {
        let known: [&[u8]; 9] = [
            b"false", b"0", b"no", b"none", b"off", b"open", b"free", b"fff", b"f",
        ];
        known.contains(&&*word)
    })
}

/// Returns whether the invalid comment of an XYZ file was probably meant as extended XYZ. The sign
/// of this is that the comment contains `Lattice`, `Properties` or `pbc`, in any case.
fn is_extended(comment: &[u8]) -> bool {
    ["Lattice", "Properties", "pbc"].into_iter().any(|key| {
        let key = key.as_bytes();
        comment
            .windows(key.len())
            .any(|window| window.eq_ignore_ascii_case(key))
    })
}

/// A pair `key=value` in the comment of an XYZ file, or a key without a value.
struct Pair {
    key: Vec<u8>,
    value: Option<Vec<u8>>,
}

fn pairs(comment: &[u8]) -> Result<Vec<Pair>, String> {
    let mut rest = comment.trim_ascii();
    let mut pairs = Vec::new();
    while !rest.is_empty() {
        let (key, after) = word(rest, b"=")?;
        rest = after.trim_ascii_start();
        let mut value = None;
        if let Some(after) = rest.strip_prefix(b"=") {
            let (text, after) = word(after.trim_ascii_start(), b"")?;
            value = Some(text);
            rest = after.trim_ascii_start();
        }
        pairs.push(Pair { key, value });
    }
    Ok(pairs)
}

/// Splits off the first word of a text: a word in quotes or brackets, or all bytes up to white space or one
/// of the bytes in `ends`. The quotes or outer brackets are removed.
fn word<'a>(text: &'a [u8], ends: &[u8]) -> Result<(Vec<u8>, &'a [u8]), String> {
    let close = match text.first() {
        Some(&quote @ (b'"' | b'\'')) => quote,
        Some(b'{') => b'}',
        Some(b'[') => b']',
        _ => {
            let is_end = |byte: &u8| byte.is_ascii_whitespace() || ends.contains(byte);
            let end = text.iter().position(is_end).unwrap_or(text.len());
            return Ok((text[..end].to_vec(), &text[end..]));
        }
    };
    let open = text[0];
    let (mut word, mut depth) = (Vec::new(), 0);
    let mut bytes = text.iter().enumerate().skip(1);
    while let Some((at, &byte)) = bytes.next() {
        if byte == close && depth == 0 {
            return Ok((word, &text[at + 1..]));
        }
        // Brackets may nest. Quotes cannot nest, because the opening and the closing quote are the same byte.
        match byte {
            b'\\' => {
                word.extend(bytes.next().map(|(_, &byte)| byte));
                continue;
            }
            _ if byte == close => depth -= 1,
            _ if byte == open => depth += 1,
            _ => {}
        }
        word.push(byte);
    }
    Err(format!(
        "the comment has `{}` without a closing {}",
        number::shown(text),
        char::from(close)
    ))
}

/// Parses the value of the key `Lattice`: three edges of the box, or two in a flat world.
fn lattice(text: &[u8], is_flat: bool) -> Result<[[f64; 3]; 3], String> {
    let rows = rows(text).map_err(|what| format!("Lattice {what}"))?;
    let all = rows.concat();
    let lengths: Vec<usize> = rows.iter().map(Vec::len).collect();
    match (&*all, &*lengths) {
        (&[a, b, c, d, e, f, g, h, i], [9] | [3, 3, 3]) => Ok([[a, b, c], [d, e, f], [g, h, i]]),
        (&[a, b, c, d], [4] | [2, 2]) if is_flat => Ok([[a, b, 0.0], [c, d, 0.0], [0.0, 0.0, 1.0]]),
        _ => {
            let flat = if is_flat {
                ", or 4 (two edges of two numbers)"
            } else {
                ""
            };
            let of = match lengths.len() {
                0 | 1 => String::new(),
                count => format!(" in {count} rows"),
            };
            Err(format!(
                "Lattice has {}{of}, but must have 9 (three edges of three numbers){flat}, in quotes, as in \
                 Lattice=\"10 0 0 0 10 0 0 0 10\"",
                number::counted(all.len(), "number")
            ))
        }
    }
}

/// Parses three numbers, or two in a flat world.
fn vector(key: &str, text: &[u8], is_flat: bool) -> Result<[f64; 3], String> {
    let numbers = rows(text).map_err(|what| format!("{key} {what}"))?.concat();
    match *numbers {
        [x, y, z] => Ok([x, y, z]),
        [x, y] if is_flat => Ok([x, y, 0.0]),
        _ => Err(format!(
            "{key} has {}, but must have 3, in quotes, as in {key}=\"0 0 0\"",
            number::counted(numbers.len(), "number")
        )),
    }
}

/// Parses the numbers of an array with the rows of a matrix in brackets, or of a list without brackets, which is one
/// row. The message of an error is written to follow the name of the array.
fn rows(text: &[u8]) -> Result<Vec<Vec<f64>>, String> {
    let mut rows = Vec::new();
    let mut row = Vec::new();
    let mut depth = 0;
    let mut start = 0;
    let mut lacks_number = true;
    for (at, &byte) in text.iter().chain(b" ").enumerate() {
        let is_bracket = b"[]{}".contains(&byte);
        if !is_bracket && byte != b',' && !byte.is_ascii_whitespace() {
            continue;
        }
        let word = &text[start..at];
        start = at + 1;
        if !word.is_empty() {
            let number = number::parse(word);
            row.push(number.map_err(|what| format!("has a number that {what}"))?);
        } else if byte == b',' && lacks_number {
            return Err("has a comma without a number before it".to_owned());
        }
        lacks_number = byte == b',' || (lacks_number && word.is_empty() && !is_bracket);
        if b"[{".contains(&byte) {
            depth += 1;
        }
        if is_bracket && !row.is_empty() {
            rows.push(std::mem::take(&mut row));
        }
        if b"]}".contains(&byte) {
            if depth == 0 {
                return Err("has a closing bracket without an opening one".to_owned());
            }
            depth -= 1;
        }
        if depth > 2 {
            return Err("has more than two levels of brackets".to_owned());
        }
    }
    if depth > 0 {
        return Err("has a bracket without a closing one".to_owned());
    }
    if !row.is_empty() {
        rows.push(row);
    }
    Ok(rows)
}

/// Parses the value of the key `pbc`: whether the world is periodic along each edge.
fn flags(text: &[u8], is_flat: bool) -> Result<[bool; 3], String> {
    let flag = |word: &[u8]| match &*word.to_ascii_lowercase() {
        b"t" | b"true" | b"1" => Some(true),
        b"f" | b"false" | b"0" => Some(false),
        _ => None,
    };
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b",[]{}".contains(byte);
    let words: Vec<&[u8]> = text.split(is_end).filter(|word| !word.is_empty()).collect();
    let flags = match *words {
        // Three letters without spaces, such as TTF, are three flags.
        [[a, b, c]] => [a, b, c].map(|letter| flag(&[*letter])).to_vec(),
        [word] => vec![flag(word); 3],
        ref words => words.iter().map(|word| flag(word)).collect(),
    };
    match *flags {
        [Some(a), Some(b), Some(c)] => Ok([a, b, c]),
        [Some(a), Some(b)] if is_flat => Ok([a, b, false]),
        _ => Err(format!(
            "pbc is `{}`, but must be one flag for each of the three edges, such as \"T T F\", \
             \"TTF\", \"1 1 0\", \"true true false\" or [T, T, F], or one flag for all of them",
            number::shown(text)
        )),
    }
}

/// Parses the value of the key `Properties`, such as `species:S:1:pos:R:3`. Returns the names of the columns.
fn names(text: &[u8]) -> Result<Vec<String>, String> {
    let text = String::from_utf8_lossy(text);
    let parts: Vec<&str> = text.split(':').collect();
    let mut names = Vec::new();
    if !parts.len().is_multiple_of(3) {
        return Err(format!(
            "Properties has {} parts between colons, but must consist of NAME:TYPE:COLUMNS, such \
             as species:S:1:pos:R:3",
            parts.len()
        ));
    }
    for part in parts.chunks_exact(3) {
        let [name, kind, count] = [part[0], part[1], part[2]];
        let shown = number::printable(name, 40);
        if !["R", "I", "S", "L"].contains(&&*kind.to_ascii_uppercase()) {
            return Err(format!(
                "Properties gives {shown} the type `{}`, but must give R, I, S or L",
                number::printable(kind, 40)
            ));
        }
        let count = count.parse().ok().filter(|&count: &usize| count > 0);
        let count = count.ok_or_else(|| {
            format!(
                "Properties gives {shown} `{}` columns, but must give a whole number from 1 on",
                number::printable(part[2], 40)
            )
        })?;
        if count > MOST_COLUMNS || names.len() + count > MOST_COLUMNS {
            return Err(format!("Properties names more than {MOST_COLUMNS} columns"));
        }
        names.extend(of_vector(name, count).map_err(|what| format!("Properties {what}"))?);
    }
    Ok(names)
}
