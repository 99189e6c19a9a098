#!/usr/bin/env python3
"""tools/results.py: the table of README.md has of each solve what was measured last on the largest mesh; marks without a table are mistakes."""

import importlib.util
import json
import pathlib
import re
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "results.py"


def solve(cells, seconds, precision="half", full_multigrid="false", iterations=7, restart="10"):
    return {"degree": 3, "cells": [cells] * 3, "dofs": (4 * cells) ** 3, "solver": "fgmres", "precision": precision,
            "iterations": iterations, "solve_seconds": seconds, "dofs_per_second": 1e3 * (4 * cells) ** 3 / seconds,
            "parameters": {"solver": {"full_multigrid": full_multigrid, "full_multigrid_cycles": "2", "restart": restart}}}


class Results(unittest.TestCase):
    def setUp(self):
        specification = importlib.util.spec_from_file_location("results", SCRIPT)
        self.results = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(self.results)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results.folder = pathlib.Path(folder.name)

    def write(self, name, entries, **others):
        data = {"device": "a device", "git": "1234567", "entries": entries} | others
        (self.results.folder / name).write_text(json.dumps(data), encoding="utf-8")


def operator(backend, dofs, gdofs, **others):
    return {"dimension": 3, "degree": 3, "precision": "double", "form": "rank2", "step": "apply", "backend": backend,
            "place": "device", "dofs": dofs, "gdofs_per_second": gdofs, "percent_of_scale": gdofs / 4, **others}


class Speed(Results):
    def row(self, first, again=(), operators=(operator("cuda", 64, 100),)):
        self.write("solve-h200.json", first)
        self.write("solve-again-h200.json", again)
        self.write("operator-h200.json", operators)
        solves = [{"precision": p, "dofs_per_second": rate} for p, rate in (("double", 1e7), ("single", 2e7))]
        for name in ("cpu.json", "avx2-cpu.json"):
            self.write(name, [], degrees=[{"degree": 3, "solves": solves}])
        return self.results.speed().splitlines()[2:]

    full = solve(20, 0.1, full_multigrid="true")

    def test_last_run_of_the_largest_mesh(self):
        lines = self.row([solve(20, 0.2), solve(10, 0.1), self.full, solve(20, 0.05, "double")],
                         [solve(20, 0.5), solve(10, 0.1)])
        self.assertEqual(lines[0], "| 3 | 0.5 M | 1.02 | 5.12 | 100 (25) | 20.0; 20.0 |")
        self.assertIn("[solve-again-h200.json](docs/performance/solve-again-h200.json)", lines[2])

    def test_a_restart_that_was_needed_is_another_method(self):
        lines = self.row([solve(20, 0.2), self.full, solve(30, 0.6, restart="3")])
        self.assertIn("| 3 | 0.5 M | 2.56 |", lines[0])

    def test_operator_of_the_faster_backend_by_its_slower_time(self):
        others = [operator("cpu", 900, 1, place="host"), operator("cuda", 900, 900, form="nodal"),
                  operator("cuda", 900, 900, dimension=2), operator("cuda", 900, 900, step="residual"),
                  operator("cuda", 900, 900, precision="half"), operator("cuda", 8, 800)]
        lines = self.row([solve(20, 0.2), self.full], operators=[
            operator("mma", 64, 300), operator("mma", 64, 200), operator("cuda", 64, 240), operator("cuda", 64, 250), *others])
        self.assertIn("| 240 (60) |", lines[0])


class Files(unittest.TestCase):
    """docs/performance has what documents cite, and stays small."""
    root = SCRIPT.parents[1]

    def test_files_are_those_that_documents_cite(self):
        documents = [self.root / "README.md", *self.root.glob("docs/*.md")]
        texts = [path.read_text(encoding="utf-8") for path in documents]
        cited = {name for text in texts for name in re.findall(r"performance/([\w.-]+\.json)\b", text)}
        files = {path.name for path in (self.root / "docs" / "performance").iterdir()}
        self.assertEqual(files - cited, set(), "no document cites them")
        self.assertEqual(cited - files, set(), "documents cite them")

    def test_names_and_sizes(self):
        files = list((self.root / "docs" / "performance").iterdir())
        for path in files:
            self.assertRegex(path.name, r"^([a-z0-9-]+-(h200|h100|cpu)|cpu)\.json$")
            data = json.loads(path.read_text(encoding="utf-8"))
            self.assertTrue(data.get("git") or data.get("git_hash"), path.name)
        self.assertLess(sum(path.stat().st_size for path in files), 3e6)


class Rewrite(Results):
    def rewritten(self, text, check=False):
        path = self.results.folder / "text.md"
        path.write_text(text, encoding="utf-8")
        return self.results.rewrite(path, {"one": lambda: "new"}, check), path.read_text(encoding="utf-8")

    def test_only_what_stands_between_marks_is_replaced(self):
        new = "a\n<!-- results: one -->\nnew\n<!-- end -->\nb\n"
        self.assertEqual(self.rewritten(new.replace("new", "old")), (True, new))
        self.assertEqual(self.rewritten(new), (False, new))
        self.assertEqual(self.rewritten(new.replace("new", "old"), check=True), (True, new.replace("new", "old")))

    def test_marks_and_tables_are_the_same(self):
        for text in ("a\n", "<!-- results: other -->\n<!-- end -->\n",
                     2 * "<!-- results: one -->\nnew\n<!-- end -->\n"):
            with self.assertRaises(SystemExit):
                self.rewritten(text)


if __name__ == "__main__":
    unittest.main()
