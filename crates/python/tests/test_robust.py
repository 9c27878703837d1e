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


def child(text, arguments=(), **environment):
    """Runs a program in an interpreter of its own."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        # From 3.12, Python warns of each fork of a process with threads.
        env={**os.environ, "PYTHONWARNINGS": "ignore::DeprecationWarning", **environment},
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
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
    for wrong in ("1000000", "9" * 40):
        out = child(
            """
            import carom
            try:
                carom.detect([[0, 0, 0]], 1.0)
            except carom.Error as error:
                print(error)
            carom.set_threads(2)
            print(carom.threads(), len(carom.detect([[0, 0, 0], [1, 0, 0]], 1.0)))
            """,
            RAYON_NUM_THREADS=wrong,
        )
        assert out.startswith(f"RAYON_NUM_THREADS is {wrong}, but must be at most") and out.endswith("2 1\n")
    for threads in (0, -1, 100_000, 2**70, -(2**70)):
        with pytest.raises(ValueError, match=f"number of threads is {threads}, but must be from 1 to"):
            carom.set_threads(threads)


@pytest.mark.parametrize("threads", [1, 2])
def test_calls_from_a_rule_fail_at_once(threads):
    """They may work or fail, but not wait for ever."""
    out = child(
        """
        import sys
        import numpy as np
        import carom
        carom.set_threads(int(sys.argv[1]))
        def balls():
            return carom.Simulation([[0, 0, 0], [3, 0, 0]], 0.5, [[2, 0, 0], [0, 0, 0]])
        center = np.random.default_rng(1).random((3000, 3)) * 20
        simulation, other = balls(), balls()
        detector = carom.Detector("cpu")
        hits = detector.detect(center, 0.5)
        neighbors = carom.NeighborList(1.0)
        neighbors.update(center)
        cell = carom.Domain(20.0)
        mesh = carom.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
        calls = [
            lambda: simulation.time,
            lambda: simulation.kinetic_energy,
            lambda: simulation.center,
            lambda: simulation.removed,
            lambda: repr(simulation),
            lambda: simulation.step(1.0),
            lambda: simulation.run(1.0),
            lambda: setattr(simulation, "radius", 0.1),
            lambda: simulation.separate(),
            lambda: other.time,
            lambda: other.step(2.0),
            lambda: balls(),
            lambda: detector.detect(center, 0.5),
            lambda: carom.detect(center, 0.5),
            lambda: carom.detect(center, 0.5, backend="cpu"),
            lambda: carom.Detector("cpu").detect(center, 0.5),
            lambda: hits.earliest(),
            lambda: hits.points(),
            lambda: neighbors.update(center),
            lambda: neighbors.i,
            lambda: len(neighbors),
            lambda: carom.neighbor_list("ij", center, 1.0),
            lambda: carom.verify(([0], [1], [0.0], [0.0]), [[0, 0, 0], [1, 0, 0]], 1.0),
            lambda: carom.set_threads(2),
            lambda: carom.Domain(3.0),
            lambda: carom.Wall.half_space([0, 0, 1], 0),
        ]
        harmless = [lambda: carom.threads(), lambda: len(simulation), lambda: len(hits), lambda: hits.dt, lambda: mesh.vertices, lambda: cell.edges]
        for call in calls:
            simulation, other = balls(), balls()
            try:
                simulation.step(2.0, lambda encounter: (call(), None)[1])
            except carom.Error as error:
                assert "from a rule" in str(error), error
            else:
                raise SystemExit(f"{calls.index(call)} said nothing")
            # The step ended after its substep, in a valid state, and all can be used again.
            assert simulation.time > 0 and simulation.step(0.5).completed and other.step(2.0).sphere_impacts == 1
            assert len(detector.detect(center, 0.5)) == len(hits) and carom.threads() == int(sys.argv[1])
        for call in harmless:
            simulation = balls()
            assert simulation.step(2.0, lambda encounter: (call(), None)[1]).sphere_impacts == 1
        # A callback may do all that.
        simulation = balls()
        simulation.run(2.0, dt=1.0, callback=lambda s, report: (s.time, s.center, other.step(0.1), carom.detect(center, 0.5)))
        print("done")
        """,
        arguments=(threads,),
    )
    assert out.strip() == "done"


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_handlers_of_signals_during_a_step():
    out = child(
        """
        import signal, time
        import numpy as np
        import carom
        rng = np.random.default_rng(1)
        lattice = np.stack(np.meshgrid(*[np.arange(12)] * 3), axis=-1).reshape(-1, 3) * 1.5
        simulation = carom.Simulation(lattice, 0.5, rng.normal(size=lattice.shape), domain=carom.Domain(18.0))
        seen = []
        signal.signal(signal.SIGALRM, lambda *what: seen.append(what))
        signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
        def until(handler, error, text):
            signal.signal(signal.SIGALRM, handler)
            began = time.monotonic()
            try:
                simulation.step(1e5)
            except error as raised:
                assert text in str(raised), raised
            assert time.monotonic() - began < 60 and simulation.time < 1e5
        def patient(*what):
            seen.append(what)
            if len(seen) == 3:
                raise ZeroDivisionError("mine")
        until(patient, ZeroDivisionError, "mine")
        assert len(seen) >= 3
        until(lambda *what: simulation.time, carom.Error, "from the handler of a signal")
        until(lambda *what: carom.detect(lattice, 0.5), carom.Error, "from the handler of a signal")
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert simulation.step(0.01).completed
        print("done")
        """
    )
    assert out.strip() == "done"


@pytest.mark.skipif(not LINUX, reason="forks")
@pytest.mark.parametrize("threads", [1, 3])
def test_a_child_can_do_everything(threads):
    """Arrays are made by threads that a child lacks, if they are not those of carom's own pool."""
    out = child(
        """
        import multiprocessing, sys
        import numpy as np
        import carom
        carom.set_threads(int(sys.argv[1]))
        def work(seed):
            rng = np.random.default_rng(seed)
            center = rng.random((40_000, 3)) * 40
            plane = carom.Wall.half_space([0, 0, 1], 10)
            hits = carom.detect(center, 0.6, -center, 0.1, domain=carom.Domain(40.0, periodic=[True, True, False]), walls=plane, backend="cpu")
            assert len(hits) > 60_000
            sums = [len(hits), hits.points().point.sum(), hits.walls.points().normal.sum(), hits.earliest().partner.sum()]
            sums += [hits.contacts().indices.sum(), hits.changes_since(hits).lasted.a.sum()]
            few = carom.detect(center[:1000], 5.0)
            sums += [carom.verify(few, center[:1000], 5.0).touching, carom.verify(few, center[:1000] + 50, 0.1).invented.a.sum()]
            mesh = carom.Mesh(center, np.add.outer(np.arange(39_998), np.arange(3)))
            sums += [mesh.vertices.sum(), mesh.triangles.sum()]
            sums += [column.sum() for column in carom.neighbor_list("ijdDS", center, 1.0, 40.0, backend="cpu")]
            lattice = np.stack(np.meshgrid(*[np.arange(20)] * 3), axis=-1).reshape(-1, 3) * 1.5
            gas = carom.Simulation(lattice, 0.5, rng.normal(size=lattice.shape), domain=carom.Domain(30.0), impacts=True)
            report = gas.step(3.0)
            assert len(report.impacts) > 17_000
            return [*map(float, sums), report.impacts["time"].sum(), gas.unwrapped.sum(), gas.center.sum()]
        expected = work(1)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(work, [1, 1]) == [expected] * 2
        print("done")
        """,
        arguments=(threads,),
    )
    assert out.strip() == "done"


@pytest.mark.parametrize("rule", ["lambda e: None", "None"])
def test_the_end_of_the_interpreter_during_a_step(rule):
    """A daemon thread steps when the program ends."""
    for _ in range(4):
        out = child(
            f"""
            import threading, time
            import numpy as np
            import carom
            lattice = np.stack(np.meshgrid(*[np.arange(10)] * 3), axis=-1).reshape(-1, 3) * 1.5
            velocity = np.random.default_rng(1).normal(size=lattice.shape)
            gas = carom.Simulation(lattice, 0.5, velocity, domain=carom.Domain(15.0))
            def work():
                while True:
                    gas.step(50.0, {rule})
            threading.Thread(target=work, daemon=True).start()
            time.sleep(0.4)
            print("done")
            """
        )
        assert out.strip() == "done"


@pytest.mark.skipif(not LINUX, reason="for Mesa")
def test_nothing_is_printed_when_a_gpu_is_looked_for():
    names = ("XDG_RUNTIME_DIR", "NODEVICE_SELECT")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    text = """
        import os, carom
        before = dict(os.environ)
        carom.detect([[0, 0, 0]], 1.0), carom.neighbor_list("i", [[0, 0, 0]], 1.0), carom.Detector()
        assert dict(os.environ) == before
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_list_is_that_of_its_last_update():
    """Threads read the columns while another one updates the list."""
    worlds = [np.arange(3 * count).reshape(-1, 3) * 0.3 for count in (200, 333)]
    expected = []
    for world in worlds:
        neighbors = carom.NeighborList(1.0, backend="cpu")
        neighbors.update(world)
        expected.append(neighbors.get("ijd"))
    stop = threading.Event()
    mixed = []

    def read():
        while not stop.is_set():
            columns = neighbors.get("ijd")
            if not any(all(map(np.array_equal, columns, of)) for of in expected):
                mixed.append([len(column) for column in columns])
            len(neighbors.i)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    stale = 0
    for k in range(300):
        neighbors.update(worlds[k % 2])
        stale += not np.array_equal(neighbors.i, expected[k % 2][0])
    stop.set()
    for thread in threads:
        thread.join()
    assert not stale and not mixed


def test_an_edit_keeps_the_steps_of_other_threads():
    simulation = carom.Simulation([[0, 0, 0]], 0.25, [[1, 0, 0]])
    stop = threading.Event()
    edits = []

    def edit():
        while not stop.is_set():
            simulation.radius = 0.5
            simulation.mass = [2.0]
            edits.append(simulation.center[0, 0])

    thread = threading.Thread(target=edit)
    thread.start()
    for _ in range(400):
        simulation.step(0.125)
        assert simulation.center[0, 0] == simulation.time  # the numbers are exact
    stop.set()
    thread.join()
    assert simulation.time == 50 and len(edits) > 5 and simulation.radius[0] == 0.5 and simulation.mass[0] == 2


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
