//! Tests that every path named in comments and documents exists. Also tests that a GPU shader and the Rust
//! file with the same computation (its twin) name each other.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders in the root of the repository. The test treats each word of a comment or document that
/// begins with one of them as a path.
const FOLDERS: [&str; 6] = [
    "src/",
    "shaders/",
    "docs/",
    "tests/",
    "crates/",
    "examples/",
];

fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
}

/// Returns whether a path, or a pattern for several paths, may contain this character.
fn is_of_path(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./*{}".contains(c)
}

/// Returns the words of a line that may be paths, without URLs and patterns that stand for several paths.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c| !is_of_path(c))
        .filter(|word| !word.starts_with("//"))
        .map(|word| word.trim_start_matches(['.', '/']).trim_end_matches('.'))
        .filter(|word| !word.contains(['*', '{', '}']))
}

fn is_from_root(word: &str) -> bool {
    FOLDERS.iter().any(|folder| word.starts_with(folder))
}

fn is_file_name(word: &str) -> bool {
    let stem = word
        .strip_suffix(".rs")
        .or_else(|| word.strip_suffix(".wgsl"));
    stem.is_some_and(|stem| !stem.is_empty() && !stem.ends_with('/'))
}

/// Returns whether `path` names an existing file or folder. If it names a file, it may lack the
/// file's extension.
fn exists(root: &Path, path: &str) -> bool {
    let path = root.join(path);
    path.exists()
        || ["rs", "wgsl", "md"]
            .iter()
            .any(|extension| path.with_extension(extension).exists())
}

#[test]
fn every_path_that_is_named_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut code = Vec::new();
    files(&root.join("src"), "rs", &mut code);
    files(&root.join("shaders"), "wgsl", &mut code);
    files(&root.join("crates"), "rs", &mut code);
    let mut documents = vec![root.join("README.md")];
    files(&root.join("docs"), "md", &mut documents);
    files(&root.join("crates"), "md", &mut documents);
    let mut all = code.clone();
    for folder in ["tests", "examples"] {
        files(&root.join(folder), "rs", &mut all);
        files(&root.join(folder), "wgsl", &mut all);
    }

    let (mut named, mut missing) = (0, Vec::new());
    for file in code.iter().chain(&documents) {
        let text = fs::read_to_string(file).unwrap();
        let has_code = code.contains(file);
        for (number, line) in text.lines().enumerate() {
            let prose = if has_code {
                line.find("//").map_or("", |start| &line[start..])
            } else {
                line
            };
            for path in words(prose) {
                let found = if is_from_root(path) {
                    exists(root, path)
                } else if is_file_name(path) {
                    all.iter().any(|file| file.ends_with(path))
                } else {
                    continue;
                };
                named += 1;
                if !found {
                    let file = file.strip_prefix(root).unwrap();
                    missing.push(format!("{}:{}: {path}", file.display(), number + 1));
                }
            }
        }
    }
    assert!(
        named > 50,
        "only {named} paths were found in comments and documents"
    );
    assert!(
        missing.is_empty(),
        "these paths are named but do not exist:\n{}",
        missing.join("\n")
    );
}

/// Returns the files with the words "Twin of" in the header comment, each with the paths that follow these
/// words.
fn twins(root: &Path) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    files(&root.join("src"), "rs", &mut all);
    files(&root.join("shaders"), "wgsl", &mut all);
    let mut found = Vec::new();
    for file in all {
        let text = fs::read_to_string(&file).unwrap();
        let header = text.lines().take_while(|line| line.starts_with("//"));
        let header: Vec<&str> = header.collect();
        if let Some((_, twin)) = header.join("\n").split_once("Twin of") {
            let name = file.strip_prefix(root).unwrap().display().to_string();
            let twins = words(twin).filter(|word| is_from_root(word));
            found.push((name, twins.map(str::to_owned).collect()));
        }
    }
    found
}

/// Tests that a shader and a Rust file with the same computation (its twin) name each other. If a folder is
/// named as a twin, its file `mod.rs` is meant.
#[test]
fn twins_name_one_another() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = Vec::new();
    let is_shader = |path: &str| path.starts_with("shaders/");
    for (file, twins) in twins(root) {
        if twins.is_empty() {
            wrong.push(format!("{file} names no file as its twin"));
        }
        // Two Rust files may have the same computation as one shader. These two files need not name
        // each other in their header comments.
        for twin in twins
            .iter()
            .filter(|twin| is_shader(&file) != is_shader(twin))
        {
            let mut path = root.join(twin);
            if path.is_dir() {
                path.push("mod.rs");
            }
            let named = file.strip_suffix("/mod.rs").unwrap_or(&file);
            if !fs::read_to_string(&path).unwrap().contains(named) {
                wrong.push(format!("{twin} does not name {named}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
