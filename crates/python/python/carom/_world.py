"""The world in which spheres move: periodic domains, walls and meshes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _carom
from ._inputs import Array, as_array, frozen, integer, number, numbers, of_type, vector, vectors, whole

Flags = tuple[bool, bool, bool]
Vector = tuple[float, float, float]


def _edges(value: Any) -> npt.NDArray[np.float64]:
    cell = numbers(value, "the cell").astype(np.float64)
    if cell.ndim == 0:
        return np.diag([float(cell)] * 3)
    if cell.shape == (3,):
        return np.diag(cell)
    if cell.shape == (3, 3):
        return cell.copy()
    if cell.shape != (6,):
        raise ValueError(
            f"the cell has the shape {cell.shape}, but must be three edges (3, 3), three lengths (3,), or three lengths and "
            "the angles between the edges b and c, a and c, a and b in degrees (6,), or one length"
        )
    a, b, c, *degrees = cell.tolist()
    if not all(0 < angle < 180 for angle in degrees):
        raise ValueError(f"the angles of the cell are {degrees}, but must lie between 0 and 180 degrees")
    # Right angles are exact.
    cosines = [0.0 if angle == 90 else float(np.cos(np.radians(angle))) for angle in degrees]
    sine = 1.0 if degrees[2] == 90 else float(np.sin(np.radians(degrees[2])))
    along_b = (cosines[0] - cosines[1] * cosines[2]) / sine
    height = 1 - cosines[1] ** 2 - along_b**2
    if not height > 0:
        raise ValueError(f"no cell has the angles {degrees}")
    return np.array(
        [
            [a, 0.0, 0.0],
            [b * cosines[2], b * sine, 0.0],
            [c * cosines[1], c * along_b, c * float(np.sqrt(height))],
        ]
    )


class Domain:
    """A cell that repeats along some or all of its edges.

    Parameters
    ----------
    edges : array_like
        Three edges, shape (3, 3), one in each row; three lengths along x, y and z, shape (3,); or three lengths and the
        angles between the edges b and c, a and c, and a and b in degrees, shape (6,). The edges may be left-handed. One
        number is the edge of a cube.
    origin : array_like, optional
        The corner from which the edges start, shape (3,).
    periodic : bool or three bools, optional
        The edges along which the world repeats: all, by default.

    Image ``(n1, n2, n3)`` of a sphere is displaced by ``n1 * edges[0] + n2 * edges[1] + n3 * edges[2]``. Spheres may lie
    outside the cell.

    >>> carom.Domain([10, 10, 5], periodic=[True, True, False])  # a channel, open along z
    Domain([10.0, 10.0, 5.0], periodic=(True, True, False))
    """

    __slots__ = ("_edges", "_origin", "_periodic")

    def __init__(
        self,
        edges: npt.ArrayLike,
        origin: npt.ArrayLike = (0.0, 0.0, 0.0),
        periodic: Union[bool, Sequence[bool], Array] = True,
    ) -> None:
        self._edges = frozen(_edges(edges))
        self._origin = frozen(np.array(vector(origin, "origin")))
        self._periodic = flags(periodic, "periodic")
        _carom.check(parts(self))

    @property
    def edges(self) -> npt.NDArray[np.float64]:
        """The three edges, shape (3, 3)."""
        return self._edges

    @property
    def origin(self) -> npt.NDArray[np.float64]:
        """The corner from which the edges start, shape (3,)."""
        return self._origin

    @property
    def periodic(self) -> Flags:
        """For each edge, whether the world repeats along it."""
        return self._periodic

    @property
    def volume(self) -> float:
        """The volume of the cell."""
        return abs(float(np.linalg.det(self._edges)))

    def displacement(self, image: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Returns the displacements of images, shape (..., 3). Edges that are not periodic add nothing."""
        return np.asarray(np.asarray(image) @ (self._edges * np.array(self._periodic)[:, None]), dtype=np.float64)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Domain):
            return NotImplemented
        return (
            self._periodic == other._periodic
            and bool((self._edges == other._edges).all())
            and bool((self._origin == other._origin).all())
        )

    def __hash__(self) -> int:
        return hash((self._edges.tobytes(), self._origin.tobytes(), self._periodic))

    def __reduce__(self) -> Any:
        return Domain, (self._edges, self._origin, self._periodic)

    def __repr__(self) -> str:
        diagonal = np.diag(self._edges)
        edges = diagonal if (self._edges == np.diag(diagonal)).all() else self._edges
        origin = "" if not self._origin.any() else f", origin={self._origin.tolist()}"
        periodic = "" if all(self._periodic) else f", periodic={self._periodic}"
        return f"Domain({edges.tolist()}{origin}{periodic})"


def flags(value: Any, name: str) -> Flags:
    """Returns three bools."""
    array = np.asarray(value)
    if array.ndim == 0:
        array = np.broadcast_to(array, (3,))
    if array.shape != (3,) or array.dtype.kind not in "biu":
        raise ValueError(f"{name} is {value!r}, but must be one bool, or three: one for each edge")
    a, b, c = (bool(flag) for flag in array)
    return a, b, c


Parts = tuple[Vector, list[list[float]], Flags]


def parts(domain: Optional[Domain]) -> Any:
    """Returns origin, edges and periodic edges of a domain, or None for open space."""
    if domain is None:
        return None
    if not isinstance(domain, Domain):
        raise TypeError(f"domain is {type(domain).__name__}, but must be a carom.Domain")
    return domain.origin.tolist(), domain.edges.tolist(), domain.periodic


def cell(value: Any, pbc: Any = None) -> Optional[Domain]:
    """Returns the domain of a cell as ASE has it, or None if no edge is periodic."""
    if isinstance(value, Domain):
        return value if pbc is None else Domain(value.edges, value.origin, pbc)
    periodic = (True, True, True) if pbc is None else flags(pbc, "pbc")
    if value is None:
        if pbc is not None and any(periodic):
            raise ValueError("pbc is true along an edge, but there is no cell; pass the cell")
        return None
    return Domain(value, periodic=periodic) if any(periodic) else None


def groups(member_of: npt.ArrayLike, ignored: npt.ArrayLike) -> Any:
    """Returns collision groups: each sphere belongs to the groups `member_of`, and touches no sphere of the groups `ignored`.

    Both are masks of sixteen groups, one bit each, as numbers or arrays of whole numbers from 0 to 65535. A pair is left
    out if one sphere ignores a group to which the other belongs.

    >>> bullets = carom.groups(1, 1)  # bullets do not hit each other
    """
    masks = []
    for name, value in (("member_of", member_of), ("ignored", ignored)):
        mask = np.asarray(value)
        whole(mask.ravel(), name, mask.size, 0, 65535, np.uint32)
        masks.append(mask.astype(np.uint32))
    packed = masks[0] | (masks[1] << np.uint32(16))
    return int(packed) if packed.ndim == 0 else packed


class Wall:
    """A half-space, a sphere or a cylinder that spheres touch, from outside or from inside.

    Make walls with :meth:`half_space`, :meth:`sphere`, :meth:`cylinder` and :meth:`inside_box`. A wall may move with a
    constant velocity, have collision groups (:func:`carom.groups`), and for a :class:`carom.Simulation` a coefficient of
    restitution of its own, from 0 to 1. These arguments are its attributes, such as ``wall.center`` and ``wall.velocity``.
    """

    __slots__ = ("_given",)
    _given: tuple[Any, ...]

    @property
    def _arguments(self) -> dict[str, Any]:
        shape, one, other, size, hollow, *motion = self._given
        named: dict[str, Any]
        if shape == "half_space":
            named = {"normal": one, "offset": size}
        elif shape == "sphere":
            named = {"center": one, "radius": size, "hollow": hollow}
        else:
            named = {"point": one, "axis": other, "radius": size, "hollow": hollow}
        return {**named, **dict(zip(("velocity", "groups", "restitution"), motion))}

    def _get(self, name: str) -> Any:
        if name not in self._arguments:
            raise AttributeError(f"a wall of the shape {self.shape!r} has no {name}")
        return self._arguments[name]

    @property
    def shape(self) -> str:
        """``"half_space"``, ``"sphere"`` or ``"cylinder"``."""
        return str(self._given[0])

    @property
    def normal(self) -> Vector:
        """Normal of a half-space, away from the solid side."""
        return self._get("normal")

    @property
    def offset(self) -> float:
        """Offset of a half-space along its normal."""
        return self._get("offset")

    @property
    def center(self) -> Vector:
        """Centre of a sphere."""
        return self._get("center")

    @property
    def point(self) -> Vector:
        """Point on the axis of a cylinder."""
        return self._get("point")

    @property
    def axis(self) -> Vector:
        """Direction of the axis of a cylinder."""
        return self._get("axis")

    @property
    def radius(self) -> float:
        """Radius of a sphere or a cylinder."""
        return self._get("radius")

    @property
    def hollow(self) -> bool:
        """Whether spheres touch a sphere or a cylinder from inside."""
        return self._get("hollow")

    @property
    def velocity(self) -> Vector:
        """Velocity."""
        return self._get("velocity")

    @property
    def groups(self) -> int:
        """Collision groups."""
        return self._get("groups")

    @property
    def restitution(self) -> Optional[float]:
        """Coefficient of restitution, or None."""
        return self._get("restitution")

    def replace(self, **changes: Any) -> Wall:
        """Returns the same wall with other arguments, such as ``wall.replace(velocity=[1, 0, 0])``."""
        make: Any = getattr(Wall, self.shape)
        wall: Wall = make(**{**self._arguments, **changes})
        return wall

    def __init__(self) -> None:
        raise TypeError("make a wall with carom.Wall.half_space, .sphere, .cylinder or .inside_box")

    @classmethod
    def _of(
        cls,
        shape: str,
        one: Any,
        other: Any,
        size: float,
        hollow: bool,
        velocity: Any,
        groups: Any,
        restitution: Any = None,
    ) -> Wall:
        wall = object.__new__(cls)
        wall._given = (
            shape,
            one,
            other,
            size,
            bool(hollow),
            vector(velocity, "velocity"),
            integer(groups, "groups", 0, 2**32 - 1),
            _restitution(restitution),
        )
        try:
            _carom.check(None, _carom.Walls([wall._given], []))
        except ValueError as error:
            raise ValueError(str(error).replace("wall 0 is", "the wall is")) from None
        return wall

    @classmethod
    def half_space(
        cls,
        normal: npt.ArrayLike,
        offset: float,
        *,
        velocity: npt.ArrayLike = (0.0, 0.0, 0.0),
        groups: int = 0,
        restitution: Optional[float] = None,
    ) -> Wall:
        """Returns a half-space: the points x with ``normal @ x >= offset`` are free, all others are solid.

        `normal` points away from the solid side, and has any length but 0.
        """
        normal = vector(normal, "normal")
        size = number(offset, "offset")
        return cls._of("half_space", normal, (0.0, 0.0, 0.0), size, False, velocity, groups, restitution)

    @classmethod
    def sphere(
        cls,
        center: npt.ArrayLike,
        radius: float,
        *,
        hollow: bool = False,
        velocity: npt.ArrayLike = (0.0, 0.0, 0.0),
        groups: int = 0,
        restitution: Optional[float] = None,
    ) -> Wall:
        """Returns a sphere, which others touch from outside, or from inside if it is hollow."""
        center = vector(center, "center")
        size = number(radius, "radius")
        return cls._of("sphere", center, (0.0, 0.0, 0.0), size, hollow, velocity, groups, restitution)

    @classmethod
    def cylinder(
        cls,
        point: npt.ArrayLike,
        axis: npt.ArrayLike,
        radius: float,
        *,
        hollow: bool = False,
        velocity: npt.ArrayLike = (0.0, 0.0, 0.0),
        groups: int = 0,
        restitution: Optional[float] = None,
    ) -> Wall:
        """Returns an infinitely long cylinder, which spheres touch from outside, or from inside if it is hollow.

        `point` is a point of its axis, and `axis` the direction of the axis, of any length but 0.
        """
        point, axis = vector(point, "point"), vector(axis, "axis")
        return cls._of("cylinder", point, axis, number(radius, "radius"), hollow, velocity, groups, restitution)

    @classmethod
    def inside_box(cls, low: npt.ArrayLike, high: npt.ArrayLike) -> list[Wall]:
        """Returns the six walls that keep spheres inside a box.

        They are numbered 0 (low x), 1 (high x), 2 (low y), 3 (high y), 4 (low z) and 5 (high z). `low` and `high` are
        two opposite corners.
        """
        one, other = vector(low, "low"), vector(high, "high")
        walls = []
        for axis in range(3):
            for sign, offset in ((1.0, min(one[axis], other[axis])), (-1.0, -max(one[axis], other[axis]))):
                normal = [0.0, 0.0, 0.0]
                normal[axis] = sign
                walls.append(cls.half_space(normal, offset))
        return walls

    def __copy__(self) -> Wall:
        return self

    def __deepcopy__(self, memo: Any) -> Wall:
        return self

    def __reduce__(self) -> Any:
        return _wall, self._given

    def __eq__(self, other: object) -> bool:
        return self._given == other._given if isinstance(other, Wall) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._given)

    def __repr__(self) -> str:
        shape, one, other, size, hollow, velocity, groups, restitution = self._given
        first = f"{list(one)}, {list(other)}, {size}" if shape == "cylinder" else f"{list(one)}, {size}"
        rest = ", hollow=True" if hollow else ""
        rest += f", velocity={list(velocity)}" if any(velocity) else ""
        rest += f", groups={groups}" if groups else ""
        rest += f", restitution={restitution}" if restitution is not None else ""
        return f"Wall.{shape}({first}{rest})"


def _wall(*given: Any) -> Wall:
    return Wall._of(*given)


def known_wall(given: Any) -> Wall:
    """Returns a wall of a simulation, which has checked it."""
    wall = object.__new__(Wall)
    shape, one, other, size, hollow, velocity, *rest = given
    wall._given = (shape, tuple(one), tuple(other), size, hollow, tuple(velocity), *rest)
    return wall


def _restitution(value: Any) -> Optional[float]:
    if value is None:
        return None
    restitution = number(value, "restitution")
    if not 0 <= restitution <= 1:
        raise ValueError(f"restitution is {restitution}, but must be from 0 to 1")
    return restitution


class Mesh:
    """A mesh of triangles, which spheres touch from both sides.

    Parameters
    ----------
    vertices : array_like or path
        The positions of the vertices, shape (N, 3); or the path of an STL or OBJ file.
    triangles : array_like of int, optional
        For each triangle, the indices of its three vertices, shape (M, 3). Leave it out for a file.
    velocity : array_like, optional
        The velocity of the whole mesh, shape (3,).
    groups : int, optional
        Collision groups: see :func:`carom.groups`.
    restitution : float, optional
        Coefficient of restitution in a :class:`carom.Simulation`, from 0 to 1.
    """

    __slots__ = ("_native", "_triangles", "_vertices")

    def __init__(
        self,
        vertices: Union[npt.ArrayLike, str, os.PathLike[str]],
        triangles: Optional[npt.ArrayLike] = None,
        *,
        velocity: npt.ArrayLike = (0.0, 0.0, 0.0),
        groups: int = 0,
        restitution: Optional[float] = None,
    ) -> None:
        speed = vector(velocity, "velocity")
        packed = integer(groups, "groups", 0, 2**32 - 1)
        own = _restitution(restitution)
        self._vertices: Optional[npt.NDArray[np.float64]] = None
        self._triangles: Optional[npt.NDArray[np.int64]] = None
        if isinstance(vertices, (str, os.PathLike)):
            if triangles is not None:
                raise ValueError("a file has its own triangles; leave them out")
            self._native = _carom.Mesh.read(os.fsdecode(vertices), speed, packed, own)
            return
        if triangles is None:
            raise ValueError("pass the triangles of the vertices, or the path of a file")
        corners = of_type(vectors(vertices, "vertices"), np.float64)
        indices = as_array(triangles, "triangles")
        if indices.ndim != 2 or indices.shape[1] != 3:
            raise ValueError(f"triangles has the shape {indices.shape}, but must have (M, 3), three vertices for each triangle")
        whole(indices.ravel(), "triangles", indices.size, 0, max(len(corners) - 1, 0), np.uint32)
        self._native = _carom.Mesh(corners, of_type(indices, np.uint32), speed, packed, own)

    @classmethod
    def _of(cls, native: _carom.Mesh) -> Mesh:
        mesh = object.__new__(cls)
        mesh._native, mesh._vertices, mesh._triangles = native, None, None
        return mesh

    def replace(self, **changes: Any) -> Mesh:
        """Returns the same mesh with another `velocity`, `groups` or `restitution`."""
        given = {"velocity": self.velocity, "groups": self.groups, "restitution": self.restitution}
        if not set(changes) <= set(given):
            raise TypeError(f"a mesh can replace velocity, groups and restitution, but not {min(set(changes) - set(given))}")
        given.update(changes)
        velocity = vector(given["velocity"], "velocity")
        groups = integer(given["groups"], "groups", 0, 2**32 - 1)
        return Mesh._of(self._native.replace(velocity, groups, _restitution(given["restitution"])))

    @property
    def vertices(self) -> npt.NDArray[np.float64]:
        """The positions of the vertices, shape (N, 3). To move them, make another mesh."""
        if self._vertices is None:
            self._vertices = frozen(self._native.vertices())
        return self._vertices

    @property
    def triangles(self) -> npt.NDArray[np.int64]:
        """The indices of the vertices of each triangle, shape (M, 3)."""
        if self._triangles is None:
            self._triangles = frozen(self._native.triangles())
        return self._triangles

    @property
    def velocity(self) -> tuple[float, float, float]:
        """The velocity of the mesh."""
        x, y, z = self._native.velocity
        return x, y, z

    @property
    def groups(self) -> int:
        """The collision groups of the mesh."""
        return self._native.groups

    @property
    def restitution(self) -> Optional[float]:
        """The coefficient of restitution, or None."""
        return self._native.restitution

    def __copy__(self) -> Mesh:
        return self

    def __deepcopy__(self, memo: Any) -> Mesh:
        return self

    def __reduce__(self) -> Any:
        return _mesh, (self.vertices, self.triangles, self.velocity, self.groups, self.restitution)

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"<carom.Mesh: {len(self)} triangles>"


def _mesh(vertices: Any, triangles: Any, velocity: Any, groups: int, restitution: Any = None) -> Mesh:
    return Mesh(vertices, triangles, velocity=velocity, groups=groups, restitution=restitution)


Walls = Union[Wall, Mesh, Iterable[Union[Wall, Mesh, Sequence[Wall]]]]


def as_walls(walls: Optional[Walls]) -> Optional[tuple[Union[Wall, Mesh], ...]]:
    """Returns walls in one tuple. A list in a list is that of :meth:`Wall.inside_box`."""
    if walls is None:
        return None
    if isinstance(walls, (Wall, Mesh)):
        return (walls,)
    if not isinstance(walls, Iterable):
        raise TypeError(f"walls is {type(walls).__name__}, but must be a carom.Wall, a carom.Mesh, or a list of them")
    flat: list[Union[Wall, Mesh]] = []
    for wall in walls:
        several = wall if isinstance(wall, (list, tuple)) else [wall]
        for one in several:
            if not isinstance(one, (Wall, Mesh)):
                raise TypeError(f"walls has a {type(one).__name__}, but must have carom.Wall and carom.Mesh")
            flat.append(one)
    return tuple(flat)


def native_walls(walls: Optional[Walls]) -> Optional[_carom.Walls]:
    """Returns the walls of a step for the extension module."""
    flat = as_walls(walls)
    if flat is None:
        return None
    simple = [wall._given for wall in flat if isinstance(wall, Wall)]
    return _carom.Walls(simple, [mesh._native for mesh in flat if isinstance(mesh, Mesh)])
