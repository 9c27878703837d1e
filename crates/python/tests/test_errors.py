"""Errors say what is wrong, and what to do, in Python's terms."""

import pathlib
import re

import numpy as np
import pytest

import carom

GOOD = np.zeros((2, 3))
CELL = carom.Domain([9, 9, 9])


class Gpu:
    """An array of another library whose memory is that of a GPU."""

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **options):
        raise BufferError("no copy to the CPU")


@pytest.mark.parametrize(
    "arguments, text",
    [
        (([[0, 0]], 1.0), r"center has the shape \(1, 2\).*z = 0"),
        (([0, 0, 0], 1.0), r"center has the shape \(3,\)"),
        ((np.zeros((2, 2, 3)), 1.0), r"center has the shape \(2, 2, 3\)"),
        (([[0, 0, 0], [0, 0]], 1.0), "center cannot be read as an array"),
        (([["a", "b", "c"]], 1.0), "center has the dtype"),
        ((GOOD.astype(complex), 1.0), "real part"),
        ((GOOD.astype(object), 1.0), "center has the dtype object"),
        ((GOOD.astype(np.longdouble), 1.0), r"\.astype\(np\.float64\)"),
        ((None, 1.0), "center has the dtype object"),
        ((GOOD, [1, 2, 3]), r"radius has the shape \(3,\).*\(2,\)"),
        ((GOOD, -1.0), "sphere 0: radius is -1.0"),
        ((GOOD, [1, np.nan]), "sphere 1: radius is NaN"),
        ((GOOD, np.inf), "radius is inf"),
        ((GOOD, "wide"), "radius has the dtype"),
        (([[0, 0, 0], [0, np.nan, 0]], 1.0), "sphere 1: center.y is NaN"),
        ((np.array([[0, 0, 1e30]], np.float32), 1.0), "center.z is 1e30"),
        (([[0, 0, 1e200]], 1.0), "center.z is 1e200"),
        ((GOOD, 1.0, [[1, 2, 3]]), "velocity has 1 rows, but center has 2"),
        ((GOOD, 1.0, [[1, 2, np.inf], [0, 0, 0]]), "velocity.z is inf"),
        ((GOOD, 1.0, GOOD, -1.0), "dt is -1"),
        ((GOOD, 1.0, GOOD, np.nan), "dt is NaN"),
        ((GOOD, 1.0, GOOD, "long"), "dt is 'long'"),
        ((GOOD, 1.0, GOOD, "1"), "dt is '1'"),
        ((GOOD, 1.0, GOOD, 1j), "dt is 1j"),
        ((GOOD, 1.0, GOOD, 10**400), "dt is larger than any float64"),
        ((GOOD.astype(bool), 1.0), "center has the dtype bool"),
        ((np.ma.masked_less(GOOD, 1), 1.0), "center is a masked array"),
        ((GOOD, np.ma.masked_less([1.0, 2.0], 1)), "radius is a masked array"),
        ((np.array([[0, 0, 2**53 + 1]]), 1.0), "center has a whole number beyond 2"),
        ((np.array([[0, 0, 2**63]], np.uint64), 1.0), "center has a whole number beyond 2"),
        ((np.array([[0, 0, -(2**60)]]), 1.0), "center has a whole number beyond 2"),
        ((GOOD, 1.0, [[1, 2], [3]]), "velocity cannot be read as an array"),
        ((GOOD, 1.0, GOOD, [1, 2]), r"dt is \[1, 2\]"),
    ],
)
def test_values(arguments, text):
    for backend in ("auto", "cpu"):
        with pytest.raises(ValueError, match=text):
            carom.detect(*arguments, backend=backend)


@pytest.mark.parametrize(
    "options, error, text",
    [
        (dict(groups=[1]), ValueError, "groups has the shape"),
        (dict(groups=[1.5, 2]), ValueError, "groups has the dtype"),
        (dict(groups=[-1, 2]), ValueError, "groups has a number"),
        (dict(groups=2**32), ValueError, "groups has a number"),
        (dict(bodies=[1, 2, 3]), ValueError, "bodies has the shape"),
        (dict(second=GOOD), ValueError, "second must be"),
        (dict(second=(GOOD,)), ValueError, "second must be"),
        (dict(second={"centre": GOOD, "radius": 1}), ValueError, "second has the names"),
        (dict(second=(GOOD, -1)), ValueError, "sphere 0 of the second set: radius"),
        (dict(second=([[0, 0]], 1)), ValueError, "center of the second set has the shape"),
        (dict(domain=[1, 2, 3]), TypeError, "carom.Domain"),
        (dict(walls=[3]), TypeError, "carom.Wall"),
        (dict(walls=5), TypeError, "walls is int, but must be a carom.Wall, a carom.Mesh, or a list of them"),
        (dict(walls=[[3]]), TypeError, "walls has a int"),
        (dict(domain=carom.Domain([1e-9, 1, 1])), (ValueError, carom.Error), "cell"),
        (dict(backend="tpu"), ValueError, 'backend is "tpu"'),
        (dict(backend=3), ValueError, 'backend is 3, but must be "auto", "cpu" or "gpu"'),
        (dict(second={1: 2, "a": 3}), ValueError, r"second has the names \[1, 'a'\]"),
    ],
)
def test_options(options, error, text):
    with pytest.raises(error, match=text):
        carom.detect(GOOD, 1.0, dt=1.0, **options)


def test_values_of_other_calls():
    for call, text in [
        (lambda: carom.neighbor_list("i", GOOD, -1.0), "cutoff is -1"),
        (lambda: carom.neighbor_list("i", GOOD, np.nan), "cutoff is NaN"),
        (lambda: carom.neighbor_list("i", GOOD, 1.0, skin=-1), "skin is -1"),
        (lambda: carom.neighbor_list("i", GOOD, [1, 2, 3]), "cutoff has 3 numbers, the radii of the particles, but positions has 2"),
        (lambda: carom.neighbor_list("i", GOOD, [1, -2]), "cutoff has radii"),
        (lambda: carom.neighbor_list("i", GOOD[:, :2], 1.0), "positions has the shape"),
        (lambda: carom.neighbor_list("i", GOOD, 1.0, skin="1"), "skin is '1'"),
        (lambda: carom.neighbor_list("i", GOOD, 1.0, backend=None), "backend is None"),
        (lambda: carom.neighbor_list("i", GOOD, [[1, 2]]), "cutoff has the shape"),
        (lambda: carom.neighbor_list("i", GOOD, 1.0, pbc=True), "there is no cell"),
        (lambda: carom.neighbor_list("i", GOOD, 1.0, cell=[1, 2]), "the cell has the shape"),
        (lambda: carom.neighbor_list("i", GOOD, 1.0, cell=[1, 2, 3], pbc=[1, 1]), "pbc is"),
        (lambda: carom.neighbor_list("i", GOOD * np.nan, 1.0), "center.x is NaN"),
        (lambda: carom.Domain([1, 2, 3, 90, 90, 180]), "angles"),
        (lambda: carom.Domain([1, 2, 3, 30, 60, 120]), "no cell has the angles"),
        (lambda: carom.Domain([1, 2, 3], origin=[1, 2]), "origin has the shape"),
        (lambda: carom.groups(1, 65536), "ignored has a number"),
        (lambda: carom.Wall.half_space([0, 1], 0), "normal has the shape"),
        (lambda: carom.verify({"a": [0]}, GOOD, 1.0), "the list has no b"),
        (lambda: carom.verify(([0], [1], [0.0, 1.0], [0.0]), GOOD, 1.0), "a has the shape"),
        (lambda: carom.verify(([-1], [1], [0.0], [0.0]), GOOD, 1.0), "whole numbers"),
        (lambda: carom.verify(([0], [1], [0.0], [0.0]), GOOD, 1.0, domain=carom.Domain([9, 9, 9])), "must have image"),
        (lambda: carom.set_threads(0), "number of threads is 0"),
        (lambda: carom.Domain([0, 1, 1]), "edge 0 is periodic, but its length is 0.*with periodic"),
        (lambda: carom.Domain([np.nan, 1, 1]), "domain is invalid"),
        (lambda: carom.Domain([1, 1, 1], origin=[0, np.inf, 0]), "domain is invalid"),
        (lambda: carom.Domain(np.eye(3) * 1e200), "domain is invalid"),
        (lambda: carom.Domain([[1, 0, 0], [2, 0, 0], [0, 0, 1]]), "parallel.*with periodic"),
        (lambda: carom.Wall.half_space([0, 0, 0], 0), "the wall is invalid"),
        (lambda: carom.Wall.half_space([0, 0, 1], np.nan), "the wall is invalid"),
        (lambda: carom.Wall.sphere([0, 0, 0], -1), "the wall is invalid"),
        (lambda: carom.Wall.cylinder([0, 0, 0], [0, 0, 0], 1), "the wall is invalid"),
        (lambda: carom.Wall.sphere([0, 0, 0], 1, groups=[1]), r"groups is \[1\], but must be one whole number"),
        (lambda: carom.Wall.sphere([0, 0, 0], 1, groups=2**32), "groups is 4294967296, but must be from 0 to 4294967295"),
        (lambda: carom.Mesh(GOOD, [[0, 0, 1], [1]]), "triangles cannot be read"),
        (lambda: carom.Mesh(GOOD, [[0, 0, 1]], groups=1.5), "groups is 1.5"),
        (lambda: carom.Detector(max_pairs=-1), "max_pairs is -1"),
        (lambda: carom.Detector(max_candidates=1.5), "max_candidates is 1.5"),
        (lambda: carom.NeighborList(1.0, max_pairs=2**64), "max_pairs is 18446744073709551616"),
        (lambda: carom.Simulation(GOOD, 1.0, [[1, 2], [3]]), "velocity cannot be read as an array"),
        (lambda: carom.Simulation(GOOD, 1.0, max_impacts=[3]), r"max_impacts is \[3\]"),
        (lambda: carom.Simulation(GOOD, 1.0).separate("3"), "passes is '3'"),
        (lambda: carom.Simulation(GOOD, 1.0).restore(np.array([1]), [0, 0, 0]), "sphere is"),
        (lambda: carom.verify_walls(([0], [0], [0.0], [0.0]), None, GOOD, 1.0), "walls is None"),
        (lambda: carom.verify(([0], [1], 0.0, 0.0), GOOD, 1.0), "toi has the shape"),
        (lambda: carom.verify(([0], [1], [1j], [0.0]), GOOD, 1.0), "toi has the dtype complex"),
        (lambda: carom.verify(([0], [1], ["0"], [0.0]), GOOD, 1.0), "toi has the dtype"),
        (lambda: carom.verify(([0], [1], [0.0], [None]), GOOD, 1.0), "depth has the dtype"),
        (lambda: carom.verify(([0], [1], [0.0], [0.0], [[0.5, 0, 0]]), GOOD, 1.0, domain=CELL), "image must have whole numbers"),
        (lambda: carom.verify(([0], [1], [0.0], [0.0], [[2**32, 0, 0]]), GOOD, 1.0, domain=CELL), "image must have whole numbers"),
        (lambda: carom.detect(GOOD, 1.0).changes_since(carom.detect(GOOD[:1], 1.0)), "2 spheres and the other one 1 spheres"),
        (lambda: carom.detect(Gpu(), 1.0), "center cannot be read as an array: no copy to the CPU.*main memory"),
    ]:
        with pytest.raises(ValueError, match=text):
            call()
    with pytest.raises(TypeError, match="half_space"):
        carom.Wall()
    for call, text in [
        (lambda: carom.detect(GOOD, 1.0).changes_since(3), "carom.Collisions"),
        (lambda: carom.neighbor_list(GOOD, "ij", 2.0), "quantities are ndarray, but must be a string"),
        (lambda: list(carom.detect(GOOD, 1.0)), r"not iterable; use zip\(hits.a, hits.b, hits.toi\)"),
        (lambda: list(carom.detect(GOOD, 1.0).walls), r"not iterable; use zip\(hits.sphere, hits.wall, hits.toi\)"),
        (lambda: carom.detect(GOOD, 1.0)[0], "use its columns"),
    ]:
        with pytest.raises(TypeError, match=text):
            call()
    with pytest.raises(IndexError, match="no sphere 2, there are 2"):
        carom.detect(GOOD, 1.0).contacts().of(2)
    assert carom.detect(GOOD, 1.0).contacts().of(-1).tolist() == [0]
    neighbors = carom.NeighborList(1.0)
    for call in (lambda: neighbors.i, lambda: neighbors.get("ijS"), lambda: neighbors.offsets):
        with pytest.raises(carom.Error, match="there is no list.*call update"):
            call()
    neighbors.update(GOOD)
    assert neighbors.i.tolist() == [0, 1]
    with pytest.raises(ValueError, match="center.x is NaN"):
        neighbors.update(GOOD * np.nan, anew=True)
    with pytest.raises(carom.Error, match="last update failed"):
        neighbors.offsets
    neighbors.update(GOOD)
    with pytest.raises(ValueError, match="positions has the shape"):
        neighbors.update(GOOD[:, :2])
    assert neighbors.i.tolist() == [0, 1]


def test_walls_in_a_list():
    box = carom.Wall.inside_box([0, 0, 0], [1, 1, 1])
    mesh = carom.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    hits = carom.detect([[0.1, 0.5, 0.5]], 0.2, walls=[box, mesh])
    assert hits.walls.wall.tolist() == carom.detect([[0.1, 0.5, 0.5]], 0.2, walls=[*box, mesh]).walls.wall.tolist() == [0]


def test_a_list_that_went_to_pandas_can_be_verified():
    pytest.importorskip("pandas")
    center = [[0.5, 0, 0], [9.5, 0, 0]]
    hits = carom.detect(center, 1.0, domain=CELL)
    frame = hits.to_pandas()
    assert carom.verify(frame, center, 1.0, domain=CELL)
    frame["n1"] = 5
    assert not carom.verify(frame, center, 1.0, domain=CELL)
    first = hits.earliest().to_pandas()
    assert first.columns.tolist() == ["toi", "partner", "at_wall", "n1", "n2", "n3"] and first["partner"].tolist() == [1, 0]


def test_error_is_a_runtime_error():
    assert issubclass(carom.Error, RuntimeError) and carom.Error.__module__ == "carom"


def test_messages_have_no_rust_names(repository):
    """Goes over all messages of the library that a call from Python can get."""
    text = (repository / "src/error.rs").read_text()
    messages = re.findall(r'#\[error\(\s*"((?:[^"\\]|\\.)*)"', text, re.DOTALL)
    assert len(messages) > 25
    table = (repository / "crates/python/src/errors.rs").read_text()
    table = table[table.index("const IN_PYTHON") : table.index("const OPTIONS")]
    table = table[table.index("= [") :]
    strings = [re.sub(r"\\(.)", r"\1", s) for s in re.findall(r'"((?:[^"\\]|\\.)*)"', table, re.DOTALL)]
    pairs = list(zip(strings[::2], strings[1::2]))
    # The buffers of programs with a wgpu device of their own do not exist in Python.
    foreign = ("CollisionBuffers", "BufferOptions", "wgpu::Limits", "request the device", "ticket")
    for message in messages:
        message = re.sub(r"\\\s*\n\s*", "", message).replace("{feature}", "gpu")
        for rust, python in pairs:
            message = message.replace(rust, python)
        if not any(word in message for word in foreign):
            message = message.replace("`apt-get install libvulkan1 mesa-vulkan-drivers`", "")
            assert not re.search(r"::|`|with_", message), message
    folded = re.sub(r"\\\s*\n\s*", "", text).replace("{feature}", "gpu") + (repository / "src/domain.rs").read_text()
    folded += re.sub(r"\\\s*\n\s*", "", (repository / "src/dynamics/replay.rs").read_text())
    for rust, _ in pairs:
        assert rust in folded, f"no message has {rust}"
