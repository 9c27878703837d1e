"""Simulations that change between steps, and that are copied, saved and read."""

import copy
import pickle

import numpy as np
import pytest

import carom

EDGE = 6.0
RAMP = ([[1, 1, 0.5], [4, 1, 1], [4, 4, 1], [1, 4, 0.5]], [[0, 1, 2], [0, 2, 3]])
BALLS = dict(center=[[0, 0, 0], [3, 0, 0]], radius=0.5, velocity=[[2, 0, 0], [0, 0, 0]])
COMBINED = {
    "average": lambda a, b: 0.5 * (a + b),
    "min": lambda a, b: np.minimum(a, b),
    "multiply": lambda a, b: a * b,
    "max": lambda a, b: np.maximum(a, b),
}


def state(simulation):
    """All bytes that a user sees."""
    arrays = (simulation.center, simulation.velocity, simulation.radius, simulation.mass, simulation.unwrapped)
    each = (simulation.removed, simulation.groups, simulation.bodies, np.asarray(simulation.restitution))
    numbers = (simulation.time, simulation.contact_time, simulation.wall_restitution, *simulation.gravity)
    meshes = [wall for wall in simulation.walls if isinstance(wall, carom.Mesh)]
    walls = [wall for wall in simulation.walls if isinstance(wall, carom.Wall)]
    moves = [(mesh.velocity, mesh.groups, mesh.restitution, len(mesh)) for mesh in meshes]
    return [array.tobytes() for array in arrays + each], len(simulation), numbers, walls, moves


def lists(report):
    """All that a report says."""
    arrays = ("impacts", "removed", "began", "lasted", "ended", "wall_impulses")
    numbers = ("sphere_impacts", "wall_impacts", "virial", "kinetic_energy", "completed")
    columns = []
    for array in (getattr(report, name) for name in arrays):
        # Entries have unused bytes.
        columns += [array[field].tobytes() for field in array.dtype.names] if array.dtype.names else [array.tobytes()]
    return len(report.impacts), columns, [getattr(report, name) for name in numbers]


def step(simulation, duration=0.25):
    """Does a step, and returns all that the user sees of it, also an error."""
    try:
        return lists(simulation.step(duration)), state(simulation)
    except (carom.Error, ValueError) as error:
        return str(error), state(simulation)


def crowded(random, count=30):
    return dict(
        center=0.5 + (EDGE - 1) * random.random((count, 3)),
        radius=0.1 + 0.2 * random.random(count),
        velocity=2 * random.random((count, 3)) - 1,
        mass=np.where(random.random(count) < 0.1, np.inf, 0.5 + random.random(count)),
    )


@pytest.mark.parametrize("periodic", [False, True])
def test_an_edited_simulation_equals_one_that_is_built_anew(random, periodic):
    """Before the first step, random edits of a simulation and the same ones of plain arrays give the same bytes."""
    impacts = errors = 0
    for _ in range(12):
        given = crowded(random)
        arrays = {name: array.tolist() for name, array in given.items()}
        count = len(given["center"])
        arrays.update(groups=[0] * count, bodies=[-1] * count, restitution=[0.9] * count, gone=[False] * count)
        box = [] if periodic else carom.Wall.inside_box([0] * 3, [EDGE] * 3)
        walls = [*box, carom.Wall.sphere([3, 3, 3], 0.5), carom.Mesh(*RAMP)]
        options = dict(domain=carom.Domain([EDGE] * 3) if periodic else None, impacts=True, contacts=True)
        numbers = dict(gravity=[0.0, 0.0, 0.0], wall_restitution=1.0, contact_time=0.0)
        edited = carom.Simulation(**given, restitution=[0.9] * count, walls=walls, **numbers, **options)
        off = set()
        for _ in range(60):
            kind = random.integers(10)
            present = np.flatnonzero(~np.array(arrays["gone"]))
            k = int(random.choice(present))
            if kind == 0:
                new = crowded(random, 1)
                index = edited.add(**{name: array[0] for name, array in new.items()}, groups=2, restitution=0.5)
                holes = np.flatnonzero(arrays["gone"])
                assert index == (holes[0] if len(holes) else len(arrays["gone"]))
                row = {name: array[0].tolist() for name, array in new.items()}
                row.update(groups=2, bodies=-1, restitution=0.5, gone=False)
                for name, column in arrays.items():
                    column[index : index + 1] = [row[name]]
            elif kind == 1:
                several = random.choice(present, 2, replace=False)
                edited.remove(several if random.random() < 0.5 else np.isin(np.arange(len(edited)), several))
                for gone in several:
                    arrays["gone"][gone], arrays["velocity"][gone] = True, [0.0, 0.0, 0.0]
            elif kind == 2 and any(arrays["gone"]):
                hole = int(np.flatnonzero(arrays["gone"])[0])
                edited.restore(hole, [3, 1, 5], [1, 0, 0], 0.25, 2.0)
                for name, value in dict(gone=False, center=[3.0, 1.0, 5.0], velocity=[1.0, 0.0, 0.0], radius=0.25, mass=2.0).items():
                    arrays[name][hole] = value
            elif kind == 3:
                arrays["velocity"][k] = [0.5, -0.5, 0.25]
                edited.velocity = arrays["velocity"]
            elif kind in (4, 5, 6):
                name = ("groups", "bodies", "restitution")[kind - 4]
                column = edited.restitution.copy() if name == "restitution" else getattr(edited, name).copy()
                assert column.tolist() == arrays[name]
                arrays[name][k] = column[k] = random.choice([0.25, 1.0]) if kind == 6 else random.integers(3)
                setattr(edited, name, column)
            elif kind == 7:
                numbers = dict(gravity=[0.0, 0.0, -random.random()], wall_restitution=random.random(), contact_time=1e-3)
                for name, value in numbers.items():
                    setattr(edited, name, value)
                assert edited.gravity.tolist() == numbers["gravity"]
            elif kind == 8:
                place = int(random.integers(len(walls)))
                off ^= {place}
                edited.enable_wall(place + int(random.integers(2)) * (place == len(walls) - 1), place not in off)
            else:
                walls[-2] = walls[-2].replace(velocity=[0, random.random(), 0], restitution=0.75)
                walls[-1] = walls[-1].replace(velocity=[0, 0, 0.5], groups=1, restitution=random.random())
                edited.walls = walls
        gone = arrays.pop("gone")
        anew = carom.Simulation(**arrays, walls=walls, **numbers, **options)
        anew.remove(gone)
        for place in off:
            anew.enable_wall(place, False)
        assert state(edited) == state(anew)
        for _ in range(4):
            one, other = step(edited, 1.0), step(anew, 1.0)
            assert one == other
            impacts += one[0][0] if isinstance(one[0], tuple) else 0
            errors += isinstance(one[0], str)
    assert impacts > 80 and errors < 10, (impacts, errors)


def scene(random, **options):
    given = crowded(random, 60)
    given["mass"] = 1.0
    walls = [*carom.Wall.inside_box([0] * 3, [EDGE] * 3), carom.Wall.sphere([3, 3, 3], 0.5, velocity=[0.1, 0, 0])]
    walls.append(carom.Mesh(*RAMP, velocity=[0, 0, 0.0625], groups=carom.groups(2, 0)))
    chosen = dict(gravity=[0, 0, -3], contact_time=1e-3, groups=np.arange(60) % 2, bodies=np.arange(60) // 2, impacts=True, contacts=True)
    chosen.update(options)
    simulation = carom.Simulation(**given, walls=walls, **chosen)
    simulation.separate()
    return simulation


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda simulation: pickle.loads(pickle.dumps(simulation)),
    "pickle, protocol 0": lambda simulation: pickle.loads(pickle.dumps(simulation, 0)),
    "twice": lambda simulation: pickle.loads(pickle.dumps(copy.copy(pickle.loads(pickle.dumps(simulation))))),
}


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize("options", [dict(restitution=0.6), dict(restitution=np.linspace(0.2, 0.9, 60), combine="min")])
def test_a_copy_goes_on_with_the_same_bytes(random, name, options):
    simulation = scene(random, **options)
    for _ in range(6):
        simulation.step(0.25)
    simulation.remove([3, 5])
    simulation.enable_wall(6, False)
    before = state(simulation)
    again = COPIES[name](simulation)
    assert state(again) == before and again is not simulation and repr(again) == repr(simulation)
    one = [step(again) for _ in range(5)]
    # The copy shares nothing with the original.
    assert state(simulation) == before
    assert [step(simulation) for _ in range(5)] == one
    # Both take the same edits, also of walls, and their meshes go on from where they are.
    for each in (simulation, again):
        assert each.add([[3, 3, 5.5], [1, 5, 5]], 0.2, groups=7).tolist() == [3, 5]
        *others, ramp = each.walls
        each.walls = [*others[:-1], others[-1].replace(velocity=[0, 0.2, 0]), ramp.replace(velocity=[0, 0, -0.0625])]
        each.enable_wall(6)
    assert [step(simulation) for _ in range(3)] == [step(again) for _ in range(3)]


def test_what_is_no_snapshot(random):
    simulation = scene(random)
    simulation.step(0.5)
    restored, (snapshot, own) = simulation.__reduce__()
    assert state(restored(snapshot, own)) == state(simulation)
    assert b"0.1.0" in snapshot[:32]
    wrong = [b"", snapshot[:-1], snapshot + b"x", b"foreign" * 20, snapshot.replace(b"0.1.0", b"0.0.9", 1), b"\xff" * 64]
    for place in random.integers(0, len(snapshot), 40):
        wrong.append(snapshot[:place] + bytes([snapshot[place] ^ 4]) + snapshot[place + 1 :])
    for bad in wrong:
        with pytest.raises(ValueError, match="snapshot of a simulation is invalid: "):
            restored(bad, own)
    with pytest.raises(ValueError, match="carom 0.0.9 wrote it"):
        restored(snapshot.replace(b"0.1.0", b"0.0.9", 1), own)


@pytest.mark.parametrize("combine", COMBINED)
def test_restitution_of_each(combine):
    """Two equal balls part with e times the speed of approach; e follows from both."""
    for a, b in [(0.8, 0.25), (0.0, 1.0), (0.5, 0.5)]:
        simulation = carom.Simulation(**BALLS, restitution=[a, b], combine=combine)
        simulation.step(2.0)
        assert np.diff(simulation.velocity[:, 0])[0] == pytest.approx(2 * COMBINED[combine](a, b), abs=1e-14)
        assert simulation.restitution.tolist() == [a, b]
        floor = carom.Wall.half_space([0, 0, 1], 0, restitution=b)
        ball = carom.Simulation([[0, 0, 3]], 1.0, [0, 0, -2], restitution=[a], combine=combine, walls=floor)
        ball.step(2.0)
        assert ball.velocity[0, 2] == pytest.approx(2 * COMBINED[combine](a, b), abs=1e-14)


def test_restitution_for_all_and_of_walls():
    floor = carom.Wall.half_space([0, 0, 1], 0)
    for walls, options, e in [
        (floor, {}, 1.0),
        (floor, dict(wall_restitution=0.5), 0.5),
        (floor.replace(restitution=0.25), dict(wall_restitution=0.5), 0.25),
        (carom.Mesh([[-9, -9, 0], [9, -9, 0], [0, 9, 0]], [[0, 1, 2]], restitution=0.125), {}, 0.125),
    ]:
        simulation = carom.Simulation([[0, 0, 3]], 1.0, [0, 0, -2], walls=walls, **options)
        simulation.step(2.0)
        assert simulation.velocity[0, 2] == pytest.approx(2 * e, abs=1e-14)
    simulation = carom.Simulation(**BALLS)
    assert simulation.restitution == 1.0
    simulation.restitution = 0.5
    assert (simulation.restitution, simulation.add([9, 9, 9], 1.0)) == (0.5, 2)
    simulation.step(2.0)
    assert np.diff(simulation.velocity[:2, 0])[0] == pytest.approx(1.0)
    simulation.restitution = [0.5, 0.25, 0.75]
    assert simulation.add([[20, 9, 9], [30, 9, 9]], 1.0, restitution=[0.1, 0.2]).tolist() == [3, 4]
    assert simulation.add([40, 9, 9], 1.0) == 5
    assert simulation.restitution.tolist() == [0.5, 0.25, 0.75, 0.1, 0.2, 0.5]
    simulation.restitution = 0.125
    assert simulation.restitution.tolist() == [0.125] * 6
    for value, text in [(2.0, "restitution"), ([0.5] * 5 + [np.nan], "sphere 5"), ([0.5], r"\(6,\)"), ("high", "restitution")]:
        with pytest.raises(ValueError, match=text):
            simulation.restitution = value
    assert simulation.restitution.tolist() == [0.125] * 6
    with pytest.raises(ValueError, match="combine"):
        carom.Simulation(**BALLS, combine="median")
    for make in (lambda e: floor.replace(restitution=e), lambda e: carom.Mesh(*RAMP, restitution=e)):
        with pytest.raises(ValueError, match="restitution is 1.5, but must be from 0 to 1"):
            make(1.5)


def test_indices():
    simulation = carom.Simulation(np.arange(15).reshape(5, 3) * 10.0, 0.5, [1, 0, 0])
    for spheres, gone in [(1, [1]), ([4, 1], [1, 4]), (np.uint8(2), [2]), (np.array([True, False] * 2 + [False]), [0, 2])]:
        copied = copy.copy(simulation)
        copied.remove(spheres)
        assert np.flatnonzero(copied.removed).tolist() == gone
    simulation.remove([3, 1, 3])
    simulation.remove([])
    assert simulation.removed.tolist() == [False, True, False, True, False] and len(simulation) == 5
    assert simulation.velocity[:, 0].tolist() == [1, 0, 1, 0, 1] and simulation.kinetic_energy == 1.5
    for spheres, text in [(1, "sphere 1 is removed"), ([0, 3], "sphere 3 is removed"), (5, "from 0 to 4"), (-1, "from 0 to 4"), (0.0, "whole numbers"), ([True], "5 bools")]:
        with pytest.raises(ValueError, match=text):
            simulation.remove(spheres)
    assert simulation.removed.sum() == 2  # all or none
    assert simulation.add(np.ones((4, 3)) * [[100], [200], [300], [400]], 0.5, bodies=[1, 1, 2, -9]).tolist() == [1, 3, 5, 6]
    assert simulation.bodies.tolist() == [-1, 1, -1, 1, -1, 2, -1] and not simulation.removed.any()
    assert simulation.center[[1, 3, 5, 6], 0].tolist() == [100, 200, 300, 400] and len(simulation) == 7
    for change, text in [
        (dict(center=[[0, 0, 0], [1, 1, 1]], radius=[1, -1]), "sphere 1 .*radius"),
        (dict(center=[0, 0, 0], radius=1, mass=0), "mass"),
        (dict(center=[[0, 0, 0]], radius=1, restitution=3), "restitution"),
        (dict(center=[[0, 0, 0]], radius=1, groups=[1, 2]), "groups"),
        (dict(center=[[0, 0]], radius=1), "center"),
    ]:
        with pytest.raises(ValueError, match=text):
            simulation.add(**change)
    assert len(simulation) == 7 and simulation.add(np.zeros((0, 3)), 1.0).tolist() == []
    empty = carom.Simulation(np.zeros((0, 3)), 1.0)
    assert empty.add([0, 0, 0], 1.0) == 0 and len(empty) == 1 and empty.center.shape == (1, 3)
    for array in (simulation.groups, simulation.bodies, simulation.gravity):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_groups_and_bodies_between_steps():
    for name, apart, together in [("groups", carom.groups(1, 1), 0), ("bodies", 5, -1)]:
        simulation = carom.Simulation(**BALLS)
        setattr(simulation, name, apart)
        assert simulation.step(0.5).sphere_impacts == 0 and getattr(simulation, name).tolist() == [apart] * 2
        setattr(simulation, name, [together] * 2)
        assert simulation.step(1.5).sphere_impacts == 1
        with pytest.raises(ValueError, match=name):
            setattr(simulation, name, [1, 2, 3])


def test_walls_between_steps():
    """The paddle hits the ball with the speed that takes it to its aim."""
    simulation = carom.Simulation([[3, 0, 0]], 0.5, walls=carom.Wall.sphere([0, 0, 0], 1))
    dt = 0.125
    for mouse in (0.5, 2.0, 2.0):
        (paddle,) = simulation.walls
        simulation.walls = paddle.replace(velocity=[(mouse - paddle.center[0]) / dt, 0, 0])
        simulation.step(dt)
    assert simulation.walls[0].center == (2.0, 0.0, 0.0) and simulation.walls[0].velocity[0] == 0
    assert simulation.velocity[0, 0] == 2 * 12.0
    # Switched off, nothing touches a wall, which moves on.
    lift = carom.Wall.half_space([0, 0, 1], 0, velocity=[0, 0, 1.0])
    falls = carom.Simulation([[0, 0, 4]], 1.0, [0, 0, -1.0], walls=lift)
    falls.enable_wall(0, False)
    assert falls.step(2.5).wall_impacts == 0 and falls.walls[0].offset == 2.5
    falls.enable_wall(0)
    falls.center = [[0, 0, 7.5]]
    # They meet after two units of time: 7.5 - 1 - t = 2.5 + t.
    assert falls.step(1.9).wall_impacts == 0
    assert falls.step(0.2).wall_impacts == 1 and falls.velocity[0, 2] == pytest.approx(3.0)
    with pytest.raises(ValueError, match="there is no wall 1: there are 1 walls"):
        falls.enable_wall(1)
    with pytest.raises(ValueError, match="wall 1 is"):
        falls.walls = [lift, carom.Wall.half_space([0, 0, 1], 0, velocity=[1e30, 0, 0])]
    assert len(falls.walls) == 1
    falls.walls = None
    assert falls.walls == () and falls.step(100.0).wall_impacts == 0


def test_a_mesh_goes_on_from_where_it_is():
    """A plate rises with speed 1, and from time 2 on with 2. It meets a ball of radius 1 that rests at z = 10 at time 5.5."""
    plate = carom.Mesh([[-9, -9, 0], [9, -9, 0], [0, 9, 0]], [[0, 1, 2]], velocity=[0, 0, 1])
    for again in (lambda simulation: simulation, COPIES["pickle"], copy.copy):
        simulation = carom.Simulation([[0, 0, 10]], 1.0, walls=plate, impacts=True)
        simulation.step(2.0)
        simulation = again(simulation)
        (mesh,) = simulation.walls
        assert mesh.vertices.tolist() == plate.vertices.tolist()
        simulation.walls = mesh.replace(velocity=[0, 0, 2])
        report = simulation.step(9.0)
        assert report.impacts["time"].tolist() == pytest.approx([5.5]) and simulation.velocity[0, 2] == pytest.approx(4.0)


def test_replaced_walls():
    wall = carom.Wall.cylinder([0, 0, 1], [0, 0, 2], 3, hollow=True)
    other = wall.replace(radius=4, velocity=[1, 0, 0])
    assert other == carom.Wall.cylinder([0, 0, 1], [0, 0, 2], 4, hollow=True, velocity=[1, 0, 0]) and wall.radius == 3
    assert (wall.point, wall.axis, wall.hollow, wall.groups, wall.restitution) == ((0, 0, 1), (0, 0, 2), True, 0, None)
    assert carom.Wall.half_space([0, 0, 1], 2, restitution=0.5).offset == 2
    for again in (copy.copy, copy.deepcopy, COPIES["pickle"]):
        assert again(other.replace(restitution=0.5)).restitution == 0.5
    with pytest.raises(AttributeError, match="no center"):
        wall.center
    with pytest.raises(TypeError, match="center"):
        wall.replace(center=[0, 0, 0])
    with pytest.raises(ValueError, match="radius"):
        wall.replace(radius=-1)
    mesh = carom.Mesh(*RAMP, restitution=0.5)
    assert mesh.replace(groups=3).restitution == 0.5 and mesh.replace(restitution=None).restitution is None
    assert COPIES["pickle"](mesh).restitution == 0.5 and repr(carom.Wall.sphere([0, 0, 0], 1, restitution=0.5)).endswith("restitution=0.5)")
    with pytest.raises(TypeError, match="not vertices"):
        mesh.replace(vertices=[])


def test_answers_of_rules():
    for e in (0.25, 1, np.float32(0.5), np.float64(0.0), np.array(0.75)):
        simulation = carom.Simulation(**BALLS)
        simulation.step(2.0, lambda encounter, e=e: e)
        assert simulation.velocity[:, 0].tolist() == [1 - float(e), 1 + float(e)]
    for answer, speeds in [
        (("keep", "bounce"), [2, 2]),
        (("bounce", "keep"), [0, 0]),
        (("bounce", "bounce"), [0, 2]),
        (("keep", [3, 0, 0]), [2, 3]),
        (("keep", "remove"), [2, 0]),
    ]:
        simulation = carom.Simulation(**BALLS)
        simulation.step(2.0, lambda encounter, answer=answer: answer)
        assert simulation.velocity[:, 0].tolist() == speeds
    for answer, error, text in [
        (7, ValueError, "restitution that the rule returns is 7"),
        (-0.5, ValueError, "restitution that the rule returns"),
        (np.nan, ValueError, "restitution that the rule returns"),
        (True, TypeError, "a restitution or two outcomes"),
        (np.bool_(False), TypeError, "a restitution or two outcomes"),
        (("keep", "go"), TypeError, '"keep", "bounce" or "remove"'),
    ]:
        with pytest.raises(error, match=text):
            carom.Simulation(**BALLS).step(2.0, lambda encounter, answer=answer: answer)


def test_contacts(random):
    """The contacts are those of the impacts, and of what rests, of this step and the one before."""
    simulation = scene(random, gravity=[0, 0, 0], contact_time=0.0)
    before = set()
    for _ in range(8):
        report = simulation.step(0.2)
        contacts = {tuple(row) for row in report.impacts[["sphere", "partner", "at_wall"]].tolist()}
        began, lasted, ended = ([tuple(row) for row in getattr(report, name).tolist()] for name in ("began", "lasted", "ended"))
        assert (set(began), set(lasted), set(ended)) == (contacts - before, contacts & before, before - contacts)
        assert len(began) == len(set(began)) and len(lasted) == len(set(lasted)) and len(ended) == len(set(ended))
        before = contacts
    assert len(before) and report.began.dtype.names == ("sphere", "partner", "at_wall")
    again = pickle.loads(pickle.dumps(report))
    assert again.began.tolist() == report.began.tolist()
    ball = carom.Simulation([[0, 0, 1]], 1.0, gravity=[0, 0, -10], walls=carom.Wall.half_space([0, 0, 1], 0), wall_restitution=0.5, contact_time=1e-3, contacts=True)
    assert ball.step(0.1).began.tolist() == [(0, 0, True)] and ball.step(0.1).lasted.tolist() == [(0, 0, True)]
    ball.gravity = [0, 0, 10]
    assert ball.step(0.1).ended.tolist() == [(0, 0, True)]
    assert len(carom.Simulation(**BALLS).step(2.0).began) == 0


def test_edits_in_a_callback():
    simulation = carom.Simulation(np.zeros((0, 3)), 0.5, gravity=[0, 0, -10])

    def feed(simulation, report):
        low = (simulation.center[:, 2] < -3) & ~simulation.removed
        simulation.remove(low)
        simulation.add([0, 0, 0], 0.5)

    simulation.run(10.0, dt=0.5, callback=feed)
    # A sphere is below −3 after the second step, so three have been there at most.
    assert len(simulation) == 2 and simulation.removed.sum() == 0

    def spoils(encounter):
        with pytest.raises(carom.Error, match="called from a rule"):
            moving.remove(0)
        with pytest.raises(carom.Error, match="called from a rule"):
            copy.copy(moving)

    moving = carom.Simulation(**BALLS)
    assert moving.step(2.0, spoils).sphere_impacts == 1


def bounce(detector, center, velocity, radius, dt):
    """Moves equal spheres for a time, impact by impact, each time detecting the rest anew."""
    impacts = 0
    while True:
        hits = detector.detect(center, radius, velocity, dt, without_separating=True)
        assert carom.verify(hits, center, radius, velocity, dt, without_separating=True)
        first = int(np.argmin(hits.toi)) if len(hits) else None
        time = dt if first is None else hits.toi[first]
        center = center + velocity * time
        if first is None:
            return center, velocity, impacts
        impacts += 1
        points = hits.points()
        change = points.normal[first] * points.approach_speed[first]
        velocity = velocity.copy()
        velocity[hits.a[first]] -= change
        velocity[hits.b[first]] += change
        dt -= time


def test_bounce_then_detect_the_rest_anew(backend, random):
    """The recipe gives the impacts of a simulation."""
    grid = np.stack(np.meshgrid(*[np.arange(4.0)] * 3), axis=-1).reshape(-1, 3) * 1.5
    velocity = random.normal(size=grid.shape)
    moved, speeds, impacts = bounce(carom.Detector(backend), grid, velocity, 0.5, 1.0)
    simulation = carom.Simulation(grid, 0.5, velocity)
    assert simulation.step(1.0).sphere_impacts == impacts > 20
    assert np.allclose(simulation.center, moved, rtol=0, atol=1e-9)
    assert np.allclose(simulation.velocity, speeds, rtol=0, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_without_separating(backend, crowd, dtype):
    """What is left out touches at the start, and does not approach."""
    center, radius, velocity = crowd(400, dtype, side=12)
    walls = [carom.Wall.half_space([0, 0, 1], 1.0), carom.Wall.sphere([6, 6, 6], 2, velocity=[0, 1, 0])]
    domain = None
    given = dict(walls=walls, domain=domain, backend=backend)
    hits = carom.detect(center, radius, velocity, 0.25, **given)
    fewer = carom.detect(center, radius, velocity, 0.25, without_separating=True, **given)
    away = (center[hits.b].astype(np.float64) - center[hits.a]) * (velocity[hits.b].astype(np.float64) - velocity[hits.a])
    kept = (hits.toi > 0) | (away.sum(axis=1) < 0)
    assert 0 < kept.sum() < len(hits) and np.array_equal(np.asarray(hits)[kept], np.asarray(fewer))
    approach = hits.walls.points().approach_speed
    kept = (hits.walls.toi > 0) | (approach > 0)
    assert 0 < kept.sum() < len(hits.walls) and np.array_equal(np.asarray(hits.walls)[kept], np.asarray(fewer.walls))
    given = (center, radius, velocity, 0.25)
    assert carom.verify(fewer, *given, without_separating=True) and not carom.verify(fewer, *given)
    assert carom.verify_walls(fewer.walls, walls, *given, without_separating=True) and not carom.verify_walls(fewer.walls, walls, *given)
    # A result in another process searches again, likewise.
    again = pickle.loads(pickle.dumps(fewer))
    assert again.points().point.tobytes() == fewer.points().point.tobytes()
