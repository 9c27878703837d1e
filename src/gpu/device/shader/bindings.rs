//! Parses the buffer bindings of a compute shader from its WGSL text.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Uniform,
    Read,
    Write,
}

/// Without the length of an array and the wrapper `atomic<…>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BindingKind {
    pub(crate) element: &'static str,
    pub(crate) is_array: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) name: &'static str,
    pub(crate) access: Access,
    pub(crate) kind: BindingKind,
}

impl BindingKind {
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
            // The element type in `array<T, N>` ends at the first comma.
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

/// The form must be `@group(0) @binding(INDEX) var<ACCESS> NAME: TYPE;`.
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
        kind: BindingKind::parse(kind),
    })
}

/// Returns the bindings of a WGSL text, one a line, with indices that ascend from 0, or the
/// first declaration with an error.
pub(crate) fn parse(kernel: &'static str) -> Result<Vec<Binding>, &'static str> {
    let lines = kernel.lines().filter(|line| line.starts_with("@group"));
    lines
        .enumerate()
        .map(|(index, line)| binding(line, index).ok_or(line))
        .collect()
}
