"""Rows about starting and about how much there is: each starts brokers of its own. See rows.py for what a row is."""

import time

import start_bench
from rows import Replay, Row
from start_client import LATEST, Connection

STORED_PARTITIONS = 100
WIDE = start_bench.PARTITIONS


def median(values):
    return sorted(values)[len(values) // 2]


def restart(session, times, drop_cache=False):
    """Stops and starts it; the median of the milliseconds to the first answer."""
    taken = []
    for _ in range(times):
        session.stop()
        if drop_cache:
            session.drop_cache()
        taken.append(session.start())
    return median(taken)


def create_and_wait(connection, name, partitions):
    """Creates a topic; the milliseconds until that was answered, and until every partition answered ListOffsets."""
    create = connection.prepare_create_topic(name, partitions)
    ask = connection.prepare_list_offsets(name, partitions, LATEST)
    began = time.monotonic()
    reader = connection.exchange(create)
    create_ms = 1000 * (time.monotonic() - began)
    connection.read_create_topic(reader)
    answered, wrong = start_bench.until_all_answer(connection, name, 0, LATEST, partitions, ask)
    if wrong:
        raise RuntimeError(f"{len(wrong)} partitions of {name} do not answer")
    return create_ms, 1000 * (answered - began)


class WideTopic(Row):
    name = "wide-topic"
    text = f"a topic of {WIDE:,} partitions; then one expanded from 1 to {WIDE:,}"
    figures = (("create_ms", "ms", "less"), ("answer_ms", "ms", "less"), ("metadata_ms", "ms", "less"), ("added_mb", "MB", "less"),
               ("restart_ms", "ms", "less"), ("expand_ms", "ms", "less"), ("expand_answer_ms", "ms", "less"))
    bars = (("create_ms", None, 10), ("answer_ms", None, 20), ("metadata_ms", None, 2), ("added_mb", None, 6),
            ("restart_ms", None, 20), ("expand_ms", None, 10), ("expand_answer_ms", None, 20))
    contenders = ("B",)  # Kafka needs a minute for it, and cannot hold two: `scripts/bench start --with-kafka` shows it

    def measure(self, session, bench):
        with session.contender.session() as fresh:
            before = fresh.resident_mb()
            with Connection(fresh.port, timeout=start_bench.ANSWER_DEADLINE_S) as connection:
                create_ms, answer_ms = create_and_wait(connection, "wide", WIDE)
                figures = {"create_ms": create_ms, "answer_ms": answer_ms, "added_mb": fresh.resident_mb() - before,
                           "metadata_ms": self.metadata_ms(connection)}
            if fresh.contender.name in ("B", "K"):
                figures["restart_ms"] = restart(fresh, bench.scale.starts)
            # An expansion may be beyond a rival that could do the rest.
            try:
                with Connection(fresh.port, timeout=start_bench.ANSWER_DEADLINE_S) as connection:
                    figures |= self.expand(connection)
            except (RuntimeError, OSError, start_bench.ProtocolError):
                if fresh.contender.name == "B":
                    raise
        return figures

    @staticmethod
    def metadata_ms(connection):
        metadata = connection.prepare_metadata("wide")
        times = []
        for _ in range(5):
            asked = time.monotonic()
            connection.exchange(metadata)
            times.append(1000 * (time.monotonic() - asked))
        return median(times)

    @staticmethod
    def expand(connection):
        create_and_wait(connection, "narrow", 1)
        expand = connection.prepare_create_partitions("narrow", WIDE)
        ask = connection.prepare_list_offsets("narrow", WIDE, LATEST)
        asked = time.monotonic()
        reader = connection.exchange(expand)
        expand_ms = 1000 * (time.monotonic() - asked)
        connection.read_create_partitions(reader)
        answered, wrong = start_bench.until_all_answer(connection, "narrow", 0, LATEST, prepared=ask)
        if wrong:
            raise RuntimeError(f"{len(wrong)} new partitions do not answer")
        return {"expand_ms": expand_ms, "expand_answer_ms": 1000 * (answered - asked)}


class Start(Row):
    name = "start"
    text = "exec to the first correct ApiVersions answer, empty directory"
    figures = (("start_ms", "ms", "less"),)
    bars = (("start_ms", "R", 1.5), ("start_ms", None, 5))

    def measure(self, session, bench):
        times = []
        for _ in range(1 if session.contender.name == "K" else 2 * bench.scale.starts + 1):
            with session.contender.session(start=False) as fresh:
                times.append(fresh.start())
        return {"start_ms": median(times)}


class Stored(Replay):
    """A broker with data: killed while it was written, with a cold page cache; started again after a clean stop; and killed with
    a tenth more behind that stop, with a warm and with a cold page cache."""

    name = "stored"
    text = (f"exec to the first answer with data in {STORED_PARTITIONS} partitions: killed when all was written, stopped, and "
            "killed a tenth later, warm and with nothing cached")
    partitions = STORED_PARTITIONS
    figures = (("start_ms", "ms", "less"), ("recovery_ms", "ms", "less"), ("recovered_ms", "ms", "less"),
               ("cold_recovery_ms", "ms", "less"), ("cold_recovery_of_all_ms", "ms", "less"), ("gigabytes", "GB", "more"))
    bars = (("start_ms", None, 20), ("recovery_ms", None, 500), ("cold_recovery_ms", None, 2000),
            ("cold_recovery_of_all_ms", None, 2000))
    contenders = ("K", "B")
    rivals = False
    slow_for_kafka = True

    def measure(self, session, bench):
        with session.contender.session() as fresh:
            topic = self.topic(fresh, bench)
            gigabytes = self.write(fresh, bench, topic, bench.scale.stored_megabytes)
            cold_recovery_of_all_ms, _ = self.recover(fresh, topic, cold=True)
            start_ms = restart(fresh, 1 if fresh.contender.name == "K" else bench.scale.starts)
            # A tenth more each time, so that what a kill leaves behind is not what a clean stop vouches for.
            self.write(fresh, bench, topic, bench.scale.stored_megabytes // 10)
            recovery_ms, recovered_ms = self.recover(fresh, topic)
            self.write(fresh, bench, topic, bench.scale.stored_megabytes // 10)
            cold_recovery_ms, _ = self.recover(fresh, topic, cold=True)
        return {"start_ms": start_ms, "recovery_ms": recovery_ms, "recovered_ms": recovered_ms,
                "cold_recovery_ms": cold_recovery_ms, "cold_recovery_of_all_ms": cold_recovery_of_all_ms, "gigabytes": gigabytes}

    def write(self, session, bench, topic, megabytes):
        written = self.replay(session, bench, topic, "produce", partitions=self.partitions, megabytes=megabytes)
        return written["bytes"] / 1e9

    def recover(self, session, topic, cold=False):
        """Kills it; the milliseconds of the start to the first answer, and until every partition said that it has all records."""
        ends = self.ends(session, topic)
        session.kill()
        if cold:
            session.drop_cache()
        began = time.monotonic()
        first_answer_ms = session.start()
        kept = self.ends(session, topic)
        recovered_ms = 1000 * (time.monotonic() - began)
        if kept != ends:
            raise RuntimeError(f"records are gone: {sum(ends.values())} were acknowledged, {sum(kept.values())} are there")
        return first_answer_ms, recovered_ms

    def ends(self, session, topic):
        """The log end of every partition, once all of them answer."""
        with Connection(session.port) as connection:
            while True:
                answers = connection.read_list_offsets(
                    connection.exchange(connection.prepare_list_offsets(topic, self.partitions, LATEST)))
                if all(error == 0 for error, _ in answers.values()):
                    return {partition: offset for partition, (_, offset) in answers.items()}


class Idle(Row):
    name = "idle"
    text = "an idle broker, and 1,000 idle connections"
    figures = (("idle_mb", "MB", "less"), ("per_connection_kb", "KB", "less"), ("idle_cpu_percent", "%", "less"))
    bars = (("idle_mb", None, 6), ("per_connection_kb", None, 3), ("idle_cpu_percent", None, 0.1))
    beside_rivals_unjudged = ("idle_cpu_percent",)
    CONNECTIONS = 1000
    FIRST_CONNECTIONS = 100  # and the code that serves them, which may not be in memory yet

    @staticmethod
    def connect(session, count):
        connections = []
        for _ in range(count):
            connection = Connection(session.port)
            connection.exchange(connection.prepare_api_versions())
            connections.append(connection)
        return connections

    def measure(self, session, bench):
        with session.contender.session() as fresh:
            time.sleep(start_bench.IDLE_SETTLE_S)
            idle_mb = fresh.resident_mb()
            before = start_bench.cpu_and_switches(fresh.pid)[0]
            time.sleep(bench.scale.seconds)
            cpu_percent = (start_bench.cpu_and_switches(fresh.pid)[0] - before) / 1e7 / bench.scale.seconds
            connections = self.connect(fresh, self.FIRST_CONNECTIONS)
            before_mb = fresh.resident_mb()
            connections += self.connect(fresh, self.CONNECTIONS)
            per_connection = (fresh.resident_mb() - before_mb) * 1e3 / self.CONNECTIONS
            for connection in connections:
                connection.close()
        figures = {"idle_mb": idle_mb, "idle_cpu_percent": cpu_percent}
        # Inside of a heap that was reserved before, connections do not show.
        return figures if fresh.contender.name == "K" else figures | {"per_connection_kb": max(per_connection, 0.001)}


ROWS = [WideTopic(), Start(), Stored(), Idle()]
