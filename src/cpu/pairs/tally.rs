//! Counts the candidates before any of them is tested.

use std::ops::Range;

use rayon::prelude::*;

use super::search::PairSearch;
use crate::cpu::images::ProxySpace;

pub(crate) fn tally(search: &PairSearch<'_, impl ProxySpace>) -> u64 {
    (0..search.proxies)
        .into_par_iter()
        .with_min_len(1024)
        .map(|index| {
            let grids = &search.grids;
            let mut candidates = 0;
            let mut count = |ranges: &[Range<usize>], _| {
                candidates += ranges.iter().map(|range| range.len() as u64).sum::<u64>();
            };
            let searcher = search.searcher(index, &search.sorted.ball(index));
            match grids.own_ranges(&searcher) {
                Some(ranges) => count(&ranges, None),
                None => grids.search_own_rows(&searcher, |range, row| count(&[range], Some(row))),
            }
            if let Some(path) = search.path(&searcher) {
                grids.search_others(&searcher, &path, &mut count);
            }
            candidates
        })
        .sum()
}
