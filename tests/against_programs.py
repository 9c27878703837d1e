#!/usr/bin/env python3
"""Compares what carom reads with what other programs wrote: tests/against_programs.py CAROM [--record FOLDER]

CAROM is the path of the tool. ASE, LAMMPS (the command `lmp`), OVITO, MDAnalysis and gsd write the same 40 particles
in a periodic box, each in its own format; a program that is not installed is skipped, and the script says so. For each
file, `carom neighbors` must list the pairs within 2.5 of an exhaustive search in float64, with their images. For each
file with velocities, `carom collide` must find the pairs that touch in a step, at the times that the quadratic equation
gives. Files of formats that carom does not read are converted with the command that carom's error names.

With --record, the script copies the files and the pairs to a folder, from which the tests of the tool read them.
"""

import argparse
import csv
import gzip
import importlib.util
import itertools
import math
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import warnings

import numpy

CUTOFF, RADIUS, STEP = 2.5, 0.4, 0.5
LENGTHS = numpy.array([6.0, 7.0, 8.0])
RECORDED = (
    "ase-momenta.xyz", "ase.npz", "ase.data.gz", "lammps.dump", "lammps-written.data", "ovito.xyz", "mdanalysis.npz",
)
random = numpy.random.default_rng(47)
POSITIONS = numpy.round(random.random((40, 3)) * LENGTHS, 3)
VELOCITIES = numpy.round(random.normal(size=(40, 3)), 3)


def images():
    return itertools.product((-1, 0, 1), repeat=3)


def neighbors():
    """Returns the pairs (i, j, n1, n2, n3) of an exhaustive search."""
    found = set()
    for i, j in itertools.combinations(range(len(POSITIONS)), 2):
        for image in images():
            if numpy.linalg.norm(POSITIONS[j] + image * LENGTHS - POSITIONS[i]) <= CUTOFF:
                found.add((i, j, *image))
    return found


def collisions():
    """Returns the time at which each pair touches in the step."""
    found = {}
    for i, j in itertools.combinations(range(len(POSITIONS)), 2):
        for image in images():
            r = POSITIONS[j] + image * LENGTHS - POSITIONS[i]
            v = VELOCITIES[j] - VELOCITIES[i]
            a, b, c = v @ v, r @ v, r @ r - (2 * RADIUS) ** 2
            if c <= 0:
                found[(i, j, *image)] = 0.0
            elif b < 0 and b * b >= a * c:
                time = (-b - math.sqrt(b * b - a * c)) / a
                if time <= STEP:
                    found[(i, j, *image)] = time
    return found


def run(carom, *args):
    done = subprocess.run([carom, *map(str, args)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, args))}: {done.stderr}")
    return list(csv.DictReader(done.stdout.splitlines())), done.stderr


def check(carom, what, path, moves, options=()):
    rows, _ = run(carom, "neighbors", path, "--cutoff", CUTOFF, "--output", "-", *options)
    found = {tuple(int(row[name]) for name in ("i", "j", "n1", "n2", "n3")) for row in rows}
    assert found == neighbors(), f"{what}: {sorted(found ^ neighbors())[:5]}"
    result = f"{what}: {len(found)} neighbours"
    if moves:
        rows, _ = run(
            carom, "collide", path, "--dt", STEP, "--radius", RADIUS, "--output", "-", *options
        )
        expected = collisions()
        names = ("a", "b", "n1", "n2", "n3")
        times = {tuple(int(row[name]) for name in names): float(row["toi"]) for row in rows}
        assert times.keys() == expected.keys(), f"{what}: {times.keys() ^ expected.keys()}"
        error = max(abs(times[pair] - expected[pair]) for pair in times)
        assert error < 1e-4, f"{what}: {error}"
        result += f", {len(times)} collisions, times within {error:.0e}"
    print(result)


def atoms():
    from ase import Atoms

    made = Atoms("Ar20Ne20", positions=POSITIONS, cell=LENGTHS, pbc=True)
    made.set_velocities(VELOCITIES)
    return made


def ase(folder):
    from ase import units
    from ase.io import write

    write(folder / "ase-momenta.xyz", atoms(), format="extxyz")
    yield "ASE, extended XYZ with momenta", "ase-momenta.xyz", True, ()
    arrays = atoms()
    numpy.savez(
        folder / "ase.npz",
        positions=arrays.positions,
        velocities=arrays.get_velocities(),
        cell=arrays.cell.array,
        pbc=arrays.pbc,
    )
    yield "ASE, arrays of NumPy", "ase.npz", True, ()
    # ASE writes velocities in ångström per picosecond.
    arrays.set_velocities(VELOCITIES * units.Angstrom / (1000 * units.fs))
    write(folder / "ase.data", arrays, format="lammps-data", velocities=True)
    (folder / "ase.data.gz").write_bytes(gzip.compress((folder / "ase.data").read_bytes(), mtime=0))
    yield "ASE, LAMMPS data file", "ase.data.gz", True, ()
    for name in ("ase.pdb", "ase.cif", "ase.traj", "POSCAR"):
        write(folder / name, atoms())


def lammps(folder):
    data = [
        "made by tests/against_programs.py", "", f"{len(POSITIONS)} atoms", "1 atom types", "",
        *(f"0 {length} {axis}lo {axis}hi" for length, axis in zip(LENGTHS, "xyz")),
        "", "Masses", "", "1 1", "", "Atoms # atomic", "",
        *(f"{k + 1} 1 {x} {y} {z}" for k, (x, y, z) in enumerate(POSITIONS)),
        "", "Velocities", "",
        *(f"{k + 1} {x} {y} {z}" for k, (x, y, z) in enumerate(VELOCITIES)), "",
    ]
    (folder / "lammps.data").write_text("\n".join(data))
    columns = "id type element x y z vx vy vz"
    dump = "modify element Ar sort id format float %.6g"
    script = [
        "units lj", "atom_style atomic", "atom_modify map array", "read_data lammps.data",
        "pair_style zero 2.5", "pair_coeff * *",
        f"write_dump all custom lammps.dump {columns} {dump}",
        "write_dump all custom lammps-scaled.dump id xs ys zs vx vy vz modify sort id format float %.9g",
        "write_dump all atom lammps-binary.bin modify sort id",
        "write_data lammps-written.data nocoeff",
        "dump local all local 1 lammps-local.dump index", "run 0",
    ]
    subprocess.run(["lmp", "-in", "/dev/stdin", "-log", "none"], input="\n".join(script), text=True, cwd=folder,
                   capture_output=True)
    yield "LAMMPS, dump", "lammps.dump", True, ()
    yield "LAMMPS, scaled dump", "lammps-scaled.dump", True, ()
    yield "LAMMPS, data file", "lammps-written.data", True, ()


def ovito(folder):
    from ovito.data import DataCollection
    from ovito.io import export_file

    data = DataCollection()
    particles = data.create_particles(count=len(POSITIONS))
    particles.create_property("Position", data=POSITIONS)
    particles.create_property("Velocity", data=VELOCITIES)
    data.create_cell(numpy.diag(LENGTHS), pbc=(True, True, True))
    export_file(data, str(folder / "ovito.xyz"), "xyz", columns=[
        "Position.X", "Position.Y", "Position.Z", "Velocity.X", "Velocity.Y", "Velocity.Z"])
    yield "OVITO, extended XYZ", "ovito.xyz", True, ()
    export_file(data, str(folder / "ovito.dump"), "lammps/dump", columns=[
        "Position.X", "Position.Y", "Position.Z", "Velocity.X", "Velocity.Y", "Velocity.Z"])
    yield "OVITO, dump", "ovito.dump", True, ()


def mdanalysis(folder):
    import MDAnalysis

    universe = MDAnalysis.Universe.empty(len(POSITIONS), trajectory=True, velocities=True)
    universe.add_TopologyAttr("names", ["Ar"] * len(POSITIONS))
    universe.atoms.positions = POSITIONS
    universe.atoms.velocities = VELOCITIES
    universe.dimensions = [*LENGTHS, 90, 90, 90]
    universe.atoms.write(str(folder / "mdanalysis.xyz"))
    box = ("--box", "0 0 0 6 7 8 90 90 90", "--periodic", "abc")
    yield "MDAnalysis, XYZ", "mdanalysis.xyz", False, box
    numpy.savez(
        folder / "mdanalysis.npz", positions=universe.atoms.positions, velocities=universe.atoms.velocities,
        dimensions=universe.dimensions)
    yield "MDAnalysis, arrays of NumPy", "mdanalysis.npz", True, ()
    universe.atoms.write(str(folder / "mdanalysis.gro"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        universe.atoms.write(str(folder / "mdanalysis.pdb"))


def gsd(folder):
    import gsd.hoomd

    frame = gsd.hoomd.Frame()
    frame.particles.N = len(POSITIONS)
    frame.particles.position = POSITIONS
    frame.particles.velocity = VELOCITIES
    frame.particles.diameter = numpy.full(len(POSITIONS), 2 * RADIUS)
    frame.configuration.box = [*LENGTHS, 0, 0, 0]
    with gsd.hoomd.open(str(folder / "hoomd.gsd"), "w") as file:
        file.append(frame)
    return iter(())


def convert(carom, folder, name):
    """Runs the command that carom's error names, and returns the file that it writes."""
    done = subprocess.run([carom, "neighbors", name, "--cutoff", "1"], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 1, f"{name}: {done.stdout}{done.stderr}"
    command = re.search(r"`((?:ase|python) .*?)`(?:$|\s)", done.stderr).group(1)
    bin = pathlib.Path(sys.executable).parent
    command = re.sub(r"^(ase|python)", lambda match: str(bin / match.group(1)), command)
    subprocess.run(command, shell=True, check=True, cwd=folder, capture_output=True)
    return folder / ("out.npz" if "out.npz" in command else "out.xyz")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("carom")
    parser.add_argument("--record", type=pathlib.Path)
    args = parser.parse_args()
    carom = str(pathlib.Path(args.carom).resolve())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for module, writer in (
            ("ase", ase), ("lmp", lammps), ("ovito", ovito), ("MDAnalysis", mdanalysis), ("gsd", gsd),
        ):
            there = shutil.which(module) if module == "lmp" else importlib.util.find_spec(module)
            if not there:
                print(f"{module} is not installed: skipped")
                continue
            for what, name, moves, options in writer(folder):
                check(carom, what, folder / name, moves, options)
                if args.record and name in RECORDED:
                    shutil.copy(folder / name, args.record / f"programs-{name}")
        for name in ("ase.pdb", "ase.cif", "ase.traj", "POSCAR", "mdanalysis.gro", "mdanalysis.pdb", "hoomd.gsd"):
            if (folder / name).exists():
                written = convert(carom, folder, name)
                if name == "hoomd.gsd":
                    rows, _ = run(carom, "collide", written, "--dt", STEP, "--output", "-")
                    assert len(rows) == len(collisions()), name
                    print(f"{name}, converted: {len(rows)} collisions")
                elif name.startswith("mdanalysis"):
                    # These files have two or three digits of an ångström, so pairs near the cutoff may differ.
                    rows, _ = run(carom, "neighbors", written, "--cutoff", CUTOFF, "--output", "-")
                    assert abs(len(rows) - len(neighbors())) < 5, name
                    print(f"{name}, converted: {len(rows)} neighbours")
                else:
                    check(carom, f"{name}, converted", written, name == "ase.traj")
                written.unlink()
        if args.record:
            with open(args.record / "programs.csv", "w") as file:
                file.write("i,j,n1,n2,n3\n")
                for pair in sorted(neighbors()):
                    file.write(",".join(map(str, pair)) + "\n")
            with open(args.record / "programs-times.csv", "w") as file:
                file.write("a,b,n1,n2,n3,toi\n")
                for pair, time in sorted(collisions().items()):
                    file.write(",".join(map(str, (*pair, time))) + "\n")


if __name__ == "__main__":
    main()
