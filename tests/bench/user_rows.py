"""What users see: the clients that they have, with their defaults. The client is what takes the time there, so that the share of
the broker shows in its processor seconds and less in the throughput. Values are random: franz-go compresses by default, and
who checks compressed records (as Kafka does) would be measured beside who does not."""

import json
import os
import re
import statistics
import subprocess
import time

import rivals
import start_bench
from contenders import HERE, harness
from rows import SHARED_TOUCH, Row

SOURCES = HERE / "users"
RECORD_BYTES = 1000
PARTITIONS = 6
TIMEOUT_DIVISOR = 3  # of the replay client's: some rivals never answer these clients, and each of them is waited for
HEAP = "-Xmx512M"  # as Kafka's own scripts start these tools


class Client:
    """A program of ours around a client: it takes produce or consume, and tells how long it took."""

    name = ""
    sources = ()

    @property
    def program(self):
        return rivals.cache() / f"{self.name}-client"

    def install(self):
        if not rivals.is_current(self.program, self.sources):
            self.make()

    def make(self):
        raise NotImplementedError

    def seconds(self, what, session, topic, records, timeout_s, partitions=PARTITIONS):
        done = subprocess.run([self.program, what, str(session.port), topic, str(partitions), str(records), str(RECORD_BYTES)],
                              capture_output=True, text=True, timeout=timeout_s)
        if done.returncode != 0:
            raise RuntimeError(f"{self.name} against {session.contender.name}: {done.stderr.strip()}\n{session.log_text()}")
        return json.loads(done.stdout)["seconds"]


class Librdkafka(Client):
    name = "librdkafka"
    sources = (SOURCES / "rdkafka_client.cc",)

    def make(self):
        rivals.Rival.run(["c++", "-std=c++20", "-O2", "-o", str(self.program), str(self.sources[0]), "-lrdkafka"])


class FranzGo(Client):
    name = "franz-go"
    sources = (SOURCES / "franz" / "main.go", SOURCES / "franz" / "go.mod")

    def make(self):
        rivals.Rival.run(["go", "build", "-mod=readonly", "-buildvcs=false", "-o", str(self.program), "."], cwd=self.sources[0].parent,
                         env={**os.environ, "CGO_ENABLED": "0"})


class Java(Client):
    """Kafka's own measuring tools. Their clocks begin when the virtual machine has started."""

    name = "java"

    def install(self):
        """The tools came with Kafka."""

    def seconds(self, what, session, topic, records, timeout_s):
        tool = {"produce": "ProducerPerformance", "consume": "ConsumerPerformance"}[what]
        options = {"produce": ["--record-size", str(RECORD_BYTES), "--throughput", "-1", "--command-property", "acks=all"],
                   "consume": ["--hide-header", "--timeout", "60000"]}[what]
        done = subprocess.run(["java", HEAP, "-cp", (harness.TOOLS / "classpath").read_text(), f"org.apache.kafka.tools.{tool}",
                               "--bootstrap-server", f"127.0.0.1:{session.port}", "--topic", topic, "--num-records", str(records),
                               *options], capture_output=True, text=True, timeout=timeout_s)
        if done.returncode != 0:
            raise RuntimeError(f"{tool} against {session.contender.name}: {done.stdout}{done.stderr}")
        if what == "produce":
            found = re.search(rf"^{records} records sent, ([\d.]+) records/sec", done.stdout, re.M)
            return records / float(found[1])
        # ..., fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec: without the time that joining the group took.
        columns = done.stdout.strip().splitlines()[-1].split(", ")
        if int(columns[4]) < records:
            raise RuntimeError(f"{columns[4]} of {records} records came")
        return int(columns[7]) / 1000


class Users(Row):
    figures = (("produce_mb_per_s", "MB/s", "more"), ("produce_cpu_s_per_gb", "cpu-s/GB", "less"),
               ("consume_mb_per_s", "MB/s", "more"), ("consume_cpu_s_per_gb", "cpu-s/GB", "less"))
    bars = tuple((figure, "K", 1 if better == "less" else -1) for figure, _, better in figures)
    contenders = ("K", "B")
    stores_records = True
    # The client is at its limit; who is ahead by a few percent is chance.
    beside_rivals_unjudged = ("produce_mb_per_s", "consume_mb_per_s")

    def __init__(self, client):
        self.client = client
        self.name = f"users-{client.name}"
        self.text = f"1 KB records through {client.name}, {PARTITIONS} partitions, acks=all"

    def measure(self, session, bench):
        self.client.install()
        topic = f"{self.name}-{bench.next_number()}"
        session.create_topic(topic, PARTITIONS)
        records = bench.scale.megabytes * 1_000_000 // RECORD_BYTES
        if bench.scale.touch:
            bytearray(SHARED_TOUCH * bench.scale.megabytes * 1_000_000)
        figures = {}
        for what in ("produce", "consume"):
            before = start_bench.cpu_and_switches(session.pid)[0]
            seconds = self.client.seconds(what, session, topic, records, bench.scale.timeout_s / TIMEOUT_DIVISOR)
            used_s = (start_bench.cpu_and_switches(session.pid)[0] - before) / 1e9
            gigabytes = records * RECORD_BYTES / 1e9
            figures |= {f"{what}_mb_per_s": 1000 * gigabytes / seconds, f"{what}_cpu_s_per_gb": used_s / gigabytes}
        session.delete_topic(topic)
        return figures


class LibrdkafkaRhythm(Row):
    """librdkafka's own way of sending, into one partition: up to a million requests in flight, as much of them at once as the socket
    takes."""

    name = "rhythm-librdkafka"
    text = "1 KB records through librdkafka, one partition, acks=all"
    figures = (("cpu_s_per_gb", "cpu-s/GB", "less"), ("mb_per_s", "MB/s", "more"))
    bars = (("cpu_s_per_gb", "R", 1.25),)
    contenders = ("B", "R")
    rivals = False

    def measure(self, session, bench):
        client = Librdkafka()
        client.install()
        topic = f"{self.name}-{bench.next_number()}"
        session.create_topic(topic, 1)
        records = bench.scale.megabytes * 1_000_000 // RECORD_BYTES
        if bench.scale.touch:
            bytearray(SHARED_TOUCH * bench.scale.megabytes * 1_000_000)
        before = start_bench.cpu_and_switches(session.pid)[0]
        seconds = client.seconds("produce", session, topic, records, bench.scale.timeout_s, partitions=1)
        used_s = (start_bench.cpu_and_switches(session.pid)[0] - before) / 1e9
        session.delete_topic(topic)
        return {"cpu_s_per_gb": used_s / (records * RECORD_BYTES / 1e9), "mb_per_s": records * RECORD_BYTES / 1e6 / seconds}


class TopicsList(Row):
    """The command line tools themselves: what somebody waits who asks for the topics, from the start of the program to its end."""

    name = "command-topics-list"
    text = "`partita topics --list` (B) and kafka-topics --list (K), each asking its own broker"
    figures = (("list_ms", "ms", "less"),)
    bars = (("list_ms", None, 10), ("list_ms", "K", 0.1))
    contenders = ("K", "B")
    rivals = False

    def measure(self, session, bench):
        binary = getattr(session.contender, "binary", None)
        program = [str(binary), "topics"] if binary else [*harness.java_command(), "org.apache.kafka.tools.TopicCommand"]
        topic = f"{self.name}-{bench.next_number()}"
        session.create_topic(topic, 1)
        taken_ms = []
        for _ in range(bench.scale.starts):
            began = time.monotonic()
            done = subprocess.run([*program, "--bootstrap-server", f"127.0.0.1:{session.port}", "--list"], capture_output=True,
                                  text=True, timeout=bench.scale.timeout_s)
            taken_ms.append((time.monotonic() - began) * 1000)
            if done.returncode != 0 or topic not in done.stdout.splitlines():
                raise RuntimeError(f"{program[0]} against {session.contender.name}: {done.stdout}{done.stderr}")
        session.delete_topic(topic)
        return {"list_ms": statistics.median(taken_ms)}


ROWS = [Users(Librdkafka()), Users(FranzGo()), Users(Java()), LibrdkafkaRhythm(), TopicsList()]
