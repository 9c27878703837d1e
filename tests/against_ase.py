#!/usr/bin/env python3
"""Compares `carom neighbors` with ASE and vesin: tests/against_ase.py CAROM

CAROM is the path of the tool. The script needs the Python packages `ase` and `vesin`.

It makes crystals, with cutoffs between their shells of neighbours, and random particles in rectangular,
triclinic and very thin cells with each choice of periodic edges, some of them many cells outside. All
coordinates and edges are float32 numbers, so that rounding the input changes nothing. The lists of
`ase.neighborlist.primitive_neighbor_list` and vesin, which are full lists with the image of the second particle
(its shift), must have the same pairs and images as carom's full list. Only pairs whose distance differs from
the cutoff by less than the rounding errors of float64 may differ, and the script prints each of these. carom's
half list must be half of its full list.
"""

import csv
import itertools
import pathlib
import subprocess
import sys
import tempfile

import ase
import ase.build
import ase.io
import numpy as np
import vesin
from ase.neighborlist import primitive_neighbor_list


def crystals():
    """Yields a name, atoms and a cutoff between two shells of neighbours."""
    for name, structure, a in [("Cu", "fcc", 3.6), ("Fe", "bcc", 2.87), ("Si", "diamond", 5.43), ("Po", "sc", 3.35)]:
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
    for number, periodic in enumerate(itertools.product([True, False], repeat=3)):
        for kind in ["rectangular", "triclinic", "thin", "skewed"]:
            lengths = rng.uniform(4, 9, 3)
            if kind == "thin":
                lengths[number % 3] = 0.6
            cell = np.diag(lengths)
            if kind in ("triclinic", "thin"):
                cell += rng.uniform(-1.5, 1.5, (3, 3)) * (kind == "triclinic")
            if kind == "skewed":
                cell[1] += 1.7 * cell[0]
                cell[2] += 2.3 * cell[1] - 0.9 * cell[0]
            count = 20 if kind == "thin" else 150
            inside = rng.uniform(-0.2, 1.2, (count, 3))
            inside[:10] += rng.integers(-5, 6, (10, 3))
            atoms = ase.Atoms(f"H{count}", positions=inside @ cell, cell=cell, pbc=periodic)
            yield kind, atoms, rng.uniform(1.2, 2.5)


def of_carom(carom, path, cutoff, *options):
    """Returns carom's list as a map from (i, j, image) to the distance."""
    command = [carom, "neighbors", path, "--cutoff", repr(float(cutoff)), "--backend", "cpu", "--output", "-"]
    done = subprocess.run([*command, *options], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    rows = list(csv.DictReader(done.stdout.splitlines()))
    keys = [tuple(int(row[column]) for column in ["i", "j", "n1", "n2", "n3"]) for row in rows]
    assert keys == sorted(set(keys)), "the list must be sorted and without repeats"
    return dict(zip(keys, (float(row["d"]) for row in rows)))


def of_other(i, j, shifts):
    return {(int(a), int(b), *(int(n) for n in shift)) for a, b, shift in zip(i, j, shifts)}


def compare(name, atoms, cutoff, carom, folder):
    cutoff = np.float32(cutoff)
    atoms.positions = atoms.positions.astype(np.float32)
    atoms.cell[:] = np.asarray(atoms.cell).astype(np.float32)
    path = folder / "atoms.xyz"
    ase.io.write(path, atoms, format="extxyz", write_info=False)
    # `ase.io.write` rounds to 8 decimal places, so the numbers are taken from the file.
    atoms.positions = ase.io.read(path).positions.astype(np.float32)
    full = of_carom(carom, path, cutoff, "--full")
    half = of_carom(carom, path, cutoff)
    first = {key for key in full if key[:2] < key[1::-1] or (key[0] == key[1] and key[2:] > (0, 0, 0))}
    assert half.keys() == first, f"{name}: the half list is not half of the full list"
    cell, wide = np.asarray(atoms.cell), float(cutoff)
    ours = primitive_neighbor_list("ijS", atoms.pbc, cell, atoms.positions, wide)
    calculator = vesin.NeighborList(cutoff=wide, full_list=True)
    theirs = calculator.compute(atoms.positions, cell, atoms.pbc, "ijS")
    wrong = 0
    for who, other in [("ASE", of_other(*ours)), ("vesin", of_other(*theirs))]:
        for key in sorted(full.keys() ^ other):
            vector = atoms.positions[key[1]] - atoms.positions[key[0]] + np.array(key[2:]) @ cell
            excess = np.linalg.norm(vector) - wide
            near = abs(excess) < 1e-12
            wrong += not near
            has = "carom" if key in full else who
            print(f"  {name}: only {has}, not both, has {key}: distance - cutoff = {excess:.3g}")
    return len(full), wrong


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    carom = pathlib.Path(sys.argv[1]).resolve()
    rng = np.random.default_rng(1)
    cases = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, atoms, cutoff in [*crystals(), *random_cells(rng)]:
            entries, wrong = compare(name, atoms, cutoff, carom, pathlib.Path(folder))
            cases.setdefault(name, []).append((entries, wrong))
    for name, results in cases.items():
        entries, wrong = map(sum, zip(*results))
        print(f"{name}: {len(results)} cases, {entries} entries, {wrong} differ")
    if any(wrong for results in cases.values() for _, wrong in results):
        sys.exit("The lists differ.")


main()
