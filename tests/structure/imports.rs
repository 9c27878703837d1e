//! Which file of a crate imports which, and files that import each other in a circle.
//!
//! A file imports another one if its code names an item that the other file declares: in a `use`, or in a path such as
//! `crate::a::B`, `super::b` or `b::f()` with a module `b`. A name that comes through a re-export counts as an import
//! from the file that declares it. No imports are re-exports that the file itself does not use, declarations of modules,
//! test modules, comments and links in docs.

use std::collections::{BTreeMap, BTreeSet};

/// A module, as the names that lead to it from the root of its crate.
type Module = Vec<String>;

/// The files of a crate by their modules, as tokens.
#[derive(Default)]
pub(crate) struct Crate {
    files: BTreeMap<Module, File>,
}

#[derive(Default)]
struct File {
    name: String,
    uses: Vec<Use>,
    /// Each path of two names or more in the code, and the module with the code.
    paths: Vec<(Module, Vec<String>)>,
    /// All names in the code outside of `use`.
    names: BTreeSet<String>,
}

struct Use {
    /// The module in which the `use` stands.
    within: Module,
    path: Vec<String>,
    name: String,
    is_public: bool,
}

/// Splits a text into names and signs, without comments and without the contents of strings.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
        let hashes = rest
            .strip_prefix('r')
            .map(|rest| rest.len() - rest.trim_start_matches('#').len())
            .filter(|&hashes| rest[1 + hashes..].starts_with('"'));
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(hashes) = hashes {
            let end = format!("\"{}", "#".repeat(hashes));
            let begin = 2 + hashes;
            begin + rest[begin..].find(&end).expect("the string ends") + end.len()
        } else if first == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            2 + end.expect("the string ends")
        } else if first == '\'' {
            // A character, or else a lifetime.
            let mut inner = rest[1..].chars();
            match (inner.next(), inner.next()) {
                (Some('\\'), _) => 3 + rest[3..].find('\'').expect("the character ends"),
                (Some(c), Some('\'')) => 2 + c.len_utf8(),
                _ => 1,
            }
        } else if is_of_name(first) {
            rest.find(|c| !is_of_name(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        let is_code = is_of_name(first) && hashes.is_none()
            || !first.is_whitespace() && !matches!(first, '"' | '\'') && !token.starts_with("/*");
        if is_code && !token.starts_with("//") {
            found.push(token);
        }
        rest = after;
    }
    found
}

/// Returns the number of tokens up to the end of a block that begins with the first bracket.
fn block(tokens: &[&str]) -> usize {
    let mut depth = 0;
    for (place, token) in tokens.iter().enumerate() {
        match *token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return place + 1;
        }
    }
    tokens.len()
}

/// Returns the number of tokens of an item: up to a semicolon, or to the end of its block.
fn item(tokens: &[&str]) -> usize {
    let mut place = 0;
    while place < tokens.len() {
        match tokens[place] {
            ";" => return place + 1,
            "{" => return place + block(&tokens[place..]),
            "(" | "[" => place += block(&tokens[place..]),
            _ => place += 1,
        }
    }
    place
}

/// Lists the paths of a tree such as `a::{b, c::{d as e, *}}`, each with the name that it gets.
fn tree(tokens: &[&str], prefix: &[String], to: &mut Vec<(Vec<String>, String)>) {
    let mut path = prefix.to_vec();
    let mut name = None;
    let mut place = 0;
    while place < tokens.len() {
        match tokens[place] {
            "{" => {
                let end = place + block(&tokens[place..]);
                let mut part = place + 1;
                for next in part..end {
                    let depth = tokens[place..next]
                        .iter()
                        .fold(0, |depth, &token| match token {
                            "{" => depth + 1,
                            "}" => depth - 1,
                            _ => depth,
                        });
                    if depth == 1 && tokens[next] == "," || next + 1 == end {
                        tree(&tokens[part..next], &path, to);
                        part = next + 1;
                    }
                }
                return;
            }
            "as" => {
                name = tokens.get(place + 1).map(ToString::to_string);
                place += 1;
            }
            "::" => {}
            segment => path.push(segment.to_owned()),
        }
        place += 1;
    }
    if path.len() > prefix.len() {
        if path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let last = path.last().cloned().unwrap_or_default();
        to.push((path, name.unwrap_or(last)));
    }
}

impl File {
    /// Reads a part of a file: the module `within`, which is the file or a module written out in it. Adds the modules in
    /// other files to `modules`.
    fn read(&mut self, within: &Module, tokens: &[&str], modules: &mut Vec<Module>) {
        let mut place = 0;
        let mut is_public = false;
        while place < tokens.len() {
            let rest = &tokens[place..];
            match rest {
                ["#", "[", "cfg", "(", "test", ")", ..]
                | ["#", "[", "cfg", "(", "all", "(", "test", ..] => {
                    place += 1 + block(&rest[1..]);
                    place += item(&tokens[place..]);
                    continue;
                }
                ["#", "[", ..] => {
                    place += 1 + block(&rest[1..]);
                    continue;
                }
                ["pub", "(", ..] => {
                    is_public = true;
                    place += 1 + block(&rest[1..]);
                    continue;
                }
                ["pub", ..] => {
                    is_public = true;
                    place += 1;
                    continue;
                }
                ["mod", name, ";", ..] => {
                    modules.push([&within[..], &[(*name).to_owned()]].concat());
                    place += 3;
                }
                ["mod", name, "{", ..] => {
                    let length = block(&rest[2..]);
                    let inner = [&within[..], &[(*name).to_owned()]].concat();
                    self.read(&inner, &rest[3..1 + length], modules);
                    place += 2 + length;
                }
                ["use", ..] => {
                    let length = item(rest);
                    let length = rest
                        .iter()
                        .position(|&token| token == ";")
                        .unwrap_or(length);
                    let mut found = Vec::new();
                    tree(&rest[1..length], &[], &mut found);
                    self.uses.extend(found.into_iter().map(|(path, name)| Use {
                        within: within.clone(),
                        path,
                        name,
                        is_public,
                    }));
                    place += length + 1;
                }
                [name, ..] if name.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                    let mut path = vec![(*name).to_owned()];
                    let mut end = 1;
                    while let ["::", next, ..] = &rest[end..]
                        && next.starts_with(|c: char| c.is_alphabetic() || c == '_')
                    {
                        path.push((*next).to_owned());
                        end += 2;
                    }
                    self.names.insert(path[0].clone());
                    if path.len() > 1 {
                        self.paths.push((within.clone(), path));
                    }
                    place += end;
                }
                _ => place += 1,
            }
            is_public = false;
        }
    }
}

impl Crate {
    /// Reads a crate from its root file. `text` returns the text of a file, or `None` if there is no such file.
    pub(crate) fn read(root: &str, text: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut all = Self::default();
        let mut open: Vec<Module> = vec![Vec::new()];
        while let Some(module) = open.pop() {
            let path = module.join("/");
            let names = if module.is_empty() {
                [root.to_owned(), String::new()]
            } else {
                [format!("{path}.rs"), format!("{path}/mod.rs")]
            };
            let found = names
                .into_iter()
                .find_map(|name| Some((text(&name)?, name)));
            // A module with an attribute `path` is not searched.
            let Some((text, name)) = found else { continue };
            let mut file = File {
                name,
                ..File::default()
            };
            file.read(&module, &tokens(&text), &mut open);
            all.files.insert(module, file);
        }
        all
    }

    /// Returns the file that has a module, which may be written out in it.
    fn file_of(&self, module: &[String]) -> Module {
        let mut module = module.to_vec();
        while !self.files.contains_key(&module) {
            module.pop();
        }
        module
    }

    /// Returns the file that declares the item of a path in the module `within`, or `None` for a path to another crate.
    fn declares(
        &self,
        within: &Module,
        path: &[String],
        passed: &mut Vec<(Module, String)>,
    ) -> Option<Module> {
        let file = &self.files[&self.file_of(within)];
        let mut at = within.clone();
        let mut rest = path;
        match rest[0].as_str() {
            "crate" => (at, rest) = (Vec::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|segment| segment == "super") {
                    at.pop();
                    rest = &rest[1..];
                }
            }
            first => {
                let child = [&within[..], &rest[..1]].concat();
                let used = file.uses.iter().find(|used| used.name == first);
                match used {
                    _ if self.files.contains_key(&child) => {}
                    Some(used) if path.len() > 1 || !passed.is_empty() => {
                        let whole = [&used.path[..], &rest[1..]].concat();
                        let within = used.within.clone();
                        let key = (within.clone(), first.to_owned());
                        if passed.contains(&key) {
                            return None;
                        }
                        passed.push(key);
                        return self.declares(&within, &whole, passed);
                    }
                    _ => return None,
                }
            }
        }
        while let [first, after @ ..] = rest
            && self
                .files
                .contains_key(&[&at[..], &[first.clone()]].concat())
        {
            at.push(first.clone());
            rest = after;
        }
        let at = self.file_of(&at);
        let [first, ..] = rest else { return Some(at) };
        let used = self.files[&at].uses.iter().find(|used| used.name == *first);
        let key = (at.clone(), first.clone());
        match used {
            Some(used) if !passed.contains(&key) => {
                passed.push(key);
                let whole = [&used.path[..], &rest[1..]].concat();
                self.declares(&used.within, &whole, passed)
            }
            _ => Some(at),
        }
    }

    /// Returns for each file the files that it imports.
    fn imported(&self) -> BTreeMap<&Module, BTreeSet<Module>> {
        let of_file = |(module, file): (_, &File)| {
            let used = file
                .uses
                .iter()
                .filter(|used| !used.is_public || file.names.contains(&used.name));
            let used = used.map(|used| (&used.within, &used.path));
            let named = file.paths.iter().map(|(within, path)| (within, path));
            let declared = used.chain(named).filter_map(|(within, path)| {
                let mut passed = vec![(within.clone(), String::new())];
                self.declares(within, path, &mut passed)
            });
            (module, declared.filter(|other| other != module).collect())
        };
        self.files.iter().map(of_file).collect()
    }

    /// Returns the circles: the sets of files each of which imports all others, directly or through others.
    pub(crate) fn circles(&self) -> Vec<Vec<&str>> {
        let imports = self.imported();
        let reached = |from: &Module| {
            let mut reached = BTreeSet::new();
            let mut open: Vec<&Module> = imports[from].iter().collect();
            while let Some(file) = open.pop() {
                if reached.insert(file) {
                    open.extend(&imports[file]);
                }
            }
            reached
        };
        let reached: BTreeMap<&Module, BTreeSet<&Module>> =
            imports.keys().map(|&file| (file, reached(file))).collect();
        let mut circles = BTreeSet::new();
        for (file, others) in &reached {
            let circle = others
                .iter()
                .filter(|other| reached[**other].contains(file));
            let circle: Vec<&str> = circle.map(|other| &*self.files[*other].name).collect();
            if !circle.is_empty() {
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }

    /// Returns the number of files.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns the number of pairs of a file and a file that it imports.
    pub(crate) fn imports(&self) -> usize {
        self.imported().values().map(BTreeSet::len).sum()
    }
}
