#!/usr/bin/env python3
"""Writes a composite of overlapping spheres in a matrix as an array of labels, for problem.fields and problem.materials.

Usage: tools/make_composite.py FILE.npy [--cells N] [--fraction F] [--radius R] [--seed S]
The array is uint8 of the shape (N, N, N): 1 in voxels of the unit cube whose middle is in a sphere, 0 elsewhere. Spheres of the
radius R lie at random and go on at the opposite sides, until they take the fraction F of the volume. The same arguments
give the same array. Needs NumPy. Exit codes: 0 written, 1 the file cannot be written, 2 wrong arguments, 77 no NumPy.
"""

import argparse
import sys

try:
    import numpy as np
except ImportError:
    np = None

NO_NUMPY = 77


def composite(cells, fraction, radius, seed):
    """The labels (z, y, x); spheres until at least this fraction of the voxels has label 1."""
    random = np.random.default_rng(seed)
    middles = (np.arange(cells) + 0.5) / cells
    labels = np.zeros((cells, cells, cells), np.uint8)
    while labels.mean() < fraction:
        squares = []
        for coordinate in random.random(3):
            distance = np.abs(middles - coordinate)
            squares.append(np.minimum(distance, 1 - distance) ** 2)
        z, y, x = squares
        labels[z[:, None, None] + y[:, None] + x < radius**2] = 1
    return labels


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("file", metavar="FILE.npy")
    parser.add_argument("--cells", type=int, default=32, help="voxels per direction (32)")
    parser.add_argument("--fraction", type=float, default=0.3, help="of the volume in spheres, 0 to 0.95 (0.3)")
    parser.add_argument("--radius", type=float, default=0.15, help="of a sphere in the unit cube, up to 0.5 (0.15)")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (1)")
    given = parser.parse_args()
    if not given.file.endswith(".npy"):
        parser.error("FILE.npy must end in .npy")
    if not 1 <= given.cells <= 2048:
        parser.error("--cells must be from 1 to 2048")
    if not 0 <= given.fraction <= 0.95:
        parser.error("--fraction must be from 0 to 0.95")
    # A smaller sphere may hold the middle of no voxel.
    if not 1 / given.cells <= given.radius <= 0.5:
        parser.error(f"--radius must be from 1 / cells = {1 / given.cells:.4g} to 0.5")
    if given.seed < 0:
        parser.error("--seed must be 0 or more")
    return given


def main():
    given = arguments()
    if np is None:
        print("make_composite: NumPy is missing", file=sys.stderr)
        return NO_NUMPY
    labels = composite(given.cells, given.fraction, given.radius, given.seed)
    try:
        np.save(given.file, labels)
    except OSError as error:
        print(f"make_composite: {given.file} cannot be written ({error.strerror})", file=sys.stderr)
        return 1
    print(f"{given.file}: {given.cells}^3 voxels, {100 * labels.mean():.1f} % in spheres. In a parameter file:\n"
          f"  set fields      = composite = {given.file}\n"
          "  set coefficient = composite\n"
          "  set materials   = 0: 1, 1: 1000")
    return 0


if __name__ == "__main__":
    sys.exit(main())
