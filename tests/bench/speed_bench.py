"""How fast, beside Apache Kafka and beside what the machine allows.

  scripts/bench [ROW...] [--full] [--blocks N] [--json FILE] [--plots DIRECTORY] [--rival NAME=COMMAND] [--without-kafka]

Runs K (Apache Kafka 4.3.1), B (our release build) and R (limit_broker, the limit program) in the order K B R R B K, block
after block, each on an empty directory, and prints for every row the values and the ratios B/K and B/R with their 95 %
bootstrap interval, and which bars hold. Without --full one short block, below five minutes. A rival is any program
that serves the Kafka protocol: --rival 'kfake=kfake --port {port}'; it joins the rows that it can run.
Ends with 0 when every bar holds, with 1 when one does not, with 2 on bad usage.
"""

import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import contenders  # noqa: E402
import statistics_of_blocks  # noqa: E402
from rows import ROWS, Scale  # noqa: E402
from start_client import ProtocolError  # noqa: E402

ROOT = HERE.parents[1]
CONGESTION_CONTROL = pathlib.Path("/proc/sys/net/ipv4/tcp_congestion_control")
FULL_BLOCKS = 5
WARM_MEGABYTES = 100


class Bench:
    def __init__(self, options):
        self.scale = Scale.full() if options.full else Scale.quick()
        tools = ROOT / "build" / "bench" / "tests" / "bench"
        self.replay_client = tools / "replay_client"
        self.contenders = {"B": contenders.Partita(options.broker), "R": contenders.Limit(tools / "limit_broker")}
        self.syncing_limit = contenders.Limit(tools / "limit_broker", sync=True)
        if not options.without_kafka:
            self.contenders["K"] = contenders.Kafka()
        self.contenders["B0"] = contenders.Partita(options.broker, ["partita.detection.enable=false"], "B0")
        self.rivals = [contenders.Command(text) for text in options.rival]
        for rival in self.rivals:
            self.contenders[rival.name] = rival
        self.number = 0
        self.began = time.monotonic()

    def next_number(self):
        self.number += 1
        return self.number

    @contextlib.contextmanager
    def syncing(self, session):
        """The limit program syncs by an option of its own; the others by the topic's."""
        if session.contender.name != "R":
            yield session
        else:
            with self.syncing_limit.session() as limit:
                yield limit

    @contextlib.contextmanager
    def fresh_if_limit(self, session):
        """The limit program has one set of partitions for all topics."""
        if session.contender.name != "R":
            yield session
        else:
            with session.contender.session() as limit:
                yield limit

    def say(self, text):
        print(f"[{time.monotonic() - self.began:6.0f} s] {text}", file=sys.stderr, flush=True)

    def warm(self, session):
        """Load until a just-in-time compiler has seen enough of it."""
        row = ROWS[0]
        end = time.monotonic() + session.contender.warmup_s * (1 if self.scale.seconds > 2 else 0.4)
        while time.monotonic() < end:
            topic = row.topic(session, self)
            for options in ({}, {"record_bytes": 100, "batch_bytes": 16384}):
                row.replay(session, self, topic, "produce", megabytes=WARM_MEGABYTES, **options)
            row.replay(session, self, topic, "fetch", megabytes=WARM_MEGABYTES)
            session.delete_topic(topic)

    def run_session(self, name, rows):
        """All rows that this contender has a part in: {row: figures}."""
        wanted = [row for row in rows if name in row.contenders or (name in self.rival_names() and "K" in row.contenders)]
        if not wanted:
            return {}
        results = {}
        with self.contenders[name].session() as session:
            if self.contenders[name].warmup_s:
                self.say(f"{name}: warming up")
                self.warm(session)
            for row in wanted:
                self.say(f"{name}: {row.name}")
                try:
                    results[row.name] = row.measure(session, self)
                except (RuntimeError, OSError, subprocess.TimeoutExpired, ProtocolError) as error:
                    if name not in self.rival_names():
                        raise
                    self.say(f"{name} cannot run {row.name}: {error}")
        return results

    def rival_names(self):
        return [rival.name for rival in self.rivals]

    def run_block(self, rows):
        order = [name for name in ["K", *self.rival_names(), "B", "B0", "R"] if name in self.contenders]
        block = {row.name: {} for row in rows}
        for name in [*order, *reversed(order)]:
            for row_name, figures in self.run_session(name, rows).items():
                block[row_name].setdefault(name, []).append(figures)
        return block


def shown(value):
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def judge(row, blocks, bar):
    """(does it hold, text) of a bar; (None, text) when what it needs was not measured."""
    figure, against, most = bar
    at_least = most < 0
    limit = abs(most)
    if against is None:
        values = [run[figure] for block in blocks for run in block.get("B", []) if figure in run]
        if not values:
            return None, ""
        value = statistics_of_blocks.geometric_mean(values)
        text = f"{figure} {shown(value)}, {'at least' if at_least else 'at most'} {shown(limit)}"
    else:
        ratios = statistics_of_blocks.block_ratios(blocks, figure, "B", against)
        if not ratios:
            return None, ""
        value, low, high = statistics_of_blocks.interval(ratios)
        between = f" [{low:.2f}, {high:.2f}]" if low is not None else ""
        text = f"{figure} B/{against} {value:.2f}{between}, {'at least' if at_least else 'at most'} {limit:g}"
    return (value >= limit) if at_least else (value <= limit), text


def report(rows, blocks):
    """Prints the table; returns the bars that do not hold."""
    names = [name for name in ["K", "B", "R", "B0"] if any(name in block[row.name] for block in blocks for row in rows)]
    names += sorted({name for block in blocks for row in rows for name in block[row.name]} - set(names))
    missed = []
    print(f"{'row':20} {'figure':18} {'unit':10} " + " ".join(f"{name:>12}" for name in names))
    for row in rows:
        of_row = [block[row.name] for block in blocks]
        print(f"{row.name:20} {row.text}")
        for figure, unit, _ in row.figures:
            cells = []
            for name in names:
                values = [run[figure] for block in of_row for run in block.get(name, []) if figure in run]
                cells.append(shown(statistics_of_blocks.geometric_mean(values)) if values else "-")
            print(f"{'':20} {figure:18} {unit:10} " + " ".join(f"{cell:>12}" for cell in cells))
        for bar in row.bars:
            holds, text = judge(row, of_row, bar)
            if holds is None:
                continue
            print(f"{'':20} {'holds ' if holds else 'MISSED'} {text}")
            if not holds:
                missed.append(f"{row.name}: {text}")
    return missed


def plot(rows, blocks, directory):
    """One picture per kind of figure; needs python3-matplotlib."""
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    directory.mkdir(parents=True, exist_ok=True)
    for figure, unit, title in (("cpu_s_per_gb", "broker CPU seconds per GB", "cost"), ("mb_per_s", "MB/s", "throughput"),
                                ("latency_p99_us", "p99, microseconds", "latency"), ("rejoin_ms", "ms", "rejoin")):
        chosen = [row for row in rows if any(name == figure for name, *_ in row.figures)
                  and any(block[row.name] for block in blocks)]
        if not chosen:
            continue
        names = [name for name in ("K", "B", "R") if any(name in block[row.name] for block in blocks for row in chosen)]
        picture, axes = pyplot.subplots(figsize=(9, 1 + 0.6 * len(chosen)))
        for index, name in enumerate(names):
            values = []
            for row in chosen:
                found = [run[figure] for block in blocks for run in block[row.name].get(name, []) if figure in run]
                values.append(statistics_of_blocks.geometric_mean(found) if found else 0)
            places = [at + 0.27 * index for at in range(len(chosen))]
            axes.barh(places, values, height=0.25, label={"K": "Apache Kafka", "B": "Partita", "R": "limit program"}[name])
            for place, value in zip(places, values):
                axes.text(value, place, f" {shown(value)}", va="center", fontsize=7)
        axes.set_yticks([at + 0.27 for at in range(len(chosen))], [row.name for row in chosen])
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.set_xlabel(unit)
        axes.legend(loc="best", fontsize=8)
        picture.tight_layout()
        picture.savefig(directory / f"{title}.svg")


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    return {"processors": os.cpu_count(), "model": model, "kernel": os.uname().release,
            "congestion_control": CONGESTION_CONTROL.read_text().strip(), "load_before": os.getloadavg()[0]}


def build(options):
    """What is measured and what measures it; and Kafka, when it is wanted."""
    subprocess.run([ROOT / "scripts" / "build"], check=True)
    subprocess.run(["cmake", "--preset", "bench"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "bench", "--target", "replay_client", "limit_broker"], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    if not options.without_kafka:
        subprocess.run([ROOT / "tests" / "interop" / "fetch_tools"], check=True)


def main(arguments):
    known = [row.name for row in ROWS]
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measures Partita beside Apache Kafka and the limit program.",
                                     epilog="rows: " + " ".join(known))
    parser.add_argument("rows", metavar="ROW", nargs="*", help="rows, or beginnings of their names (default: all)")
    parser.add_argument("--full", action="store_true", help=f"{FULL_BLOCKS} blocks of longer runs")
    parser.add_argument("--blocks", type=int, help="that many blocks")
    parser.add_argument("--broker", type=pathlib.Path, default=ROOT / "build" / "release" / "partita",
                        help="the binary to measure (default: the release build)")
    parser.add_argument("--without-kafka", action="store_true")
    parser.add_argument("--rival", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--no-build", action="store_true", help="measure what was built before")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write every run's figures there")
    parser.add_argument("--plots", type=pathlib.Path, metavar="DIRECTORY", help="write pictures there")
    options = parser.parse_args(arguments)
    rows = [row for row in ROWS if not options.rows or any(row.name.startswith(wanted) for wanted in options.rows)]
    if not rows:
        parser.error(f"no such row; there are: {' '.join(known)}")
    blocks_wanted = options.blocks or (FULL_BLOCKS if options.full else 1)
    if not options.no_build:
        build(options)
    bench = Bench(options)
    blocks = []
    for number in range(blocks_wanted):
        bench.say(f"block {number + 1} of {blocks_wanted}")
        blocks.append(bench.run_block(rows))
        if options.json:
            options.json.write_text(json.dumps({"machine": machine(), "blocks": blocks}, indent=1) + "\n")
    missed = report(rows, blocks)
    if options.plots:
        plot(rows, blocks, options.plots)
    print(f"{len(blocks)} blocks, {time.monotonic() - bench.began:.0f} s, {machine()}")
    if missed:
        print("bars missed:\n  " + "\n  ".join(missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
