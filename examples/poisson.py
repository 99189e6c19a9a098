"""A temperature field in a plate with a warm edge, and its picture poisson.png. Needs the module (pip install ./python) and Matplotlib."""
import numpy as np
import tensormg

solver = tensormg.Solver(
    cells=(32, 16), degree=4, upper=(2, 1), coefficient=50,  # W/(m K)
    right_hand_side=lambda x, y, z: 2e4 * np.exp(-40 * ((x - 0.5) ** 2 + (y - 0.5) ** 2)),
    boundary={"left": ("dirichlet", "60*y"), "right": ("dirichlet", 0), "front": ("neumann", 0), "back": ("neumann", 0)})
u, report = solver.solve()
print(f"{report['reason']} on {solver.backend} after {report['iterations']} iterations, u from {u.min():.1f} to {u.max():.1f}")

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt

x, y, _ = (a.ravel() for a in solver.points)
plt.figure(figsize=(7, 3.2))
plt.tricontourf(x, y, u.ravel(), levels=40, cmap="inferno")
plt.colorbar(label="temperature")
plt.gca().set_aspect("equal")
plt.tight_layout()
plt.savefig("poisson.png", dpi=120)
