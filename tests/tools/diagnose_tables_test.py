#!/usr/bin/env python3
"""tools/diagnose_tables.py: tables from the entries of a run of diagnose, and the same from what is kept of it."""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import diagnose_tables  # noqa: E402  the path is set above


def entry(name, problem, kernel, precision, milliseconds, **more):
    return {"class": name, "problem": problem, "kernel": kernel, "precision": precision, "place": "device",
            "outcome": "measured", "milliseconds": milliseconds, "percent_of_scale": 50. / milliseconds,
            "gflops_per_second": 2e5 / milliseconds, "working_set_bytes": 1e9, "bound": "memory", "bound_holds": True,
            "error": 1e-16, "gain": None, "verdict": "words", "counters": {"units": {"L2": 20., "memory": 60.}}, **more}


def run_of(*entries):
    return diagnose_tables.Run({"entries": entries})


class Tables(unittest.TestCase):
    def test_the_faster_algorithm_of_the_library_from_memory(self):
        run = run_of(entry("spmv", "a, 1 MB", "cusparse_csr1", "double", 4.), entry("spmv", "a, 1 MB", "cusparse_csr2", "double", 2.),
                     entry("spmv", "a, 1 MB", "csr_merge", "double", 1.),
                     entry("spmv", "cached", "csr_merge", "double", 1., working_set_bytes=1e6))
        text = diagnose_tables.sparse(run)
        self.assertIn("| a | 25 | - | 50 | - |", text)
        self.assertNotIn("cached", text)

    def test_gain_by_turns_counts_before_times(self):
        gain = {"twin": "cublas", "by_turns": True, "measured": 1.25}
        run = run_of(entry("gemm", "2 x 2 x 2", "cublas", "half", 1.), entry("gemm", "2 x 2 x 2", "wgmma", "half", 1., gain=gain))
        self.assertEqual(run.quotient("gemm", "2 x 2 x 2", "cublas", "wgmma", "half"), 1.25)
        self.assertIsNone(run.quotient("gemm", "2 x 2 x 2", "cublas", "absent", "half"))
        self.assertIn("| 2^3 | 200 (1.25) | - | - | - |", diagnose_tables.products(run))

    def test_fp64_products_by_the_faster_shape(self):
        run = run_of(*(entry("gemm", "8 x 8 x 4", kernel, "double", time) for kernel, time in (
            ("cublas", 4.), ("cuda_fp64", 8.), ("mma_m16n8k4", 5.), ("mma_m16n8k8", 4.))))
        self.assertIn("| 8x8x4 | - | 50.0 (1.00) | 2.00 | - |", diagnose_tables.products(run))

    def test_what_is_not_measured_is_no_figure(self):
        run = run_of(entry("stencil", "2d5pt, 5632 x 5632, 1 step", "warps", "double", 1.),
                     entry("stencil", "2d5pt, 5632 x 5632, 4 steps", "warps", "double", 3.),
                     entry("stencil", "2d5pt, 5632 x 5632, 4 steps", "warps_fused", "double", 1.),
                     {**entry("stencil", "2d5pt, 5632 x 5632, 1 step", "tile_fma", "double", 1.), "outcome": "not available"})
        self.assertIn("| 2d5pt, 5632^2 | 50 | - | - | - | - | - | 3.00 | - | - |", diagnose_tables.stencils(run))

    def test_errors_of_the_device(self):
        run = diagnose_tables.Run({"entries": [], "accuracy": [
            {"method": "TF32, device", "range": "0.1 to 1", "length": 4096, "error": 1.24e-5},
            {"method": "TF32, device", "range": "1e4 to 1e6", "length": 4096, "error": None},
            {"method": "TF32, device", "range": "1e4 to 1e6", "length": 16, "error": 1.},
            {"method": "TF32", "range": "0.1 to 1", "length": 4096, "error": 1.}]})
        self.assertEqual(diagnose_tables.precision(run).splitlines()[2:], ["| TF32 | 1.2e-5 | - | - |"])


class Kept(unittest.TestCase):
    def test_tables_need_nothing_else(self):
        gain = {"twin": "fma", "by_turns": True, "measured": 1.25, "alpha": 2.}
        ceiling = {"name": "FP64 FMA", "rate_per_second": 1e13, "counted": "flops", "balance_flops_per_byte": 8., "alpha": None,
                   "memory_bound_limit": None}
        stream = [{"operation": o, "past_caches": True, "bytes": size, "gb_per_second": 4e3}
                  for o in ("read", "write", "copy", "scale") for size in (16e6, 512e6)]
        host = entry("scale", "a", "cpu", "double", 1., place="host")
        raw = {"device": "a device", "driver": "1", "git": "abc", "date": "2020-01-01", "command": "diagnose", "seconds": 1.,
               "scale_bandwidth_gb_per_s": 4e3, "parameters": {"much": "more"},
               "machines": [{"place": "device", "name": "a device", "detail": "", "ceilings": [ceiling], "stream": stream}],
               "csr_against_library": [{"precision": "double", "geometric_mean": 1.5, "matrices": []}],
               "accuracy": [{"method": "FP64, device", "range": "0.1 to 1", "length": 4096, "error": 1e-16, "bound": 1e-13,
                             "place": "device", "remark": ""}],
               "entries": [host, entry("smallmat", "b", "fma", "double", 2.), entry("smallmat", "b", "mma_map", "double", 1., gain=gain),
                           *(entry("scale", f"{size / 1e6:g} MB", "cuda", "double", 1., working_set_bytes=size)
                             for size in (16e6, 512e6))]}
        text = diagnose_tables.one_record_a_line(diagnose_tables.kept(raw))
        kept = json.loads(text)
        self.assertNotIn("words", text)
        self.assertNotIn("parameters", kept)
        self.assertEqual(len(kept["entries"]), 4)
        self.assertEqual(kept["entries"][0]["busiest"], {"memory": 60.})
        for make in diagnose_tables.TABLES.values():
            self.assertEqual(make(diagnose_tables.Run(kept)), make(diagnose_tables.Run(raw)))
        self.assertIn("| b | 25 | 50 (1.25) | - | - |", diagnose_tables.small(diagnose_tables.Run(kept)))


if __name__ == "__main__":
    unittest.main()
