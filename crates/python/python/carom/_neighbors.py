"""Lists of neighbours."""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _carom
from ._collisions import quietly
from ._inputs import Array, Backend, backend_name, centers_of, frozen, integer, number, numbers, spheres
from ._world import Domain, cell as as_domain, parts

_LETTERS = "ijdDS"


def _letters(quantities: str) -> str:
    if not isinstance(quantities, str):
        raise TypeError(
            f"the quantities are {type(quantities).__name__}, but must be a string such as \"ijd\", the first argument"
        )
    wrong = [letter for letter in quantities if letter not in _LETTERS]
    if wrong or not quantities:
        raise ValueError(f"the quantities are {quantities!r}, but must be letters of {_LETTERS!r}")
    return quantities


class NeighborList:
    """A list of neighbours, which stays valid for a while if it has a skin.

    Parameters
    ----------
    cutoff : float or array_like
        All pairs whose distance is at most the cutoff are neighbours. Or the radius of each particle, shape (N,): then those
        whose distance is at most the sum of their radii.
    full : bool, optional
        Whether each pair is listed twice, once for each of its particles as i (the default). A half list has i <= j.
    skin : float, optional
        How much farther the list reaches than the cutoff. While no particle has moved by more than half the skin, relative to
        the cell, :meth:`update` keeps the pairs of the list, and only measures them anew.
    backend : {"auto", "cpu", "gpu"}, optional
        Where to search.
    max_pairs : int, optional
        Largest number of pairs of a half list, 2**28 by default.

    Entries are sorted by i, then j, then S. A list has its own memory, so it can be neither copied nor pickled.

    >>> neighbors = carom.NeighborList(5.0, skin=0.5)
    >>> for positions in trajectory:
    ...     made_anew = neighbors.update(positions, cell)
    ...     near = neighbors.d <= 5.0
    """

    __slots__ = ("__weakref__", "_cache", "_cutoff", "_native")

    def __init__(
        self,
        cutoff: npt.ArrayLike,
        *,
        full: bool = True,
        skin: float = 0.0,
        backend: Backend = "auto",
        max_pairs: Optional[int] = None,
    ) -> None:
        self._cutoff: Union[float, Array] = numbers(cutoff, "cutoff")
        length = None
        if self._cutoff.ndim == 0:
            length = float(self._cutoff)
            self._cutoff = length
        elif self._cutoff.ndim == 1:
            if self._cutoff.size and not (np.isfinite(self._cutoff).all() and self._cutoff.min() >= 0):
                raise ValueError("cutoff has radii, one for each particle, which must be finite numbers from 0")
            self._cutoff = self._cutoff.copy()
        else:
            raise ValueError(
                f"cutoff has the shape {self._cutoff.shape}, but must be one number, or the radius of each particle (N,)"
            )
        most = None if max_pairs is None else integer(max_pairs, "max_pairs", 0, 2**64 - 1)
        arguments = (backend_name(backend), most, length, number(skin, "skin"), bool(full))
        self._native: _carom.Neighbors = quietly(lambda: _carom.Neighbors(*arguments))
        #: The version of the list, and its columns that were asked for.
        self._cache: tuple[int, dict[str, Any]] = (0, {})

    def __reduce__(self) -> Any:
        raise TypeError(
            "a carom.NeighborList can be neither copied nor pickled; pass its arrays on, such as neighbors.get(\"ijdS\"), or make "
            "another one with the same arguments"
        )

    def update(
        self,
        positions: npt.ArrayLike,
        cell: Union[Domain, npt.ArrayLike, None] = None,
        pbc: Optional[npt.ArrayLike] = None,
        *,
        groups: Optional[npt.ArrayLike] = None,
        anew: bool = False,
    ) -> bool:
        """Brings the list up to date, and returns whether it was made anew.

        The arguments are those of :func:`neighbor_list`. With `anew`, the list is made anew in any case.
        """
        radii = 0.0 if isinstance(self._cutoff, float) else self._cutoff
        if isinstance(radii, np.ndarray):
            centers = centers_of(positions, "positions")
            if len(radii) != len(centers):
                raise ValueError(
                    f"cutoff has {len(radii)} numbers, the radii of the particles, but positions has {len(centers)} rows; pass one "
                    "number, or one radius for each particle"
                )
        given, _ = spheres([(positions, radii, None, groups, None)], "positions")
        return self._native.update(given[0], parts(as_domain(cell, pbc)), bool(anew))

    def _fresh(self, letters: str) -> tuple[Any, ...]:
        """Returns columns that are the caller's own. The list can then not be updated any more."""
        _, count, columns = self._native.columns(letters, 0, "", True)
        return tuple(_images_of(columns[letter], count) for letter in letters)

    def _get(self, letters: str) -> tuple[Any, ...]:
        """Returns columns of one and the same list, even if another thread updates it meanwhile."""
        known, kept = self._cache
        version, count, columns = self._native.columns(letters, known, "".join(kept), False)
        fresh = {letter: frozen(_images_of(column, count)) for letter, column in columns.items()}
        kept = {**kept, **fresh} if version == known else fresh
        self._cache = (version, kept)
        return tuple(kept[letter] for letter in letters)

    def _column(self, letter: str) -> Any:
        return self._get(letter)[0]

    @property
    def i(self) -> npt.NDArray[np.int64]:
        """Index of the first particle of each entry, shape (M,)."""
        return self._column("i")

    @property
    def j(self) -> npt.NDArray[np.int64]:
        """Index of the second particle of each entry, shape (M,)."""
        return self._column("j")

    @property
    def d(self) -> Array:
        """Distance of the two particles, shape (M,)."""
        return self._column("d")

    @property
    def D(self) -> Array:
        """Vector from i to the image of j, shape (M, 3)."""
        return self._column("D")

    @property
    def S(self) -> npt.NDArray[np.int32]:
        """Image of j, as multiples of the edges of the cell, shape (M, 3): D = positions[j] - positions[i] + S @ cell."""
        return self._column("S")

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Particle k is the first one of the entries ``offsets[k]`` to ``offsets[k + 1]``, shape (N + 1,)."""
        return self._column("o")

    @property
    def statistics(self) -> dict[str, Any]:
        """Counts and times of the last search."""
        return self._native.statistics()

    def get(self, quantities: str) -> Any:
        """Returns the columns of the letters, as :func:`neighbor_list` does."""
        columns = self._get(_letters(quantities))
        return columns[0] if len(columns) == 1 else columns

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"<carom.NeighborList: {len(self)} entries>"


def _images_of(column: Any, count: int) -> Any:
    # Open space has no images.
    return np.zeros((count, 3), np.int32) if column is None else column


def neighbor_list(
    quantities: str,
    positions: npt.ArrayLike,
    cutoff: npt.ArrayLike,
    cell: Union[Domain, npt.ArrayLike, None] = None,
    pbc: Optional[npt.ArrayLike] = None,
    *,
    full: bool = True,
    skin: float = 0.0,
    groups: Optional[npt.ArrayLike] = None,
    backend: Backend = "auto",
) -> Any:
    """Finds all pairs of particles within a cutoff, with the letters of ASE and matscipy.

    Parameters
    ----------
    quantities : str
        What to return, in this order: ``i``, ``j`` the indices (M, int64); ``d`` the distance (M,); ``D`` the vector from i to
        the image of j (M, 3); ``S`` the image of j (M, 3, int32), so that ``D = positions[j] - positions[i] + S @ cell``.
    positions : array_like
        Shape (N, 3). They need not be wrapped into the cell.
    cutoff : float or array_like
        The cutoff. Or the radius of each particle, shape (N,): then two particles are neighbours if they touch.
    cell : Domain or array_like, optional
        Three edges (3, 3), three lengths (3,), or lengths and angles (6,). It may be smaller than the cutoff, skewed or
        left-handed.
    pbc : bool or three bools, optional
        The edges along which the world repeats: all edges of the cell, by default.
    full : bool, optional
        Whether each pair is listed twice, once for each of its particles as i. A half list has i <= j.
    skin : float, optional
        How much farther the list reaches: see :class:`NeighborList`, which can be updated.
    groups : array_like of int, optional
        Collision groups, shape (N,): see :func:`carom.groups`.
    backend : {"auto", "cpu", "gpu"}, optional
        Where to search.

    Returns
    -------
    tuple of arrays, or an array for a single letter
        Sorted by i, then j, then S.

    A pair whose distance is exactly the cutoff is in the list. ASE, matscipy and vesin leave it out. In a crystal, rounding
    decides whether a shell of neighbours at the cutoff is in, so put the cutoff between two shells.

    >>> i, j, d = carom.neighbor_list("ijd", [[0.5, 0, 0], [9.5, 0, 0]], 2.0, cell=[10, 10, 10])
    >>> d
    array([1., 1.])
    """
    _letters(quantities)
    neighbors = NeighborList(cutoff, full=full, skin=skin, backend=backend)
    neighbors.update(positions, cell, pbc, groups=groups, anew=True)
    columns = neighbors._fresh(quantities)
    return columns[0] if len(columns) == 1 else columns
