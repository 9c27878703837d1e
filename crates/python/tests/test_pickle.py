"""Copies and pickles."""

import copy
import pickle

import numpy as np
import pytest

import carom

CELL = carom.Domain([30.0, 31.0, 32.0], origin=[1, 2, 3], periodic=[True, True, False])
MESH = carom.Mesh([[0, 0, 0], [30, 0, 0], [0, 30, 0]], [[0, 1, 2]], velocity=[0, 0, 1.0], groups=carom.groups(2, 4))
WALLS = [carom.Wall.half_space([0, 0, 1], 5), carom.Wall.sphere([9, 9, 9], 4, hollow=True, velocity=[1, 0, 0]), MESH]

PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


def again(value, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(value, protocol))


def same(one, other):
    """Whether two tuples of arrays have the same bytes."""
    return len(one) == len(other) and all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(one, other)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("options", [{}, dict(domain=CELL), dict(walls=WALLS), dict(domain=CELL, walls=[WALLS[0], MESH])])
def test_results(crowd, dtype, options):
    center, radius, velocity = crowd(400, dtype, side=25)
    second = crowd(300, dtype, side=25)
    bodies = np.arange(400) // 2
    for more in ({}, dict(bodies=bodies, groups=3), dict(second=second), dict(groups=np.arange(400, dtype=np.uint32))):
        hits = carom.detect(center, radius, velocity, 0.3, **options, **more)
        given = center.copy()
        center += 1000  # a result does not depend on what becomes of the arrays
        for protocol in PROTOCOLS:
            other = again(hits, protocol)
            assert len(other) == len(hits) > 0 and repr(other) == repr(hits) and other.statistics == hits.statistics
            assert np.array_equal(np.asarray(other), np.asarray(hits)) and other.dtype == hits.dtype and other.dt == hits.dt
            assert len(other.walls) == len(hits.walls) and np.array_equal(np.asarray(other.walls), np.asarray(hits.walls))
            assert not other.toi.flags.writeable and not other.walls.toi.flags.writeable
        assert same(other.points(), hits.points()) and same(other.walls.points(), hits.walls.points())
        assert same(other.earliest(), hits.earliest()) and same(other.contacts(), hits.contacts())
        changes = again(hits).changes_since(hits)
        assert len(changes.began.a) == len(changes.ended.a) == 0 and same(changes.lasted, hits.changes_since(hits).lasted)
        assert np.array_equal(np.asarray(again(hits.walls)), np.asarray(hits.walls))
        assert same(again(hits.walls).points(), hits.walls.points())
        assert copy.copy(hits) is copy.deepcopy(hits) is hits and copy.deepcopy(hits.walls) is hits.walls
        twice = again(again(hits))
        assert np.array_equal(np.asarray(twice), np.asarray(hits)) and same(twice.points(), hits.points())
        center[:] = given
    if "walls" in options:
        assert len(hits.walls)


def test_worlds():
    for protocol in PROTOCOLS:
        assert again(CELL, protocol) == CELL == copy.deepcopy(CELL) == copy.copy(CELL)
        for wall in WALLS[:2]:
            assert again(wall, protocol) == wall == copy.deepcopy(wall) == copy.copy(wall)
        for mesh in (again(MESH, protocol), copy.copy(MESH), copy.deepcopy(MESH)):
            assert same((mesh.vertices, mesh.triangles), (MESH.vertices, MESH.triangles))
            assert mesh.velocity == MESH.velocity and mesh.groups == MESH.groups == 2 + (4 << 16)


def test_small_results(crowd):
    center, radius, velocity = crowd(100)
    hits = carom.detect(center, radius, velocity, 0.3)
    for value in (hits.points(), hits.earliest(), hits.contacts(), hits.changes_since(hits).lasted):
        assert type(again(value)) is type(value) and same(again(value), value) and same(copy.deepcopy(value), value)
    check = carom.verify(hits, center, radius, velocity, 0.3)
    assert again(check).passed and repr(again(check)) == repr(check)
    simulation = carom.Simulation([[0, 0, 0], [3, 0, 0]], 0.5, [[2, 0, 0], [0, 0, 0]], impacts=True)
    report = again(simulation.step(2.0))
    assert report.sphere_impacts == 1 and report.impacts["time"].tolist() == [1.0]


def test_detectors(crowd):
    given = crowd(200)
    for detector in (carom.Detector("cpu", max_pairs=10), carom.Detector("auto"), carom.Detector("cpu")):
        for other in (copy.copy(detector), copy.deepcopy(detector), again(detector)):
            assert other is not detector and other._native is not detector._native and repr(other) == repr(detector)
            if detector._options[2] is None:
                assert np.array_equal(np.asarray(other.detect(*given, 0.2)), np.asarray(detector.detect(*given, 0.2)))
            else:
                with pytest.raises(carom.Error, match="max_pairs"):
                    other.detect(*given, 0.2)


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, pickle.dumps, lambda value: pickle.dumps(value, 0)])
def test_what_cannot_be_copied_says_what_to_do(make):
    neighbors = carom.NeighborList(1.0)
    neighbors.update([[0, 0, 0]])
    with pytest.raises(TypeError, match="pass its arrays on"):
        make(neighbors)


def test_wrong_attributes():
    simulation = carom.Simulation([[0, 0, 0]], 0.5)
    hits = carom.detect([[0, 0, 0]], 0.5)
    for value in (simulation, hits, hits.walls, carom.Detector("cpu"), carom.NeighborList(1.0), MESH, CELL, WALLS[0]):
        with pytest.raises(AttributeError):
            value.centre = 1


def test_what_cannot_be_written(crowd):
    center, radius, velocity = crowd(300, side=20)
    hits = carom.detect(center, radius, velocity, 0.3, domain=carom.Domain(20.0))
    simulation = carom.Simulation(center[:5], 0.01)
    neighbors = carom.NeighborList(1.0)
    neighbors.update(center, 20.0)
    frozen = [hits.a, hits.toi, hits.image, carom.detect(center, radius).image]
    frozen += [simulation.center, simulation.mass, neighbors.i, neighbors.D, neighbors.S]
    frozen += [CELL.edges, CELL.origin, MESH.vertices, MESH.triangles]
    for array in frozen:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    for array in (*hits.points(), *hits.earliest(), *hits.contacts(), carom.neighbor_list("i", center, 1.0), simulation.unwrapped):
        array[:] = 0  # the caller's own
