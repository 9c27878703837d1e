"""What the tests share."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

import carom

#: The repository, whose files some tests read, or None if the package is tested alone.
REPOSITORY = pathlib.Path(os.environ["CAROM_REPOSITORY"]) if "CAROM_REPOSITORY" in os.environ else None


@pytest.fixture(scope="session")
def repository():
    if REPOSITORY is None:
        pytest.skip("CAROM_REPOSITORY is not set")
    return REPOSITORY


@pytest.fixture(scope="session")
def rust_call():
    """Runs a program in Rust that does the same: `examples/rust_call.rs`."""
    if "CAROM_RUST_CALL" not in os.environ:
        pytest.skip("CAROM_RUST_CALL is not set")

    def run(*arguments):
        command = [os.environ["CAROM_RUST_CALL"], *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def random():
    return np.random.default_rng(7)


@pytest.fixture
def crowd(random):
    """Returns a function that makes spheres of a few sizes in a cube."""

    def make(count, dtype=np.float64, side=None):
        side = 2.2 * count ** (1 / 3) if side is None else side
        center = (random.random((count, 3)) * side).astype(dtype)
        radius = random.choice([0.4, 0.5, 0.8], count).astype(dtype)
        velocity = (random.random((count, 3)) * 2 - 1).astype(dtype)
        return center, radius, velocity

    return make


@pytest.fixture(scope="session", params=["cpu", "gpu"])
def backend(request):
    """Each backend. The GPU is a software adapter where there is no other."""
    if request.param == "gpu":
        try:
            carom.Detector("gpu")
        except carom.Error as error:
            if "CAROM_REPOSITORY" in os.environ:
                raise
            pytest.skip(str(error))
    return request.param
