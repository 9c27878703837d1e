//! What ranks send to one another.

use std::cell::Cell;

use bytemuck::Pod;
use mpi::collective::SystemOperation;
use mpi::datatype::PartitionMut;
use mpi::point_to_point::{Destination, Source};
use mpi::request::multiple_scope;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Root};

use crate::Error;

const TAG: i32 = 51;

/// A communicator of its own, and counts of what this rank has sent.
pub(crate) struct Link {
    comm: SimpleCommunicator,
    pub(crate) rank: usize,
    pub(crate) size: usize,
    /// Most bytes of a message.
    pub(crate) most: usize,
    bytes: Cell<u64>,
    messages: Cell<u64>,
}

/// How many items each rank sends to this one, as the place of the first of each rank, and the number of all.
pub(crate) struct Arrivals(Vec<usize>);

impl Arrivals {
    pub(crate) fn count(&self) -> usize {
        self.0.last().copied().unwrap_or_default()
    }

    pub(crate) fn from(&self, rank: usize) -> std::ops::Range<usize> {
        self.0[rank]..self.0[rank + 1]
    }
}

impl Link {
    pub(crate) fn new(comm: &impl Communicator) -> Self {
        let comm = comm.duplicate();
        let [rank, size] = [comm.rank(), comm.size()].map(|x| usize::try_from(x).unwrap_or(0));
        Self {
            comm,
            rank,
            size,
            most: 1 << 28,
            bytes: Cell::new(0),
            messages: Cell::new(0),
        }
    }

    /// Bytes and messages that this rank has sent since the last call, without collective operations on a few
    /// numbers.
    pub(crate) fn take_counts(&self) -> [u64; 2] {
        [self.bytes.take(), self.messages.take()]
    }

    pub(crate) fn abort(&self) -> ! {
        self.comm.abort(1)
    }

    fn reduce<const N: usize>(&self, own: [u64; N], by: SystemOperation) -> [u64; N] {
        let mut all = own;
        if self.size > 1 {
            self.comm.all_reduce_into(&own[..], &mut all[..], by);
        }
        all
    }

    pub(crate) fn sum<const N: usize>(&self, own: [u64; N]) -> [u64; N] {
        self.reduce(own, SystemOperation::sum())
    }

    pub(crate) fn least<const N: usize>(&self, own: [u64; N]) -> [u64; N] {
        self.reduce(own, SystemOperation::min())
    }

    pub(crate) fn most<const N: usize>(&self, own: [u64; N]) -> [u64; N] {
        self.reduce(own, SystemOperation::max())
    }

    /// The sum over all ranks before this one.
    pub(crate) fn before(&self, own: u64) -> u64 {
        let mut sum = 0;
        if self.size > 1 {
            self.comm
                .exclusive_scan_into(&own, &mut sum, SystemOperation::sum());
        }
        if self.rank == 0 { 0 } else { sum }
    }

    /// Turns a fault of one rank into an error of all: of the sphere with the least index, or else of the first rank.
    pub(crate) fn agree<V>(&self, own: Result<V, Error>) -> Result<V, Error> {
        self.agree_on(own, None)
    }

    /// As [`agree`](Self::agree). Also, the number `same` must be the same on all ranks.
    pub(crate) fn agree_on<V>(&self, own: Result<V, Error>, same: Option<u64>) -> Result<V, Error> {
        let rank = self.rank as u64;
        let order = match &own {
            Ok(_) => u64::MAX,
            Err(error) => error.to_parts(rank).0[0],
        };
        let same = same.unwrap_or_default();
        let [first, least, most] = self.least([order, same, !same]);
        if first == u64::MAX {
            if least != !most {
                return Err(Error::input(
                    "the ranks passed different time steps, domains, options or walls; pass the same on all ranks",
                ));
            }
            return own;
        }
        let [teller] = self.least([if order == first { rank } else { u64::MAX }]);
        let mut parts = [0; 3];
        let mut text = Vec::new();
        if let Err(error) = &own
            && teller == rank
        {
            let ([order, kind], message) = error.to_parts(rank);
            text = message.as_bytes().to_vec();
            parts = [order, kind, text.len() as u64];
        }
        let root = self
            .comm
            .process_at_rank(i32::try_from(teller).unwrap_or_default());
        root.broadcast_into(&mut parts[..]);
        text.resize(usize::try_from(parts[2]).unwrap_or_default(), 0);
        root.broadcast_into(&mut text[..]);
        let message = String::from_utf8_lossy(&text).into_owned();
        Err(Error::from_parts([parts[0], parts[1]], message))
    }

    /// The items of all ranks, in the order of ranks.
    pub(crate) fn gather_all<P: Pod>(&self, own: &[P]) -> Result<Vec<P>, Error> {
        let mut bytes = vec![0_u64; self.size];
        self.comm
            .all_gather_into(&(size_of_val(own) as u64), &mut bytes[..]);
        let total = bytes.iter().sum::<u64>();
        let Ok(total) = i32::try_from(total) else {
            return Err(Error::input(format!(
                "{total} bytes are too many to gather"
            )));
        };
        #[expect(clippy::cast_possible_truncation, reason = "their sum is an i32")]
        let counts: Vec<i32> = bytes.iter().map(|&bytes| bytes as i32).collect();
        let starts = counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum - count)
        });
        let starts: Vec<i32> = starts.collect();
        let total = usize::try_from(total).unwrap_or_default();
        let mut all = vec![P::zeroed(); total / size_of::<P>()];
        let sent: &[u8] = bytemuck::cast_slice(own);
        let room: &mut [u8] = bytemuck::cast_slice_mut(&mut all);
        let mut room = PartitionMut::new(room, &counts[..], &starts[..]);
        self.comm.all_gather_varcount_into(sent, &mut room);
        self.count(sent.len() as u64 * (self.size as u64 - 1), 1);
        Ok(all)
    }

    fn count(&self, bytes: u64, messages: u64) {
        self.bytes.set(self.bytes.get() + bytes);
        self.messages.set(self.messages.get() + messages);
    }

    /// `starts` has the place of the first item for each rank, and the number of all items.
    pub(crate) fn arrivals(&self, starts: &[usize]) -> Arrivals {
        let sent: Vec<u64> = starts.windows(2).map(|w| (w[1] - w[0]) as u64).collect();
        let mut counts = sent.clone();
        if self.size > 1 {
            self.comm.all_to_all_into(&sent[..], &mut counts[..]);
        }
        let mut sum = 0;
        let mut all = vec![0];
        for count in counts {
            sum += usize::try_from(count).unwrap_or(usize::MAX);
            all.push(sum);
        }
        Arrivals(all)
    }

    /// Memory for what arrives.
    pub(crate) fn room<P: Pod>(count: usize) -> Result<Vec<P>, Error> {
        let mut room = Vec::new();
        room.try_reserve_exact(count)
            .map_err(|_| Error::memory(count.saturating_mul(size_of::<P>())))?;
        room.resize(count, P::zeroed());
        Ok(room)
    }

    /// Sends item k to the rank in whose range of `starts` it is. All receives are posted before the first item is
    /// sent, so no rank waits for another that waits for it.
    pub(crate) fn exchange<P: Pod>(
        &self,
        starts: &[usize],
        arrivals: &Arrivals,
        item: impl Fn(usize) -> P,
        to: &mut [P],
    ) {
        let own = starts[self.rank]..starts[self.rank + 1];
        for (to, k) in to[arrivals.from(self.rank)].iter_mut().zip(own) {
            *to = item(k);
        }
        let per = (self.most / size_of::<P>()).max(1);
        let process = |rank: usize| {
            self.comm
                .process_at_rank(i32::try_from(rank).unwrap_or_default())
        };
        multiple_scope(self.size, |scope, requests| {
            let mut rest = to;
            for from in 0..self.size {
                let (part, others) = rest.split_at_mut(arrivals.from(from).len());
                rest = others;
                if from == self.rank {
                    continue;
                }
                for chunk in part.chunks_mut(per) {
                    let bytes: &mut [u8] = bytemuck::cast_slice_mut(chunk);
                    let process = process(from);
                    requests.add(process.immediate_receive_into_with_tag(scope, bytes, TAG));
                }
            }
            let mut buffer = Vec::new();
            for distance in 1..self.size {
                let to = (self.rank + distance) % self.size;
                let (mut k, end) = (starts[to], starts[to + 1]);
                while k < end {
                    let next = end.min(k + per);
                    buffer.clear();
                    buffer.extend((k..next).map(&item));
                    let bytes: &[u8] = bytemuck::cast_slice(&buffer);
                    process(to).send_with_tag(bytes, TAG);
                    self.count(bytes.len() as u64, 1);
                    k = next;
                }
            }
            requests.wait_all(&mut Vec::new());
        });
    }
}
