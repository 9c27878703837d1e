"""Files, and the same bytes as the Rust library."""

import errno
import os
import pathlib
import re

import numpy as np
import pytest

import carom

DATA = "crates/cli/tests/data"
POUR = "examples/data/pour.lammpstrj"


@pytest.mark.parametrize("name", ["gas", "dense", "polydisperse", "fast", "clustered", "lattice", "touching", "thermal"])
def test_same_bytes_as_rust(rust_call, name, backend, tmp_path):
    """Compares with the bytes of the lists that the library returns in a program in Rust."""
    edge = float(rust_call("scene", name, 400 if backend == "gpu" else 3000, backend, tmp_path))
    sphere = np.dtype([("center", "f4", 3), ("radius", "f4"), ("velocity", "f4", 3), ("groups", "u4")])
    spheres = np.fromfile(tmp_path / "spheres", sphere)
    domain = carom.Domain([edge] * 3, origin=[-edge / 2] * 3)
    walls = carom.Wall.inside_box([-edge / 2] * 3, [edge / 2] * 3)
    for bits in (32, 64):
        number = np.dtype(f"f{bits // 8}")
        given = [spheres[field].astype(number) if bits == 64 else spheres[field] for field in ("center", "radius", "velocity")]

        def check(hits, file, names):
            one, other = names
            theirs = np.fromfile(tmp_path / f"{file}{bits}", [(one, "u4"), (other, "u4"), ("toi", number), ("depth", number)])
            for field in theirs.dtype.names:
                mine = getattr(hits, field)
                assert mine.astype(theirs[field].dtype).tobytes() == theirs[field].tobytes(), (file, bits, field)
            return len(theirs)

        hits = carom.detect(*given, 1.0, walls=walls, backend=backend)
        assert hits.dtype == number
        assert check(hits, "pairs", ("a", "b")) > 0
        assert check(hits.walls, "walls", ("sphere", "wall")) > 0
        hits = carom.detect(*given, 1.0, domain=domain, backend=backend)
        assert check(hits, "periodic", ("a", "b")) > 0
        assert hits.image.tobytes() == (tmp_path / f"images{bits}").read_bytes()
        i, j, S, d, D = carom.neighbor_list("ijSdD", given[0], 1.5, domain, backend=backend)
        assert np.stack([i, j], axis=1).astype("u4").tobytes() == (tmp_path / f"neighbors{bits}").read_bytes()
        assert S.tobytes() == (tmp_path / f"shifts{bits}").read_bytes()
        assert d.tobytes() == (tmp_path / f"distances{bits}").read_bytes()
        assert D.tobytes() == (tmp_path / f"vectors{bits}").read_bytes()


def test_numbers_of_a_file(repository):
    """Reads a dump with NumPy, too."""
    lines = (repository / POUR).read_text().splitlines()
    begin = max(k for k, line in enumerate(lines) if line.startswith("ITEM: ATOMS"))
    names = lines[begin].split()[2:]
    table = dict(zip(names, np.array([line.split() for line in lines[begin + 1 :]], float).T))
    world = carom.read(repository / POUR, ids=True)
    assert len(world) == 9504
    assert np.array_equal(world.ids, table["id"])
    assert np.array_equal(world.center, np.stack([table[name] for name in "xyz"], axis=1))
    assert np.array_equal(world.velocity, np.stack([table[name] for name in ("vx", "vy", "vz")], axis=1))
    radius = table["radius"] if "radius" in table else table["diameter"] / 2
    assert np.array_equal(world.radius, radius)


def test_frames(repository):
    file = repository / DATA / "frames.lammpstrj"
    worlds = list(carom.read(file, slice(None), ids=True, types=True))
    assert [world.frame for world in worlds] == list(range(len(worlds))) and len(worlds) > 2
    last = carom.read(file)
    assert last.frame == len(worlds) - 1 and np.array_equal(last.center, worlds[-1].center)
    assert last.ids is None and worlds[0].ids.dtype == np.int64 and worlds[0].types.dtype == np.int64
    assert carom.read(file, -2).frame == len(worlds) - 2
    assert [world.frame for world in carom.read(file, slice(0, -1, 2))] == list(range(0, len(worlds) - 1, 2))
    assert "frame 0" in repr(worlds[0]) and "timestep" in repr(worlds[0]) and len(worlds[0]) == len(worlds[0].radius)
    series = list(carom.read([file, str(file)], slice(None)))
    assert len(series) == 2 * len(worlds)
    assert carom.read(repository / DATA / "c-f4.npy").center.dtype == np.float32


def test_options_of_read(tmp_path):
    table = tmp_path / "table.txt"
    table.write_text("0 0 0 1\n1.5 0 0 2\n")
    world = carom.read(table, format="csv", separator="space", columns="x,y,z,type", radius={1: 0.5, "2": 0.75}, types=True, at_rest=True)
    assert world.radius.tolist() == [0.5, 0.75] and world.types.tolist() == [1, 2] and world.domain is None
    assert world.notes == () or all(isinstance(note, str) for note in world.notes)
    world = carom.read(table, format="csv", separator="space", columns=["x", "y", "z", "_"], radius=1, box=[4, 5, 6], periodic=[True, False, True])
    assert world.domain == carom.Domain([4, 5, 6], periodic=[True, False, True])
    named = tmp_path / "named.csv"
    named.write_text("px,py,pz,size,name\n0,0,0,1,Na\n")
    world = carom.read(named, columns={"x": "px", "y": 2, "z": "pz", "radius": "size", "type": "name"}, types=True)
    assert world.types.tolist() == ["Na"] and world.radius.tolist() == [1]


def test_errors_of_files(tmp_path, repository):
    with pytest.raises(FileNotFoundError, match="no-such-file.csv") as error:
        carom.read(tmp_path / "no-such-file.csv")
    assert error.value.errno == errno.ENOENT
    for path, error, text in [
        (5, TypeError, "path is 5, but must be a path"),
        ([5], TypeError, r"path is \[5\]"),
        ([], ValueError, "empty sequence"),
    ]:
        with pytest.raises(error, match=text):
            carom.read(path)
    with open(__file__) as file, pytest.raises(TypeError, match="open file.*file.name"):
        carom.read(file)
    for options, text in [
        ({"frame": ":"}, "frame .* is ':'"),
        ({"frame": 1.5}, "frame .* is 1.5"),
        ({"frame": True}, "frame is True"),
        ({"frame": slice(1.5, 2)}, "frame is 1.5"),
        ({"radius": -1}, "radius is -1"),
        ({"radius": np.nan}, "radius is nan"),
        ({"radius": {"A": np.inf}}, "radius is inf"),
        ({"box": [np.nan] * 3}, "domain is invalid"),
    ]:
        with pytest.raises(ValueError, match=text):
            carom.read(__file__, **options)
    bad = tmp_path / "bad.csv"
    bad.write_text("x,y,z,radius\n0,0,0,1\n0,zero,0,1\n")
    with pytest.raises(ValueError, match=r"line 3: field y"):
        carom.read(bad)
    bad.write_text("x,y,z\n0,0,0\n")
    with pytest.raises(ValueError) as error:
        carom.read(bad)
    assert "radius=" in str(error.value) and "--" not in str(error.value)
    odd = tmp_path / "odd"
    odd.write_text("?")
    with pytest.raises(ValueError) as error:
        carom.read(odd)
    text = str(error.value)
    assert 'with format="csv" separator="space" columns="x,y,z,radius"' in text and "--" not in text
    for table, options, text in [
        ("x;y;z;radius\n0;0;0;1\n", {}, 'unless separator="semicolon" is given'),
        ("x,y,z,type\n0,0,0,O\n", {"radius": {"H": 1}}, "radius={type: …} lacks O: RADIUS"),
        ("0,0,0,1\n", {}, 'as in columns="x,y,z,radius,vx,vy,vz"'),
        ("0 0 0 1\n", {"format": "csv", "separator": "space"}, 'columns="x,y,z,radius"'),
    ]:
        bad.write_text(table)
        with pytest.raises(ValueError) as error:
            carom.read(bad, **options)
        assert text in str(error.value) and "--" not in str(error.value), str(error.value)
    for options, text in [({"format": "pdb"}, "format"), ({"separator": "|"}, "separator"), ({"frame": slice(None, None, -1)}, "step")]:
        with pytest.raises(ValueError, match=text):
            carom.read(bad, **options)
    with pytest.raises(ValueError, match="there is no frame"):
        carom.read(repository / DATA / "frames.lammpstrj", 1000)


@pytest.mark.skipif(os.name != "posix", reason="names are bytes")
def test_names_that_are_not_utf8(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.csv"
    try:
        with open(path, "w") as file:
            file.write("x,y,z,radius\n0,0,0,1\n")
    except OSError:
        pytest.skip("the file system has names of UTF-8 only")
    for name in (path, os.fsdecode(path), pathlib.Path(os.fsdecode(path)), [path]):
        assert len(carom.read(name)) == 1
    with pytest.raises(FileNotFoundError):
        carom.read(path + b"x")
    with pytest.raises(FileNotFoundError):
        carom.Mesh(os.fsdecode(path) + ".stl")


def test_notes_are_those_of_python(repository, tmp_path):
    file = tmp_path / "a.xyz"
    file.write_text('1\nLattice="9 0 0 0 9 0 0 0 9" Properties=species:S:1:pos:R:3:masses:R:1:momenta:R:3\nH 1 2 3 1 0 0 0\n')
    notes = carom.read(file, radius=1).notes
    assert any("the unit of time, also of dt, is then" in note for note in notes), notes
    assert not any("--" in note for note in notes)


def test_all_options_of_the_tool_are_translated(repository):
    """Goes over the texts of the readers. What has an option of the tool is in the table."""
    table = (repository / "crates/python/src/errors.rs").read_text()
    used = set()
    for source in (repository / "crates/formats/src/read").rglob("*.rs"):
        if "test" not in source.name:
            lines = [line for line in source.read_text().splitlines() if not line.strip().startswith("//")]
            used |= set(re.findall(r"(?<![-\w])--[a-z][a-z-]*", "\n".join(lines)))
    assert {"--format", "--columns", "--dt"} <= used
    for option in used:
        assert f'"{option}"' in table or f'"{option} ' in table, option


def test_meshes_of_files(repository, tmp_path):
    mesh = carom.Mesh(repository / DATA / "icosphere.stl")
    same = carom.Mesh(mesh.vertices, mesh.triangles)
    assert len(mesh) == len(same) == len(mesh.triangles) > 10 and mesh.vertices.shape[1] == 3
    hits = [carom.detect(mesh.vertices[:1], 1.0, walls=walls).walls for walls in (mesh, [same])]
    assert len(hits[0]) > 0 and np.array_equal(np.asarray(hits[0]), np.asarray(hits[1]))
    assert repr(mesh) == f"<carom.Mesh: {len(mesh)} triangles>"
    with pytest.raises(FileNotFoundError, match="none.stl"):
        carom.Mesh(tmp_path / "none.stl")
    with pytest.raises(ValueError, match="triangles"):
        carom.Mesh(mesh.vertices)
    with pytest.raises(ValueError, match="triangles has a number"):
        carom.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 3]])
    with pytest.raises(ValueError, match="no area"):
        carom.Mesh([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]])
    with pytest.raises(ValueError, match="leave them out"):
        carom.Mesh("a.stl", [[0, 1, 2]])
