#!/usr/bin/env python3
"""Plots compare.json, the result of `tensormg compare`: throughput by degree, and a roofline.

Usage: plot_compare.py COMPARE_JSON [--output STEM]
Writes STEM.png and STEM.svg; the default stem is that of the JSON file. Needs matplotlib.
Exit codes: 0 written, 1 the file cannot be used or the plots not be written, 77 no matplotlib.

Colours are precisions, marks are backends. Of several sizes the largest is drawn. The panels of
throughput show the device if there is one, otherwise the host; their dashed lines are the scale
bandwidth. In the roofline both have their bandwidth as a slope, in the title, and the peaks of the
units in use as ceilings.
"""

import argparse
import json
import pathlib
import sys

sys.dont_write_bytecode = True  # nothing is left beside the scripts
from plotting import (NO_MATPLOTLIB, distinct, fail, label_levels, legend_below, levels, pyplot_without_screen, write)

REQUIRED = ("dimension", "degree", "precision", "form", "step", "backend", "place", "dofs_wanted",
            "gdofs_per_second", "bytes_per_dof", "flops_per_dof", "tflops_per_second", "unit")
PRECISIONS = ("double", "single", "tf32", "half", "3xtf32", "3xfp16", "2xfp16")
MARKS = "osD^vP*X<>pdhH8+x1234|_"


def read_comparison(path):
    """The object of the file, its entries reduced to the largest size of each dimension."""
    try:
        comparison = json.loads(path.read_text(encoding="utf-8"))
        entries = comparison["entries"]
        for entry in entries:
            missing = [key for key in REQUIRED if key not in entry]
            if missing:
                fail(f"{path}: an entry has no {', '.join(missing)}")
        for machine in comparison["machines"]:
            machine["bandwidth"] = 1e9 * machine["scale_bandwidth_gb_per_s"]
            machine["place"], machine["name"], machine["peaks_per_second"]
    except OSError as error:
        fail(f"{path}: {error.strerror}")
    except (KeyError, TypeError, ValueError) as error:
        fail(f"{path}: not the result of a comparison ({error})")
    if not entries:
        fail(f"{path}: nothing was measured")
    largest = {}
    for entry in entries:
        dimension = entry["dimension"]
        largest[dimension] = max(largest.get(dimension, 0), entry["dofs_wanted"])
    comparison["entries"] = [
        entry for entry in entries if entry["dofs_wanted"] == largest[entry["dimension"]]
    ]
    return comparison


def values(entries, *keys):
    """The different values of the keys in the order in which they first appear."""
    return distinct(tuple(entry[key] for key in keys) if len(keys) > 1 else entry[keys[0]] for entry in entries)


class Style:
    """The same colours and marks in all panels."""

    def __init__(self, entries):
        self.marks = {backend: MARKS[i % len(MARKS)]
                      for i, backend in enumerate(values(entries, "backend"))}

    def of(self, precision, backend):
        return {"color": f"C{PRECISIONS.index(precision)}" if precision in PRECISIONS else "0.3",
                "marker": self.marks[backend], "markersize": 5}


def draw_throughput(axes, entries, bandwidths, style, title):
    for precision, backend in values(entries, "precision", "backend"):
        rows = sorted((entry for entry in entries
                       if (entry["precision"], entry["backend"]) == (precision, backend)),
                      key=lambda entry: entry["degree"])
        axes.plot([row["degree"] for row in rows], [row["gdofs_per_second"] for row in rows],
                  linewidth=1.2, **style.of(precision, backend))
    degrees = values(entries, "degree")
    for place, precision, size in values(entries, "place", "precision", "bytes_per_dof"):
        limit = 1e-9 * bandwidths[place] / size
        axes.axhline(limit, linewidth=0.8, linestyle="--", alpha=0.7,
                     color=style.of(precision, entries[0]["backend"])["color"])
    low = min(entry["gdofs_per_second"] for entry in entries)
    high = max(entry["gdofs_per_second"] for entry in entries)
    if high > 20 * low:  # with the reference
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set_xticks(sorted(degrees))
    axes.set_xlabel("degree p")
    axes.set_ylabel("GDoF/s")
    axes.set_title(title, fontsize=9)
    axes.grid(True, which="major", color="0.9", linewidth=0.6)


def draw_roofline(axes, entries, machines, style, about):
    """The labels of its ceilings, (height, text)."""
    for entry in entries:
        axes.plot(entry["flops_per_dof"] / entry["bytes_per_dof"],
                  entry["tflops_per_second"], linestyle="none", alpha=0.75,
                  **style.of(entry["precision"], entry["backend"]))
    intensities = [entry["flops_per_dof"] / entry["bytes_per_dof"] for entry in entries]
    left, right = min(intensities) / 3, max(intensities) * 8
    labels, slopes = [], []
    for machine in machines:
        units = sorted({entry["unit"] for entry in entries if entry["place"] == machine["place"]})
        peaks = {unit: machine["peaks_per_second"][unit] for unit in units
                 if unit in machine["peaks_per_second"]}
        if not peaks:
            continue
        line = {"color": "0.35", "linewidth": 1.0}
        corner = max(peaks.values()) / machine["bandwidth"]
        end = min(max(corner, left), right)
        axes.plot([left, end], [1e-12 * machine["bandwidth"] * x for x in (left, end)], **line)
        slopes.append(f"{machine['place']} {1e-9 * machine['bandwidth']:.0f} GB/s")
        for peak, names in levels(peaks.items()):
            begin = max(left, peak / machine["bandwidth"])
            if begin < right:
                axes.plot([begin, right], [1e-12 * peak] * 2, **line)
                labels.append((1e-12 * peak, f"{machine['place']}: {', '.join(n.replace('_', ' ') for n in names)}"))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(left, right)
    axes.set_xlabel("flop per byte (useful, by the work model)", fontsize=9)
    axes.set_ylabel("TFLOP/s")
    axes.set_title(f"roofline, {about}\nscale: {', '.join(slopes)}", fontsize=9)
    axes.grid(True, which="major", color="0.9", linewidth=0.6)
    return labels


def draw_legend(figure, entries, style):
    from matplotlib.lines import Line2D
    handles = [Line2D([], [], label=f"{backend}, {precision}", linewidth=1.2,
                      **style.of(precision, backend))
               for precision, backend in values(entries, "precision", "backend")]
    handles.append(Line2D([], [], color="0.4", linewidth=0.8, linestyle="--",
                          label="scale bandwidth"))
    legend_below(figure, handles, [handle.get_label() for handle in handles])


def figure_of(pyplot, comparison):
    entries, machines = comparison["entries"], comparison["machines"]
    bandwidths = {machine["place"]: machine["bandwidth"] for machine in machines}
    style = Style(entries)
    rows = values(entries, "dimension", "form")
    steps = values(entries, "step")
    figure, axes = pyplot.subplots(len(rows), len(steps) + 1, figsize=(3.9 * (len(steps) + 1), 3.6 * len(rows) + 0.4),
                                   squeeze=False)
    labels = []
    for (dimension, form), panels in zip(rows, axes):
        here = [entry for entry in entries
                if (entry["dimension"], entry["form"]) == (dimension, form)]
        for step, panel in zip(steps, panels):
            chosen = [entry for entry in here if entry["step"] == step]
            # On the scale of a device the lines of the host would lie on the axis.
            on_device = [entry for entry in chosen if entry["place"] == "device"]
            chosen = on_device or chosen
            if chosen:
                draw_throughput(panel, chosen, bandwidths, style,
                                f"{step}, {dimension}D, {form}\nabout {here[0]['dofs_wanted'] / 1e6:.3g} M DoF")
            else:
                panel.set_visible(False)
        labels.append(draw_roofline(panels[-1], here, machines, style, f"{dimension}D, {form}"))
    names = "; ".join(machine["name"] for machine in machines)
    figure.suptitle(f"{names}, {comparison.get('date', '')[:10]}", fontsize=10)
    figure.tight_layout()
    for panels, of_panel in zip(axes, labels):
        label_levels(panels[-1], of_panel)
    draw_legend(figure, entries, style)
    return figure


def main():
    parser = argparse.ArgumentParser(description="Plots the result of `tensormg compare`.")
    parser.add_argument("json", type=pathlib.Path, help="compare.json")
    parser.add_argument("--output", type=pathlib.Path, help="path of the plots without extension")
    arguments = parser.parse_args()
    comparison = read_comparison(arguments.json)
    try:
        pyplot = pyplot_without_screen()
    except ImportError:
        fail("matplotlib is missing: install python3-matplotlib", NO_MATPLOTLIB)
    write(figure_of(pyplot, comparison), arguments.output or arguments.json.with_suffix(""))


if __name__ == "__main__":
    main()
