#!/usr/bin/env python3
"""Compares `carom neighbors` in float64 with ASE, matscipy and vesin: tests/against_ase.py CAROM

CAROM is the path of the tool. The script needs the Python packages `ase` and `numpy`; `matscipy` and `vesin` are
skipped if they are not installed, and the script says so.

It makes crystals, with cutoffs between their shells of neighbours, and random particles in rectangular,
triclinic, left-handed, very thin and very small cells with each choice of periodic edges, some of them many cells
outside, and some in the coordinates of a survey. carom reads and writes arrays of float64. The lists of
`ase.neighborlist.primitive_neighbor_list`, `matscipy.neighbours.neighbour_list` and `vesin.NeighborList`, which are
full lists with the image of the second particle (its shift), must have the same pairs and images as carom's full
list. Only pairs whose distance differs from the cutoff by less than the rounding errors of float64 may differ, and
the script prints each of these. carom's half list must be half of its full list.

The distances of carom must be within 2 ulp of those that `numpy.longdouble` gives. The script counts the distances of
the others that differ from carom's by more than 2 ulp, and those of them that are nearer to `numpy.longdouble`'s.
"""

import importlib.util
import itertools
import pathlib
import subprocess
import sys
import tempfile
from collections import Counter
from importlib import metadata

import ase
import ase.build
import numpy as np
from ase.neighborlist import primitive_neighbor_list


def crystals():
    """Yields a name, atoms and a cutoff between two shells of neighbours."""
    for name, structure, a in [
        ("Cu", "fcc", 3.6), ("Fe", "bcc", 2.87), ("Si", "diamond", 5.43), ("Po", "sc", 3.35), ("NaCl", "rocksalt", 5.64),
    ]:
        atoms = ase.build.bulk(name, structure, a=a)
        for repeat in [(1, 1, 1), (3, 2, 4)]:
            for cutoff in [0.8 * a, 1.08 * a, 2.6 * a]:
                yield f"{name} {structure}", atoms.repeat(repeat), cutoff
    hcp = ase.build.bulk("Mg", "hcp", a=3.21, c=5.21)
    yield "Mg hcp", hcp.repeat((2, 2, 1)), 4.0
    slab = ase.build.fcc111("Al", size=(3, 3, 4), vacuum=6)
    yield "Al slab", slab, 3.5


def random_cells(rng):
    """Yields a name, atoms and a cutoff."""
    kinds = ["rectangular", "triclinic", "thin", "skewed", "left-handed", "tiny", "survey"]
    for number, periodic in enumerate(itertools.product([True, False], repeat=3)):
        for kind in kinds:
            lengths = rng.uniform(4, 9, 3)
            if kind == "thin":
                lengths[number % 3] = 0.6
            if kind == "tiny":
                lengths /= 10
            cell = np.diag(lengths)
            if kind in ("triclinic", "left-handed", "tiny"):
                cell += rng.uniform(-0.2, 0.2, (3, 3)) * lengths.mean()
            if kind == "skewed":
                cell[1] += 1.7 * cell[0]
                cell[2] += 2.3 * cell[1] - 0.9 * cell[0]
            if kind == "left-handed":
                cell = cell[[1, 0, 2]]
            count = {"thin": 20, "tiny": 4}.get(kind, 150)
            inside = rng.uniform(-0.2, 1.2, (count, 3))
            if kind != "survey":
                inside[: count // 15] += rng.integers(-5, 6, (count // 15, 3))
            positions = inside @ cell
            if kind == "survey":
                positions += [448_200, 4_582_300, 200]
            atoms = ase.Atoms(f"H{count}", positions=positions, cell=cell, pbc=periodic)
            yield kind, atoms, rng.uniform(1.2, 2.5)


def of_carom(carom, atoms, cutoff, folder, *options):
    """Returns the arrays of carom's list."""
    path, listed = folder / "atoms.npz", folder / "list.npz"
    np.savez(path, positions=atoms.positions, cell=atoms.cell.array, pbc=atoms.pbc)
    command = [carom, "neighbors", path, "--cutoff", repr(cutoff), "--backend", "cpu", "--output", listed, *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    with np.load(listed) as columns:
        found = {name: columns[name] for name in columns}
    assert found["d"].dtype == np.float64 and found["dx"].dtype == np.float64, "the list must be in float64"
    images = np.stack([found[name] for name in ["n1", "n2", "n3"]], axis=1)
    return found["i"], found["j"], images, found["d"]


def of_ase(atoms, cutoff):
    return primitive_neighbor_list("ijSd", atoms.pbc, atoms.cell.array, atoms.positions, cutoff)


def of_matscipy(atoms, cutoff):
    from matscipy.neighbours import neighbour_list

    arrays = {"positions": atoms.positions, "cell": atoms.cell.array, "pbc": atoms.pbc}
    return neighbour_list("ijSd", cutoff=cutoff, **arrays)


def of_vesin(atoms, cutoff):
    import vesin

    calculator = vesin.NeighborList(cutoff=cutoff, full_list=True)
    return calculator.compute(atoms.positions, atoms.cell.array, atoms.pbc, "ijSd")


def by_pair(i, j, images, distances):
    """Returns a list as a map from (i, j, image) to the distance."""
    keys = [(int(a), int(b), *map(int, image)) for a, b, image in zip(i, j, images)]
    assert len(set(keys)) == len(keys), "a list must be without repeats"
    return dict(zip(keys, distances))


def wide(atoms, key):
    """Returns the distance of a pair in arithmetic of 64 bits."""
    positions, cell = atoms.positions.astype(np.longdouble), atoms.cell.array.astype(np.longdouble)
    vector = positions[key[1]] - positions[key[0]] + np.array(key[2:], dtype=np.longdouble) @ cell
    return np.sqrt(vector @ vector)


def compare(name, atoms, cutoff, carom, others, folder):
    """Returns the number of entries, the worst error of carom's distances in ulp, and what is counted of the others."""
    full = by_pair(*of_carom(carom, atoms, cutoff, folder, "--full"))
    half = by_pair(*of_carom(carom, atoms, cutoff, folder))
    first = {key for key in full if key[:2] < key[1::-1] or (key[0] == key[1] and key[2:] > (0, 0, 0))}
    assert half == {key: full[key] for key in first}, f"{name}: the half list is not half of the full list"
    exact = {key: wide(atoms, key) for key in full}
    error = max((abs(full[key] - exact[key]) / np.spacing(full[key]) for key in full), default=0)
    assert error <= 2, f"{name}: a distance of carom is {error} ulp off"
    counts = Counter()
    for who, lists in others.items():
        theirs = by_pair(*lists(atoms, cutoff))
        for key in sorted(full.keys() ^ theirs.keys()):
            excess = float(wide(atoms, key) - cutoff)
            counts["wrong"] += abs(excess) >= 1e-12
            has = "carom" if key in full else who
            print(f"  {name}: only {has}, not both, has {key}: distance - cutoff = {excess:.3g}")
        for key in full.keys() & theirs.keys():
            far = abs(theirs[key] - full[key]) > 2 * np.spacing(full[key])
            counts[who, "far"] += far
            counts[who, "nearer"] += far and abs(theirs[key] - exact[key]) < abs(full[key] - exact[key])
    return len(full), float(error), counts


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if np.finfo(np.longdouble).nmant < 63:
        sys.exit("`numpy.longdouble` has fewer than 64 bits on this machine.")
    carom = pathlib.Path(sys.argv[1]).resolve()
    others = {}
    for name, lists in [("ase", of_ase), ("matscipy", of_matscipy), ("vesin", of_vesin)]:
        if importlib.util.find_spec(name):
            others[name] = lists
            print(f"{name} {metadata.version(name)}")
        else:
            print(f"{name} is not installed: skipped")
    cases, sums = {}, Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, atoms, cutoff in [*crystals(), *random_cells(np.random.default_rng(1))]:
            entries, error, counts = compare(name, atoms, float(cutoff), carom, others, pathlib.Path(folder))
            cases.setdefault(name, []).append((entries, error, counts["wrong"]))
            sums += counts
    for name, results in cases.items():
        entries, errors, wrong = zip(*results)
        print(
            f"{name}: {len(results)} cells, {sum(entries)} entries, {sum(wrong)} differ, "
            f"distances of carom within {max(errors):.2f} ulp"
        )
    total = sum(entries for results in cases.values() for entries, _, _ in results)
    print(f"all: {sum(map(len, cases.values()))} cells, {total} entries, {sums['wrong']} differ")
    for who in others:
        print(
            f"{who}: {sums[who, 'far']} distances differ from carom's by more than 2 ulp; "
            f"{sums[who, 'nearer']} of them are nearer to the exact ones"
        )
    if sums["wrong"]:
        sys.exit("The lists differ.")


main()
