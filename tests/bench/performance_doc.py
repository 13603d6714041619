"""Writes the measured part of docs/performance.md, between two marks, and its pictures. What people wrote around it stays."""

import pathlib

import svg_plots
from report import KAFKA, LIMIT, OURS
from svg_plots import shown

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
PICTURES = "performance"
LABELS = {"K": "Apache Kafka 4.3.1", "B": "Partita", "R": "limit program", "B0": "Partita, detection off", "T": "Partita, test bench on"}
BARS = (("cpu_s_per_gb", "broker CPU seconds per GB", "cost", "What a gigabyte costs"),
        ("mb_per_s", "MB/s", "throughput", "Throughput"),
        ("ack_p99_us", "microseconds", "acknowledgements", "Acknowledgement, 99th percentile"),
        ("rejoin_ms", "ms", "rejoin", "A rebalance of all members of a classic group"),
        ("join_ms", "ms", "join", "One more member in a consumer group"))
PERCENTILES = (("latency_p50_us", 50), ("latency_p90_us", 10), ("latency_p99_us", 1), ("latency_p999_us", 0.1))


def labels_of(report, names):
    return {name: LABELS.get(name, name) for name in report.names if name in names}


def draw_bars(report, directory):
    """Returns [(file name, title)]."""
    drawn = []
    for figure, unit, name, title in BARS:
        rows = {}
        for row in report.rows:
            if any(known == figure for known, *_ in row.figures):
                values = {contender: report.value(row.name, figure, contender) for contender in report.names}
                values = {contender: value for contender, value in values.items() if value}
                if values:
                    rows[row.name] = values
        if rows:
            shown_names = {contender for values in rows.values() for contender in values}
            (directory / f"{name}.svg").write_text(svg_plots.bars(title, unit, rows, labels_of(report, shown_names)))
            drawn.append((f"{name}.svg", title))
    return drawn


def draw_curves(report, directory):
    drawn = []
    for row in report.rows:
        if not hasattr(row, "sizes"):
            continue
        for figure, unit, _ in row.y:
            series = {}
            for contender in report.names:
                points = [(size, report.value(row.name, f"{figure}@{size}", contender)) for size in row.sizes]
                if any(value for _, value in points):
                    series[contender] = [(size, value) for size, value in points if value]
            if series:
                file = f"{row.name}-{figure}.svg"
                (directory / file).write_text(svg_plots.curves(f"{row.text}", row.x_label, unit, series, labels_of(report, series)))
                drawn.append((file, f"{row.text}: {unit}"))
    return drawn + draw_members(report, directory)


def draw_members(report, directory):
    drawn = []
    for kind, figure, title in (("rejoin-", "rejoin_ms", "A rebalance of all members, by members"),
                                ("consumer-group-", "join_ms", "One more member in a consumer group, by members")):
        rows = [row for row in report.rows if row.name.startswith(kind)]
        series = {}
        for contender in report.names:
            points = [(row.members, report.value(row.name, figure, contender)) for row in rows]
            points = [(members, value) for members, value in points if value]
            if len(points) > 1:
                series[contender] = points
        if series:
            file = f"{kind}members.svg"
            (directory / file).write_text(svg_plots.curves(title, "members", "ms", series, labels_of(report, series)))
            drawn.append((file, title))
    return drawn


def draw_percentiles(report, directory):
    drawn = []
    for row in report.rows:
        if not row.name.startswith("end-to-end"):
            continue
        series = {}
        for contender in report.names:
            points = [(share, report.value(row.name, figure, contender)) for figure, share in PERCENTILES]
            points = [(100 / share, value) for share, value in points if value]
            if points:
                series[contender] = points
        if series:
            file = f"{row.name}.svg"
            (directory / file).write_text(svg_plots.curves(row.text, "one record in so many is slower", "microseconds", series,
                                                           labels_of(report, series)))
            drawn.append((file, row.text))
    return drawn


def ratio_text(report, row, figure, against):
    ratio = report.ratio(row, figure, against) if against in report.names else None
    if ratio is None:
        return "-"
    mean, low, high = ratio
    return f"{mean:.2f}" + (f" [{low:.2f}, {high:.2f}]" if low is not None else "")


def table(report):
    heads = ["row", "figure", *[LABELS.get(name, name) for name in report.names], "B/K", "B/R"]
    lines = ["| " + " | ".join(heads) + " |", "|---|---|" + "--:|" * (len(heads) - 2)]
    for row in report.rows:
        if hasattr(row, "sizes"):
            continue
        for index, (figure, unit, _) in enumerate(row.figures):
            cells = [report.cell(row.name, figure, name) for name in report.names]
            lines.append("| " + " | ".join([row.name if index == 0 else "", f"{figure} ({unit})", *cells,
                                            ratio_text(report, row.name, figure, KAFKA),
                                            ratio_text(report, row.name, figure, LIMIT)]) + " |")
    return lines


def bar_lines(report):
    """What a row is, how many of its bars hold, every one that does not, and rivals that cannot be told from us."""
    lines = ["| row | what it does | bars that hold | missed | level with a rival |", "|---|---|--:|---|---|"]
    for row in report.rows:
        verdicts = report.verdicts(row)
        missed = [verdict.text for verdict in verdicts if not verdict.holds]
        level = [verdict.text for verdict in verdicts if verdict.is_level]
        if verdicts:
            lines.append(f"| {row.name} | {row.text} | {len(verdicts) - len(missed)} of {len(verdicts)} | {'<br>'.join(missed)} | "
                         f"{'<br>'.join(level)} |")
    return lines


def failure_lines(report):
    return [f"- {name}, {row.name}: {report.failure(row.name, name).splitlines()[0][:160]}"
            for row in report.rows for name in report.names if report.failure(row.name, name)]


def write(report, machine, command, path):
    pictures = path.parent / PICTURES
    pictures.mkdir(parents=True, exist_ok=True)
    drawn = draw_bars(report, pictures) + draw_percentiles(report, pictures) + draw_curves(report, pictures)
    runs = len(report.blocks)
    parts = [BEGIN, "", f"Command: `{command}`. {runs} block{'s' if runs != 1 else ''}; every value is the geometric mean of its runs.",
             "",
             f"Machine: {machine['model']}, {machine['processors']} processors, Linux {machine['kernel']}, TCP congestion control "
             f"{machine['congestion_control']}, load before the start {machine['load_before']:.2f}.", "",
             "A ratio is the geometric mean of one ratio per block, with its 95 % bootstrap interval where there are three blocks or "
             "more. B is Partita, K Apache Kafka, R the limit program. A rival is ahead, or behind, where the whole interval says so.", "", *table(report), "", "## Bars", "", *bar_lines(report)]
    failures = failure_lines(report)
    if failures:
        parts += ["", "## What could not be run", "", *failures]
    parts += ["", "## Pictures", ""]
    parts += [f"![{title}]({PICTURES}/{file})" for file, title in drawn]
    parts += ["", END]
    text = path.read_text() if path.exists() else f"# Performance\n\n{BEGIN}\n{END}\n"
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(before + "\n".join(parts) + after)
