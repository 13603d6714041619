"""What is measured: one class of rows per kind of load. A row gets a session and answers figures by name.

`bars` of a row say what must hold: (figure, against, most) means figure(B) / figure(against) <= most, with `against` None for
a value that stands alone; a negative `most` turns it round: at least that much.
"""

import dataclasses
import json
import subprocess
import time

import start_bench
from start_client import LATEST, Connection

SHARED_TOUCH = 3  # times the bytes written: what large folios of the page cache can take


@dataclasses.dataclass
class Scale:
    """How much is measured: a quick look, or the figures that are published."""

    megabytes: int
    touch: bool
    seconds: float
    commits: int
    rounds: int
    recovery_megabytes: int

    @classmethod
    def quick(cls):
        return cls(megabytes=400, touch=True, seconds=2, commits=10_000, rounds=5, recovery_megabytes=2000)

    @classmethod
    def full(cls):
        return cls(megabytes=1500, touch=True, seconds=8, commits=60_000, rounds=20, recovery_megabytes=10_000)


class Row:
    name = ""
    text = ""
    figures = ()  # (name, unit, "less" or "more" is better); the first is the headline
    bars = ()
    contenders = ("K", "B", "R")

    def measure(self, session, bench):
        raise NotImplementedError


class Replay(Row):
    """A run of the replay client against a topic of its own."""

    partitions = 1
    topic_configs = ()

    def replay(self, session, bench, topic, mode, **options):
        command = [bench.replay_client, mode, "--port", str(session.port), "--pid", str(session.pid), "--topic", topic]
        for option, value in options.items():
            command += [f"--{option.replace('_', '-')}"] + ([] if value is True else [str(value)])
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise RuntimeError(f"{self.name} against {session.contender.name}: {done.stderr.strip()} {session.log_text()}")
        return json.loads(done.stdout)

    def topic(self, session, bench):
        name = f"{self.name}-{bench.next_number()}"
        session.create_topic(name, self.partitions, self.topic_configs)
        return name


class Produce(Replay):
    figures = (("cpu_s_per_gb", "cpu-s/GB", "less"), ("mb_per_s", "MB/s", "more"), ("records_per_s", "records/s", "more"),
               ("ack_p99_us", "us", "less"))

    def __init__(self, name, text, bars, partitions=1, share=1.0, **options):
        self.name, self.text, self.bars, self.partitions = name, text, bars, partitions
        self.share, self.options = share, options

    def measure(self, session, bench):
        topic = self.topic(session, bench)
        megabytes = int(bench.scale.megabytes * self.share)
        touch = SHARED_TOUCH * megabytes if bench.scale.touch else 0
        figures = self.replay(session, bench, topic, "produce", partitions=self.partitions, megabytes=megabytes,
                              touch_megabytes=touch, **self.options)
        session.delete_topic(topic)
        return figures


class Sync(Replay):
    """A device sync before every acknowledgement."""

    topic_configs = (("flush.messages", 1),)
    figures = (("acks_per_s", "acks/s", "more"), ("ack_p99_us", "us", "less"))
    bars = (("acks_per_s", "R", -0.8),)

    def __init__(self, writers):
        self.name = f"sync-{writers}"
        self.text = f"a device sync before every acknowledgement, {writers} writers of 4 KiB"
        self.writers = writers

    def measure(self, session, bench):
        with bench.syncing(session) as syncing:
            topic = self.topic(syncing, bench)
            requests = int(2000 * bench.scale.seconds * (1 + self.writers / 4))
            figures = self.replay(syncing, bench, topic, "produce", connections=self.writers, in_flight=1, record_bytes=4000,
                                  batch_bytes=4096, requests=requests)
            syncing.delete_topic(topic)
        return figures


class Consume(Replay):
    figures = (("cpu_s_per_gb", "cpu-s/GB", "less"), ("mb_per_s", "MB/s", "more"))

    def __init__(self, readers):
        self.name = f"consume-{readers}"
        self.text = f"read 1 KB records that were just written, {readers} at once" if readers > 1 else "read 1 KB records that were just written"
        self.readers = readers
        self.bars = (("cpu_s_per_gb", "R", 1.2), ("cpu_s_per_gb", "K", 0.5))

    def measure(self, session, bench):
        topic = self.topic(session, bench)
        written = self.replay(session, bench, topic, "produce", megabytes=bench.scale.megabytes,
                              touch_megabytes=SHARED_TOUCH * bench.scale.megabytes)
        figures = self.replay(session, bench, topic, "fetch", connections=self.readers, megabytes=int(written["bytes"] / 1e6))
        session.delete_topic(topic)
        return figures


class EndToEnd(Replay):
    figures = (("latency_p50_us", "us", "less"), ("latency_p99_us", "us", "less"), ("latency_p999_us", "us", "less"))

    def __init__(self, rate):
        self.name = f"end-to-end-{rate // 1000}k"
        self.text = f"due time to arrival, open loop, 100 B, {rate:,} records a second"
        self.rate = rate
        self.bars = (("latency_p50_us", "R", 1.3), ("latency_p999_us", None, 5000), ("latency_p999_us", "K", 0.5))

    def measure(self, session, bench):
        with bench.fresh_if_limit(session) as fresh:
            topic = self.topic(fresh, bench)
            figures = self.replay(fresh, bench, topic, "end_to_end", rate=self.rate, record_bytes=100,
                                  seconds=bench.scale.seconds, warmup_seconds=min(2, bench.scale.seconds))
            fresh.delete_topic(topic)
        return figures


class Commits(Replay):
    name = "offset-commits"
    text = "offset commits, 1,000 groups x 50 partitions, 16 in flight"
    partitions = 50
    figures = (("offsets_per_s", "offsets/s", "more"), ("commit_p99_us", "us", "less"))
    bars = (("offsets_per_s", None, -2_000_000), ("offsets_per_s", "K", -1))
    contenders = ("K", "B")

    def measure(self, session, bench):
        topic = self.topic(session, bench)
        figures = self.replay(session, bench, topic, "offset_commits", groups=1000, partitions=50, in_flight=16,
                              requests=bench.scale.commits)
        session.delete_topic(topic)
        return figures


class Rejoin(Replay):
    figures = (("rejoin_ms", "ms", "less"), ("form_ms", "ms", "less"))
    contenders = ("K", "B")

    def __init__(self, members, most_ms):
        self.name = f"rejoin-{members}"
        self.text = f"a rebalance of all {members:,} members of a classic group at once"
        self.members = members
        self.bars = (("rejoin_ms", None, most_ms), ("rejoin_ms", "K", 0.5))

    def measure(self, session, bench):
        return self.replay(session, bench, "unused", "rejoin", members=self.members, rounds=bench.scale.rounds)


class WideTopic(Row):
    name = "wide-topic"
    text = "a topic of 9,999 partitions; then one expanded from 1 to 9,999"
    figures = (("create_ms", "ms", "less"), ("answer_ms", "ms", "less"), ("metadata_ms", "ms", "less"), ("added_mb", "MB", "less"),
               ("expand_ms", "ms", "less"))
    bars = (("create_ms", None, 10), ("answer_ms", None, 20), ("metadata_ms", None, 2), ("added_mb", None, 6))
    contenders = ("B",)  # Kafka needs a minute for it, and cannot hold two; `start --with-kafka` shows it

    def measure(self, session, bench):
        with session.contender.session() as fresh:
            before = fresh.resident_mb()
            with Connection(fresh.port, timeout=start_bench.ANSWER_DEADLINE_S) as connection:
                create = connection.prepare_create_topic("wide", start_bench.PARTITIONS)
                began = time.monotonic()
                reader = connection.exchange(create)
                create_ms = 1000 * (time.monotonic() - began)
                connection.read_create_topic(reader)
                answered, wrong = start_bench.until_all_answer(connection, "wide", 0, LATEST)
                if wrong:
                    raise RuntimeError(f"{len(wrong)} partitions do not answer")
                answer_ms = 1000 * (answered - began)
                added_mb = fresh.resident_mb() - before
                metadata = connection.prepare_metadata("wide")
                connection.exchange(metadata)
                asked = time.monotonic()
                connection.exchange(metadata)
                metadata_ms = 1000 * (time.monotonic() - asked)
                connection.read_create_topic(connection.exchange(connection.prepare_create_topic("narrow", 1)))
                expand = connection.prepare_create_partitions("narrow", start_bench.PARTITIONS)
                asked = time.monotonic()
                reader = connection.exchange(expand)
                expand_ms = 1000 * (time.monotonic() - asked)
                connection.read_create_partitions(reader)
        return {"create_ms": create_ms, "answer_ms": answer_ms, "metadata_ms": metadata_ms, "added_mb": added_mb,
                "expand_ms": expand_ms}


class Start(Row):
    name = "start"
    text = "exec to the first correct ApiVersions answer, empty directory"
    figures = (("start_ms", "ms", "less"),)
    bars = (("start_ms", "R", 1.5), ("start_ms", None, 5))

    def measure(self, session, bench):
        times = []
        for _ in range(1 if session.contender.name == "K" else 7):
            with session.contender.session(start=False) as fresh:
                times.append(fresh.start())
        return {"start_ms": sorted(times)[len(times) // 2]}


class Idle(Row):
    name = "idle"
    text = "an idle broker, and 1,000 idle connections"
    figures = (("idle_mb", "MB", "less"), ("per_connection_kb", "KB", "less"), ("idle_cpu_percent", "%", "less"))
    bars = (("idle_mb", None, 6), ("per_connection_kb", None, 3), ("idle_cpu_percent", None, 0.1))
    contenders = ("B", "R")
    CONNECTIONS = 1000

    def measure(self, session, bench):
        with session.contender.session() as fresh:
            time.sleep(1)
            idle_mb = fresh.resident_mb()
            window_s = bench.scale.seconds
            before = start_bench.cpu_and_switches(fresh.pid)[0]
            time.sleep(window_s)
            cpu_percent = (start_bench.cpu_and_switches(fresh.pid)[0] - before) / 1e7 / window_s
            connections = [Connection(fresh.port) for _ in range(self.CONNECTIONS)]
            for connection in connections:
                connection.exchange(connection.prepare_api_versions())
            per_connection = (fresh.resident_mb() - idle_mb) * 1e3 / self.CONNECTIONS
            for connection in connections:
                connection.close()
        return {"idle_mb": idle_mb, "per_connection_kb": max(per_connection, 0.001), "idle_cpu_percent": cpu_percent}


class Recovery(Replay):
    name = "recovery"
    text = "kill -9 with data in 100 partitions, exec to the first answer"
    partitions = 100
    figures = (("restart_ms", "ms", "less"), ("gigabytes", "GB", "more"))
    bars = (("restart_ms", None, 500),)
    contenders = ("B",)

    def measure(self, session, bench):
        with session.contender.session() as fresh:
            topic = self.topic(fresh, bench)
            written = self.replay(fresh, bench, topic, "produce", partitions=100, megabytes=bench.scale.recovery_megabytes)
            fresh.kill()
            restart_ms = fresh.start()
        return {"restart_ms": restart_ms, "gigabytes": written["bytes"] / 1e9}


SMALL = {"record_bytes": 100, "batch_bytes": 16384, "keyed": True}
AHEAD_OF_KAFKA = (("cpu_s_per_gb", "K", 1), ("mb_per_s", "K", -1), ("ack_p99_us", "K", 1))

ROWS = [
    Produce("produce-1k-64k", "produce 1 KB records, 64 KiB batches, 5 in flight",
            (("cpu_s_per_gb", "R", 1.25), ("cpu_s_per_gb", "K", 0.2), ("mb_per_s", "R", -0.9))),
    Produce("produce-1k-1m", "produce 1 KB records, 1 MB batches, 5 in flight",
            (("cpu_s_per_gb", "R", 1.25), ("cpu_s_per_gb", "K", 0.2), ("mb_per_s", "R", -0.9)), batch_bytes=1_000_000),
    Produce("produce-idempotent", "the first row with an idempotent producer",
            (("mb_per_s", "K", -1), ("cpu_s_per_gb", "R", 1.25)), idempotent=True),
    Produce("produce-100b-16", "produce 100 B records with keys, 16 partitions", (("cpu_s_per_gb", "R", 1.5), *AHEAD_OF_KAFKA),
            partitions=16, share=0.5, **SMALL),
    Produce("produce-50x100", "50 producers x 100 partitions, 100 B records with keys", (("cpu_s_per_gb", "R", 1.5), *AHEAD_OF_KAFKA),
            partitions=100, share=0.5, connections=50, in_flight=1, **SMALL),
    Consume(1), Consume(3),
    EndToEnd(1000), EndToEnd(10_000), EndToEnd(100_000),
    Sync(1), Sync(16), Sync(64),
    Commits(),
    Rejoin(10, 1), Rejoin(100, 3), Rejoin(1000, 40),
    WideTopic(), Start(), Idle(), Recovery(),
]


class Detection(Produce):
    """Partitioner detection on against off: B against B0, the same binary with it switched off."""

    contenders = ("B", "B0")

    def __init__(self):
        super().__init__("detection", "produce 100 B records with keys, partitioner detection on (B) and off (B0)",
                         (("cpu_s_per_gb", "B0", 1.03),), partitions=16, **SMALL)


ROWS.append(Detection())
