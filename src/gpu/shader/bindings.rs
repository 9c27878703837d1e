//! The bindings of a kernel, read from its WGSL.

/// How a kernel uses one of its bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// A uniform buffer.
    Uniform,
    /// A storage buffer that is only read.
    Read,
    /// A storage buffer that is read and written.
    Write,
}

/// The type of a binding, without the length of an array and without `atomic`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// Name in WGSL of the type, or of an array's element type.
    pub(crate) element: &'static str,
    /// Whether the type is an array.
    pub(crate) is_array: bool,
}

/// A variable of a kernel to which a buffer is bound. Its binding index is its position in the list
/// of bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) name: &'static str,
    pub(crate) access: Access,
    pub(crate) kind: Kind,
}

impl Kind {
    /// Parses the text of a type.
    fn parse(text: &'static str) -> Self {
        let bare = |text: &'static str| {
            let inner = text.strip_prefix("atomic<");
            inner
                .and_then(|inner| inner.strip_suffix('>'))
                .unwrap_or(text)
        };
        let array = text
            .strip_prefix("array<")
            .and_then(|inner| inner.strip_suffix('>'));
        match array {
            // The name of an element type has no comma, so a comma begins the length.
            Some(inner) => Self {
                element: bare(inner.split(',').next().unwrap_or(inner)),
                is_array: true,
            },
            None => Self {
                element: bare(text),
                is_array: false,
            },
        }
    }
}

/// Parses the declaration of the binding with this index. Returns `None` if the line does not have
/// the form `@group(0) @binding(INDEX) var<ACCESS> NAME: TYPE;`.
fn binding(line: &'static str, index: usize) -> Option<Binding> {
    let rest = line.strip_prefix(&format!("@group(0) @binding({index}) var<"))?;
    let (access, rest) = rest.split_once("> ")?;
    let (name, kind) = rest.strip_suffix(';')?.split_once(": ")?;
    Some(Binding {
        name,
        access: match access {
            "uniform" => Access::Uniform,
            "storage, read" => Access::Read,
            "storage, read_write" => Access::Write,
            _ => return None,
        },
        kind: Kind::parse(kind),
    })
}

/// Returns the bindings that a kernel's text declares. Each must be on a line of its own, in the
/// order of the indices. Returns the first line that breaks this rule as the error.
pub(crate) fn parse(kernel: &'static str) -> Result<Vec<Binding>, &'static str> {
    let lines = kernel.lines().filter(|line| line.starts_with("@group"));
    lines
        .enumerate()
        .map(|(index, line)| binding(line, index).ok_or(line))
        .collect()
}
