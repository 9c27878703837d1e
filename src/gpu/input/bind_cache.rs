//! A cache of bind groups with buffers of the application.

use super::bound_spheres::Window;
use crate::Error;

/// Applications are expected to alternate between fewer sets of buffers.
const REMEMBERED: usize = 4;

pub(crate) struct BindCache<T> {
    known: Vec<CachedBinding<T>>,
}

struct CachedBinding<T> {
    /// With their offsets in bytes.
    windows: Vec<(wgpu::Buffer, u64)>,
    made: T,
}

impl<T> Default for BindCache<T> {
    fn default() -> Self {
        Self { known: Vec::new() }
    }
}

impl<T: Clone> BindCache<T> {
    /// Calls `make` if nothing is known of the parts `windows`.
    pub(crate) fn get(
        &mut self,
        windows: &[Window<'_>],
        make: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let same = |known: &CachedBinding<T>| {
            let known = known.windows.iter().map(|(buffer, start)| (buffer, *start));
            known.eq(windows.iter().map(|window| (window.buffer, window.start)))
        };
        match self.known.iter().position(same) {
            Some(at) => self.known[..=at].rotate_right(1),
            None => {
                let made = make()?;
                let windows = windows
                    .iter()
                    .map(|window| (window.buffer.clone(), window.start));
                let windows = windows.collect();
                self.known.insert(0, CachedBinding { windows, made });
                self.known.truncate(REMEMBERED);
            }
        }
        Ok(self.known[0].made.clone())
    }

    pub(crate) fn clear(&mut self) {
        self.known.clear();
    }
}
