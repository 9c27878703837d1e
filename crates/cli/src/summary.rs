//! The lines that the summaries of `carom collide` and `carom neighbors` have in common.

use carom::{Backend, Domain, Statistics};

/// Returns the letters of the edges along which a domain is periodic, or `None` in open space.
pub(crate) fn periodic_edges(domain: &Domain) -> Option<String> {
    let edges = "abc".chars().zip(domain.periodic());
    let edges = edges.filter_map(|(letter, periodic)| periodic.then_some(letter));
    (!domain.is_open()).then(|| edges.collect())
}

/// Returns a text that names the backend, or `None` if it is that of the frame before, which is in `before`.
pub(crate) fn new_backend(statistics: &Statistics, before: &mut String) -> Option<String> {
    let (backend, reason) = (backend_name(statistics.backend), &statistics.reason);
    let text = match &statistics.adapter {
        Some(adapter) => format!("{backend} on {adapter} ({reason})"),
        None => format!("{backend} ({reason})"),
    };
    let is_new = text != *before;
    before.clone_from(&text);
    is_new.then_some(text)
}

/// Returns the name of the backend of a step, as the option `--backend` accepts it.
pub(crate) fn backend_name(backend: Backend) -> &'static str {
    match backend {
        Backend::Gpu => "gpu",
        Backend::Cpu | Backend::Auto => "cpu",
    }
}

/// Returns the fewest digits that read back as the same number, which is a float32 if `float32` is true.
pub(crate) fn shortest(x: f64, float32: bool) -> String {
    if float32 {
        format!("{:?}", crate::world_args::single(x))
    } else {
        format!("{x:?}")
    }
}
