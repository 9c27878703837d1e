"""Times carom for Python: what the binding costs, and beside other packages that make neighbour lists.

pip install scipy vesin freud-analysis matscipy, and then:

    cargo build --release -p carom-python --example rust_call
    python crates/python/bench.py --rust-call target/release/examples/rust_call
"""

import argparse
import subprocess
import tempfile
import time

import numpy as np

import carom

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--rust-call", help="the example program, for the cost of the binding")
parser.add_argument("--count", type=int, nargs="*", default=[10_000, 100_000, 1_000_000], help="numbers of particles")
parser.add_argument("--neighbors", type=float, nargs="*", default=[13, 40], help="mean numbers of neighbours")
parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
parser.add_argument("--repeats", type=int, default=5)
arguments = parser.parse_args()


def median(call, clock=time.perf_counter):
    """Returns the median time of a call in seconds, and its last result."""
    times = []
    for _ in range(arguments.repeats):
        result = None  # frees the memory of the last result
        began = clock()
        result = call()
        times.append(clock() - began)
    return float(np.median(times)), result


def binding():
    """Compares detect on separate arrays with the Rust call on the same file."""
    count = 1_000_000
    rng = np.random.default_rng(1)
    edge = (count * 4 / 3 * np.pi * 0.125 / 0.1) ** (1 / 3)
    table = np.empty((count, 7), np.float32)
    table[:, :3] = rng.random((count, 3)) * edge
    table[:, 3] = 0.5
    table[:, 4:] = rng.normal(size=(count, 3))
    center, radius, velocity = table[:, :3].copy(), table[:, 3].copy(), table[:, 4:].copy()
    print(f"\nbinding: {count} spheres in float32, dt = 0.05")
    print("threads, detect s, of which outside the stages of the search s (copy of the arrays, packing), columns of the result s, Rust detect s, ratio, pairs")
    for threads in arguments.threads:
        carom.set_threads(threads)
        detector = carom.Detector("cpu")
        detector.detect(center, radius, velocity, 0.05)
        outside = []

        def call():
            began = time.perf_counter()
            hits = detector.detect(center, radius, velocity, 0.05)
            whole = time.perf_counter() - began
            outside.append(whole - sum(hits.statistics["stages"].values()))
            return hits

        seconds, hits = median(call)
        columns, _ = median(lambda: hits._step.found.pairs())
        rust = rust_seconds(table, threads) if arguments.rust_call else float("nan")
        print(f"{threads}, {seconds:.4f}, {np.median(outside):.4f}, {columns:.4f}, {rust:.4f}, {seconds / rust:.3f}, {len(hits)}")


def rust_seconds(table, threads):
    """Returns the time of the same step in Rust, from separate arrays."""
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file, table)
        file.flush()
        command = [arguments.rust_call, "detect", file.name, "0.05", str(threads), str(arguments.repeats)]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def packages(threads, edge, cutoff):
    """Yields the packages and a function of positions that makes a full list of i, j and distances."""
    yield "carom", lambda x: carom.neighbor_list("ijd", x, cutoff, [edge] * 3, backend="cpu")
    try:
        from scipy.spatial import cKDTree

        def of_scipy(x):
            tree = cKDTree(x, boxsize=edge)
            return tree.sparse_distance_matrix(tree, cutoff, output_type="coo_matrix")

        if threads == 1:
            yield "cKDTree", of_scipy
    except ImportError:
        pass
    try:
        import vesin

        lists = vesin.NeighborList(cutoff=cutoff, full_list=True)
        if threads == 1:
            yield "vesin", lambda x: lists.compute(x, np.eye(3) * edge, True, "ijd")
    except ImportError:
        pass
    try:
        import freud

        freud.parallel.set_num_threads(threads)
        box = freud.box.Box.cube(edge)

        def of_freud(x):
            query = freud.locality.AABBQuery(box, x - edge / 2)
            return query.query(x - edge / 2, dict(r_max=cutoff, exclude_ii=True)).toNeighborList()

        yield "freud", of_freud
    except ImportError:
        pass
    try:
        from matscipy.neighbours import neighbour_list

        if threads == 1:
            yield "matscipy", lambda x: neighbour_list("ijd", positions=x, cutoff=cutoff, cell=np.eye(3) * edge, pbc=[True] * 3)
    except ImportError:
        pass


def neighbors():
    print("\nfull lists of i, j and d in a periodic cube, float64")
    print("particles, neighbours, threads, package, s (of processor time with 1 thread), its time over carom's, entries")
    for count in arguments.count:
        for mean in arguments.neighbors:
            edge = count ** (1 / 3)
            cutoff = (mean * 3 / 4 / np.pi) ** (1 / 3)
            x = np.random.default_rng(2).random((count, 3)) * edge
            for threads in arguments.threads:
                carom.set_threads(threads)
                own = None
                for name, call in packages(threads, edge, cutoff):
                    # On one thread, the processor's time does not depend on what other programs do.
                    clock = time.process_time if threads == 1 else time.perf_counter
                    seconds, result = median(lambda: call(x), clock)
                    own = own or seconds
                    entries = result.nnz if name == "cKDTree" else len(result) if name == "freud" else len(result[0])
                    if name == "cKDTree":
                        entries -= count  # each particle with itself
                    print(f"{count}, {mean:g}, {threads}, {name}, {seconds:.4f}, {seconds / own:.2f}, {entries}", flush=True)


if arguments.rust_call:
    binding()
neighbors()
