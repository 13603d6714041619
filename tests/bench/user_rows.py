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
from contenders import HERE, harness
from report import NOT_RIVALS
from rows import SHARED_TOUCH, Row

SOURCES = HERE / "users"
RECORD_BYTES = 1000
PARTITIONS = 6
TIMEOUT_DIVISOR = 3  # of the replay client's: some rivals never answer these clients, and each of them is waited for
HEAP = "-Xmx512M"  # as Kafka's own scripts start these tools
RECORDS_OF_PART = 1000  # 1 MB: what one transaction commits


class NoEnd(RuntimeError):
    """A client was still waiting when its time was over."""


class Client:
    """A program of ours around a client: it takes produce or consume, and tells how long it took."""

    name = ""
    sources = ()

    def __init__(self):
        self.given_up = set()  # rivals that it had no end with in parts: waited for once, and not in each row and block

    @property
    def program(self):
        return rivals.cache() / f"{self.name}-client"

    def install(self):
        if not rivals.is_current(self.program, self.sources):
            self.make()

    def make(self):
        raise NotImplementedError

    def run(self, program, session, timeout_s, *arguments):
        """Returns what the program printed; raises RuntimeError when it failed, NoEnd when it took longer."""
        against = f"{self.name} against {session.contender.name}"
        try:
            done = subprocess.run([*program, *map(str, arguments)], capture_output=True, text=True, timeout=timeout_s)
        except subprocess.TimeoutExpired as error:
            raise NoEnd(f"{against}: no end within {timeout_s:g} s\n{session.log_text()}") from error
        if done.returncode != 0:
            raise RuntimeError(f"{against}: {(done.stderr or done.stdout).strip()}\n{session.log_text()}")
        return done.stdout

    def seconds(self, what, session, topic, records, timeout_s, partitions=PARTITIONS):
        return json.loads(self.run([self.program], session, timeout_s, what, session.port, topic, partitions, records, RECORD_BYTES))["seconds"]

    def parts_program(self):
        return [self.program]

    def in_parts(self, what, session, topic, records, timeout_s):
        """`what`: idempotent, rhythm, exchange or transactional. Returns records, seconds, how many records were written in all, and
        the median time of a part where each is waited for."""
        contender = session.contender.name
        if contender in self.given_up:
            raise RuntimeError(f"{self.name} against {contender}: had no end before, and was not tried again")
        try:
            return json.loads(self.run(self.parts_program(), session, timeout_s, what, session.port, topic, PARTITIONS, records, RECORD_BYTES,
                                       RECORDS_OF_PART))
        except NoEnd:
            if contender not in NOT_RIVALS:
                self.given_up.add(contender)
            raise


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
    """Kafka's own measuring tools, and a program of ours for what they cannot do (they end a transaction by time). Their clocks
    begin when the virtual machine has started."""

    name = "java"

    def install(self):
        """The tools came with Kafka."""

    def parts_program(self):
        # Compiled by the launcher before its clock begins.
        return [*self.java(), SOURCES / "ProduceInParts.java"]

    @staticmethod
    def java():
        return ["java", HEAP, "-cp", (harness.TOOLS / "classpath").read_text()]

    def seconds(self, what, session, topic, records, timeout_s):
        tool = {"produce": "ProducerPerformance", "consume": "ConsumerPerformance"}[what]
        options = {"produce": ["--record-size", str(RECORD_BYTES), "--throughput", "-1", "--command-property", "acks=all"],
                   "consume": ["--hide-header", "--timeout", "60000"]}[what]
        output = self.run([*self.java(), f"org.apache.kafka.tools.{tool}"], session, timeout_s, "--bootstrap-server",
                          f"127.0.0.1:{session.port}", "--topic", topic, "--num-records", records, *options)
        if what == "produce":
            found = re.search(rf"^{records} records sent, ([\d.]+) records/sec", output, re.M)
            return records / float(found[1])
        # ..., fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec: without the time that joining the group took.
        columns = output.strip().splitlines()[-1].split(", ")
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
            before = session.processor_ns()
            seconds = self.client.seconds(what, session, topic, records, bench.scale.timeout_s / TIMEOUT_DIVISOR)
            used_s = (session.processor_ns() - before) / 1e9
            gigabytes = records * RECORD_BYTES / 1e9
            figures |= {f"{what}_mb_per_s": 1000 * gigabytes / seconds, f"{what}_cpu_s_per_gb": used_s / gigabytes}
        session.delete_topic(topic)
        return figures


class InParts(Row):
    """An idempotent producer, one that waits for each MB, or one that commits each MB; all else is equal. Bars beside other rows are
    the least shares of their throughput."""

    contenders = ("K", "B")
    stores_records = True
    beside_rivals_unjudged = ("mb_per_s", "part_p50_us")

    def __init__(self, client, name, what, text, at_least=()):
        self.client, self.what, self.name, self.text = client, what, f"users-{client.name}-{name}", text
        self.figures = (("mb_per_s", "MB/s", "more"), ("cpu_s_per_gb", "cpu-s/GB", "less"),
                        *([("part_p50_us", "us", "less")] if what != "idempotent" else []))
        self.bars = (*((figure, "K", 1 if better == "less" else -1) for figure, _, better in self.figures),
                     *(("mb_per_s", f"row users-{client.name}-{other}", -share) for other, share in at_least))

    def measure(self, session, bench):
        self.client.install()
        topic = f"{self.name}-{bench.next_number()}"
        session.create_topic(topic, PARTITIONS)
        megabytes = bench.scale.megabytes
        if bench.scale.touch:
            bytearray(SHARED_TOUCH * megabytes * 1_000_000)
        before = session.processor_ns()
        timeout_s = bench.scale.timeout_s / (1 if session.contender.name in self.contenders else TIMEOUT_DIVISOR)
        done = self.client.in_parts(self.what, session, topic, megabytes * 1_000_000 // RECORD_BYTES, timeout_s)
        used_s = (session.processor_ns() - before) / 1e9
        session.delete_topic(topic)
        return {"mb_per_s": done["records"] * RECORD_BYTES / 1e6 / done["seconds"],
                "cpu_s_per_gb": used_s / (done["written"] * RECORD_BYTES / 1e9),
                **{name: value for name, value in done.items() if name == "part_p50_us"}}


def rows_in_parts(client):
    """The last one beside the first says what a program sees that begins to use transactions. Beside the second it says what is left
    of that for one which waits for each MB anyway, and beside the third what transactions cost but for one more exchange."""
    return [
        InParts(client, "idempotent", "idempotent", f"1 KB records through {client.name}, {PARTITIONS} partitions, idempotent"),
        InParts(client, "idempotent-rhythm", "rhythm", "the same in the rhythm of transactions: each MB is waited for"),
        InParts(client, "idempotent-exchange", "exchange", "the same, and the last record of each MB goes behind the others and is waited for"),
        InParts(client, "transactional", "transactional", "the same in transactions of 1 MB",
                (("idempotent", 0.9), ("idempotent-rhythm", 0.9), ("idempotent-exchange", 0.9))),
    ]


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
        before = session.processor_ns()
        seconds = client.seconds("produce", session, topic, records, bench.scale.timeout_s, partitions=1)
        used_s = (session.processor_ns() - before) / 1e9
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


CLIENTS = (Librdkafka(), FranzGo(), Java())
ROWS = [*[Users(client) for client in CLIENTS], *[row for client in CLIENTS for row in rows_in_parts(client)], LibrdkafkaRhythm(),
        TopicsList()]
