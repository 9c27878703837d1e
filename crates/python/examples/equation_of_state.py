"""Measures the pressure of a fluid of hard spheres, and draws it beside the equation of Carnahan and Starling."""

import argparse

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np

import carom

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--output", default="equation_of_state.png", help="the picture to write")
parser.add_argument("--quick", action="store_true", help="fewer spheres and a shorter time")
arguments = parser.parse_args()
side, duration = (6, 2.0) if arguments.quick else (12, 20.0)


def compressibility(fraction: float) -> float:
    """Returns Z = P·V/(N·k·T) of spheres that fill this fraction of the space."""
    count = side**3
    edge = (count * np.pi / 6 / fraction) ** (1 / 3)
    lattice = np.stack(np.meshgrid(*[np.arange(side)] * 3), axis=-1).reshape(-1, 3) * edge / side
    velocity = np.random.default_rng(1).normal(size=(count, 3))
    fluid = carom.Simulation(lattice, 0.5, velocity - velocity.mean(axis=0), domain=carom.Domain([edge] * 3))
    fluid.run(duration / 2)
    virial = sum(report.virial for report in fluid.run(duration, progress=True))
    return 1 + virial / (2 * fluid.kinetic_energy * duration)


fractions = np.linspace(0.05, 0.45, 9)
measured = [compressibility(fraction) for fraction in fractions]

fine = np.linspace(0, 0.47, 200)
theory = (1 + fine + fine**2 - fine**3) / (1 - fine) ** 3
plt.figure(figsize=(6, 4), layout="constrained")
plt.plot(fine, theory, label="Carnahan and Starling")
plt.plot(fractions, measured, "o", label=f"carom, {side**3} spheres")
plt.xlabel("fraction of the space that spheres fill")
plt.ylabel("Z = P·V/(N·k·T)")
plt.legend()
plt.savefig(arguments.output, dpi=150)
print(f"wrote {arguments.output}")
