"""Brings the arguments of users into the form that the extension module takes."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Optional, Union

import numpy as np
import numpy.typing as npt

from ._carom import Error

Backend = Literal["auto", "cpu", "gpu"]
Array = npt.NDArray[Any]
#: Centre, radius, velocity, groups and bodies of a set of spheres.
Given = tuple[Array, Any, Optional[Array], Any, Optional[Array]]
#: Tuples ``(center, radius)`` or ``(center, radius, velocity)``, or a mapping with the names of the arguments of
#: :func:`carom.detect`.
Set = Union[Sequence[Any], Mapping[str, Any]]

#: Largest number of spheres of a step.
MOST = 2**30
_SET = ("center", "radius", "velocity", "groups", "bodies")


def as_array(value: Any, name: str) -> Array:
    """Returns an array of what a user passes, such as a list, or an array of another library in main memory."""
    if isinstance(value, np.ma.MaskedArray):
        raise ValueError(f"{name} is a masked array; pass the rows that are not masked, such as center[~mask.any(axis=1)]")
    if isinstance(value, np.ndarray):
        return value
    try:
        if not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
            return np.from_dlpack(value)
        return np.asarray(value)
    except (BufferError, TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"{name} cannot be read as an array: {error}; pass a NumPy array (in main memory), or a list of rows of equal length"
        ) from error


def numbers(value: Any, name: str) -> Array:
    """Returns an array of real numbers."""
    array = as_array(value, name)
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind in "iu" and size == 8 and array.size and (int(array.max()) > 2**53 or int(array.min()) < -(2**53)):
        raise ValueError(f"{name} has a whole number beyond 2**53, which no float64 can hold; choose other units")
    if kind in "fiu" and not (kind == "f" and size > 8):
        return array
    if kind == "f":
        advice = "carom works in float32 and float64; convert it with .astype(np.float64)"
    elif kind == "c":
        advice = "carom takes real numbers; pass the real part"
    elif isinstance(value, np.ndarray) or not hasattr(value, "get_positions"):
        advice = "pass numbers of float32 or float64"
    else:
        advice = "it seems to be Atoms of ASE, which the functions of carom.ase take"
    raise ValueError(f"{name} has the dtype {array.dtype}; {advice}")


def is_small(array: Array) -> bool:
    """Returns whether float32 holds the numbers of an array of this dtype."""
    return array.dtype.kind == "f" and array.dtype.itemsize <= 4


def of_type(array: Array, dtype: Any) -> Array:
    """Returns an aligned array in the byte order of the machine, without a copy where possible."""
    return np.require(array, dtype=np.dtype(dtype), requirements="A")


def vectors(value: Any, name: str) -> Array:
    array = numbers(value, name)
    if array.ndim == 1 and array.size == 0:
        array = array.reshape(0, 3)
    if array.ndim != 2 or array.shape[1] != 3:
        hint = "; two-dimensional spheres have z = 0" if array.ndim == 2 and array.shape[1] == 2 else ""
        raise ValueError(f"{name} has the shape {array.shape}, but must have (N, 3), one row x, y, z for each sphere{hint}")
    return array


def centers_of(value: Any, name: str) -> Array:
    """Returns the centres of spheres. An array of too many may be a view that would not fit into memory."""
    array = vectors(value, name)
    if len(array) > MOST:
        raise Error(f"{len(array)} spheres exceed the limit of {MOST}; split the world into several steps")
    return array


def each(value: Any, name: str, count: int) -> Union[float, Array]:
    """Returns one number for all spheres, or an array with one for each."""
    array = numbers(value, name)
    if array.ndim == 0:
        return float(array)
    if array.shape == (count, 1):
        array = array[:, 0]
    if array.shape != (count,):
        raise ValueError(
            f"{name} has the shape {array.shape}, but must be one number, or have the shape ({count},), one for each sphere"
        )
    return array


def whole(value: Any, name: str, count: int, low: int, high: int, dtype: Any) -> Union[int, Array]:
    """Returns one whole number for all spheres, or an array with one for each."""
    array = as_array(value, name)
    if array.dtype.kind not in "iub":
        raise ValueError(f"{name} has the dtype {array.dtype}, but must have whole numbers")
    if array.ndim > 0 and array.shape != (count,):
        raise ValueError(f"{name} has the shape {array.shape}, but must be one number, or have the shape ({count},)")
    if array.size and (int(array.min()) < low or int(array.max()) > high):
        raise ValueError(f"{name} has a number that is not from {low} to {high}")
    if array.ndim == 0:
        return int(array)
    return of_type(array, dtype)


def spheres(
    sets: Sequence[tuple[Any, Any, Any, Any, Any]], called: str = "center"
) -> tuple[list[Given], Any]:
    """Returns the sets in a common dtype, and the dtype. `sets` has the arguments of each set. `called` is the user's name for
    the centres."""
    names = [f" of {which}" if len(sets) > 1 else "" for which in ("the first set", "the second set")]
    arrays = []
    for (center, radius, velocity, groups, bodies), name in zip(sets, names):
        centers = centers_of(center, called + name)
        count = len(centers)
        radii = each(radius, "radius" + name, count)
        speeds = None
        if velocity is not None:
            speeds = numbers(velocity, "velocity" + name)
            if speeds.shape == (3,):
                speeds = np.broadcast_to(speeds, (count, 3))
            speeds = vectors(speeds, "velocity" + name)
            if len(speeds) != count:
                raise ValueError(
                    f"velocity{name} has {len(speeds)} rows, but center has {count}; pass one velocity for each sphere"
                )
        groups = 0 if groups is None else whole(groups, "groups" + name, count, 0, 2**32 - 1, np.uint32)
        if bodies is not None:
            bodies = whole(bodies, "bodies" + name, count, -(2**63), 2**63 - 1, np.int64)
            bodies = np.broadcast_to(np.int64(bodies), (count,)) if isinstance(bodies, int) else bodies
        arrays.append((centers, radii, speeds, groups, bodies))
    decisive = [a for one in arrays for a in one[:3] if isinstance(a, np.ndarray)]
    dtype = np.float32 if all(is_small(a) for a in decisive) else np.float64
    return [
        (
            of_type(centers, dtype),
            of_type(radii, dtype) if isinstance(radii, np.ndarray) else radii,
            None if speeds is None else of_type(speeds, dtype),
            groups,
            bodies,
        )
        for centers, radii, speeds, groups, bodies in arrays
    ], dtype


def second_set(given: Set) -> tuple[Any, Any, Any, Any, Any]:
    """Returns the five arguments of the second of two sets."""
    if isinstance(given, Mapping):
        unknown = set(given) - set(_SET)
        if unknown or "center" not in given or "radius" not in given:
            raise ValueError(
                f"second has the names {list(given)}, but must have center and radius, and may have velocity, groups and bodies"
            )
        center, radius, velocity, groups, bodies = (given.get(name) for name in _SET)
        return center, radius, velocity, groups, bodies
    if isinstance(given, np.ndarray) or not isinstance(given, Sequence) or not 2 <= len(given) <= 3:
        raise ValueError("second must be (center, radius), (center, radius, velocity), or a dict with such names")
    center, radius, *rest = given
    return center, radius, rest[0] if rest else None, None, None


def number(value: Any, name: str) -> float:
    """Returns one number."""
    try:
        if isinstance(value, (str, bytes, bytearray)) or np.iscomplexobj(value):
            raise TypeError
        return float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is {value!r}, but must be one number") from error
    except OverflowError as error:
        raise ValueError(f"{name} is larger than any float64") from error


def integer(value: Any, name: str, low: int, high: int) -> int:
    """Returns one whole number."""
    try:
        given = operator.index(value)
    except TypeError as error:
        raise ValueError(f"{name} is {value!r}, but must be one whole number") from error
    if not low <= given <= high:
        raise ValueError(f"{name} is {given}, but must be from {low} to {high}")
    return given


def backend_name(value: Any) -> str:
    """Returns the name of a backend."""
    if not isinstance(value, str):
        raise ValueError(f'backend is {value!r}, but must be "auto", "cpu" or "gpu"')
    return value


def vector(value: Any, name: str) -> tuple[float, float, float]:
    """Returns three numbers."""
    array = numbers(value, name)
    if array.shape != (3,):
        raise ValueError(f"{name} has the shape {array.shape}, but must have three numbers")
    x, y, z = array.tolist()
    return float(x), float(y), float(z)


def frozen(array: Array) -> Array:
    """Returns the array, which cannot be written to any more, nor be made writable again."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner.flags.writeable = False
        owner = owner.base
    return array.view()
