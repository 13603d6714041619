"""Which broker an answer is about, what exit code 0 of `partita plan` promises, and what a broker does whose directory goes."""

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request

import confluent_kafka
import confluent_kafka.admin
import pytest

import harness
import insight

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="about Partita alone")

BROKER_PROPERTIES = {"auto.create.topics.enable": "true",
                     "partita.default.expansion.mode.patterns": "payments-*:guarded,orders-*:fenced"}


def partita(*arguments, **options):
    binary = os.environ.get("PARTITA_BINARY") or str(harness.HERE.parents[1] / "build" / "release" / "partita")
    return subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True, timeout=60, **options)


def produce(broker, topic, keys, client_id="shop"):
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "client.id": client_id})
    for index in range(keys):
        producer.produce(topic, key=f"user-{index}", value="v")
    assert producer.flush(60) == 0


def read_all(broker, topic, group, records):
    """A group that reads the topic to its end, commits and leaves."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group,
                                         "auto.offset.reset": "earliest", "enable.auto.commit": "false"})
    consumer.subscribe([topic])
    seen = 0

    def read():
        nonlocal seen
        message = consumer.poll(0.2)
        seen += message is not None and not message.error()
        return seen == records
    harness.wait_until(read, 30, lambda: f"{records} records of {topic}, {seen} came")
    consumer.commit(asynchronous=False)
    consumer.close()


def mode_of(broker, topic):
    resource = confluent_kafka.admin.ConfigResource(confluent_kafka.admin.ConfigResource.Type.TOPIC, topic)
    client = insight.admin(broker)
    told = client.describe_configs([resource])[resource].result(60).get("partita.expansion.mode")
    return told.value if told else "faithful"


def test_every_answer_names_its_broker(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 2)
    for path in ("findings", f"topics/{topic}/expansion?to=4", f"topics/{topic}/expansions", f"topics/{topic}/producers",
                 f"topics/{topic}/protection"):
        with urllib.request.urlopen(f"http://{insight.address(broker)}/v1/{path}", timeout=60) as answer:
            header = answer.headers["Partita-Broker"]
            named = json.load(answer)["broker"]
        assert named["data_directory"] == str(broker.data_directory.resolve()), path
        assert named["kafka"].rsplit(":", 1)[1] == str(broker.port), path
        assert header.startswith("node=1; cluster=") and header.endswith(f"data={named['data_directory']}"), header


def test_a_plan_by_kafkas_address_is_that_brokers_own(broker, unique):
    topic = unique("topic")
    with harness.PartitaBroker() as other:
        for one, partitions in ((broker, 2), (other, 3)):
            insight.create(one, topic, partitions)
        for one, partitions in ((broker, 2), (other, 3)):
            # What $PARTITA_HTTP says is another broker's.
            environment = os.environ | {"PARTITA_HTTP": insight.address(other if one is broker else broker)}
            done = partita("plan", topic, "--to", 6, "--json", "--bootstrap", one.bootstrap, env=environment)
            judged = json.loads(done.stdout)
            assert judged["from"] == partitions
            assert judged["broker"]["data_directory"] == str(one.data_directory.resolve())
        text = partita("plan", topic, "--to", 6, "--bootstrap", other.bootstrap).stdout
        assert f"data in {other.data_directory.resolve()}" in text, text


def test_a_plan_by_kafkas_address_says_when_its_http_side_is_off(unique):
    topic = unique("topic")
    with harness.PartitaBroker({"partita.http.advertised": "127.0.0.1:1"}) as broker:
        insight.create(broker, topic, 2)
        done = partita("plan", topic, "--to", 4, "--json", "--bootstrap", broker.bootstrap)
        assert any("127.0.0.1:1, cannot be reached from here" in one for one in json.loads(done.stdout)["unknown"]), done


def test_a_second_broker_says_where_its_http_side_is(tmp_path):
    taken = socket.socket()
    # Who was there before may have left something in the kernel.
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind(("127.0.0.1", 8092))
        taken.listen()
    except OSError:
        pass  # Somebody else's: as good.
    log = tmp_path / "log"
    binary = os.environ.get("PARTITA_BINARY") or str(harness.HERE.parents[1] / "build" / "release" / "partita")
    with open(log, "wb") as output:
        process = subprocess.Popen([binary, "--ephemeral", "--port", "0"], stdout=output, stderr=output)
    try:
        harness.wait_until(lambda: "http listening" in log.read_text(), 20, log.read_text)
        text = log.read_text()
        assert "the default HTTP port is taken" in text
        assert "taken=localhost:8092" in text and "http listening address=127.0.0.1:8092" not in text
    finally:
        process.terminate()
        process.wait(60)
        taken.close()


def test_the_start_is_told_with_version_and_directory(broker):
    line, = [line for line in broker.log_path.read_text().splitlines() if " broker starting " in line]
    assert "version=" in line and f"data_directory={broker.data_directory.resolve()}" in line


@pytest.mark.parametrize("arguments, told", [
    (["--port", "abc"], "--port is abc"),
    (["--http-port", "abc"], "--http-port is abc"),
    (["serve", "--http-port", "70000"], "--http-port is 70000"),
    (["pln", "orders"], "did you mean plan?"),
    (["plan", "orders", "--tto", "3"], "did you mean --to?"),
])
def test_mistakes_on_the_command_line_are_named(arguments, told):
    done = partita(*arguments)
    assert done.returncode == 2
    assert told in done.stderr, done.stderr


def test_an_unknown_setting_is_told_with_the_one_that_was_meant():
    with harness.PartitaBroker({"num.partition": "3"}) as broker:
        assert "num.partition (did you mean num.partitions?)" in broker.log_text()


def test_plan_and_broker_agree_about_a_guarded_topic(broker, unique):
    topic, group = "payments-" + unique("topic"), unique("group")
    insight.create(broker, topic, 3, **{"partita.expansion.guard.quiet.ms": "1000"})
    assert mode_of(broker, topic) == "guarded"
    produce(broker, topic, 200)
    produced = time.monotonic()
    read_all(broker, topic, group, 200)

    def judged():
        done = partita("plan", topic, "--to", 6, "--json", "--bootstrap", broker.bootstrap)
        return done.returncode, json.loads(done.stdout)
    # The group has read all; producers are to be silent for a second.
    insight.create(broker, topic + "-busy", 3, **{"partita.expansion.mode": "guarded"})
    produce(broker, topic + "-busy", 50)
    busy = partita("plan", topic + "-busy", "--to", 6, "--json", "--fail-on", "block", "--bootstrap", broker.bootstrap)
    assert busy.returncode == 3
    assert "H04" in [one["id"] for one in json.loads(busy.stdout)["findings"] if one["severity"] == "block"]
    with pytest.raises(confluent_kafka.KafkaException):
        insight.grow(broker, topic + "-busy", 6)

    harness.wait_until(lambda: time.monotonic() - produced > 1, 5, "a second of silence")
    code, plan = judged()
    assert (code, plan["verdict"]) == (0, "safe"), plan
    assert next(one for one in plan["findings"] if one["id"] == "H01")["severity"] == "info"
    insight.grow(broker, topic, 6)


def test_a_plan_knows_of_producers_when_the_log_is_empty(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 3)
    produce(broker, topic, 200)
    client = insight.admin(broker)
    whole = [confluent_kafka.TopicPartition(topic, partition, -1) for partition in range(3)]
    for future in client.delete_records(whole).values():
        future.result(60)

    def plan():
        done = partita("plan", topic, "--to", 6, "--json", "--bootstrap", broker.bootstrap)
        told = json.loads(done.stdout)
        return (done.returncode, told) if "H04" in [one["id"] for one in told["findings"]] else None
    code, told = harness.wait_until(plan, 10, "what the broker saw of the producer") or plan()
    assert code == 3
    assert told["verdict"] == "findings"


def test_a_plan_is_not_safe_while_nobody_knows_who_wrote(unique):
    """What the broker saw of producers ends with it, and what they wrote is deleted."""
    topic = unique("topic")
    with harness.PartitaBroker() as broker:
        insight.create(broker, topic, 3)
        produce(broker, topic, 200)
        client = insight.admin(broker)  # Must outlive the futures.
        for future in client.delete_records([confluent_kafka.TopicPartition(topic, partition, -1) for partition in range(3)]).values():
            future.result(60)
        broker.stop()
        broker.restart()
        done = partita("plan", topic, "--to", 6, "--json", "--fail-on", "block", "--bootstrap", broker.bootstrap)
        plan = json.loads(done.stdout)
        assert (done.returncode, plan["verdict"]) == (3, "unknown"), plan
        assert any("whether producers of keys are active" in one for one in plan["unknown"]), plan["unknown"]
        # A topic that is younger than the broker's watch has no such producer.
        insight.create(broker, topic + "-new", 3)
        assert partita("plan", topic + "-new", "--to", 6, "--bootstrap", broker.bootstrap).returncode == 0


def test_a_fenced_topic_may_grow_under_a_backlog(broker, unique):
    topic = "orders-" + unique("topic")
    insight.create(broker, topic, 3)
    assert mode_of(broker, topic) == "fenced"
    produce(broker, topic, 200)
    group = unique("group")
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    consumer.commit(offsets=[confluent_kafka.TopicPartition(topic, partition, 0) for partition in range(3)], asynchronous=False)
    consumer.close()
    done = partita("plan", topic, "--to", 6, "--json", "--bootstrap", broker.bootstrap)
    plan = json.loads(done.stdout)
    backlog = next(one for one in plan["findings"] if one["id"] == "H03")
    assert (backlog["severity"], backlog["title"]) == ("info", "the fence waits for a backlog")
    assert done.returncode == 0, plan
    assert partita("plan", topic, "--to", 8, "--bootstrap", broker.bootstrap).returncode == 3, "8 cannot be fenced"


def test_topics_are_protected_by_their_names_however_they_are_made(broker, tools, unique):
    made, automatic, other = "orders-" + unique("made"), "payments-" + unique("automatic"), unique("other")
    tools("kafka-topics", "--create", "--topic", made, "--partitions", 2).succeeded()
    produce(broker, automatic, 1)
    produce(broker, other, 1)
    assert [mode_of(broker, topic) for topic in (made, automatic, other)] == ["fenced", "guarded", "faithful"]


def test_a_hidden_partition_is_not_assigned_by_the_coordinator(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 2)
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": unique("group"),
                                         "group.protocol": "consumer", "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])

    def assigned():
        consumer.poll(0.1)
        return sorted(one.partition for one in consumer.assignment())
    try:
        harness.wait_until(lambda: assigned() == [0, 1], 20, "both partitions")
        insight.ask(broker, f"topics/{topic}/visibility?consumers=until-released", "POST")
        insight.grow(broker, topic, 4)
        end = time.monotonic() + 8  # Longer than a heartbeat: what may not happen gets its chance.
        while time.monotonic() < end:
            assert assigned() in ([], [0, 1])
        insight.ask(broker, f"topics/{topic}/visibility?consumers=released", "POST")
        harness.wait_until(lambda: assigned() == [0, 1, 2, 3], 20, "all partitions")
    finally:
        consumer.close()


def test_a_broker_whose_directory_is_deleted_acknowledges_nothing_more(unique):
    topic = unique("topic")
    with harness.PartitaBroker() as broker:
        insight.create(broker, topic, 4)
        acknowledged = []
        producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 0, "message.timeout.ms": 60_000})

        def delivered(error, message):
            if error is None:
                acknowledged.append(float(message.value()))
        for index in range(200):
            producer.produce(topic, key=str(index), value=str(time.monotonic()), on_delivery=delivered)
        assert producer.flush(60) == 0
        shutil.rmtree(broker.data_directory)
        gone, watch = time.monotonic(), harness.Stopwatch()
        while time.monotonic() < gone + 2:
            producer.produce(topic, value=str(time.monotonic()), on_delivery=delivered)
            producer.poll(0.01)
        assert broker.process.wait(60) == 1
        assert max(acknowledged) < gone + 0.5 + watch.short_s(), "when it was sent"
        assert "deleted while the broker uses it" in broker.log_text()
