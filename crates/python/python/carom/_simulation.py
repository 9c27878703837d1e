"""Simulations of hard spheres."""

from __future__ import annotations

import sys
import time as clock
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _carom
from ._inputs import Array, centers_of, each, frozen, integer, number, numbers, of_type, vector, vectors, whole
from ._world import Domain, Walls, native_walls, parts

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


#: Velocity after the impact, or "remove".
Outcome = Union[str, npt.ArrayLike]
Rule = Callable[[Encounter], Union[None, str, tuple[Outcome, Outcome]]]


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
    restitution, wall_restitution : float, optional
        Coefficient of restitution of two spheres, and of a sphere and a wall, from 0 to 1. The default is 1: elastic.
    contact_time : float, optional
        The time with which inelastic spheres come to rest. Without it, a collapse of inelastic spheres raises
        :class:`carom.Error`. With gravity, 10⁻³ of the time in which a sphere falls by its radius is very short.
    groups : array_like of int, optional
        Collision groups, shape (N,): see :func:`carom.groups`.
    bodies : array_like of int, optional
        The compound body of each sphere, shape (N,). Spheres of one body do not hit one another. A negative number is no body.
    impacts : bool, optional
        Whether reports have a list of impacts.
    one_sided_meshes : bool, optional
        Whether spheres touch triangles only from the side from which the corners run counterclockwise.
    max_impacts : int, optional
        Largest number of impacts of one sphere in a substep, 100 000 by default.
    max_step_impacts : int, optional
        Largest number of impacts in a step, ten million and ten thousand for each sphere by default. A substep counts as one
        more impact. The first substep that reaches the limit is the last one of the step, which then ends early.
    impacts_per_substep : float, optional
        Target for the mean number of impacts of a sphere in a substep, 0.4 by default.

    The state is in float64, and has the same bytes for any number of threads. Spheres that overlap at the start bounce at once
    if they approach; :meth:`separate` moves them apart. A simulation can be neither copied nor pickled yet: make another one
    from its arrays.

    >>> simulation = carom.Simulation([[0, 0, 0], [3, 0, 0]], 0.5, [[2, 0, 0], [0, 0, 0]])
    >>> report = simulation.step(2.0)
    >>> report.sphere_impacts, simulation.velocity[:, 0]
    (1, array([0., 2.]))
    """

    __slots__ = ("__weakref__", "_count", "_kept", "_native")

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
        restitution: float = 1.0,
        wall_restitution: float = 1.0,
        contact_time: float = 0.0,
        groups: Optional[npt.ArrayLike] = None,
        bodies: Optional[npt.ArrayLike] = None,
        impacts: bool = False,
        one_sided_meshes: bool = False,
        max_impacts: Optional[int] = None,
        max_step_impacts: Optional[int] = None,
        impacts_per_substep: Optional[float] = None,
    ) -> None:
        centers = centers_of(center, "center")
        count = len(centers)
        options: dict[str, Any] = {
            "gravity": vector(gravity, "gravity"),
            "restitution": number(restitution, "restitution"),
            "wall_restitution": number(wall_restitution, "wall_restitution"),
            "contact_time": number(contact_time, "contact_time"),
            "impacts": bool(impacts),
            "one_sided_meshes": bool(one_sided_meshes),
        }
        if groups is not None:
            given = whole(groups, "groups", count, 0, 2**32 - 1, np.uint32)
            options["groups"] = np.ascontiguousarray(np.broadcast_to(np.asarray(given, np.uint32), (count,)))
        if bodies is not None:
            given = whole(bodies, "bodies", count, -(2**63), 2**32 - 1, np.int64)
            options["bodies"] = np.ascontiguousarray(np.broadcast_to(np.asarray(given, np.int64), (count,)))
        if domain is not None:
            options["domain"] = parts(domain)
        if walls is not None:
            options["walls"] = native_walls(walls)
        for name, value in (("max_impacts", max_impacts), ("max_step_impacts", max_step_impacts)):
            if value is not None:
                options[name] = integer(value, name, 0, 2**32 - 1 if name == "max_impacts" else 2**63 - 1)
        if impacts_per_substep is not None:
            options["impacts_per_substep"] = number(impacts_per_substep, "impacts_per_substep")
        self._native = _carom.Simulation(_columns(centers, velocity, radius, mass), options)
        self._count = count
        #: The version of the state, and the state.
        self._kept: tuple[int, Any] = (0, None)

    def __reduce__(self) -> Any:
        raise TypeError(
            "a carom.Simulation can be neither copied nor pickled; make another one from its center, radius, velocity and mass "
            "(center.copy() and so on are arrays that can be kept), with the same options"
        )

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

    @property
    def unwrapped(self) -> npt.NDArray[np.float64]:
        """Centres that are not wrapped into a periodic cell, so that they move continuously, shape (N, 3). A new array."""
        return self._native.unwrapped()

    @property
    def removed(self) -> npt.NDArray[np.bool_]:
        """Whether a rule has removed each sphere, shape (N,). A new array."""
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
        None), ``"ignore"``, with which the two pass through each other, or two outcomes, for the sphere and its partner: a
        velocity, or ``"remove"``. It may be called in any order, from several threads, and for encounters that are then
        discarded, so its result must depend on nothing but its argument. It must not call carom, not even to look at this
        simulation, which raises :class:`carom.Error`; a callback of :meth:`run` may. If it raises, the step ends after its
        present substep, in which this impact and those that follow bounce, and raises the same.

        Ctrl-C ends a step after its present substep, and leaves the simulation at the time reached.
        """
        asked = None if rule is None else lambda *meeting: rule(Encounter(*meeting))
        report = self._native.step(number(duration, "duration"), asked)
        report["kinetic_energy"] += 0.0  # not -0.0
        report["impacts"] = report["impacts"].view(_IMPACT)
        report["removed"] = report["removed"].view(_REMOVAL)
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
        self, sphere: int, center: npt.ArrayLike, velocity: npt.ArrayLike = (0.0, 0.0, 0.0)
    ) -> None:
        """Puts a sphere back that a rule has removed. Its radius and mass stay."""
        self._native.restore(integer(sphere, "sphere", 0, 2**63 - 1), vector(center, "center"), vector(velocity, "velocity"))

    def __repr__(self) -> str:
        return f"<carom.Simulation: {self._count} spheres at time {self.time:g}>"


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
