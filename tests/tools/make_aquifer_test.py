#!/usr/bin/env python3
"""tools/make_aquifer.py: what it writes, that it is the same again, and what it refuses. Exit code 77 (skipped) without NumPy."""
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

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/make_aquifer.py"


class Aquifer(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)

    def make(self, *options, file="a.npy"):
        return subprocess.run([sys.executable, str(TOOL), file, *options], cwd=self.folder, capture_output=True, text=True,
                              check=False, timeout=100)

    def numbers(self, *options, file="a.npy"):
        run = self.make(*options, file=file)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn(f"set fields      = aquifer = {file}\n", run.stdout)
        return numpy.load(self.folder / file)

    def test_range_shape_and_seed(self):
        k = self.numbers("--cells", "12,10,6", "--contrast", "1e4", "--largest", "2")
        self.assertEqual((k.shape, k.dtype, k.flags["C_CONTIGUOUS"]), ((6, 10, 12), numpy.float64, True))
        self.assertEqual(k.max(), 2)
        self.assertAlmostEqual(k.max() / k.min(), 1e4, delta=1e-6)
        again = self.numbers("--cells", "12,10,6", "--contrast", "1e4", "--largest", "2", file="b.npy")
        numpy.testing.assert_allclose(k, again, rtol=1e-10)
        self.assertGreater(abs(k - self.numbers("--cells", "12,10,6", "--contrast", "1e4", "--seed", "2")).max(), 0.1)

    def test_lenses_are_longer_than_thick(self):
        logarithm = numpy.log(self.numbers("--cells", "64,8,64", "--lengths", "8,1,1"))
        steps = [abs(numpy.diff(logarithm, axis=axis)).mean() for axis in (2, 0)]
        self.assertLess(4 * steps[0], steps[1])

    def test_refusals(self):
        for options, text in ((["--cells", "1,2,2"], "three numbers from 2"), (["--cells", "8,8"], "three numbers from 2"),
                              (["--lengths", "1,1,-1"], "three numbers from 0"), (["--contrast", "1"], "numbers above 1"),
                              (["--largest", "0"], "numbers above 0"), (["--seed", "-1"], "--seed must be")):
            run = self.make(*options)
            self.assertEqual(run.returncode, 2, options)
            self.assertIn(text, run.stderr)
        self.assertEqual(self.make(file="a.txt").returncode, 2)
        run = self.make(file="no/where.npy")
        self.assertEqual(run.returncode, 1)
        self.assertIn("no/where.npy cannot be written (No such file or directory)", run.stderr)


if __name__ == "__main__":
    unittest.main()
