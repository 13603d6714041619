"""Capacity in units (docs/capacity.md) as clients see it: what passes in a time, what they are told, what is refused, and that it is changed
while the broker runs."""

import collections
import contextlib
import json
import re
import threading
import time
import urllib.error
import urllib.request

import confluent_kafka
import confluent_kafka.admin
import pytest

import harness
import insight

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="units of capacity are Partita's own")

BROKER_PROPERTIES = {"auto.create.topics.enable": "false"}
#: Bytes a second. A unit of this size lets a few seconds say something about one in a hundred.
RATE = 200_000
#: As many records of 1,000 bytes come in a request of a hundredth of a second.
VALUE = b"v" * 1_000
SECONDS = 4
#: Of what may pass at once after a pause.
BURST_SECONDS = 0.1


def unit(**limits):
    """Properties of a unit that limits only what is named, a second."""
    names = ("ingress.bytes", "ingress.events", "egress.bytes", "egress.events")
    values = {f"partita.capacity.unit.{name}": limits.get(name.replace(".", "_"), 0) for name in names}
    return {key: str(value) for key, value in {**values, "partita.capacity.commits": limits.get("commits", 0)}.items()}


@contextlib.contextmanager
def limited(units=1, more=None, **limits):
    with harness.start_broker({**BROKER_PROPERTIES, **unit(**limits), "partita.capacity.units": str(units), **(more or {})}) as broker:
        yield broker


def put(broker, body, content_type="application/json"):
    request = urllib.request.Request(f"http://{insight.address(broker)}/v1/capacity", method="PUT", data=body.encode(),
                                     headers={"Content-Type": content_type})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as refused:
        return refused.code, json.loads(refused.read())


def show(broker):
    return insight.ask(broker, "capacity")


def metrics(broker):
    text = urllib.request.urlopen(f"http://{insight.address(broker)}/metrics", timeout=60).read().decode()
    return {name: int(value) for name, value in re.findall(r"^(partita_(?:service|capacity)_\S+) (\d+)$", text, re.MULTILINE)}


def producer(broker, **settings):
    return confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 5, "batch.num.messages": 2, "enable.idempotence": False,
                                     "max.in.flight": 1, "sticky.partitioning.linger.ms": 0, **settings})


class Senders:
    """Clients that each send one small batch after the other, and note when it was acknowledged."""

    def __init__(self, broker, topic, count, seconds):
        self.broker, self.topic, self.end = broker, topic, time.monotonic() + seconds
        self.watch = harness.Stopwatch()
        self.acknowledged = []
        self.throttled_ms = []
        self.errors = collections.Counter()
        self.threads = [threading.Thread(target=self.send, daemon=True) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def send(self):
        def delivered(error, message):
            if error is None:
                self.acknowledged.append((time.monotonic(), len(message.value())))
            else:
                self.errors[error.name()] += 1
        client = producer(self.broker, throttle_cb=lambda event: self.throttled_ms.append(event.throttle_time * 1000))
        while time.monotonic() < self.end:
            client.produce(self.topic, VALUE, on_delivery=delivered)
            client.flush(60)

    def join(self):
        for thread in self.threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in self.threads)
        self.short_s = self.watch.short_s()
        return self


def passed(acknowledged, seconds):
    """Bytes in the whole time, and what remains when the first half second, with what passes at once, is left out."""
    begin = acknowledged[0][0] + 0.5
    counted = [(when, size) for when, size in acknowledged if when >= begin]
    return sum(size for _, size in counted) / (counted[-1][0] - begin)


@pytest.mark.parametrize("clients", [1, 5])
@pytest.mark.parametrize("units", [1, 2])
def test_as_much_passes_as_the_units_say(units, clients):
    with limited(units, ingress_bytes=RATE) as broker:
        insight.create(broker, "t", 2)
        before = show(broker)["counts"]
        senders = Senders(broker, "t", clients, SECONDS).join()
        assert not senders.errors
        # After each time without a processor some may pass at once.
        assert passed(senders.acknowledged, SECONDS) <= units * RATE * (1.03 + senders.short_s / SECONDS)
        told = show(broker)["counts"]
        # By the broker's own counts, which have what surrounds the values: exactly what the meter lets pass, in the time that it took.
        elapsed = max(when for when, _ in senders.acknowledged) - min(when for when, _ in senders.acknowledged)
        sent = told["incoming_bytes"] - before["incoming_bytes"]
        most_of_a_request = 1_200
        allowed = units * RATE * (elapsed + BURST_SECONDS) + (clients + 1) * most_of_a_request
        # Who had no processor sent nothing meanwhile.
        not_sent = units * RATE * senders.short_s
        assert 0.95 * (allowed - not_sent) <= sent <= 1.02 * allowed, (sent, allowed, elapsed, not_sent)
        assert told["incoming_messages"] == len(senders.acknowledged) == told["successful_requests"]
        assert senders.throttled_ms and max(senders.throttled_ms) <= clients * 1_000 * most_of_a_request / RATE + BURST_SECONDS * 1_000


def test_events_are_counted_whatever_is_in_them():
    with limited(1, ingress_events=100) as broker:
        insight.create(broker, "t", 1)
        begin = time.monotonic()
        client = producer(broker, **{"linger.ms": 50, "batch.num.messages": 50})
        for _ in range(210):
            client.produce("t", b"")
        assert client.flush(60) == 0
        # 10 pass at once. Nobody waits for the time after the last request but who sends another one: so many it has at most.
        assert time.monotonic() - begin >= (210 - 10 - 50) / 100
        assert show(broker)["counts"]["incoming_messages"] == 210


def test_what_is_read_is_held_to_the_units():
    values = 800
    with limited(1, egress_bytes=RATE) as broker:
        insight.create(broker, "t", 1)
        # By a sender of its own, whom nothing limits.
        client = producer(broker, **{"batch.num.messages": 10, "max.in.flight": 5})
        for _ in range(values):
            client.produce("t", VALUE)
        assert client.flush(60) == 0
        waits_ms = []
        consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "g", "enable.auto.commit": False,
                                             "throttle_cb": lambda event: waits_ms.append(event.throttle_time * 1000)})
        consumer.assign([confluent_kafka.TopicPartition("t", 0, 0)])
        watch = harness.Stopwatch()
        came = 0
        while came < values:
            message = consumer.poll(30)
            assert message is not None and message.error() is None
            came += 1
        elapsed = watch.seconds()
        counts = show(broker)["counts"]
        consumer.close()
        assert counts["outgoing_messages"] == values
        allowed = counts["outgoing_bytes"] / RATE - BURST_SECONDS
        one_fetch = BURST_SECONDS + 10 * 1_100 / RATE
        # It begins once the client has found the broker, and nobody waits for the time after the last fetch.
        assert allowed - one_fetch <= elapsed <= allowed * 1.1 + 2 + watch.short_s(), (elapsed, allowed)
        assert waits_ms


def test_commits_are_held_to_their_number_of_each_partition():
    with limited(1, commits=4) as broker:
        insight.create(broker, "t", 1)
        waits_ms = []
        consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "g", "enable.auto.commit": False,
                                             "throttle_cb": lambda event: waits_ms.append(event.throttle_time * 1000)})
        begin = time.monotonic()
        for offset in range(10):
            consumer.commit(offsets=[confluent_kafka.TopicPartition("t", 0, offset)], asynchronous=False)
        # Four at once; of the six others the last one's wait is over after its answer.
        assert time.monotonic() - begin >= (10 - 4 - 1) / 4
        consumer.close()


def test_units_are_changed_while_clients_send():
    with limited(1, ingress_bytes=RATE) as broker:
        insight.create(broker, "t", 1)
        senders = Senders(broker, "t", 1, 60)
        harness.wait_until(lambda: len(senders.acknowledged) >= 1.5 * RATE / len(VALUE), 20, "a second and a half of records")
        done = harness.run_partita("capacity", "set", 3, "--http", insight.address(broker))
        changed = time.monotonic()
        senders.end = changed + SECONDS
        assert done.code == 0 and done.out.startswith("3 units\n"), done
        senders.join()
        before = [one for one in senders.acknowledged if one[0] < changed]
        after = [one for one in senders.acknowledged if one[0] > changed]
        short = senders.short_s / min(one[-1][0] - one[0][0] for one in (before, after))
        assert passed(before, SECONDS) <= (1.05 + short) * RATE
        assert 2 * RATE * (1 - short) <= passed(after, SECONDS) <= (3.1 + 3 * short) * RATE
        assert [(step["units_before"], step["units"], step["automatic"]) for step in show(broker)["steps"]] == [(1, 3, False)]
        code, answer = put(broker, '{"units": 7}')
        assert code == 200 and answer["units"] == 7
        broker.stop()
        broker.restart()
        answer = show(broker)
        assert answer["units"] == 7 and answer["steps"] == [], "units outlive the process, and a start is no change"


@pytest.mark.parametrize("body", ['{"units": 0}', '{"units": -1}', '{"units": 1001}', '{"units": 99999999999999999999999}', '{"units": 1e3}',
                                  '{"units": "2"}', '{"units": null}', '{"units": true}', '{"units": [2]}', '{}', "[]", "2", "null", "", "{",
                                  '{"units": 2, "more": 1}', '{"units": 3, "units_max": 2}', '{"units": 2, "units_max": -1}',
                                  '{"units": 2, "units": 0}', "[" * 5_000, '{"units": ' + "2" * 5_000 + "}"])
def test_what_makes_no_sense_is_refused_and_changes_nothing(broker, body):
    code, answer = put(broker, body)
    assert code == 400 and answer["error"]
    assert show(broker)["units"] is None


def test_a_page_of_another_origin_changes_nothing(broker):
    code, _ = put(broker, '{"units": 2}', content_type="text/plain")
    assert code == 415 and show(broker)["units"] is None


@pytest.mark.parametrize("units", ["0", "-1", "1001", "two", "1.5", "99999999999999999999"])
def test_the_command_refuses_them_too(broker, units):
    done = harness.run_partita("capacity", "set", units, "--http", insight.address(broker))
    assert done.code == 2 and done.err and not done.out, done
    assert show(broker)["units"] is None


@pytest.mark.parametrize("value", ["-1", "1001", "2147483648", "x"])
def test_the_config_refuses_them_too(broker, value):
    admin = insight.admin(broker)
    resource = confluent_kafka.admin.ConfigResource(confluent_kafka.admin.ConfigResource.Type.BROKER, "1", incremental_configs=[
        confluent_kafka.admin.ConfigEntry("partita.capacity.units", value,
                                          incremental_operation=confluent_kafka.admin.AlterConfigOpType.SET)])
    with pytest.raises(confluent_kafka.KafkaException) as refused:
        admin.incremental_alter_configs([resource])[resource].result(60)
    assert refused.value.args[0].code() == confluent_kafka.KafkaError.INVALID_REQUEST


def test_without_units_nothing_is_told(broker):
    insight.create(broker, "free", 1)
    senders = Senders(broker, "free", 1, 0.5).join()
    assert senders.acknowledged and not senders.throttled_ms and not senders.errors
    answer = show(broker)
    assert answer["units"] is None and set(answer["counts"].values()) == {0} and answer["steps"] == []
    assert metrics(broker) == {}
    done = harness.run_partita("capacity", "--http", insight.address(broker))
    assert done.code == 0 and done.out.startswith("no limit")
    admin = insight.admin(broker)
    for kind, name in ((confluent_kafka.admin.ConfigResource.Type.TOPIC, "free"), (confluent_kafka.admin.ConfigResource.Type.BROKER, "1")):
        resource = confluent_kafka.admin.ConfigResource(kind, name)
        assert not [name for name in admin.describe_configs([resource])[resource].result(60) if "capacity" in name]


class Hurried:
    """Clients whose requests must not take longer than five seconds. Each record is sent once, or again until it is there."""

    CLIENTS = 8
    RECORDS = 10

    def __init__(self, broker, topic, sends_again):
        self.broker, self.topic, self.sends_again = broker, topic, sends_again
        self.lost = collections.Counter()
        self.refused = 0
        self.barrier = threading.Barrier(self.CLIENTS)
        self.threads = [threading.Thread(target=self.run, args=[number], daemon=True) for number in range(self.CLIENTS)]
        for thread in self.threads:
            thread.start()

    def run(self, number):
        client = producer(self.broker, **{"request.timeout.ms": 5_000, "message.timeout.ms": 60_000, "retries": 0})
        self.barrier.wait(60)
        for index in range(self.RECORDS):
            value = f"{number}/{index}/".encode() + b"v" * 10_000
            while True:
                errors = []
                client.produce(self.topic, value, on_delivery=lambda error, _: errors.append(error))
                assert client.flush(60) == 0
                if errors[0] is None:
                    break
                assert errors[0].code() == confluent_kafka.KafkaError.POLICY_VIOLATION, errors
                self.refused += 1
                if not self.sends_again:
                    self.lost[value[:20]] += 1
                    break

    def join(self):
        for thread in self.threads:
            thread.join(120)
        assert not any(thread.is_alive() for thread in self.threads)
        return self


@pytest.mark.parametrize("sends_again", [False, True])
def test_a_sender_that_does_not_try_again_loses_what_is_refused_until_there_are_more_units(sends_again):
    with limited(1, ingress_bytes=4_000) as broker:
        insight.create(broker, "t", 1)
        senders = Hurried(broker, "t", sends_again)
        harness.wait_until(lambda: senders.refused > 0, 60, "a refusal")
        assert put(broker, '{"units": 1000}')[0] == 200
        senders.join()
        in_all = senders.CLIENTS * senders.RECORDS
        low, high = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "g"}).get_watermark_offsets(
            confluent_kafka.TopicPartition("t", 0), timeout=20)
        assert high - low == in_all - len(senders.lost)
        assert bool(senders.lost) != sends_again
        counts = show(broker)["counts"]
        assert counts["throttled_requests"] == senders.refused and counts["incoming_messages"] == high - low


def test_there_are_more_units_by_themselves_when_clients_wait():
    with limited(1, {"partita.capacity.units.max": "3", "partita.capacity.inflate.after.ms": "1000"}, ingress_bytes=20_000) as broker:
        insight.create(broker, "t", 1)
        senders = Senders(broker, "t", 2, 8)
        harness.wait_until(lambda: show(broker)["steps"], 20, "a step")
        senders.join()
        answer = show(broker)
        assert 1 < answer["units"] <= 3 and answer["units_max"] == 3
        steps = [(step["units_before"], step["units"]) for step in answer["steps"]]
        assert steps[0][0] == 1 and steps[-1][1] == answer["units"] and all(after > before for before, after in steps)
        assert all(step["automatic"] for step in answer["steps"])
        assert "C01" in broker.log_text(400)


def test_the_metrics_have_the_services_arithmetic():
    with limited(1, ingress_bytes=1_000_000) as broker:
        insight.create(broker, "t", 1)
        # One request: it goes when there are a hundred. A flush would send what is there so far.
        client = producer(broker, **{"linger.ms": 20_000, "batch.num.messages": 100})
        for _ in range(100):
            client.produce("t", b"value")
        harness.wait_until(lambda: client.poll(0.1) is not None and len(client) == 0, 30, lambda: f"{len(client)} records are acknowledged")
        told = metrics(broker)
        assert told['partita_service_incoming_requests_total{entity="t"}'] == 1
        assert told['partita_service_successful_requests_total{entity="t"}'] == 1
        assert told['partita_service_incoming_messages_total{entity="t"}'] == 100
        assert told['partita_service_throttled_requests_total{entity="t"}'] == 0
        assert told['partita_service_incoming_bytes_total{entity="t"}'] > 500
        assert told["partita_service_active_connections"] >= 1 and told["partita_capacity_units"] == 1
        assert told['partita_service_size_bytes{entity="t"}'] >= told['partita_service_incoming_bytes_total{entity="t"}']
        assert not [name for name in told if name.startswith("partita_service_size_bytes") and "__" in name]
        opened, closed = (told[f"partita_service_connections_{what}_total"] for what in ("opened", "closed"))
        assert opened - closed == told["partita_service_active_connections"]
        del client
        harness.wait_until(lambda: metrics(broker)["partita_service_connections_closed_total"] > closed, 30, "a connection that is closed is counted")
