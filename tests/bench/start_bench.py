"""How fast and how small: start, idle costs, a topic of 9,999 partitions, two of them with few descriptors.

  scripts/bench start [--broker PATH] [--runs N] [--with-kafka] [--json FILE]

Measures the promises on size and prints each figure beside its promise, with OK or MISSED. Ends with 0 when all are
kept, with 1 when one is missed, with 2 on bad usage. Nothing of Python is in the figures but what starting a process
and one exchange over a socket cost (the line "probe" says how much that is).
"""

import argparse
import contextlib
import json
import os
import pathlib
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "interop")]
from start_client import EARLIEST, LATEST, Connection, ProtocolError, record_batch  # noqa: E402
import harness  # noqa: E402

PARTITIONS = 9999
DESCRIPTORS = 20000
# By then what the start wrote was synced and folded for the first and only time (StoreFolds::kFoldMs).
IDLE_SETTLE_S = 8
IDLE_WINDOW_S = 5
START_DEADLINE_S = 60
# A broker that has not answered for every partition of a topic by then has failed.
ANSWER_DEADLINE_S = 120
CONNECT_RETRY_S = 0.0001
# As many partitions in one Produce request; a real producer's requests stay below a megabyte.
PRODUCE_CHUNK = 2500

PROMISES = {  # figure -> (most, unit, what it is)
    "start_ms": (10, "ms", "exec to the first correct ApiVersions answer, empty directory, median"),
    "idle_rss_mb": (10, "MB", "resident memory when idle"),
    "idle_cpu_percent": (0.1, "%", f"processor time when idle, over {IDLE_WINDOW_S} s"),
    "topic_ms": (50, "ms", f"a topic of {PARTITIONS:,} partitions created, every partition answering ListOffsets"),
    "topic_added_mb": (10, "MB", "memory that it adds"),
    "failed_partitions": (0, "", f"two such topics, {DESCRIPTORS:,} descriptors: partitions that failed to take or keep a record"),
}
MORE = {  # figures without a promise, told because they explain the others
    "start_best_ms": ("ms", "the fastest start"),
    "start_worst_ms": ("ms", "the slowest start"),
    "idle_anonymous_mb": ("MB", "of the idle memory: not backed by files"),
    "idle_wakeups_per_s": ("/s", "context switches per second when idle"),
    "create_ms": ("ms", "of the topic: until CreateTopics is answered"),
    "metadata_ms": ("ms", "Metadata of it"),
    "two_topics_produce_ms": ("ms", f"one record to each of {2 * PARTITIONS:,} partitions"),
    "two_topics_open_files": ("", "files open after that"),
    "two_topics_rss_mb": ("MB", "resident memory after that"),
    "two_topics_restart_ms": ("ms", "kill -9, then exec to the first answer with them"),
}


def cpu_and_switches(pid):
    """Nanoseconds on a processor and context switches of a process, over all threads."""
    nanoseconds = switches = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        nanoseconds += int((task / "schedstat").read_text().split()[0])
        switches += sum(int(line.split()[1]) for line in (task / "status").read_text().splitlines()
                        if "ctxt_switches" in line)
    return nanoseconds, switches


class Target:
    """A broker to measure: how to make a fresh directory for it, and the command that starts it there."""

    def __init__(self, binary):
        self.binary = binary

    name = "partita"
    runs = None

    @contextlib.contextmanager
    def fresh(self):
        """Yields (port, command) on an empty data directory."""
        with tempfile.TemporaryDirectory(prefix="partita-bench-") as directory:
            port = harness.free_port()
            yield port, [str(self.binary), "serve", "--data-dir", f"{directory}/data", "--port", str(port),
                         "--http-port", "0"]


class KafkaTarget(Target):
    """Apache Kafka, with the heap and collector of its own start script."""

    name = "kafka"
    runs = 3

    def __init__(self):
        super().__init__(None)

    @contextlib.contextmanager
    def fresh(self):
        broker = harness.KafkaBroker()
        try:
            command = ["java", "-Xmx1G", "-Xms1G", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
                       "-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent",
                       *[part for part in harness.java_command() if part.startswith("-Dlog4j2")],
                       "-cp", (harness.TOOLS / "classpath").read_text(), "kafka.Kafka", str(broker.configuration)]
            yield broker.port, command
        finally:
            with contextlib.suppress(OSError):
                harness.shutil.rmtree(broker.directory)


class Process:
    """A started broker with its first answer behind it."""

    def __init__(self, port, command, log, descriptors=None):
        self.port = port
        api_versions = None
        own = resource.getrlimit(resource.RLIMIT_NOFILE)
        devnull = os.open(os.devnull, os.O_RDWR)
        actions = [(os.POSIX_SPAWN_DUP2, devnull, 0), (os.POSIX_SPAWN_DUP2, log.fileno(), 1),
                   (os.POSIX_SPAWN_DUP2, log.fileno(), 2)]
        if descriptors:
            # The hard limit too: a broker may raise its soft one.
            command = ["/bin/sh", "-c", f'ulimit -n {min(descriptors, own[1])}; exec "$@"', "sh", *command]
        began = time.monotonic()
        self.pid = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
        os.close(devnull)
        while True:
            try:
                with Connection(port, timeout=START_DEADLINE_S) as connection:
                    prepared = connection.prepare_api_versions()
                    reader = connection.exchange(prepared)
                    self.start_ms = 1000 * (time.monotonic() - began)
                    api_versions = connection.read_api_versions(reader)
                break
            except ConnectionRefusedError:
                self.check_alive()
                if time.monotonic() - began > START_DEADLINE_S:
                    self.kill()
                    raise ProtocolError(f"no answer within {START_DEADLINE_S} s")
                time.sleep(CONNECT_RETRY_S)
        if not {0, 1, 2, 3, 18, 19} <= set(api_versions):
            raise ProtocolError(f"the first ApiVersions answer is not whole: {sorted(api_versions)}")

    def check_alive(self):
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            raise ProtocolError(f"the broker ended at start with {os.waitstatus_to_exitcode(status)}")

    def end(self, number):
        os.kill(self.pid, number)
        os.waitpid(self.pid, 0)

    def stop(self):
        self.end(signal.SIGTERM)

    def kill(self):
        self.end(signal.SIGKILL)

    def status(self, field):
        """A line of /proc/PID/status, in MB (of 1,000,000 bytes) when it is in kB."""
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                value = line.split()
                return int(value[1]) * 1024 / 1e6 if value[-1] == "kB" else int(value[1])
        raise ProtocolError(f"/proc has no {field}")

    def cpu_and_switches(self):
        return cpu_and_switches(self.pid)

    def open_files(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))


@contextlib.contextmanager
def running(target, descriptors=None):
    """A fresh broker; yields (process, restart), and stops whichever process lives at the end."""
    with target.fresh() as (port, command), tempfile.TemporaryFile() as log:
        processes = []

        def start():
            processes.append(Process(port, command, log, descriptors))
            return processes[-1]
        try:
            yield start(), start
        except (ProtocolError, OSError) as error:
            log.seek(0)
            print(f"{target.name}: {error}\n{log.read()[-2000:].decode(errors='replace')}", file=sys.stderr)
            raise
        finally:
            if processes:
                with contextlib.suppress(ProcessLookupError, ChildProcessError):
                    processes[-1].kill()


def probe_ms():
    """What the measurement itself costs: starting /bin/true and waiting for its end."""
    times = []
    for _ in range(15):
        began = time.monotonic()
        os.waitpid(os.posix_spawn("/bin/true", ["/bin/true"], os.environ), 0)
        times.append(1000 * (time.monotonic() - began))
    return statistics.median(times)


def measure_start(target, runs):
    times = []
    for _ in range(runs):
        with running(target) as (process, _):
            times.append(process.start_ms)
    return {"start_ms": statistics.median(times), "start_best_ms": min(times), "start_worst_ms": max(times)}


def measure_idle(process):
    time.sleep(IDLE_SETTLE_S)
    cpu_before, switches_before = process.cpu_and_switches()
    time.sleep(IDLE_WINDOW_S)
    cpu_after, switches_after = process.cpu_and_switches()
    return {"idle_rss_mb": process.status("VmRSS"), "idle_anonymous_mb": process.status("RssAnon"),
            "idle_cpu_percent": (cpu_after - cpu_before) / 1e7 / IDLE_WINDOW_S,
            "idle_wakeups_per_s": (switches_after - switches_before) / IDLE_WINDOW_S}


def until_all_answer(connection, name, expected, timestamp, partitions=PARTITIONS, prepared=None):
    """Asks ListOffsets for every partition until each answers without error and with the expected offset.

    `prepared`: that request, for those whose clock runs."""
    prepared = prepared or connection.prepare_list_offsets(name, partitions, timestamp)
    end = time.monotonic() + ANSWER_DEADLINE_S
    while True:
        reader = connection.exchange(prepared)
        answered = time.monotonic()
        answers = connection.read_list_offsets(reader)
        wrong = [partition for partition in range(partitions) if answers.get(partition) != (0, expected)]
        if not wrong or answered > end:
            return answered, wrong


def measure_topic(process):
    rss_before = process.status("VmRSS")
    with Connection(process.port, timeout=ANSWER_DEADLINE_S) as connection:
        create = connection.prepare_create_topic("wide", PARTITIONS)
        ask = connection.prepare_list_offsets("wide", PARTITIONS, LATEST)
        began = time.monotonic()
        reader = connection.exchange(create)
        created = time.monotonic()
        connection.read_create_topic(reader)
        answered, wrong = until_all_answer(connection, "wide", 0, LATEST, prepared=ask)
        if wrong:
            raise ProtocolError(f"{len(wrong)} partitions do not answer ListOffsets")
        rss_after = process.status("VmRSS")
        metadata = connection.prepare_metadata("wide")
        asked = time.monotonic()
        reader = connection.exchange(metadata)
        metadata_ms = 1000 * (time.monotonic() - asked)
        led = connection.read_metadata(reader)
        if led != PARTITIONS:
            raise ProtocolError(f"Metadata shows {led} partitions with a leader")
    return {"create_ms": 1000 * (created - began), "topic_ms": 1000 * (answered - began),
            "topic_added_mb": rss_after - rss_before, "metadata_ms": metadata_ms}


def measure_two_topics(target):
    """Two topics, more partitions than half the descriptors: a record to each, a crash, and every record still there."""
    names = ["first", "second"]
    failed = set()
    with running(target, DESCRIPTORS) as (process, restart):
        with Connection(process.port, timeout=ANSWER_DEADLINE_S) as connection:
            batch = record_batch(b"key", b"value", int(time.time() * 1000))
            for name in names:
                connection.read_create_topic(connection.exchange(connection.prepare_create_topic(name, PARTITIONS)))
                failed |= {(name, partition) for partition in until_all_answer(connection, name, 0, LATEST)[1]}
            chunks = [(name, connection.prepare_produce(name, range(first, min(first + PRODUCE_CHUNK, PARTITIONS)), batch))
                      for name in names for first in range(0, PARTITIONS, PRODUCE_CHUNK)]
            began = time.monotonic()
            readers = [(name, connection.exchange(prepared)) for name, prepared in chunks]
            produce_ms = 1000 * (time.monotonic() - began)
            for name, reader in readers:
                failed |= {(name, partition) for partition, answer in connection.read_produce(reader).items()
                           if answer != (0, 0)}
        figures = {"two_topics_produce_ms": produce_ms, "two_topics_open_files": process.open_files(),
                   "two_topics_rss_mb": process.status("VmRSS")}
        process.kill()
        process = restart()
        figures["two_topics_restart_ms"] = process.start_ms
        with Connection(process.port, timeout=ANSWER_DEADLINE_S) as connection:
            for name in names:
                failed |= {(name, partition) for partition in until_all_answer(connection, name, 1, LATEST)[1]}
                failed |= {(name, partition) for partition in until_all_answer(connection, name, 0, EARLIEST)[1]}
    return {"failed_partitions": len(failed), **figures}


def measure(target, runs):
    figures = measure_start(target, target.runs or runs)
    with running(target) as (process, _):
        figures |= measure_idle(process)
        figures |= measure_topic(process)
    try:
        figures |= measure_two_topics(target)
    except (ProtocolError, OSError) as error:
        # A broker that hangs or dies here has failed every partition; the other figures stand.
        figures |= {"failed_partitions": 2 * PARTITIONS, "two_topics_error": str(error)}
    return figures


def shown(value):
    return "-" if value is None else f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"


def print_table(results):
    ours = results["partita"]
    kafka = results.get("kafka")
    width = max(len(text) for *_, text in [*PROMISES.values(), *MORE.values()])
    heads = f"{'':{width}}  {'promise':>9}  {'partita':>9}" + (f"  {'kafka':>9}" if kafka else "")
    print(heads)
    for figure, (most, unit, text) in PROMISES.items():
        verdict = "OK" if ours[figure] <= most else "MISSED"
        print(f"{text:{width}}  {f'{most} {unit}'.strip():>9}  {shown(ours[figure]):>9}"
              + (f"  {shown(kafka.get(figure)):>9}" if kafka else "") + f"  {verdict}")
    for figure, (unit, text) in MORE.items():
        print(f"{text:{width}}  {unit:>9}  {shown(ours.get(figure)):>9}" + (f"  {shown(kafka.get(figure)):>9}" if kafka else ""))
    print(f"{'probe: starting /bin/true and waiting for its end':{width}}  {'ms':>9}  {shown(results['probe_ms']):>9}")


def main(arguments):
    parser = argparse.ArgumentParser(prog="scripts/bench start", description="Measures the promises on size.")
    parser.add_argument("--broker", metavar="PATH", type=pathlib.Path, default=ROOT / "build" / "release" / "partita",
                        help="the partita binary (default: the release build)")
    parser.add_argument("--runs", type=int, default=15, help="starts to take the median of (default 15)")
    parser.add_argument("--with-kafka", action="store_true", help="measure a real Apache Kafka too, for comparison")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the raw figures there")
    options = parser.parse_args(arguments)
    if options.runs < 1:
        parser.error("--runs must be at least 1")
    if not os.access(options.broker, os.X_OK):
        parser.error(f"there is no program at {options.broker}; build it with scripts/build")
    if options.with_kafka:
        subprocess.run([ROOT / "tests" / "interop" / "fetch_tools"], check=True)

    results = {"probe_ms": probe_ms(), "machine": {"processors": os.cpu_count(), "kernel": os.uname().release}}
    results["partita"] = measure(Target(options.broker.resolve()), options.runs)
    if options.with_kafka:
        results["kafka"] = measure(KafkaTarget(), options.runs)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    print_table(results)
    missed = [figure for figure, (most, *_) in PROMISES.items() if results["partita"][figure] > most]
    if missed:
        print(f"missed: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
