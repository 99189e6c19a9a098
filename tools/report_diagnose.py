#!/usr/bin/env python3
"""Makes plots and one HTML page of diagnose.json, the result of `tensormg diagnose`.

Usage: report_diagnose.py DIAGNOSE_JSON [--output STEM]
Writes STEM.html, which holds everything, and STEM_NAME.png for each plot; the default stem is that of the
JSON file. Exit codes: 0 written, 1 the file cannot be used or the page not be written, 77 no matplotlib
(the page is written without plots).
"""

import argparse
import html
import io
import json
import math
import pathlib
import sys

REQUIRED = ("class", "problem", "kernel", "precision", "place", "outcome")
MARKS = "osD^vP*X<>"
NO_MATPLOTLIB = 77

STYLE = """
body { font: 15px/1.45 sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; margin: 0.6rem 0 1.4rem; font-size: 13px }
th, td { padding: 0.15rem 0.6rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap }
th { border-bottom: 1px solid #888; font-weight: 600 }
td.text, th.text { text-align: left } td.wide { white-space: normal; min-width: 22rem }
svg { max-width: 100%; height: auto }
.bad { color: #b00020; font-weight: 600 } .note { color: #666 }
"""


def fail(message, code=1):
    print(f"tensormg: report: {message}", file=sys.stderr)
    sys.exit(code)


def read_diagnosis(path):
    try:
        diagnosis = json.loads(path.read_text(encoding="utf-8"))
        for entry in diagnosis["entries"]:
            missing = [key for key in REQUIRED if key not in entry]
            if missing:
                fail(f"{path}: an entry has no {', '.join(missing)}")
        for machine in diagnosis["machines"]:
            machine["name"], machine["ceilings"], machine["stream"]
        diagnosis["classes"], diagnosis["accuracy"]
    except OSError as error:
        fail(f"{path}: {error.strerror}")
    except (KeyError, TypeError, ValueError) as error:
        fail(f"{path}: not the result of a diagnosis ({error})")
    return diagnosis


def measured(diagnosis, class_name=None):
    return [entry for entry in diagnosis["entries"] if entry["outcome"] == "measured"
            and class_name in (None, entry["class"])]


def distinct(values):
    return list(dict.fromkeys(values))


def name_of(entry):
    return f"{entry['kernel']}, {entry['precision']}"


def number(value):
    """Three digits, without an exponent where that is readable."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    if not math.isfinite(value) or abs(value) < 1e-4 or abs(value) >= 1e6:
        return f"{value:.2e}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


# Plots: each takes matplotlib's pyplot and the diagnosis, and gives a figure, or None without data.

def plot_roofline(pyplot, diagnosis):
    entries = [e for e in measured(diagnosis) if e["flops"] > 0]
    if not entries:
        return None
    figure, axes = pyplot.subplots(figsize=(9, 5.5))
    intensities = [e["intensity_flops_per_byte"] for e in entries]
    left, right = min(intensities) / 3, max(max(intensities), 32) * 3
    for machine in diagnosis["machines"]:
        bandwidth = machine["scale_bandwidth_gb_per_s"]
        units = [c for c in machine["ceilings"] if c["counted"] == "flops"]
        top = max(c["rate_per_second"] for c in units) * 1e-9
        axes.plot([left, top / bandwidth], [left * bandwidth, top], color="0.3", linewidth=1)
        axes.annotate(f"{machine['place']}: scale {bandwidth:.0f} GB/s", (left, left * bandwidth),
                      xytext=(14, 0), textcoords="offset points", fontsize=8, color="0.3")
        for unit in units:
            rate = unit["rate_per_second"] * 1e-9
            axes.plot([min(rate / bandwidth, right), right], [rate, rate], color="0.3", linewidth=1)
            axes.annotate(f"{machine['place']} {unit['name']}", (right, rate), xytext=(-2, 2),
                          textcoords="offset points", fontsize=8, color="0.3", ha="right")
    for c, class_name in enumerate(distinct(e["class"] for e in entries)):
        chosen = [e for e in entries if e["class"] == class_name]
        for k, kernel in enumerate(distinct(name_of(e) for e in chosen)):
            points = [e for e in chosen if name_of(e) == kernel]
            axes.plot([e["intensity_flops_per_byte"] for e in points],
                      [e["gflops_per_second"] for e in points], linestyle="none", color=f"C{c}",
                      marker=MARKS[k % len(MARKS)], markersize=5, alpha=0.8,
                      label=f"{class_name}: {kernel}")
    axes.set(xscale="log", yscale="log", xlim=(left, right), ylabel="useful GFLOP/s",
             xlabel="useful flop per compulsory byte")
    axes.grid(True, which="major", color="0.9", linewidth=0.6)
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def plot_bandwidth(pyplot, diagnosis):
    samples = [(m, s) for m in diagnosis["machines"] for s in m["stream"]]
    if not samples:
        return None
    figure, axes = pyplot.subplots(figsize=(9, 4.5))
    keys = distinct((m["place"], s["operation"], s["past_caches"]) for m, s in samples)
    for place, operation, past in keys:
        line = [s for m, s in samples
                if (m["place"], s["operation"], s["past_caches"]) == (place, operation, past)]
        axes.plot([s["bytes"] * 1e-6 for s in line], [s["gb_per_second"] for s in line], marker=".",
                  linestyle="--" if past else "-", linewidth=1.2,
                  label=f"{place}: {operation}{', past caches' if past else ''}")
    for k, kernel in enumerate(distinct(name_of(e) for e in measured(diagnosis, "scale"))):
        line = [e for e in measured(diagnosis, "scale") if name_of(e) == kernel]
        axes.plot([e["working_set_bytes"] * 1e-6 for e in line], [e["gb_per_second"] for e in line],
                  linestyle="none", marker=MARKS[k % len(MARKS)], markerfacecolor="none", color="0.2",
                  label=f"class scale: {kernel}")
    axes.set(xscale="log", yscale="log", xlabel="working set in MB, all arrays together",
             ylabel="GB/s")
    axes.grid(True, which="both", color="0.92", linewidth=0.6)
    axes.legend(fontsize=7, ncol=2, frameon=False)
    return figure


def plot_gain(pyplot, diagnosis):
    entries = [e for e in measured(diagnosis) if e.get("gain")]
    if not entries:
        return None
    figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.22 * len(entries)))
    places = range(len(entries))[::-1]
    axes.barh(places, [e["gain"]["measured"] for e in entries], height=0.6, color="C0", alpha=0.75,
              label="measured")
    with_alpha = [(y, e) for y, e in zip(places, entries) if e["gain"]["alpha"] != 1]
    if with_alpha:
        axes.plot([e["gain"]["bound_unoverlapped"] for _, e in with_alpha],
                  [y for y, _ in with_alpha], "k|", markersize=11,
                  label="un-overlapped bound 1 + (α-1)/(1 + αB/I)")
    axes.axvline(1, color="0.4", linewidth=0.8)
    axes.set_yticks(list(places), [f"{e['class']} {e['problem']}: {name_of(e)} / {e['gain']['twin']}"
                                   for e in entries], fontsize=7)
    axes.set(xlabel="time of the twin / own time")
    axes.legend(fontsize=8, frameon=False, loc="lower right")
    return figure


def plot_class(pyplot, diagnosis, class_name):
    """Part of the overlapped prediction, by problem and kernel."""
    entries = measured(diagnosis, class_name)
    if not entries:
        return None
    problems = distinct(e["problem"] for e in entries)
    kernels = distinct(name_of(e) for e in entries)
    figure, axes = pyplot.subplots(figsize=(9, 1.4 + len(problems) * (0.1 + 0.13 * len(kernels))))
    height = 0.8 / len(kernels)
    for k, kernel in enumerate(kernels):
        rows = [(len(problems) - 1 - problems.index(e["problem"]) + 0.4 - height * (k + 0.5),
                 100 * e["predicted_overlapped_ms"] / e["milliseconds"])
                for e in entries if name_of(e) == kernel]
        axes.barh([y for y, _ in rows], [x for _, x in rows], height=0.9 * height, label=kernel)
    axes.axvline(100, color="0.3", linewidth=0.8)
    axes.set_yticks(range(len(problems)), problems[::-1], fontsize=7)
    axes.set(xlabel="% of what theory (overlapped) allows")
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def plot_accuracy(pyplot, diagnosis):
    rows = diagnosis["accuracy"]
    if not rows:
        return None
    ranges = distinct(r["range"] for r in rows)
    methods = distinct(r["method"] for r in rows)
    figure, panels = pyplot.subplots(1, len(ranges), figsize=(3.4 * len(ranges) + 1.6, 4.2),
                                     sharey=True, squeeze=False)
    for axes, entries_range in zip(panels[0], ranges):
        for m, method in enumerate(methods):
            line = [r for r in rows if (r["method"], r["range"]) == (method, entries_range)
                    and r["error"] is not None and r["error"] > 0]
            axes.plot([r["length"] for r in line], [r["error"] for r in line], linewidth=1.2,
                      color=f"C{m % 10}", marker=MARKS[m % len(MARKS)], markersize=4, label=method)
        axes.set(xscale="log", yscale="log", xlabel="length of the sums")
        axes.set_title(f"entries {entries_range}", fontsize=9)
        axes.grid(True, which="major", color="0.9", linewidth=0.6)
    panels[0][0].set_ylabel("largest error relative to |A| |B|")
    panels[0][-1].legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def rates(sweep, key):
    """TFLOP/s of all samples by the milliseconds that have this name."""
    return [2e-9 * sweep["m"] * sweep["k"] * s["n"] / s[key] if s[key] else math.nan
            for s in sweep["samples"]]


def plot_quantisation(pyplot, diagnosis):
    """Rates by n: the staircase that tiles and waves predict, and what was measured."""
    sweeps = diagnosis.get("quantisation")
    if not sweeps:
        return None
    figure, panels = pyplot.subplots(1, len(sweeps), figsize=(5 * len(sweeps), 3.6), squeeze=False)
    for axes, sweep in zip(panels[0], sweeps):
        columns = [s["n"] for s in sweep["samples"]]
        axes.plot(columns, rates(sweep, "predicted_ms"), "k_", markersize=14, label="predicted by waves")
        axes.plot(columns, rates(sweep, "milliseconds"), "o", markersize=5,
                  label=sweep["kernel"])
        axes.plot(columns, rates(sweep, "library_milliseconds"), "x", markersize=5,
                  label="cublas")
        axes.set(xlabel="n", ylabel="useful TFLOP/s", ylim=(0, None))
        axes.set_title(f"{sweep['kernel']}: m = {sweep['m']}, k = {sweep['k']}, tiles of "
                       f"{sweep['tile_m']} x {sweep['tile_n']}, {sweep['blocks_at_once']} at once",
                       fontsize=8)
        axes.legend(fontsize=7, frameon=False, loc="lower right")
    return figure


# The page.

def cell(value, kind=""):
    return f'<td class="{kind}">{html.escape(str(value))}</td>' if kind else f"<td>{html.escape(str(value))}</td>"


def table(titles, rows, text=1, wide=()):
    """The first `text` columns are words, and those of `wide`, which may wrap."""
    kinds = ["text" if c < text else "text wide" if c in wide else "" for c in range(len(titles))]
    head = "".join(f'<th class="{k.split()[0] if k else ""}">{html.escape(t)}</th>'
                   for t, k in zip(titles, kinds))
    body = "".join("<tr>" + "".join(cell(v, k) for v, k in zip(row, kinds)) + "</tr>\n"
                   for row in rows)
    return f"<table><tr>{head}</tr>\n{body}</table>\n"


def machines_part(diagnosis):
    parts = ["<h2>Machines and their ceilings</h2>\n"]
    for machine in diagnosis["machines"]:
        parts.append(f"<h3>{html.escape(machine['place'])}: {html.escape(machine['name'])}</h3>\n"
                     f"<p>{html.escape(machine['detail'])}; scale bandwidth of memory "
                     f"{number(machine['scale_bandwidth_gb_per_s'])} GB/s.</p>\n")
        rows = [(c["name"], f"{number(1e-9 * c['rate_per_second'])} G{c['counted']}/s",
                 number(c["balance_flops_per_byte"]) if c["counted"] == "flops" else "",
                 number(c["alpha"]), number(c["memory_bound_limit"])) for c in machine["ceilings"]]
        parts.append(table(("unit", "rate", "machine balance (flop/byte)", "α over the plain unit",
                            "limit 2-2/(1+α) if memory-bound"), rows))
    if diagnosis.get("no_device"):
        parts.append(f"<p>No device: {html.escape(diagnosis['no_device'])}. Nothing here says anything "
                     "about tensor cores.</p>\n")
    return "".join(parts)


def class_part(diagnosis, row, plots):
    name = row["name"]
    parts = [f"<h2>{html.escape(name)}</h2>\n<p>{html.escape(row['about'])}.</p>\n"]
    if not row["exists"]:
        parts.append('<p class="bad">No kernel of this class exists in this version: nothing was '
                     "measured, nothing passed.</p>\n")
    elif row["not_written_yet"]:
        parts.append(f'<p class="bad">Not written yet: {html.escape(row["not_written_yet"])}.</p>\n')
    parts.append(plots.get(name, ""))
    entries = [e for e in diagnosis["entries"] if e["class"] == name]
    rows = [(e["problem"], name_of(e), e["place"], number(e["error"]), number(e["milliseconds"]),
             number(e["gb_per_second"]), number(e["percent_of_scale"]), number(e["gflops_per_second"]),
             number(e["percent_of_peak"]), number(e["predicted_overlapped_ms"]),
             number(e["predicted_unoverlapped_ms"]), e["verdict"] + "".join(
                 f"; {f['name']} {number(f['value'])} {f['unit']}" for f in e["figures"]))
            for e in entries if e["outcome"] == "measured"]
    if rows:
        parts.append(table(("problem", "kernel", "place", "error", "ms", "GB/s", "% of scale",
                            "GFLOP/s", "% of unit", "ms overlapped", "ms un-overlapped", "verdict"),
                           rows, text=3, wide=(11,)))
    rest = [(e["problem"], name_of(e), e["outcome"].upper() if e["outcome"] == "failed"
             else e["outcome"], e["reason"]) for e in entries if e["outcome"] != "measured"]
    if rest:
        parts.append(table(("problem", "kernel", "outcome", "reason"), rest, text=4, wide=(3,)))
    for sweep in diagnosis.get("quantisation", []) if name == "gemm" else []:
        rows = [(f"{s['from_n']} to {s['to_n']}", f"{s['from_waves']} to {s['to_waves']}",
                 number(s["predicted"]), number(s["measured"])) for s in sweep["steps"]]
        parts.append(f"<h3>Quantisation of {html.escape(sweep['kernel'])}</h3>\n"
                     + table(("n", "waves", "times as long: predicted", "measured"), rows))
    if name == "precision" and diagnosis["accuracy"]:
        rows = [(r["method"], r["range"], r["length"], number(r["error"]), number(r["bound"]),
                 "ABOVE ITS BOUND" if r.get("wrong") else r["remark"]) for r in diagnosis["accuracy"]]
        parts.append(table(("method", "entries", "length", "error", "a-priori bound", "remark"), rows,
                           text=2, wide=(5,)))
    if name == "precision":
        parts.append(units_tables(diagnosis))
    return "".join(parts)


def units_tables(diagnosis):
    """What the adders of the device do, and the kernels of cuBLAS."""
    def word(value, yes, no, unknown="-"):
        return unknown if value is None else yes if value else no

    parts = []
    if diagnosis.get("adders"):
        rows = [(a["unit"], a["rounding"], a["extra_bits"],
                 f"{a['block']}{' or more' if a['block_is_whole'] else ''}",
                 word(a["keeps_subnormal_factors"], "kept", "zero"),
                 word(a["keeps_subnormal_sums"], "kept", "zero"),
                 word(a["overflow_is_infinite"], "infinite", "finite")) for a in diagnosis["adders"]]
        parts.append("<h3>Adders</h3>\n" + table(
            ("unit", "sums are rounded", "extra bits", "products at once", "subnormal factors",
             "subnormal sums", "overflow"), rows, text=2))
    if diagnosis.get("library_products"):
        rows = [(p["type"], p["size"], p["alignment"],
                 word(p["on_tensor_cores"], "yes", "no", "unknown"),
                 ", ".join(p["kernels"]) or p["reason"]) for p in diagnosis["library_products"]]
        parts.append("<h3>Kernels of cuBLAS</h3>\n" + table(
            ("type", "size", "rows begin at", "tensor cores", "kernels"), rows, text=5, wide=(4,)))
    return "".join(parts)


def page(diagnosis, plots):
    failed = (sum(e["outcome"] == "failed" for e in diagnosis["entries"])
              + sum(r.get("wrong", False) for r in diagnosis["accuracy"]))
    head = (f"<p>{html.escape(diagnosis.get('date', ''))}, version "
            f"{html.escape(diagnosis.get('version', ''))} ({html.escape(diagnosis.get('git', ''))}), "
            f"<code>{html.escape(diagnosis.get('command', ''))}</code></p>\n")
    if failed:
        head += f'<p class="bad">{failed} kernels gave wrong results and were not timed.</p>\n'
    names = ("roofline", "gain", "bandwidth", "quantisation")
    return ("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>tensormg diagnose"
            f"</title>\n<style>{STYLE}</style></head><body>\n<h1>What kernels gain from tensor cores"
            f"</h1>\n{head}" + machines_part(diagnosis) + "".join(plots.get(n, "") for n in names)
            + "".join(class_part(diagnosis, row, plots) for row in diagnosis["classes"])
            + "</body></html>\n")


def draw(diagnosis, stem):
    """The plots as SVG for the page, by name; each is also written as a PNG file."""
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "tensormg"  # the same data gives the same page
    from matplotlib import pyplot
    figures = {"roofline": plot_roofline(pyplot, diagnosis), "gain": plot_gain(pyplot, diagnosis),
               "bandwidth": plot_bandwidth(pyplot, diagnosis),
               "quantisation": plot_quantisation(pyplot, diagnosis)}
    for row in diagnosis["classes"]:
        figures[row["name"]] = (plot_accuracy(pyplot, diagnosis) if row["name"] == "precision"
                                else plot_class(pyplot, diagnosis, row["name"]))
    plots = {}
    for name, figure in figures.items():
        if figure is None:
            continue
        figure.savefig(stem.with_name(f"{stem.name}_{name}.png"), dpi=130, bbox_inches="tight")
        text = io.StringIO()
        figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None})
        svg = text.getvalue()
        plots[name] = f"<p>{svg[svg.index('<svg'):]}</p>\n"
        pyplot.close(figure)
    return plots


def main():
    parser = argparse.ArgumentParser(description="Makes a page of the result of `tensormg diagnose`.")
    parser.add_argument("json", type=pathlib.Path, help="diagnose.json")
    parser.add_argument("--output", type=pathlib.Path, help="path of the page without extension")
    arguments = parser.parse_args()
    diagnosis = read_diagnosis(arguments.json)
    stem = arguments.output or arguments.json.with_suffix("")
    target = stem.with_name(f"{stem.name}.html")
    code, plots = 0, {}
    try:
        try:
            plots = draw(diagnosis, stem)
        except ImportError:
            code = NO_MATPLOTLIB
        target.write_text(page(diagnosis, plots), encoding="utf-8")
    except OSError as error:
        fail(f"{target}: {error.strerror}")
    print(f"tensormg: wrote {target}", file=sys.stderr)
    if code:
        fail("matplotlib is missing, the page has no plots: install python3-matplotlib", code)


if __name__ == "__main__":
    main()
