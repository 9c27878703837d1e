//! How operators may be combined in WGSL without parentheses. naga takes more, which browsers refuse.

/// Operators of two operands, which have a space on both sides in the shaders of the project.
const BINARY: [&str; 18] = [
    "*", "/", "%", "+", "-", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&",
    "||",
];

/// Returns the texts of the expressions of a shader, from the innermost parentheses outwards, whose operators need parentheses.
pub(crate) fn ambiguous(shader: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    // The words of the expressions that are open: those in parentheses are one word of the one outside.
    let mut open = vec![Vec::new()];
    let lines = shader.lines().filter(|line| !line.starts_with('#'));
    for line in lines.map(|line| line.split("//").next().unwrap_or_default()) {
        let spaced = line
            .replace(['(', '['], " ( ")
            .replace([')', ']'], " ) ")
            .replace([',', ';', '{', '}'], " ; ");
        for word in spaced.split_whitespace() {
            let is_end = word.ends_with('=') && !BINARY.contains(&word);
            match word {
                "(" => open.push(Vec::new()),
                ")" => {
                    let inner = open.pop().unwrap_or_default();
                    wrong.extend(check(&inner));
                    open.last_mut().unwrap().push("()".to_owned());
                }
                ";" | "return" | "if" | "while" => wrong.extend(end(&mut open)),
                _ if is_end => wrong.extend(end(&mut open)),
                _ => open.last_mut().unwrap().push(word.to_owned()),
            }
        }
    }
    assert_eq!(open.len(), 1, "parentheses");
    wrong.extend(end(&mut open));
    wrong
}

fn end(open: &mut [Vec<String>]) -> Option<String> {
    let words = std::mem::take(open.last_mut().unwrap());
    check(&words)
}

/// Returns the text of an expression without parentheses if WGSL's grammar does not have it.
fn check(words: &[String]) -> Option<String> {
    let operators: Vec<&str> = (words.iter().map(String::as_str))
        .filter(|word| BINARY.contains(word))
        .collect();
    let is_one = |allowed: &[&str]| {
        let mut found = operators.iter().filter(|word| allowed.contains(word));
        let first = found.next();
        first.is_none() || found.all(|word| Some(word) == first)
    };
    let is_bits = |word: &&str| ["&", "^", "|"].contains(word);
    let right = if operators.iter().any(is_bits) {
        // One operator, and operands that have none.
        operators.iter().all(|word| word == &operators[0])
    } else {
        is_one(&["&&", "||"])
            && (operators.split(|word| ["&&", "||"].contains(word))).all(|relation| {
                let is_relation = |word: &&str| ["<", ">", "<=", ">=", "==", "!="].contains(word);
                let sides: Vec<_> = relation.split(is_relation).collect();
                let is_shift = |word: &&str| ["<<", ">>"].contains(word);
                let is_side = |side: &[&str]| side.len() < 2 || !side.iter().any(is_shift);
                sides.len() <= 2 && sides.into_iter().all(is_side)
            })
    };
    (!right).then(|| words.join(" "))
}
