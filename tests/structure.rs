//! Tests that no two types of the library share a name.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const TYPES: [&str; 4] = ["struct", "enum", "trait", "type"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
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
    sources(&source, &mut files);
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
