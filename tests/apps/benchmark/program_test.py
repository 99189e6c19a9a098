#!/usr/bin/env python3
"""tensormg-benchmark as a user meets it: what it says meanwhile, and the table that is kept."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = pathlib.Path(os.environ.get("TENSORMG_BINARY_DIR", SOURCE / "build/release")) / "bin/tensormg-benchmark"
SKIPPED = 77


class Benchmark(unittest.TestCase):
    def run_program(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.run([str(PROGRAM), "--degrees", "1", "2", "--dofs", "4000", "--dimension", "2", "--repetitions",
                                   "1", *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=250)

    def test_a_line_per_part(self):
        result = self.run_program()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.startswith("Measured on "))
        self.assertNotIn("degree 1", result.stdout)
        lines = [line for line in result.stderr.splitlines() if "MDoF/s" in line]
        self.assertEqual(len(lines), 2 * (3 + 3))
        self.assertRegex(lines[0], r"^  degree 1, [0-9]+\^2 cells, operator, double: [0-9.]+ MDoF/s$")
        self.assertRegex(lines[-1], r"^  degree 2, [0-9]+\^2 cells, solve, half: [0-9.]+ MDoF/s$")

    def test_quiet(self):
        result = self.run_program("--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.startswith("Measured on "))
        self.assertNotIn("degree", result.stderr)

    def test_curved(self):
        result = subprocess.run([str(PROGRAM), "--curved", "--degrees", "1", "8", "--dofs", "600", "--repetitions", "1"],
                                capture_output=True, text=True, check=False, timeout=250)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [row for row in result.stdout.splitlines() if row.startswith("| 1 |") or row.startswith("| 8 |")]
        self.assertEqual(len(rows), 2)
        self.assertGreater(float(rows[0].split("|")[5]), 0.)
        self.assertEqual(rows[1].split("|")[4].strip(), "", "no deal.II at degree 8")

    def test_curved_needs_memory(self):
        result = subprocess.run([str(PROGRAM), "--curved", "--dofs", "1000000000000"], capture_output=True, text=True, check=False,
                                timeout=250)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--dofs: degree 1 needs", result.stderr)


if __name__ == "__main__":
    if not PROGRAM.exists():
        print(f"no {PROGRAM}", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main()
