#!/usr/bin/env python3
"""tools/report_diagnose.py makes a page of what `tensormg diagnose` writes, and says what it cannot read."""

import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "report_diagnose.py"
NO_MATPLOTLIB = 77
HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None


def entry(class_name, kernel, problem="16 MB", **others):
    return {"class": class_name, "problem": problem, "kernel": kernel, "precision": "double",
            "place": "host", "outcome": "measured", "error": 1e-16, "milliseconds": 2.0,
            "flops": 1e6, "bytes": 16e6, "intensity_flops_per_byte": 0.0625,
            "working_set_bytes": 16e6, "gb_per_second": 8.0, "gflops_per_second": 0.5,
            "percent_of_scale": 80.0, "percent_of_theoretical_bandwidth": None, "percent_of_peak": 1.0,
            "predicted_overlapped_ms": 1.6, "predicted_unoverlapped_ms": 1.7, "gain": None, "figures": [],
            "library_kernels": [], "verdict": "bound by memory",
            **others}


def diagnosis(**others):
    ceilings = [{"name": "FP64 FMA", "rate_per_second": 1e11, "counted": "flops",
                 "balance_flops_per_byte": 10.0, "alpha": None, "memory_bound_limit": None},
                {"name": "FP64 mma", "rate_per_second": 2e11, "counted": "flops",
                 "balance_flops_per_byte": 20.0, "alpha": 2.0, "memory_bound_limit": 1.33}]
    stream = [{"operation": "scale", "past_caches": past, "bytes": size, "gb_per_second": 10.0}
              for past in (False, True) for size in (1e6, 1e7)]
    return {"date": "2020-01-01", "version": "0.1.0", "git": "abc", "command": "./tensormg diagnose",
            "no_device": "no GPU", "machines": [{
                "place": "host", "name": "a <CPU>", "detail": "2 threads", "ceilings": ceilings,
                "scale_bandwidth_gb_per_s": 10.0, "stream": stream}],
            "classes": [{"name": "scale", "about": "a = q b", "exists": True, "not_written_yet": ""},
                        {"name": "gemm", "about": "products", "exists": False, "not_written_yet": "all"},
                        {"name": "precision", "about": "errors", "exists": True,
                         "not_written_yet": "the device"}],
            "entries": [], "accuracy": [], **others}


class ReportDiagnose(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.json = pathlib.Path(folder.name) / "diagnose.json"

    def run_script(self, text):
        self.json.write_text(text, encoding="utf-8")
        return subprocess.run([sys.executable, str(SCRIPT), str(self.json)], capture_output=True,
                              text=True, check=False)

    def page_of(self, data):
        result = self.run_script(json.dumps(data))
        self.assertEqual(result.returncode, 0 if HAS_MATPLOTLIB else NO_MATPLOTLIB, result.stderr)
        return self.json.with_suffix(".html").read_text(encoding="utf-8")

    def test_a_stopped_run(self):
        self.assertIn("stopped before its end", self.page_of(diagnosis(complete=False)))
        self.assertNotIn("stopped before its end", self.page_of(diagnosis(complete=True)))

    def test_without_a_device_that_comes_first(self):
        page = self.page_of(diagnosis(entries=[entry("scale", "cuda")], no_device="no <GPU>"))
        self.assertIn("<h1>What kernels reach on this machine, without tensor cores</h1>", page)
        said = page.index('<p class="bad">No device: no &lt;GPU&gt;. Nothing here says anything about tensor cores.</p>')
        self.assertLess(said, page.index("<nav>"))
        self.assertIn("No device: none was measured", self.page_of(diagnosis(no_device=None)))
        machine = {**diagnosis()["machines"][0], "place": "device"}
        page = self.page_of(diagnosis(machines=[machine], no_device=None))
        self.assertIn("<h1>What kernels gain from tensor cores</h1>", page)
        self.assertNotIn("No device", page)

    def test_what_makes_numbers_uncertain_comes_first(self):
        machine = {**diagnosis()["machines"][0], "remarks": ["2 threads are <slower> than one"]}
        page = self.page_of(diagnosis(machines=[machine]))
        self.assertLess(page.index("Uncertain: 2 threads are &lt;slower&gt; than one."), page.index("<nav>"))

    def test_contents_and_width(self):
        page = self.page_of(diagnosis(entries=[entry("scale", "cuda", figures=[
            {"name": "a figure", "value": 1.0, "unit": "of it"}])]))
        names = re.findall('<h2 id="(.*?)">(.*?)</h2>', page)
        self.assertEqual([name for _, name in names], ["Machines and their ceilings", "scale", "gemm", "precision"])
        for link, name in names:
            self.assertEqual(page.count(f'<li><a href="#{link}">{name}</a></li>'), 1)
        self.assertNotIn("<h2>", page)
        # What may be wider than the page scrolls in its own box, and long texts stand below their row.
        self.assertIn("max-width: 1240px", page)
        self.assertEqual(page.count("<table>"), page.count('<div class="scroll"><table>'))
        self.assertEqual(page.count("<svg"), page.count('<div class="scroll"><svg'))
        self.assertIn('<tr class="below"><td colspan="12">bound by memory; a figure 1.00 of it</td></tr>', page)

    @unittest.skipUnless(HAS_MATPLOTLIB, "no matplotlib")
    def test_ticks_are_plain_numbers(self):
        sys.path.insert(0, str(SCRIPT.parent))
        import plotting
        pyplot = plotting.pyplot_without_screen()
        for low, high in ((0.9, 1.3), (0.29, 1.9), (0.7, 80), (1e-17, 2), (0.01, 3e6)):
            figure, axes = pyplot.subplots()
            axes.set(xscale="log", xlim=(low, high))
            plotting.plain_ticks(axes.xaxis)
            figure.canvas.draw()
            ticks = [t.get_text() for t in axes.get_xticklabels(which="both") if t.get_text()
                     and low <= t.get_position()[0] <= high]
            self.assertGreaterEqual(len(ticks), 3, (low, high))
            self.assertLess(len(ticks), 14)
            for text in ticks:
                self.assertRegex(text, r"^[0-9.]+(e-?[1-9][0-9]*)?$")
            pyplot.close(figure)
        self.assertEqual([plotting.tick_text(x) for x in (1, 1.5, 1000, 1e6, 0.01, 1e-16)],
                         ["1", "1.5", "1000", "1e6", "0.01", "1e-16"])

    def test_labels_keep_their_distance(self):
        sys.path.insert(0, str(SCRIPT.parent))
        import plotting
        self.assertEqual(plotting.spread([9, 8.5, 8.4, 2], 1), [9, 8, 7, 2])
        self.assertEqual(plotting.spread([], 1), [])

    @unittest.skipUnless(HAS_MATPLOTLIB, "no matplotlib")
    def test_texts_are_whole_and_apart(self):
        sys.path[:0] = [str(SCRIPT.parent), str(pathlib.Path(__file__).parent)]
        import diagnose_plots
        import plot_texts
        import plotting
        units = [{"name": f"FP{n} unit with a long name", "rate_per_second": (1 + n / 4) * 1e12, "counted": "flops"} for n in range(8)]
        machine = {**diagnosis()["machines"][0], "ceilings": units}
        gain = {"twin": "a_twin_with_a_long_name", "measured": 1.1, "alpha": 2.0, "bound_unoverlapped": 1.2}
        entries = [entry("scale", f"kernel_with_a_long_name_{k}", f"problem {n}, 1024 x 1024 x 1024", gain=gain)
                   for k in range(40) for n in range(3)]
        samples = [{"n": n, "predicted_ms": 0.1, "milliseconds": 0.11, "library_milliseconds": 0.1} for n in (1024, 8456)]
        sweep = {"kernel": "a_kernel_with_a_long_name", "tile_m": 128, "tile_n": 256, "blocks_at_once": 12, "m": 384, "k": 2048,
                 "samples": samples, "steps": []}
        errors = [{"method": method, "range": range_of, "length": n, "error": 1e-4, "bound": 1e-3, "remark": ""}
                  for method in ("TF32", "TF32, device", "FP16 corrected, device") for range_of in ("0.1 to 1", "1e-8 to 1e-6", "1")
                  for n in (16, 4096)]
        figures = diagnose_plots.figures_of(plotting.pyplot_without_screen(), diagnosis(
            machines=[machine, {**machine, "place": "device"}], entries=entries, quantisation=[sweep, sweep], accuracy=errors))
        for name, figure in figures.items():
            if figure is not None:
                self.assertEqual(plot_texts.outside(figure), [], name)
                self.assertEqual(plot_texts.overlapping(figure), [], name)

    def test_everything(self):
        gain = {"twin": "cuda", "measured": 1.1, "alpha": 2.0, "bound_unoverlapped": 1.2}
        page = self.page_of(diagnosis(
            entries=[entry("scale", "cuda"), entry("scale", "mma", gain=gain),
                     entry("scale", "library", library_kernels=["its_kernel"],
                           percent_of_theoretical_bandwidth=84.3),
                     entry("scale", "bad", outcome="failed", reason="differs by 1 <here>"),
                     entry("scale", "far", outcome="not available", reason="no GPU")],
            accuracy=[{"method": "TF32", "range": "1", "length": n, "error": 1e-4, "bound": 1e-3,
                       "remark": ""} for n in (16, 256)]))
        for part in ("a &lt;CPU&gt;", "No device: no GPU", "1 kernels gave wrong results", "FAILED",
                     "differs by 1 &lt;here&gt;", "not available", "bound by memory", "TF32",
                     "No kernel of this class exists in this version", "Not written yet: the device",
                     "runs its_kernel", "84.3", "% of clock and bus", "The answer", "<b>scale</b> gains: 1.10 times as fast"):
            self.assertIn(part, page)
        if HAS_MATPLOTLIB:
            self.assertEqual(page.count("<svg"), 5)
            for name in ("roofline", "gain", "bandwidth", "scale", "precision"):
                plot = self.json.with_name(f"diagnose_{name}.png")
                self.assertEqual(plot.read_bytes()[:4], b"\x89PNG")

    @staticmethod
    def counted(memory, predicted=1.0, **others):
        """A kernel of 2 ms for which theory needs `predicted`."""
        counters = {"units": {"memory": memory, "L2": 30.0}, "resident_warps": 50.0,
                    "time_of_warps": {"waiting at a <barrier>": 60.0, "issuing": 40.0}}
        return entry("scale", "cuda", place="device", counters=counters, **{
            "bound": "arithmetic", "bound_holds": predicted >= 1.6, "predicted_overlapped_ms": predicted, **others})

    @staticmethod
    def rows_of(part):
        return re.findall('<tr><td class="text">(.*?)</td><td>(.*?)</td></tr>', part)

    def bounds_of(self, entries):
        machine = {**diagnosis()["machines"][0], "place": "device"}
        page = self.page_of(diagnosis(machines=[machine], entries=entries))
        return page[page.index("What bounds them</h2>"):page.index("Machines and their ceilings</h2>")]

    def test_the_clock_is_a_bound(self):
        """Also in files of before, which say of it that no bound holds."""
        before = self.counted(20.0, predicted_at_clock_ms=1.85)
        now = self.counted(20.0, predicted_at_clock_ms=1.85, bound="clock", bound_holds=True)
        part = self.bounds_of([before, now, self.counted(20.0, predicted_at_clock_ms=1.55)])
        self.assertEqual(self.rows_of(part), [("clock (theory)", "2"), ("waiting at a &lt;barrier&gt;", "1")])
        self.assertNotIn("80 to 90 %", part)

    def test_counters_say_more_between_80_and_90_percent(self):
        part = self.bounds_of([self.counted(20.0, predicted=1.7), self.counted(85.0, predicted=1.7),
                               self.counted(85.0, predicted=1.79), self.counted(85.0, predicted=1.81),
                               {**self.counted(0.0, predicted=1.7), "counters": None}])
        self.assertIn(("arithmetic (theory)", "5"), self.rows_of(part))
        below = part[part.index("warps.</p>"):]
        self.assertIn("80 to 90 %", below)
        self.assertEqual(self.rows_of(below), [("arithmetic: memory (counters)", "2"),
                                               ("arithmetic: waiting at a &lt;barrier&gt;", "1")])

    def test_bounds(self):
        """Theory first, then the busiest part, then what the warps wait for."""
        counted = self.counted
        uncounted = entry("scale", "mma", place="device", bound="memory", bound_holds=False, counters=None,
                          predicted_overlapped_ms=1.0)
        machine = {**diagnosis()["machines"][0], "place": "device"}
        page = self.page_of(diagnosis(machines=[machine], entries=[
            counted(81.0), counted(82.0), counted(83.0), counted(79.0), counted(20.0), counted(99.0, predicted=1.9), uncounted]))
        part = page[page.index("What bounds them</h2>"):page.index("Machines and their ceilings</h2>")]
        self.assertIn('<tr><th class="text">bound</th><th class="">scale</th></tr>', part)
        self.assertEqual(self.rows_of(part), [("memory (counters)", "3"), ("waiting at a &lt;barrier&gt;", "2"),
                                              ("arithmetic (theory)", "1"), ("not counted", "1")])
        nothing = self.page_of(diagnosis(entries=[entry("scale", "cuda")], no_counters="no <CUPTI>"))
        self.assertIn("No hardware counters: no &lt;CUPTI&gt;", nothing)
        self.assertNotIn("What bounds them", nothing)

    def test_library(self):
        """csr_merge against cuSPARSE, and the faster of two twins as one line."""
        def merge(twin, measured):
            return entry("spmv", "csr_merge", gain={"twin": twin, "fastest_of": ["cusparse_csr1", "cusparse_csr2"],
                                                    "measured": measured, "alpha": 1.0, "bound_unoverlapped": 1.0})
        comparisons = [{"precision": precision, "geometric_mean": mean,
                        "matrices": [{"problem": "grid <5>", "algorithm": "cusparse_csr2", "quotient": mean}]}
                       for precision, mean in (("double", 1.21), ("half", 0.97))]
        spmv = {"name": "spmv", "about": "y = A x", "exists": True, "not_written_yet": ""}
        data = diagnosis(entries=[merge("cusparse_csr1", 2.0), merge("cusparse_csr2", 0.5)], classes=[spmv],
                         csr_against_library=comparisons)
        page = self.page_of(data)
        self.assertIn('<td class="text">grid &lt;5&gt;</td><td>1.21 (csr2)</td><td>0.970 (csr2)</td>', page)
        self.assertIn('<td class="text">geometric mean</td><td>1.21</td><td>0.970</td>', page)
        self.assertIn('<td class="text">cusparse_csr1 or cusparse_csr2</td><td>2</td><td>1.00</td><td>0.500</td><td>2.00</td>', page)
        del data["csr_against_library"]
        self.assertNotIn("against cuSPARSE", self.page_of(data))

    def test_units(self):
        page = self.page_of(diagnosis(
            adders=[{"unit": "FP16 mma", "rounding": "towards zero", "extra_bits": 2, "block": 16,
                     "block_is_whole": True, "keeps_subnormal_factors": True,
                     "keeps_subnormal_sums": False, "overflow_is_infinite": None}],
            library_products=[
                {"type": "FP16", "size": "16 x 16 x 16", "alignment": "16 bytes",
                 "kernels": ["nvjet<a>"], "on_tensor_cores": True, "reason": ""},
                {"type": "FP32", "size": "16 x 16 x 16", "alignment": "4 bytes", "kernels": [],
                 "on_tensor_cores": None, "reason": "no cuBLAS"}]))
        for part in ("towards zero", "16 or more", "kept", "nvjet&lt;a&gt;", "unknown", "no cuBLAS"):
            self.assertIn(part, page)

    def test_quantisation(self):
        samples = [{"n": n, "predicted_ms": 0.1, "milliseconds": 0.11, "library_milliseconds": library}
                   for n, library in ((1024, 0.1), (1032, None))]
        steps = [{"from_n": 1024, "to_n": 1032, "from_waves": 1, "to_waves": 2, "predicted": 1.75,
                  "measured": 1.5}]
        page = self.page_of(diagnosis(quantisation=[{
            "kernel": "w<gmma>", "tile_m": 128, "tile_n": 256, "blocks_at_once": 12, "m": 384, "k": 64,
            "samples": samples, "steps": steps}]))
        for part in ("Quantisation of w&lt;gmma&gt;", "1024 to 1032", "1 to 2", "1.75", "1.5"):
            self.assertIn(part, page)
        if HAS_MATPLOTLIB:
            self.assertEqual(page.count("<svg"), 2)  # with the bandwidth

    def test_without_results_no_plot_of_them(self):
        page = self.page_of(diagnosis())
        self.assertNotIn("gave wrong results", page)
        if HAS_MATPLOTLIB:
            self.assertEqual(page.count("<svg"), 1)  # the bandwidth

    def test_unusable(self):
        for text, part in (("", "not the result"), ("{}", "not the result"), ("[]", "not the result"),
                           ('{"entries": [{"class": "scale"}]}', "an entry has no problem")):
            result = self.run_script(text)
            self.assertEqual(result.returncode, 1, text)
            self.assertIn(part, result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
