"""The brokers that a measurement compares: how each is started, asked for topics, and stopped.

A session is one life of one broker. It starts on an empty directory, serves any number of rows, and ends. Rows ask it for
topics; what a contender cannot do it says by `serves`.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "interop")]
import harness  # noqa: E402
from start_client import LATEST, Connection  # noqa: E402

START_DEADLINE_S = 120
STOP_DEADLINE_S = 60
LIMIT_PARTITIONS = 100  # of every topic of the limit program
CPUCLOCK_SCHED = 2  # in the id of the clock of another process, as clock_getcpuclockid(3) makes it


class Session:
    """A running broker."""

    def __init__(self, contender, directory):
        self.contender = contender
        self.directory = directory
        self.port = harness.free_port()
        self.process = None
        self.http_port = None  # of a contender that has an HTTP side
        self.log = open(directory / "log", "ab")

    def start(self):
        """Starts it, on what is in its directory; returns the milliseconds to the first correct ApiVersions answer."""
        command = self.contender.command(self)
        began = time.monotonic()
        self.process = subprocess.Popen(command, cwd=self.directory, stdin=subprocess.PIPE, stdout=self.log,
                                        stderr=self.log, env=self.contender.environment())
        while True:
            try:
                if self.contender.chooses_port:
                    self.port = self.contender.port_of(self)
                with Connection(self.port, timeout=START_DEADLINE_S) as connection:
                    connection.read_api_versions(connection.exchange(connection.prepare_api_versions()))
                return 1000 * (time.monotonic() - began)
            except OSError:
                if self.process.poll() is not None or time.monotonic() - began > START_DEADLINE_S:
                    raise RuntimeError(f"{self.contender.name} does not answer: {self.log_text()}")
                time.sleep(0.0001)

    @property
    def pid(self):
        return self.process.pid

    def create_topic(self, name, partitions, configs=()):
        if not self.contender.has_topics:
            return
        if self.contender.create_topic:
            self.contender.create_topic(self, name, partitions)
            return
        with Connection(self.port) as connection:
            connection.read_create_topic(connection.exchange(connection.prepare_create_topic(name, partitions, configs=configs)))
            # A broker that applies its metadata in the background does not lead the partitions at once.
            end = time.monotonic() + START_DEADLINE_S
            while connection.read_metadata(connection.exchange(connection.prepare_metadata(name))) != partitions:
                if time.monotonic() > end:
                    raise RuntimeError(f"{self.contender.name} does not lead all partitions of {name}")
                time.sleep(0.01)
            if self.contender.leads_after_metadata:
                ask = connection.prepare_list_offsets(name, partitions, LATEST)
                while any(error for error, _ in connection.read_list_offsets(connection.exchange(ask)).values()):
                    if time.monotonic() > end:
                        raise RuntimeError(f"{self.contender.name} does not serve all partitions of {name}")
                    time.sleep(0.01)

    def delete_topic(self, name):
        if self.contender.has_topics and not self.contender.create_topic:
            with Connection(self.port) as connection:
                connection.exchange(connection.prepare_delete_topic(name))

    def resident_mb(self):
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024 / 1e6
        raise RuntimeError("/proc has no VmRSS")

    def processor_s(self):
        """Seconds of processor time that it has used, to a hundredth."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def processor_ns(self):
        """The same in nanoseconds, with what threads used that have ended (some brokers have one for each connection)."""
        return time.clock_gettime_ns(~self.pid << 3 | CPUCLOCK_SCHED)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()

    def drop_cache(self):
        """Writes out what is in its directory and lets the page cache forget it: what is read next comes from the disk."""
        for directory, _, names in os.walk(self.directory):
            for name in names:
                try:
                    descriptor = os.open(os.path.join(directory, name), os.O_RDONLY)
                except FileNotFoundError:
                    continue  # Of a topic that was deleted a moment ago.
                os.fsync(descriptor)
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(descriptor)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_DEADLINE_S)
            except subprocess.TimeoutExpired:
                self.kill()
        if self.process:
            self.process.stdin.close()

    def log_text(self):
        return (self.directory / "log").read_text(errors="replace")[-2000:]


class Contender:
    name = ""
    has_topics = True
    leads_after_metadata = False  # it names itself as leader of a new partition before it serves it
    warmup_s = 0  # of load before anything is measured
    chooses_port = False  # then port_of(session) tells it, or raises OSError while it is not known
    create_topic = None  # (session, name, partitions): for who does not serve CreateTopics and DeleteTopics

    def command(self, session):
        raise NotImplementedError

    def environment(self):
        return {name: value for name, value in os.environ.items() if not name.startswith(("PARTITA_", "KAFKA_"))}

    @contextlib.contextmanager
    def session(self, start=True):
        directory = pathlib.Path(tempfile.mkdtemp(prefix=f"bench-{self.name}-"))
        session = Session(self, directory)
        try:
            self.prepare(session)
            if start:
                session.start()
            yield session
        finally:
            session.stop()
            session.log.close()
            shutil.rmtree(directory, ignore_errors=True)

    def prepare(self, session):
        """Before the first start."""


class Partita(Contender):
    name = "B"

    def __init__(self, binary, overrides=(), name="B"):
        self.binary = binary
        self.overrides = list(overrides)
        self.name = name

    def command(self, session):
        command = [str(self.binary), "serve", "--data-dir", str(session.directory / "data"), "--port", str(session.port),
                   "--http-port", "off", "--log-level", "warning", "--override", "offsets.topic.num.partitions=50",
                   "--override", "group.initial.rebalance.delay.ms=0", "--override", "group.consumer.assignment.interval.ms=0"]
        for override in self.overrides:
            command += ["--override", override]
        return command


class TestBench(Partita):
    """Partita with its test bench on, and an HTTP side to reach it."""

    def __init__(self, binary):
        super().__init__(binary, ["partita.test.bench.enable=true"], "T")

    def command(self, session):
        command = super().command(session)
        session.http_port = harness.free_port()
        command[command.index("--http-port") + 1] = str(session.http_port)
        return command


class Limit(Contender):
    name = "R"
    has_topics = False

    def __init__(self, binary, sync=False):
        self.binary = binary
        self.sync = sync

    def command(self, session):
        (session.directory / "data").mkdir(exist_ok=True)
        return [str(self.binary), str(session.port), str(session.directory / "data"), str(LIMIT_PARTITIONS),
                *(["--sync"] if self.sync else [])]


class Kafka(Contender):
    """Apache Kafka 4.3.1 with the heap and collector of its own start script, and its defaults but for what one node
    needs and what would be waiting by design (the rebalance delay)."""

    name = "K"
    leads_after_metadata = True
    warmup_s = 25

    def prepare(self, session):
        controller = harness.free_port()
        settings = {
            "process.roles": "broker,controller", "node.id": 1, "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "listeners": f"PLAINTEXT://127.0.0.1:{session.port},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{session.port}", "controller.listener.names": "CONTROLLER",
            "log.dirs": session.directory / "data", "offsets.topic.replication.factor": 1,
            "transaction.state.log.replication.factor": 1, "transaction.state.log.min.isr": 1,
            "share.coordinator.state.topic.replication.factor": 1, "share.coordinator.state.topic.min.isr": 1,
            "group.initial.rebalance.delay.ms": 0, "group.consumer.assignment.interval.ms": 0,
        }
        (session.directory / "server.properties").write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        harness.run_java("kafka.tools.StorageTool", "format", "-t", harness.CLUSTER_ID, "-c",
                         str(session.directory / "server.properties"))

    def command(self, session):
        return ["java", "-Xmx1G", "-Xms1G", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
                "-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent",
                *[part for part in harness.java_command() if part.startswith("-Dlog4j2")],
                "-cp", (harness.TOOLS / "classpath").read_text(), "kafka.Kafka", str(session.directory / "server.properties")]


class Command(Contender):
    """A rival given on the command line: NAME=COMMAND with {port} and {data} to be filled in."""

    def __init__(self, text):
        self.name, _, self.text = text.partition("=")

    def command(self, session):
        return [part.format(port=session.port, data=session.directory / "data") for part in self.text.split()]
