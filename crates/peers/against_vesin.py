#!/usr/bin/env python3
"""Times carom's neighbour lists beside vesin's: crates/peers/against_vesin.py NEIGHBORS [PARTICLES]

NEIGHBORS is the path of the program `neighbors` of this folder (`cargo build --release -p carom-peers`). The
script needs the Python packages `numpy` and `vesin`. The libraries run on one thread, take turns, and compute
the same quantities: i, j, S (the image), D (the vector) and d (the distance), in a half list and in a full list.
The particles are random, at a density of 1, and have a mean of 1, 13 or 40 neighbours each. The times are medians
of fifteen searches, after one to warm up. carom computes in float32 and in float64, and returns lists that are exact
for the coordinates; vesin computes in float64. All get the same coordinates, which are float32.
"""

import itertools
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import metadata

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import vesin

ROUNDS = 16


def searches(program, path, cutoff, edge, options):
    """Yields the time of each search of carom, the time of its check that the list is valid, and the entries."""
    command = [program, path, repr(cutoff), repr(edge), *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as carom:
        while True:
            print("go", file=carom.stdin, flush=True)
            searched, check, entries = carom.stdout.readline().split()
            yield float(searched), float(check), int(entries)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    program = pathlib.Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) == 3 else 1_000_000
    edge = float(np.float32(count ** (1 / 3)))
    points = np.random.default_rng(1).uniform(0, edge, (count, 3)).astype(np.float32)
    wide = points.astype(np.float64)
    box = np.eye(3) * edge
    print(f"{count} particles, medians of {ROUNDS - 1}, one thread, vesin {metadata.version('vesin')}")
    print("ratio32, ratio64: vesin's time over carom's in float32 and in float64; check64: over carom's time in float64")
    print(
        f"{'domain':>8} {'list':>5} {'neighbours':>10} {'entries':>10} {'float32':>9} {'float64':>9} {'vesin':>9} "
        f"{'ratio32':>7} {'ratio64':>7} {'check64':>7}"
    )
    with tempfile.TemporaryDirectory() as folder:
        narrow_path, wide_path = pathlib.Path(folder) / "float32", pathlib.Path(folder) / "float64"
        points.tofile(narrow_path)
        wide.tofile(wide_path)
        for periodic, full, neighbors in itertools.product([True, False], [False, True], [1, 13, 40]):
            cutoff = float(np.float32((neighbors * 3 / 4 / math.pi) ** (1 / 3)))
            length = edge if periodic else 0.0
            options = ["--full"] if full else []
            of_float32 = searches(program, narrow_path, cutoff, length, options)
            of_float64 = searches(program, wide_path, cutoff, length, [*options, "--float64"])
            calculator = vesin.NeighborList(cutoff=cutoff, full_list=full, n_threads=1)
            times = []
            for _ in range(ROUNDS):
                first, _, entries = next(of_float32)
                second, check, same = next(of_float64)
                start = time.perf_counter()
                theirs = calculator.compute(wide, box, periodic, "ijSDd", copy=False)
                times.append((first, second, time.perf_counter() - start, check))
                if entries != same or abs(len(theirs[0]) - entries) > 10:
                    sys.exit(f"the lists have {entries}, {same} and {len(theirs[0])} entries")
            of_float32.close()
            of_float64.close()
            first, second, theirs, check = (statistics.median(column) for column in zip(*times[1:]))
            print(
                f"{'periodic' if periodic else 'open':>8} {'full' if full else 'half':>5} {neighbors:>10} {entries:>10} "
                f"{first:>7.3f} s {second:>7.3f} s {theirs:>7.3f} s {theirs / first:>7.2f} {theirs / second:>7.2f} "
                f"{check / second:>7.2%}",
                flush=True,
            )


main()
