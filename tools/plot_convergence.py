#!/usr/bin/env python3
"""Plots converge.csv, the result of `tensormg converge`: errors over the cell size, one line per degree.

Usage: plot_convergence.py CONVERGE_CSV [--output STEM]
Writes STEM.png and STEM.svg; the default stem is that of the CSV file. Needs matplotlib.
Exit codes: 0 written, 1 the file cannot be used or the plots not be written, 77 no matplotlib.
"""

import argparse
import csv
import pathlib
import sys

sys.dont_write_bytecode = True  # nothing is left beside the scripts
from plotting import NO_MATPLOTLIB, fail, legend_below, pyplot_without_screen, write

REQUIRED = ("degree", "h", "l2_error", "h1_error", "limited_by")


def read_study(path):
    """{degree: [row, ...]} with numbers in place of texts; unknown errors are None."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            missing = [name for name in REQUIRED if name not in (reader.fieldnames or ())]
            if missing:
                fail(f"{path}: no column {', '.join(missing)}")
            study = {}
            for row in reader:
                study.setdefault(int(row["degree"]), []).append({
                    "h": float(row["h"]),
                    "l2_error": float(row["l2_error"]) if row["l2_error"] else None,
                    "h1_error": float(row["h1_error"]) if row["h1_error"] else None,
                    "limited": row["limited_by"] != "mesh",
                })
    except OSError as error:
        fail(f"{path}: {error.strerror}")
    except (TypeError, ValueError) as error:
        fail(f"{path}: not a table of a convergence study ({error})")
    if not study:
        fail(f"{path}: no rows")
    return study


def draw_reference(axes, points, order):
    """The slope that the theory promises, below the line of the errors."""
    (h_coarse, _), (h_fine, fine) = points[-2], points[-1]
    anchor = 0.6 * fine
    axes.loglog([h_coarse, h_fine], [anchor * (h_coarse / h_fine) ** order, anchor],
                color="0.6", linewidth=0.8, linestyle="--")
    axes.annotate(f"{order}", (h_fine, anchor), xytext=(-3, -3), textcoords="offset points",
                  ha="right", va="top", fontsize=8, color="0.4")


def draw(axes, study, key, order_above_degree, title):
    for index, (degree, rows) in enumerate(sorted(study.items())):
        points = [(row["h"], row[key]) for row in rows if row[key]]
        if not points:
            continue
        colour = f"C{index}"
        axes.loglog(*zip(*points), color=colour, marker="o", markersize=4,
                    label=f"degree {degree}")
        limited = [(row["h"], row[key]) for row in rows if row[key] and row["limited"]]
        if limited:  # open marks: not errors of the mesh
            axes.loglog(*zip(*limited), color=colour, marker="o", markersize=4, linestyle="none",
                        markerfacecolor="white")
        of_mesh = [(row["h"], row[key]) for row in rows if row[key] and not row["limited"]]
        if len(of_mesh) > 1:
            draw_reference(axes, of_mesh, degree + order_above_degree)
    sizes = sorted({row["h"] for rows in study.values() for row in rows})
    axes.set_xticks(sizes, [f"{size:.3g}" for size in sizes])
    axes.minorticks_off()
    axes.set_ylim(bottom=axes.get_ylim()[0] / 3)  # room for the order of the lowest line
    axes.set_xlabel("cell size h")
    axes.set_title(title)
    axes.grid(True, which="major", color="0.9", linewidth=0.6)


def figure_of(pyplot, study):
    panels = [("l2_error", 1, "L2 error")]
    if any(row["h1_error"] for rows in study.values() for row in rows):
        panels.append(("h1_error", 0, "error of the gradient"))
    figure, axes = pyplot.subplots(1, len(panels), figsize=(4.8 * len(panels), 4.2), squeeze=False)
    for panel, (key, order_above_degree, title) in zip(axes[0], panels):
        draw(panel, study, key, order_above_degree, title)
    figure.tight_layout()
    legend_below(figure, *axes[0][0].get_legend_handles_labels())
    return figure


def main():
    parser = argparse.ArgumentParser(description="Plots the result of `tensormg converge`.")
    parser.add_argument("csv", type=pathlib.Path, help="converge.csv")
    parser.add_argument("--output", type=pathlib.Path, help="path of the plots without extension")
    arguments = parser.parse_args()
    study = read_study(arguments.csv)
    try:
        pyplot = pyplot_without_screen()
    except ImportError:
        fail("matplotlib is missing: install python3-matplotlib", NO_MATPLOTLIB)
    write(figure_of(pyplot, study), arguments.output or arguments.csv.with_suffix(""))


if __name__ == "__main__":
    main()
