"""The pairs of a step."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import carom


def exact_pairs(center, radius, velocity, dt):
    """Returns the pairs that touch within dt, decided in rational numbers."""
    number = lambda x: Fraction(float(x))
    dt = number(dt)
    found = []
    for a, b in itertools.combinations(range(len(center)), 2):
        p = [number(center[b, k]) - number(center[a, k]) for k in range(3)]
        v = [number(velocity[b, k]) - number(velocity[a, k]) for k in range(3)]
        r = number(radius[a]) + number(radius[b])
        c = sum(x * x for x in p) - r * r
        pv, vv = sum(x * y for x, y in zip(p, v)), sum(x * x for x in v)
        touches = c <= 0
        if not touches and pv < 0:
            end = c + 2 * pv * dt + vv * dt * dt
            nearest = dt if vv * dt < -pv else -pv / vv
            touches = end <= 0 or c + 2 * pv * nearest + vv * nearest * nearest <= 0
        if touches:
            found.append((a, b))
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pairs_are_those_of_rational_arithmetic(crowd, dtype, backend):
    center, radius, velocity = crowd(70, dtype, side=6)
    center = np.round(center * 4) / 4  # many spheres just touch
    hits = carom.detect(center, radius, velocity, dt=0.75, backend=backend)
    assert hits.dtype == dtype
    assert list(zip(hits.a, hits.b)) == exact_pairs(center, radius, velocity, 0.75)
    assert len(hits) > 40
    assert hits.statistics["backend"] == backend
    assert carom.verify(hits, center, radius, velocity, 0.75)


def test_example():
    center = np.array([[0.0, 0, 0], [5, 0, 0], [0, 9, 0]])
    velocity = np.array([[10.0, 0, 0], [0, 0, 0], [0, 0, 0]])
    hits = carom.detect(center, 1.0, velocity, dt=1.0)
    assert (hits.a.tolist(), hits.b.tolist(), hits.toi.tolist(), hits.depth.tolist()) == ([0], [1], [0.3], [0.0])
    assert hits.a.dtype == hits.b.dtype == np.int64
    assert hits.toi.dtype == hits.depth.dtype == np.float64
    assert hits.image.tolist() == [[0, 0, 0]]
    assert len(hits) == 1 and hits.dt == 1.0
    assert repr(hits) == "<carom.Collisions: 1 pairs of 3 spheres, dt=1, float64>"
    earliest = hits.earliest()
    assert earliest.toi.tolist() == [0.3, 0.3, np.inf]
    assert earliest.partner.tolist() == [1, 0, -1]
    contacts = hits.contacts()
    assert [contacts.of(k).tolist() for k in range(3)] == [[0], [0], []]
    points = hits.points()
    assert points.point.tolist() == [[4.0, 0.0, 0.0]]
    assert points.normal.tolist() == [[1.0, 0.0, 0.0]]
    assert points.approach_speed.tolist() == [10.0]


def test_float32_only_if_all_arrays_are():
    small, large = np.zeros((2, 3), np.float32), np.zeros((2, 3))
    radius = np.ones(2, np.float32)
    cases = [
        (carom.detect(small, 1.0), np.float32),
        (carom.detect(small, np.float64(1.0)), np.float32),
        (carom.detect(small, radius, small, 1.0), np.float32),
        (carom.detect(small.astype(np.float16), 1.0), np.float32),
        (carom.detect(small, radius.astype(np.float64)), np.float64),
        (carom.detect(small, radius, large), np.float64),
        (carom.detect(large, radius, small), np.float64),
        (carom.detect([[0, 0, 0], [0, 0, 0]], 1), np.float64),
        (carom.detect(small.astype(np.int32), 1), np.float64),
        (carom.detect(small, 1.0, second=(large, 1.0)), np.float64),
    ]
    for hits, dtype in cases:
        assert hits.dtype == dtype and hits.toi.dtype == dtype and hits.depth.dtype == dtype
        assert len(hits) > 0
    # In float32, these two spheres would be 0 or 0.5 apart.
    center = np.array([[0, 4_582_300.125, 0], [0, 4_582_300.375, 0]])
    assert carom.detect(center, 0.125).depth.tolist() == [0.0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_layout(crowd, dtype):
    center, radius, velocity = crowd(300, dtype)
    plain = carom.detect(center, radius, velocity, dt=0.5)
    assert len(plain) > 100
    records = np.zeros(300, [("pad", "u1"), ("x", dtype, 3), ("v", dtype, 3), ("r", dtype)])
    records["x"], records["v"], records["r"] = center, velocity, radius
    wide = np.zeros((600, 5), dtype)
    wide[::2, 1:4] = center
    frozen = center.copy()
    frozen.flags.writeable = False
    backwards = center[::-1].copy()[::-1]
    other = np.dtype(dtype).newbyteorder()
    cases = [
        (np.asfortranarray(center), radius, np.asfortranarray(velocity)),
        (records["x"], records["r"], records["v"]),
        (wide[::2, 1:4], np.repeat(radius, 2)[::2], velocity),
        (frozen, radius[:, None], velocity),
        (backwards, radius[::-1].copy()[::-1], velocity[:, ::-1].copy()[:, ::-1]),
        (center.astype(other), radius.astype(other), velocity.astype(other)),
        (memoryview(center), memoryview(radius), memoryview(velocity)),
    ]
    for arguments in cases:
        hits = carom.detect(*arguments, dt=0.5)
        assert hits.dtype == dtype
        assert np.array_equal(np.asarray(hits), np.asarray(plain))
    assert np.array_equal(carom.detect(center.tolist(), radius.tolist(), velocity.tolist(), 0.5).a.shape, plain.a.shape)


def test_dlpack(crowd):
    center, radius, velocity = crowd(50)

    class Foreign:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    hits = carom.detect(Foreign(center), Foreign(radius), Foreign(velocity), 0.5)
    assert np.array_equal(np.asarray(hits), np.asarray(carom.detect(center, radius, velocity, 0.5)))
    # Results are NumPy arrays, which other libraries take.
    assert np.from_dlpack(hits.toi.copy()).tolist() == hits.toi.tolist()


def test_input_is_read_once(crowd):
    center, radius, velocity = crowd(100)
    hits = carom.detect(center, radius, velocity, 0.5)
    before = hits.points()
    center[:], velocity[:] = 0, 0
    after = hits.points()
    assert all(np.array_equal(one, other) for one, other in zip(before, after))


def test_no_spheres_and_one():
    for center in ([], np.empty((0, 3)), np.empty((0, 3), np.float32), [[1, 2, 3]]):
        hits = carom.detect(center, 1.0, dt=1.0)
        assert len(hits) == 0 and hits.a.shape == (0,) and hits.image.shape == (0, 3)
        assert hits.points().point.shape == (0, 3)
        assert len(hits.earliest().toi) == len(center)
        assert hits.contacts().offsets.tolist() == [0] * (len(center) + 1)
        assert np.asarray(hits).shape == (0,)
    assert len(carom.detect(np.empty((0, 3)), np.empty(0), np.empty((0, 3)), 1.0)) == 0


def test_two_sets():
    rays = np.zeros((1, 3)), 0.0, [[6.0, 0, 0]]
    targets = [[9.0, 0, 0], [5.0, 0, 0]]
    for second in [(targets, 1.0), {"center": targets, "radius": [1.0, 1.0]}, (targets, 1, np.zeros((2, 3)))]:
        hits = carom.detect(*rays, 1.0, second=second)
        assert (hits.a.tolist(), hits.b.tolist()) == ([0], [1])
        assert hits.toi.tolist() == [4 / 6]
        assert hits.earliest().partner.tolist() == [1, -1, 0]
        assert "1 and 2 spheres" in repr(hits)
    hits = carom.detect(*rays, 1.0, second={"center": targets, "radius": 1.0, "groups": [0, carom.groups(1, 0)]}, groups=carom.groups(0, 1))
    assert len(hits) == 0


def test_groups_and_bodies():
    center = np.zeros((4, 3))
    assert len(carom.detect(center, 1.0)) == 6
    assert len(carom.detect(center, 1.0, groups=carom.groups(1, 1))) == 0
    packed = carom.groups([1, 1, 2, 2], [1, 0, 0, 0])
    assert packed.tolist() == [0x10001, 1, 2, 2]
    hits = carom.detect(center, 1.0, groups=packed)
    assert list(zip(hits.a, hits.b)) == [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    hits = carom.detect(center, 1.0, bodies=[5, 5, -1, -1])
    assert list(zip(hits.a, hits.b)) == [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert len(hits) == 5 and len(hits.points().point) == 5
    assert hits.contacts().of(0).tolist() == [0, 1]
    hits = carom.detect(center, 1.0, bodies=[5, 6, 7, 8], second={"center": center, "radius": 1.0, "bodies": [5, 6, -1, 9]})
    assert len(hits) == 14


def test_periodic():
    domain = carom.Domain([10, 10, 10])
    center = np.array([[0.5, 5, 5], [9, 5, 5]])
    hits = carom.detect(center, 1.0, domain=domain)
    assert (hits.a.tolist(), hits.b.tolist(), hits.image.tolist(), hits.depth.tolist()) == ([0], [1], [[-1, 0, 0]], [0.5])
    assert hits.points().normal.tolist() == [[-1, 0, 0]]
    assert hits.image.dtype == np.int32
    assert hits.earliest().image.tolist() == [[-1, 0, 0], [1, 0, 0]]
    assert np.asarray(hits)["image"].tolist() == [[-1, 0, 0]]
    assert carom.verify(hits, center, 1.0, domain=domain)
    assert carom.verify(hits, center, 1.0).invented.a.tolist() == [0]
    later = carom.detect(center + [[0, 0, 0], [5, 0, 0]], 1.0, domain=domain)
    changes = later.changes_since(hits)
    assert (changes.ended.a.tolist(), changes.ended.image.tolist()) == ([0], [[-1, 0, 0]])
    assert len(changes.began.a) == len(changes.lasted.a) == 0


def test_walls(backend):
    ball = np.array([[8.0, 5, 5]]), 1.0, [[2.0, 0, 0]]
    hits = carom.detect(*ball, 1.0, walls=carom.Wall.inside_box([0, 0, 0], [10, 10, 10]), backend=backend)
    walls = hits.walls
    assert (walls.sphere.tolist(), walls.wall.tolist(), walls.toi.tolist(), walls.depth.tolist()) == ([0], [1], [0.5], [0])
    points = walls.points()
    assert points.point.tolist() == [[10, 5, 5]] and points.normal.tolist() == [[1, 0, 0]]
    assert points.feature.tolist() == [0]
    assert hits.earliest().at_wall.tolist() == [True] and hits.earliest().partner.tolist() == [1]
    assert repr(walls) == "<carom.WallHits: 1 times a sphere touches a wall>"
    assert np.asarray(walls).dtype.names == ("sphere", "wall", "toi", "depth", "image")
    ramp = carom.Mesh([[0, 0, 0], [4, 0, 2], [4, 4, 2], [0, 4, 0]], [[0, 1, 2], [0, 2, 3]])
    hits = carom.detect([[3, 1, 9]], 1.0, [[0, 0, -8]], 1.0, walls=[ramp, carom.Wall.half_space([0, 0, 1], -100)])
    assert hits.walls.wall.tolist() == [1]  # the half-space is wall 0
    assert carom.verify_walls(hits.walls, [ramp, carom.Wall.half_space([0, 0, 1], -100)], [[3, 1, 9]], 1.0, [[0, 0, -8]], 1.0)
    missing = carom.verify_walls(([], [], [], []), ramp, [[3, 1, 9]], 1.0, [[0, 0, -8]], 1.0).missing
    assert missing.a.tolist() == [0]
    for wall in [
        carom.Wall.sphere([0, 0, 0], 1.0),
        carom.Wall.sphere([0, 0, 0], 3.0, hollow=True),
        carom.Wall.cylinder([0, 0, 9], [0, 0, 1], 1.0),
        carom.Wall.cylinder([0, 0, 9], [0, 0, 1], 3.0, hollow=True),
        carom.Wall.half_space([1, 0, 0], 1.25),
        carom.Wall.half_space([1, 0, 0], 0.5, velocity=[1, 0, 0]),
    ]:
        for dtype in (np.float32, np.float64):
            hits = carom.detect(np.array([[2, 0, 0]], dtype), 1.0, dt=1.0, walls=wall)
            assert len(hits.walls) == 1 and hits.walls.toi.dtype == dtype, wall
    assert len(carom.detect([[2, 0, 0]], 1.0, walls=carom.Wall.sphere([0, 0, 0], 1.0, groups=carom.groups(1, 0)), groups=carom.groups(0, 1)).walls) == 0
    assert carom.detect([[2, 0, 0]], 1.0, second=([[2, 0, 0]], 1.0), walls=carom.Wall.sphere([0, 0, 0], 1)).walls.points().point.tolist() == [[1, 0, 0]] * 2


def test_a_detector_keeps_its_memory(crowd, backend):
    detector = carom.Detector(backend)
    assert detector.backend == backend and backend in repr(detector) or detector.adapter in repr(detector)
    kept = []
    for count in (10, 500, 40, 0, 200):
        for dtype in (np.float32, np.float64):
            spheres = crowd(count, dtype)
            hits = detector.detect(*spheres, 0.5)
            assert np.array_equal(np.asarray(hits), np.asarray(carom.detect(*spheres, 0.5, backend="cpu")))
            kept.append((hits, spheres))
    for hits, (center, radius, velocity) in kept:
        points = hits.points()
        a = hits.a
        out = np.linalg.norm(points.point - (center[a] + velocity[a] * hits.toi[:, None]), axis=1)
        assert np.allclose(out, radius[a], rtol=1e-5)


def test_limits_of_a_detector():
    detector = carom.Detector("cpu", max_pairs=5)
    with pytest.raises(carom.Error, match="max_pairs of carom.Detector"):
        detector.detect(np.zeros((9, 3)), 1.0)
    assert len(detector.detect(np.zeros((3, 3)), 1.0)) == 3
    with pytest.raises(carom.Error, match="max_candidates of carom.Detector"):
        carom.Detector("cpu", max_candidates=5).detect(np.zeros((99, 3)), 1.0)


def test_table_in_a_notebook(crowd):
    center, radius, velocity = crowd(200)
    hits = carom.detect(center, radius, velocity, 0.5)
    html = hits._repr_html_()
    assert html.count("<tr>") == 11 and f"… and {len(hits) - 10} more" in html


def test_pandas(crowd):
    pytest.importorskip("pandas")
    center, radius, velocity = crowd(200)
    hits = carom.detect(center, radius, velocity, 0.5)
    assert carom.verify(hits.to_pandas(), center, radius, velocity, 0.5)
    table = hits.to_pandas()
    assert list(table.columns) == ["a", "b", "toi", "depth"] and len(table) == len(hits)
    assert (table["toi"].to_numpy() == hits.toi).all()
    assert list(carom.detect(center, radius, domain=carom.Domain([30, 30, 30])).to_pandas().columns)[-3:] == ["n1", "n2", "n3"]


def test_changes(crowd):
    center, radius, velocity = crowd(200)
    before = carom.detect(center, radius, velocity, 0.25)
    now = carom.detect(center + 0.25 * velocity, radius, velocity, 0.25)
    changes = now.changes_since(before)
    of = lambda pairs: set(zip(pairs.a.tolist(), pairs.b.tolist()))
    assert of(changes.began) == of(now) - of(before)
    assert of(changes.ended) == of(before) - of(now)
    assert of(changes.lasted) == of(before) & of(now)
    with pytest.raises(ValueError, match="float32"):
        now.changes_since(carom.detect(center.astype(np.float32), 1.0))


def test_verify_finds_mistakes(crowd):
    center, radius, velocity = crowd(60)
    hits = np.asarray(carom.detect(center, radius, velocity, 0.5))
    given = center, radius, velocity, 0.5
    assert carom.verify(hits, *given).passed
    truth = carom.verify(hits[1:], *given)
    assert not truth and truth.missing.a.tolist() == [hits["a"][0]] and "missing: 1" in repr(truth)
    wrong = hits.copy()
    wrong["depth"][2] += 1
    truth = carom.verify(wrong, *given)
    assert truth.wrong.depth[0] == truth.right.depth[0] + 1
    truth = carom.verify(np.concatenate([hits, hits[:1]]), *given)
    assert truth.repeated.b.tolist() == [hits["b"][0]]
    truth = carom.verify({"a": [0], "b": [9], "toi": [0.0], "depth": [0.0]}, [[0, 0, 0], [9, 9, 9]], 1.0)
    assert truth.invented.b.tolist() == [9] and truth.tried == 1 and truth.touching == 0
