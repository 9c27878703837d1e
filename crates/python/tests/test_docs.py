"""The examples of the documentation."""

import os
import pathlib
import re
import subprocess
import sys

import pytest


def blocks(text):
    """Yields each Python example, and the output that the text shows below it, or None."""
    for found in re.finditer(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.DOTALL):
        yield found[1], found[2]


def run(code, folder):
    environment = {**os.environ, "MPLBACKEND": "agg"}
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("page", ["docs/python.md", "crates/python/README.md"])
def test_examples(repository, page):
    examples = list(blocks((repository / page).read_text()))
    assert len(examples) == (7 if page == "docs/python.md" else 1)
    shown = 0
    for code, output in examples:
        printed = run(code, repository)
        comments = re.findall(r"print\(.*\)  # (.*)", code)
        assert printed.split("\n")[: len(comments)] == comments
        if output is not None:
            shown += 1
            assert printed == output
        elif "Z =" in printed:
            measured = float(re.search(r"Z = ([\d.]+), theory 6.93", printed)[1])
            assert abs(measured - 6.93) < 0.15
        elif "pairs\n" in printed:
            assert re.search(r": 1000\.0000\d\d m", printed)
        else:
            assert comments
    assert shown == (4 if page == "docs/python.md" else 0)


def test_doctests():
    import doctest

    import numpy as np

    import carom
    from carom import _collisions, _neighbors, _simulation, _world

    rng = np.random.default_rng(1)
    names = {
        "carom": carom,
        "np": np,
        "center": rng.random((50, 3)) * 4,
        "trajectory": [rng.random((20, 3)) * 9],
        "cell": [9.0, 9.0, 9.0],
    }
    tried = 0
    for module in (carom, _collisions, _neighbors, _simulation, _world):
        result = doctest.testmod(module, extraglobs=names)
        assert result.failed == 0
        tried += result.attempted
    assert tried > 10


def test_example_scripts(repository, tmp_path):
    pytest.importorskip("matplotlib")
    scripts = list((repository / "crates/python/examples").glob("*.py"))
    assert scripts
    for script in scripts:
        picture = tmp_path / "picture.png"
        done = subprocess.run([sys.executable, str(script), "--quick", "--output", str(picture)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert picture.read_bytes()[:4] == b"\x89PNG" and picture.stat().st_size > 10_000
