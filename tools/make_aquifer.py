#!/usr/bin/env python3
"""Writes a log-random hydraulic conductivity as an array of voxels, for problem.fields and problem.coefficient.

Usage: tools/make_aquifer.py FILE.npy [--cells NX,NY,NZ] [--lengths LX,LY,LZ] [--contrast C] [--largest K] [--seed S]
The array is float64 of the shape (NZ, NY, NX). Its logarithm is a Gaussian random field with the correlation
exp(-sum (r_d / L_d)^2 / 4), periodic, moved and stretched so that the numbers go from K / C to K. The same arguments give the
same array up to rounding. Needs NumPy. Exit codes: 0 written, 1 the file cannot be written, 2 wrong arguments, 77 no NumPy.
"""

import argparse
import sys

try:
    import numpy as np
except ImportError:
    np = None

NO_NUMPY = 77


def conductivity(cells, lengths, contrast, largest, seed):
    """K in the voxels (z, y, x); lengths in voxels."""
    shape = cells[::-1]
    spectrum = np.fft.fftn(np.random.default_rng(seed).standard_normal(shape))
    for axis, (count, length) in enumerate(zip(shape, lengths[::-1])):
        waves = 2 * np.pi * np.fft.fftfreq(count) * length
        spectrum *= np.exp(-0.5 * waves**2).reshape([-1 if a == axis else 1 for a in range(3)])
    field = np.fft.ifftn(spectrum).real
    field -= field.max()
    return np.ascontiguousarray(largest * contrast ** (field / -field.min()))


def three(kind, least):
    """A parser of three numbers."""
    def parse(text):
        numbers = [kind(part) for part in text.split(",")]
        if len(numbers) != 3 or not all(least <= number <= 2048 for number in numbers):
            raise argparse.ArgumentTypeError(f"'{text}'; allowed: three numbers from {least} to 2048, separated by commas")
        return numbers
    return parse


def positive(least):
    """A parser of a number."""
    def parse(text):
        number = float(text)
        if not least < number < 1e30:
            raise argparse.ArgumentTypeError(f"'{text}'; allowed: numbers above {least}")
        return number
    return parse


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("file", metavar="FILE.npy")
    parser.add_argument("--cells", type=three(int, 2), default=[32, 16, 8], help="voxels per direction (32,16,8)")
    parser.add_argument("--lengths", type=three(float, 0), default=[3, 3, 1], help="correlation, in voxels (3,3,1)")
    parser.add_argument("--contrast", type=positive(1), default=1e6, help="largest / smallest K (1e6)")
    parser.add_argument("--largest", type=positive(0), default=1e-3, help="largest K (1e-3)")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (1)")
    given = parser.parse_args()
    if not given.file.endswith(".npy"):
        parser.error("FILE.npy must end in .npy")
    if given.seed < 0:
        parser.error("--seed must be 0 or more")
    return given


def main():
    given = arguments()
    if np is None:
        print("make_aquifer: NumPy is missing", file=sys.stderr)
        return NO_NUMPY
    numbers = conductivity(given.cells, given.lengths, given.contrast, given.largest, given.seed)
    try:
        np.save(given.file, numbers)
    except OSError as error:
        print(f"make_aquifer: {given.file} cannot be written ({error.strerror})", file=sys.stderr)
        return 1
    print(f"{given.file}: {' x '.join(map(str, given.cells))} voxels, K from {numbers.min():.3g} to {numbers.max():.3g}. In a parameter "
          f"file:\n  set fields      = aquifer = {given.file}\n  set coefficient = aquifer")
    return 0


if __name__ == "__main__":
    sys.exit(main())
