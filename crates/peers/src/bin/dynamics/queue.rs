//! A queue of the spheres' next events, for an event-driven simulation whose time only increases.
//!
//! It is a calendar queue, as described by G. Paul (Journal of Computational Physics 221, 2007,
//! 615–625), but with two levels of buckets. With two levels, an insertion rarely misses the cache,
//! even with a million spheres. If a sphere gets a new event, its old entry stays in the queue. The
//! simulation ignores the outdated entry when its time comes.

use std::mem::swap;

/// Number of narrow buckets (short intervals of time) into which a wide bucket is divided.
const NARROW: u64 = 256;
/// Number of wide buckets (long intervals of time). The last wide bucket also has all events after
/// it.
const WIDE: u64 = 1024;

/// An event of a sphere in the queue. The event is outdated if the simulation has given the sphere
/// a next event at another time.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) time: f64,
    pub(crate) sphere: u32,
}

pub(crate) struct Queue {
    per_time: f64,
    /// Number of the narrow bucket that is being emptied, whose events are in `current`. Bucket 0
    /// begins at time 0.
    now: u64,
    /// Events of the bucket that is being emptied, from the latest to the earliest.
    pub(crate) current: Vec<Entry>,
    narrow: Vec<Vec<Entry>>,
    wide: Vec<Vec<Entry>>,
    /// Events of the wide bucket that is being divided into narrow buckets.
    opened: Vec<Entry>,
}

impl Queue {
    /// Creates an empty queue. `width` is the time that a narrow bucket covers. A wide bucket
    /// covers the time of [`NARROW`] narrow ones.
    pub(crate) fn new(width: f64) -> Self {
        Self {
            per_time: width.recip(),
            now: 0,
            current: Vec::new(),
            narrow: (0..NARROW).map(|_| Vec::new()).collect(),
            wide: (0..WIDE).map(|_| Vec::new()).collect(),
            opened: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        let bucket = self.bucket(entry.time);
        if bucket <= self.now {
            let place = self
                .current
                .partition_point(|other| other.time > entry.time);
            self.current.insert(place, entry);
        } else if bucket / NARROW == self.now / NARROW {
            self.narrow[(bucket % NARROW) as usize].push(entry);
        } else {
            let wide = (bucket / NARROW).min(self.now / NARROW + WIDE - 1);
            self.wide[(wide % WIDE) as usize].push(entry);
        }
    }

    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "times are not negative, and a time of infinity belongs in the last bucket"
    )]
    fn bucket(&self, time: f64) -> u64 {
        (time * self.per_time) as u64
    }

    /// Makes the next narrow bucket the current one, and moves its entries to `current`, in no
    /// particular order.
    pub(crate) fn turn(&mut self) {
        self.now += 1;
        if self.now.is_multiple_of(NARROW) {
            let wide = (self.now / NARROW % WIDE) as usize;
            swap(&mut self.opened, &mut self.wide[wide]);
            for k in 0..self.opened.len() {
                let entry = self.opened[k];
                let bucket = self.bucket(entry.time);
                if bucket / NARROW == self.now / NARROW {
                    self.narrow[(bucket % NARROW) as usize].push(entry);
                } else {
                    self.push(entry);
                }
            }
            self.opened.clear();
            swap(&mut self.opened, &mut self.wide[wide]);
        }
        swap(
            &mut self.current,
            &mut self.narrow[(self.now % NARROW) as usize],
        );
    }
}
