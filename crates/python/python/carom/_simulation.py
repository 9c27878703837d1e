"""Simulations of hard spheres."""

from __future__ import annotations

import sys
import time as clock
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _carom
from ._inputs import Array, as_array, centers_of, each, frozen, integer, number, numbers, of_type, vector, vectors, whole
from ._world import Domain, Mesh, Wall, Walls, as_walls, known_wall, native_walls, parts

_IMPACT = np.dtype(
    {
        "names": ["time", "sphere", "partner", "at_wall", "image", "point", "normal", "impulse"],
        "formats": ["f8", "i8", "i8", "?", ("i4", 3), ("f8", 3), ("f8", 3), ("f8", 3)],
        "offsets": [0, 80, 88, 108, 96, 8, 32, 56],
        "itemsize": 112,
    }
)
_REMOVAL = np.dtype(
    {
        "names": ["time", "sphere", "velocity"],
        "formats": ["f8", "i8", ("f8", 3)],
        "offsets": [0, 32, 8],
        "itemsize": 40,
    }
)
_CONTACT = np.dtype(
    {"names": ["sphere", "partner", "at_wall"], "formats": ["i8", "i8", "?"], "offsets": [0, 8, 16], "itemsize": 24}
)
#: What spheres have besides their state: the type, and the value of a sphere that is added.
_EACH: dict[str, tuple[Any, Any]] = {"groups": (np.uint32, 0), "bodies": (np.int64, -1), "restitutions": (np.float64, None)}


class Encounter(NamedTuple):
    """Two objects that meet, before it is decided what happens: the argument of a rule.

    Attributes
    ----------
    time : float
        Time on the clock of the simulation.
    sphere : int
        Index of the sphere, the smaller one of two spheres.
    partner : int
        Index of the other sphere, or number of the wall.
    at_wall : bool
        Whether the partner is a wall.
    image : three ints
        Image of the partner, or of the sphere at a wall.
    point : three floats
        Contact point.
    normal : three floats
        Unit vector from the centre of the sphere to the contact point.
    masses : two floats
        Masses of the sphere and its partner.
    velocities : two times three floats
        Velocities of the sphere and its partner, just before.
    approach_speed : float
        Speed of approach along the normal.
    """

    time: float
    sphere: int
    partner: int
    at_wall: bool
    image: tuple[int, int, int]
    point: tuple[float, float, float]
    normal: tuple[float, float, float]
    masses: tuple[float, float]
    velocities: tuple[tuple[float, float, float], tuple[float, float, float]]
    approach_speed: float


#: Velocity after the impact, or "keep", "bounce" or "remove".
Outcome = Union[str, npt.ArrayLike]
Rule = Callable[[Encounter], Union[None, str, float, tuple[Outcome, Outcome]]]


@dataclass(frozen=True, eq=False)
class StepReport:
    """Sums over the impacts of a step. Returned by :meth:`Simulation.step`.

    Attributes
    ----------
    sphere_impacts : int
        Number of impacts between spheres.
    wall_impacts : int
        Number of impacts of spheres with walls.
    wall_impulses : array
        Momentum that the spheres passed to each wall, shape (W, 3).
    virial : float
        Sum over the impacts of the distance of the centres times the impulse along the normal. With the kinetic energy E and
        the duration t, the compressibility factor of equal spheres is ``1 + virial / (2 * E * t)``.
    kinetic_energy : float
        Kinetic energy at the end of the step.
    completed : bool
        Whether the step reached its end: see ``max_step_impacts`` of :class:`Simulation`.
    substeps : int
        Number of substeps.
    rounds : int
        Number of rounds in all substeps.
    largest_island : int
        Number of spheres in the largest group whose impacts were processed one after the other.
    removed : structured array
        The spheres that a rule removed, with time, sphere and velocity.
    impacts : structured array
        With ``impacts=True``, the impacts in the order of time, with time, sphere, partner, at_wall, image, point, normal and
        impulse (the momentum that passes to the partner).
    began, lasted, ended : structured arrays
        With ``contacts=True``, the contacts of this step that were none of the step before, that were, and the contacts of
        the step before that are none of this one, with sphere, partner and at_wall. Two are in contact in a step if they have
        an impact in it, or press on each other at its end.
    """

    sphere_impacts: int
    wall_impacts: int
    wall_impulses: npt.NDArray[np.float64]
    virial: float
    kinetic_energy: float
    completed: bool
    substeps: int
    rounds: int
    largest_island: int
    removed: Array
    impacts: Array
    began: Array
    lasted: Array
    ended: Array

    def __repr__(self) -> str:
        return (
            f"<carom.StepReport: {self.sphere_impacts} impacts of spheres, {self.wall_impacts} at walls, "
            f"kinetic energy {self.kinetic_energy:g}{'' if self.completed else ', not completed'}>"
        )


class Simulation:
    """Moves hard spheres through time, with every impact at its time and in its order.

    Parameters
    ----------
    center : array_like
        Centres, shape (N, 3).
    radius : array_like
        One radius for all, or one for each, shape (N,).
    velocity : array_like, optional
        Velocities, shape (N, 3). None: at rest.
    mass : array_like, optional
        One mass for all, or one for each, shape (N,). A sphere of infinite mass keeps its velocity.
    domain : Domain, optional
        A periodic cell, whose numbers are rounded to float32. None: open space.
    walls : Wall, Mesh, or iterable of them, optional
        Walls at time 0, whose numbers are rounded to float32. Each moves with its velocity.
    gravity : array_like, optional
        Acceleration, shape (3,).
    restitution : float or array_like, optional
        Coefficient of restitution of two spheres, from 0 to 1, 1 by default: elastic. Or one for each sphere, shape (N,): then
        those of two spheres, or of a sphere and a wall, are combined.
    combine : {"average", "min", "multiply", "max"}, optional
        How coefficients of each sphere are combined.
    wall_restitution : float, optional
        Coefficient of restitution of a sphere and a wall, from 0 to 1, for walls that have none of their own.
    contact_time : float, optional
        The time with which inelastic spheres come to rest. Without it, a collapse of inelastic spheres raises
        :class:`carom.Error`. With gravity, 10⁻³ of the time in which a sphere falls by its radius is very short.
    groups : array_like of int, optional
        Collision groups, shape (N,): see :func:`carom.groups`.
    bodies : array_like of int, optional
        The compound body of each sphere, shape (N,). Spheres of one body do not hit one another. A negative number is no body.
    impacts : bool, optional
        Whether reports have a list of impacts.
    contacts : bool, optional
        Whether reports tell which contacts began, lasted and ended.
    one_sided_meshes : bool, optional
        Whether spheres touch triangles only from the side from which the corners run counterclockwise.
    max_impacts : int, optional
        Largest number of impacts of one sphere in a substep, 100 000 by default.
    max_step_impacts : int, optional
        Largest number of impacts in a step, ten million and ten thousand for each sphere by default. A substep counts as one
        more impact, and so do about two periodic images, or 64 pairs, that are searched. The first substep that reaches the
        limit is the last one of the step, which then ends early.
    impacts_per_substep : float, optional
        Target for the mean number of impacts of a sphere in a substep, 0.4 by default.

    The state is in float64, and has the same bytes for any number of threads. Spheres that overlap at the start bounce at once
    if they approach; :meth:`separate` moves them apart.

    Between steps, everything may change: assign to the attributes, :meth:`add` and :meth:`remove` spheres. The index of a
    removed sphere is a hole (:attr:`removed` is True), and no other index changes.

    ``copy.copy(simulation)``, and a simulation that was pickled and read, go on with the same bytes. Only the version of carom
    that pickled a simulation reads it.

    >>> simulation = carom.Simulation([[0, 0, 0], [3, 0, 0]], 0.5, [[2, 0, 0], [0, 0, 0]])
    >>> report = simulation.step(2.0)
    >>> report.sphere_impacts, simulation.velocity[:, 0]
    (1, array([0., 2.]))
    """

    __slots__ = ("__weakref__", "_kept", "_native", "_own")

    def __init__(
        self,
        center: npt.ArrayLike,
        radius: npt.ArrayLike,
        velocity: Optional[npt.ArrayLike] = None,
        mass: npt.ArrayLike = 1.0,
        *,
        domain: Optional[Domain] = None,
        walls: Optional[Walls] = None,
        gravity: npt.ArrayLike = (0.0, 0.0, 0.0),
        restitution: npt.ArrayLike = 1.0,
        combine: Literal["average", "min", "multiply", "max"] = "average",
        wall_restitution: float = 1.0,
        contact_time: float = 0.0,
        groups: Optional[npt.ArrayLike] = None,
        bodies: Optional[npt.ArrayLike] = None,
        impacts: bool = False,
        contacts: bool = False,
        one_sided_meshes: bool = False,
        max_impacts: Optional[int] = None,
        max_step_impacts: Optional[int] = None,
        impacts_per_substep: Optional[float] = None,
    ) -> None:
        centers = centers_of(center, "center")
        count = len(centers)
        own: dict[str, Any] = {
            "count": count,
            "restitution": 1.0,
            "wall_restitution": number(wall_restitution, "wall_restitution"),
            "contact_time": number(contact_time, "contact_time"),
        }
        own.update(_each({"groups": groups, "bodies": bodies}, count))
        if np.ndim(restitution) == 0:
            own["restitution"] = number(restitution, "restitution")
        else:
            own.update(_each({"restitutions": restitution}, count))
        if not isinstance(combine, str):
            raise ValueError(f'combine is {combine!r}, but must be "average", "min", "multiply" or "max"')
        options: dict[str, Any] = {
            "gravity": vector(gravity, "gravity"),
            "impacts": bool(impacts),
            "contacts": bool(contacts),
            "one_sided_meshes": bool(one_sided_meshes),
            "restitutions": (own.get("restitutions", np.empty(0)), combine),
        }
        for name in ("restitution", "wall_restitution", "contact_time", "groups", "bodies"):
            if name in own:
                options[name] = own[name]
        if domain is not None:
            options["domain"] = parts(domain)
        flat = as_walls(walls) or ()
        options["walls"] = native_walls(flat)
        own["meshes"] = tuple(wall for wall in flat if isinstance(wall, Mesh))
        for name, value in (("max_impacts", max_impacts), ("max_step_impacts", max_step_impacts)):
            if value is not None:
                options[name] = integer(value, name, 0, 2**32 - 1 if name == "max_impacts" else 2**63 - 1)
        if impacts_per_substep is not None:
            options["impacts_per_substep"] = number(impacts_per_substep, "impacts_per_substep")
        self._native = _carom.Simulation(_columns(centers, velocity, radius, mass), options)
        #: What the extension module does not tell. The arrays in it are never written to.
        self._own = own
        #: The version of the state, and the state.
        self._kept: tuple[int, Any] = (0, None)

    @classmethod
    def _of(cls, native: _carom.Simulation, own: dict[str, Any]) -> Simulation:
        new = object.__new__(cls)
        new._native, new._own, new._kept = native, own, (0, None)
        return new

    def __copy__(self) -> Simulation:
        return self._of(self._native.copy(), dict(self._own))

    def __deepcopy__(self, memo: Any) -> Simulation:
        return self.__copy__()

    def __reduce__(self) -> Any:
        own = dict(self._own)
        # The snapshot has the meshes, but for their groups.
        meshes = own.pop("meshes", None)
        if meshes is not None:
            own["mesh_groups"] = [mesh.groups for mesh in meshes]
        return _restored, (self._native.snapshot(), own)

    @property
    def _count(self) -> int:
        count: int = self._own["count"]
        return count

    def __len__(self) -> int:
        return self._count

    @property
    def _state(self) -> Array:
        known, state = self._kept
        version, new = self._native.state(known)
        if new is not None:
            state = frozen(new)
            self._kept = (version, state)
        return state

    @property
    def center(self) -> npt.NDArray[np.float64]:
        """Centres, shape (N, 3): a view of a copy that is made once for each step. Assign an array to change them."""
        return self._state[:, 0:3]

    @center.setter
    def center(self, value: npt.ArrayLike) -> None:
        self._edit("center", value)

    @property
    def velocity(self) -> npt.NDArray[np.float64]:
        """Velocities, shape (N, 3), like :attr:`center`. Assign an array to change them."""
        return self._state[:, 3:6]

    @velocity.setter
    def velocity(self, value: npt.ArrayLike) -> None:
        self._edit("velocity", value)

    @property
    def radius(self) -> npt.NDArray[np.float64]:
        """Radii, shape (N,), like :attr:`center`. Assign a number or an array to change them."""
        return self._state[:, 6]

    @radius.setter
    def radius(self, value: npt.ArrayLike) -> None:
        self._edit("radius", value)

    @property
    def mass(self) -> npt.NDArray[np.float64]:
        """Masses, shape (N,), like :attr:`center`. Assign a number or an array to change them."""
        return self._state[:, 7]

    @mass.setter
    def mass(self, value: npt.ArrayLike) -> None:
        self._edit("mass", value)

    def _edit(self, name: str, value: Any) -> None:
        if name == "center":
            column = vectors(value, name)
            if len(column) != self._count:
                raise ValueError(f"center has {len(column)} rows, but the simulation has {self._count} spheres")
        elif name == "velocity":
            column = _velocities(value, self._count)
        else:
            column = _numbers(value, name, self._count)
        self._native.edit(name, of_type(column, np.float64))

    def _column(self, name: str) -> Array:
        dtype, default = _EACH[name]
        if name not in self._own:
            default = self._own["restitution"] if default is None else default
            return frozen(np.broadcast_to(dtype(default), (self._count,)))
        return frozen(self._own[name])

    def _set_each(self, name: str, new: Array) -> None:
        old, is_present = self._column(name), ~self.removed
        changed = is_present & (new != old) if name in self._own else is_present
        spheres = np.flatnonzero(changed).astype(np.int64)
        self._native.of_spheres(spheres, {name: np.ascontiguousarray(new[spheres])})
        # A removed sphere keeps what it had.
        self._own[name] = np.where(changed, new, old)

    @property
    def groups(self) -> npt.NDArray[np.uint32]:
        """Collision groups, shape (N,): see :func:`carom.groups`. Assign a number or an array to change them."""
        return self._column("groups")

    @groups.setter
    def groups(self, value: npt.ArrayLike) -> None:
        self._set_each("groups", _each({"groups": value}, self._count)["groups"])

    @property
    def bodies(self) -> npt.NDArray[np.int64]:
        """The compound body of each sphere, shape (N,), or −1. Assign a number or an array to change them."""
        return self._column("bodies")

    @bodies.setter
    def bodies(self, value: npt.ArrayLike) -> None:
        self._set_each("bodies", _each({"bodies": value}, self._count)["bodies"])

    @property
    def restitution(self) -> Union[float, npt.NDArray[np.float64]]:
        """Coefficient of restitution of two spheres, or one for each sphere, shape (N,), if they have their own.

        Assign a number or an array to change it. A number holds for all spheres, and those that are added later.
        """
        if "restitutions" in self._own:
            return self._column("restitutions")
        restitution: float = self._own["restitution"]
        return restitution

    @restitution.setter
    def restitution(self, value: npt.ArrayLike) -> None:
        if np.ndim(value) == 0:
            self._set("restitution", value)
        if "restitutions" in self._own or np.ndim(value) > 0:
            self._set_each("restitutions", _each({"restitutions": value}, self._count)["restitutions"])

    def _set(self, name: str, value: Any) -> None:
        given = number(value, name)
        self._native.set(name, given)
        self._own[name] = given

    @property
    def wall_restitution(self) -> float:
        """Coefficient of restitution of a sphere and a wall that has none of its own. Assign a number to change it."""
        restitution: float = self._own["wall_restitution"]
        return restitution

    @wall_restitution.setter
    def wall_restitution(self, value: float) -> None:
        self._set("wall_restitution", value)

    @property
    def contact_time(self) -> float:
        """The time with which inelastic spheres come to rest. Assign a number to change it."""
        time: float = self._own["contact_time"]
        return time

    @contact_time.setter
    def contact_time(self, value: float) -> None:
        self._set("contact_time", value)

    @property
    def gravity(self) -> npt.NDArray[np.float64]:
        """Acceleration, shape (3,). Assign an array to change it."""
        return frozen(np.array(self._native.gravity))

    @gravity.setter
    def gravity(self, value: npt.ArrayLike) -> None:
        self._native.set("gravity", vector(value, "gravity"))

    @property
    def walls(self) -> tuple[Union[Wall, Mesh], ...]:
        """The walls where they are now, and then the meshes, which have the vertices with which they were given.

        Assign walls to change them. A wall with the shape that it has here, in the same place of the list, goes on from where
        it is, and likewise a mesh from here (:meth:`Mesh.replace`). All others are where their shapes are. A wall that is moved
        this way jumps, and may pass over spheres; to push them, give it a velocity:

        >>> simulation = carom.Simulation([[3, 0, 0]], 0.5, walls=carom.Wall.sphere([0, 0, 0], 1))
        >>> paddle, *others = simulation.walls
        >>> simulation.walls = [paddle.replace(velocity=[3, 0, 0]), *others]
        >>> report = simulation.step(1.0)
        >>> simulation.walls[0].center, simulation.velocity[:, 0]
        ((3.0, 0.0, 0.0), array([6.]))
        """
        return (*map(known_wall, self._native.walls()), *self._meshes)

    @walls.setter
    def walls(self, value: Optional[Walls]) -> None:
        flat = as_walls(value) or ()
        native = native_walls(flat)
        assert native is not None
        self._native.set_walls(native)
        self._own["meshes"] = tuple(wall for wall in flat if isinstance(wall, Mesh))

    @property
    def _meshes(self) -> tuple[Mesh, ...]:
        if "meshes" not in self._own:
            self._own["meshes"] = tuple(map(Mesh._of, self._native.meshes(self._own["mesh_groups"])))
        meshes: tuple[Mesh, ...] = self._own["meshes"]
        return meshes

    def enable_wall(self, wall: int, enabled: bool = True) -> None:
        """Switches a wall on, or off: then nothing touches it, and it moves on. A triangle stands for its mesh."""
        self._native.enable_wall(integer(wall, "wall", 0, 2**63 - 1), bool(enabled))

    def add(
        self,
        center: npt.ArrayLike,
        radius: npt.ArrayLike,
        velocity: Optional[npt.ArrayLike] = None,
        mass: npt.ArrayLike = 1.0,
        *,
        groups: Optional[npt.ArrayLike] = None,
        bodies: Optional[npt.ArrayLike] = None,
        restitution: Optional[npt.ArrayLike] = None,
    ) -> Any:
        """Adds spheres, all or none, and returns their indices: those of removed spheres first, then new ones.

        The arguments are those of :class:`Simulation`. One centre of shape (3,) is one sphere, whose index is an int; M centres
        of shape (M, 3) have an array of M indices. Without `restitution`, they have that of all spheres, or 1.
        """
        is_one = np.shape(center) == (3,)
        centers = centers_of([center] if is_one else center, "center")
        count = len(centers)
        given = _each({"groups": groups, "bodies": bodies, "restitutions": restitution}, count)
        spheres: Array = self._native.add(_columns(centers, velocity, radius, mass), given)
        own = self._own
        # New indices follow those of holes, and ascend.
        total = max([self._count, *(spheres[-1:] + 1).tolist()])
        for name, (dtype, default) in _EACH.items():
            if name in own or name in given:
                default = own["restitution"] if default is None else default
                column = np.full(total, default, dtype)
                column[: self._count] = self._column(name)
                column[spheres] = given.get(name, default)
                own[name] = column
        own["count"] = total
        return int(spheres[0]) if is_one else spheres

    def remove(self, spheres: npt.ArrayLike) -> None:
        """Removes spheres, all or none: an index, an array of indices, or an array of bools, shape (N,).

        A removed sphere touches nothing, and its velocity is 0. Its index stays, until :meth:`add` uses it for another sphere.
        To pick from the spheres that are there: ``simulation.remove((simulation.center[:, 2] < 0) & ~simulation.removed)``.
        """
        given = as_array(spheres, "spheres")
        if given.dtype.kind == "b":
            if given.shape != (self._count,):
                raise ValueError(f"spheres has the shape {given.shape}, but must have {self._count} bools, one for each sphere")
            given = np.flatnonzero(given)
        if given.size == 0:
            return
        whole(given.ravel(), "spheres", given.size, 0, max(self._count - 1, 0), np.int64)
        self._native.remove(np.unique(given).astype(np.int64))

    @property
    def unwrapped(self) -> npt.NDArray[np.float64]:
        """Centres that are not wrapped into a periodic cell, so that they move continuously, shape (N, 3). A new array."""
        return self._native.unwrapped()

    @property
    def removed(self) -> npt.NDArray[np.bool_]:
        """Whether a rule or :meth:`remove` has removed each sphere, shape (N,). A new array."""
        return self._native.removed()

    @property
    def time(self) -> float:
        """Time since the simulation was made."""
        return self._native.time

    @property
    def kinetic_energy(self) -> float:
        """Kinetic energy of all spheres of finite mass."""
        return self._native.kinetic_energy + 0.0  # not -0.0

    @property
    def domain(self) -> Optional[Domain]:
        """The domain, with numbers rounded to float32, or None for open space."""
        domain = self._native.domain
        if domain is None:
            return None
        origin, edges, periodic = domain
        return Domain(edges, origin, periodic)

    def step(self, duration: float, rule: Optional[Rule] = None) -> StepReport:
        """Moves the spheres through a time, and reports the impacts.

        `rule` is a function that decides what each impact does. It takes an :class:`Encounter` and returns ``"bounce"`` (or
        None); a number, to bounce with this coefficient of restitution; ``"ignore"``, with which the two pass through each
        other; or two outcomes, for the sphere and its partner: a velocity, ``"keep"``, ``"bounce"`` or ``"remove"``. It may be
        called in any order, from several threads, and for encounters that are then discarded, so its result must depend on
        nothing but its argument. It must not call carom, not even to look at this simulation, which raises
        :class:`carom.Error`; a callback of :meth:`run` may. It must not wait for another thread that calls carom: that thread
        waits for the step, so both would wait for ever. If the rule raises, the step ends after its present substep, in which
        this impact and those that follow bounce, and raises the same.

        Ctrl-C ends a step after its present substep, and leaves the simulation at the time reached.
        """
        asked = None if rule is None else lambda *meeting: rule(Encounter(*meeting))
        report = self._native.step(number(duration, "duration"), asked)
        report["kinetic_energy"] += 0.0  # not -0.0
        report["impacts"] = report["impacts"].view(_IMPACT)
        report["removed"] = report["removed"].view(_REMOVAL)
        for name in ("began", "lasted", "ended"):
            report[name] = report[name].view(_CONTACT)
        return StepReport(**report)

    def run(
        self,
        time: float,
        *,
        dt: Optional[float] = None,
        callback: Optional[Callable[[Simulation, StepReport], Optional[bool]]] = None,
        rule: Optional[Rule] = None,
        progress: bool = False,
    ) -> list[StepReport]:
        """Moves the spheres through a time, in steps of length `dt`, by default a hundredth of the time.

        After each step, `callback(simulation, report)` is called; if it returns False, the run ends. With `progress`, a line
        on standard error tells how far the run is. Ctrl-C ends the run and leaves the simulation at the time reached.

        Returns the reports of the steps. A step that ends early because of ``max_step_impacts`` ends the run.
        """
        whole_time = number(time, "time")
        length = whole_time / 100 if dt is None else number(dt, "dt")
        if not (0 <= whole_time < np.inf and 0 < (length if dt is not None else 1) < np.inf):
            raise ValueError(f"time is {time!r} and dt is {dt!r}, but they must be finite, and dt positive")
        if whole_time > 0 and not (length > 0 and whole_time / length < 2**53):
            raise ValueError(f"time is {time!r} and dt is {dt!r}, which are too many steps; choose a longer dt")
        steps = int(np.ceil(whole_time / length * (1 - 1e-12))) if whole_time > 0 else 0
        begin, end = self.time, self.time + whole_time
        reports: list[StepReport] = []
        shown = 0.0
        try:
            for k in range(steps):
                goal = end if k == steps - 1 else begin + (k + 1) * length
                reports.append(self.step(max(goal - self.time, 0.0), rule))
                if progress and (clock.monotonic() - shown > 0.2 or k == steps - 1):
                    shown = clock.monotonic()
                    share = (k + 1) / steps
                    sys.stderr.write(f"\rtime {self.time:g} of {end:g} ({share:.0%}) ")
                    sys.stderr.flush()
                if callback is not None:
                    answer = callback(self, reports[-1])
                    if isinstance(answer, (bool, np.bool_)) and not answer:
                        break
                if not reports[-1].completed:
                    break
        finally:
            if progress and reports:
                sys.stderr.write("\n")
        return reports

    def separate(self, passes: int = 100) -> int:
        """Moves spheres apart that overlap each other or a wall. Returns the number of passes that were needed.

        Raises :class:`carom.Error` if spheres still overlap after `passes` passes. All spheres are then where they were.
        """
        return self._native.separate(integer(passes, "passes", 0, 2**32 - 1))

    def restore(
        self,
        sphere: int,
        center: npt.ArrayLike,
        velocity: npt.ArrayLike = (0.0, 0.0, 0.0),
        radius: Optional[float] = None,
        mass: Optional[float] = None,
    ) -> None:
        """Puts a removed sphere back, with its index. Without others, its radius and mass stay."""
        self._native.restore(
            integer(sphere, "sphere", 0, 2**63 - 1),
            vector(center, "center"),
            vector(velocity, "velocity"),
            None if radius is None else number(radius, "radius"),
            None if mass is None else number(mass, "mass"),
        )

    def __repr__(self) -> str:
        return f"<carom.Simulation: {self._count} spheres at time {self.time:g}>"


def _restored(snapshot: bytes, own: dict[str, Any]) -> Simulation:
    return Simulation._of(_carom.Simulation.of_snapshot(snapshot), own)


def _each(given: dict[str, Any], count: int) -> dict[str, Array]:
    """Returns one value for each sphere, for those arguments that are not None."""
    columns = {}
    for name, value in given.items():
        if value is None:
            continue
        if name == "restitutions":
            column = _numbers(value, "restitution", count)
        elif name == "groups":
            column = np.asarray(whole(value, name, count, 0, 2**32 - 1, np.uint32))
        else:
            column = np.maximum(whole(value, name, count, -(2**63), 2**32 - 1, np.int64), -1)
        columns[name] = np.array(np.broadcast_to(column, (count,)), dtype=_EACH[name][0], order="C")
    return columns


def _columns(centers: Array, velocity: Any, radius: Any, mass: Any) -> tuple[Array, Array, Array, Array]:
    count = len(centers)
    speeds = np.broadcast_to(0.0, (count, 3)) if velocity is None else _velocities(velocity, count)
    columns = (centers, speeds, _numbers(radius, "radius", count), _numbers(mass, "mass", count))
    one, two, three, four = (of_type(column, np.float64) for column in columns)
    return one, two, three, four


def _velocities(velocity: Any, count: int) -> Array:
    speeds = numbers(velocity, "velocity")
    if speeds.shape == (3,):
        speeds = np.broadcast_to(speeds, (count, 3))
    speeds = vectors(speeds, "velocity")
    if len(speeds) != count:
        raise ValueError(f"velocity has {len(speeds)} rows, but center has {count}; pass one velocity for each sphere")
    return speeds


def _numbers(value: Any, name: str, count: int) -> Array:
    return np.broadcast_to(np.asarray(each(value, name, count), dtype=np.float64), (count,))
