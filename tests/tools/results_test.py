#!/usr/bin/env python3
"""tools/results.py: the table of the operator has a line per run and mesh, and never the better of two; that of solves has what was
measured last."""

import importlib.util
import json
import pathlib
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "results.py"


def entry(backend, dofs, gdofs, **others):
    return {"dimension": 3, "degree": 1, "precision": "double", "form": "rank2", "step": "apply", "backend": backend,
            "place": "device", "dofs": dofs, "gdofs_per_second": gdofs, "percent_of_scale": gdofs / 4, **others}


def solve(cells, seconds, precision="half", full_multigrid="false", iterations=7):
    return {"degree": 3, "cells": [cells] * 3, "dofs": (4 * cells) ** 3, "solver": "fgmres", "precision": precision,
            "iterations": iterations, "solve_seconds": seconds, "setup_seconds": 0.01, "dofs_per_second": 1e9,
            "parameters": {"solver": {"full_multigrid": full_multigrid, "full_multigrid_cycles": "1", "restart": "10"}}}


class Results(unittest.TestCase):
    def setUp(self):
        specification = importlib.util.spec_from_file_location("results", SCRIPT)
        self.results = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(self.results)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results.folder = pathlib.Path(folder.name)

    def write(self, name, entries, **others):
        data = {"device": "a device", "git": "1234567", "scale_bandwidth_gb_per_s": 400, "entries": entries} | others
        (self.results.folder / name).write_text(json.dumps(data), encoding="utf-8")


class Solves(Results):
    def test_last_run_of_each_line(self):
        self.write("solve-h200.json", [solve(20, 0.2), solve(20, 0.1, full_multigrid="true"), solve(10, 0.3)])
        self.write("solve-again-b-h200.json", [solve(20, 0.5)], scale_bandwidth_source="of another device")
        self.write("solve-again-a-h200.json", [solve(20, 0.4), solve(20, 0.6, "double")])
        lines = self.results.solves().splitlines()
        self.assertEqual(lines[4:8], ["| 3 | 20x20x20 | 0.5 M | fgmres | half | 7 | 500.0 | 1.00 | 10 | 3 |",
                                      "| 3 | 20x20x20 | 0.5 M | fgmres, full multigrid (1 cycle) | half | 7 | 100.0 | 1.00 | 10 | 1 |",
                                      "| 3 | 20x20x20 | 0.5 M | fgmres | double | 7 | 600.0 | 1.00 | 10 | 2 |",
                                      "| 3 | 10x10x10 | 0.1 M | fgmres | half | 7 | 300.0 | 1.00 | 10 | 1 |"])
        self.assertIn("scale bandwidth 400 GB/s (of another device)", lines[-1])

    def test_restart_that_was_needed(self):
        self.write("solve-h200.json", [solve(20, 0.2, iterations=12)])
        self.assertIn("| fgmres, restart 10 |", self.results.solves())


class Operators(Results):
    def lines_of(self, *runs):
        for number, entries in enumerate(runs):
            self.write(f"operator-{number}.json", entries, git=f"revision{number}")
        return self.results.operators().splitlines()

    def test_runs_and_meshes_are_not_mixed(self):
        lines = self.lines_of([entry("cuda", 8000, 200, cells=[10, 10, 10]), entry("mma", 8000, 300, cells=[10, 10, 10])],
                              [entry("cuda", 8000, 240), entry("cuda", 64000, 320)])
        self.assertEqual(lines[0], "| degree | cells | unknowns | run | B u, double | B u, single | B u, half |")
        self.assertEqual(lines[2:5], ["| 1 | 10x10x10 | 0.0 M | 1 | 300 (75) mma |  |  |",
                                      "| 1 | 10x10x10 | 0.0 M | 2 | 240 (60) |  |  |",
                                      "| 1 | 20x20x20 | 0.1 M | 2 | 320 (80) |  |  |"])
        self.assertIn("1: [operator-0.json](docs/performance/operator-0.json), a device, revision revision0", lines[-1])
        self.assertIn("2: [operator-1.json]", lines[-1])

    def test_timed_twice(self):
        lines = self.lines_of([entry("mma", 8000, 300), entry("mma", 8000, 200), entry("cuda", 8000, 240),
                               entry("cuda", 8000, 250)])
        self.assertEqual(len(lines), 5)
        self.assertIn("| 240 (60) |", lines[2])

    def test_what_is_left_out(self):
        lines = self.lines_of([entry("cuda", 8000, 200), entry("cpu", 8000, 1, place="host"),
                               entry("cuda", 8000, 900, form="nodal"), entry("cuda", 400, 900, dimension=2)])
        self.assertEqual(len(lines), 5)
        self.assertIn("| 200 (50) |", lines[2])


if __name__ == "__main__":
    unittest.main()
