//! Tests that no two types of the library share a name, that no files of a crate import each other in a circle, and that the
//! operators of shaders are grouped as WGSL requires.

#[path = "structure/imports.rs"]
mod imports;
#[path = "structure/operators.rs"]
mod operators;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use imports::Crate;
use operators::ambiguous;

const TYPES: [&str; 4] = ["struct", "enum", "trait", "type"];

fn sources(folder: &Path, kind: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, kind, found);
        } else if path.extension().is_some_and(|extension| extension == kind) {
            found.push(path);
        }
    }
}

/// Returns the words of a declaration, without its visibility.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub(") {
        Some(line) => line.split_once(") ").map_or(line, |(_, line)| line),
        None => line.strip_prefix("pub ").unwrap_or(line),
    };
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// Returns the name of the type that a line declares. Associated types are indented, and do not count.
fn declared(line: &str) -> Option<&str> {
    let mut words = words(line);
    let kind = words.next().filter(|word| TYPES.contains(word))?;
    let is_associated = kind == "type" && line.starts_with(' ');
    let name = words.next().filter(|_| !is_associated)?;
    name.starts_with(char::is_uppercase).then_some(name)
}

/// The types of one file, and the files of its test modules.
#[derive(Default)]
struct Found {
    types: Vec<String>,
    test_modules: Vec<PathBuf>,
}

fn search(file: &Path) -> Found {
    let mut found = Found::default();
    let text = fs::read_to_string(file).unwrap();
    let is_root = file.ends_with("mod.rs") || file.ends_with("lib.rs");
    let folder = if is_root {
        file.parent().unwrap().to_owned()
    } else {
        file.with_extension("")
    };
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        found.types.extend(declared(line).map(str::to_owned));
        if !(line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test")) {
            continue;
        }
        let Some(next) = lines.next() else { break };
        let mut words = words(next);
        if words.next() != Some("mod") {
            found.types.extend(declared(next).map(str::to_owned));
        } else if next.ends_with('{') {
            // The rest of the module is skipped. Its end is the next brace that is not indented.
            lines.by_ref().find(|line| *line == "}");
        } else {
            let module = words.next().unwrap();
            found
                .test_modules
                .push(folder.join(module).with_extension("rs"));
        }
    }
    found
}

#[test]
fn no_two_types_share_a_name() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&source, "rs", &mut files);
    let found: Vec<(PathBuf, Found)> = files
        .into_iter()
        .map(|file| (file.clone(), search(&file)))
        .collect();
    let of_tests: Vec<&PathBuf> = found
        .iter()
        .flat_map(|(_, found)| &found.test_modules)
        .collect();
    assert!(of_tests.iter().all(|file| file.exists()), "{of_tests:?}");
    let mut places: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
    for (file, found) in &found {
        if !of_tests.contains(&file) {
            for name in &found.types {
                let place = file.strip_prefix(&source).unwrap();
                places.entry(name).or_default().push(place);
            }
        }
    }
    assert!(places.len() > 300, "only {} types are found", places.len());
    places.retain(|_, places| places.len() > 1);
    assert!(places.is_empty(), "types with one name: {places:#?}");
}

#[test]
fn declarations_are_found() {
    let cases = [
        ("pub(crate) struct Ball([f32; 4]);", Some("Ball")),
        ("pub enum Kind<'a> {", Some("Kind")),
        ("type Ends = [[f32; 3]; 2];", Some("Ends")),
        ("    pub(in crate::cpu) trait Probe {", Some("Probe")),
        ("    type Item = usize;", None),
        ("// struct Ball", None),
        ("    struct $name {", None),
    ];
    for (line, name) in cases {
        assert_eq!(declared(line), name, "{line}");
    }
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let members = fs::read_dir(crates).unwrap();
    let mut members: Vec<PathBuf> = members.map(|entry| entry.unwrap().path()).collect();
    members.push(env!("CARGO_MANIFEST_DIR").into());
    let mut roots = Vec::new();
    for member in members {
        sources(&member.join("src"), "rs", &mut roots);
    }
    roots.retain(|file| file.ends_with("lib.rs") || file.ends_with("main.rs"));
    let (mut files, mut imports) = (0, 0);
    for root in roots {
        let source = root.parent().unwrap();
        let text = |name: &str| fs::read_to_string(source.join(name)).ok();
        let name = root.file_name().unwrap().to_str().unwrap();
        let found = Crate::read(name, &text);
        let circles = found.circles();
        assert!(circles.is_empty(), "circles in {source:?}: {circles:#?}");
        files += found.len();
        imports += found.imports();
    }
    let found = format!("{files} files with {imports} imports are found");
    assert!(files > 300 && imports > 1500, "{found}");
}

/// Returns the circles of a crate with a `lib.rs` and a few files.
fn circles_of(files: &[(&str, &str)]) -> usize {
    let text = |name: &str| {
        let file = files.iter().find(|(file, _)| *file == name);
        file.map(|(_, text)| (*text).to_owned())
    };
    let found = Crate::read("lib.rs", &text);
    assert_eq!(found.len(), files.len());
    found.circles().len()
}

#[test]
fn circles_are_found() {
    let root = (
        "lib.rs",
        "mod a; mod b; pub use a::{A, f}; pub(crate) use b::B as C;",
    );
    let b = ("b.rs", "use crate::A;\npub struct B(A);");
    for (a, is_circle) in [
        ("pub struct A; use super::b::B;", true),
        ("pub struct A; use crate::{b::{self, B}};", true),
        ("pub struct A; use crate::C;", true),
        ("pub struct A(crate::C);", true),
        ("pub struct A; fn f() { super::b::g(); }", true),
        ("pub struct A; mod inner { use super::super::b::B; }", true),
        ("pub struct A; pub use crate::b::B; fn f(b: B) {}", true),
        ("pub struct A; pub use crate::b::B;", false),
        (
            "pub struct A; #[cfg(test)] mod tests { use crate::b::B; }",
            false,
        ),
        ("pub struct A; #[cfg(test)] use crate::b::B;", false),
        (
            "/// [`B`](crate::b::B)\npub struct A; // crate::b::B",
            false,
        ),
        (
            "pub struct A; const X: &str = r#\"crate::b::B\"#; const Y: char = '\"';",
            false,
        ),
        (
            "pub struct A<'a>(&'a u8); use std::b::B; fn f() { b::c(); }",
            false,
        ),
    ] {
        assert_eq!(
            circles_of(&[root, b, ("a.rs", a)]),
            usize::from(is_circle),
            "{a}"
        );
    }
}

#[test]
fn modules_in_folders_are_found() {
    let files = [
        ("lib.rs", "mod a; mod c;"),
        ("a/mod.rs", "mod b; pub use b::B; fn f() -> crate::c::C {}"),
        ("a/b.rs", "pub struct B; fn f() { super::f(); }"),
        ("c.rs", "pub struct C(crate::a::B);"),
    ];
    assert_eq!(circles_of(&files), 1);
    let files = [
        files[0],
        ("a/mod.rs", "mod b; pub use b::B;"),
        files[2],
        files[3],
    ];
    assert_eq!(circles_of(&files), 0);
}

#[test]
fn operators_of_shaders_are_grouped() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["shaders", "examples"] {
        sources(&root.join(folder), "wgsl", &mut files);
    }
    assert!(files.len() > 100, "only {} shaders are found", files.len());
    for file in files {
        let ambiguous = ambiguous(&fs::read_to_string(&file).unwrap());
        assert!(ambiguous.is_empty(), "{file:?}: {ambiguous:#?}");
    }
}

#[test]
fn ambiguous_operators_are_found() {
    for (text, expected) in [
        ("let a = b * c ^ d * e;", &["b * c ^ d * e"][..]),
        ("let a = (b * c) ^ (d * e);", &[]),
        ("if a & 1u == 0u {", &["a & 1u == 0u"]),
        ("if (a & 1u) == 0u && b < c + d * e {", &[]),
        ("return a && b || c;", &["a && b || c"]),
        ("return a && (b || c) && d;", &[]),
        ("let a = 1u << b + 1u;", &["1u << b + 1u"]),
        ("let a = 1u << (b + 1u);", &[]),
        ("let a = f(b << 1u < c >> 2u, b & c & d);", &[]),
        ("a ^= b | c & d; // e & f | g", &["b | c & d"]),
        ("let a = b <= c ==\n    d;", &["b <= c == d"]),
        ("x = y[a & 3u + 1u] % 4u;", &["a & 3u + 1u"]),
        ("x = array<vec3<f32>, 2>(a - b * c, -d);", &[]),
        ("x = a >> 1u >> 2u;", &["a >> 1u >> 2u"]),
    ] {
        assert_eq!(ambiguous(text), expected, "{text}");
    }
}
