"""Threads, forks, memory, and numbers that cannot be."""

import multiprocessing
import os
import pathlib
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import carom

LINUX = sys.platform == "linux"


def spheres(count, seed=1, dtype=np.float32):
    rng = np.random.default_rng(seed)
    side = 2.2 * count ** (1 / 3)
    return [
        (rng.random((count, 3)) * side).astype(dtype),
        np.full(count, 0.5, dtype),
        rng.normal(size=(count, 3)).astype(dtype),
    ]


def test_threads_in_parallel(backend):
    inputs = [spheres(3000 + 100 * k, k, (np.float32, np.float64)[k % 2]) for k in range(6)]
    expected = [np.asarray(carom.detect(*given, 0.1, backend="cpu")) for given in inputs]
    shared = carom.Detector(backend)
    neighbors = carom.NeighborList(1.5, backend="cpu")
    wrong = []

    def work(k):
        for _ in range(4 if backend == "gpu" else 15):
            for find in (shared.detect, lambda *given: carom.detect(*given, backend=backend)):
                if not np.array_equal(np.asarray(find(*inputs[k], 0.1)), expected[k]):
                    wrong.append(k)
            neighbors.update(inputs[k][0])
            len(neighbors)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_search_runs_without_the_gil():
    given = spheres(300_000)
    counted = []
    stop = threading.Event()

    def count():
        while not stop.is_set():
            counted.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    began = time.perf_counter()
    for _ in range(3):
        carom.detect(*given, 0.1, backend="cpu")
    ended = time.perf_counter()
    stop.set()
    thread.join()
    during = [moment for moment in counted if began < moment < ended]
    longest = np.diff([began, *during, ended]).max()
    assert len(during) > 10 and longest < 0.5 * (ended - began)


@pytest.mark.skipif(not LINUX, reason="reads /proc")
def test_no_growth_of_memory():
    def resident():
        for line in pathlib.Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1])

    given = spheres(2000)
    cell = carom.Domain([30, 30, 30], periodic=[True, True, False])
    detector = carom.Detector("cpu")
    mesh = carom.Mesh([[0, 0, 0], [9, 0, 0], [0, 9, 0]], [[0, 1, 2]])
    simulation = carom.Simulation(given[0], 0.1, given[2], impacts=True)

    def calls(times):
        for k in range(times):
            hits = detector.detect(*given, 0.1, domain=cell, walls=[mesh, carom.Wall.half_space([0, 0, 1], 5)])
            hits.points(), hits.earliest(), hits.contacts(), hits.walls.points(), np.asarray(hits), hits.statistics
            carom.detect(*given, 0.1)
            carom.neighbor_list("ijdDS", given[0], 1.5, cell)
            with pytest.raises(ValueError):
                carom.detect(given[0], -1.0)
            if k % 10 == 0:
                simulation.step(0.001)
                simulation.center

    calls(100)
    before = resident()
    calls(1000)
    assert resident() - before < 4096, "KiB"


def test_huge_counts():
    row = np.broadcast_to(np.float32(0), (2**31, 3))
    for call in (
        lambda: carom.detect(row, 1.0),
        lambda: carom.detect([[0, 0, 0]], 1.0, second=(row, 1.0)),
        lambda: carom.neighbor_list("i", row, 1.0),
        lambda: carom.Simulation(np.broadcast_to(0.0, (2**31, 3)), 1.0),
    ):
        with pytest.raises(carom.Error, match="2147483648 spheres exceed the limit"):
            call()
    with pytest.raises(carom.Error, match="pairs"):
        carom.Detector("cpu", max_pairs=1000).detect(np.zeros((100, 3)), 1.0)


def child(text, **environment):
    """Runs a program in an interpreter of its own."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not LINUX, reason="forks")
def test_a_child_has_threads_of_its_own():
    out = child(
        """
        import multiprocessing, threading, time
        import numpy as np
        import carom
        rng = np.random.default_rng(1)
        center = rng.random((20_000, 3)) * 50
        detector = carom.Detector("cpu")
        expected = len(detector.detect(center, 0.5))
        stop = threading.Event()
        def busy():
            while not stop.is_set():
                detector.detect(center, 0.5)
        thread = threading.Thread(target=busy)
        thread.start()
        def work(k):
            try:
                shared = len(detector.detect(center, 0.5))
            except carom.Error as error:
                assert "was forked" in str(error), error
                shared = expected
            return len(carom.detect(center, 0.5)), shared, carom.threads()
        for _ in range(3):
            with multiprocessing.get_context("fork").Pool(2) as pool:
                for found, shared, threads in pool.map(work, range(4)):
                    assert found == shared == expected and threads == carom.threads()
        stop.set()
        thread.join()
        print("done")
        """
    )
    assert out.strip() == "done"


@pytest.mark.skipif(not LINUX, reason="forks")
def test_fork_after_a_gpu_was_used(backend):
    if backend == "cpu":
        pytest.skip("for a GPU")
    out = child(
        """
        import os, sys
        import numpy as np
        import carom
        center = np.zeros((50, 3))
        detector = carom.Detector("gpu")
        expected = len(detector.detect(center, 1.0))
        carom.detect(center, 1.0, backend="gpu")
        neighbors = carom.NeighborList(1.0, backend="gpu")
        neighbors.update(center)
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            calls = [
                lambda: detector.detect(center, 1.0),
                lambda: carom.detect(center, 1.0, backend="gpu"),
                lambda: carom.Detector("gpu"),
                lambda: neighbors.update(center, anew=True),
            ]
            for call in calls:
                try:
                    call()
                except carom.Error as error:
                    assert 'backend="cpu"' in str(error) and "spawn" in str(error), error
                else:
                    os._exit(3)
            hits = carom.detect(center, 1.0)
            assert len(hits) == expected and "forked" in hits.statistics["reason"]
            del detector, neighbors
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        assert status == 0, status
        assert len(detector.detect(center, 1.0)) == expected
        print("done")
        """
    )
    assert out.strip() == "done"


def _count(center):
    return len(carom.detect(center, 0.5))


def test_spawned_processes():
    center = np.random.default_rng(1).random((1000, 3)) * 15
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(_count, [center] * 4) == [_count(center)] * 4


def test_no_threads_from_the_environment():
    assert child("import carom; print(carom.threads())", RAYON_NUM_THREADS="3").strip() == "3"


def test_simulation_is_used_by_one_thread_at_a_time():
    center, radius, velocity = spheres(500)
    simulation = carom.Simulation(center, 0.1, velocity)
    threads = [threading.Thread(target=lambda: [simulation.step(0.001) for _ in range(20)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert simulation.time == pytest.approx(0.08)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_bits(dtype):
    """Arrays of any bits lead to a list or a ValueError, never to a crash."""
    rng = np.random.default_rng(9)
    size = np.dtype(dtype).itemsize
    good = 0
    for _ in range(300):
        count = int(rng.integers(0, 12))
        bits = rng.integers(0, 256, (7, count, size), np.uint8)
        bits[rng.random((7, count)) < 0.97] = 0
        values = bits.reshape(-1).view(dtype).reshape(7, count)
        try:
            with np.errstate(all="ignore"):
                hits = carom.detect(values[:3].T, abs(values[3]), values[4:].T, 1.0)
            good += 1
            assert (hits.toi >= 0).all() and (hits.toi <= 1).all()
        except (ValueError, carom.Error):
            pass
    assert 20 < good < 290
