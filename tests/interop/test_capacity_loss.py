"""What senders lose while there is too little capacity, until it is scaled from one unit to two (docs/capacity.md): those that send each
record once, those that leave it to the retries of their library, and those that send again what was refused. What they are told is
compared with what is in the log.

The clients are at work at the same time, each with a broker of its own. PARTITA_LONG_TESTS=1 adds the whole form, whose table is in
docs/capacity.md."""

import collections
import contextlib
import dataclasses
import json
import threading
import time

import confluent_kafka
import pytest

import clients
import harness
import insight
import matrix
from test_capacity import limited, put, show

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="units of capacity are Partita's own")

CLIENTS = ["java", "librdkafka", "aiokafka"]
#: Senders of each client, each with a connection and a partition of its own: only who has company has to wait for long.
SENDERS = 8
VALUE_BYTES = 1_000
TIMEOUT_MS = 1_000


@dataclasses.dataclass(frozen=True)
class Form:
    """For how long there is one unit, how long senders send then, and how long they wait before they send something again for the first time."""

    #: None: until some requests were refused.
    one_unit_s: float | None
    two_units_s: float
    backoff_ms: int
    #: What all senders of a client send, in units.
    offered: float
    #: Bytes a second.
    unit: int = 50_000


SHORT = Form(one_unit_s=None, two_units_s=1, backoff_ms=200, offered=1.8)
WHOLE = Form(one_unit_s=10, two_units_s=170, backoff_ms=1_000, offered=1.5)
REFUSED = 3

#: What a request may take, in each library's words, and one request after the other: what comes meanwhile is in the next one. aiokafka
#: sends so by itself, and has no setting for how often it tries: it does so until that time is over.
TIMEOUTS = {
    "java": {"request.timeout.ms": TIMEOUT_MS, "delivery.timeout.ms": 60_000, "max.in.flight.requests.per.connection": 1},
    "librdkafka": {"request.timeout.ms": TIMEOUT_MS, "message.timeout.ms": 60_000, "max.in.flight": 1},
    "aiokafka": {"request_timeout_ms": TIMEOUT_MS},
}
NO_RETRIES = {"java": {"retries": 0}, "librdkafka": {"retries": 0}, "aiokafka": {}}
#: Who has idempotent producers unless told otherwise.
IDEMPOTENT = ("java",)
#: How senders see to it that a record arrives: what stream_start is asked besides.
WAYS = {
    "once": lambda client, form: dict(idempotence=False, settings={**TIMEOUTS[client], **NO_RETRIES[client]}),
    "library": lambda client, form: dict(idempotence=client in IDEMPOTENT, settings=TIMEOUTS[client]),
    "again": lambda client, form: dict(idempotence=client in IDEMPOTENT, settings=TIMEOUTS[client], attempts=10, backoff_ms=form.backoff_ms),
}


def in_log(broker, topic):
    """How often each record is there: (sender, number) -> times."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "unused", "enable.auto.commit": False})
    with contextlib.closing(consumer):
        partitions = [confluent_kafka.TopicPartition(topic, partition, 0) for partition in range(SENDERS)]
        left = sum(consumer.get_watermark_offsets(partition, timeout=60)[1] for partition in partitions)
        consumer.assign(partitions)
        found = collections.Counter()
        while left > 0:
            message = consumer.poll(20)
            assert message is not None and message.error() is None
            found[message.partition(), int(message.value().split()[0])] += 1
            left -= 1
        return found


def play(client, way, form):
    """Plays it, and returns a row of the table."""
    with limited(1, ingress_bytes=form.unit) as broker, contextlib.closing(clients.Agent(matrix.CLIENTS[client], broker.bootstrap)) as agent:
        insight.create(broker, "t", SENDERS)
        for sender in range(SENDERS):
            agent.call("stream_start", name=f"s{sender}", topic="t", keys=0, partition=sender, value_bytes=VALUE_BYTES,
                       interval_us=int(1e6 * SENDERS * VALUE_BYTES / (form.offered * form.unit)), **WAYS[way](client, form))
        if form.one_unit_s is None:
            harness.wait_until(lambda: show(broker)["counts"]["throttled_requests"] >= REFUSED, 60, "refusals")
        else:
            time.sleep(form.one_unit_s)
        assert put(broker, '{"units": 2}')[0] == 200
        time.sleep(form.two_units_s)
        told = {sender: agent.call("stream_stop", name=f"s{sender}", seconds=240) for sender in range(SENDERS)}
        # Nobody has to wait any more, so that what is there can be read at once.
        counts = show(broker)["counts"]
        found = in_log(broker, "t")
    acknowledged = {(sender, value) for sender, answer in told.items() for value, _, _ in answer["acked"]}
    failed = {(sender, value): kind for sender, answer in told.items() for value, _, kind in answer["failed"]}
    sent = acknowledged | set(failed)
    assert len(sent) == len(acknowledged) + len(failed) and set(found) <= sent
    return {"client": client, "way": way, "sent": len(sent), "refused_requests": counts["throttled_requests"],
            "again": sum(len(answer["again"]) for answer in told.values()), "failed": dict(collections.Counter(failed.values())),
            "lost": len(sent - set(found)), "acknowledged_and_lost": len(acknowledged - set(found)),
            "failed_and_there": len(set(failed) & set(found)), "twice": sum(count - 1 for count in found.values())}


@pytest.fixture(scope="module")
def rows():
    """rows(form, way): client -> row, played once, by all clients at the same time."""
    played = {}

    def rows_of(form, way):
        if (form, way) not in played:
            names = [name for name in CLIENTS if harness.HAS_ALL_CLIENTS or name in harness.BASIC_CLIENTS]
            results = {}

            def run(name):
                try:
                    results[name] = play(name, way, form)
                except BaseException as e:  # noqa: B902 (raised by the test of this client)
                    results[name] = e
            threads = [threading.Thread(target=run, args=[name]) for name in names]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            played[form, way] = results
        return played[form, way]
    return rows_of


def row_of(rows, form, way, client):
    clients.require(client)
    row = rows(form, way)[client]
    if isinstance(row, BaseException):
        raise row
    print("\n" + json.dumps(row))
    assert row["acknowledged_and_lost"] == 0, "what is acknowledged is there"
    return row


forms = pytest.mark.parametrize("form", [SHORT, pytest.param(WHOLE, marks=pytest.mark.long)], ids=["short", "whole"])


@forms
@pytest.mark.parametrize("client", CLIENTS)
def test_a_sender_that_tries_once_loses_records_while_there_is_too_little(rows, form, client):
    row = row_of(rows, form, "once", client)
    assert 0 < row["lost"] == sum(row["failed"].values()) - row["failed_and_there"]


@pytest.mark.long
@pytest.mark.parametrize("form", [WHOLE], ids=["whole"])
@pytest.mark.parametrize("client", CLIENTS)
def test_the_retries_of_a_library_do_not_repeat_what_is_refused(rows, form, client):
    row = row_of(rows, form, "library", client)
    assert row["lost"] == sum(row["failed"].values()) - row["failed_and_there"]


@forms
@pytest.mark.parametrize("client", CLIENTS)
def test_a_sender_that_sends_again_what_failed_loses_nothing(rows, form, client):
    row = row_of(rows, form, "again", client)
    assert row["failed"] == {} and row["lost"] == 0 < row["again"]
