"""Lists of neighbours, beside those of ASE, matscipy and vesin."""

import numpy as np
import pytest

import carom
import carom.ase

ase = pytest.importorskip("ase")
from ase import Atoms  # noqa: E402
from ase.build import bulk, fcc111, graphene, molecule  # noqa: E402
from ase.neighborlist import neighbor_list as of_ase  # noqa: E402


def crystals():
    """Yields names, atoms and cutoffs. No distance of a crystal is near its cutoff."""
    rng = np.random.default_rng(3)
    yield "fcc", bulk("Cu", cubic=True) * (2, 3, 2), 4.0
    yield "fcc, primitive", bulk("Cu"), 5.0
    yield "hcp", bulk("Mg") * (2, 2, 1), 4.0
    yield "diamond", bulk("Si"), 6.0
    yield "rock salt, perturbed", rattled(bulk("NaCl", "rocksalt", 5.64, cubic=True), rng), 4.5
    left = bulk("Mg") * (2, 2, 1)
    left.set_cell(left.cell[[1, 0, 2]], scale_atoms=False)
    yield "left-handed", rattled(left, rng), 4.0
    skewed = bulk("Si", cubic=True)
    skewed.set_cell(skewed.cell[:] + [[0, 0, 0], [9.3, 0, 0], [-7.1, 12.2, 0]], scale_atoms=True)
    yield "skewed", rattled(skewed, rng), 5.0
    yield "tiny", Atoms("Ar", [[0.1, 0.2, 0.3]], cell=[0.7, 0.8, 0.9], pbc=True), 3.0
    yield "slab", fcc111("Au", (3, 3, 3), vacuum=8.0), 4.5
    yield "slab without height", graphene(size=(3, 3, 1)), 3.0
    yield "wire", Atoms("C4", rng.random((4, 3)) * 3, cell=[3, 20, 20], pbc=[True, False, False]), 4.0
    yield "molecule", molecule("C60"), 2.0
    yield "outside the cell", Atoms("Ar30", rng.random((30, 3)) * 60 - 30, cell=[6, 7, 8], pbc=True), 3.0
    yield "dense", Atoms("H200", rng.random((200, 3)) * 8, cell=[[8, 0, 0], [3, 8, 0], [1, -2, 8]], pbc=[1, 1, 0]), 2.5
    yield "one atom", Atoms("H", [[0, 0, 0]]), 2.0
    yield "one atom, periodic", Atoms("H", [[1, 1, 1]], cell=[3, 3, 3], pbc=True), 2.0
    yield "no atom", Atoms(), 2.0
    yield "no atom, periodic", Atoms(cell=[3, 3, 3], pbc=True), 2.0


def rattled(atoms, rng):
    atoms.positions += rng.normal(0, 0.05, atoms.positions.shape)
    return atoms


CASES = [pytest.param(atoms, cutoff, id=name) for name, atoms, cutoff in crystals()]


def in_order(i, j, S, *rest):
    order = np.lexsort((S[:, 2], S[:, 1], S[:, 0], j, i))
    return [np.asarray(column)[order] for column in (i, j, S, *rest)]


@pytest.mark.parametrize("atoms, cutoff", CASES)
def test_same_as_ase(atoms, cutoff):
    check(atoms, cutoff, "cpu")


@pytest.mark.parametrize("atoms, cutoff", [case for case in CASES if case.id in ("skewed", "tiny", "slab", "molecule")])
def test_same_as_ase_on_each_backend(atoms, cutoff, backend):
    check(atoms, cutoff, backend)


def check(atoms, cutoff, backend):
    mine = carom.ase.neighbor_list("ijSdD", atoms, cutoff, backend=backend)
    if len(atoms) == 0:
        assert all(len(column) == 0 for column in mine)
        return
    theirs = in_order(*of_ase("ijSdD", atoms, cutoff))
    for one, other in zip(mine[:3], theirs[:3]):
        assert np.array_equal(one, other)
    # carom's distances are correct to two units in the last place, ASE's are rounded several times.
    scale = np.abs(atoms.positions).max() + np.abs(atoms.cell).max()
    assert np.abs(mine[3] - theirs[3]).max(initial=0) <= 1e-14 * scale
    assert np.abs(mine[4] - theirs[4]).max(initial=0) <= 1e-14 * scale
    i, j, S, d, D = mine
    assert (i.dtype, j.dtype, S.dtype, d.dtype, D.dtype) == (np.int64, np.int64, np.int32, np.float64, np.float64)
    assert np.allclose(D, atoms.positions[j] - atoms.positions[i] + S @ np.asarray(atoms.cell), atol=1e-12 * scale)


@pytest.mark.parametrize("atoms, cutoff", CASES)
def test_same_as_matscipy(atoms, cutoff):
    matscipy = pytest.importorskip("matscipy.neighbours")
    if len(atoms) == 0 or not atoms.pbc.any() or np.linalg.det(atoms.cell) <= 0:
        pytest.skip("matscipy takes no such cell")
    theirs = in_order(*matscipy.neighbour_list("ijSdD", atoms, cutoff))
    mine = carom.ase.neighbor_list("ijSdD", atoms, cutoff)
    for one, other in zip(mine[:3], theirs[:3]):
        assert np.array_equal(one, other)
    assert np.abs(mine[3] - theirs[3]).max(initial=0) <= 1e-12


@pytest.mark.parametrize("atoms, cutoff", CASES)
def test_same_as_vesin(atoms, cutoff):
    vesin = pytest.importorskip("vesin")
    if len(atoms) == 0 or (atoms.pbc.any() and np.linalg.det(atoms.cell) == 0):
        pytest.skip("vesin takes no such cell")
    calculator = vesin.NeighborList(cutoff=cutoff, full_list=True)
    theirs = calculator.compute(
        points=atoms.positions, box=np.asarray(atoms.cell), periodic=np.asarray(atoms.pbc), quantities="ijSdD"
    )
    theirs = in_order(*theirs)
    mine = carom.ase.neighbor_list("ijSdD", atoms, cutoff)
    for one, other in zip(mine[:3], theirs[:3]):
        assert np.array_equal(one, other)
    assert np.abs(mine[3] - theirs[3]).max(initial=0) <= 1e-12


def test_cutoffs_of_ase():
    atoms = bulk("NaCl", "rocksalt", 5.64, cubic=True)
    cutoffs = {("Na", "Cl"): 3.0, ("Na", "Na"): 4.2}
    mine = in_order(*carom.ase.neighbor_list("ijS", atoms, cutoffs))
    theirs = in_order(*of_ase("ijS", atoms, cutoffs))
    assert len(mine[0]) > 0 and all(np.array_equal(one, other) for one, other in zip(mine, theirs))
    radii = np.where(atoms.numbers == 11, 2.0, 2.5)
    mine = in_order(*carom.ase.neighbor_list("ijS", atoms, radii))
    theirs = in_order(*of_ase("ijS", atoms, radii))
    assert len(mine[0]) > 0 and all(np.array_equal(one, other) for one, other in zip(mine, theirs))
    assert len(carom.ase.neighbor_list("d", atoms, {})) == 0
    for cutoff, text in [
        ({"Cu": 3.0}, "cutoff has the key 'Cu', but the keys must be pairs of elements"),
        ({("Cu",): 3.0}, "the keys must be pairs"),
        ({("Cu", "Xx"): 3.0}, "cutoff has 'Xx', which is no element"),
        ({("Cu", "Cu"): "far"}, "cutoff is 'far'"),
    ]:
        with pytest.raises(ValueError, match=text):
            carom.ase.neighbor_list("ij", atoms, cutoff)
    for call in (carom.ase.detect, carom.ase.domain, lambda given: carom.ase.neighbor_list("ij", given, 2.0)):
        with pytest.raises(TypeError, match="atoms is ndarray, but must be ase.Atoms"):
            call(atoms.positions)
        with pytest.raises(ValueError, match="set atoms.cell, or atoms.pbc = False"):
            call(Atoms("H", positions=[[0, 0, 0]], pbc=True))
    with pytest.raises(ValueError, match="center has the dtype object; it seems to be Atoms.*carom.ase"):
        carom.detect(atoms, 1.0)
    with pytest.raises(ValueError, match="positions has the dtype object; it seems to be Atoms.*carom.ase"):
        carom.neighbor_list("ij", atoms, 1.0)


def test_letters():
    positions = [[0.5, 0, 0], [9.5, 0, 0]]
    i, j, d, D, S = carom.neighbor_list("ijdDS", positions, 2.0, cell=[10, 10, 10])
    assert (i.tolist(), j.tolist(), d.tolist()) == ([0, 1], [1, 0], [1.0, 1.0])
    assert (D.tolist(), S.tolist()) == ([[-1, 0, 0], [1, 0, 0]], [[-1, 0, 0], [1, 0, 0]])
    assert carom.neighbor_list("d", positions, 2.0, cell=[10, 10, 10]).tolist() == [1, 1]
    assert carom.neighbor_list("dd", positions, 20.0)[1].tolist() == [9, 9]
    assert carom.neighbor_list("S", positions, 20.0).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert carom.neighbor_list("i", positions, 9.0, full=False).tolist() == [0]  # exactly the cutoff
    assert len(carom.neighbor_list("i", positions, np.nextafter(9.0, 0))) == 0
    assert carom.neighbor_list("i", positions, 2.0, cell=[10, 10, 10], pbc=[0, 1, 1]).tolist() == []
    assert carom.neighbor_list("d", np.array(positions, np.float32), 2.0, cell=carom.Domain([10, 10, 10])).dtype == np.float32
    mine = carom.neighbor_list("d", positions, 20.0)
    mine[0] = 7  # the arrays are the caller's own
    assert len(carom.neighbor_list("ij", positions, 20.0, groups=carom.groups(1, 1))[0]) == 0
    for quantities in ("", "x", "ijk"):
        with pytest.raises(ValueError, match="letters"):
            carom.neighbor_list(quantities, positions, 2.0)


def test_a_list_with_a_skin():
    rng = np.random.default_rng(5)
    positions = rng.random((300, 3)) * 12
    cell = np.diag([12.0] * 3)
    neighbors = carom.NeighborList(2.0, skin=0.6)
    made = 0
    for _ in range(30):
        made += neighbors.update(positions, cell)
        near = neighbors.d <= 2.0
        i, j, d, S = carom.neighbor_list("ijdS", positions, 2.0, cell)
        assert np.array_equal(neighbors.i[near], i) and np.array_equal(neighbors.j[near], j)
        assert np.array_equal(neighbors.S[near], S) and np.array_equal(neighbors.d[near], d)
        positions = (positions + rng.normal(0, 0.03, positions.shape)) % 12
    assert 1 < made < 15
    assert neighbors.update(positions, cell, anew=True)
    k = 17
    row = slice(*neighbors.offsets[k : k + 2])
    assert (neighbors.i[row] == k).all() and len(neighbors.offsets) == 301 and neighbors.offsets[-1] == len(neighbors)
    assert neighbors.get("ij")[0] is neighbors.i and not neighbors.i.flags.writeable
    assert neighbors.statistics["spheres"] == 300 and repr(neighbors) == f"<carom.NeighborList: {len(neighbors)} entries>"
    # Other numbers of particles, other cells and dtypes make it anew.
    assert neighbors.update(positions[:20], cell) and len(neighbors.offsets) == 21
    assert neighbors.update(positions[:20].astype(np.float32), cell) and neighbors.d.dtype == np.float32
    assert neighbors.update(positions[:20])
    assert neighbors.S.shape == (len(neighbors), 3)


def test_detect_of_atoms():
    atoms = bulk("Cu", cubic=True) * (2, 2, 2)
    rng = np.random.default_rng(2)
    atoms.set_momenta(rng.normal(0, 3, (len(atoms), 3)))
    from ase import units
    from ase.data import covalent_radii

    hits = carom.ase.detect(atoms, 5 * units.fs)
    domain = carom.Domain(atoms.cell, periodic=atoms.pbc)
    mine = carom.detect(
        atoms.positions, covalent_radii[atoms.numbers], atoms.get_velocities(), 5 * units.fs, domain=domain
    )
    assert len(hits) > 0 and np.array_equal(np.asarray(hits), np.asarray(mine))
    atoms.set_array("radius", np.full(len(atoms), 0.5))
    assert len(carom.ase.detect(atoms)) == 0
    assert len(carom.ase.detect(atoms, radius=1.3)) > 0
    assert carom.ase.domain(molecule("H2O")) is None
