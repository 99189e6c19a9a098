#!/usr/bin/env python3
"""Plots residuals.csv, which `tensormg solve` writes: the relative residual over the iterations, one line per run.

Usage: tensormg plot DIRECTORY... [--output STEM]
DIRECTORY is an output.directory. Writes STEM.png and STEM.svg; by default residuals.png and residuals.svg in the directory or,
of several ones, here. What run.json says of the run, as its tolerance, is drawn where that file is. Needs matplotlib.
Exit codes: 0 written, 1 the plots cannot be written, 2 a directory or file cannot be used, 77 no matplotlib.
"""

import argparse
import csv
import json
import math
import os
import pathlib
import sys

sys.dont_write_bytecode = True  # nothing is left beside the scripts
from plotting import NO_MATPLOTLIB, distinct, fail, label_levels, legend_below, pyplot_without_screen, tick_text, write

REQUIRED = ("iteration", "relative_residual")
UNUSABLE = 2
MOST_NAMED = 12  # lines of a legend that can still be told apart


class Run:
    """A residual history, (iteration, relative residual), and what the record says."""

    def __init__(self, directory, history, record):
        self.name, self.history = str(directory), history
        self.tolerance = record.get("tolerance")
        self.trouble = None if record.get("converged", True) else str(record.get("reason")).replace("_", " ")
        self.about = ""
        if record:
            cells = " x ".join(str(n) for n in record["cells"][:record["dimension"]])
            self.about = f"{cells} cells of degree {record['degree']}, {record['solver']}, cycle in {record['precision']} precision"

    def label(self):
        return self.name + (f" ({self.trouble})" if self.trouble else "")


def read_history(path):
    """Residuals that a logarithmic axis can show."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            missing = [name for name in REQUIRED if name not in (reader.fieldnames or ())]
            if missing:
                fail(f"{path}: no column {', '.join(missing)}; allowed: the residuals.csv of a solve", UNUSABLE)
            rows = [(int(row["iteration"]), float(row["relative_residual"])) for row in reader]
    except OSError as error:
        fail(f"{path}: {error.strerror}; allowed: output directories of solves", UNUSABLE)
    except (TypeError, ValueError) as error:
        fail(f"{path}: not a residual history ({error})", UNUSABLE)
    rows = [(n, residual) for n, residual in rows if residual > 0 and math.isfinite(residual)]
    if not rows:
        fail(f"{path}: no residual that is positive and finite", UNUSABLE)
    return rows


def read_record(path):
    """What run.json has; nothing without that file, as after a run that was ended."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return {key: record[key] for key in ("dimension", "cells", "degree", "solver", "precision", "tolerance", "converged", "reason")}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        fail(f"{path}: not the record of a solve ({error})", UNUSABLE)


def read_run(directory):
    if not directory.is_dir():
        what = "is not a directory" if directory.exists() else "there is no such directory"
        fail(f"{directory}: {what}; allowed: output directories of solves", UNUSABLE)
    return Run(directory, read_history(directory / "residuals.csv"), read_record(directory / "run.json"))


def draw_tolerances(axes, runs):
    tolerances = distinct(run.tolerance for run in runs if run.tolerance)
    for tolerance in tolerances:
        axes.axhline(tolerance, color="0.5", linestyle="--", linewidth=0.9)
    label_levels(axes, [(tolerance, f"tolerance {tick_text(tolerance)}") for tolerance in tolerances], size=8)


def figure_of(pyplot, runs):
    from matplotlib import ticker
    figure, axes = pyplot.subplots(figsize=(6.4, 4.2))
    for index, run in enumerate(runs):
        count = len(run.history)
        axes.semilogy(*zip(*run.history), color=f"C{index % 10}", linestyle=("-", "--", ":", "-.")[index // 10 % 4], marker="o",
                      markersize=4, markevery=max(1, count // 40), label=run.label())
        if run.trouble:
            axes.plot(*run.history[-1], color=f"C{index % 10}", marker="x", markersize=9, linestyle="none")
    axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    axes.set_xlabel("iteration")
    axes.set_ylabel("residual relative to the right-hand side")
    abouts = distinct(run.about for run in runs)
    axes.set_title(abouts[0] if len(abouts) == 1 else "", fontsize=10)
    axes.grid(True, which="major", color="0.9", linewidth=0.6)
    figure.tight_layout()
    draw_tolerances(axes, runs)
    if (len(runs) > 1 or runs[0].trouble) and len(runs) <= MOST_NAMED:
        legend_below(figure, *axes.get_legend_handles_labels())
    return figure


def main():
    parser = argparse.ArgumentParser(prog="tensormg plot", description="Plots the residual histories of solves.")
    parser.add_argument("directory", type=pathlib.Path, nargs="+", help="output.directory of a solve")
    parser.add_argument("--output", type=pathlib.Path, metavar="STEM", help="path of the plots without extension; default: "
                        "residuals, in the directory or, of several ones, here")
    arguments = parser.parse_args()
    runs = [read_run(directory) for directory in arguments.directory]
    stem = arguments.output or (arguments.directory[0] if len(runs) == 1 else pathlib.Path()) / "residuals"
    if not os.access(stem.parent, os.W_OK):
        fail(f"{stem.parent}: no files can be written there; allowed: --output STEM with a folder that is there")
    try:
        pyplot = pyplot_without_screen()
    except ImportError:
        fail("matplotlib is missing: install python3-matplotlib", NO_MATPLOTLIB)
    write(figure_of(pyplot, runs), stem)


if __name__ == "__main__":
    main()
