"""Two kinds of pictures as SVG text, with nothing but Python: bars of rows side by side, and curves on two logarithmic axes."""

import math
from xml.sax.saxutils import escape

COLOURS = {"K": "#b3541e", "B": "#1f6f8b", "R": "#8a8a8a", "B0": "#7fb7c9"}
MORE_COLOURS = ("#6b4c9a", "#4d8f3a", "#c2a83e")
LEFT, RIGHT, TOP, BOTTOM = 170, 30, 46, 46
FONT = 'font-family="sans-serif" font-size="11"'


def colour(name, index):
    return COLOURS.get(name, MORE_COLOURS[index % len(MORE_COLOURS)])


def shown(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


class Scale:
    """Places of positive values on a logarithmic axis."""

    def __init__(self, values, begin, end):
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        self.low, self.high = low, max(high, low + 1)
        self.begin, self.end = begin, end

    def __call__(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    def decades(self):
        return [10.0 ** power for power in range(self.low, self.high + 1)]


def text(x, y, content, anchor="start", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {FONT} {extra}>{escape(content)}</text>'


def line(x1, y1, x2, y2, stroke="#ddd", width=1):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" stroke-width="{width}"/>'


def legend(labels, width):
    parts, x = [], LEFT
    for index, (name, label) in enumerate(labels.items()):
        parts.append(f'<rect x="{x}" y="28" width="10" height="10" fill="{colour(name, index)}"/>')
        parts.append(text(x + 14, 37, label))
        x += 24 + 6.2 * len(label)
        if x > width:
            break
    return parts


def picture(width, height, title, parts):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
                      f'<rect width="{width}" height="{height}" fill="white"/>', text(10, 18, title, extra='font-weight="bold"'),
                      *parts, "</svg>", ""])


def bars(title, unit, rows, labels):
    """`rows`: {row: {contender: value}}; `labels`: {contender: its name in the legend}. Values must be above 0."""
    width, step = 860, 14
    values = [value for row in rows.values() for value in row.values()]
    height = TOP + BOTTOM + sum(step * len(row) + 10 for row in rows.values())
    scale = Scale(values, LEFT, width - RIGHT - 60)
    parts = legend(labels, width)
    for decade in scale.decades():
        parts += [line(scale(decade), TOP, scale(decade), height - BOTTOM), text(scale(decade), height - BOTTOM + 16, shown(decade), "middle")]
    parts.append(text((LEFT + width) / 2, height - 10, unit, "middle"))
    y = TOP + 6
    for name, row in rows.items():
        parts.append(text(LEFT - 8, y + step * len(row) / 2 + 4, name, "end"))
        for index, contender in enumerate(labels):
            if contender not in row:
                continue
            value = row[contender]
            parts.append(f'<rect x="{LEFT}" y="{y:.1f}" width="{max(1, scale(value) - LEFT):.1f}" height="{step - 3}" '
                         f'fill="{colour(contender, index)}"/>')
            parts.append(text(max(LEFT + 1, scale(value)) + 4, y + step - 5, shown(value)))
            y += step
        y += 10
    return picture(width, height, title, parts)


def curves(title, x_label, y_label, series, labels):
    """`series`: {contender: [(x, y), ...]}; all above 0."""
    width, height, left = 640, 380, 70
    points = [point for curve in series.values() for point in curve]
    x_scale = Scale([x for x, _ in points], left, width - RIGHT)
    y_scale = Scale([y for _, y in points], height - BOTTOM, TOP)
    parts = legend(labels, width)
    for decade in x_scale.decades():
        parts += [line(x_scale(decade), TOP, x_scale(decade), height - BOTTOM),
                  text(x_scale(decade), height - BOTTOM + 16, shown(decade), "middle")]
    for decade in y_scale.decades():
        parts += [line(left, y_scale(decade), width - RIGHT, y_scale(decade)), text(left - 6, y_scale(decade) + 4, shown(decade), "end")]
    parts.append(text((left + width) / 2, height - 8, x_label, "middle"))
    parts.append(text(16, (TOP + height) / 2, y_label, "middle", f'transform="rotate(-90 16 {(TOP + height) / 2:.0f})"'))
    for index, name in enumerate(labels):
        curve = series.get(name)
        if not curve:
            continue
        path = " ".join(f"{x_scale(x):.1f},{y_scale(y):.1f}" for x, y in curve)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour(name, index)}" stroke-width="2"/>')
        parts += [f'<circle cx="{x_scale(x):.1f}" cy="{y_scale(y):.1f}" r="3" fill="{colour(name, index)}"/>' for x, y in curve]
    return picture(width, height, title, parts)
