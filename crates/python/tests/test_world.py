"""Domains and walls."""

import pickle

import numpy as np
import pytest

import carom


def test_domain():
    domain = carom.Domain([10, 20, 30], origin=[1, 2, 3], periodic=[True, False, True])
    assert domain.edges.tolist() == [[10, 0, 0], [0, 20, 0], [0, 0, 30]]
    assert domain.origin.tolist() == [1, 2, 3] and domain.periodic == (True, False, True)
    assert domain.volume == pytest.approx(6000)
    assert domain.displacement([[1, 5, -1]]).tolist() == [[10, 0, -30]]
    assert repr(domain) == "Domain([10.0, 20.0, 30.0], origin=[1.0, 2.0, 3.0], periodic=(True, False, True))"
    assert eval(repr(domain), {"Domain": carom.Domain}) == domain == pickle.loads(pickle.dumps(domain))
    assert hash(domain) == hash(pickle.loads(pickle.dumps(domain))) and domain != carom.Domain([10, 20, 30])
    assert not domain.edges.flags.writeable
    assert carom.Domain(np.eye(3) * 2) == carom.Domain(2) == carom.Domain([2, 2, 2, 90, 90, 90])
    assert carom.Domain([1, 1, 1], periodic=False).periodic == (False, False, False)
    skewed = carom.Domain([3, 4, 5, 80, 70, 60])
    a, b, c = skewed.edges
    cosine = lambda x, y: x @ y / np.linalg.norm(x) / np.linalg.norm(y)
    angles = np.degrees(np.arccos([cosine(b, c), cosine(a, c), cosine(a, b)]))
    assert np.allclose(angles, [80, 70, 60]) and np.allclose(np.linalg.norm(skewed.edges, axis=1), [3, 4, 5])
    assert eval(repr(skewed), {"Domain": carom.Domain}) == skewed


def test_angles_are_those_of_ase():
    cell = pytest.importorskip("ase.cell").Cell
    for parameters in ([3, 4, 5, 80, 70, 60], [1, 2, 3, 120, 90, 100], [2, 2, 2, 60, 60, 60]):
        assert np.allclose(carom.Domain(parameters).edges, cell.new(parameters)[:])


def test_walls():
    walls = [
        carom.Wall.half_space([0, 0, 1], 2.5),
        carom.Wall.sphere([1, 2, 3], 4, hollow=True, velocity=[1, 0, 0]),
        carom.Wall.cylinder([1, 2, 3], [0, 0, 1], 2, groups=3),
    ]
    for wall in walls:
        assert eval(repr(wall), {"Wall": carom.Wall}) == wall and hash(wall) == hash(eval(repr(wall), {"Wall": carom.Wall}))
    assert len(set(walls)) == 3
    assert carom.Wall.inside_box([1, 1, 1], [0, 0, 0]) == carom.Wall.inside_box([0, 0, 0], [1, 1, 1])
    assert isinstance(carom.groups(1, 2), int) and carom.groups(1, 2) == 0x20001
