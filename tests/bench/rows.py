"""What is measured while a broker runs: one class of rows per kind of load. A row gets a session and answers figures by name.

`bars` of a row say what must hold: (figure, against, most) means figure(B) / figure(against) <= most, with `against` None for
a value that stands alone; a negative `most` turns it round: at least that much. `against` is the name of a contender, or
"row NAME" for what B does in another row. Rivals join every row that says so; none of them may be ahead in any figure.
"""

import dataclasses
import json
import subprocess
import time

SETTLED_S = 1.2  # without work to speak of: longer than any broker here puts off its sync
SETTLED_SHARE = 0.1  # of a processor; Apache Kafka uses 0.04 when nobody asks it anything
SETTLE_MOST_S = 10
SHARED_TOUCH = 3  # times the bytes written: what large folios of the page cache can take


@dataclasses.dataclass
class Scale:
    """How much is measured: a quick look, or the figures that are published."""

    megabytes: int
    touch: bool
    seconds: float
    commits: int
    rounds: int
    stored_megabytes: int  # in the directories that are started on
    starts: int
    pairs: int  # of consumers that start together
    slow_kafka: bool  # rows for which Kafka needs minutes
    timeout_s: float  # of one run of the replay client

    @classmethod
    def quick(cls):
        return cls(megabytes=300, touch=True, seconds=1.5, commits=15_000, rounds=9, stored_megabytes=1000, starts=5, pairs=3,
                   slow_kafka=False, timeout_s=60)

    @classmethod
    def full(cls):
        return cls(megabytes=1500, touch=True, seconds=8, commits=60_000, rounds=20, stored_megabytes=10_000, starts=9, pairs=20,
                   slow_kafka=True, timeout_s=300)


class Row:
    name = ""
    text = ""
    figures = ()  # (name, unit, "less" or "more" is better); the first is the headline
    bars = ()
    contenders = ("K", "B", "R")
    rivals = True
    stores_records = False  # beside a rival that forgets them nothing is judged
    beside_rivals_unjudged = ()  # figures so near to nothing that who has less is chance
    slow_for_kafka = False  # measured only where time is no matter

    def measure(self, session, bench):
        raise NotImplementedError


class Replay(Row):
    """A run of the replay client against a topic of its own."""

    partitions = 1
    topic_configs = ()

    def begin(self, session, bench, topic, mode, **options):
        command = [bench.replay_client, mode, "--port", str(session.port), "--pid", str(session.pid), "--topic", topic]
        for option, value in options.items():
            command += [f"--{option.replace('_', '-')}"] + ([] if value is True else [str(value)])
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end(self, session, bench, process):
        try:
            output, errors = process.communicate(timeout=bench.scale.timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        if process.returncode != 0:
            raise RuntimeError(f"{self.name} against {session.contender.name}: {errors.strip()}\n{session.log_text()}")
        return json.loads(output)

    def settle(self, session):
        """Waits until what its producers left to the broker is done, so that readers are not billed for it: it syncs in the
        background, or collects garbage."""
        end = time.monotonic() + SETTLE_MOST_S
        before = session.processor_s()
        while time.monotonic() < end:
            time.sleep(SETTLED_S)
            before, last = session.processor_s(), before
            if before - last < SETTLED_SHARE * SETTLED_S:
                return

    def replay(self, session, bench, topic, mode, **options):
        return self.end(session, bench, self.begin(session, bench, topic, mode, **options))

    def topic(self, session, bench):
        name = f"{self.name}-{bench.next_number()}"
        session.create_topic(name, self.partitions, self.topic_configs)
        return name


class Produce(Replay):
    stores_records = True
    figures = (("cpu_s_per_gb", "cpu-s/GB", "less"), ("mb_per_s", "MB/s", "more"), ("records_per_s", "records/s", "more"),
               ("ack_p99_us", "us", "less"))

    def __init__(self, name, text, bars, partitions=1, share=1.0, **options):
        self.name, self.text, self.bars, self.partitions = name, text, bars, partitions
        self.share, self.options = share, options
        if "idempotent" in options or "transactional" in options:
            self.contenders = ("K", "B")  # the limit program knows no producers

    def measure(self, session, bench):
        topic = self.topic(session, bench)
        megabytes = int(bench.scale.megabytes * self.share)
        touch = SHARED_TOUCH * megabytes if bench.scale.touch else 0
        figures = self.replay(session, bench, topic, "produce", partitions=self.partitions, megabytes=megabytes,
                              touch_megabytes=touch, **self.options)
        session.delete_topic(topic)
        return figures


class Rhythm(Produce):
    """How a client sends, and nothing else, makes the difference: the broker beside the limit program."""

    contenders = ("B", "R")
    rivals = False
    batch_bytes = 66_600  # 64 records of 1 KiB: the request is a little more than 64 KiB

    def __init__(self, name, text, **options):
        super().__init__(f"rhythm-{name}", f"requests of 64 KiB, {text}", (("cpu_s_per_gb", "R", 1.25),), share=0.5,
                         batch_bytes=self.batch_bytes, **options)


class Sync(Replay):
    """A device sync before every acknowledgement."""

    topic_configs = (("flush.messages", 1),)
    figures = (("acks_per_s", "acks/s", "more"), ("ack_p99_us", "us", "less"))
    bars = (("acks_per_s", "R", -0.8), ("acks_per_s", "K", -1))
    rivals = False  # none of them syncs

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
        self.settle(session)
        figures = self.replay(session, bench, topic, "fetch", connections=self.readers, megabytes=int(written["bytes"] / 1e6))
        session.delete_topic(topic)
        return figures


class EndToEnd(Replay):
    figures = (("latency_p50_us", "us", "less"), ("latency_p99_us", "us", "less"), ("latency_p999_us", "us", "less"))

    def __init__(self, rate, read_committed=False):
        plain = f"end-to-end-{rate // 1000}k"
        self.name = f"{plain}-committed" if read_committed else plain
        self.text = f"due time to arrival, open loop, 100 B, {rate:,} records a second"
        self.rate = rate
        self.bars = (("latency_p50_us", "R", 1.3), ("latency_p999_us", None, 5000), ("latency_p999_us", "K", 0.5))
        self.options = {}
        if read_committed:
            self.text += ", for a reader of committed records"
            self.contenders = ("K", "B")  # the limit program knows no transactions
            self.bars = (("latency_p50_us", f"row {plain}", 1.3), ("latency_p50_us", "K", 1))
            self.options = {"read_committed": True}

    def measure(self, session, bench):
        with bench.fresh_if_limit(session) as fresh:
            topic = self.topic(fresh, bench)
            figures = self.replay(fresh, bench, topic, "end_to_end", rate=self.rate, record_bytes=100,
                                  seconds=bench.scale.seconds, warmup_seconds=min(2, bench.scale.seconds), **self.options)
            fresh.delete_topic(topic)
        return figures


class Transactions(Replay):
    """Commits, each until the next transaction of the producer may begin. A mock that writes no markers is not a rival there."""

    stores_records = True

    figures = (("transactions_per_s", "1/s", "more"), ("commit_p50_us", "us", "less"), ("commit_p99_us", "us", "less"))
    contenders = ("K", "B")

    def __init__(self, name, text, bars, partitions, producers, requests):
        self.name, self.text, self.bars, self.partitions = name, text, (*bars, ("transactions_per_s", "K", -1)), partitions
        self.producers, self.requests = producers, requests

    def measure(self, session, bench):
        topic = self.topic(session, bench)
        figures = self.replay(session, bench, topic, "transactions", partitions=self.partitions, connections=self.producers,
                              requests=int(self.requests * bench.scale.seconds), seconds=2 * bench.scale.seconds, record_bytes=100)
        session.delete_topic(topic)
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


class ColdConsume(Replay):
    name = "consume-cold"
    text = "read 1 KB records from the disk, beside 1,000 records a second from producer to consumer"
    figures = (("mb_per_s", "MB/s", "more"), ("cpu_s_per_gb", "cpu-s/GB", "less"), ("latency_p99_us", "us", "less"))
    bars = (("mb_per_s", "K", -1), ("latency_p99_us", "K", 1), ("mb_per_s", "R", -0.8))
    rivals = False  # theirs is in memory

    def measure(self, session, bench):
        with bench.fresh_if_limit(session) as fresh:
            cold, live = self.topic(fresh, bench), self.topic(fresh, bench)
            written = self.replay(fresh, bench, cold, "produce", megabytes=bench.scale.megabytes)
            fresh.drop_cache()
            beside = None
            # The limit program has one log for both topics.
            if fresh.contender.has_topics:
                beside = self.begin(fresh, bench, live, "end_to_end", rate=1000, record_bytes=100,
                                    seconds=bench.scale.seconds, warmup_seconds=0.5)
                time.sleep(0.5)
            figures = self.replay(fresh, bench, cold, "fetch", megabytes=int(written["bytes"] / 1e6))
            if beside:
                figures["latency_p99_us"] = self.end(fresh, bench, beside)["latency_p99_us"]
            for topic in (cold, live):
                fresh.delete_topic(topic)
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


class ConsumerGroup(Replay):
    """Heartbeats follow each other at once, and the coordinator may assign as often as it likes."""

    figures = (("join_ms", "ms", "less"), ("leave_ms", "ms", "less"), ("form_ms", "ms", "less"))
    contenders = ("K", "B")

    def __init__(self, members, most_ms):
        self.name = f"consumer-group-{members}"
        self.text = f"a member more, and one less, in a consumer group (KIP-848) of {members:,} members"
        self.members = members
        self.partitions = 2 * members
        self.bars = tuple((figure, against, most) for figure in ("join_ms", "leave_ms")
                          for against, most in ((None, most_ms), ("K", 0.5)))
        self.slow_for_kafka = members >= 1000

    def measure(self, session, bench):
        topic = self.topic(session, bench)
        figures = self.replay(session, bench, topic, "consumer_group", members=self.members, partitions=self.partitions,
                              rounds=min(bench.scale.rounds, 5))
        session.delete_topic(topic)
        return figures


SMALL = {"record_bytes": 100, "batch_bytes": 16384, "keyed": True}
AHEAD_OF_KAFKA = (("cpu_s_per_gb", "K", 1), ("mb_per_s", "K", -1), ("ack_p99_us", "K", 1))

ROWS = [
    Produce("produce-1k-64k", "produce 1 KB records, 64 KiB batches, 5 in flight",
            (("cpu_s_per_gb", "R", 1.25), ("cpu_s_per_gb", "K", 0.2), ("mb_per_s", "R", -0.9))),
    Produce("produce-1k-1m", "produce 1 KB records, 1 MB batches, 5 in flight",
            (("cpu_s_per_gb", "R", 1.25), ("cpu_s_per_gb", "K", 0.2), ("mb_per_s", "R", -0.9)), batch_bytes=1_000_000),
    Produce("produce-idempotent", "the first row with an idempotent producer",
            (("mb_per_s", "K", -1), ("mb_per_s", "row produce-1k-64k", -0.9)), idempotent=True),
    Produce("produce-idempotent-rhythm", "the same in the rhythm of transactions: each MB is waited for, then one small request", (),
            idempotent=True, transaction_rhythm=True),
    Produce("produce-transactional", "the first row in transactions of 1 MB",
            (("mb_per_s", "K", -1), ("mb_per_s", "row produce-idempotent", -0.9),
             ("mb_per_s", "row produce-idempotent-rhythm", -0.9)), transactional=True),
    Produce("produce-idempotent-4", "four idempotent producers, each as in the first row", (("mb_per_s", "K", -1),), idempotent=True,
            connections=4, partitions=4),
    Produce("produce-transactional-4", "the same with transactions of 1 MB",
            (("mb_per_s", "K", -1), ("mb_per_s", "row produce-idempotent-4", -0.9)), transactional=True, connections=4, partitions=4),
    Produce("produce-100b-16", "produce 100 B records with keys, 16 partitions", (("cpu_s_per_gb", "R", 1.5), *AHEAD_OF_KAFKA),
            partitions=16, share=0.5, **SMALL),
    Produce("produce-50x100", "50 producers x 100 partitions, 100 B records with keys", (("cpu_s_per_gb", "R", 1.5), *AHEAD_OF_KAFKA),
            partitions=100, share=0.5, connections=50, in_flight=1, **SMALL),
    *[Rhythm(f"depth-{depth}", f"{depth} in flight", in_flight=depth) for depth in (1, 2, 5, 16, 64)],
    Rhythm("bursts-5", "5 sent at once when all 5 were answered", in_flight=5, bursts=True),
    Rhythm("bursts-16", "16 sent at once when all 16 were answered", in_flight=16, bursts=True),
    Rhythm("transactions", "5 in flight, and after each MB all of them answered and one small request", in_flight=5, transaction_rhythm=True),
    Rhythm("two-connections", "5 in flight on each of two connections", in_flight=5, connections=2),
    Consume(1), Consume(3), ColdConsume(),
    EndToEnd(1000), EndToEnd(10_000), EndToEnd(100_000), EndToEnd(1000, read_committed=True),
    Transactions("transactions-16", "transactions of one record, 16 producers", (("transactions_per_s", None, -1000),), 1, 16, 2000),
    Transactions("transactions-wide", "transactions over 1,000 partitions", (), 1000, 1, 400),
    Sync(1), Sync(16), Sync(64),
    Commits(),
    Rejoin(10, 1), Rejoin(100, 3), Rejoin(1000, 40),
    ConsumerGroup(10, 1), ConsumerGroup(100, 3), ConsumerGroup(1000, 40),
]


class Detection(Produce):
    """Partitioner detection on against off: B against B0, the same binary with it switched off. Long enough that what it
    spends at once on a topic that it has not seen (KeyBudget::kBurstNs) is not most of what is measured."""

    contenders = ("B", "B0")
    rivals = False

    def __init__(self):
        super().__init__("detection", "produce 100 B records with keys, partitioner detection on (B) and off (B0)",
                         (("cpu_s_per_gb", "B0", 1.03),), partitions=16, share=4, **SMALL)


ROWS.append(Detection())
