#!/usr/bin/env python3
"""The tables of docs/diagnostics.md that come from a full run of `tensormg diagnose` on a device.

    tools/diagnose_tables.py            rewrites what stands between <!-- results: NAME --> and <!-- end -->
    tools/diagnose_tables.py --check    fails if that is not what the result file says

The run is docs/performance/diagnose-all-h200.json.
"""
import argparse
import json
import math
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
result = root / "docs" / "performance" / "diagnose-all-h200.json"
document = root / "docs" / "diagnostics.md"

FROM_MEMORY = 50e6  # bytes of a working set that caches do not hold


class Run:
    """The measured entries, by class, problem, kernel and precision."""

    def __init__(self, data):
        self.data = data
        self.entries = {(e["class"], e["problem"], e["kernel"], e["precision"]): e for e in data["entries"]
                        if e["outcome"] == "measured" and e["place"] == "device"}

    def get(self, *key):
        return self.entries.get(key)

    def percent(self, *key):
        entry = self.get(*key)
        return f"{entry['percent_of_scale']:.0f}" if entry else "-"

    def quotient(self, name, problem, twin, kernel, precision):
        """How many times as fast as `twin` `kernel` is: by turns if that was measured."""
        entry, other = self.get(name, problem, kernel, precision), self.get(name, problem, twin, precision)
        if not entry or not other:
            return None
        gain = entry.get("gain")
        if gain and gain["twin"] == twin and gain["by_turns"]:
            return gain["measured"]
        return other["milliseconds"] / entry["milliseconds"]

    def problems(self, name):
        """In the order of the run; those of spmv from memory only."""
        seen = {}
        for (of, problem, _, _), entry in self.entries.items():
            if of == name and (name != "spmv" or entry["working_set_bytes"] > FROM_MEMORY
                               or problem in seen):
                seen[problem] = True
        return list(seen)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def joined(values):
    """Several figures of one cell; nothing if there is none of them."""
    values = list(values)
    return "" if all(value == "-" for value in values) else ", ".join(values)


def machine(run):
    device = next(m for m in run.data["machines"] if m["place"] == "device")
    rows = []
    for ceiling in device["ceilings"]:
        rate, unit = ceiling["rate_per_second"], ceiling["counted"]
        rows.append([ceiling["name"], f"{rate / 1e12:.1f} T{unit}/s", number(ceiling["alpha"]),
                     f"{ceiling['clock_ghz']:.2f}" if ceiling["clock_ghz"] else ""])
    head = (f"{run.data['device']}, revision {run.data['git']}, {run.data['date'][:10]}; scale from memory "
            f"{device['scale_bandwidth_gb_per_s']:.0f} GB/s; {len(run.entries)} kernels timed, each after its check, in "
            f"{run.data['seconds']:.0f} s.\n\n")
    return head + table(["ceiling", "measured", "alpha", "GHz"], rows)


def sparse(run):
    precisions = ("double", "single", "half")
    columns = [("cuSPARSE CSR", ("cusparse_csr1", "cusparse_csr2"), precisions),
               ("`csr_vector`", ("csr_vector",), precisions[:2]),
               ("`csr_merge`", ("csr_merge",), precisions),
               ("`sliced_fma`", ("sliced_fma",), precisions),
               ("in one column", ("sliced_fma_one_column",), precisions),
               ("m8n8k4", ("sliced_mma_m8n8k4",), precisions[:1]),
               ("in one column", ("sliced_mma_m8n8k4_one_column",), precisions[:1]),
               ("m16n8k4", ("sliced_mma_m16n8k4",), precisions[:1]),
               ("in one column", ("sliced_mma_m16n8k4_one_column",), precisions[:1]),
               ("m16n8k8", ("sliced_mma_m16n8k8",), precisions[2:]),
               ("in one column", ("sliced_mma_m16n8k8_one_column",), precisions[2:])]

    def best(problem, kernels, precision):
        found = [run.get("spmv", problem, kernel, precision) for kernel in kernels]
        found = [entry["percent_of_scale"] for entry in found if entry]
        return f"{max(found):.0f}" if found else "-"

    rows = [[problem] + [joined(best(problem, kernels, p) for p in of) for _, kernels, of in columns]
            for problem in run.problems("spmv")]
    return table(["matrix"] + [name for name, _, _ in columns], rows)


def library(run):
    """csr_merge against the fastest algorithm of cuSPARSE, by matrix, and the geometric mean."""
    precisions = ("double", "single", "half")
    quotients = {p: [] for p in precisions}
    rows = []
    for problem in run.problems("spmv"):
        row = [problem]
        for p in precisions:
            own = run.get("spmv", problem, "csr_merge", p)
            others = [(e["milliseconds"], name) for name in ("cusparse_csr1", "cusparse_csr2")
                      if (e := run.get("spmv", problem, name, p))]
            if not own or not others:
                row.append("")
                continue
            time, name = min(others)
            quotients[p].append(time / own["milliseconds"])
            row.append(f"{quotients[p][-1]:.2f} ({name[-4:]})")
        rows.append(row)
    means = [f"**{math.prod(q) ** (1 / len(q)):.2f}**" if (q := quotients[p]) else "" for p in precisions]
    return table(["matrix", *precisions], rows + [["**geometric mean**", *means]])


def shape_name(problem):
    shape, grid, _ = problem.split(", ")
    return f"{shape}, {grid.split(' ')[0]}^{len(grid.split(' x '))}"


def stencils(run):
    """One step: percent of scale."""
    both = ("double", "single")
    columns = [("`naive`", ("naive",), both), ("`warps`", ("warps",), both),
               ("tile, planes: FMA", ("tile_fma", "planes_fma"), both),
               ("m8n8k4", ("tile_mma_m8n8k4", "planes_mma_m8n8k4"), both[:1]),
               ("m16n8k4", ("tile_mma_m16n8k4", "planes_mma_m16n8k4"), both[:1]),
               ("TF32", ("tile_mma_tf32", "planes_mma_tf32"), both[1:]),
               ("corrected", ("tile_mma_tf32_corrected", "planes_mma_tf32_corrected"), both[1:]),
               ("low rank: FMA", ("low_rank_fma", "low_rank_planes_fma"), both[:1]),
               ("m8n8k4", ("low_rank_mma_m8n8k4", "low_rank_planes_mma_m8n8k4"), both[:1]),
               ("m16n8k4", ("low_rank_mma_m16n8k4", "low_rank_planes_mma_m16n8k4"), both[:1])]

    def cell(problem, kernels, of):
        kernel = next((k for k in kernels if run.get("stencil", problem, k, of[0])), kernels[0])
        return joined(run.percent("stencil", problem, kernel, p) for p in of)

    rows = [[shape_name(problem)] + [cell(problem, kernels, of) for _, kernels, of in columns]
            for problem in run.problems("stencil") if problem.endswith(", 1 step")]
    return table(["shape, grid"] + [name for name, _, _ in columns], rows)


def steps(run):
    """Several steps: times as fast as as many passes of `warps`."""
    both = ("double", "single")
    columns = [("`warps_fused`", ("warps_fused",), both), ("`march_fused`", ("march_fused",), both),
               ("fused weights: FMA", ("tile_fma_fused", "planes_fma_fused"), both),
               ("m8n8k4", ("tile_mma_m8n8k4_fused", "planes_mma_m8n8k4_fused"), both[:1]),
               ("m16n8k4", ("tile_mma_m16n8k4_fused", "planes_mma_m16n8k4_fused"), both[:1]),
               ("TF32", ("tile_mma_tf32_fused", "planes_mma_tf32_fused"), both[1:]),
               ("corrected", ("tile_mma_tf32_corrected_fused", "planes_mma_tf32_corrected_fused"), both[1:]),
               ("low rank: FMA, m8n8k4, m16n8k4",
                ("low_rank_fma_fused", "low_rank_mma_m8n8k4_fused", "low_rank_mma_m16n8k4_fused"), None)]

    def cell(problem, kernels, of):
        if of is None:
            return joined(number(run.quotient("stencil", problem, "warps", k, "double")) for k in kernels)
        kernel = next((k for k in kernels if run.get("stencil", problem, k, of[0])), kernels[0])
        return joined(number(run.quotient("stencil", problem, "warps", kernel, p)) for p in of)

    rows = [[shape_name(problem) + ", " + problem.split(", ")[2]] +
            [cell(problem, kernels, of) for _, kernels, of in columns]
            for problem in run.problems("stencil")
            if not problem.endswith(", 1 step") and "further" not in problem]
    return table(["shape, grid, steps"] + [name for name, _, _ in columns], rows)


def products(run):
    """Dense products: percent of cuBLAS, in single times as fast as SGEMM."""
    head = ["m x n x k", "`wgmma`", "`mma_larger`", "of mma.sync", "`mma_m16n8k4`", "`mma_m16n8k8`", "`wgmma_fp16_corrected`",
            "`mma_fp16_corrected`", "over CUDA cores: FP64, FP16"]
    rows = []
    for problem in run.problems("gemm"):
        def of(twin, kernel, precision, factor=100., digits=1, where=problem):
            value = run.quotient("gemm", where, twin, kernel, precision)
            return number(None if value is None else factor * value, digits)
        larger = run.get("gemm", problem, "mma_larger", "half")
        rows.append([problem, of("cublas", "wgmma", "half"), of("cublas", "mma_larger", "half"),
                     f"{larger['percent_of_peak']:.0f}" if larger else "-",
                     of("cublas", "mma_m16n8k4", "double"), of("cublas", "mma_m16n8k8", "double"),
                     of("cublas_fp32", "wgmma_fp16_corrected", "single", 1., 2),
                     of("cublas_fp32", "mma_fp16_corrected", "single", 1., 2),
                     of("cuda_fp64", "mma_m16n8k8", "double", 1., 2) + ", " +
                     of("cuda_fp16", "wgmma", "half", 1., 2)])
    return table(head, rows)


def small(run):
    rows = []
    kernels = [("`mma_map`", "mma_map"), ("`mma_staged`", "mma_staged"), ("cuBLAS", "cublas_batched")]
    for problem in run.problems("smallmat"):
        fma = run.get("smallmat", problem, "fma", "double")
        if not fma:
            continue
        row = [problem, f"{fma['percent_of_scale']:.0f}"]
        for _, kernel in kernels:
            entry = run.get("smallmat", problem, kernel, "double")
            row.append(f"{entry['percent_of_scale']:.0f} ({fma['milliseconds'] / entry['milliseconds']:.2f})"
                       if entry else "-")
        rows.append(row)
    return table(["batch", "`fma`"] + [name for name, _ in kernels], rows)


TABLES = {"machine": machine, "sparse": sparse, "library": library, "stencils": stencils, "steps": steps,
          "products": products, "small": small}


def with_tables(text, run):
    def replaced(match):
        return match.group(1) + TABLES[match.group(2)](run) + "\n" + match.group(3)

    return re.sub(r"(<!-- results: (\w+) -->\n).*?(<!-- end -->)", replaced, text, flags=re.DOTALL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    run = Run(json.loads(result.read_text(encoding="utf-8")))
    before = document.read_text(encoding="utf-8")
    after = with_tables(before, run)
    if arguments.check:
        if before != after:
            print(f"{document.name} differs from {result.name}: run tools/diagnose_tables.py")
        return int(before != after)
    document.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
