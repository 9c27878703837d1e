//! The bindings of a kernel, as its WGSL declares them.

/// How a kernel uses one of its bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// A uniform buffer.
    Uniform,
    /// A storage buffer that is only read.
    Read,
    /// A storage buffer.
    Write,
}

/// The type of a binding, but for how long an array is and whether words are atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// WGSL's name of the value, or of an array's elements.
    pub(crate) element: &'static str,
    /// Whether it is an array.
    pub(crate) is_array: bool,
}

/// A variable of a kernel to which a buffer is bound. Its index is its place among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) name: &'static str,
    pub(crate) access: Access,
    pub(crate) kind: Kind,
}

impl Kind {
    /// From the text of a type.
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
            // No name of an element has a comma.
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

/// One declaration, `None` if it is not of the form
/// `@group(0) @binding(INDEX) var<ACCESS> NAME: TYPE;`.
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

/// The bindings that a kernel's text declares, a line each and in order; or the line that
/// is not as it has to be.
pub(crate) fn parse(kernel: &'static str) -> Result<Vec<Binding>, &'static str> {
    let lines = kernel.lines().filter(|line| line.starts_with("@group"));
    lines
        .enumerate()
        .map(|(index, line)| binding(line, index).ok_or(line))
        .collect()
}
