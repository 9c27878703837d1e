//! A cache of bind groups with buffers of the application.

use super::bound_spheres::Window;
use crate::Error;
use crate::gpu::device::context::Late;

/// Applications are expected to alternate between fewer sets of buffers.
const REMEMBERED: usize = 4;

pub(crate) struct BindCache<T> {
    known: Vec<CachedBinding<T>>,
}

struct CachedBinding<T> {
    /// With their offsets in bytes.
    windows: Vec<(wgpu::Buffer, u64)>,
    made: T,
    late: Late,
}

impl<T> Default for BindCache<T> {
    fn default() -> Self {
        Self { known: Vec::new() }
    }
}

impl<T: Clone> BindCache<T> {
    /// Calls `make` if nothing is known of the parts `windows`. If the device found later that they cannot be bound, the
    /// error is returned each time.
    pub(crate) fn get(
        &mut self,
        windows: &[Window<'_>],
        make: impl FnOnce(&Late) -> Result<T, Error>,
    ) -> Result<(T, Late), Error> {
        let same = |known: &CachedBinding<T>| {
            let known = known.windows.iter().map(|(buffer, start)| (buffer, *start));
            known.eq(windows.iter().map(|window| (window.buffer, window.start)))
        };
        match self.known.iter().position(same) {
            Some(at) => {
                self.known[..=at].rotate_right(1);
                self.known[0].late.check()?;
            }
            None => {
                let late = Late::default();
                let made = make(&late)?;
                let windows = windows
                    .iter()
                    .map(|window| (window.buffer.clone(), window.start));
                let windows = windows.collect();
                self.known.insert(
                    0,
                    CachedBinding {
                        windows,
                        made,
                        late,
                    },
                );
                self.known.truncate(REMEMBERED);
            }
        }
        let CachedBinding { made, late, .. } = &self.known[0];
        Ok((made.clone(), late.clone()))
    }

    pub(crate) fn clear(&mut self) {
        self.known.clear();
    }
}
