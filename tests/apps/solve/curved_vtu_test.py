#!/usr/bin/env python3
"""Reads the VTU of solves on curved cells with VTK: points, fields, fluxes where K jumps, materials.

Needs TENSORMG_BINARY_DIR, as ctest sets it. Exit code 77 (skipped) without VTK.
"""
import math
import os
import subprocess
import sys
import tempfile

try:
    import vtk
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)

PROGRAM = os.path.join(os.environ["TENSORMG_BINARY_DIR"], "bin", "tensormg-solve")


def check(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(w) for w in what))


def solve(directory, *settings):
    arguments = [PROGRAM, "--quiet", "--set", f"output.directory={directory}"]
    for setting in settings:
        arguments += ["--set", setting]
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(os.path.join(directory, "solution.vtu"))
    reader.Update()
    return reader.GetOutput()


def check_ring(directory):
    """u = log r on a ring of 5 blocks with 4 x 4 cells of degree 3."""
    data = solve(directory, "problem.dimension=2", "problem.refinements=2", "mesh.type=generate",
                 "mesh.generator=hyper_shell", "mesh.generator_arguments=0,0 : 0.5 : 1 : 5 : true",
                 "problem.right_hand_side=0", "problem.exact_solution=log(x^2+y^2)/2", "output.gradient=true",
                 "boundary.conditions=0: dirichlet log(0.5); 1: dirichlet 0")
    check(data.GetNumberOfCells() == 80 and data.GetNumberOfPoints() == 80 * 16, "counts")
    u, error, gradient = (data.GetPointData().GetArray(name) for name in ("u", "error", "grad u"))
    for i in range(data.GetNumberOfPoints()):
        x, y, z = data.GetPoint(i)
        r2 = x * x + y * y
        check(z == 0 and 0.49999 < math.sqrt(r2) < 1.00001, "point", x, y, z)
        check(abs(u.GetValue(i) - math.log(r2) / 2) < 1e-4, "u", x, y)
        check(abs(error.GetValue(i)) < 1e-4, "error", x, y)
        for d, expected in enumerate((x / r2, y / r2, 0)):
            check(abs(gradient.GetTuple3(i)[d] - expected) < 1e-2, "gradient", x, y)
    cells = data.GetCellData()
    check({int(cells.GetArray("block").GetValue(c)) for c in range(80)} == set(range(5)), "blocks")
    for c in range(80):
        check(0.7 < cells.GetArray("quality").GetValue(c) <= 1, "quality")
        check(1 <= cells.GetArray("kappa").GetValue(c) < 1.1, "kappa")
        check(89 < cells.GetArray("smallest angle").GetValue(c) <= 90 <= cells.GetArray("largest angle").GetValue(c) < 91,
              "angles")
        # A cell is 1/8 long in r and r pi/10 around.
        check(1.25 < cells.GetArray("aspect ratio").GetValue(c) < 2.6, "aspect ratio")


def check_jump(directory):
    """Through layers of K = 100 and 1 in x the flux is the same everywhere, also at the points between them."""
    data = solve(directory, "problem.dimension=2", "mesh.type=mapped", "mesh.map=x; y", "problem.coarse_cells=2",
                 "problem.refinements=1", "problem.degree=2", "problem.coefficient=if(x < 0.5, 100, 1)",
                 "problem.right_hand_side=0", "boundary.left_value=1", "boundary.front=neumann",
                 "boundary.back=neumann", "output.flux=true", "solver.tolerance=1e-10", "output.vtu_cells=subdivided")
    check(data.GetNumberOfCells() == 16 * 4, "cells")
    flux = data.GetPointData().GetArray("flux u")
    for i in range(data.GetNumberOfPoints()):
        check(abs(flux.GetTuple3(i)[0] - 2 / 1.01) < 1e-5, "flux", data.GetPoint(i), flux.GetTuple3(i))


with tempfile.TemporaryDirectory() as scratch:
    check_ring(os.path.join(scratch, "ring"))
    check_jump(os.path.join(scratch, "jump"))
print("curved cells: points, fields and fluxes are right")
