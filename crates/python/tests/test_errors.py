"""Errors say what is wrong, and what to do, in Python's terms."""

import pathlib
import re

import numpy as np
import pytest

import carom

GOOD = np.zeros((2, 3))


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
        (dict(walls=carom.Wall.half_space([0, 0, 0], 1)), ValueError, "wall 0 is invalid"),
        (dict(domain=carom.Domain([0, 1, 1])), ValueError, "edge 0 is periodic, but its length is 0.*with periodic"),
        (dict(domain=carom.Domain([np.nan, 1, 1])), ValueError, "domain is invalid"),
        (dict(domain=carom.Domain([1e-9, 1, 1])), (ValueError, carom.Error), "cell"),
        (dict(backend="tpu"), ValueError, 'backend is "tpu"'),
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
        (lambda: carom.neighbor_list("i", GOOD, [1, 2, 3]), "radius has the shape"),
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
    ]:
        with pytest.raises(ValueError, match=text):
            call()
    with pytest.raises(TypeError, match="half_space"):
        carom.Wall()
    with pytest.raises(TypeError, match="carom.Collisions"):
        carom.detect(GOOD, 1.0).changes_since(3)


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
    for rust, _ in pairs:
        assert rust in folded, f"no message has {rust}"
