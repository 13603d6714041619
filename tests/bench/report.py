"""What the figures of a measurement say: values, ratios, bars that hold or do not, and who is ahead."""

import dataclasses

import statistics_of_blocks
from svg_plots import shown

OURS, LIMIT, KAFKA = "B", "R", "K"
NOT_RIVALS = ("K", "B", "R", "B0", "T")
# Keeps the newest records of a partition only: it answers OFFSET_OUT_OF_RANGE to whoever reads what was just acknowledged.
FORGETFUL = ("rdkafka-mock",)


@dataclasses.dataclass
class Verdict:
    holds: bool
    text: str
    # It holds because the difference to a rival is within chance: the interval of the ratio has 1 in it.
    is_level: bool = False


class Report:
    def __init__(self, rows, blocks):
        """`blocks`: a list of {row: {contender: [figures of a run, ...]}}; a run may be {"failed": why}."""
        self.rows = [row for row in rows if any(block.get(row.name) for block in blocks)]
        self.blocks = blocks
        found = {name for block in blocks for row in self.rows for name in block.get(row.name, {})}
        self.names = [name for name in NOT_RIVALS if name in found] + sorted(found - set(NOT_RIVALS))
        self.rivals = [name for name in self.names if name not in NOT_RIVALS]

    def of_row(self, name):
        return [block.get(name, {}) for block in self.blocks]

    def values(self, row, figure, name):
        return [run[figure] for block in self.of_row(row) for run in block.get(name, []) if figure in run]

    def value(self, row, figure, name):
        """The geometric mean over all runs; None when there is none."""
        values = self.values(row, figure, name)
        return statistics_of_blocks.geometric_mean(values) if values else None

    def failure(self, row, name):
        for block in self.of_row(row):
            for run in block.get(name, []):
                if "failed" in run:
                    return run["failed"]
        return None

    def cell(self, row, figure, name):
        value = self.value(row, figure, name)
        if value is None:
            return "fails" if self.failure(row, name) else "-"
        return shown(value)

    def ratio(self, row, figure, against):
        """(mean, low, high) of ours/theirs, None when one of them is missing; low and high are None for few blocks."""
        blocks = self.of_row(row)
        if against.startswith("row "):
            other = self.of_row(against.removeprefix("row "))
            blocks = [{OURS: mine.get(OURS, []), against: theirs.get(OURS, [])} for mine, theirs in zip(blocks, other)]
        ratios = statistics_of_blocks.block_ratios(blocks, figure, OURS, against)
        return statistics_of_blocks.interval(ratios) if ratios else None

    def verdicts(self, row):
        """Every bar of the row that could be judged, then every rival."""
        found = [verdict for verdict in (self.judge(row.name, bar) for bar in row.bars) if verdict]
        for rival in self.rivals:
            if row.stores_records and rival in FORGETFUL:
                continue
            for figure, _, better in row.figures:
                if figure in row.beside_rivals_unjudged:
                    continue
                verdict = self.judge(row.name, (figure, rival, 1 if better == "less" else -1))
                if verdict:
                    found.append(verdict)
        return found

    def judge(self, row, bar):
        """None when what the bar needs was not measured."""
        figure, against, most = bar
        at_least, limit = most < 0, abs(most)
        words = "at least" if at_least else "at most"
        if against is None:
            value, low, high = self.value(row, figure, OURS), None, None
            if value is None:
                return None
            text = f"{figure} {shown(value)}, {words} {shown(limit)}"
        else:
            ratio = self.ratio(row, figure, against)
            if ratio is None:
                return None
            value, low, high = ratio
            between = f" [{low:.2f}, {high:.2f}]" if low is not None else ""
            text = f"{figure} B/{against.removeprefix('row ')} {value:.2f}{between}, {words} {limit:g}"
        holds = (value >= limit) if at_least else (value <= limit)
        # A win counts where the whole interval says so, and a rival's does too.
        is_level = not holds and against in self.rivals and low is not None and low <= 1 <= high
        return Verdict(holds or is_level, text, is_level)

    def missed(self):
        """Every bar that does not hold, and every row that we could not run."""
        failed = [f"{row.name}: {self.failure(row.name, OURS).splitlines()[0]}" for row in self.rows if self.failure(row.name, OURS)]
        return failed + [f"{row.name}: {verdict.text}" for row in self.rows for verdict in self.verdicts(row) if not verdict.holds]

    def print(self):
        print(f"{'row':20} {'figure':18} {'unit':10} " + " ".join(f"{name:>12}" for name in self.names))
        for row in self.rows:
            print(f"{row.name:20} {row.text}")
            for figure, unit, _ in row.figures:
                cells = [self.cell(row.name, figure, name) for name in self.names]
                print(f"{'':20} {figure:18} {unit:10} " + " ".join(f"{cell:>12}" for cell in cells))
            for verdict in self.verdicts(row):
                print(f"{'':20} {'level ' if verdict.is_level else 'holds ' if verdict.holds else 'MISSED'} {verdict.text}")
            for name in self.names:
                if self.failure(row.name, name):
                    print(f"{'':20} {name} fails: {self.failure(row.name, name).splitlines()[0][:140]}")
