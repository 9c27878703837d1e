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
from ._inputs import Array, centers_of, each, frozen, number, of_type, vector, vectors, whole
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
    """Two objects that meet, before it is decided what happens: the argument of a rule."""

    #: Time on the clock of the simulation.
    time: float
    #: Index of the sphere, the smaller one of two spheres.
    sphere: int
    #: Index of the other sphere, or number of the wall.
    partner: int
    #: Whether the partner is a wall.
    at_wall: bool
    #: Image of the partner, or of the sphere at a wall.
    image: tuple[int, int, int]
    #: Contact point.
    point: tuple[float, float, float]
    #: Unit vector from the centre of the sphere to the contact point.
    normal: tuple[float, float, float]
    #: Masses of the sphere and its partner.
    masses: tuple[float, float]
    #: Velocities of the sphere and its partner, just before.
    velocities: tuple[tuple[float, float, float], tuple[float, float, float]]
    #: Speed of approach along the normal.
    approach_speed: float


#: Velocity after the impact, or "remove".
Outcome = Union[str, npt.ArrayLike]
Rule = Callable[[Encounter], Union[None, str, tuple[Outcome, Outcome]]]


@dataclass(frozen=True)
class StepReport:
    """Sums over the impacts of a step. Returned by :meth:`Simulation.step`."""

    #: Number of impacts between spheres.
    sphere_impacts: int
    #: Number of impacts of spheres with walls.
    wall_impacts: int
    #: Momentum that the spheres passed to each wall, shape (W, 3).
    wall_impulses: npt.NDArray[np.float64]
    #: Sum over the impacts of the distance of the centres times the impulse along the normal. With the kinetic energy E and
    #: the duration t, the compressibility factor of equal spheres is 1 + virial / (2 * E * t).
    virial: float
    #: Kinetic energy at the end of the step.
    kinetic_energy: float
    #: Whether the step reached its end. It ends before if it has as many impacts as ``max_step_impacts``.
    completed: bool
    #: Number of substeps.
    substeps: int
    #: Number of rounds in all substeps.
    rounds: int
    #: Number of spheres in the largest group whose impacts were processed one after the other.
    largest_island: int
    #: The spheres that a rule removed: a structured array with time, sphere and velocity.
    removed: Array
    #: With ``impacts=True``, the impacts in the order of time: a structured array with time, sphere, partner, at_wall, image,
    #: point, normal and impulse (the momentum that passes to the partner).
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
        Largest number of impacts in a step, after which the step ends early.
    impacts_per_substep : float, optional
        Target for the mean number of impacts of a sphere in a substep, 0.4 by default.

    The state is in float64, and has the same bytes for any number of threads.

    >>> simulation = carom.Simulation([[0, 0, 0], [3, 0, 0]], 0.5, [[2, 0, 0], [0, 0, 0]])
    >>> report = simulation.step(2.0)
    >>> report.sphere_impacts, simulation.velocity[:, 0]
    (1, array([0., 2.]))
    """

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
                options[name] = int(whole(value, name, 1, 0, 2**32 - 1 if name == "max_impacts" else 2**63 - 1, np.int64))
        if impacts_per_substep is not None:
            options["impacts_per_substep"] = number(impacts_per_substep, "impacts_per_substep")
        self._native = _carom.Simulation(_columns(centers, velocity, radius, mass), options)
        self._count = count
        self._kept: Optional[Array] = None

    def __len__(self) -> int:
        return self._count

    @property
    def _state(self) -> Array:
        if self._kept is None:
            self._kept = frozen(self._native.state())
        return self._kept

    @property
    def center(self) -> npt.NDArray[np.float64]:
        """Centres, shape (N, 3): a view of a copy that is made once for each step. Assign an array to change them."""
        return self._state[:, 0:3]

    @center.setter
    def center(self, value: npt.ArrayLike) -> None:
        self._edit(center=value)

    @property
    def velocity(self) -> npt.NDArray[np.float64]:
        """Velocities, shape (N, 3), like :attr:`center`. Assign an array to change them."""
        return self._state[:, 3:6]

    @velocity.setter
    def velocity(self, value: npt.ArrayLike) -> None:
        self._edit(velocity=value)

    @property
    def radius(self) -> npt.NDArray[np.float64]:
        """Radii, shape (N,), like :attr:`center`. Assign a number or an array to change them."""
        return self._state[:, 6]

    @radius.setter
    def radius(self, value: npt.ArrayLike) -> None:
        self._edit(radius=value)

    @property
    def mass(self) -> npt.NDArray[np.float64]:
        """Masses, shape (N,), like :attr:`center`. Assign a number or an array to change them."""
        return self._state[:, 7]

    @mass.setter
    def mass(self, value: npt.ArrayLike) -> None:
        self._edit(mass=value)

    def _edit(self, **new: Any) -> None:
        old = {"center": self.center, "velocity": self.velocity, "radius": self.radius, "mass": self.mass}
        all = {**old, **new}
        centers = vectors(all["center"], "center")
        if len(centers) != self._count:
            raise ValueError(f"center has {len(centers)} rows, but the simulation has {self._count} spheres")
        self._native.edit(_columns(centers, all["velocity"], all["radius"], all["mass"]))
        self._kept = None

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
        return self._native.kinetic_energy

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
        discarded, so its result must depend on nothing but its argument.

        Ctrl-C ends a step after its present substep, and leaves the simulation at the time reached.
        """
        asked = None if rule is None else lambda *meeting: rule(Encounter(*meeting))
        self._kept = None
        try:
            report = self._native.step(number(duration, "duration"), asked)
        finally:
            self._kept = None
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
        if not (0 <= whole_time < np.inf and (length > 0 or whole_time == 0)):
            raise ValueError(f"time is {time!r} and dt is {dt!r}, but they must be finite and positive")
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
                if callback is not None and callback(self, reports[-1]) is False:
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
        self._kept = None
        return self._native.separate(int(whole(passes, "passes", 1, 0, 2**32 - 1, np.int64)))

    def restore(
        self, sphere: int, center: npt.ArrayLike, velocity: npt.ArrayLike = (0.0, 0.0, 0.0)
    ) -> None:
        """Puts a sphere back that a rule has removed. Its radius and mass stay."""
        index = int(whole(sphere, "sphere", 1, 0, 2**63 - 1, np.int64))
        size = self._state[index, 6:8].tolist() if index < self._count else [0.0, 1.0]
        self._native.restore(index, [*vector(center, "center"), *vector(velocity, "velocity"), *size])
        self._kept = None

    def __repr__(self) -> str:
        return f"<carom.Simulation: {self._count} spheres at time {self.time:g}>"


def _columns(centers: Array, velocity: Any, radius: Any, mass: Any) -> tuple[Array, Array, Array, Array]:
    count = len(centers)
    speeds = np.broadcast_to(0.0, (count, 3)) if velocity is None else np.asarray(velocity)
    if speeds.shape == (3,):
        speeds = np.broadcast_to(speeds, (count, 3))
    speeds = vectors(speeds, "velocity")
    if len(speeds) != count:
        raise ValueError(f"velocity has {len(speeds)} rows, but center has {count}; pass one velocity for each sphere")
    sizes, masses = (
        np.broadcast_to(np.asarray(each(value, name, count), dtype=np.float64), (count,))
        for value, name in ((radius, "radius"), (mass, "mass"))
    )
    centers, speeds, sizes, masses = (of_type(column, np.float64) for column in (centers, speeds, sizes, masses))
    return centers, speeds, sizes, masses
