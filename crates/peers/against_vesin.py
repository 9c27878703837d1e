#!/usr/bin/env python3
"""Times carom's half neighbour lists beside vesin's: crates/peers/against_vesin.py NEIGHBORS [PARTICLES]

NEIGHBORS is the path of the program `neighbors` of this folder (`cargo build --release -p carom-peers`). The
script needs the Python packages `numpy` and `vesin`. Both libraries run on one thread, take turns, and compute
the same quantities: i, j, S (the image), D (the vector) and d (the distance). The particles are random, at a
density of 1, and have a mean of 1, 13 or 40 neighbours each. The times are medians of five searches, after one
to warm up. carom computes in float32 and returns exact lists for float32 coordinates; vesin computes in float64
and gets the same coordinates.
"""

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

ROUNDS = 6


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    program = pathlib.Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) == 3 else 1_000_000
    edge = np.float32(count ** (1 / 3))
    points = np.random.default_rng(1).uniform(0, edge, (count, 3)).astype(np.float32)
    wide = points.astype(np.float64)
    box = np.eye(3) * float(edge)
    print(f"{count} particles, medians of {ROUNDS - 1}, one thread, vesin {metadata.version('vesin')}")
    print(f"{'domain':>8} {'neighbours':>10} {'entries':>10} {'carom':>9} {'vesin':>9} {'ratio':>6} {'check':>7}")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "points"
        points.tofile(path)
        for periodic in [True, False]:
            for neighbors in [1, 13, 40]:
                cutoff = np.float32((neighbors * 3 / 4 / math.pi) ** (1 / 3))
                command = [program, path, repr(float(cutoff)), repr(float(edge) if periodic else 0.0)]
                times = []
                with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as carom:
                    calculator = vesin.NeighborList(cutoff=float(cutoff), full_list=False, n_threads=1)
                    for _ in range(ROUNDS):
                        print("go", file=carom.stdin, flush=True)
                        ours, check, entries = carom.stdout.readline().split()
                        start = time.perf_counter()
                        theirs = calculator.compute(wide, box, periodic, "ijSDd", copy=False)
                        times.append((float(ours), time.perf_counter() - start, float(check)))
                        differ = abs(len(theirs[0]) - int(entries))
                        if differ > 10:
                            sys.exit(f"the lists differ by {differ} entries")
                    carom.stdin.close()
                ours, theirs, check = (statistics.median(column) for column in zip(*times[1:]))
                kind = "periodic" if periodic else "open"
                print(
                    f"{kind:>8} {neighbors:>10} {entries:>10} {ours:>7.3f} s {theirs:>7.3f} s "
                    f"{theirs / ours:>6.2f} {check / ours:>7.2%}",
                    flush=True,
                )


main()
