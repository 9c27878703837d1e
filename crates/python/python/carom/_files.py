"""Reads the files of the command-line tool."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Optional, Union, overload

import numpy as np
import numpy.typing as npt

from . import _carom
from ._inputs import Array, integer, number
from ._world import Domain, cell as as_domain, flags, parts

Path = Union[str, "os.PathLike[str]"]
Paths = Union[Path, Sequence[Path]]
Format = Literal["csv", "lammps", "lammps-data", "xyz", "npy", "npz"]


@dataclass(frozen=True, eq=False)
class World:
    """The spheres of a file, or of a frame of it. Returned by :func:`read`.

    Attributes
    ----------
    center : array
        Centres, shape (N, 3), in float32 if the file is an array of float32, and otherwise in float64.
    radius : array
        Radii, shape (N,).
    velocity : array
        Velocities, shape (N, 3). 0 if the file has none.
    ids : array of int64, or None
        Ids, shape (N,), with ``ids=True``.
    types : array, or None
        Types, shape (N,), numbers or names, with ``types=True``.
    domain : Domain, or None
        The periodic box.
    frame : int, or None
        Number of the frame, from 0, if the file has frames.
    timestep : int, or None
        Time step of the frame, if the file tells it.
    notes : tuple of str
        What to know of how the file was read, such as the unit of time.
    """

    center: Array
    radius: Array
    velocity: Array
    ids: Optional[npt.NDArray[np.int64]]
    types: Optional[Array]
    domain: Optional[Domain]
    frame: Optional[int]
    timestep: Optional[int]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.center)

    def __repr__(self) -> str:
        frame = "" if self.frame is None else f", frame {self.frame}"
        step = "" if self.timestep is None else f" (timestep {self.timestep})"
        return f"<carom.World: {len(self)} spheres{frame}{step}, {self.domain or 'open space'}>"


def _world(given: dict[str, Any]) -> World:
    domain = given["domain"]
    if domain is not None:
        origin, edges, periodic = domain
        domain = Domain(edges, origin, periodic)
    types = given["types"]
    given = {**given, "domain": domain, "notes": tuple(given["notes"])}
    given["types"] = None if types is None else np.asarray(types)
    return World(**given)


def _frames(frame: Union[int, slice]) -> str:
    far = 2**63 - 1
    if isinstance(frame, slice):
        step = 1 if frame.step is None else integer(frame.step, "the step of the frames", 1, far)
        start, stop = ("" if end is None else integer(end, "frame", -far, far) for end in (frame.start, frame.stop))
        return f"{start}:{stop}:{step}"
    if isinstance(frame, (bool, np.bool_)):
        raise ValueError(f"frame is {frame}, but must be a number or a slice")
    return str(integer(frame, "frame (a number or a slice)", -far, far))


def _radius(value: Any) -> float:
    radius = number(value, "radius")
    if not 0 <= radius < np.inf:
        raise ValueError(f"radius is {radius}, but must be a finite number from 0")
    return radius


def _paths(path: Any) -> list[str]:
    if isinstance(path, (str, bytes, os.PathLike)):
        return [os.fsdecode(path)]
    if hasattr(path, "read"):
        raise TypeError("path is an open file, but must be its path; pass file.name, or the path itself")
    try:
        paths = [os.fsdecode(name) for name in path]
    except TypeError as error:
        raise TypeError(f"path is {path!r}, but must be a path, or a sequence of paths") from error
    if not paths:
        raise ValueError("path is an empty sequence; pass the paths of the files of a series")
    return paths


@overload
def read(
    path: Paths,
    frame: int = -1,
    *,
    radius: Union[float, Mapping[Union[str, int], float], None] = None,
    ids: bool = False,
    types: bool = False,
    columns: Union[str, Sequence[str], Mapping[str, Union[str, int]], None] = None,
    separator: Optional[str] = None,
    at_rest: bool = False,
    box: Union[Domain, npt.ArrayLike, None] = None,
    periodic: Optional[Sequence[bool]] = None,
    open: bool = False,
    format: Optional[Format] = None,
) -> World: ...


@overload
def read(
    path: Paths,
    frame: slice,
    *,
    radius: Union[float, Mapping[Union[str, int], float], None] = None,
    ids: bool = False,
    types: bool = False,
    columns: Union[str, Sequence[str], Mapping[str, Union[str, int]], None] = None,
    separator: Optional[str] = None,
    at_rest: bool = False,
    box: Union[Domain, npt.ArrayLike, None] = None,
    periodic: Optional[Sequence[bool]] = None,
    open: bool = False,
    format: Optional[Format] = None,
) -> Iterator[World]: ...


def read(
    path: Paths,
    frame: Union[int, slice] = -1,
    *,
    radius: Union[float, Mapping[Union[str, int], float], None] = None,
    ids: bool = False,
    types: bool = False,
    columns: Union[str, Sequence[str], Mapping[str, Union[str, int]], None] = None,
    separator: Optional[str] = None,
    at_rest: bool = False,
    box: Union[Domain, npt.ArrayLike, None] = None,
    periodic: Optional[Sequence[bool]] = None,
    open: bool = False,
    format: Optional[Format] = None,
) -> Union[World, Iterator[World]]:
    """Reads spheres from CSV, LAMMPS dumps and data files, XYZ, extended XYZ, ``.npy`` and ``.npz``, perhaps compressed.

    Parameters
    ----------
    path : path, or sequence of paths
        The file, or the files of a series. ``"-"`` is standard input.
    frame : int or slice, optional
        The frame, the last by default, as in ``list[frame]``. For a slice, such as ``slice(None)`` for all frames, the
        result is an iterator, which reads one frame at a time. A slice without any frame is an error.
    radius : float or dict, optional
        One radius for all spheres, or one for each type, for a file without radii.
    ids, types : bool, optional
        Whether to read the ids and the types of the spheres.
    columns : str, sequence or dict, optional
        The names of all columns in their order, or for some names the names or numbers (from 1) in the file.
    separator : {"comma", "semicolon", "tab", "space"}, optional
        What separates the columns of a CSV file.
    at_rest : bool, optional
        Whether to take all spheres as at rest.
    box : Domain or array_like, optional
        The box, for a file without one, or with ``open=True``.
    periodic : three bools, optional
        The edges along which the world is periodic, instead of those that the file names.
    open : bool, optional
        Whether to ignore the box of the file.
    format : str, optional
        The format, if neither the contents nor the name tell it.

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If the file is invalid. The message names the line and the field.
    """
    paths = _paths(path)
    options: dict[str, Any] = {"ids": bool(ids), "types": bool(types), "at_rest": bool(at_rest), "open": bool(open)}
    if isinstance(radius, Mapping):
        options["radii"] = [(str(kind), _radius(size)) for kind, size in radius.items()]
    elif radius is not None:
        options["radius"] = _radius(radius)
    if isinstance(columns, Mapping):
        options["columns"] = ",".join(f"{name}={column}" for name, column in columns.items())
    elif columns is not None:
        options["columns"] = columns if isinstance(columns, str) else ",".join(columns)
    if separator is not None:
        options["separator"] = separator
    if box is not None:
        options["cell"] = parts(box if isinstance(box, Domain) else as_domain(box))
    if periodic is not None:
        options["periodic"] = flags(periodic, "periodic")
    if format is not None:
        options["format"] = format
    frames = _carom.read(paths, _frames(frame), options)
    if isinstance(frame, slice):
        return map(_world, frames)
    return _world(next(iter(frames)))
