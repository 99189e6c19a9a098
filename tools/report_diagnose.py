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
import itertools
import json
import math
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # nothing is left beside the scripts
from diagnose_plots import figures_of, gains_by_kernel, geometric_mean, name_of
from plotting import NO_MATPLOTLIB, distinct, pyplot_without_screen
import plotting

REQUIRED = ("class", "problem", "kernel", "precision", "place", "outcome")
BUSY_FROM = 80.0  # percent, as kernels/diagnostics/counters/counters.h has it
HOLDS_FROM, TARGET = 0.8, 0.9  # of the time, as apps/diagnose/diagnose.h has them

STYLE = """
body { font: 15px/1.45 sans-serif; max-width: 1240px; margin: 2rem auto; padding: 0 1rem; color: #222 }
.scroll { overflow-x: auto; max-width: 100% }
nav ul { columns: 3; padding-left: 1.2rem }
table { border-collapse: collapse; margin: 0.6rem 0 1.4rem; font-size: 13px }
th, td { padding: 0.15rem 0.6rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap }
th { border-bottom: 1px solid #888; font-weight: 600 }
th { white-space: normal; vertical-align: bottom }
td.text, th.text { text-align: left; white-space: normal; overflow-wrap: break-word; max-width: 16rem }
tr.above td { border-bottom: none }
tr.below td { text-align: left; white-space: normal; color: #555; padding-left: 2rem; overflow-wrap: anywhere }
td.wide { min-width: 15rem; max-width: none }
.bad { color: #b00020; font-weight: 600 } .note { color: #666 }
"""


def fail(message, code=1):
    plotting.fail(message, code, "report")


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


def number(value):
    """Three digits, without an exponent where that is readable."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    if not math.isfinite(value) or abs(value) < 1e-4 or abs(value) >= 1e6:
        return f"{value:.2e}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


# The page.

def cell(value, kind=""):
    return f'<td class="{kind}">{html.escape(str(value))}</td>' if kind else f"<td>{html.escape(str(value))}</td>"


def table(titles, rows, text=1, wide=(), below=()):
    """The first `text` columns are words, and those of `wide`. Of each row, a text below it across all columns."""
    kinds = ["text" if c < text else "text wide" if c in wide else "" for c in range(len(titles))]
    head = "".join(f'<th class="{k.split()[0] if k else ""}">{html.escape(t)}</th>'
                   for t, k in zip(titles, kinds))
    body = "".join(('<tr class="above">' if note else "<tr>") + "".join(cell(v, k) for v, k in zip(row, kinds)) + "</tr>\n"
                   + (f'<tr class="below"><td colspan="{len(titles)}">{html.escape(note)}</td></tr>\n' if note else "")
                   for row, note in itertools.zip_longest(rows, below))
    return f'<div class="scroll"><table><tr>{head}</tr>\n{body}</table></div>\n'


def gain_words(rows):
    """What the kernels on a faster unit than their twin say together."""
    mean = geometric_mean([r["mean"] for r in rows])
    best = max(rows, key=lambda r: r["mean"])
    word = "gains" if mean >= 1.05 else "loses" if mean <= 0.95 else "neither gains nor loses"
    return (f"{word}: {number(mean)} times as fast as on the slower unit in the geometric mean of {len(rows)} "
            f"kernels (theory, un-overlapped: {number(geometric_mean([r['bound'] for r in rows]))}); best "
            f"{best['kernel']}, {best['precision']}, {number(best['mean'])} ({number(best['least'])} to "
            f"{number(best['most'])})")


def answer_part(diagnosis):
    """Which classes gain from the faster unit, then every kernel over all its problems."""
    rows = gains_by_kernel(diagnosis)
    if not rows:
        return ""
    parts = ["<h2>The answer</h2>\n"]
    classes = [(name, [r for r in rows if r["class"] == name and r["faster_unit"]])
               for name in distinct(r["class"] for r in rows)]
    if any(chosen for _, chosen in classes):
        parts.append("<ul>\n" + "".join(
            f"<li><b>{html.escape(name)}</b> {html.escape(gain_words(chosen))}</li>\n"
            for name, chosen in classes if chosen) + "</ul>\n")
    parts.append(table(
        ("class", "kernel", "compared with", "problems", "times as fast", "least", "most",
         "un-overlapped bound", "% of theory"),
        [(r["class"], f"{r['kernel']}, {r['precision']}", r["twin"], r["problems"], number(r["mean"]),
          number(r["least"]), number(r["most"]), number(r["bound"]), number(r["reach"])) for r in rows],
        text=3))
    parts.append('<p class="note">Geometric means over the problems, from those in the cache to those in memory; '
                 "single problems are in the tables of the classes.</p>\n")
    return "".join(parts)


def explained_part(entry):
    """The part of the time that the tightest bound explains, at the clock that the kernel ran at."""
    return entry.get("predicted_at_clock_ms", entry["predicted_overlapped_ms"]) / entry["milliseconds"]


def bound_by_theory(entry):
    """Its name; None if none holds. Files of before say `bound_holds` of other bounds than the clock only."""
    if entry["bound_holds"]:
        return entry["bound"]
    return "clock" if explained_part(entry) >= HOLDS_FROM else None


def bound_of(entry):
    """What bounds a kernel on a device: theory, or what the counters found."""
    bound = bound_by_theory(entry)
    return f"{bound} (theory)" if bound else finding_of(entry)


def finding_of(entry):
    """A part that the hardware's counters saw busy, or what the warps waited for."""
    counters = entry.get("counters")
    if not counters or not counters["units"]:
        return "not counted"
    part, percent = max(counters["units"].items(), key=lambda unit: unit[1])
    if percent >= BUSY_FROM:
        return f"{part} (counters)"
    return max(counters["time_of_warps"].items(), key=lambda wait: wait[1], default=("unknown",))[0]


def bounds_part(diagnosis):
    """Number of kernels and problems by class and bound."""
    entries = [e for e in diagnosis["entries"] if e["outcome"] == "measured" and e["place"] == "device"]
    if not any(e.get("counters") for e in entries):
        return f"<p>No hardware counters: {html.escape(diagnosis['no_counters'])}.</p>\n" if diagnosis.get("no_counters") else ""
    below = [e for e in entries if bound_by_theory(e) and explained_part(e) < TARGET and e.get("counters")]
    text = ("<h2>What bounds them</h2>\n" + numbers_by_class((e["class"], bound_of(e)) for e in entries)
            + '<p class="note">Kernels and problems on the device, by number: theory explains 80 % of the time; or a part of the '
            "device was busy to 80 % (hardware counters); or neither, then what takes most of the time of the warps.</p>\n")
    if below:
        text += (numbers_by_class((e["class"], f"{bound_by_theory(e)}: {finding_of(e)}") for e in below)
                 + '<p class="note">Of these, where theory explains 80 to 90 % of the time: its bound, and what the counters '
                 "say.</p>\n")
    return text


def numbers_by_class(pairs):
    """A table of how often each pair of class and word occurs: words down, the most frequent first."""
    pairs = list(pairs)
    words = sorted(distinct(word for _, word in pairs), key=lambda w: -sum(other == w for _, other in pairs))
    names = distinct(name for name, _ in pairs)
    return table(("bound", *names), [(word, *(pairs.count((name, word)) or "" for name in names)) for word in words])


def caches_part(samples):
    """GB/s by cache and operation, columns are working sets."""
    if not samples:
        return ""
    sizes = sorted({s["bytes"] for s in samples})
    names = list(dict.fromkeys((s["cache"], s["operation"]) for s in samples))
    rates = {(s["cache"], s["operation"], s["bytes"]): s["gb_per_second"] for s in samples}
    rows = [(cache, operation, *(number(rates.get((cache, operation, size))) for size in sizes))
            for cache, operation in names]
    return "<p>Bandwidth of the caches in GB/s, many passes in one launch, by working set in MB.</p>\n" + table(
        ("cache", "operation", *(number(1e-6 * size) for size in sizes)), rows)


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
        parts.append(caches_part(machine.get("caches", [])))
    if not diagnosis.get("complete", True):
        parts.append("<p>The run was stopped before its end: what follows is what was known by then.</p>\n")
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
             number(e["gb_per_second"]), number(e["percent_of_scale"]),
             number(e.get("percent_of_theoretical_bandwidth")), number(e["gflops_per_second"]),
             number(e["percent_of_peak"]), number(e["predicted_overlapped_ms"]),
             number(e["predicted_unoverlapped_ms"])) for e in entries if e["outcome"] == "measured"]
    verdicts = [e["verdict"] + "".join(f"; {f['name']} {number(f['value'])} {f['unit']}" for f in e["figures"])
                + "".join(f"; runs {kernel}" for kernel in e.get("library_kernels", []))
                for e in entries if e["outcome"] == "measured"]
    if rows:
        parts.append(table(("problem", "kernel", "place", "error", "ms", "GB/s", "% of scale",
                            "% of clock and bus", "GFLOP/s", "% of unit", "ms overlapped",
                            "ms un-overlapped"), rows, text=3, below=verdicts))
    rest = [(e["problem"], name_of(e), e["outcome"].upper() if e["outcome"] == "failed"
             else e["outcome"], e["reason"]) for e in entries if e["outcome"] != "measured"]
    if rest:
        parts.append(table(("problem", "kernel", "outcome", "reason"), rest, text=4, wide=(3,)))
    if name == "spmv":
        parts.append(library_part(diagnosis.get("csr_against_library")))
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


def library_part(comparisons):
    """csr_merge against the fastest algorithm of cuSPARSE: matrices down, precisions across."""
    if not comparisons:
        return ""
    matrices = [{m["problem"]: f"{number(m['quotient'])} ({m['algorithm'].removeprefix('cusparse_')})" for m in c["matrices"]}
                for c in comparisons]
    rows = [(problem, *(column.get(problem, "") for column in matrices))
            for problem in distinct(problem for column in matrices for problem in column)]
    rows.append(("geometric mean", *(number(c["geometric_mean"]) for c in comparisons)))
    return ("<h3>csr_merge against cuSPARSE</h3>\n" + table(("matrix", *(c["precision"] for c in comparisons)), rows)
            + '<p class="note">Time of the fastest algorithm of cuSPARSE for compressed rows, which is named, over that of '
            "csr_merge, on matrices beyond the caches.</p>\n")


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


def has_device(diagnosis):
    return any(machine["place"] == "device" for machine in diagnosis["machines"])


def warnings_part(diagnosis):
    """What a reader must know before any number."""
    text = ""
    if not has_device(diagnosis):
        reason = diagnosis.get("no_device") or "none was measured"
        text += (f'<p class="bad">No device: {html.escape(reason)}. Nothing here says anything about tensor cores.</p>\n')
    for machine in diagnosis["machines"]:
        for remark in machine.get("remarks", []):
            text += f'<p class="bad">Uncertain: {html.escape(remark)}.</p>\n'
    return text


def with_contents(body):
    """The body below a list of its headings, which lead to them."""
    names = re.findall("<h2>(.*?)</h2>", body)
    for n, name in enumerate(names):
        body = body.replace(f"<h2>{name}</h2>", f'<h2 id="part{n}">{name}</h2>', 1)
    return ("<nav><p>Contents</p><ul>\n" + "".join(f'<li><a href="#part{n}">{name}</a></li>\n' for n, name in enumerate(names))
            + "</ul></nav>\n" + body)


def page(diagnosis, plots):
    failed = (sum(e["outcome"] == "failed" for e in diagnosis["entries"])
              + sum(r.get("wrong", False) for r in diagnosis["accuracy"]))
    head = (f"<p>{html.escape(diagnosis.get('date', ''))}, version "
            f"{html.escape(diagnosis.get('version', ''))} ({html.escape(diagnosis.get('git', ''))}), "
            f"<code>{html.escape(diagnosis.get('command', ''))}</code></p>\n")
    head += warnings_part(diagnosis)
    if failed:
        head += f'<p class="bad">{failed} kernels gave wrong results and were not timed.</p>\n'
    names = ("roofline", "gain", "bandwidth", "quantisation")
    title = ("What kernels gain from tensor cores" if has_device(diagnosis)
             else "What kernels reach on this machine, without tensor cores")
    body = (answer_part(diagnosis) + bounds_part(diagnosis) + machines_part(diagnosis)
            + "".join(plots.get(n, "") for n in names)
            + "".join(class_part(diagnosis, row, plots) for row in diagnosis["classes"]))
    return ("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>tensormg diagnose"
            f"</title>\n<style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n{head}{with_contents(body)}</body></html>\n")


def draw(diagnosis, stem):
    """The plots as SVG for the page, by name; each is also written as a PNG file."""
    pyplot = pyplot_without_screen()
    plots = {}
    for name, figure in figures_of(pyplot, diagnosis).items():
        if figure is None:
            continue
        figure.savefig(stem.with_name(f"{stem.name}_{name}.png"), dpi=130, bbox_inches="tight")
        text = io.StringIO()
        figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None})
        svg = text.getvalue()
        plots[name] = f'<div class="scroll">{svg[svg.index("<svg"):]}</div>\n'
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
