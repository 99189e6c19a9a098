#!/usr/bin/env python3
"""NumPy reads what a solve has written, and a solve what NumPy has.

Needs TENSORMG_BINARY_DIR, as ctest sets it. Exit code 77 (skipped) without NumPy.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)

SOURCE = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = pathlib.Path(os.environ.get("TENSORMG_BINARY_DIR", SOURCE / "build/release")) / "bin/tensormg-solve"


class Arrays(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(self.directory.cleanup)
        self.folder = pathlib.Path(self.directory.name)

    def solve(self, *settings):
        command = [str(PROGRAM)]
        for setting in ("problem.refinements=2", "problem.degree=2", "output.write_vtu=false", *settings):
            command += ["--set", setting]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=100)

    def test_a_solution_is_read(self):
        sides = [f"boundary.{side}_value=x + 2*y*z" for side in ("left", "right", "front", "back", "bottom", "top")]
        run = self.solve("problem.right_hand_side=0", "problem.coarse_cells=2,1,3", "solver.tolerance=1e-12",
                         "problem.upper=1,2,3", "output.write_npy=true", *sides)
        self.assertEqual(run.returncode, 0, run.stderr)
        u = numpy.load(self.folder / "output/solution.npy", mmap_mode="r")
        about = json.loads((self.folder / "output/solution.json").read_text(encoding="utf-8"))
        self.assertEqual(u.shape, (12, 4, 8, 3, 3, 3))
        self.assertEqual(list(u.shape), about["shape"])
        self.assertEqual(u.dtype, numpy.float64)
        x, y, z = (about["lower"][d] + (numpy.arange(about["cells"][d])[:, None] + numpy.array(about["nodes"])) *
                   (about["upper"][d] - about["lower"][d]) / about["cells"][d] for d in range(3))
        expected = (x[None, None, :, None, None, :] +
                    2 * y[None, :, None, None, :, None] * z[:, None, None, :, None, None])
        self.assertLess(abs(u - expected).max(), 1e-9)
        weights = numpy.polynomial.legendre.leggauss(3)[1] / 2
        mean = numpy.einsum("abckji,k,j,i->", u, weights, weights, weights) / (12 * 4 * 8)
        record = json.loads((self.folder / "output/run.json").read_text(encoding="utf-8"))
        self.assertAlmostEqual(mean, record["mean"], 12)

    def test_arrays_of_users(self):
        for number in (numpy.float32, numpy.float64):
            source = numpy.arange(12, dtype=number).reshape(4, 3)
            numpy.save(self.folder / "q.npy", source)
            run = self.solve("problem.dimension=2", "problem.coarse_cells=3,4", "problem.fields=q = q.npy",
                             "problem.right_hand_side=q")
            self.assertEqual(run.returncode, 0, run.stderr)
            record = json.loads((self.folder / "output/run.json").read_text(encoding="utf-8"))
            self.assertAlmostEqual(sum(record["side_flux"].values()), -source.mean(), 6)

    def test_labels_of_materials(self):
        # Layers in y of K = 2, 0.5 and 5, each a third of the box, between u = 1 and u = 0: the flux is 3 / (1/2 + 2 + 1/5).
        for number in (numpy.uint8, numpy.uint16, numpy.int32):
            numpy.save(self.folder / "m.npy", numpy.repeat(numpy.array([[4], [0], [200]], number), 3, axis=1))
            sides = [f"boundary.{side}=neumann" for side in ("left", "right")]
            run = self.solve("problem.dimension=2", "problem.coarse_cells=3", "problem.fields=m = m.npy", "problem.coefficient=m",
                             "problem.materials=0: 0.5, 4: 2, 200: 5", "problem.right_hand_side=0", "boundary.front_value=1",
                             "solver.tolerance=1e-11", *sides)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("K from 0.500 to 5.00\n", run.stdout)
            record = json.loads((self.folder / "output/run.json").read_text(encoding="utf-8"))
            self.assertAlmostEqual(record["side_flux"]["front"], 3 / 2.7, 8)
            self.assertAlmostEqual(record["side_flux"]["back"], -3 / 2.7, 8)
            self.assertEqual(record["coefficient_range"], [0.5, 5])

    def test_arrays_that_cannot_be_used(self):
        good = numpy.ones((3, 4))
        for array, reason in ((numpy.asfortranarray(good), "is in Fortran order"), (good.astype(int), "has numbers of type '<i8'"),
                              (good.astype(">f8"), "has numbers of type '>f8'"), (good[0], "has the shape (4,)"),
                              (numpy.zeros((0, 4)), "has the shape (0, 4)")):
            numpy.save(self.folder / "q.npy", array)
            run = self.solve("problem.dimension=2", "problem.fields=q=q.npy", "problem.right_hand_side=q")
            self.assertEqual(run.returncode, 2, reason)
            self.assertIn(f"problem.fields = q = q.npy: q.npy: {reason}", run.stderr)
            self.assertIn("allowed", run.stderr)
        self.assertFalse((self.folder / "output").exists())


if __name__ == "__main__":
    unittest.main()
