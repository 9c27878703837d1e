//! What names say: whether a column or an array holds the motion of the centres, and whether the comment of an XYZ
//! file names a box.

use std::collections::HashSet;

use crate::read::number;

/// What a column or an array that holds motion seems to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Motion {
    Velocity,
    Momentum,
}

/// A name without its unit and its component: of `Vx (m/s)`, the stem is `v` and the component `x`.
struct Stem {
    /// Words of lower-case letters and digits.
    words: Vec<String>,
    component: Option<char>,
    /// Whether the unit is that of a speed.
    is_speed: bool,
}

/// Parts of words that end with `vel`, but are not velocities.
const NO_VELOCITIES: [&str; 8] = [
    "level", "travel", "gravel", "novel", "bevel", "swivel", "marvel", "unravel",
];

impl Stem {
    fn of(name: &str) -> Self {
        let mut name = name.trim();
        // LAMMPS puts such prefixes before the names of computes, fixes, variables and custom properties.
        let prefixes = ["c_", "f_", "i_", "d_", "i2_", "d2_", "v_"];
        if let Some(rest) = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix))
            && rest.len() > 1
        {
            name = rest;
        }
        let mut component = None;
        let mut is_speed = false;
        // Brackets at the end hold a component or a unit.
        while let Some((begin, inner)) = bracket(name) {
            if let Some(of_bracket) = as_component(inner) {
                component = component.or(Some(of_bracket));
            }
            is_speed |= is_unit_of_speed(inner);
            name = begin.trim_end();
        }
        let mut words = words(name);
        if component.is_none() && words.len() > 1 {
            component = words.last().and_then(|word| as_component(word));
            if component.is_some() {
                words.pop();
            }
        }
        Self {
            words,
            component,
            is_speed,
        }
    }

    /// Splits the component off the end of the last word, as of `vx`.
    fn tight(&self) -> Option<(Vec<String>, char)> {
        if self.component.is_some() {
            return None;
        }
        let (last, rest) = self.words.split_last()?;
        let component = last.chars().last()?;
        let stem = last.strip_suffix(component)?;
        let mut words = rest.to_vec();
        if !stem.is_empty() {
            words.push(stem.to_owned());
        }
        as_component(&component.to_string())?;
        (!words.is_empty()).then_some((words, component))
    }

    fn motion(&self) -> Option<Motion> {
        if self.is_speed {
            return Some(Motion::Velocity);
        }
        let tight = self.tight();
        let both = [Some(&self.words), tight.as_ref().map(|(words, _)| words)];
        both.into_iter().flatten().find_map(|words| of_words(words))
    }
}

/// Returns whether the words are those of a rotation.
fn is_angular(words: &[String]) -> bool {
    let begins = ["ang", "rot", "omega", "spin"];
    words
        .iter()
        .any(|word| begins.iter().any(|begin| word.starts_with(begin)))
}

/// Returns the motion that the words of a name mean by themselves.
fn of_words(words: &[String]) -> Option<Motion> {
    if is_angular(words) {
        return None;
    }
    let joined = words.concat();
    // Such as dx/dt.
    let derived = joined
        .strip_suffix("dt")
        .and_then(|begin| begin.strip_prefix('d'));
    let derived = derived.or_else(|| joined.strip_suffix("dot"));
    if ["vmag", "magv", "absv"].contains(&&*joined)
        || derived.is_some_and(|of| ["x", "y", "z", "r", "q", "s", "pos", "position"].contains(&of))
    {
        return Some(Motion::Velocity);
    }
    let of_magnet = ["mag", "dip", "quad", "inert"];
    let is_momentum = !words
        .iter()
        .any(|word| of_magnet.iter().any(|begin| word.starts_with(begin)));
    words.iter().find_map(|word| {
        let ends = |end: &str| word.ends_with(end);
        let is_velocity = word.starts_with("vel")
            || word.contains("veloc")
            || word.starts_with("speed")
            || ends("speed")
            || (["vel", "vels", "velo"].into_iter().any(ends)
                && !NO_VELOCITIES
                    .iter()
                    .any(|no| word.trim_end_matches('s').ends_with(no)));
        if is_velocity || ["vx", "vy", "vz", "motion"].contains(&&**word) {
            Some(Motion::Velocity)
        } else if is_momentum
            && (word == "mom"
                || ["momentum", "momenta", "impulse"]
                    .iter()
                    .any(|name| word.contains(name)))
        {
            Some(Motion::Momentum)
        } else {
            None
        }
    })
}

/// Beginnings of words of vectors that begin with v, but are no velocities.
const NO_V: [&str; 17] = [
    "vec", "var", "vol", "val", "vdw", "vir", "vor", "vis", "ver", "voi", "von", "vox", "vie",
    "vac", "vib", "vap", "vit",
];

/// Returns whether a unit is a length divided by a time, such as `m/s` or `nm ps^-1`.
fn is_unit_of_speed(unit: &str) -> bool {
    let is_end = |c: char| c.is_whitespace() || "/*·.^-−1".contains(c);
    let words: Vec<&str> = unit.split(is_end).filter(|word| !word.is_empty()).collect();
    let lengths = [
        "m", "mm", "cm", "km", "um", "µm", "nm", "pm", "A", "Å", "a", "ang", "Angstrom",
        "angstrom", "bohr",
    ];
    let times = ["s", "ms", "us", "µs", "ns", "ps", "fs", "min", "h", "tau"];
    matches!(*words, [length, time] if lengths.contains(&length) && times.contains(&time))
}

/// Returns the motion that two or three names mean together, if these differ in their component only. Without it, they
/// are `before` and `after`.
fn of_components(before: &str, component: char, after: &str) -> Option<Motion> {
    let letters =
        |text: &str| -> String { text.chars().filter(char::is_ascii_alphanumeric).collect() };
    let stem = letters(before) + &letters(after);
    let is_letter = component.is_ascii_alphabetic();
    let between = before.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    // A vector in extended XYZ has names such as `p 1`.
    let is_vector = is_letter || before.ends_with(' ');
    match &*stem {
        "v" => return Some(Motion::Velocity),
        // `xu` is an unwrapped coordinate of LAMMPS.
        "u" if !before.is_empty() && (is_letter || !between.is_empty()) => {
            return Some(Motion::Velocity);
        }
        "dot" | "ddt" if is_letter => return Some(Motion::Velocity),
        _ => {}
    }
    let all = [before, " ", after].concat();
    let words = words(&all);
    let is_velocity = |word: &String| {
        word.starts_with('v') && !NO_V.iter().any(|begin| word.starts_with(begin))
            || (is_letter && word.ends_with('v'))
    };
    if !is_vector || is_angular(&words) {
        None
    } else if words.iter().any(is_velocity) {
        Some(Motion::Velocity)
    } else {
        words
            .iter()
            .any(|word| {
                word.strip_prefix('p')
                    .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
            })
            .then_some(Motion::Momentum)
    }
}

/// Returns the place of the first name that seems to describe the motion of the centres, perhaps one component of it,
/// and what it seems to be. If the world is flat, `u` and `v` are a velocity.
pub(crate) fn motion_of(names: &[String], is_flat: bool) -> Option<(usize, Motion)> {
    let lower = |name: &String| name.trim().to_ascii_lowercase();
    let has = |wanted: &str| names.iter().any(|name| lower(name) == wanted);
    // Coordinates of a texture.
    let is_whole = is_flat || has("w");
    let is_texture = has("u") && !is_whole;
    let alone = |name: &String| {
        let stem = Stem::of(name);
        match &*stem.words.concat() {
            "vx" | "vy" | "vz" | "vtheta" | "vphi" | "vrho" => Some(Motion::Velocity),
            "px" | "py" | "pz" => Some(Motion::Momentum),
            // LAMMPS calls a variable x so.
            "v" if !name.starts_with("v_") && !is_texture => Some(Motion::Velocity),
            _ => stem.motion(),
        }
    };
    if is_whole && has("u") && has("v") {
        let first = names.iter().position(|name| lower(name) == "u")?;
        return Some((first, Motion::Velocity));
    }
    let single = names
        .iter()
        .enumerate()
        .find_map(|(k, name)| Some((k, alone(name)?)));
    single.or_else(|| together(names))
}

/// Returns the first `count` names, two or three, of the vector of which the name at `place` is the first component.
pub(crate) fn siblings(names: &[String], place: usize, count: usize) -> Option<Vec<usize>> {
    let name = names.get(place)?;
    for (at, first) in name.char_indices().rev() {
        let others = match first {
            'x' => ['y', 'z'],
            'X' => ['Y', 'Z'],
            '0' => ['1', '2'],
            '1' => ['2', '3'],
            'u' if name == "u" => ['v', 'w'],
            _ => continue,
        };
        let find = |other: char| {
            let text = [&name[..at], &name[at + 1..]].join(&other.to_string());
            names.iter().position(|name| *name == text)
        };
        let others: Option<Vec<usize>> = others.into_iter().take(count - 1).map(find).collect();
        if let Some(others) = others {
            return Some([vec![place], others].concat());
        }
    }
    None
}

/// Returns three names that seem to be positions, such as `Points:0`, `coord_x` or `x [m]`.
pub(crate) fn position_of(names: &[String]) -> Option<Vec<usize>> {
    let is_position = |place: &usize| {
        let stem = Stem::of(&names[*place]);
        let joined = stem.words.concat();
        let known = [
            "x",
            "point",
            "points",
            "coord",
            "coords",
            "coordinate",
            "coordinates",
            "pos",
            "position",
            "positions",
            "center",
            "centers",
            "centre",
            "centres",
            "centroid",
            "r",
        ];
        known.contains(&&*joined)
    };
    (0..names.len())
        .filter(is_position)
        .take(16)
        .find_map(|place| siblings(names, place, 3))
}

/// Returns a column that seems to hold radii or diameters: which of these, and its name.
pub(crate) fn size_of(names: &[String]) -> Option<(&'static str, &str)> {
    names.iter().find_map(|name| {
        let size = match &*Stem::of(name).words.concat() {
            "r" | "rad" | "rads" | "radius" | "radii" | "particleradius" => "radius",
            "d" | "diam" | "diameter" | "diameters" => "diameter",
            _ => return None,
        };
        Some((size, name.as_str()))
    })
}

/// Returns the value of `--columns` that gives columns their names, in quotes if a shell needs these.
pub(crate) fn example(new: &[&str], names: &[String], places: Option<&[usize]>) -> String {
    let old = |k: usize| {
        let name = places.and_then(|places| names.get(*places.get(k)?));
        name.map_or("NAME".to_owned(), |name| number::printable(name, 40))
    };
    let pairs = new
        .iter()
        .enumerate()
        .map(|(k, new)| format!("{new}={}", old(k)));
    let text = pairs.collect::<Vec<_>>().join(",");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "=,_:.-".contains(c);
    if text.chars().all(is_plain) {
        text
    } else {
        format!("\"{text}\"")
    }
}

/// Returns the first of the names that are the components of a vector, if its name says that it is motion. Two
/// components are enough.
fn together(names: &[String]) -> Option<(usize, Motion)> {
    let lower: Vec<String> = names
        .iter()
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let all: HashSet<&str> = lower.iter().map(String::as_str).collect();
    // Around an axis or a centre.
    for (radial, others) in [
        ("v_r", ["v_theta", "v_phi"]),
        ("vr", ["vt", "vtan"]),
        ("v_r", ["v_t", "v_tan"]),
    ] {
        if all.contains(radial) && others.iter().any(|other| all.contains(other)) {
            let place = lower.iter().position(|name| name == radial)?;
            return Some((place, Motion::Velocity));
        }
    }
    for (k, name) in lower.iter().enumerate() {
        for (at, first) in name.char_indices() {
            let second = match first {
                'x' => "y",
                '0' => "1",
                '1' => "2",
                _ => continue,
            };
            let (before, after) = (&name[..at], &name[at + 1..]);
            if !all.contains(&*[before, after].join(second)) {
                continue;
            }
            let prefix = ["c_", "f_", "d_", "d2_"]
                .iter()
                .find_map(|prefix| before.strip_prefix(prefix));
            let unit = after.find(['(', '[']).unwrap_or(after.len());
            if let Some(motion) = of_components(prefix.unwrap_or(before), first, &after[..unit]) {
                return Some((k, motion));
            }
        }
    }
    None
}

/// Returns whether a name is that of a frame or a time of the whole world, such as `Time [s]` or `frame number`, and not
/// that of a time of each sphere, such as `contact_time`.
pub(crate) fn is_moment(name: &str) -> bool {
    let stem = Stem::of(name);
    let units = ["s", "ms", "us", "ns", "ps", "fs", "sec"];
    if let [first, rest @ ..] = &*stem.words
        && first == "t"
    {
        // `T` is a temperature.
        let has_unit = bracket(name).is_some_and(|(_, unit)| units.contains(&unit));
        let is_time = has_unit || name.trim_start().starts_with('t');
        return is_time && rest.iter().all(|unit| units.contains(&&**unit));
    }
    let of_sphere = [
        "birth",
        "creat",
        "contact",
        "residen",
        "collision",
        "life",
        "relax",
        "stop",
        "stokes",
        "response",
        "arriv",
        "ent",
        "exit",
        "inject",
        "insert",
        "age",
        "impact",
        "last",
        "next",
        "scale",
        "const",
        "hit",
    ];
    let begins = [
        "time", "frame", "step", "snap", "iter", "cycle", "epoch", "sweep", "tick", "config",
        "replica", "traj", "sample", "realiz",
    ];
    let ends = ["time", "times", "step", "steps", "frame", "frames"];
    let begins_with =
        |word: &String, list: &[&str]| list.iter().any(|begin| word.starts_with(begin));
    let is_moment = |word: &String| {
        ["dump", "run", "block"].contains(&&**word)
            || begins_with(word, &begins)
            || ends.iter().any(|end| word.ends_with(end))
    };
    stem.words.iter().any(is_moment)
        && !stem
            .words
            .iter()
            .any(|word| begins_with(word, &of_sphere) || word.contains("life"))
}

/// Returns whether a name is that of the ids of spheres.
pub(crate) fn is_id(name: &str) -> bool {
    let words = Stem::of(name).words.concat();
    let of = words
        .strip_suffix("ids")
        .or_else(|| words.strip_suffix("id"));
    of.is_some_and(|of| {
        [
            "", "p", "atom", "particle", "sphere", "grain", "point", "global",
        ]
        .contains(&of)
    })
}

/// Splits a bracket off the end of a name: the name before it, and what is in it.
fn bracket(name: &str) -> Option<(&str, &str)> {
    let name = name.trim_end();
    for (open, close) in [('(', ')'), ('[', ']'), ('{', '}')] {
        if let Some(rest) = name.strip_suffix(close)
            && let Some((begin, inner)) = rest.rsplit_once(open)
            && !begin.trim().is_empty()
        {
            return Some((begin, inner));
        }
    }
    None
}

fn as_component(text: &str) -> Option<char> {
    let mut letters = text.trim().chars();
    match (
        letters.next().map(|c| c.to_ascii_lowercase()),
        letters.next(),
    ) {
        (Some(c @ ('x' | 'y' | 'z' | '0'..='3')), None) => Some(c),
        _ => None,
    }
}

/// Splits a name into words: at all but letters and digits, and where a lower-case letter is followed by a capital.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        if !c.is_alphanumeric() || (before.is_lowercase() && c.is_uppercase()) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Parts of words that name a box.
const BOXES: [&str; 13] = [
    "lattice",
    "latice",
    "cell",
    "box",
    "dimension",
    "cryst",
    "domain",
    "bound",
    "period",
    "extent",
    "hmat",
    "h_mat",
    "pbc",
];

/// Names that are a box if they have numbers. Some are too short to be a part of a word.
const SHORT_BOXES: [&str; 15] = [
    "l", "h", "abc", "side", "sides", "size", "sizes", "edge", "edges", "lx", "lengths", "vectors",
    "lbox", "dim", "dims",
];

/// Returns whether a name, other than `pbc`, says which edges of the box are periodic.
pub(crate) fn is_periodicity(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_known = |known| name == known;
    [
        "bc",
        "boundary_conditions",
        "boundary_condition",
        "boundaries",
        "boundary",
    ]
    .into_iter()
    .any(is_known)
        || name.contains("periodic")
}

/// Returns three names that seem to be the lengths of a box, such as `lx`, `ly` and `lz`.
pub(crate) fn lengths_of(names: &[String]) -> Option<[&str; 3]> {
    let plain = |name: &String| -> String {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        letters.map(|c| c.to_ascii_lowercase()).collect()
    };
    let all: Vec<String> = names.iter().map(plain).collect();
    let find = |name: &str| all.iter().position(|other| other == name);
    let is_size = |stem: &str| {
        [
            "l", "len", "length", "max", "hi", "high", "size", "side", "edge", "dim", "period",
        ]
        .contains(&stem)
            || ["box", "cell", "lattice"]
                .iter()
                .any(|word| stem.contains(word))
    };
    for (k, name) in all.iter().enumerate() {
        // The diagonal of a matrix of edges.
        for others in [
            ["ax", "by", "cz"],
            ["a1", "b2", "c3"],
            ["h11", "h22", "h33"],
        ] {
            if name == others[0]
                && let [Some(b), Some(c)] = [others[1], others[2]].map(find)
            {
                return Some([&names[k], &names[b], &names[c]]);
            }
        }
        for [first, others @ ..] in [["x", "y", "z"], ["a", "b", "c"], ["1", "2", "3"]] {
            for is_prefix in [false, true] {
                let stem = if is_prefix {
                    name.strip_prefix(first)
                } else {
                    name.strip_suffix(first)
                };
                let with = |letter: &str, stem: &str| {
                    if is_prefix {
                        [letter, stem].concat()
                    } else {
                        [stem, letter].concat()
                    }
                };
                if let Some(stem) = stem.filter(|stem| is_size(stem))
                    && let [Some(b), Some(c)] = others.map(|letter| find(&with(letter, stem)))
                {
                    return Some([&names[k], &names[b], &names[c]]);
                }
            }
        }
    }
    None
}

/// Returns whether a name is that of a box.
pub(crate) fn is_box(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SHORT_BOXES.contains(&&*name) || BOXES.iter().any(|word| name.contains(word))
}

/// A part of a comment. Words are in lower case.
#[derive(PartialEq)]
enum Token {
    Word(String),
    Number(f64),
    /// `=` or `:`.
    Sign(char),
}

/// Splits a comment into words and numbers. Columns, such as those of `Properties`, are left out.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let is_column = |chunk: &&str| {
        let chunk = chunk.to_ascii_lowercase();
        [":s:", ":r:", ":i:", ":l:"]
            .iter()
            .any(|kind| chunk.contains(kind))
    };
    for chunk in text.split_whitespace().filter(|chunk| !is_column(chunk)) {
        let mut rest = chunk;
        while !rest.is_empty() {
            let end = rest
                .find(|c| "\"'[](){},;|#!=:".contains(c))
                .unwrap_or(rest.len());
            // Of a time such as 12:30, the colon is a part.
            let is_within = |at: usize| {
                let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
                let bytes = rest.as_bytes();
                bytes.get(at) == Some(&b':')
                    && at > 0
                    && is_digit(bytes.get(at - 1))
                    && is_digit(bytes.get(at + 1))
            };
            if is_within(end) {
                tokens.push(Token::Word(rest.to_owned()));
                break;
            }
            if end > 0 {
                tokens.extend(parts(&rest[..end]));
            }
            let sign = rest[end..].chars().next().filter(|c| "=:".contains(*c));
            tokens.extend(sign.map(Token::Sign));
            rest = rest.get(end + 1..).unwrap_or_default();
        }
    }
    tokens
}

/// Returns the numbers of `10x10x10` or `10nm`, or else the word.
fn parts(piece: &str) -> Vec<Token> {
    let numbers: Option<Vec<Token>> = piece
        .split(['x', 'X', '×', '*'])
        .map(|part| {
            let digits = part.trim_end_matches(|c: char| c.is_alphabetic() || c == '°');
            decimal(part).or_else(|| decimal(digits)).map(Token::Number)
        })
        .collect();
    numbers.unwrap_or_else(|| vec![Token::Word(piece.to_ascii_lowercase())])
}

/// Returns whether a word may stand between the numbers of a box.
fn is_unit(word: &str) -> bool {
    let units = [
        "a",
        "å",
        "ang",
        "angstrom",
        "angstroms",
        "nm",
        "bohr",
        "au",
        "a.u.",
        "pm",
        "um",
        "µm",
        "mm",
        "cm",
        "m",
        "x",
        "by",
        "deg",
        "degrees",
        "sigma",
        "and",
        "-",
    ];
    units.contains(&word)
}

/// Returns how the comment of an XYZ file or a table seems to give a box other than with Lattice: a word of a box with
/// numbers, as in `cell="10 10 10"` and `CELL(abcABC): 10 10 10 90 90 90`, or nothing but numbers.
pub(crate) fn box_of_comment(comment: &[u8], is_table: bool) -> Option<String> {
    let text = String::from_utf8_lossy(comment);
    let tokens = tokens(&text);
    let lower = text.to_ascii_lowercase();
    let of_key = |key: &str, count: usize| {
        let at = lower.find(key).unwrap_or_default();
        let shown = text.get(at..at + key.len()).unwrap_or(key);
        Some(format!(
            "the comment has the key `{}` with {}",
            number::printable(shown, 40),
            number::counted(count, "number")
        ))
    };
    // Words since the last number, and keys with their numbers of numbers.
    let mut words: Vec<&str> = Vec::new();
    let mut keys: Vec<(&str, usize)> = Vec::new();
    let mut has_words = false;
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            Token::Word(word) => {
                has_words |= !is_unit(word);
                // Flags, which are no numbers.
                let is_true = |word: &str| {
                    word == "true"
                        || (word.contains('t') && word.trim_matches(['t', 'f']).is_empty())
                };
                let before = words.last().copied().unwrap_or_default();
                let is_read = before == "pbc" && tokens[at - 1] == Token::Sign('=') && !is_table;
                if (before == "pbc" || before.starts_with("periodic")) && !is_read && is_true(word)
                {
                    return Some(format!(
                        "the comment has `{before}`, so the world is periodic"
                    ));
                }
                words.push(word);
                at += 1;
                continue;
            }
            Token::Sign(_) => {
                at += 1;
                continue;
            }
            Token::Number(_) => {}
        }
        let sign = at.checked_sub(1).map(|before| &tokens[before]);
        let has_sign = matches!(sign, Some(Token::Sign(_)));
        let is_flags = sign == Some(&Token::Sign('=')) && !is_table;
        let mut numbers = Vec::new();
        while let Some(token) = tokens.get(at) {
            match token {
                Token::Number(x) => numbers.push(*x),
                Token::Word(word)
                    if is_unit(word) && !matches!(tokens.get(at + 1), Some(Token::Sign(_))) => {}
                Token::Word(_) | Token::Sign(_) => break,
            }
            at += 1;
        }
        let count = numbers.len();
        if !has_words && words.is_empty() && at == tokens.len() {
            let is_box = match *numbers {
                [a, b, c] => a > 0.0 && b > 0.0 && c > 0.0,
                [..] => count >= 6,
            };
            return is_box.then(|| {
                format!("the comment has nothing but {count} numbers, which may be the box")
            });
        }
        let last: Vec<&str> = words.iter().rev().take(4).rev().copied().collect();
        words.clear();
        let Some(key) = last.last().copied() else {
            continue;
        };
        // Which edges are periodic.
        if key == "pbc" && (is_flags || numbers.iter().all(|x| *x == 0.0)) {
            continue;
        }
        let plain: String = last
            .concat()
            .chars()
            .filter(|c| c.is_alphanumeric())
            .collect();
        let is_vector = |word: &str| {
            let rest = word.strip_prefix("vec").or_else(|| word.strip_prefix("tv"));
            rest.is_some_and(|rest| rest.chars().filter(char::is_ascii_alphanumeric).count() <= 1)
        };
        let of_three = |word: &&str| {
            BOXES.iter().any(|part| word.contains(part))
                || is_vector(word)
                || (SHORT_BOXES.contains(word)
                    && (has_sign || !["l", "h", "lx", "size"].contains(word)))
        };
        // One number, as of `box length 10`, `cubic box of side 10`, `periodic 10` and `L=10`.
        let sizes = [
            "size", "length", "lengths", "side", "edge", "width", "len", "l",
        ];
        let wholes = ["box", "cell", "domain", "cubic", "cube", "edge", "side"];
        let size = sizes.iter().find_map(|size| plain.strip_suffix(size));
        let is_size = size.is_some_and(|before| wholes.iter().any(|whole| before.contains(whole)))
            || ["cubic", "cube", "periodic"].contains(&key);
        let no_sizes = [
            "id",
            "index",
            "number",
            "count",
            "type",
            "dim",
            "dims",
            "dimension",
            "dimensions",
        ];
        let of_one = has_sign
            && (SHORT_BOXES.contains(&key) || BOXES.iter().any(|part| key.contains(part)))
            && !no_sizes.iter().any(|end| key.ends_with(end));
        let is_bound = count == 2 && key == "xhi";
        if (count >= 3 && last.iter().any(of_three)) || of_one || is_size || is_bound {
            return of_key(key, count);
        }
        if has_sign {
            keys.push((key, count));
        }
    }
    // Three vectors of the same kind of names, or three lengths.
    let of_count = |wanted: usize| -> Vec<String> {
        let found = keys.iter().filter(|(_, count)| *count == wanted);
        found.map(|(key, _)| (*key).to_owned()).collect()
    };
    let (singles, bounds, vectors) = (of_count(1), of_count(2), of_count(3));
    let has = |keys: &[String], three: [&str; 3]| {
        three
            .iter()
            .all(|key| keys.iter().any(|other| other == key))
    };
    let of_vectors = [
        ["a", "b", "c"],
        ["a1", "a2", "a3"],
        ["v1", "v2", "v3"],
        ["e1", "e2", "e3"],
        ["t1", "t2", "t3"],
        ["avec", "bvec", "cvec"],
    ];
    let others = [["a", "b", "c"], ["width", "height", "depth"]];
    let three = of_vectors.into_iter().find(|three| has(&vectors, *three));
    let three = three.or_else(|| others.into_iter().find(|three| has(&singles, *three)));
    let three = three.or_else(|| has(&bounds, ["x", "y", "z"]).then_some(["x", "y", "z"]));
    let found = lengths_of(&singles).or(three)?.join("`, `");
    Some(format!("the comment has the keys `{found}`"))
}

fn decimal(word: &str) -> Option<f64> {
    number::parse(word.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motion(names: &str) -> Option<Motion> {
        let names: Vec<String> = names.split(',').map(str::to_owned).collect();
        motion_of(&names, false).map(|(_, motion)| motion)
    }

    #[test]
    fn names_tell_motion() {
        for names in [
            "vx",
            "v_x,v_y,v_z",
            "V-x,V-y,V-z",
            "v[0],v[1],v[2]",
            "v(0),v(1),v(2)",
            "v1,v2,v3",
            "v 1,v 2,v 3",
            "V:0,V:1,V:2",
            "Vx (m/s),Vy (m/s),Vz (m/s)",
            "vx [m/s]",
            "velocity [m/s]",
            "u,v,w",
            "U:0,U:1,U:2",
            "U_x,U_y,U_z",
            "ux,uy,uz",
            "linVel_0,linVel_1,linVel_2",
            "linvel_x",
            "linvel.x",
            "linear velocity x",
            "xdot,ydot,zdot",
            "x_dot,y_dot,z_dot",
            "dx/dt,dy/dt,dz/dt",
            "initial_velocities 1",
            "atomic_velocities 1",
            "MD_velocities 1",
            "veloc 1",
            "vel_com 1",
            "lin_vel 1",
            "trueVel 1",
            "truevel 1",
            "Vx 1",
            "speed 1",
            "Speeds",
            "airspeed",
            "c_v[1],c_v[2],c_v[3]",
            "c_vel[1]",
            "f_velocity[2]",
            "vcmx,vcmy,vcmz",
            "vxs,vys,vzs",
            "vel.x",
            "velocity:0",
            "VELX",
            "vmag",
            "langevin_velocity_x",
            "v_r,v_theta,v_z",
            "vr,vtheta,vz",
            "vr,vt",
            "v",
            "V",
            "v,v,v",
            "v1,v2",
            "v 1,v 2",
            "U:0,U:1",
            "ux,uy",
            "part_vx",
            "rdot 1",
            "dxdt",
            "v0 1,v0 2,v0 3",
            "v_cm 1,v_cm 2,v_cm 3",
            "md_v 1,md_v 2,md_v 3",
            "v-half 1,v-half 2",
            "vcom 1,vcom 2,vcom 3",
            "vxyz 1,vxyz 2,vxyz 3",
            "v-x",
            "mvx,mvy,mvz",
            "U [m/s]",
            "u (nm ps^-1)",
            "Ux [m s^-1]",
        ] {
            assert_eq!(motion(names), Some(Motion::Velocity), "{names}");
        }
        for names in [
            "px",
            "p 1,p 2,p 3",
            "momentum_x",
            "momentum 1",
            "momenta 1",
            "initial_momenta 1",
            "linearMomentum",
            "p_x,p_y,p_z",
            "p 1,p 2",
            "mom 1",
            "mom_x",
            "px_mom,py_mom,pz_mom",
            "momx,momy,momz",
            "p_lin 1,p_lin 2,p_lin 3",
            "p0 1,p0 2,p0 3",
            "impulse 1",
        ] {
            assert_eq!(motion(names), Some(Motion::Momentum), "{names}");
        }
        for names in [
            "x,y,z,radius,id,type,mass",
            "magmoms 1,magmoms 2,magmoms 3",
            "angular_velocity_x",
            "angularVelocity 1",
            "angvel",
            "omega_x,omega_y,omega_z",
            "angmom 1",
            "rotational_velocity",
            "level",
            "water_level,x,y",
            "travel",
            "fx,fy,fz",
            "volume",
            "x,y,z,xu,yu,zu",
            "mag_mom 1,mag_mom 2",
            "x,y,z,u,v",
            "dT/dt",
            "flow [m3/s]",
            "w (rad/s)",
            "vector 1,vector 2,vector 3",
            "voronoi 1,voronoi 2",
            "density [kg/m]",
            "p1,p2,p3",
            "p",
            "pressure",
            "v_x",
            "c_1[1],c_1[2],c_1[3]",
            "v_theta,c_r",
            "vecx,vecy,vecz",
            "ix,iy,iz",
            "mux,muy,muz",
            "nx,ny,nz",
            "",
        ] {
            assert_eq!(motion(names), None, "{names}");
        }
    }

    #[test]
    fn names_tell_frames_and_times() {
        for name in [
            "time",
            "Time",
            "t",
            "frame",
            "TimeStep",
            "time_step",
            "frame_id",
            "snapshot",
            "time (s)",
            "Time [s]",
            "t (s)",
            "t/s",
            "t [ps]",
            "time/s",
            "time_s",
            "time_ps",
            "Time:0",
            "TimeValue",
            "frame number",
            "Frame #",
            "step_number",
            "md_step",
            "tstep",
            "nstep",
            "iteration",
            "iter",
            "cycle",
            "snap",
            "sim_time",
            "simtime",
            "frameno",
            "timestamp",
            "STEP",
            "T (s)",
            "tick",
            "trajectory",
            "sample_id",
        ] {
            assert!(is_moment(name), "{name}");
        }
        for name in [
            "x",
            "T",
            "T (K)",
            "type",
            "temperature",
            "contact_time",
            "lifetime",
            "birth time",
            "residence_time",
            "tx",
            "theta",
            "id",
            "",
        ] {
            assert!(!is_moment(name), "{name}");
        }
    }

    #[test]
    fn comments_tell_boxes() {
        for comment in [
            "dimensions=\"10 10 10 90 90 90\" Properties=species:S:1:pos:R:3",
            "boxsize=10",
            "L=10",
            "L = 10.0",
            "a=10 b=10 c=10 alpha=90 beta=90 gamma=90",
            "boundary=\"10\"",
            "Tv_1=\"10 0 0\" Tv_2=\"0 10 0\" Tv_3=\"0 0 10\"",
            "_JSON {\"Lattice\": [[10,0,0],[0,10,0],[0,0,10]]}",
            "10.0 10.0 10.0",
            "0.0 10.0 0.0 10.0 0.0 10.0",
            "-5 5 -5 5 -5 5",
            "10 0 0 0 10 0 0 0 10",
            "10 10 10 90 90 90",
            "jmolscript: unitcell {10 10 10 90 90 90}",
            "h=\"10 0 0 0 10 0 0 0 10\"",
            "cell: 10,10,10",
            "unit_cell 10 10 10",
            "Box=[4,4,4]",
            "lx=4 ly=4 lz=4",
            "xlo=0 xhi=4 ylo=0 yhi=4 zlo=0 zhi=4",
            "# CELL(abcABC):   10.00000    10.00000    10.00000    90.00000    90.00000    90.00000  Step:           0  \
             Bead:       0 positions{angstrom}  cell{angstrom}",
            "# CELL{GENH}: 10 0 0 0 10 0 0 0 10",
            "CELL(abcABC)=10 10 10 90 90 90",
            "CRYST1 10.000 10.000 10.000 90.00 90.00 90.00 P 1 1",
            "Cell vectors: 10 0 0 0 10 0 0 0 10",
            "PBC: 10 10 10",
            "pbc 10 10 10",
            "pbc: T T T",
            "box size: 10",
            "box length 10",
            "box-length=10",
            "h_matrix=\"10 0 0 0 10 0 0 0 10\"",
            "VEC1=\"10 0 0\" VEC2=\"0 10 0\" VEC3=\"0 0 10\"",
            "a=\"10 0 0\" b=\"0 10 0\" c=\"0 0 10\"",
            "a1=\"10 0 0\" a2=\"0 10 0\" a3=\"0 0 10\"",
            "lattice_a=10 lattice_b=10 lattice_c=10",
            "ax=10 ay=0 az=0 bx=0 by=10 bz=0 cx=0 cy=0 cz=10",
            "domain=10",
            "size=\"10 10 10\"",
            "(10.0, 10.0, 10.0)",
            "0 0 0 10 10 10",
            "10x10x10",
            "10 A 10 A 10 A",
            "box 10.0nm 10.0nm 10.0nm",
            "len_x=10 len_y=10 len_z=10",
            "Step 3, Box (nm) = 1 1 1",
            "abc 10 10 10",
            "xlo xhi 0 10 ylo yhi 0 10 zlo zhi 0 10",
            "x: 0 10 y: 0 10 z: 0 10",
            "Edge length: 10",
            "cubic box of side 10",
            "periodic cubic 10",
            "Boundary: periodic 10",
            "avec=\"10 0 0\" bvec=\"0 10 0\" cvec=\"0 0 10\"",
            "width=10 height=10 depth=10",
            "DIM 10 10 10",
        ] {
            assert!(
                box_of_comment(comment.as_bytes(), false).is_some(),
                "{comment}"
            );
        }
        for comment in [
            "",
            "step 2",
            "an fcc lattice of argon in a box",
            "lattice constant 4.05",
            "cell 2 of 3",
            "energy=-3.5 stress=\"1 2 3 4 5 6 7 8 9\"",
            "virial=[1,2,3,4,5,6,7,8,9]",
            "-127.5",
            "100 -3.5",
            "0 -3.5 1",
            "Properties=species:S:1:pos:R:3 step=3",
            "i = 5, time = 2.5, E = -17.1",
            "a=3",
            "Atoms. Timestep: 0",
            "pbc=\"T T T\"",
            "pbc=\"1 1 1\"",
            "pbc=[0, 0, 0]",
            "pbc: F F F",
            "without pbc",
            "dimension=3 cell_id=2",
            "created 2026-11-27 12:30:05",
            "dipole=\"0.1 0.2 0.3\" charge=1",
            "Properties=fixed:L:3:pos:R:3",
        ] {
            assert_eq!(box_of_comment(comment.as_bytes(), false), None, "{comment}");
        }
    }
}
