#!/usr/bin/env python3
"""tools/plot_compare.py draws what `tensormg compare` writes, and says what it cannot read."""

import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "plot_compare.py"
NO_MATPLOTLIB = 77


def machine(place, bandwidth):
    return {"place": place, "name": f"a {place}", "scale_bandwidth_gb_per_s": bandwidth,
            "peaks_per_second": {"fp64": 1e10 * bandwidth, "fp32": 2e10 * bandwidth}}


def entry(place, backend, degree, precision, gdofs, **others):
    size = {"double": 16, "single": 8, "half": 4}[precision]
    return {"dimension": 3, "degree": degree, "precision": precision, "form": "rank2",
            "step": "apply", "backend": backend, "place": place, "dofs_wanted": 1000, "dofs": 999,
            "gdofs_per_second": gdofs, "bytes_per_dof": size, "flops_per_dof": 25,
            "tflops_per_second": 0.025 * gdofs, "unit": "fp64" if precision == "double" else "fp32",
            **others}


class PlotCompare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.json = pathlib.Path(folder.name) / "compare.json"

    def run_script(self, text, *arguments):
        self.json.write_text(text, encoding="utf-8")
        return subprocess.run([sys.executable, str(SCRIPT), str(self.json), *arguments],
                              capture_output=True, text=True, check=False)

    def expect_plots(self, machines, entries):
        text = json.dumps({"machines": machines, "entries": entries, "date": "2020-01-01"})
        result = self.run_script(text)
        if importlib.util.find_spec("matplotlib") is None:
            self.assertEqual(result.returncode, NO_MATPLOTLIB, result.stderr)
            self.assertIn("python3-matplotlib", result.stderr)
            self.skipTest("no matplotlib")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.json.with_suffix(".png").read_bytes()[:4], b"\x89PNG")
        svg = self.json.with_suffix(".svg").read_text(encoding="utf-8")
        self.assertIn("<svg", svg)
        self.run_script(text)
        self.assertEqual(self.json.with_suffix(".svg").read_text(encoding="utf-8"), svg)

    def test_host_alone(self):
        self.expect_plots([machine("host", 80)],
                          [entry("host", "cpu", p, "double", 1 + p) for p in (1, 2, 3)])

    def test_host_and_device(self):
        entries = [entry("host", "cpu", p, precision, 1 + p, step=step, dimension=dimension)
                   for dimension in (2, 3) for step in ("apply", "residual")
                   for p in (1, 2) for precision in ("double", "half")]
        entries += [entry("device", "cuda", p, "single", 200) for p in (1, 2)]
        self.expect_plots([machine("host", 80), machine("device", 4000)], entries)

    @unittest.skipIf(importlib.util.find_spec("matplotlib") is None, "no matplotlib")
    def test_texts_are_whole_and_apart(self):
        sys.path[:0] = [str(SCRIPT.parent), str(pathlib.Path(__file__).parent)]
        import plot_compare
        import plot_texts
        import plotting
        units = {f"fp{n}_tensor_m16n8k{n}": 1e13 * n for n in (8, 9, 10, 16, 17, 64)}
        machines = [{**machine(place, bandwidth), "peaks_per_second": units} for place, bandwidth in (("host", 80), ("device", 4000))]
        entries = [entry(place, f"a_backend_with_a_long_name_{n}", p, "double", 100 + p, unit=unit, form=form)
                   for form in ("nodal_cells", "patch_inverse") for n, unit in enumerate(units)
                   for place in ("host", "device") for p in range(1, 9)]
        self.json.write_text(json.dumps({"machines": machines, "entries": entries, "date": "2020-01-01"}), encoding="utf-8")
        figure = plot_compare.figure_of(plotting.pyplot_without_screen(), plot_compare.read_comparison(self.json))
        self.assertEqual(plot_texts.outside(figure), [])
        self.assertEqual(plot_texts.overlapping(figure), [])
        figure.text(0.5, 0.5, "one")
        figure.text(0.5, 0.5, "other")
        self.assertEqual(plot_texts.overlapping(figure), [("other", "one")])

    def test_every_precision_has_a_colour_of_its_own(self):
        words = (SCRIPT.parents[1] / "apps" / "parameters" / "words.h").read_text(encoding="utf-8")
        listed = re.search(r"compare_precisions\{(.*?)\}", words, re.S).group(1)
        sys.path.insert(0, str(SCRIPT.parent))
        import plot_compare as plot
        self.assertEqual(sorted(plot.PRECISIONS), sorted(re.findall(r'"([^"]+)"', listed)))
        self.assertLessEqual(len(plot.PRECISIONS), 10)  # C0 to C9

    def test_unusable(self):
        usable = json.dumps({"machines": [], "entries": [{"dimension": 3}]})
        for text, part in (("", "not the result"), ("{}", "not the result"), ("[]", "not the result"),
                           ('{"entries": [], "machines": []}', "nothing was measured"),
                           (usable, "an entry has no degree")):
            result = self.run_script(text)
            self.assertEqual(result.returncode, 1, text)
            self.assertIn(part, result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
