#!/usr/bin/env python3
"""Reads the solution files of test-operators-output-field_output with VTK and checks every number.

Needs TENSORMG_BINARY_DIR, as ctest sets it. Exit code 77 (skipped) without VTK.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import vtk
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)

LOWER, UPPER, CELLS = (-1.0, 0.0, 2.0), (1.0, 0.5, 3.0), (6, 8, 4)
# Of the files named _part: the cells with points in (-0.4, 0.1, 2.3) to (0.3, 0.2, 2.6).
PART_LOWER, PART_UPPER, PART_CELLS = (-2 / 3, 0.0625, 2.25), (1 / 3, 0.25, 2.75), (3, 3, 2)
LAGRANGE_TYPE, LINEAR_TYPE = {2: 70, 3: 72}, {2: 9, 3: 12}
TOLERANCE = 2e-6  # single precision, values up to about 6


def exact(dim, degree, x, y, z):
    """The polynomial of the test program."""
    value = x * (1 + y) * (z if dim == 3 else 1) + 1
    return value + (y * y - x * x * y if degree > 1 else 0)


def check(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(w) for w in what))


def solution_name(degree):
    """Samples of degree 2 have a name that XML has to escape."""
    return 'a<b> "c" & d [K]' if degree == 2 else "u"


GRADIENT, FLUX = 'grad a<b> "c" & d', 'flux a<b> "c" & d'


def check_vectors(data, dim):
    """The derivatives of exact() for degree 2, and, with the coefficient 1, the flux."""
    gradient, flux = (data.GetPointData().GetArray(name) for name in (GRADIENT, FLUX))
    check(gradient.GetNumberOfComponents() == flux.GetNumberOfComponents() == 3, "components")
    for i in range(data.GetNumberOfPoints()):
        x, y, z = data.GetPoint(i)
        if dim == 2:
            z = 1
        expected = ((1 + y) * z - 2 * x * y, x * z + 2 * y - x * x, x * (1 + y) if dim == 3 else 0)
        for d in range(3):
            check(abs(gradient.GetTuple3(i)[d] - expected[d]) < TOLERANCE, "gradient", (x, y, z), d)
            check(abs(flux.GetTuple3(i)[d] + expected[d]) < TOLERANCE, "flux", (x, y, z), d)


def check_points(data, dim, degree, ranks, part):
    """Every point: inside the box, u = exact + 1/4, and the other fields."""
    fields = data.GetPointData()
    names = {fields.GetArrayName(i) for i in range(fields.GetNumberOfArrays())}
    vectors = {GRADIENT, FLUX} if degree == 2 else set()
    check(names == {solution_name(degree), "exact", "error", "rank"} | vectors, "fields", names)
    check(fields.GetScalars().GetName() == solution_name(degree), "shown first")
    u, f, e, r = (fields.GetArray(name) for name in (solution_name(degree), "exact", "error", "rank"))
    if vectors:
        check_vectors(data, dim)
    converged = data.GetFieldData().GetArray("converged")
    check(converged is not None and converged.GetNumberOfTuples() == 1, "field data")
    check(converged.GetValue(0) == (0 if degree == 2 else 1), "converged", converged.GetValue(0))
    seen_ranks = set()
    for i in range(data.GetNumberOfPoints()):
        x, y, z = data.GetPoint(i)
        value = exact(dim, degree, x, y, z)
        check(abs(f.GetValue(i) - value) < TOLERANCE, "exact", (x, y, z), f.GetValue(i), value)
        check(abs(u.GetValue(i) - value - 0.25) < TOLERANCE, "u", (x, y, z), u.GetValue(i))
        check(abs(e.GetValue(i) - 0.25) < 1e-6, "error", (x, y, z), e.GetValue(i))
        seen_ranks.add(r.GetValue(i))
    all_ranks = set(map(float, range(ranks)))
    check(seen_ranks <= all_ranks if part else seen_ranks == all_ranks, "ranks", seen_ranks)
    bounds = data.GetBounds()
    for d in range(dim):
        lower, upper = (PART_LOWER[d], PART_UPPER[d]) if part else (LOWER[d], UPPER[d])
        check(abs(bounds[2 * d] - lower) < 1e-6, "bounds", bounds)
        check(abs(bounds[2 * d + 1] - upper) < 1e-6, "bounds", bounds)


def check_inside(data, dim, degree):
    """Lagrange cells interpolate the polynomial between their points, too: the order is right."""
    u = data.GetPointData().GetArray(solution_name(degree))
    for c in range(0, data.GetNumberOfCells(), 7):
        cell = data.GetCell(c)
        n = cell.GetNumberOfPoints()
        for parametric in ((0.3, 0.6, 0.2), (0.95, 0.1, 0.7)):
            position, weights, sub = [0.0] * 3, [0.0] * n, vtk.mutable(0)
            cell.EvaluateLocation(sub, parametric, position, weights)
            value = sum(w * u.GetValue(cell.GetPointId(i)) for i, w in enumerate(weights))
            expected = exact(dim, degree, *position) + 0.25
            check(abs(value - expected) < 10 * TOLERANCE, "inside", position, value, expected)


def check_file(path, ranks):
    dim, degree, kind, part = re.match(
        r"(\d)d_p(\d)_([a-z]+)(_part)?\.", os.path.basename(path)).groups()
    dim, degree = int(dim), int(degree)
    parallel = path.endswith(".pvtu")
    reader = vtk.vtkXMLPUnstructuredGridReader() if parallel else vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(path)
    reader.Update()
    data = reader.GetOutput()

    n_cells = 1
    for d in range(dim):
        n_cells *= (PART_CELLS if part else CELLS)[d]
    n_points = n_cells * (degree + 1) ** dim
    if kind == "subdivided":
        n_cells *= degree**dim
    check(data.GetNumberOfCells() == n_cells, "cells", data.GetNumberOfCells(), n_cells)
    check(data.GetNumberOfPoints() == n_points, "points", data.GetNumberOfPoints(), n_points)
    types = {data.GetCellType(c) for c in range(n_cells)}
    check(types == {(LAGRANGE_TYPE if kind == "lagrange" else LINEAR_TYPE)[dim]}, "types", types)
    check_points(data, dim, degree, ranks, part)
    if kind == "lagrange":
        check_inside(data, dim, degree)


def main():
    program = os.path.join(
        os.environ.get("TENSORMG_BINARY_DIR", "build"), "tests", "test-operators-output-field_output")
    check(os.path.exists(program), program, "is not there")
    mpirun = shutil.which("mpirun")
    for ranks, start in ((1, []), (2, [mpirun, "-n", "2"])):
        if start and mpirun is None:
            print("no mpirun: files of several ranks are not checked")
            continue
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, TENSORMG_SAMPLE_FOLDER=folder)
            environment["OMPI_MCA_rmaps_base_oversubscribe"] = "1"  # two ranks on any machine
            subprocess.run(start + [program, "--gtest_filter=*WritesSamples"], check=True,
                           env=environment, stdout=subprocess.DEVNULL, timeout=200)
            files = sorted(f for f in os.listdir(folder)
                           if f.endswith(".vtu" if ranks == 1 else ".pvtu"))
            check(len(files) == 20, "files", files)
            for file in files:
                print("ranks", ranks, file, flush=True)
                check_file(os.path.join(folder, file), ranks)
    return 0


if __name__ == "__main__":
    sys.exit(main())
