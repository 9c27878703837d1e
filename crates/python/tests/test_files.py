"""Files, and the same bytes as the Rust library."""

import numpy as np
import pytest

import carom

DATA = "crates/cli/tests/data"
POUR = "examples/data/pour.lammpstrj"


def scenes(repository):
    """Yields files, what the tool is told, and what `read` is told."""
    yield repository / POUR, 0.001, [], {}
    yield repository / DATA / "tilted.dump", 0.1, [], {}
    yield repository / DATA / "ase.xyz", 0.5, [], {}
    yield repository / DATA / "programs-ase.npz", 0.5, ["--radius", "1.3"], {"radius": 1.3}
    yield repository / DATA / "c-f4.npy", 1.0, [], {}
    yield repository / DATA / "fortran-f8-big.npy", 1.0, [], {}
    yield repository / DATA / "frames.lammpstrj", 0.5, ["--frame", "0"], {"frame": 0}
    yield repository / DATA / "savetxt.csv", 0.25, [], {}


def test_same_bytes_as_the_tool(repository, tool, tmp_path, backend):
    counts = []
    for k, (file, dt, options, arguments) in enumerate(scenes(repository)):
        out, at_walls = tmp_path / f"{k}.npz", tmp_path / f"{k}-walls.npz"
        walls = ["--wall", "plane 0 0 1 0", "--wall", "sphere 0 0 0 1"]
        periodic = carom.read(file, **arguments).domain
        extra = [] if periodic is not None and any(periodic.periodic) else [*walls, "--walls-output", at_walls]
        tool("collide", file, "--dt", dt, *options, "--backend", backend, "--output", out, *extra)
        theirs = np.load(out)
        world = carom.read(file, **arguments)
        mine = carom.detect(
            world.center,
            world.radius,
            world.velocity,
            dt,
            domain=world.domain,
            backend=backend,
            walls=[carom.Wall.half_space([0, 0, 1], 0), carom.Wall.sphere([0, 0, 0], 1)] if extra else None,
        )
        assert len(mine) == len(theirs["a"])
        for name in ("a", "b"):
            assert np.array_equal(getattr(mine, name), theirs[name])
        for name in ("toi", "depth"):
            column = theirs[name]
            assert getattr(mine, name).tobytes() == column.astype(mine.dtype).tobytes(), (file, name)
            assert np.array_equal(column.astype(mine.dtype).astype(column.dtype), column)
        if "n1" in theirs:
            assert np.array_equal(mine.image, np.stack([theirs[n] for n in ("n1", "n2", "n3")], axis=1))
        if extra:
            theirs = np.load(at_walls)
            assert np.array_equal(mine.walls.sphere, theirs["sphere"]) and np.array_equal(mine.walls.wall, theirs["wall"])
            for name in ("toi", "depth"):
                assert getattr(mine.walls, name).tobytes() == theirs[name].astype(mine.dtype).tobytes(), (file, name)
            counts.append(len(mine.walls))
        counts.append(len(mine))
    assert sum(count > 0 for count in counts) > 8, counts


def test_same_neighbours_as_the_tool(repository, tool, tmp_path):
    for k, (file, cutoff) in enumerate([(repository / POUR, 0.011), (repository / DATA / "tilted.dump", 2.5)]):
        out = tmp_path / f"{k}.npz"
        tool("neighbors", file, "--cutoff", cutoff, "--output", out)
        theirs = np.load(out)
        world = carom.read(file)
        i, j, d, D, S = carom.neighbor_list("ijdDS", world.center, cutoff, world.domain, full=False)
        names = list(theirs)
        assert len(i) == len(theirs["i"]) > 10, names
        assert np.array_equal(i, theirs["i"]) and np.array_equal(j, theirs["j"])
        assert d.tobytes() == theirs["d"].astype(d.dtype).tobytes()
        vectors = np.stack([theirs[name] for name in ("dx", "dy", "dz")], axis=1)
        assert D.tobytes() == np.ascontiguousarray(vectors, D.dtype).tobytes()


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
    with pytest.raises(FileNotFoundError, match="no-such-file.csv"):
        carom.read(tmp_path / "no-such-file.csv")
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
    assert "format=" in str(error.value) and "--" not in str(error.value)
    for options, text in [({"format": "pdb"}, "format"), ({"separator": "|"}, "separator"), ({"frame": slice(None, None, -1)}, "step")]:
        with pytest.raises(ValueError, match=text):
            carom.read(bad, **options)
    with pytest.raises(ValueError, match="there is no frame"):
        carom.read(repository / DATA / "frames.lammpstrj", 1000)


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
