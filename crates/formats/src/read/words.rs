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
        // Brackets at the end hold a component or a unit.
        while let Some((begin, inner)) = bracket(name) {
            if let Some(of_bracket) = as_component(inner) {
                component = component.or(Some(of_bracket));
            }
            name = begin.trim_end();
        }
        let mut words = words(name);
        if component.is_none() && words.len() > 1 {
            component = words.last().and_then(|word| as_component(word));
            if component.is_some() {
                words.pop();
            }
        }
        Self { words, component }
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
        let tight = self.tight();
        let both = [Some(&self.words), tight.as_ref().map(|(words, _)| words)];
        both.into_iter().flatten().find_map(|words| of_words(words))
    }
}

/// Returns the motion that the words of a name mean by themselves.
fn of_words(words: &[String]) -> Option<Motion> {
    let is_angular = |word: &String| {
        ["ang", "rot", "omega", "spin"]
            .iter()
            .any(|begin| word.starts_with(begin))
    };
    if words.iter().any(is_angular) {
        return None;
    }
    let joined = words.concat();
    if ["vmag", "magv", "absv"].contains(&&*joined) {
        return Some(Motion::Velocity);
    }
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
        if is_velocity {
            Some(Motion::Velocity)
        } else if word.contains("momentum") || word.contains("momenta") {
            Some(Motion::Momentum)
        } else {
            None
        }
    })
}

/// Returns the motion that the words of three names mean together, if these names differ in their component only.
fn of_triple(stem: &str, component: char, is_apart: bool, rest: &str) -> Option<Motion> {
    let is_letter = component.is_ascii_alphabetic();
    match stem {
        "v" => Some(Motion::Velocity),
        "u" if is_letter || is_apart => Some(Motion::Velocity),
        // A vector in extended XYZ has names such as `p 1`.
        "p" if is_letter || rest == " " => Some(Motion::Momentum),
        "dot" | "ddt" if is_letter => Some(Motion::Velocity),
        _ => {
            let others = ["vec", "var", "vol", "val", "vdw", "vir"];
            let is_short = stem.starts_with('v') && stem.len() <= 3 && stem.is_ascii();
            (is_short && is_letter && !others.contains(&stem)).then_some(Motion::Velocity)
        }
    }
}

/// Returns the place of the first name that seems to describe the motion of the centres, perhaps one component of it,
/// and what it seems to be.
pub(crate) fn motion_of(names: &[String]) -> Option<(usize, Motion)> {
    let alone = |name: &str| {
        let stem = Stem::of(name);
        match &*stem.words.concat() {
            "vx" | "vy" | "vz" | "vtheta" | "vphi" | "vrho" => Some(Motion::Velocity),
            "px" | "py" | "pz" => Some(Motion::Momentum),
            _ => stem.motion(),
        }
    };
    let single = names
        .iter()
        .enumerate()
        .find_map(|(k, name)| Some((k, alone(name)?)));
    single.or_else(|| triple_of(names))
}

/// Returns the three names of the vector of which the name at `place` is the first component.
pub(crate) fn siblings(names: &[String], place: usize) -> Option<[usize; 3]> {
    let name = names.get(place)?;
    for (at, first) in name.char_indices().rev() {
        let others = match first {
            'x' => ['y', 'z'],
            'X' => ['Y', 'Z'],
            '0' => ['1', '2'],
            '1' => ['2', '3'],
            _ => continue,
        };
        let find = |other: char| {
            let text = [&name[..at], &name[at + 1..]].join(&other.to_string());
            names.iter().position(|name| *name == text)
        };
        if let [Some(second), Some(third)] = others.map(find) {
            return Some([place, second, third]);
        }
    }
    None
}

/// Returns three names that seem to be positions, such as `Points:0`, `coord_x` or `x [m]`.
pub(crate) fn position_of(names: &[String]) -> Option<[usize; 3]> {
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
        .find_map(|place| siblings(names, place))
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

/// Returns the value of `--columns` that gives three columns their names, in quotes if a shell needs these.
pub(crate) fn example(new: [&str; 3], names: &[String], places: Option<[usize; 3]>) -> String {
    let old = |k: usize| {
        let name = places.and_then(|places| names.get(places[k]));
        name.map_or("NAME".to_owned(), |name| number::printable(name, 40))
    };
    let pairs = [0, 1, 2].map(|k| format!("{}={}", new[k], old(k)));
    let text = pairs.join(",");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "=,_:.-".contains(c);
    if text.chars().all(is_plain) {
        text
    } else {
        format!("\"{text}\"")
    }
}

/// Returns the first of three names that are the components of a vector, if its name says that it is motion.
fn triple_of(names: &[String]) -> Option<(usize, Motion)> {
    let lower: Vec<String> = names
        .iter()
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let all: HashSet<&str> = lower.iter().map(String::as_str).collect();
    if ["u", "v", "w"].iter().all(|name| all.contains(name)) {
        let place = lower.iter().position(|name| name == "u")?;
        return Some((place, Motion::Velocity));
    }
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
            let others = match first {
                'x' => ['y', 'z'],
                '0' => ['1', '2'],
                '1' => ['2', '3'],
                _ => continue,
            };
            let with = |other: char| {
                let text: String = [&name[..at], &name[at + 1..]].join(&other.to_string());
                all.contains(&*text)
            };
            if !others.into_iter().all(with) {
                continue;
            }
            let mut before = &name[..at];
            if let Some(rest) = ["c_", "f_", "d_", "d2_"]
                .iter()
                .find_map(|prefix| before.strip_prefix(prefix))
            {
                before = rest;
            }
            let after = match name[at + 1..].find(['(', '[']) {
                Some(unit) => &name[at + 1..at + 1 + unit],
                None => &name[at + 1..],
            };
            let letters = |text: &str| -> String {
                text.chars().filter(char::is_ascii_alphanumeric).collect()
            };
            let stem = letters(before) + &letters(after);
            let between: &str = before.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
            if let Some(motion) = of_triple(&stem, first, !between.is_empty(), between) {
                return Some((k, motion));
            }
        }
    }
    None
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

/// Words whose numbers, three or more, are a box.
const BOXES: [&str; 5] = ["lattice", "latice", "cell", "box", "dimension"];

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

/// Names of three lengths of a box.
const LENGTHS: [[&str; 3]; 5] = [
    ["lx", "ly", "lz"],
    ["xhi", "yhi", "zhi"],
    ["xmax", "ymax", "zmax"],
    ["box_x", "box_y", "box_z"],
    ["boxx", "boxy", "boxz"],
];

/// Returns three names that seem to be the lengths of a box.
pub(crate) fn lengths_of(names: &[String]) -> Option<[&'static str; 3]> {
    let has = |name: &&str| names.iter().any(|other| other.eq_ignore_ascii_case(name));
    LENGTHS.into_iter().find(|three| three.iter().all(has))
}

/// Returns what in a name says that it is a box.
pub(crate) fn is_box(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    BOXES.iter().any(|word| name.contains(word))
}

/// Returns how the comment of an XYZ file seems to give a box other than with Lattice: a name with numbers, as in
/// `cell="10 10 10"`, or nothing but the numbers of a box.
pub(crate) fn box_of_comment(comment: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(comment);
    let all: Option<Vec<f64>> = text
        .split([' ', '\t', ',', ';'])
        .filter(|word| !word.is_empty())
        .map(decimal)
        .collect();
    if let Some(all) = all {
        let is_box = match *all {
            [a, b, c] => a > 0.0 && b > 0.0 && c > 0.0,
            [a, b, c, d, e, f] => {
                (a < b && c < d && e < f) || all.iter().take(3).all(|x| *x > 0.0) && d > 0.0
            }
            [..] => all.len() == 9,
        };
        return is_box.then(|| {
            format!(
                "the comment has nothing but {} numbers, which may be the box",
                all.len()
            )
        });
    }
    let bytes = text.as_bytes();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    // The names of single numbers, which are a box together.
    let mut singles: Vec<String> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !is_name(&bytes[at]) {
            at += 1;
            continue;
        }
        let end = bytes[at..]
            .iter()
            .position(|byte| !is_name(byte))
            .map_or(bytes.len(), |more| at + more);
        let word = text.get(at..end).unwrap_or_default();
        at = end;
        let (count, has_equals) = numbers_after(text.get(end..).unwrap_or_default());
        if count == 0 {
            continue;
        }
        let lower = word.to_ascii_lowercase();
        let is_size = has_equals
            && [
                "boxsize",
                "box_size",
                "boxlength",
                "box_length",
                "box",
                "l",
                "side",
                "boxl",
                "box_l",
                "lbox",
            ]
            .contains(&&*lower);
        let is_vector = has_equals && count >= 3 && lower.starts_with("tv");
        let is_matrix = has_equals
            && (count == 9 && lower == "h"
                || count >= 3
                    && [
                        "abc",
                        "boundary",
                        "boundaries",
                        "bounds",
                        "period",
                        "periodicity",
                        "edges",
                        "l",
                        "hmat",
                    ]
                    .contains(&&*lower));
        let is_bounds = has_equals && ["boundary", "boundaries", "bounds"].contains(&&*lower);
        if (is_box(&lower) && count >= 3) || is_size || is_vector || is_matrix || is_bounds {
            return Some(format!(
                "the comment has the key `{}` with {}",
                number::printable(word, 40),
                number::counted(count, "number")
            ));
        }
        if has_equals && count == 1 {
            singles.push(lower);
        }
    }
    let edges = ["a", "b", "c"];
    let has = |name: &&str| singles.iter().any(|other| other == name);
    let found = lengths_of(&singles).or(edges.iter().all(has).then_some(edges))?;
    Some(format!("the comment has the keys `{}`", found.join("`, `")))
}

/// Returns the number of numbers after a name in a comment, and whether there is a `=` or `:` between.
fn numbers_after(text: &str) -> (usize, bool) {
    let is_space = |c: char| c.is_ascii_whitespace() || "\"'[]{}(),;".contains(c);
    let start = text.trim_start_matches(|c: char| is_space(c) || "=:".contains(c));
    let before = &text[..text.len() - start.len()];
    // The colons of Properties are followed by no space.
    let has_equals = before.contains('=') || before.contains(": ");
    let mut count = 0;
    let mut rest = start;
    loop {
        let end = rest.find(is_space).unwrap_or(rest.len());
        if decimal(&rest[..end]).is_none() {
            break;
        }
        count += 1;
        rest = rest[end..].trim_start_matches(is_space);
        if rest.is_empty() {
            break;
        }
    }
    (count, has_equals)
}

fn decimal(word: &str) -> Option<f64> {
    number::parse(word.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motion(names: &str) -> Option<Motion> {
        let names: Vec<String> = names.split(',').map(str::to_owned).collect();
        motion_of(&names).map(|(_, motion)| motion)
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
            "v",
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
        ] {
            assert!(box_of_comment(comment.as_bytes()).is_some(), "{comment}");
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
        ] {
            assert_eq!(box_of_comment(comment.as_bytes()), None, "{comment}");
        }
    }
}
