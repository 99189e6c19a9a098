#!/usr/bin/env python3
"""tools/plot_residuals.py draws the residuals of solves, and says what it cannot read."""

import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "plot_residuals.py"
HEADER = "iteration,residual,relative_residual\n"
NO_MATPLOTLIB = 77
RECORD = {"dimension": 2, "cells": [8, 4, 1], "degree": 3, "solver": "cg", "precision": "single", "tolerance": 1e-6, "converged": True,
          "reason": "converged"}


class PlotResiduals(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write_run(self, name, residuals, **record):
        directory = self.folder / name
        directory.mkdir()
        rows = [f"{n},{2 * residual},{residual}\n" for n, residual in enumerate(residuals)]
        (directory / "residuals.csv").write_text(HEADER + "".join(rows), encoding="utf-8")
        if record:
            (directory / "run.json").write_text(json.dumps({**RECORD, **record}), encoding="utf-8")
        return directory

    def run_script(self, *arguments):
        return subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              check=False)

    def expect_plots(self, stem, *arguments):
        result = self.run_script(*arguments)
        if importlib.util.find_spec("matplotlib") is None:
            self.assertEqual(result.returncode, NO_MATPLOTLIB, result.stderr)
            self.assertIn("python3-matplotlib", result.stderr)
            self.skipTest("no matplotlib")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.folder / f"{stem}.png").read_bytes()[:4], b"\x89PNG")
        self.assertIn("<svg", (self.folder / f"{stem}.svg").read_text(encoding="utf-8"))

    def test_one_run(self):
        self.expect_plots("one/residuals", self.write_run("one", [1, 1e-3, 1e-7], converged=True))

    def test_several_runs(self):
        runs = [self.write_run("a", [1, 1e-3, 1e-7], converged=True), self.write_run("b", [1, 0.5, "nan"], reason="not_finite", converged=False),
                self.write_run("c", [1, 0.1])]
        self.expect_plots("residuals", *runs)
        self.expect_plots("mine", *runs, "--output", "mine")

    @unittest.skipIf(importlib.util.find_spec("matplotlib") is None, "no matplotlib")
    def test_texts_are_whole_and_apart(self):
        sys.path[:0] = [str(SCRIPT.parent), str(pathlib.Path(__file__).parent)]
        import plot_residuals
        import plot_texts
        import plotting
        runs = [self.write_run("single", [1, 1e-14], converged=True)]
        runs += [self.write_run(f"a_longer_name_{n}", [10.0 ** -(m / (n + 1)) for m in range(200)], tolerance=10.0 ** -(6 + n / 4),
                                converged=n < 3, reason="iteration_limit") for n in range(11)]
        for some in (runs[:1], runs[1:3], runs):
            figure = plot_residuals.figure_of(plotting.pyplot_without_screen(), [plot_residuals.read_run(run) for run in some])
            self.assertEqual(plot_texts.outside(figure), [])
            self.assertEqual(plot_texts.overlapping(figure), [])

    def test_unusable(self):
        good = self.write_run("good", [1, 0.1])
        for name, text in (("columns", "a,b\n1,2\n"), ("numbers", HEADER + "0,1,x\n"), ("zeros", HEADER + "0,0,0\n")):
            (self.folder / name).mkdir()
            (self.folder / name / "residuals.csv").write_text(text, encoding="utf-8")
        (self.write_run("record", [1]) / "run.json").write_text("[]", encoding="utf-8")
        (self.folder / "empty").mkdir()
        (self.folder / "file").touch()
        for name, part in (("columns", "no column iteration"), ("numbers", "not a residual history"), ("zeros", "positive and finite"),
                           ("record", "run.json: not the record"), ("empty", "residuals.csv: No such file"),
                           ("file", "is not a directory"), ("nowhere", "there is no such directory")):
            result = self.run_script(good, name)
            self.assertEqual(result.returncode, 2, name)
            self.assertIn(part, result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1)
        result = self.run_script(good, "--output", "no/folder/x")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no/folder: no files can be written there", result.stderr)


if __name__ == "__main__":
    unittest.main()
