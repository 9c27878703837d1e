//! Assembles a complete WGSL module from the file of a kernel and the parts that it imports.

use std::fmt::{Display, Formatter};

/// Returns the part of a path after its last `/`.
pub(super) const fn name_of(path: &'static str) -> &'static str {
    let mut at = path.len();
    while at > 0 && path.as_bytes()[at - 1] != b'/' {
        at -= 1;
    }
    path.split_at(at).1
}

/// Defines the list of all parts, as pairs of a name and a text: `shaders/shared/`, and the
/// folders `parts` for one folder of kernels.
macro_rules! parts {
    ($($name:literal),* $(,)?) => {
        pub(super) const PARTS: &[(&str, &str)] = &[$((
            name_of($name),
            include_str!(concat!("../../../../shaders/", $name, ".wgsl")),
        )),*];
    };
}

parts![
    "collide/parts/plan_layout",
    "collide/parts/plan_levels",
    "collide/parts/plan_ranges",
    "collide/parts/plan_searches",
    "collide/parts/sample",
    "collide/parts/sets",
    "collide/parts/space",
    "dynamics/parts/compounds",
    "dynamics/parts/dynamics",
    "dynamics/parts/dynamics_places",
    "dynamics/parts/dynamics_triangles",
    "dynamics/parts/dynamics_walls",
    "dynamics/parts/encounter",
    "dynamics/parts/endings",
    "dynamics/parts/exact_part",
    "dynamics/parts/further_candidates",
    "dynamics/parts/further_entries",
    "dynamics/parts/left_cells",
    "dynamics/parts/meeting",
    "dynamics/parts/near_triangles",
    "dynamics/parts/paths",
    "dynamics/parts/rests",
    "dynamics/parts/round_spheres",
    "dynamics/parts/searched_spheres",
    "dynamics/parts/switches",
    "dynamics/parts/two_floats",
    "neighbors/parts/neighbor_entry",
    "neighbors/parts/neighbors",
    "periodic/parts/lattice",
    "reduce/parts/pair_changes",
    "reduce/parts/row_items",
    "reduce/parts/row_order",
    "shared/carom",
    "shared/crowd",
    "shared/decide_found",
    "shared/digits",
    "shared/dispatch",
    "shared/exact_pair",
    "shared/filter",
    "shared/found_count",
    "shared/found_pairs",
    "shared/grid",
    "shared/groups",
    "shared/image_block",
    "shared/image_word",
    "shared/impact",
    "shared/invocation",
    "shared/near",
    "shared/opaque",
    "shared/ownership",
    "shared/scan_block",
    "shared/search",
    "shared/segments",
    "shared/size_class",
    "shared/sortable",
    "shared/sorted",
    "shared/sources",
    "shared/sphere_bits",
    "shared/spheres",
    "shared/step_params",
    "shared/sum",
    "shared/tag",
    "shared/types",
    "shared/units",
    "shared/wide_words",
    "walls/parts/triangle_filter",
    "walls/parts/wall_collisions",
    "walls/parts/wall_filter",
];

#[derive(Debug, PartialEq, Eq)]
pub(super) enum BadImport {
    Directive(String),
    /// An `#import` line names no part.
    Part(String),
    Item {
        part: String,
        item: String,
    },
    Cycle(String),
    Need(String),
}

impl Display for BadImport {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Directive(line) => write!(f, "`{line}` is neither `#import` nor `#needs`"),
            Self::Part(part) => write!(f, "there is no part `{part}` in `PARTS`"),
            Self::Item { part, item } => write!(f, "the part `{part}` does not declare `{item}`"),
            Self::Cycle(part) => write!(f, "the part `{part}` imports itself"),
            Self::Need(name) => write!(f, "the kernel does not declare `{name}`"),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Directive<'a> {
    Import { part: &'a str, items: Vec<&'a str> },
    Needs(Vec<&'a str>),
}

fn names(list: &str) -> Vec<&str> {
    list.split(',').map(str::trim).collect()
}

fn directive(line: &str) -> Result<Directive<'_>, BadImport> {
    let import = |rest: &'_ str| -> Option<(usize, usize)> {
        let braces = rest.find("::{")?;
        rest.ends_with('}').then_some((braces, rest.len() - 1))
    };
    if let Some(rest) = line.strip_prefix("#import ")
        && let Some((braces, end)) = import(rest)
    {
        return Ok(Directive::Import {
            part: &rest[..braces],
            items: names(&rest[braces + 3..end]),
        });
    }
    match line.strip_prefix("#needs ") {
        Some(rest) => Ok(Directive::Needs(names(rest))),
        None => Err(BadImport::Directive(line.to_owned())),
    }
}

pub(super) fn directives(text: &str) -> Result<Vec<Directive<'_>>, BadImport> {
    let lines = text.lines().filter(|line| line.starts_with('#'));
    lines.map(directive).collect()
}

fn declared_by(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("@group(") {
        Some(_) => &line[line.find("var<")?..],
        None => line,
    };
    let rest = if line.starts_with("var<") {
        &line[line.find("> ")? + 2..]
    } else {
        let keywords = ["fn ", "struct ", "alias ", "const ", "override "];
        keywords.iter().find_map(|word| line.strip_prefix(word))?
    };
    rest.split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
}

pub(super) fn declared(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(declared_by)
}

#[derive(Default)]
struct Module {
    text: String,
    done: Vec<&'static str>,
    /// Each imports the next one.
    open: Vec<&'static str>,
    needs: Vec<&'static str>,
}

impl Module {
    fn add(&mut self, text: &'static str, parts: &Parts) -> Result<(), BadImport> {
        for directive in directives(text)? {
            match directive {
                Directive::Needs(names) => self.needs.extend(names),
                Directive::Import { part, items } => self.import(part, &items, parts)?,
            }
        }
        let code = text.lines().filter(|line| !line.starts_with('#'));
        for line in code {
            self.text.push_str(line);
            self.text.push('\n');
        }
        Ok(())
    }

    fn import(
        &mut self,
        part: &'static str,
        items: &[&'static str],
        parts: &Parts,
    ) -> Result<(), BadImport> {
        let found = parts.iter().find(|(name, _)| *name == part);
        let Some(&(_, text)) = found else {
            return Err(BadImport::Part(part.to_owned()));
        };
        if let Some(item) = items
            .iter()
            .find(|&&item| declared(text).all(|own| own != item))
        {
            return Err(BadImport::Item {
                part: part.to_owned(),
                item: (*item).to_owned(),
            });
        }
        if self.open.contains(&part) {
            return Err(BadImport::Cycle(part.to_owned()));
        }
        if !self.done.contains(&part) {
            self.open.push(part);
            self.add(text, parts)?;
            self.open.pop();
            self.done.push(part);
        }
        Ok(())
    }
}

type Parts = [(&'static str, &'static str)];

/// Returns the complete WGSL module of a shader file: each part that it imports, once and after
/// those that the part imports, then the file.
pub(super) fn resolve(kernel: &'static str, parts: &Parts) -> Result<String, BadImport> {
    let mut module = Module::default();
    module.add(kernel, parts)?;
    let missing = |name: &&&str| declared(kernel).all(|own| own != **name);
    match module.needs.iter().find(missing) {
        Some(name) => Err(BadImport::Need((*name).to_owned())),
        None => Ok(module.text),
    }
}
