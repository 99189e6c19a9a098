"""The plots of tools/report_diagnose.py, and what they and its page count over the entries of a diagnosis."""

import math

from plotting import distinct, label_levels, levels, plain_ticks

MARKS = "osD^vP*X<>"


def measured(diagnosis, class_name=None):
    return [entry for entry in diagnosis["entries"] if entry["outcome"] == "measured"
            and class_name in (None, entry["class"])]


def name_of(entry):
    return ", ".join(filter(None, (entry["kernel"], entry["precision"])))


# Plots: each takes matplotlib's pyplot and the diagnosis, and gives a figure, or None without data.

def plot_roofline(pyplot, diagnosis):
    entries = [e for e in measured(diagnosis) if e["flops"] > 0]
    if not entries:
        return None
    figure, axes = pyplot.subplots(figsize=(9, 5.5))
    intensities = [e["intensity_flops_per_byte"] for e in entries]
    left, right = min(intensities) / 3, max(max(intensities), 32) * 3
    labels, slopes = [], []
    for machine in diagnosis["machines"]:
        bandwidth = machine["scale_bandwidth_gb_per_s"]
        units = [c for c in machine["ceilings"] if c["counted"] == "flops"]
        top = max(c["rate_per_second"] for c in units) * 1e-9
        axes.plot([left, top / bandwidth], [left * bandwidth, top], color="0.3", linewidth=1)
        slopes.append(f"{machine['place']} {bandwidth:.0f} GB/s")
        found = levels((c["name"], c["rate_per_second"] * 1e-9) for c in units)
        for rate, _ in found:
            axes.plot([min(rate / bandwidth, right), right], [rate, rate], color="0.3", linewidth=1)
        labels += [(rate, f"{machine['place']}: {', '.join(names)}") for rate, names in found]
    # Every entry is in a table of the page; here a class is one kind of mark, the fastest of each problem is filled.
    for c, class_name in enumerate(distinct(e["class"] for e in entries)):
        best = {}
        for e in entries:
            if e["class"] == class_name:
                key = (e["problem"], e["precision"], e["place"])
                best[key] = min(best.get(key, e), e, key=lambda x: x["milliseconds"])
        for fastest in (False, True):
            points = [e for e in entries if e["class"] == class_name and fastest ==
                      (e is best[e["problem"], e["precision"], e["place"]])]
            axes.plot([e["intensity_flops_per_byte"] for e in points],
                      [e["gflops_per_second"] for e in points], linestyle="none", color=f"C{c}",
                      marker=MARKS[c % len(MARKS)], markersize=5 if fastest else 3.5,
                      markerfacecolor=f"C{c}" if fastest else "none", alpha=0.9 if fastest else 0.45,
                      label=f"{class_name}{', fastest of its problem' if fastest else ', others'}")
    axes.set(xscale="log", yscale="log", xlim=(left, right), ylabel="useful GFLOP/s",
             xlabel="useful flop per compulsory byte")
    axes.set_title("scale: " + ", ".join(slopes), fontsize=9)
    label_levels(axes, labels)
    axes.grid(True, which="major", color="0.9", linewidth=0.6)
    axes.legend(fontsize=8, frameon=False, loc="upper center", ncol=3, bbox_to_anchor=(0.5, -0.12))
    for axis in (axes.xaxis, axes.yaxis):
        plain_ticks(axis)
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
    axes.legend(fontsize=8, ncol=3, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14))
    for axis in (axes.xaxis, axes.yaxis):
        plain_ticks(axis)
    return figure


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def gains_by_kernel(diagnosis):
    """One dict per kernel with a twin, over its problems, in the order of the entries."""
    groups = {}
    for e in measured(diagnosis):
        if e.get("gain"):
            twin = " or ".join(e["gain"].get("fastest_of", [e["gain"]["twin"]]))
            groups.setdefault((e["class"], e["kernel"], e["precision"], e["place"], twin), []).append(e)
    rows = []
    for (class_name, kernel, precision, place, twin), entries in groups.items():
        gains = [e["gain"]["measured"] for e in entries]
        # Rates are measured: two units of one speed differ by less than this.
        faster_unit = all(e["gain"]["alpha"] > 1.05 for e in entries)
        rows.append({
            "class": class_name, "kernel": kernel, "precision": precision, "place": place, "twin": twin,
            "problems": len(entries), "mean": geometric_mean(gains), "least": min(gains),
            "most": max(gains), "faster_unit": faster_unit,
            "bound": geometric_mean([e["gain"]["bound_unoverlapped"] for e in entries])
                     if faster_unit else None,
            "reach": geometric_mean([100 * e["predicted_overlapped_ms"] / e["milliseconds"]
                                     for e in entries])})
    return rows


def plot_gain(pyplot, diagnosis):
    """Geometric means over the problems, and the range."""
    rows = gains_by_kernel(diagnosis)
    if not rows:
        return None
    figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.2 * len(rows)))
    places = list(range(len(rows)))[::-1]
    axes.barh(places, [r["mean"] for r in rows], height=0.6, alpha=0.75,
              color=["C0" if r["faster_unit"] else "0.7" for r in rows])
    axes.hlines(places, [r["least"] for r in rows], [r["most"] for r in rows], color="0.2", linewidth=1)
    bounded = [(y, r) for y, r in zip(places, rows) if r["bound"] is not None]
    if bounded:
        axes.plot([r["bound"] for _, r in bounded], [y for y, _ in bounded], "k|", markersize=10,
                  label="un-overlapped bound 1 + (α-1)/(1 + αB/I), geometric mean")
        axes.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -2 / len(rows)))
    axes.axvline(1, color="0.4", linewidth=0.8)
    axes.set_xscale("log")
    plain_ticks(axes.xaxis)
    axes.set_yticks(places, [f"{r['class']}: {r['kernel']}, {r['precision']} / {r['twin']} ({r['problems']})"
                             for r in rows], fontsize=7)
    axes.set(ylim=(-1, len(rows)))
    axes.set_title("time of the twin / own time: mean and range over the problems (their number);\n"
                   "blue: on a faster unit than the twin", fontsize=9)
    return figure


def plot_class(pyplot, diagnosis, class_name):
    """Part of the overlapped prediction: problems down, kernels across."""
    entries = measured(diagnosis, class_name)
    if not entries:
        return None
    places = distinct(e["place"] for e in entries)

    def label(e):
        return name_of(e) + (f" ({e['place']})" if len(places) > 1 else "")

    problems, kernels = distinct(e["problem"] for e in entries), distinct(label(e) for e in entries)
    reached = [[math.nan] * len(kernels) for _ in problems]
    for e in entries:
        reached[problems.index(e["problem"])][kernels.index(label(e))] = (
            100 * e["predicted_overlapped_ms"] / e["milliseconds"])
    column = min(0.42, max(0.25, 9 / len(kernels)))  # inches; many of them as narrow as their numbers allow, to fit on the page
    figure, axes = pyplot.subplots(figsize=(2.5 + column * len(kernels), 1.6 + 0.2 * len(problems)))
    colours = axes.imshow(reached, aspect="auto", cmap="viridis", vmin=0, vmax=100)
    for y, row in enumerate(reached):
        for x, part in enumerate(row):
            if not math.isnan(part):
                axes.text(x, y, f"{part:.0f}", ha="center", va="center", fontsize=7,
                          color="white" if part < 60 else "black")
    axes.set_xticks(range(len(kernels)), kernels, rotation=60, ha="left", rotation_mode="anchor", fontsize=7)
    axes.xaxis.tick_top()
    axes.set_yticks(range(len(problems)), problems, fontsize=7)
    figure.colorbar(colours, fraction=0.03, pad=0.01)
    # Below, where there is room for it however small the plot is.
    axes.set_xlabel("% of what theory (overlapped) allows", fontsize=9)
    return figure


def plot_accuracy(pyplot, diagnosis):
    rows = diagnosis["accuracy"]
    if not rows:
        return None
    ranges = distinct(r["range"] for r in rows)
    methods = distinct(r["method"] for r in rows)
    # What a unit of the device gives is dashed, in the colour of its model.
    models = distinct(method.removesuffix(", device") for method in methods)
    across = min(2, len(ranges))
    down = -(-len(ranges) // across)
    figure, panels = pyplot.subplots(down, across, figsize=(9, 1 + 3.4 * down), sharex=True, sharey=True,
                                     squeeze=False, layout="constrained")
    for axes in panels.flat[len(ranges):]:
        axes.set_visible(False)
    for axes, entries_range in zip(panels.flat, ranges):
        for method in methods:
            m = models.index(method.removesuffix(", device"))
            line = [r for r in rows if (r["method"], r["range"]) == (method, entries_range)
                    and r["error"] is not None and r["error"] > 0]
            axes.plot([r["length"] for r in line], [r["error"] for r in line], linewidth=1.2,
                      color=f"C{m % 10}", marker=MARKS[m % len(MARKS)], label=method,
                      **({"linestyle": "--", "markersize": 7, "markerfacecolor": "none"} if method != models[m]
                         else {"markersize": 4}))
        axes.set(xscale="log", yscale="log")
        axes.set_title(f"entries {entries_range}", fontsize=10)
        axes.grid(True, which="major", color="0.9", linewidth=0.6)
        lengths = sorted({r["length"] for r in rows})
        axes.set_xticks(lengths, [str(n) for n in lengths])
        axes.set_xticks([], minor=True)
    plain_ticks(panels[0][0].yaxis)
    figure.supxlabel("length of the sums", fontsize=10)
    figure.supylabel("largest error relative to |A| |B|", fontsize=10)
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=10, frameon=False, loc="upper center", ncol=4,
                  bbox_to_anchor=(0.5, 0))
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
        axes.set_title(f"{sweep['kernel']}: m = {sweep['m']}, k = {sweep['k']},\ntiles of "
                       f"{sweep['tile_m']} x {sweep['tile_n']}, {sweep['blocks_at_once']} at once", fontsize=9)
        axes.legend(fontsize=8, frameon=False, loc="lower right")
    figure.tight_layout()
    return figure


def figures_of(pyplot, diagnosis):
    """All of them by name; None where there is nothing to plot."""
    figures = {"roofline": plot_roofline(pyplot, diagnosis), "gain": plot_gain(pyplot, diagnosis),
               "bandwidth": plot_bandwidth(pyplot, diagnosis),
               "quantisation": plot_quantisation(pyplot, diagnosis)}
    for row in diagnosis["classes"]:
        figures[row["name"]] = (plot_accuracy(pyplot, diagnosis) if row["name"] == "precision"
                                else plot_class(pyplot, diagnosis, row["name"]))
    return figures
