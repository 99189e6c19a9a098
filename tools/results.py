#!/usr/bin/env python3
"""Result files under docs/performance and the table of README.md that is made from them.

    tools/results.py readme            rewrites the table between <!-- results: speed --> and <!-- end -->
    tools/results.py readme --check    fails if it is not what the result files say
    tools/results.py solves OUT RUN... one result file from the run.json files of several solves

A result file is called WHAT-DEVICE.json, one JSON object with device, driver, git, date, command,
scale_bandwidth_gb_per_s (of the file named by --scale) and entries; an entry of a solve has the fields of run.json.
"""
import argparse
import json
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
folder = root / "docs" / "performance"
SOLVES = ("solve-h200.json", "solve-again-h200.json")  # in the order in which they were measured
OPERATORS = "operator-h200.json"
HOSTS = ("cpu.json", "avx2-cpu.json")  # AVX-512, AVX2


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def millions(count):
    return f"{count / 1e6:.1f} M" if count < 1e9 else f"{count / 1e9:.2f} G"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def rewrite(path, tables, check):
    """Writes each table between its marks, or only looks; True if the file was different."""
    before = path.read_text(encoding="utf-8")
    used = []

    def replace(match):
        name = match.group(1)
        if name not in tables:
            sys.exit(f"{path.name}: no table is called {name}; there are {', '.join(tables)}")
        used.append(name)
        return f"<!-- results: {name} -->\n{tables[name]()}\n<!-- end -->"

    after = re.sub(r"<!-- results: (\w+) -->\n.*?<!-- end -->", replace, before, flags=re.S)
    if missing := [name for name in tables if used.count(name) != 1]:
        sys.exit(f"{path.name}: has not one place, <!-- results: NAME -->, for each of these tables: {', '.join(missing)}")
    if not check:
        path.write_text(after, encoding="utf-8")
    return after != before


def method_of(entry):
    chosen = entry["parameters"]["solver"]
    text = entry["solver"]
    if chosen["full_multigrid"] == "true":
        cycles = chosen["full_multigrid_cycles"]
        text += f", full multigrid ({cycles} cycle{'s' if cycles != '1' else ''})"
    if entry["solver"] == "fgmres" and int(chosen["restart"]) < entry["iterations"]:
        text += f", restart {chosen['restart']}"
    return text


def linked(*names):
    return ", ".join(f"[{name}](docs/performance/{name})" for name in names)


def solves_on_gpu():
    """By degree and method the largest mesh in half precision, as measured last."""
    newest = {}
    for name in SOLVES:
        for entry in read(folder / name)["entries"]:
            key = (entry["degree"], method_of(entry))
            if entry["precision"] == "half" and entry["dofs"] >= newest.get(key, entry)["dofs"]:
                newest[key] = entry
    return newest


def operators_on_gpu():
    """By degree y = B u in double precision on the largest mesh: the faster backend, by the slower time of one timed twice."""
    slowest, best = {}, {}
    for entry in read(folder / OPERATORS)["entries"]:
        if (entry["form"], entry["step"], entry["dimension"], entry["place"], entry["precision"]) == (
                "rank2", "apply", 3, "device", "double"):
            key = (entry["degree"], entry["dofs"], entry["backend"])
            slowest[key] = min(slowest.get(key, entry), entry, key=lambda e: e["gdofs_per_second"])
    for entry in slowest.values():
        best[entry["degree"]] = max(best.get(entry["degree"], entry), entry, key=lambda e: (e["dofs"], e["gdofs_per_second"]))
    return best


def speed():
    solves, operators = solves_on_gpu(), operators_on_gpu()
    rows = []
    for entries in zip(*(read(folder / name)["degrees"] for name in HOSTS), strict=True):
        degree = entries[0]["degree"]
        plain, full = (solves[degree, method] for method in ("fgmres", "fgmres, full multigrid (2 cycles)"))
        hosts = [next(s for s in entry["solves"] if s["precision"] == "single") for entry in entries]
        rows.append([str(degree), millions(plain["dofs"]), f"{plain['dofs_per_second'] / 1e9:.2f}",
                     f"{full['dofs_per_second'] / 1e9:.2f}",
                     f"{operators[degree]['gdofs_per_second']:.0f} ({operators[degree]['percent_of_scale']:.0f})",
                     "; ".join(f"{host['dofs_per_second'] / 1e6:.1f}" for host in hosts)])
    return (table(["degree", "H200: unknowns", "solve: GDoF/s", "from full multigrid", "operator: GDoF/s (percent of scale)",
                   "two CPU cores: solve: MDoF/s, AVX-512; AVX2"], rows) +
            f"\n\nCycle in half precision on the GPU ({linked(*SOLVES)}), in single on the CPU ({linked(*HOSTS)}); "
            f"operator: {linked(OPERATORS)}.")


def collect(out, runs, scale, command):
    records = [read(run) for run in runs]
    failed = [run for run, record in zip(runs, records) if not record["converged"]]
    if failed:
        sys.exit("not converged: " + ", ".join(failed))
    for record in records:  # where a run left its files says nothing about it
        record.pop("files", None)
        record["parameters"]["output"].pop("directory", None)
    measured = read(scale)
    bandwidth = measured.get("scale_bandwidth_gb_per_s") or measured["scale_bytes_per_second"] / 1e9
    result = {"device": records[0]["device"]["name"], "driver": records[0]["device"]["driver"],
              "git": records[0]["git_hash"], "date": records[0]["date"], "command": command,
              "scale_bandwidth_gb_per_s": bandwidth, "entries": records}
    if any(record["git_hash"] != result["git"] for record in records):
        sys.exit("the runs are of several revisions")
    with open(out, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    one = commands.add_parser("readme")
    one.add_argument("--check", action="store_true")
    two = commands.add_parser("solves")
    two.add_argument("out")
    two.add_argument("runs", nargs="+")
    two.add_argument("--scale", required=True, help="of the same machine and day: compare.json, or run.json with output.level_times = true")
    two.add_argument("--command", default="./tensormg solve params/throughput.prm")
    arguments = parser.parse_args()
    if arguments.what == "readme":
        if rewrite(root / "README.md", {"speed": speed}, arguments.check) and arguments.check:
            sys.exit("README.md: its table is not that of docs/performance; run tools/results.py readme")
    else:
        collect(arguments.out, arguments.runs, arguments.scale, arguments.command)


if __name__ == "__main__":
    main()
