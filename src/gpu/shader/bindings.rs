//! Parses the bindings of a kernel, which are its buffer variables, from the kernel's WGSL text.

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

/// The WGSL type of a binding. The length of an array and the wrapper `atomic<…>` are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// WGSL name of the type, or of the element type if the type is an array.
    pub(crate) element: &'static str,
    /// Whether the type is an array.
    pub(crate) is_array: bool,
}

/// A variable of a kernel to which a buffer is bound. Its binding index is its position in the
/// kernel's list of bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) name: &'static str,
    pub(crate) access: Access,
    pub(crate) kind: Kind,
}

impl Kind {
    /// Parses a type in WGSL syntax, such as `array<atomic<u32>, 256>`.
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
            // The name of an element type has no comma, so the first comma separates the element
            // type from the array's length.
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

/// Parses a line that declares the binding with the index `index`. Returns `None` if the line does
/// not have the form `@group(0) @binding(INDEX) var<ACCESS> NAME: TYPE;`.
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

/// Returns the bindings that a kernel's text declares. Each declaration must be on a line of its
/// own, and the declarations must be in the order of their indices. The error is the first line
/// that breaks this rule.
pub(crate) fn parse(kernel: &'static str) -> Result<Vec<Binding>, &'static str> {
    let lines = kernel.lines().filter(|line| line.starts_with("@group"));
    lines
        .enumerate()
        .map(|(index, line)| binding(line, index).ok_or(line))
        .collect()
}
