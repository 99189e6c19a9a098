"""Where the texts of a figure are: for the tests of the tools that plot."""


def texts_of(figure):
    """(text, box in pixels) of all that is drawn; ticks within their axis only."""
    from matplotlib.text import Text
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    ticks = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks() + axis.get_minor_ticks():
                if not low <= tick.get_loc() <= high or not axes.get_visible():
                    ticks.update((tick.label1, tick.label2))
    # Without the arrows of annotations.
    return [(text.get_text(), text, Text.get_window_extent(text, renderer)) for text in figure.findobj(Text)
            if text.get_visible() and text.get_text().strip() and text not in ticks
            and (text.axes is None or text.axes.get_visible())]


def outside(figure):
    """Texts beyond what is saved with bbox_inches='tight'."""
    texts = texts_of(figure)
    saved = figure.get_tightbbox(figure.canvas.get_renderer())
    left, bottom, right, top = (value * figure.dpi for value in saved.extents)
    return [text for text, _, box in texts
            if box.x0 < left - 1 or box.x1 > right + 1 or box.y0 < bottom - 1 or box.y1 > top + 1]


def overlapping(figure):
    """Pairs of level texts that cover each other by more than a pixel."""
    level = [(text, box) for text, artist, box in texts_of(figure) if artist.get_rotation() % 90 == 0]
    return [(one, other) for n, (one, a) in enumerate(level) for other, b in level[:n]
            if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1]
