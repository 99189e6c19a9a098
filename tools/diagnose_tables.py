#!/usr/bin/env python3
"""The tables of docs/diagnostics.md that come from a full run of `tensormg diagnose` on an H200.

    tools/diagnose_tables.py                   rewrites what stands between <!-- results: NAME --> and <!-- end -->
    tools/diagnose_tables.py --check           fails if that is not what the result file says
    tools/diagnose_tables.py --keep RUN.json   replaces the result file by what this run measured: the head, and of
                                               each kernel on the device what it is, its time, its percentages, and
                                               the part of the device that the counters saw busiest

The result file is docs/performance/diagnose-h200.json.
"""
import argparse
import functools
import json
import sys

sys.dont_write_bytecode = True  # nothing is left beside the scripts
from results import folder, read, rewrite, root, table

result = folder / "diagnose-h200.json"
document = root / "docs" / "diagnostics.md"

FROM_MEMORY = 50e6  # bytes of a working set that caches do not hold
BOTH, HALF = ("double", "single"), ("half",)


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
        return number(entry["percent_of_scale"] if entry else None, 0)

    def quotient(self, name, problem, twin, kernel, precision):
        """How many times as fast as `twin` `kernel` is: by turns if that was measured."""
        entry, other = self.get(name, problem, kernel, precision), self.get(name, problem, twin, precision)
        if not entry or not other:
            return None
        gain = entry.get("gain")
        if gain and gain["twin"] == twin and gain["by_turns"]:
            return gain["measured"]
        return other["milliseconds"] / entry["milliseconds"]

    def problems(self, name, which=lambda problem: True, least_bytes=0.):
        """In the order of the run."""
        return list(dict.fromkeys(e["problem"] for e in self.entries.values() if e["class"] == name
                                  and which(e["problem"]) and e["working_set_bytes"] > least_bytes))

    def device(self):
        return next(m for m in self.data["machines"] if m["place"] == "device")


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def scientific(value):
    return "-" if value is None else f"{value:.1e}".replace("e-0", "e-")


def machine(run):
    """The run, and the ceilings that most kernels meet."""
    shown = ("FP64 FMA", "FP32 FMA", "FP64 mma m8n8k4", "FP64 mma m16n8k4", "TF32 mma", "FP16 mma", "TF32 wgmma",
             "FP16 wgmma", "shared memory")
    rows = []
    for ceiling in run.device()["ceilings"]:
        if ceiling["name"] in shown:
            flops = ceiling["counted"] == "flops"
            rows.append([ceiling["name"], f"{ceiling['rate_per_second'] / 1e12:.1f} T{'flop' if flops else 'B'}/s",
                         number(ceiling["balance_flops_per_byte"] if flops else None, 1), number(ceiling["alpha"])])
    explained = sum(e["bound_holds"] for e in run.entries.values())
    return (f"{run.data['device']}, revision {run.data['git']}, {run.data['date'][:10]}: {len(run.entries)} kernels timed, each "
            f"after its check, in {run.data['seconds']:.0f} s. A bound explains {explained} of them to at least 80 %.\n\n" +
            table(["unit", "rate", "balance", "alpha"], rows))


def scale(run):
    """GB/s of the sweeps, and what tensor cores have of the speed of CUDA cores."""
    operations = ("read", "write", "copy", "scale")
    kernels = (("double", ("mma_m8n8k4", "mma_m16n8k4", "wmma")), ("single", ("mma_tf32",)), ("half", ("mma_fp16",)))
    rows = []
    for size in (16e6, 512e6):
        speeds = {s["operation"]: s["gb_per_second"] for s in run.device()["stream"] if s["bytes"] == size and s["past_caches"]}
        problem = next(p for p in run.problems("scale") if run.get("scale", p, "cuda", "double")["working_set_bytes"] == size)
        rows.append([problem, *(number(speeds[o], 0) for o in operations),
                     *(number(run.quotient("scale", problem, "cuda", k, p)) for p, names in kernels for k in names)])
    return table(["working set", *operations, *(f"`{k}`" for _, names in kernels for k in names)], rows)


def sparse(run):
    """Percent of scale, matrices from memory."""
    columns = [("cuSPARSE CSR", ("cusparse_csr1", "cusparse_csr2"), "double"), ("SELL", ("cusparse_sell",), "double"),
               ("`csr_merge`", ("csr_merge",), "double"), ("`sliced_fma`", ("sliced_fma",), "double"),
               ("m8n8k4", ("sliced_mma_m8n8k4",), "double"),
               ("half: `sliced_fma`", ("sliced_fma",), "half"), ("m16n8k8", ("sliced_mma_m16n8k8",), "half")]

    def best(problem, kernels, precision):
        found = [entry["percent_of_scale"] for kernel in kernels if (entry := run.get("spmv", problem, kernel, precision))]
        return number(max(found, default=None), 0)

    problems = run.problems("spmv", least_bytes=FROM_MEMORY)
    return table(["matrix", *(name for name, _, _ in columns)],
                 [[problem.split(",")[0], *(best(problem, kernels, p) for _, kernels, p in columns)] for problem in problems])


def library(run):
    """One sentence: csr_merge over the fastest algorithm of cuSPARSE, as the run has it."""
    means = [f"{c['geometric_mean']:.2f} ({c['precision']})" for c in run.data["csr_against_library"]]
    return f"`csr_merge` over cuSPARSE CSR, geometric means: {', '.join(means)}."


def shape_name(problem):
    shape, grid, _ = problem.split(", ")
    return f"{shape}, {grid.split(' ')[0]}^{len(grid.split(' x '))}"


def stencils(run):
    """One step: percent of scale. Several: times as fast as as many passes of `warps`, by FMA and by tensor cores."""
    columns = [("`warps`", ("warps",)), ("tiles: FMA", ("tile_fma", "planes_fma")),
               ("m8n8k4", ("tile_mma_m8n8k4", "planes_mma_m8n8k4")),
               ("m16n8k4", ("tile_mma_m16n8k4", "planes_mma_m16n8k4")),
               ("low rank: FMA", ("low_rank_fma", "low_rank_planes_fma")),
               ("m8n8k4", ("low_rank_mma_m8n8k4", "low_rank_planes_mma_m8n8k4"))]
    fused = [("warps_fused",), ("tile_fma_fused", "planes_fma_fused"), ("tile_mma_m16n8k4_fused", "planes_mma_m16n8k4_fused")]

    def first(problem, kernels):
        return next((k for k in kernels if run.get("stencil", problem, k, "double")), kernels[0])

    rows = []
    problems = run.problems("stencil", lambda p: ("5632" in p or "320" in p) and p.endswith(", 1 step"))
    for problem in problems:
        shape, grid, _ = problem.split(", ")
        if problem.replace(shape, f"{shape}_rank1") in problems:
            continue  # that line says the same and more
        steps = f"{shape}, {grid}, {2 if '3d' in shape else 4} steps"
        rows.append([shape_name(problem), *(run.percent("stencil", problem, first(problem, k), "double") for _, k in columns),
                     *(number(run.quotient("stencil", steps, "warps", first(steps, k), "double")) for k in fused)])
    return table(["shape, grid", *(name for name, _ in columns), "steps: `warps_fused`", "FMA", "m16n8k4"], rows)


def products(run):
    """TFLOP/s, and times as fast as cuBLAS in the same precision."""
    def size(problem):
        sides = problem.split(" x ")
        return f"{sides[0]}^3" if len(set(sides)) == 1 else "x".join(sides)

    rows = []
    for problem in run.problems("gemm"):
        def rate(kernel, precision, twin, where=problem):
            entry = run.get("gemm", where, kernel, precision)
            if not entry:
                return "-"
            return (f"{entry['gflops_per_second'] / 1e3:.{0 if entry['gflops_per_second'] > 1e5 else 1}f} "
                    f"({number(run.quotient('gemm', where, twin, kernel, precision))})")
        fp64 = [e for k in ("mma_m16n8k4", "mma_m16n8k8") if (e := run.get("gemm", problem, k, "double"))]
        best = min(fp64, key=lambda e: e["milliseconds"])["kernel"] if fp64 else "mma_m16n8k4"
        rows.append([size(problem), rate("wgmma", "half", "cublas"), rate(best, "double", "cublas"),
                     number(run.quotient("gemm", problem, "cuda_fp64", best, "double")),
                     rate("wgmma_fp16_corrected", "single", "cublas_fp32")])
    return table(["m x n x k", "FP16 `wgmma`", "FP64 `mma`", "over CUDA cores", "FP32 from FP16 `wgmma`"], rows)


def small(run):
    """Percent of scale, in brackets times as fast as `fma`; batches from memory."""
    kernels = [("`mma_map`", "mma_map"), ("`mma_staged`", "mma_staged"), ("cuBLAS", "cublas_batched")]
    rows = []
    for problem in run.problems("smallmat", least_bytes=FROM_MEMORY):
        if not run.get("smallmat", problem, "fma", "double"):
            continue
        row = [problem, run.percent("smallmat", problem, "fma", "double")]
        for _, kernel in kernels:
            gain = run.quotient("smallmat", problem, "fma", kernel, "double")
            row.append(f"{run.percent('smallmat', problem, kernel, 'double')} ({gain:.2f})" if gain else "-")
        rows.append(row)
    return table(["batch", "`fma`", *(name for name, _ in kernels)], rows)


def contractions(run):
    """CUDA cores in percent of scale, and times as fast as these `mma` and `wmma` are."""
    kernels = [("double", "mma", "wmma"), ("single", "mma_3xtf32"), ("half", "mma")]
    rows = []
    for problem in run.problems("smallmat", lambda p: p.startswith("operator, ")):
        row = [problem.removeprefix("operator, ")]
        for precision, *faster in kernels:
            row += [run.percent("smallmat", problem, "cuda", precision),
                    *(number(run.quotient("smallmat", problem, "cuda", k, precision)) for k in faster)]
        rows.append(row)
    return table(["basis, degree", "double: CUDA cores", "`mma`", "`wmma`", "single", "3xTF32 `mma`", "half", "`mma`"], rows)


def precision(run):
    """Largest errors of sums of 4096 products on the device."""
    ranges = ("0.1 to 1", "1e-8 to 1e-6", "1e4 to 1e6")
    errors = {(r["method"], r["range"]): r["error"] for r in run.data["accuracy"] if r["length"] == 4096}
    methods = [m for m in dict.fromkeys(method for method, _ in errors) if m.endswith(", device")]
    return table(["products in", *(f"factors {r}" for r in ranges)],
                 [[m.removesuffix(", device"), *(scientific(errors.get((m, r))) for r in ranges)] for m in methods])


TABLES = {"machine": machine, "scale": scale, "sparse": sparse, "library": library, "stencils": stencils, "products": products,
          "small": small, "contractions": contractions, "precision": precision}


def picked(record, *keys):
    return {key: record[key] for key in keys}


def kept(data):
    """What the tables need of a run, and the same of all other kernels that it timed."""
    device = Run(data).device()
    entries = []
    for e in Run(data).entries.values():
        entry = picked(e, "class", "problem", "kernel", "precision", "place", "outcome", "working_set_bytes", "milliseconds",
                       "gflops_per_second", "percent_of_scale", "error", "bound", "bound_holds")
        if units := (e.get("counters") or {}).get("units"):
            busiest = max(units, key=units.get)
            entry["busiest"] = {busiest: units[busiest]}
        if e["gain"]:
            entry["gain"] = picked(e["gain"], "twin", "measured", "by_turns")
        entries.append(entry)
    return {**picked(data, "device", "driver", "git", "date", "command", "scale_bandwidth_gb_per_s", "seconds"),
            "machines": [picked(device, "place", "name", "detail", "ceilings", "stream")], "entries": entries,
            "csr_against_library": [picked(c, "precision", "geometric_mean") for c in data["csr_against_library"]],
            "accuracy": [picked(r, "method", "range", "length", "error", "bound") for r in data["accuracy"]
                         if r["place"] == "device"]}


def one_record_a_line(data):
    """JSON of an object, with a line for each record of its lists."""
    fields = []
    for key, value in data.items():
        text = json.dumps(value)
        if isinstance(value, list):
            text = "[\n  " + ",\n  ".join(json.dumps(record) for record in value) + "]"
        fields.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(fields) + "\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--keep", metavar="RUN.json")
    arguments = parser.parse_args()
    if arguments.keep:
        result.write_text(one_record_a_line(kept(read(arguments.keep))), encoding="utf-8")
    run = Run(read(result))
    differs = rewrite(document, {name: functools.partial(make, run) for name, make in TABLES.items()}, arguments.check)
    if differs and arguments.check:
        sys.exit(f"{document.name} differs from {result.name}: run tools/diagnose_tables.py")


if __name__ == "__main__":
    main()
