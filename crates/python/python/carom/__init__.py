"""Finds every pair of moving spheres that touch during a time step, exactly: arrays in, pairs out.

>>> import numpy as np, carom
>>> center = np.array([[0.0, 0, 0], [5, 0, 0], [0, 9, 0]])
>>> velocity = np.array([[10.0, 0, 0], [0, 0, 0], [0, 0, 0]])
>>> hits = carom.detect(center, 1.0, velocity, dt=1.0)
>>> hits.a, hits.b, hits.toi
(array([0]), array([1]), array([0.3]))

- :func:`detect` and :class:`Detector` find the pairs of a step, and the spheres that touch walls.
- :func:`neighbor_list` and :class:`NeighborList` find all pairs within a cutoff.
- :class:`Simulation` moves hard spheres, with every impact at its time.
- :class:`Domain`, :class:`Wall` and :class:`Mesh` are the world in which spheres move.
- :func:`read` reads files; :func:`verify` checks lists of pairs; :mod:`carom.ase` takes the Atoms of ASE.

Units are yours: a velocity is a length per unit of ``dt``.

Lists are in float32 if all arrays of centres, radii and velocities are, and otherwise in float64, and are exact for these
numbers. In float32, ``dt``, cutoffs, domains and walls are rounded to float32.

A call raises ``ValueError`` for invalid values, ``MemoryError`` if the memory does not suffice, and :class:`Error` if a step
exceeds a limit or the GPU cannot do it. It never returns an incomplete list.
"""

import atexit

from ._carom import Error, close as _close, set_threads, threads
from ._collisions import (
    Changes,
    Collisions,
    Contacts,
    Detector,
    Earliest,
    Pairs,
    Points,
    Verification,
    WallHits,
    WallPoints,
    detect,
    verify,
    verify_walls,
)
from ._files import World, read
from ._neighbors import NeighborList, neighbor_list
from ._simulation import Encounter, Simulation, StepReport
from ._world import Domain, Mesh, Wall, groups

__version__ = "0.1.0"

# Ends the steps of daemon threads.
atexit.register(_close)

__all__ = [
    "detect",
    "Detector",
    "neighbor_list",
    "NeighborList",
    "Simulation",
    "Domain",
    "Wall",
    "Mesh",
    "groups",
    "read",
    "verify",
    "verify_walls",
    "set_threads",
    "threads",
    "Error",
    "Collisions",
    "WallHits",
    "Earliest",
    "Contacts",
    "Points",
    "WallPoints",
    "Changes",
    "Pairs",
    "StepReport",
    "Encounter",
    "Verification",
    "World",
]
