#!/usr/bin/env python3
"""Tables from the entries of a run of diagnose."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import diagnose_tables  # noqa: E402  the path is set above


def entry(name, problem, kernel, precision, milliseconds, **more):
    return {"class": name, "problem": problem, "kernel": kernel, "precision": precision, "place": "device",
            "outcome": "measured", "milliseconds": milliseconds, "percent_of_scale": 50. / milliseconds,
            "working_set_bytes": 1e9, "gain": None, **more}


class Tables(unittest.TestCase):
    def test_quotients_of_the_library_and_their_mean(self):
        run = diagnose_tables.Run({"entries": [
            entry("spmv", "a", "cusparse_csr1", "double", 4.), entry("spmv", "a", "cusparse_csr2", "double", 2.),
            entry("spmv", "a", "csr_merge", "double", 1.), entry("spmv", "b", "cusparse_csr1", "double", 1.),
            entry("spmv", "b", "csr_merge", "double", 2.),
            entry("spmv", "cached", "csr_merge", "double", 1., working_set_bytes=1e6)]})
        text = diagnose_tables.library(run)
        self.assertIn("| a | 2.00 (csr2) |", text)
        self.assertIn("| b | 0.50 (csr1) |", text)
        self.assertIn("**1.00**", text)  # sqrt(2 / 2)
        self.assertNotIn("cached", text)

    def test_gain_by_turns_counts_before_times(self):
        gain = {"twin": "cublas", "by_turns": True, "measured": 1.25}
        run = diagnose_tables.Run({"entries": [
            entry("gemm", "m", "cublas", "half", 1.), entry("gemm", "m", "wgmma", "half", 1., gain=gain)]})
        self.assertEqual(run.quotient("gemm", "m", "cublas", "wgmma", "half"), 1.25)
        self.assertIsNone(run.quotient("gemm", "m", "cublas", "absent", "half"))

    def test_what_is_not_measured_is_no_figure(self):
        run = diagnose_tables.Run({"entries": [
            entry("stencil", "2d5pt, 8 x 8, 1 step", "naive", "double", 1.),
            {**entry("stencil", "2d5pt, 8 x 8, 1 step", "warps", "double", 1.), "outcome": "not available"}]})
        self.assertIn("| 2d5pt, 8^2 | 50, - |  |", diagnose_tables.stencils(run))

    def test_only_what_stands_between_marks_is_replaced(self):
        run = diagnose_tables.Run({"entries": []})
        text = diagnose_tables.with_tables("a\n<!-- results: small -->\nold\n<!-- end -->\nb\n", run)
        self.assertTrue(text.startswith("a\n<!-- results: small -->\n| batch |"))
        self.assertTrue(text.endswith("<!-- end -->\nb\n"))
        self.assertNotIn("old", text)


if __name__ == "__main__":
    unittest.main()
