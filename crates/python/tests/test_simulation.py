"""Simulations of hard spheres."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import carom


def test_two_balls():
    simulation = carom.Simulation([[0, 0, 0], [3, 0, 0]], 0.5, [[2, 0, 0], [0, 0, 0]], impacts=True)
    report = simulation.step(2.0)
    assert (report.sphere_impacts, report.wall_impacts, report.completed) == (1, 0, True)
    assert simulation.velocity.tolist() == [[0, 0, 0], [2, 0, 0]]
    assert np.allclose(simulation.center, [[2, 0, 0], [5, 0, 0]], rtol=0, atol=1e-14)
    assert simulation.time == 2.0 and simulation.kinetic_energy == report.kinetic_energy == 2.0
    impact = report.impacts[0]
    assert (impact["time"], impact["sphere"], impact["partner"], impact["at_wall"]) == (1.0, 0, 1, False)
    assert impact["point"].tolist() == [2.5, 0, 0] and impact["normal"].tolist() == [1, 0, 0]
    assert impact["impulse"].tolist() == [2, 0, 0] and impact["image"].tolist() == [0, 0, 0]
    assert report.virial == 2.0 and "1 impacts of spheres" in repr(report)
    assert repr(simulation) == "<carom.Simulation: 2 spheres at time 2>" and len(simulation) == 2


def test_walls_gravity_and_masses():
    box = carom.Wall.inside_box([0, 0, 0], [10, 10, 10])
    simulation = carom.Simulation([[2, 5, 5], [7, 5, 5]], 1.0, [[6, 0, 0], [0, 0, 0]], [1.0, 2.0], walls=box, impacts=True)
    report = simulation.step(0.75)
    assert report.impacts["time"][0] == 0.5 and report.impacts["impulse"][0].tolist() == [8, 0, 0]
    assert simulation.velocity[:, 0].tolist() == [-2, 4]
    report = simulation.step(1.0)
    assert report.wall_impulses.shape == (6, 3)
    assert report.wall_impulses[1].tolist() == [2 * 4 * 2, 0, 0]
    at_wall = report.impacts[report.impacts["at_wall"]]
    assert at_wall["sphere"][0] == 1 and at_wall["partner"][0] == 1
    ball = carom.Simulation([[0, 0, 5]], 1.0, gravity=[0, 0, -10], walls=carom.Wall.half_space([0, 0, 1], 0), restitution=0.5, wall_restitution=0.5, contact_time=1e-3)
    ball.run(20.0, dt=1.0)
    assert abs(ball.center[0, 2] - 1) < 1e-6 and abs(ball.velocity[0, 2]) < 1e-6


def gas(count=300, **options):
    """Returns a gas in a periodic box. Its total momentum is 0."""
    rng = np.random.default_rng(4)
    side = int(np.ceil(count ** (1 / 3)))
    lattice = np.stack(np.meshgrid(*[np.arange(side)] * 3), axis=-1).reshape(-1, 3)[:count] * 1.5 + 0.75
    velocity = rng.normal(size=(count, 3))
    velocity -= velocity.mean(axis=0)
    return carom.Simulation(lattice, 0.5, velocity, domain=carom.Domain([1.5 * side] * 3), **options)


def test_conservation_and_the_same_bytes():
    states = []
    threads = carom.threads()
    for count in (1, 2, 3):
        carom.set_threads(count)
        assert carom.threads() == count
        simulation = gas()
        before = simulation.kinetic_energy
        reports = simulation.run(3.0)
        assert len(reports) == 100 and simulation.time == pytest.approx(3.0, abs=1e-14)
        assert sum(report.sphere_impacts for report in reports) > 500
        assert simulation.kinetic_energy == pytest.approx(before, rel=1e-12)
        assert np.allclose(simulation.velocity.sum(axis=0), 0, atol=1e-11)
        states.append(simulation.center.tobytes() + simulation.velocity.tobytes())
    carom.set_threads(threads)
    assert len(set(states)) == 1
    unwrapped = simulation.unwrapped
    edge = simulation.domain.edges[0, 0]
    assert np.allclose((unwrapped - simulation.center + edge / 2) % edge, edge / 2) and np.ptp(unwrapped) > edge


def test_same_bytes_as_rust(rust_call, tmp_path):
    simulation = gas(500)
    edge = simulation.domain.edges[0, 0]
    table = np.column_stack([simulation.center, simulation.radius, simulation.velocity])
    np.save(tmp_path / "gas.npy", table)
    rust_call("simulate", tmp_path / "gas.npy", edge, 20, 0.05, tmp_path / "out")
    for _ in range(20):
        simulation.step(0.05)
    assert np.column_stack([simulation.center, simulation.velocity]).tobytes() == (tmp_path / "out").read_bytes()


def test_state_arrays():
    simulation = gas()
    center = simulation.center
    assert simulation.center.base is center.base is simulation.velocity.base  # one copy for a step
    assert not center.flags.writeable and not simulation.mass.flags.writeable
    with pytest.raises(ValueError):
        center[0] = 0
    old = center.copy()
    simulation.step(0.1)
    assert np.array_equal(center, old) and not np.array_equal(simulation.center, old)
    simulation.velocity = simulation.velocity * 2
    simulation.mass = 3.0
    simulation.radius = np.full(300, 0.25)
    simulation.center = old
    assert (simulation.mass == 3).all() and (simulation.radius == 0.25).all() and np.allclose(simulation.center, old)
    for name, value, text in [
        ("mass", 0.0, "mass"),
        ("center", np.full((300, 3), np.nan), "center.x"),
        ("center", np.zeros((2, 3)), "2 rows"),
        ("velocity", np.zeros((2, 3)), "2 rows"),
        ("radius", [1, 2], r"\(300,\)"),
    ]:
        with pytest.raises(ValueError, match=text):
            setattr(simulation, name, value)
    assert (simulation.mass == 3).all() and np.allclose(simulation.center, old)


def test_rules():
    given = dict(center=[[0, 0, 0], [3, 0, 0]], radius=0.5, velocity=[[2, 0, 0], [0, 0, 0]])
    met = []

    def swallow(encounter):
        met.append(encounter)
        return encounter.velocities[0], "remove"

    simulation = carom.Simulation(**given, impacts=True)
    report = simulation.step(2.0, swallow)
    assert simulation.removed.tolist() == [False, True] and simulation.center[0, 0] == 4.0
    assert report.removed["time"].tolist() == [1.0] and report.removed["sphere"].tolist() == [1]
    assert report.removed["velocity"].tolist() == [[0, 0, 0]]
    assert met[0].sphere == 0 and met[0].partner == 1 and not met[0].at_wall and met[0].approach_speed == 2
    simulation.restore(1, [9, 0, 0], [1, 0, 0])
    assert simulation.removed.tolist() == [False, False] and simulation.center[1].tolist() == [9, 0, 0]
    with pytest.raises(ValueError, match="not removed"):
        simulation.restore(1, [9, 0, 0])
    with pytest.raises(ValueError, match="no sphere 7"):
        simulation.restore(7, [9, 0, 0])
    for answer, moved in [("ignore", [4, 3]), (None, [2, 5]), ("bounce", [2, 5]), (([0, 0, 0], [0, 4, 0]), [2, 3])]:
        simulation = carom.Simulation(**given)
        simulation.step(2.0, lambda encounter, answer=answer: answer)
        assert np.allclose(simulation.center[:, 0], moved, rtol=0, atol=1e-14)
    for answer, error in [("explode", ValueError), (("remove",), TypeError), (("remove", "me"), TypeError), (7, ValueError), (False, TypeError), ([1, 2, 3], TypeError)]:
        with pytest.raises(error):
            carom.Simulation(**given).step(2.0, lambda encounter, answer=answer: answer)

    with pytest.raises(ValueError, match=r"the rule gives it the velocity \[NaN"):
        carom.Simulation(**given).step(2.0, lambda encounter: ([np.nan, 0, 0], [0, 0, 0]))
    simulation = carom.Simulation(**given)
    simulation.step(2.0, lambda encounter: [[0, 0, 0], [0, 4, 0]])  # a list of two outcomes, too
    assert simulation.velocity.tolist() == [[0, 0, 0], [0, 4, 0]]

    def fails(encounter):
        raise ZeroDivisionError("mine")

    simulation = carom.Simulation(**given)
    with pytest.raises(ZeroDivisionError, match="mine"):
        simulation.step(2.0, fails)
    assert simulation.step(0.5).completed


def test_run(capsys):
    simulation = gas(50)
    seen = []
    reports = simulation.run(1.0, dt=0.3, callback=lambda s, r: seen.append((s.time, r.sphere_impacts)), progress=True)
    assert len(reports) == len(seen) == 4 and seen[-1][0] == simulation.time == 1.0
    assert "time 1 of 1 (100%)" in capsys.readouterr().err
    reports = simulation.run(1.0, dt=0.25, callback=lambda s, r: s.time < 1.5)
    assert len(reports) == 2 and simulation.time == pytest.approx(1.5)
    assert simulation.run(0.0) == []
    for time_, dt in [(np.inf, None), (-1, None), (1, 0), (1, -1), (np.nan, 1), (1, np.inf), (1, np.nan), (0, -1), (0, np.nan), (1e300, 1e-300), (1, 1e-300), (1e-323, None)]:
        with pytest.raises(ValueError):
            simulation.run(time_, dt=dt)
    simulation.run(1.0, dt=0.25, callback=lambda s, r: s.center[0, 0] > np.inf)  # False of NumPy
    assert simulation.time == pytest.approx(1.75)
    assert len(simulation.run(1.0, dt=0.25, callback=lambda s, r: 0)) == 4
    assert str(carom.Simulation(np.zeros((0, 3)), 1.0).kinetic_energy) == "0.0"
    limited = gas(50, max_step_impacts=3)
    reports = limited.run(1000.0)
    assert len(reports) == 1 and not reports[0].completed and "not completed" in repr(reports[0])


def test_errors():
    for arguments, text in [
        (dict(center=[[0, 0, 0]], radius=-1), "radius"),
        (dict(center=[[0, 0, 0]], radius=1, mass=0), "mass"),
        (dict(center=[[0, 0, 0]], radius=1, restitution=2), "restitution"),
        (dict(center=[[0, 0, 0]], radius=1, gravity=[0, 0, np.nan]), "gravity"),
        (dict(center=[[0, 0, 0]], radius=1, groups=[1, 2]), "groups"),
        (dict(center=[[0, 0, 0]], radius=1, max_impacts=0), "impacts"),
        (dict(center=[[0, 0, 0]], radius=1, velocity=[[1, 2, 3], [1, 2, 3]]), "velocity"),
    ]:
        with pytest.raises(ValueError, match=text):
            carom.Simulation(**arguments)
    simulation = carom.Simulation([[0, 0, 0], [0.5, 0, 0]], 1.0)
    for duration in (-1, np.nan, np.inf):
        with pytest.raises(ValueError, match="duration"):
            simulation.step(duration)
    with pytest.raises(ValueError, match="duration"):
        simulation.step("long")
    assert simulation.separate() == 1 or simulation.separate() == 0
    assert np.linalg.norm(simulation.center[1] - simulation.center[0]) >= 2 - 1e-8
    crowded = carom.Simulation(np.zeros((9, 3)) + np.arange(9)[:, None] * 0.01, 1.0, domain=carom.Domain([2, 2, 2]))
    with pytest.raises(carom.Error, match="still overlap"):
        crowded.separate(3)
    pressed = carom.Simulation([[0, 0, 2]], 1.0, gravity=[0, 0, -10], walls=carom.Wall.half_space([0, 0, 1], 0), wall_restitution=0.5)
    with pytest.raises(carom.Error, match="contact_time of carom.Simulation"):
        pressed.step(10.0)


def test_groups_and_bodies():
    given = dict(center=[[0, 0, 0], [3, 0, 0]], radius=0.5, velocity=[[2, 0, 0], [0, 0, 0]])
    for options in (dict(groups=carom.groups(1, 1)), dict(bodies=[4, 4]), dict(bodies=4), dict(groups=[1, 0x10000])):
        assert carom.Simulation(**given, **options).step(2.0).sphere_impacts == 0
    for options in (dict(bodies=[4, 5]), dict(bodies=-1), dict(groups=[1, 2])):
        assert carom.Simulation(**given, **options).step(2.0).sphere_impacts == 1


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_interrupt():
    simulation = gas(2000)
    energy = simulation.kinetic_energy
    # A program in the background may have been told to ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    killer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    began = time.monotonic()
    killer.start()
    with pytest.raises(KeyboardInterrupt):
        simulation.step(1e5)  # would take hours
    assert time.monotonic() - began < 20
    assert 0 < simulation.time < 1e5
    assert simulation.kinetic_energy == pytest.approx(energy, rel=1e-9)
    assert np.isfinite(simulation.center).all()
    assert simulation.step(0.01).completed
