"""Starts the broker under test and runs Kafka's command line tools against it.

The target is chosen by PARTITA_INTEROP_TARGET: `partita` (the default; the binary is named by PARTITA_BINARY),
`kafka` (a real Apache Kafka from fetch_tools' jars, which proves the tests) or `host:port` (whatever runs there).

Nothing here waits by sleeping a guessed time: every wait ends by an event or fails at a deadline and says for what.
"""

import contextlib
import json
import os
import pathlib
import queue
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = pathlib.Path(os.environ.get("PARTITA_TOOLS_DIR") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "partita-tools"))
TARGET = os.environ.get("PARTITA_INTEROP_TARGET", "partita")
LONG_TESTS = bool(os.environ.get("PARTITA_LONG_TESTS"))
#: With PARTITA_CLIENTS=basic only the clients of BASIC_CLIENTS are there, besides Kafka's own tools and kcat.
HAS_ALL_CLIENTS = os.environ.get("PARTITA_CLIENTS", "all") == "all"
BASIC_CLIENTS = ("java", "librdkafka", "librdkafka-debian")
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qk"

START_DEADLINE_S = 120
STOP_DEADLINE_S = 60
TOOL_DEADLINE_S = 120
POLL_INTERVAL_S = 0.02
#: Whatever is waited for may be this late, on a machine that does much else: a deadline is for what hangs.
HANGS_AFTER_S = 60


class Deadline(AssertionError):
    """A wait that did not end in time; the text says what was waited for."""


def wait_until(condition, seconds, what):
    """Returns condition()'s first true value. For what has no event to wait on (a file, a port, a tool's output). It is waited for so
    many seconds at least."""
    seconds = max(seconds, HANGS_AFTER_S)
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Deadline(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(POLL_INTERVAL_S)


def is_seen_within(condition, seconds):
    """Whether condition() becomes true in so many seconds, where it may well not."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(POLL_INTERVAL_S)
    return True


class Stopwatch:
    """How long something takes, and for how much of that the machine was short of processors: what is said to be quick is so when it
    has one."""

    def __init__(self):
        self.began, self.short_before_s = time.monotonic(), self._short_of_processors_s()

    @staticmethod
    def _short_of_processors_s():
        """For how long so far somebody had something to do and no processor for it (Linux's pressure; None where it does not tell)."""
        try:
            return int(re.search(r"^some .* total=(\d+)", pathlib.Path("/proc/pressure/cpu").read_text()).group(1)) / 1e6
        except OSError:
            return None

    def seconds(self):
        return time.monotonic() - self.began

    def short_s(self):
        """Where Linux does not tell it: all of the time, if more want to run than there are processors."""
        if self.short_before_s is None:
            return self.seconds() if os.getloadavg()[0] > os.cpu_count() else 0
        return self._short_of_processors_s() - self.short_before_s

    def undisturbed_s(self):
        return max(self.seconds() - self.short_s(), 0)


#: The addresses of the real Kafkas that this run has started.
real_kafkas = set()


def at_once(check, bootstrap=None):
    """Runs a check of what a change that was just acknowledged must have brought about.

    Our broker shows a change to whoever asks after the acknowledgement. A real Kafka may take some milliseconds, as
    its metadata log is applied in the background, so there the check is repeated. `bootstrap` tells which broker was
    asked; without it, the target was."""
    if bootstrap not in real_kafkas and TARGET == "partita":
        return check()
    end = time.monotonic() + 30
    while True:
        try:
            return check()
        except Exception:
            if time.monotonic() > end:
                raise
        time.sleep(POLL_INTERVAL_S)


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False


#: What other modules, which run at the same time, see of the ports that were given out here: a name of Linux's for each.
given_out = []


def is_given_out(port):
    """Whether another process has given this port to somebody who may not listen yet. If not, this one has from now on, to its end."""
    name = socket.socket(socket.AF_UNIX)
    try:
        name.bind(f"\0partita-tests-port-{port}")
    except OSError:
        name.close()
        return True
    given_out.append(name)
    return False


def free_port(and_next=False):
    """A free loopback port below the ephemeral range: a client that retries there while the broker is down can
    otherwise be connected to itself. `and_next`: so is the one after it. Nobody is given it twice."""
    for port in random.sample(range(15000, 32000), 200):
        if all(is_free(each) and not is_given_out(each) for each in range(port, port + 1 + and_next)):
            return port
    raise AssertionError("no free port between 15000 and 32000")


def bare_java_command():
    """A JVM that starts quickly, without a class path."""
    return ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-Xshare:auto",
            f"-Dlog4j2.configurationFile={HERE / 'clients' / 'log4j2.properties'}"]


def java_command():
    command = bare_java_command()
    archive = TOOLS / "java.cds"
    if archive.exists():
        command.append(f"-XX:SharedArchiveFile={archive}")
    return command + ["-cp", (TOOLS / "classpath").read_text()]


def answers_api_versions(host, port):
    """True if a Kafka ApiVersions request, version 0, gets an answer with error code 0."""
    body = struct.pack(">hhih", 18, 0, 7, 4) + b"wait"
    try:
        with socket.create_connection((host, port), timeout=2) as connection:
            connection.sendall(struct.pack(">i", len(body)) + body)
            answer = b""
            while len(answer) < 10:
                part = connection.recv(1024)
                if not part:
                    return False
                answer += part
    except OSError:
        return False
    _, correlation_id, error = struct.unpack(">iih", answer[:10])
    return correlation_id == 7 and error == 0


class Broker:
    """A broker that listens somewhere; the subclasses say how it is started and stopped."""

    kind = "external"
    data_directory = None
    start_deadline_s = START_DEADLINE_S

    def __init__(self, address):
        self.host, port = address.rsplit(":", 1)
        self.port = int(port)

    @property
    def bootstrap(self):
        return f"{self.host}:{self.port}"

    def __enter__(self):
        if not answers_api_versions(self.host, self.port):
            raise AssertionError(f"nothing answers ApiVersions at {self.bootstrap}")
        return self

    def __exit__(self, *_):
        pass

    def log_text(self):
        return ""


class ProcessBroker(Broker):
    """A broker that this harness starts on a directory of its own; it can be killed and started again there."""

    def __init__(self, properties=None):
        """Properties may name ports: {port} is the broker's, {second_port} another free one, {third_port} one more. {directory} is
        where the broker has all that is its own."""
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="partita-interop-"))
        self.data_directory = self.directory / "data"
        self.log_path = self.directory / "broker.log"
        self.host = "127.0.0.1"
        self.port, self.second_port, self.third_port = free_port(), free_port(), free_port()
        self.properties = {key: self.with_ports(value) for key, value in (properties or {}).items()}
        self.process = None

    def with_ports(self, text):
        for name in ("port", "second_port", "third_port", "directory"):
            text = str(text).replace("{%s}" % name, str(getattr(self, name)))
        return text

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, error_type, *_):
        try:
            if self.process and self.process.poll() is None:
                self.stop()
        finally:
            if self.process and self.process.poll() is None:
                self.kill()
            if not os.environ.get("PARTITA_INTEROP_KEEP"):
                shutil.rmtree(self.directory, ignore_errors=True)

    def start(self):
        assert self.process is None or self.process.poll() is not None, "the broker runs already"
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=self.environment())
        wait_until(self._ready, self.start_deadline_s, lambda: f"{self.kind} answers ApiVersions\n{self.log_text()}")

    def _ready(self):
        if self.process.poll() is not None:
            raise AssertionError(f"{self.kind} ended with {self.process.returncode} at start\n{self.log_text()}")
        return self.is_up()

    def is_up(self):
        return answers_api_versions(self.host, self.port)

    def environment(self):
        # What speaks to the tests or would configure a broker must not reach the one under test.
        return {name: value for name, value in os.environ.items() if not name.startswith(("PARTITA_", "KAFKA_"))}

    def stop(self):
        """Stops by SIGTERM; a clean stop has the exit code that the kind promises."""
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Deadline(f"{self.kind} did not stop within {STOP_DEADLINE_S} s of SIGTERM\n{self.log_text()}")
        assert code in self.clean_exit_codes, f"{self.kind} ended with {code} after SIGTERM\n{self.log_text()}"

    def kill(self):
        """kill -9, as a crash of the process."""
        self.process.kill()
        self.process.wait()

    def restart(self):
        """Starts again on the same directory and the same port."""
        self.start()

    def log_text(self, lines=60):
        if not self.log_path.exists():
            return "(no log)"
        return "".join(self.log_path.read_text(errors="replace").splitlines(keepends=True)[-lines:])

    def partition_directory(self, topic, partition):
        """Where the segments of a partition lie."""
        found = [path for path in self.data_directory.rglob(f"{topic}-{partition}") if path.is_dir()]
        assert len(found) == 1, f"expected one directory for {topic}-{partition}, found {found}"
        return found[0]


def read_exactly(connection, size):
    """So many bytes of a socket, which must not end before."""
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        assert part, "the broker closed the connection"
        data += part
    return data


def partita_binary():
    binary = os.environ.get("PARTITA_BINARY") or str(HERE.parents[1] / "build" / "release" / "partita")
    assert os.access(binary, os.X_OK), f"no broker binary at {binary}; set PARTITA_BINARY"
    return binary


def run_partita(*arguments, **more):
    """One of our commands, without what would configure it from outside."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PARTITA_", "KAFKA_"))}
    done = subprocess.run([partita_binary(), *map(str, arguments)], capture_output=True, text=True, timeout=TOOL_DEADLINE_S, env=environment, **more)
    return ToolResult(" ".join(map(str, arguments)), done.returncode, done.stdout, done.stderr)


class PartitaBroker(ProcessBroker):
    kind = "partita"
    clean_exit_codes = (0,)
    #: The system chooses the port, which `listeners` leaves open.
    any_port = False

    def command(self):
        # The port file is the event that says the listener is open, so an old one must not be mistaken for it.
        self.port_file.unlink(missing_ok=True)
        command = [partita_binary(), "serve", "--data-dir", str(self.data_directory), "--port-file", str(self.port_file), "--http-port", "0"]
        # Properties that say where to listen name {port} first.
        if "listeners" not in self.properties:
            command += ["--port", str(self.port)]
        for key, value in self.properties.items():
            command += ["--override", f"{key}={value}"]
        return command

    @property
    def port_file(self):
        return self.directory / "port"

    @property
    def http_address(self):
        """Where the HTTP side of the last start listens."""
        return re.findall(r"http listening address=(\S+)", self.log_path.read_text())[-1]

    def is_up(self):
        if not self.port_file.exists():
            return False
        if self.any_port:
            self.port = int(self.port_file.read_text())
        assert int(self.port_file.read_text()) == self.port, "the port file names another port"
        return super().is_up()


class KafkaBroker(ProcessBroker):
    kind = "kafka"
    # Seconds, and minutes where others have the processors.
    start_deadline_s = 180
    # A JVM that ends by a handled SIGTERM says 128 + 15.
    clean_exit_codes = (0, 143)

    def __init__(self, properties=None):
        super().__init__(properties)
        real_kafkas.add(self.bootstrap)
        self.configuration = self.directory / "server.properties"
        settings = self.settings(free_port())
        self.configuration.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        run_java("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(self.configuration), *self.format_options())

    def format_options(self):
        return []

    def settings(self, controller_port):
        settings = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{controller_port}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": self.data_directory,
            "offsets.topic.replication.factor": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
            "group.initial.rebalance.delay.ms": 0,
            "offsets.topic.num.partitions": 4,
        }
        settings.update(self.properties)
        if "listeners" in self.properties:
            settings["listeners"] += f",CONTROLLER://127.0.0.1:{controller_port}"
        return settings

    def command(self):
        command = java_command()
        command[command.index("-Xmx256m")] = "-Xmx512m"
        return command + ["kafka.Kafka", str(self.configuration)]


def start_broker(properties=None, any_port=False):
    """A broker of the chosen target, not yet entered. `properties` are Kafka's server properties. With `any_port` they have port 0."""
    if TARGET == "partita":
        broker = PartitaBroker(properties)
        broker.any_port = any_port
        return broker
    if TARGET == "kafka":
        return KafkaBroker(properties)
    return Broker(TARGET)


def run_java(main_class, *arguments, check=True):
    """One of Kafka's main classes in a JVM of its own."""
    done = subprocess.run(java_command() + [main_class, *arguments], capture_output=True, text=True,
                          timeout=TOOL_DEADLINE_S)
    assert not check or done.returncode == 0, f"{main_class} ended with {done.returncode}\n{done.stdout}{done.stderr}"
    return done


class LineProcess:
    """A child that takes JSON lines and answers each with one; lines that are no reply go to `on_event`."""

    def __init__(self, command, on_event=None, environment=None):
        """`environment` is what the child is told beside our own."""
        self.on_event = on_event
        self.replies = {}
        self.next_id = 0
        self.lock = threading.Lock()
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        text=True, env={**os.environ, **(environment or {})})
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if "reply" in message:
                with self.lock:
                    waiting = self.replies.pop(message["reply"], None)
                if waiting:
                    waiting.put(message)
            elif self.on_event:
                self.on_event(message)
        with self.lock:
            for waiting in self.replies.values():
                waiting.put(None)
            self.replies.clear()

    def error_text(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")[-4000:]

    def call(self, operation, seconds, **request):
        waiting = queue.Queue()
        with self.lock:
            self.next_id += 1
            number = self.next_id
            self.replies[number] = waiting
        self.process.stdin.write(json.dumps({"id": number, "op": operation, **request}) + "\n")
        self.process.stdin.flush()
        try:
            reply = waiting.get(timeout=seconds)
        except queue.Empty:
            raise Deadline(f"no answer within {seconds} s to {operation} {request}\n{self.error_text()}")
        assert reply is not None, f"the client process ended during {operation}\n{self.error_text()}"
        return reply

    @contextlib.contextmanager
    def stopped(self):
        """The process stands still, as behind a long pause, and then goes on."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def kill(self):
        """kill -9: no goodbye to anybody."""
        self.process.kill()
        self.process.wait()
        self.reader.join()

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill()
        self.reader.join()
        self.errors.close()


class ToolResult:
    """What a command line tool left behind."""

    def __init__(self, command, code, out, err):
        self.command, self.code, self.out, self.err = command, code, out, err

    @property
    def lines(self):
        return self.out.splitlines()

    def __repr__(self):
        return f"{self.command}\nexit {self.code}\nout: {self.out}\nerr: {self.err}"

    def succeeded(self):
        assert self.code == 0, repr(self)
        return self


TOOL_CLASSES = {
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-console-share-consumer": "org.apache.kafka.tools.consumer.ConsoleShareConsumer",
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-share-groups": "org.apache.kafka.tools.consumer.group.ShareGroupCommand",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-broker-api-versions": "org.apache.kafka.tools.BrokerApiVersionsCommand",
    "kafka-cluster": "org.apache.kafka.tools.ClusterTool",
    "kafka-dump-log": "org.apache.kafka.tools.DumpLogSegments",
    "kafka-log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "kafka-features": "org.apache.kafka.tools.FeatureCommand",
    "kafka-metadata-quorum": "org.apache.kafka.tools.MetadataQuorumCommand",
    "kafka-reassign-partitions": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-consumer-perf-test": "org.apache.kafka.tools.ConsumerPerformance",
    "kafka-producer-perf-test": "org.apache.kafka.tools.ProducerPerformance",
    "kafka-leader-election": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka-acls": "org.apache.kafka.tools.AclCommand",
    "kafka-client-metrics": "org.apache.kafka.tools.ClientMetricsCommand",
    "kafka-transactions": "org.apache.kafka.tools.TransactionsCommand",
    "kafka-delegation-tokens": "org.apache.kafka.tools.DelegationTokenCommand",
    "kafka-groups": "org.apache.kafka.tools.GroupsCommand",
    "kafka-streams-application-reset": "org.apache.kafka.tools.StreamsResetter",
}


class Tools:
    """Kafka's command line tools by their script names, in one warm JVM."""

    def __init__(self, bootstrap):
        self.bootstrap = bootstrap
        self.runner = LineProcess(java_command() + ["Tools"])

    def __call__(self, tool, *arguments, input="", seconds=TOOL_DEADLINE_S):
        """Runs a tool; `--bootstrap-server` is added unless given or the tool reads files."""
        arguments = [str(argument) for argument in arguments]
        if tool != "kafka-dump-log" and "--bootstrap-server" not in arguments:
            arguments += ["--bootstrap-server", self.bootstrap]
        reply = self.runner.call("tool", seconds, **{"class": TOOL_CLASSES[tool]}, arguments=arguments, input=input)
        assert reply["ok"], reply
        return ToolResult(" ".join([tool, *arguments]), reply["exit"], reply["out"], reply["err"])

    def close(self):
        self.runner.close()
