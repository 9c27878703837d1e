"""Takes the Atoms of ASE, the Atomic Simulation Environment.

>>> from ase.build import bulk
>>> i, j, d = carom.ase.neighbor_list("ijd", bulk("Cu"), 3.0)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _collisions, _neighbors
from ._inputs import Array, Backend, number
from ._world import Domain, cell as as_domain

if TYPE_CHECKING:
    from ase import Atoms

__all__ = ["detect", "domain", "neighbor_list"]


def domain(atoms: Atoms) -> Optional[Domain]:
    """Returns the periodic cell of the atoms, or None in open space."""
    if not all(hasattr(atoms, name) for name in ("positions", "cell", "pbc", "numbers")):
        raise TypeError(
            f"atoms is {type(atoms).__name__}, but must be ase.Atoms; carom.detect and carom.neighbor_list take arrays"
        )
    cell, pbc = np.asarray(atoms.cell), np.asarray(atoms.pbc)
    if (pbc & ~cell.any(axis=1)).any():
        raise ValueError("the atoms are periodic along an edge of the cell that is 0; set atoms.cell, or atoms.pbc = False")
    return as_domain(cell, pbc)


def _element(kind: Any) -> int:
    from ase.data import atomic_numbers

    if not isinstance(kind, str):
        return int(kind)
    if kind not in atomic_numbers:
        raise ValueError(f"cutoff has {kind!r}, which is no element")
    return int(atomic_numbers[kind])


def _elements(pair: Any) -> tuple[int, int]:
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise ValueError(f"cutoff has the key {pair!r}, but the keys must be pairs of elements, such as (\"Cu\", \"Cu\")")
    return _element(pair[0]), _element(pair[1])


def neighbor_list(
    quantities: str,
    atoms: Atoms,
    cutoff: Union[float, npt.ArrayLike, Mapping[tuple[Any, Any], float]],
    *,
    backend: Backend = "auto",
) -> Any:
    """Finds all pairs of atoms within a cutoff, as ``ase.neighborlist.neighbor_list`` does.

    `quantities` has the letters i, j, d, D and S: see :func:`carom.neighbor_list`. `cutoff` is one number; or the radius of
    each atom; or a dict from pairs of elements, as symbols or atomic numbers, to their cutoffs. A pair whose distance is
    exactly the cutoff is in the list; ASE leaves it out. ASE's S is int64, and this one int32.
    """
    letters = _neighbors._letters(quantities)
    cell = domain(atoms)
    if not isinstance(cutoff, Mapping):
        return _neighbors.neighbor_list(letters, atoms.positions, cutoff, cell, backend=backend)
    pairs = [(_elements(pair), number(length, "cutoff")) for pair, length in cutoff.items()]
    largest = max((length for _, length in pairs), default=0.0)
    columns = _neighbors.neighbor_list("ijd" + letters, atoms.positions, largest, cell, backend=backend)
    i, j, d = columns[:3]
    kinds = np.asarray(atoms.numbers)
    near = np.zeros(len(d), bool)
    for (one, other), length in pairs:
        first, second = kinds[i], kinds[j]
        of_pair = ((first == one) & (second == other)) | ((first == other) & (second == one))
        near |= of_pair & (d <= length)
    kept = tuple(column[near] for column in columns[3:])
    return kept[0] if len(kept) == 1 else kept


def _radii(atoms: Atoms) -> Array:
    for name in ("radius", "radii"):
        if atoms.has(name):
            return np.asarray(atoms.get_array(name))
    from ase.data import covalent_radii

    return np.asarray(covalent_radii[atoms.numbers])


def detect(
    atoms: Atoms, dt: float = 0.0, radius: Optional[npt.ArrayLike] = None, **options: Any
) -> _collisions.Collisions:
    """Finds every pair of atoms that touch during a step, as moving spheres: see :func:`carom.detect`.

    `dt` is in ASE's unit of time, such as ``1.0 * ase.units.fs``. The radii are `radius`, or else the array ``radius`` of the
    atoms, or else the covalent radii of ``ase.data``. `options` are those of :func:`carom.detect`.
    """
    cell = domain(atoms)
    radii = _radii(atoms) if radius is None else radius
    velocity = atoms.get_velocities() if atoms.has("momenta") else None
    options.setdefault("domain", cell)
    return _collisions.detect(atoms.positions, radii, velocity, dt, **options)
