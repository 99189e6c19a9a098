"""What the tools that plot share: mistakes, matplotlib, texts that stay apart, and files."""

import math
import re
import sys

NO_MATPLOTLIB = 77


def fail(message, code=1, tool="plot"):
    print(f"tensormg: {tool}: {message}", file=sys.stderr)
    sys.exit(code)


def pyplot_without_screen():
    """May raise ImportError."""
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "tensormg"  # the same data gives the same file
    from matplotlib import pyplot
    return pyplot


def distinct(values):
    """In the order in which they first appear."""
    return list(dict.fromkeys(values))


def levels(units):
    """(rate, names) of (name, rate), the highest first; those within a fifth of each other are one."""
    found = []
    for name, rate in sorted(units, key=lambda unit: -unit[1]):
        if found and rate > found[-1][0] / 1.2:
            found[-1][1].append(name)
        else:
            found.append((rate, [name]))
    return found


def spread(heights, distance):
    """Falling numbers, moved down so far that all are this distance apart."""
    result = []
    for height in heights:
        result.append(min(height, result[-1] - distance) if result else height)
    return result


def label_levels(axes, labels, size=7):
    """Names of horizontal lines, (height, text), right of an axis with logarithmic heights, each led to its line."""
    labels = sorted(labels, reverse=True)
    low, high = map(math.log10, axes.get_ylim())
    heights = [(math.log10(rate) - low) / (high - low) for rate, _ in labels]
    axis_points = 72 * axes.figure.get_figheight() * axes.get_position().height
    for (_, text), height, moved in zip(labels, heights, spread(heights, 1.5 * size / axis_points)):
        axes.annotate(text, (1, height), xycoords="axes fraction", xytext=(1.03, moved), fontsize=size, color="0.3",
                      va="center", arrowprops={"arrowstyle": "-", "color": "0.6", "linewidth": 0.6,
                                               "shrinkA": 0, "shrinkB": 0, "relpos": (0, 0.5)})


def legend_below(figure, handles, labels, size=9):
    """Below all panels, in as many columns as the figure is wide."""
    renderer = figure.canvas.get_renderer()
    for columns in range(min(len(handles), 6), 0, -1):
        legend = figure.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, 0), ncol=columns, frameon=False,
                               fontsize=size)
        if columns == 1 or legend.get_window_extent(renderer).width <= figure.bbox.width:
            return legend
        legend.remove()


def tick_text(value, _=None):
    """1000 and 1e-6."""
    if 1 <= value < 1e6:
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return re.sub(r"e([-+])0?", lambda sign: "e" + sign[1].strip("+"), f"{value:.3g}")


def plain_ticks(axis):
    """Numbers as people write them, and enough of them, on a logarithmic axis."""
    from matplotlib import ticker
    low, high = sorted(axis.get_view_interval())
    decades = math.log10(high / low)
    steps = ((1,) if decades > 3 else (1, 2, 5) if decades > 1.2 else (1, 1.5, 2, 3, 5, 7) if decades > 0.5
             else (1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 9))
    axis.set_major_locator(ticker.LogLocator(subs=steps, numticks=12))
    axis.set_major_formatter(ticker.FuncFormatter(tick_text))
    axis.set_minor_formatter(ticker.NullFormatter())


def write(figure, stem):
    """STEM.png and STEM.svg, as large as all texts need."""
    for extension in ("png", "svg"):
        path = stem.with_name(f"{stem.name}.{extension}")
        metadata = {"Date": None} if extension == "svg" else {}
        try:
            figure.savefig(path, dpi=150, bbox_inches="tight", metadata=metadata)
        except OSError as error:
            fail(f"{path}: {error.strerror}")
        print(f"tensormg: wrote {path}", file=sys.stderr)
