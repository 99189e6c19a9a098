#!/usr/bin/env python3
"""tools/make_composite.py: what it writes, that it is the same again, and what it refuses. Exit code 77 (skipped) without NumPy."""
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

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/make_composite.py"


class Composite(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)

    def make(self, *options, file="a.npy"):
        return subprocess.run([sys.executable, str(TOOL), file, *options], cwd=self.folder, capture_output=True, text=True,
                              check=False, timeout=100)

    def labels(self, *options, file="a.npy"):
        run = self.make(*options, file=file)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn(f"set fields      = composite = {file}\n", run.stdout)
        return numpy.load(self.folder / file)

    def test_labels_of_two_phases(self):
        labels = self.labels("--cells", "24", "--fraction", "0.4")
        self.assertEqual((labels.shape, labels.dtype), ((24, 24, 24), numpy.uint8))
        self.assertEqual(set(numpy.unique(labels)), {0, 1})
        self.assertTrue(0.4 <= labels.mean() < 0.5)
        numpy.testing.assert_array_equal(labels, self.labels("--cells", "24", "--fraction", "0.4", file="b.npy"))
        self.assertTrue((labels != self.labels("--cells", "24", "--fraction", "0.4", "--seed", "2")).any())

    def test_one_sphere_has_its_volume_and_goes_on_at_the_other_side(self):
        labels = self.labels("--cells", "32", "--fraction", "0.01", "--radius", "0.4")
        self.assertAlmostEqual(labels.mean(), 4 / 3 * numpy.pi * 0.4**3, delta=0.01)
        for axis in range(3):
            widths = numpy.unique(labels.sum(axis=axis))
            self.assertLessEqual(widths[-1], 26)

    def test_refusals(self):
        for options, text in ((["--cells", "0"], "from 1 to 2048"), (["--fraction", "1"], "from 0 to 0.95"),
                              (["--radius", "0.01"], "--radius must be from"), (["--seed", "-1"], "--seed must be")):
            run = self.make(*options)
            self.assertEqual(run.returncode, 2)
            self.assertIn(text, run.stderr)
        self.assertEqual(self.make(file="a.txt").returncode, 2)
        run = self.make("--cells", "8", "--radius", "0.2", file="no/where.npy")
        self.assertEqual(run.returncode, 1)
        self.assertIn("no/where.npy cannot be written (No such file or directory)", run.stderr)


if __name__ == "__main__":
    unittest.main()
