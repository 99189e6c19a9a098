#!/usr/bin/env python3
"""tools/plot_convergence.py draws what `tensormg converge` writes, and says what it cannot read."""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "plot_convergence.py"
HEADER = "degree,refinements,cells,dofs,h,l2_error,l2_order,h1_error,h1_order,limited_by,iterations\n"
NO_MATPLOTLIB = 77


class PlotConvergence(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.csv = pathlib.Path(folder.name) / "converge.csv"

    def run_script(self, text, *arguments):
        self.csv.write_text(text, encoding="utf-8")
        return subprocess.run([sys.executable, str(SCRIPT), str(self.csv), *arguments],
                              capture_output=True, text=True, check=False)

    def expect_plots(self, text):
        result = self.run_script(text)
        if importlib.util.find_spec("matplotlib") is None:
            self.assertEqual(result.returncode, NO_MATPLOTLIB, result.stderr)
            self.assertIn("python3-matplotlib", result.stderr)
            self.skipTest("no matplotlib")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.csv.with_suffix(".png").read_bytes()[:4], b"\x89PNG")
        svg = self.csv.with_suffix(".svg").read_text(encoding="utf-8")
        self.assertIn("<svg", svg)
        self.run_script(text)
        self.assertEqual(self.csv.with_suffix(".svg").read_text(encoding="utf-8"), svg)

    def test_both_errors(self):
        self.expect_plots(HEADER + "1,2,16,64,0.25,1e-1,,1,,mesh,5\n"
                          "1,3,64,256,0.125,2.5e-2,2,0.5,1,mesh,5\n"
                          "1,4,256,1024,0.0625,6e-3,,0.25,,tolerance,5\n"
                          "2,2,16,144,0.25,1e-2,,1e-1,,mesh,5\n")

    @unittest.skipIf(importlib.util.find_spec("matplotlib") is None, "no matplotlib")
    def test_texts_are_whole_and_apart(self):
        sys.path[:0] = [str(SCRIPT.parent), str(pathlib.Path(__file__).parent)]
        import plot_convergence
        import plot_texts
        import plotting
        rows = [f"{p},{r},1,1,{2.0**-r},{2.0**(-r * (p + 1))},,{2.0**(-r * p)},,mesh,5\n" for p in range(1, 9) for r in range(1, 6)]
        self.csv.write_text(HEADER + "".join(rows), encoding="utf-8")
        figure = plot_convergence.figure_of(plotting.pyplot_without_screen(), plot_convergence.read_study(self.csv))
        self.assertEqual(plot_texts.outside(figure), [])
        self.assertEqual(plot_texts.overlapping(figure), [])

    def test_without_gradient(self):
        self.expect_plots(HEADER + "1,2,16,64,0.25,1e-1,,,,mesh,5\n1,3,64,256,0.125,2e-2,2,,,mesh,5\n")

    def test_unusable(self):
        for text, part in (("", "no column degree"), (HEADER, "no rows"),
                           ("degree,h\n1,2\n", "no column l2_error"),
                           (HEADER + "1,2,16,64,x,1e-1,,,,mesh,5\n", "not a table")):
            result = self.run_script(text)
            self.assertEqual(result.returncode, 1, text)
            self.assertIn(part, result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
