#!/usr/bin/env python3
"""Result files under docs/performance and the tables of README.md that are made from them.

    tools/results.py readme            rewrites the tables between <!-- results: NAME --> and <!-- end -->
    tools/results.py readme --check    fails if they are not what the result files say
    tools/results.py solves OUT RUN... one result file from the run.json files of several solves

A result file is one JSON object with device, driver, git, date, command, scale_bandwidth_gb_per_s (of the file
named by --scale) and entries; an entry of a solve has the fields of run.json.
"""
import argparse
import json
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
folder = root / "docs" / "performance"


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def millions(count):
    return f"{count / 1e6:.1f} M" if count < 1e9 else f"{count / 1e9:.2f} G"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def cpu():
    data = read(folder / "cpu.json")
    rows = []
    for entry in data["degrees"]:
        operator = {o["precision"]: o for o in entry["operators"]}
        solve = {s["precision"]: s for s in entry["solves"]}
        counts = sorted({s["iterations"] for s in entry["solves"]})
        rows.append([str(entry["degree"]), millions(entry["dofs"]),
                     f"{operator['double']['apply']['dofs_per_second'] / 1e6:.0f}"] +
                    [f"{solve[p]['dofs_per_second'] / 1e6:.1f}" for p in ("double", "single", "half")] +
                    [" to ".join(map(str, counts[:1] + counts[1:][-1:]))])
    text = (f"{data['ranks']} ranks, {data['cpu']}, {data['instruction_set']}, scale bandwidth "
            f"{data['scale_bytes_per_second'] / 1e9:.0f} GB/s, revision {data['git_hash']}.\n\n")
    return text + table(["degree", "unknowns", "operator, double: MDoF/s", "solve, double: MDoF/s", "single",
                         "half", "iterations"], rows)


def cells_of(entry):
    """Cells in each direction: as measured, or of a cube of so many unknowns."""
    cells = entry.get("cells")
    if cells is None:
        cells = [round(entry["dofs"] ** (1 / 3) / (entry["degree"] + 1))] * 3
    return "x".join(map(str, cells))


def operators():
    """A line per degree and run: the faster backend of that run, on that mesh, by the slower time of one that was timed twice; runs
    are never mixed."""
    precisions = ("double", "single", "half")
    runs, notes = [], []
    for path in sorted(folder.glob("operator-*.json")):
        data = read(path)
        slowest, best = {}, {}
        for entry in data["entries"]:
            if entry["form"] != "rank2" or entry["dimension"] != 3 or entry["place"] != "device":
                continue
            key = (entry["step"], entry["degree"], entry["precision"], cells_of(entry), entry["backend"])
            if key not in slowest or entry["gdofs_per_second"] < slowest[key]["gdofs_per_second"]:
                slowest[key] = entry
        for (*key, _), entry in slowest.items():
            key = tuple(key)
            if key not in best or entry["gdofs_per_second"] > best[key]["gdofs_per_second"]:
                best[key] = entry
        runs.append(best)
        notes.append(f"{len(runs)}: [{path.name}](docs/performance/{path.name}), {data['device']}, revision {data['git']}, "
                     f"scale bandwidth {data['scale_bandwidth_gb_per_s']:.0f} GB/s")
    names = {step: name for step, name in (("apply", "B u"), ("chebyshev", "Chebyshev step"))
             if any(key[0] == step for best in runs for key in best)}
    head = ["degree", "cells", "unknowns", "run"] + [f"{names[step]}, {p}" for step in names for p in precisions]
    rows = []
    meshes = sorted({(key[1], entry["dofs"], number, key[3])
                     for number, best in enumerate(runs) for key, entry in best.items()})
    for degree, dofs, number, cells in meshes:
        row = [str(degree), cells, millions(dofs), str(number + 1)]
        for step in names:
            for precision in precisions:
                entry = runs[number].get((step, degree, precision, cells))
                row.append("" if entry is None else f"{entry['gdofs_per_second']:.0f} "
                           f"({entry['percent_of_scale']:.0f})" + (" mma" if entry["backend"] == "mma" else ""))
        rows.append(row)
    return table(head, rows) + "\n\nRuns: " + "; ".join(notes) + "."


def method_of(entry):
    chosen = entry["parameters"]["solver"]
    text = entry["solver"]
    if chosen["full_multigrid"] == "true":
        cycles = chosen["full_multigrid_cycles"]
        text += f", full multigrid ({cycles} cycle{'s' if cycles != '1' else ''})"
    if entry["solver"] == "fgmres" and int(chosen["restart"]) < entry["iterations"]:
        text += f", restart {chosen['restart']}"
    return text


def solves():
    """A line per mesh, method and precision: of the last run that has it (solve-again-*: after solve-h200, by name)."""
    newest, notes = {}, []
    for path in [folder / "solve-h200.json"] + sorted(folder.glob("solve-again-*-h200.json")):
        data = read(path)
        source = f" ({data['scale_bandwidth_source']})" if "scale_bandwidth_source" in data else ""
        notes.append(f"{len(notes) + 1}: [{path.name}](docs/performance/{path.name}), {data['device']}, revision {data['git']}, "
                     f"scale bandwidth {data['scale_bandwidth_gb_per_s']:.0f} GB/s{source}")
        for entry in data["entries"]:
            key = (entry["degree"], tuple(entry["cells"]), method_of(entry), entry["precision"])
            newest[key] = (len(notes), entry)
    meshes = list(dict.fromkeys(key[:2] for key in newest))  # in the order of the first run
    rows = []
    for key in sorted(newest, key=lambda key: meshes.index(key[:2])):
        number, entry = newest[key]
        degree, cells, method, precision = key
        rows.append([str(degree), "x".join(map(str, cells)), millions(entry["dofs"]), method, precision,
                     str(entry["iterations"]), f"{1e3 * entry['solve_seconds']:.1f}",
                     f"{entry['dofs_per_second'] / 1e9:.2f}", f"{1e3 * entry['setup_seconds']:.0f}", str(number)])
    return ("Right-hand side 1, relative residual 1e-8, V(4,4)-cycle.\n\n" +
            table(["degree", "cells", "unknowns", "method", "V-cycle", "iterations", "solve: ms", "GDoF/s", "setup: ms",
                   "run"], rows) + "\n\nRuns: " + "; ".join(notes) + ".")


tables = {"cpu": cpu, "operators": operators, "solves": solves}


def readme(check):
    path = root / "README.md"
    old = path.read_text(encoding="utf-8")

    def replace(match):
        name = match.group(1)
        if name not in tables:
            sys.exit(f"README.md: no table is called {name}; there are {', '.join(tables)}")
        return f"<!-- results: {name} -->\n{tables[name]()}\n<!-- end -->"

    new = re.sub(r"<!-- results: (\w+) -->\n.*?<!-- end -->", replace, old, flags=re.S)
    if check and new != old:
        sys.exit("README.md: its tables are not those of docs/performance; run tools/results.py readme")
    if not check:
        path.write_text(new, encoding="utf-8")


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
        readme(arguments.check)
    else:
        collect(arguments.out, arguments.runs, arguments.scale, arguments.command)


if __name__ == "__main__":
    main()
