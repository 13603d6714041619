"""How fast, beside Apache Kafka, beside what the machine allows, and beside others who speak the protocol.

  scripts/bench [ROW...] [--full] [--blocks N] [--json FILE] [--write-docs] [--without-kafka] [--without-rivals]

Runs K (Apache Kafka 4.3.1), B (our release build) and R (limit_broker, the limit program) in the order K B R R B K, block
after block, each on an empty directory, and prints for every row the values and the ratios B/K and B/R with their 95 %
bootstrap interval, and which bars hold. Rivals (rivals.py, and --rival 'NAME=COMMAND --port {port}') join the rows that they
can run, once per block. Without --full one short block: a few minutes without Kafka. --write-docs puts the figures
and the pictures into docs/performance.md; with --from FILE... those of earlier --json files, without measuring anything.
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
import bench_on_rows  # noqa: E402
import contenders  # noqa: E402
import crowd_rows  # noqa: E402
import curve_rows  # noqa: E402
import pairs_rows  # noqa: E402
import performance_doc  # noqa: E402
import rivals  # noqa: E402
import rows as load_rows  # noqa: E402
import size_rows  # noqa: E402
import user_rows  # noqa: E402
from report import NOT_RIVALS, Report  # noqa: E402
from rows import Scale  # noqa: E402
from start_client import ProtocolError  # noqa: E402

ROOT = HERE.parents[1]
CONGESTION_CONTROL = pathlib.Path("/proc/sys/net/ipv4/tcp_congestion_control")
DOCUMENT = ROOT / "docs" / "performance.md"
ROWS = [*load_rows.ROWS, *user_rows.ROWS, *size_rows.ROWS, *curve_rows.ROWS, *crowd_rows.ROWS, *pairs_rows.ROWS,
        *bench_on_rows.ROWS]
FULL_BLOCKS = 5
WARM_MEGABYTES = 100


class Bench:
    def __init__(self, options):
        self.scale = Scale.full() if options.full else Scale.quick()
        tools = options.tools
        self.replay_client = tools / "replay_client"
        self.contenders = {"B": contenders.Partita(options.broker), "R": contenders.Limit(tools / "limit_broker")}
        self.syncing_limit = contenders.Limit(tools / "limit_broker", sync=True)
        if not options.without_kafka:
            self.contenders["K"] = contenders.Kafka()
        self.contenders["B0"] = contenders.Partita(options.broker, ["partita.detection.enable=false"], "B0")
        self.contenders["T"] = contenders.TestBench(options.broker)
        self.number = 0
        self.began = time.monotonic()
        self.rivals = [contenders.Command(text) for text in options.rival]
        if not options.without_rivals:
            self.rivals += rivals.available(self.say)
        for rival in self.rivals:
            self.contenders[rival.name] = rival

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

    def takes_part(self, name, row):
        if name in NOT_RIVALS:
            return name in row.contenders and (name != "K" or self.scale.slow_kafka or not row.slow_for_kafka)
        return row.rivals

    def run_session(self, name, rows):
        """All rows that this contender has a part in: {row: figures}. A row that fails is noted as such and the others go on:
        nobody may be there to start it again."""
        results = {}
        left = [row for row in rows if self.takes_part(name, row)]
        while left:
            row = left[0]
            runs = False
            try:
                with self.contenders[name].session() as session:
                    runs = True
                    if self.contenders[name].warmup_s:
                        self.say(f"{name}: warming up")
                        self.warm(session)
                    while left:
                        row = left[0]
                        self.say(f"{name}: {row.name}")
                        results[row.name] = row.measure(session, self)
                        left.pop(0)
            except (RuntimeError, OSError, subprocess.SubprocessError, ProtocolError) as error:
                # Who knows what state it is in: the next row finds it fresh.
                self.say(f"{name} cannot run {row.name}: {error}")
                # One that does not even start will not do so for the next row.
                for failed in [left.pop(0)] if runs else left:
                    results[failed.name] = {"failed": str(error)}
                if not runs:
                    break
        return results

    def run_block(self, rows):
        """K B R R B K, with the rivals in the middle."""
        order = [name for name in ("K", "B", "B0", "T", "R") if name in self.contenders]
        block = {row.name: {} for row in rows}
        for name in [*order, *[rival.name for rival in self.rivals], *reversed(order)]:
            for row_name, figures in self.run_session(name, rows).items():
                block[row_name].setdefault(name, []).append(figures)
        return block


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


def is_meant(name, wanted, known):
    """A row's whole name is that row; anything else is the beginning of names."""
    return name == wanted if wanted in known else name.startswith(wanted)


def parse(arguments):
    known = [row.name for row in ROWS]
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measures Partita beside Apache Kafka, the limit program and rivals.",
                                     epilog="rows: " + " ".join(known))
    parser.add_argument("rows", metavar="ROW", nargs="*", help="rows, or beginnings of their names (default: all)")
    parser.add_argument("--full", action="store_true", help=f"{FULL_BLOCKS} blocks of longer runs")
    parser.add_argument("--blocks", type=int, help="that many blocks")
    parser.add_argument("--broker", type=pathlib.Path, default=ROOT / "build" / "release" / "partita",
                        help="the binary to measure (default: the release build)")
    parser.add_argument("--tools", type=pathlib.Path, default=ROOT / "build" / "bench" / "tests" / "bench", metavar="DIRECTORY",
                        help="where replay_client and limit_broker are (default: the bench build)")
    parser.add_argument("--without-kafka", action="store_true")
    parser.add_argument("--without-rivals", action="store_true")
    parser.add_argument("--rival", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--no-build", action="store_true", help="measure what was built before")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write every run's figures there")
    parser.add_argument("--write-docs", action="store_true", help=f"write the figures into {DOCUMENT.relative_to(ROOT)}")
    parser.add_argument("--from", dest="earlier", type=pathlib.Path, metavar="FILE", nargs="+",
                        help="report on figures of earlier --json files of one machine, their blocks together")
    options = parser.parse_args(arguments)
    options.chosen = [row for row in ROWS if not options.rows or any(is_meant(row.name, wanted, known) for wanted in options.rows)]
    if not options.chosen:
        parser.error(f"no such row; there are: {' '.join(known)}")
    return options


def measure(options, command):
    """Runs the blocks; writes what is there after each one, so that an interrupted run is not lost."""
    if not options.no_build:
        build(options)
    # Brokers are started in directories of their own.
    options.broker, options.tools = options.broker.resolve(), options.tools.resolve()
    for program in (options.broker, options.tools / "replay_client", options.tools / "limit_broker"):
        if not program.exists():
            print(f"scripts/bench: {program} is not there; leave out --no-build", file=sys.stderr)
            sys.exit(2)
    bench = Bench(options)
    result = {"command": command, "machine": machine(), "blocks": []}
    wanted = options.blocks or (FULL_BLOCKS if options.full else 1)
    for number in range(wanted):
        bench.say(f"block {number + 1} of {wanted}")
        result["blocks"].append(bench.run_block(options.chosen))
        result["seconds"] = time.monotonic() - bench.began
        if options.json:
            options.json.write_text(json.dumps(result, indent=1) + "\n")
    return result


def merged(files):
    """Several measurements as one; each row is of the blocks that have it."""
    results = [json.loads(file.read_text()) for file in files]
    machines = {(result["machine"]["model"], result["machine"]["processors"], result["machine"]["kernel"]) for result in results}
    if len(machines) > 1:
        print(f"scripts/bench: measured on different machines: {machines}", file=sys.stderr)
        sys.exit(2)
    commands = {result["command"]: None for result in results}
    return {"command": "; ".join(commands), "machine": results[0]["machine"], "seconds": sum(result["seconds"] for result in results),
            "blocks": [block for result in results for block in result["blocks"]]}


def main(arguments):
    options = parse(arguments)
    command = " ".join(["scripts/bench", *arguments])
    result = merged(options.earlier) if options.earlier else measure(options, command)
    report = Report(options.chosen, result["blocks"])
    report.print()
    if options.write_docs:
        performance_doc.write(report, result["machine"], result["command"], DOCUMENT)
    print(f"{len(result['blocks'])} blocks, {result['seconds']:.0f} s, {result['machine']}")
    missed = report.missed()
    if missed:
        print("bars missed:\n  " + "\n  ".join(missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
