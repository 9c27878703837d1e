"""The collisions of a step."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _carom
from ._inputs import Array, Backend, Set, as_array, backend_name, frozen, integer, number, numbers, of_type, second_set, spheres
from ._world import Domain, Walls, as_walls, native_walls, parts

if TYPE_CHECKING:
    import pandas

Indices = npt.NDArray[np.int64]


class Pairs(NamedTuple):
    """Pairs of spheres: `a`, `b` (N, int64) and `image` (N, 3, int32), the image of b that a touches."""

    a: Indices
    b: Indices
    image: npt.NDArray[np.int32]


class Points(NamedTuple):
    """Where the spheres of each pair touch, at the time of impact.

    Attributes
    ----------
    point : array
        The contact point on the surface of sphere a, shape (N, 3).
    normal : array
        Unit vector from the centre of a to the centre of b, shape (N, 3).
    approach_speed : array
        Speed at which the two approach along the normal, shape (N,). Negative if they move apart.
    """

    point: Array
    normal: Array
    approach_speed: Array


class WallPoints(NamedTuple):
    """Where spheres touch walls, at the time of impact.

    Attributes
    ----------
    point : array
        The contact point on the surface of the sphere, shape (N, 3).
    normal : array
        Unit vector from the centre of the sphere into the wall, shape (N, 3).
    approach_speed : array
        Speed of approach along the normal, shape (N,).
    feature : array of uint8
        What is touched: 0 for a face, 1 for an edge of a triangle, 2 for a corner, shape (N,).
    which : array of uint8
        Which edge (0 joins the corners 0 and 1, …) or corner of the triangle, shape (N,).
    """

    point: Array
    normal: Array
    approach_speed: Array
    feature: npt.NDArray[np.uint8]
    which: npt.NDArray[np.uint8]


class Earliest(NamedTuple):
    """The first impact of each sphere. In a step of two sets, the second set follows the first.

    Attributes
    ----------
    toi : array
        Time of impact, infinite for a sphere without an impact, shape (N,).
    partner : array of int64
        Index of the other sphere in its set, or number of the wall, shape (N,). −1 without an impact.
    at_wall : array of bool
        Whether the partner is a wall, shape (N,).
    image : array of int32
        Image of the partner, shape (N, 3).
    """

    toi: Array
    partner: Indices
    at_wall: npt.NDArray[np.bool_]
    image: npt.NDArray[np.int32]

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a DataFrame with a row for each sphere. n1, n2 and n3 are the image."""
        return _frame(self)

    def __repr__(self) -> str:
        return f"<carom.Earliest: {np.isfinite(self.toi).sum()} of {len(self.toi)} spheres have an impact>"


class Contacts(NamedTuple):
    """The contacts of each sphere: those of sphere i are the pairs ``indices[offsets[i]:offsets[i + 1]]``.

    Attributes
    ----------
    offsets : array of int64
        Shape (N + 1,). ``np.diff(offsets)`` is the number of contacts of each sphere.
    indices : array of int64
        Indices of pairs. A pair of a sphere with its own periodic image is there twice.
    """

    offsets: Indices
    indices: Indices

    def of(self, sphere: int) -> Indices:
        """Returns the indices of the pairs of a sphere."""
        count = len(self.offsets) - 1
        if not -count <= sphere < count:
            raise IndexError(f"there is no sphere {sphere}, there are {count}")
        sphere %= count
        return self.indices[self.offsets[sphere] : self.offsets[sphere + 1]]

    def __repr__(self) -> str:
        return f"<carom.Contacts: {len(self.indices)} of {len(self.offsets) - 1} spheres>"


class Changes(NamedTuple):
    """The pairs that began to touch since another step, that touch in both, and that ended."""

    began: Pairs
    lasted: Pairs
    ended: Pairs


def _images(images: Optional[Array], count: int) -> Array:
    if images is not None:
        return frozen(images)
    # Open space has no images. A view of one row takes no memory.
    return frozen(np.broadcast_to(np.zeros(3, np.int32), (count, 3)))


def _pandas(what: str) -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f"{what} needs pandas: pip install pandas") from error
    return pandas


def _frame(columns: Any) -> pandas.DataFrame:
    """Returns a DataFrame of a tuple of arrays. A column of vectors becomes three."""
    flat: dict[str, Any] = {}
    for name, column in columns._asdict().items():
        if column.ndim == 1:
            flat[name] = column
        else:
            parts = ("n1", "n2", "n3") if name == "image" else (f"{name}_x", f"{name}_y", f"{name}_z")
            flat.update(zip(parts, column.T))
    return _pandas("to_pandas").DataFrame(flat)


class _Step:
    """A step that was searched. A copy in another process has the arguments, and searches again if it must."""

    __slots__ = ("_found", "_given", "domain", "dt", "dtype", "reason", "walls", "without_separating")

    def __init__(
        self, found: _carom.Found, reason: str, domain: Optional[Domain], walls: Any, without_separating: bool
    ) -> None:
        self._found: Optional[_carom.Found] = found
        self._given: Any = None
        self.reason = reason
        self.dt = found.dt
        self.dtype = np.dtype(np.float32 if found.is_float32 else np.float64)
        self.domain = domain
        self.walls = walls
        self.without_separating = without_separating

    @property
    def given(self) -> Any:
        return self._given if self._found is None else self._found.given()

    @property
    def found(self) -> _carom.Found:
        if self._found is None:
            native = _carom.Detector("cpu")
            first, second = self._given
            self._found = native.detect(
                first, second, self.dt, parts(self.domain), native_walls(self.walls), self.without_separating
            )
            self._given = None
        return self._found

    @property
    def counts(self) -> tuple[int, Optional[int]]:
        """The number of spheres in the first set, and in the second one."""
        if self._found is not None:
            return self._found.spheres
        first, second = self._given
        return len(first[0]), None if second is None else len(second[0])

    def __getstate__(self) -> Any:
        return self.given, self.reason, self.dt, self.dtype, self.domain, self.walls, self.without_separating

    def __setstate__(self, state: Any) -> None:
        self._found = None
        self._given, self.reason, self.dt, self.dtype, self.domain, self.walls, self.without_separating = state


class _List:
    """Columns of a list of things that touch."""

    __slots__ = ("__weakref__", "_kept", "_step")
    _names: tuple[str, str]

    def __init__(self, step: _Step) -> None:
        self._step = step
        self._kept: Optional[list[Any]] = None

    def _native(self) -> list[Any]:
        raise NotImplementedError

    def _count(self) -> int:
        raise NotImplementedError

    @property
    def _columns(self) -> list[Any]:
        columns = self._kept
        if columns is None:
            *arrays, images = self._native()
            columns = self._kept = [*map(frozen, arrays), _images(images, len(arrays[0]))]
        return columns

    def __len__(self) -> int:
        return self._count() if self._kept is None else len(self._kept[0])

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __getstate__(self) -> Any:
        *columns, images = self._columns
        return self._step, columns, images if images.strides[0] != 0 else None

    def __setstate__(self, state: Any) -> None:
        self._step, columns, images = state
        self._kept = [*map(frozen, columns), _images(images, len(columns[0]))]

    def __iter__(self) -> Any:
        one, other = self._names
        raise TypeError(
            f"{type(self).__name__} is not iterable; use zip(hits.{one}, hits.{other}, hits.toi) or numpy.asarray(hits)"
        )

    def __getitem__(self, key: Any) -> Any:
        raise TypeError(
            f"{type(self).__name__} has no entries to pick; use its columns, such as hits.toi, or numpy.asarray(hits)"
        )

    @property
    def toi(self) -> Array:
        """Time of impact, from 0 to dt, shape (N,). 0 for pairs that touch at the start."""
        return self._columns[2]

    @property
    def depth(self) -> Array:
        """How far the two overlap at the start of the step, shape (N,). 0 if they touch only later."""
        return self._columns[3]

    @property
    def image(self) -> npt.NDArray[np.int32]:
        """The periodic image of sphere b (in a list of walls: of the sphere), shape (N, 3)."""
        return self._columns[4]

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        """Returns one structured array with all columns."""
        if copy is False:
            raise ValueError("the columns are separate arrays, so one array of them is a copy")
        one, other, toi, depth, image = self._columns
        names = (*self._names, "toi", "depth", "image")
        form = [(name, column.dtype, column.shape[1:]) for name, column in zip(names, (one, other, toi, depth, image))]
        records = np.empty(len(one), form)
        for name, column in zip(names, (one, other, toi, depth, image)):
            records[name] = column
        return records if dtype is None else records.astype(dtype)

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a DataFrame with a row for each entry. In a periodic domain, n1, n2 and n3 are the image."""
        pandas = _pandas("to_pandas")
        one, other, toi, depth, image = self._columns
        columns = {self._names[0]: one, self._names[1]: other, "toi": toi, "depth": depth}
        if image.strides[0] != 0:
            columns.update(n1=image[:, 0], n2=image[:, 1], n3=image[:, 2])
        return pandas.DataFrame(columns)

    def _repr_html_(self) -> str:
        one, other, toi, depth, _ = self._columns
        head = "".join(f"<th>{name}</th>" for name in (*self._names, "toi", "depth"))
        rows = [
            f"<tr><td>{a}</td><td>{b}</td><td>{t!s}</td><td>{d!s}</td></tr>"
            for a, b, t, d in zip(one[:10], other[:10], toi[:10], depth[:10])
        ]
        more = f"<p>… and {len(one) - 10} more</p>" if len(one) > 10 else ""
        text = repr(self).strip("<>")
        return f"<p>{text}</p><table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{more}"


class WallHits(_List):
    """The spheres that touch walls during a step, sorted by sphere and wall.

    Walls are numbered from 0: first all :class:`carom.Wall`, then the triangles of each :class:`carom.Mesh`.
    """

    __slots__ = ()
    _names = ("sphere", "wall")

    def _native(self) -> list[Any]:
        return self._step.found.walls()

    def _count(self) -> int:
        return self._step.found.wall_count

    @property
    def sphere(self) -> Indices:
        """Index of the sphere, shape (N,). In a step of two sets, the second set follows the first."""
        return self._columns[0]

    @property
    def wall(self) -> Indices:
        """Number of the wall, shape (N,)."""
        return self._columns[1]

    def points(self) -> WallPoints:
        """Returns where the spheres touch the walls."""
        return WallPoints(*self._step.found.wall_points())

    def __repr__(self) -> str:
        return f"<carom.WallHits: {len(self)} times a sphere touches a wall>"


class Collisions(_List):
    """The pairs of spheres that touch during a step, sorted by a, b and image. Returned by :func:`carom.detect`.

    It can be pickled, with the spheres of the step. A copy then searches again (on the CPU) when its :meth:`earliest`,
    :meth:`contacts`, :meth:`points` or :meth:`changes_since` is first called.
    """

    __slots__ = ("_statistics", "_walls")
    _names = ("a", "b")

    def __init__(self, step: _Step) -> None:
        super().__init__(step)
        self._walls = WallHits(step)
        self._statistics: Optional[dict[str, Any]] = None

    def _native(self) -> list[Any]:
        return self._step.found.pairs()

    def _count(self) -> int:
        return len(self._step.found)

    def __getstate__(self) -> Any:
        return super().__getstate__(), self._walls, self.statistics

    def __setstate__(self, state: Any) -> None:
        columns, self._walls, self._statistics = state
        super().__setstate__(columns)

    @property
    def a(self) -> Indices:
        """Index of one sphere, shape (N,): the smaller index, or in a step of two sets the index in the first."""
        return self._columns[0]

    @property
    def b(self) -> Indices:
        """Index of the other sphere, shape (N,): the larger index, or the index in the second set."""
        return self._columns[1]

    @property
    def dt(self) -> float:
        """Length of the step."""
        return self._step.dt

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype in which the step was decided: float32 or float64."""
        return self._step.dtype

    @property
    def walls(self) -> WallHits:
        """The spheres that touch walls."""
        return self._walls

    @property
    def statistics(self) -> dict[str, Any]:
        """Counts and times of the work, such as ``candidates``, ``grazing``, ``backend``, ``reason``, ``stages`` (s)."""
        if self._statistics is None:
            statistics = self._step.found.statistics()
            if statistics["backend"] == "cpu" and statistics["reason"] == "the CPU was requested":
                statistics["reason"] = self._step.reason
            self._statistics = statistics
        return self._statistics

    def earliest(self) -> Earliest:
        """Returns the first impact of each sphere, with another sphere or a wall."""
        return Earliest(*self._step.found.earliest())

    def contacts(self) -> Contacts:
        """Returns the contacts of each sphere with other spheres."""
        return Contacts(*self._step.found.contacts())

    def changes_since(self, other: Collisions) -> Changes:
        """Returns which pairs began, lasted and ended since another step, in which each sphere had the same index."""
        if not isinstance(other, Collisions):
            raise TypeError(f"other is {type(other).__name__}, but must be carom.Collisions")
        if self._step.counts != other._step.counts:
            raise ValueError(
                f"this step has {_sets(self._step.counts)} and the other one {_sets(other._step.counts)}; compare steps of the "
                "same spheres"
            )
        lists = self._step.found.changes_since(other._step.found)
        if lists is None:
            raise ValueError("one list is in float32 and the other in float64; pass arrays of one dtype in both steps")
        began, lasted, ended = (Pairs(a, b, _images(images, len(a))) for a, b, images in lists)
        return Changes(began, lasted, ended)

    def points(self) -> Points:
        """Returns where the spheres of each pair touch, as they were when the step was searched."""
        return Points(*self._step.found.points()[:3])

    def __repr__(self) -> str:
        walls = f", {len(self.walls)} at walls" if len(self.walls) else ""
        return f"<carom.Collisions: {len(self)} pairs of {_sets(self._step.counts)}{walls}, dt={self.dt:g}, {self.dtype}>"


def _sets(counts: tuple[int, Optional[int]]) -> str:
    first, second = counts
    return f"{first} spheres" if second is None else f"{first} and {second} spheres"


_environment = threading.Lock()


def quietly(start: Callable[[], Any]) -> Any:
    """Starts what may look for a GPU. Without a window system, a layer of Mesa's Vulkan driver (device selection) would print
    errors about it."""
    name = "NODEVICE_SELECT"
    if not sys.platform.startswith("linux") or "XDG_RUNTIME_DIR" in os.environ:
        return start()
    with _environment:
        if name in os.environ:
            return start()
        os.environ[name] = "1"
        try:
            return start()
        finally:
            del os.environ[name]


class Detector:
    """Finds the collisions of steps, and keeps its memory and its GPU from step to step.

    Parameters
    ----------
    backend : {"auto", "cpu", "gpu"}
        ``"auto"`` takes a hardware GPU if there is one, and otherwise the CPU. Both give the same list.
    max_candidates : int, optional
        Largest number of pairs that a step may test, 2**34 by default. A step with more raises :class:`carom.Error` at once.
    max_pairs : int, optional
        Largest number of pairs that may touch, 2**28 by default.

    A detector may be used from several threads; it does one step at a time. The work on the CPU runs on as many threads as
    :func:`carom.set_threads` says. A copy, also a pickled one, is a new detector with the same options.
    """

    __slots__ = ("__weakref__", "_native", "_options")

    def __init__(
        self, backend: Backend = "auto", *, max_candidates: Optional[int] = None, max_pairs: Optional[int] = None
    ) -> None:
        candidates = None if max_candidates is None else integer(max_candidates, "max_candidates", 0, 2**64 - 1)
        pairs = None if max_pairs is None else integer(max_pairs, "max_pairs", 0, 2**64 - 1)
        self._options = (backend_name(backend), candidates, pairs)
        self._native: _carom.Detector = quietly(lambda: _carom.Detector(*self._options))

    def __reduce__(self) -> Any:
        return _detector_of, self._options

    @property
    def backend(self) -> str:
        """``"cpu"`` or ``"gpu"``."""
        return self._native.backend

    @property
    def adapter(self) -> Optional[str]:
        """Name of the GPU, or None on the CPU."""
        return self._native.adapter

    @property
    def reason(self) -> str:
        """Why the detector uses this backend."""
        return self._native.reason

    def detect(
        self,
        center: npt.ArrayLike,
        radius: npt.ArrayLike,
        velocity: Optional[npt.ArrayLike] = None,
        dt: float = 0.0,
        *,
        second: Optional[Set] = None,
        domain: Optional[Domain] = None,
        walls: Optional[Walls] = None,
        groups: Optional[npt.ArrayLike] = None,
        bodies: Optional[npt.ArrayLike] = None,
        without_separating: bool = False,
    ) -> Collisions:
        """Finds every pair of spheres that touch during a step: see :func:`carom.detect`."""
        sets = [(center, radius, velocity, groups, bodies)]
        if second is not None:
            sets.append(second_set(second))
        given, _ = spheres(sets)
        walls = as_walls(walls)
        found = self._native.detect(
            given[0],
            given[1] if second is not None else None,
            number(dt, "dt"),
            parts(domain),
            native_walls(walls),
            bool(without_separating),
        )
        return Collisions(_Step(found, self._native.reason, domain, walls, bool(without_separating)))

    def __repr__(self) -> str:
        return f"<carom.Detector: {self.adapter or 'cpu'} ({self.reason})>"


def _detector_of(backend: Backend, max_candidates: Optional[int], max_pairs: Optional[int]) -> Detector:
    return Detector(backend, max_candidates=max_candidates, max_pairs=max_pairs)


_kept: dict[str, Detector] = {}
_lock = threading.Lock()


def _detector(backend: Backend) -> Detector:
    """Returns the detector for a call: for a GPU, the one that started it."""
    if backend_name(backend) == "cpu":
        return Detector("cpu")
    with _lock:
        detector = _kept.get(backend)
    if detector is None:
        detector = Detector(backend)
        if detector.backend == "gpu":
            with _lock:
                detector = _kept.setdefault(backend, detector)
    return detector


def _forget() -> None:
    """Forgets the detectors of the parent process, whose GPU a child cannot use."""
    global _lock, _environment
    _lock, _environment = threading.Lock(), threading.Lock()
    _kept.clear()


try:
    os.register_at_fork(after_in_child=_forget)
except AttributeError:
    # There is no fork on this system.
    pass


def detect(
    center: npt.ArrayLike,
    radius: npt.ArrayLike,
    velocity: Optional[npt.ArrayLike] = None,
    dt: float = 0.0,
    *,
    second: Optional[Set] = None,
    domain: Optional[Domain] = None,
    walls: Optional[Walls] = None,
    groups: Optional[npt.ArrayLike] = None,
    bodies: Optional[npt.ArrayLike] = None,
    without_separating: bool = False,
    backend: Backend = "auto",
) -> Collisions:
    """Finds every pair of spheres that touch during a step, and when they first touch.

    Parameters
    ----------
    center : array_like
        Centres at the start of the step, shape (N, 3).
    radius : array_like
        One radius for all, or one for each, shape (N,). A sphere of radius 0 is a point, or a ray if it moves.
    velocity : array_like, optional
        Constant velocities during the step, shape (N, 3), or one for all, shape (3,), as length per unit of `dt`. None: at
        rest.
    dt : float, optional
        Length of the step, 0 or more. With 0, the result has the pairs that touch now.
    second : tuple or dict, optional
        A second set of spheres: ``(center, radius)``, ``(center, radius, velocity)``, or a dict with such names and perhaps
        groups and bodies. The result then has the pairs with one sphere from each set.
    domain : Domain, optional
        A periodic cell. None: open space.
    walls : Wall, Mesh, or iterable of them, optional
        Walls: ``result.walls`` has the spheres that touch them.
    groups : array_like of int, optional
        Collision groups of all spheres, or of each, shape (N,): see :func:`carom.groups`.
    bodies : array_like of int, optional
        The compound body of each sphere, shape (N,). Spheres of one body are no pair. A negative number is no body.
    without_separating : bool, optional
        Whether to leave out what touches at the start and does not approach then, also at walls. So a program that bounces
        spheres finds the next impact, and not the last one again.
    backend : {"auto", "cpu", "gpu"}, optional
        Where to search: see :class:`Detector`, which also keeps its memory from step to step.

    Returns
    -------
    Collisions
        With the arrays ``a``, ``b``, ``toi``, ``depth`` and ``image``.

    Raises
    ------
    ValueError
        If a number is not finite or out of range, or shapes do not fit.
    MemoryError
        If the memory does not suffice.
    Error
        If the step has too many pairs or candidates, or a GPU cannot do it.

    The step is decided in float32 if the arrays of centres, radii and velocities are all float32, and otherwise in float64.
    Either way, the list has exactly the pairs that touch in exact arithmetic on these numbers.

    >>> hits = carom.detect([[0, 0, 0], [1.5, 0, 0]], 1.0)
    >>> hits.depth
    array([0.5])
    """
    return _detector(backend).detect(
        center,
        radius,
        velocity,
        dt,
        second=second,
        domain=domain,
        walls=walls,
        groups=groups,
        bodies=bodies,
        without_separating=without_separating,
    )


class Mistakes(NamedTuple):
    """Entries of a list, as in :class:`Collisions`."""

    a: Indices
    b: Indices
    toi: Array
    depth: Array
    image: npt.NDArray[np.int32]


class Verification:
    """The differences between a list and the exact list: see :func:`carom.verify`. True if there are none.

    Attributes
    ----------
    passed : bool
        Whether the list is exact.
    tried, touching : int
        The number of pairs that were tried, and that touch.
    missing : Mistakes
        Touching pairs that the list lacks, with the columns a, b, toi, depth and image.
    invented : Mistakes
        Entries that do not touch.
    repeated : Mistakes
        Superfluous entries.
    wrong, right : Mistakes
        Entries with a wrong time or depth, and the right entries for them.
    """

    def __init__(self, report: tuple[bool, int, int, str, list[list[Any]]]) -> None:
        self.passed, self.tried, self.touching, self._text, lists = report
        lists = [[*columns, _images(images, len(columns[0]))] for *columns, images in lists]
        self.missing = Mistakes(*lists[0])
        self.invented = Mistakes(*lists[1])
        self.repeated = Mistakes(*lists[2])
        self.wrong = Mistakes(*lists[3])
        self.right = Mistakes(*lists[4])

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return f"<carom.Verification: {self._text}>"


def _given_list(
    given: Any, names: tuple[str, str], dtype: Any, periodic: bool
) -> tuple[Array, Array, Array, Array, Optional[Array]]:
    if isinstance(given, tuple) and not hasattr(given, "_fields"):
        columns = list(given)
    else:
        columns = []
        for name in (*names, "toi", "depth", "image"):
            column = getattr(given, name, None)
            if column is None:
                try:
                    column = given[name]
                except (KeyError, IndexError, TypeError, ValueError):
                    if name == "image":
                        try:
                            columns.append(np.column_stack([given[part] for part in ("n1", "n2", "n3")]))
                        except (KeyError, IndexError, TypeError, ValueError):
                            pass
                        break
                    raise ValueError(f"the list has no {name}; it must have {names[0]}, {names[1]}, toi and depth") from None
            columns.append(column)
    if not 4 <= len(columns) <= 5:
        raise ValueError(f"the list must have {names[0]}, {names[1]}, toi, depth, and in a periodic domain image")
    one, other = (as_array(column, name) for column, name in zip(columns, names))
    toi, depth = (numbers(column, name) for column, name in zip(columns[2:], ("toi", "depth")))
    for name, column in zip((*names, "toi", "depth"), (one, other, toi, depth)):
        if column.shape != (toi.size,):
            raise ValueError(f"{name} has the shape {column.shape}, but must have the shape ({toi.size},)")
    for name, column in zip(names, (one, other)):
        if column.size and (column.dtype.kind not in "iu" or column.min() < 0 or column.max() >= 2**32):
            raise ValueError(f"{name} must have whole numbers from 0 to 2**32 - 1")
    image = None
    if periodic:
        if len(columns) < 5:
            raise ValueError("in a periodic domain, the list must have image, the image of each entry")
        image = as_array(columns[4], "image")
        if image.size and (image.dtype.kind not in "iu" or image.min() < -(2**31) or image.max() >= 2**31):
            raise ValueError("image must have whole numbers of int32")
        image = of_type(image, np.int32)
        if image.shape != (len(toi), 3):
            raise ValueError(f"image has the shape {image.shape}, but must have the shape ({len(toi)}, 3)")
    one, other = (of_type(column, np.uint32) for column in (one, other))
    return one, other, of_type(toi, dtype), of_type(depth, dtype), image


def verify(
    pairs: Any,
    center: npt.ArrayLike,
    radius: npt.ArrayLike,
    velocity: Optional[npt.ArrayLike] = None,
    dt: float = 0.0,
    *,
    second: Optional[Set] = None,
    domain: Optional[Domain] = None,
    groups: Optional[npt.ArrayLike] = None,
    without_separating: bool = False,
) -> Verification:
    """Checks a list of pairs, from carom or from another program, in exact arithmetic on every pair of spheres.

    `pairs` is a :class:`Collisions`, or anything with the columns a, b, toi and depth, and in a periodic domain image (or n1,
    n2 and n3): a dict, a structured array, a DataFrame, or a tuple of them. The other arguments are those of :func:`detect`. For 20 000
    spheres, the check takes some seconds.

    >>> bool(carom.verify(carom.detect(center, 1.0), center, 1.0))
    True
    """
    sets = [(center, radius, velocity, groups, None)]
    if second is not None:
        sets.append(second_set(second))
    given, dtype = spheres(sets)
    periodic = domain is not None and any(domain.periodic)
    columns = _given_list(pairs, ("a", "b"), dtype, periodic)
    return Verification(
        _carom.verify(
            columns,
            given[0],
            given[1] if second is not None else None,
            number(dt, "dt"),
            parts(domain),
            bool(without_separating),
        )
    )


def verify_walls(
    hits: Any,
    walls: Walls,
    center: npt.ArrayLike,
    radius: npt.ArrayLike,
    velocity: Optional[npt.ArrayLike] = None,
    dt: float = 0.0,
    *,
    second: Optional[Set] = None,
    domain: Optional[Domain] = None,
    groups: Optional[npt.ArrayLike] = None,
    without_separating: bool = False,
) -> Verification:
    """Checks a list of spheres that touch walls, like :func:`verify`. The columns are sphere, wall, toi and depth."""
    sets = [(center, radius, velocity, groups, None)]
    if second is not None:
        sets.append(second_set(second))
    given, dtype = spheres(sets)
    periodic = domain is not None and any(domain.periodic)
    columns = _given_list(hits, ("sphere", "wall"), dtype, periodic)
    native = native_walls(walls)
    if native is None:
        raise ValueError("walls is None, but must be the walls of the step")
    return Verification(
        _carom.verify_walls(
            columns,
            given[0],
            given[1] if second is not None else None,
            number(dt, "dt"),
            parts(domain),
            native,
            bool(without_separating),
        )
    )
