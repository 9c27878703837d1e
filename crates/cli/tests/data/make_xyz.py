#!/usr/bin/env python3
"""Writes the XYZ file of this folder with ASE. See README.md."""

import csv

import numpy
from ase import Atoms
from ase.io import write

with open("tilted.csv") as file:
    rows = [[float(x) for x in row.values()] for row in csv.DictReader(file)]
table = numpy.array(rows)
atoms = Atoms(f"H{len(table)}", positions=table[:, 1:4], pbc=True)
# The box of `tilted.dump`.
atoms.set_cell([[4, 0, 0], [1.2, 4, 0], [-0.8, 1.5, 5]])
atoms.info["Origin"] = numpy.array([-1, 2, -7])
atoms.info["note"] = 'a "quoted" text = with signs'
atoms.new_array("id", table[:, 0].astype(int))
atoms.new_array("radius", table[:, 4])
atoms.new_array("velo", table[:, 5:])
first = atoms[:3]
first.set_pbc([True, False, False])
write("ase.xyz", [first, atoms], format="extxyz")
