"""`partita check` (docs/check.md): what a review changes, against a cluster, over HTTP and over Kafka, and against a snapshot."""

import json
import subprocess

import confluent_kafka
import pytest

import harness
import insight

BROKER_PROPERTIES = {"partita.test.bench.enable": "true"}


@pytest.fixture
def topics(broker, unique):
    """A topic with keys, and one without records."""
    orders, audit = unique("orders"), unique("audit")
    insight.create(broker, orders, 6)
    insight.create(broker, audit, 3)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "partitioner": "murmur2_random"})
    for number in range(300):
        producer.produce(orders, key=f"secret-{number}", value="v")
    assert producer.flush(30) == 0
    return orders, audit


@pytest.fixture
def check(tmp_path):
    def run(text, *words):
        path = tmp_path / "change"
        path.write_text(text)
        return subprocess.run([harness.partita_binary(), "check", str(path), *map(str, words)], capture_output=True, text=True, timeout=120,
                              cwd=tmp_path)
    return run


def sources(broker):
    return ("--http", insight.address(broker)), ("--bootstrap-server", broker.bootstrap)


def test_a_growth_is_told_whoever_is_asked(broker, topics, check):
    orders, audit = topics
    change = "".join(f"kind: KafkaTopic\nmetadata: {{name: {name}}}\nspec: {{partitions: {count}}}\n---\n"
                     for name, count in ((orders, 8), (audit, 3), ("quite-new", 4)))
    for source in sources(broker):
        done = check(change, *source)
        assert done.returncode == 3, done.stdout + done.stderr
        lines = done.stdout.splitlines()
        assert "2 topics change, 1 at risk; 1 topic unchanged." in lines
        assert any(line.startswith(f"| `{orders}` | 6 to 8 | findings | 7") for line in lines), done.stdout
        assert any(line.startswith("| `quite-new` | 4 | new topic |") for line in lines)
        assert "- **H02** (warn): " in done.stdout and "Better: 12" in done.stdout and "<details>" in done.stdout
        # A comment is public.
        assert "secret-" not in done.stdout
        assert "<details>" not in check(change, "--brief", *source).stdout
        assert check(change, "--fail-on", "block", *source).returncode == (3 if "(block)" in done.stdout else 0)


def test_without_a_growth_nothing_is_at_risk(broker, topics, check):
    orders, audit = topics
    for source in sources(broker):
        done = check(f"topics: {{{orders}: 6, {audit}: 3}}", *source)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.endswith("No topic changes (2 topics compared).\n")
        # A topic without records grows without harm.
        done = check(f"kafka-topics --alter --topic {audit} --partitions 6", *source)
        assert f"| `{audit}` | 3 to 6 | safe |" in done.stdout and done.returncode == 0, done.stdout


def test_what_cannot_be_is_at_risk(broker, topics, check):
    orders, audit = topics
    plan = {"resource_changes": [{"type": "kafka_topic", "change": {"actions": ["update"], "before": {"name": orders, "partitions": 6},
                                                                    "after": {"name": orders, "partitions": 4}}},
                                 {"type": "kafka_topic", "change": {"actions": ["delete", "create"], "before": {"name": audit, "partitions": 3},
                                                                    "after": {"name": audit, "partitions": 2}}}]}
    done = check(json.dumps(plan), "--http", insight.address(broker), "--fail-on", "block")
    assert done.returncode == 3
    assert f"`{orders}` cannot shrink: Kafka refuses a lower count. Leave 6.\n" in done.stdout
    assert f"`{audit}` would be deleted and created anew" in done.stdout


def test_a_snapshot_stands_for_the_cluster(broker, topics, check, unique):
    orders, _ = topics
    name = unique("snapshot")
    insight.ask(broker, f"snapshots/{name}", "PUT")
    insight.grow(broker, orders, 7)
    directory = broker.data_directory / "partita-snapshots" / name
    done = check(f"topics: {{{orders}: 12}}", "--snapshot", directory, "--brief")
    assert done.returncode == 3, done.stderr
    assert f"| `{orders}` | 6 to 12 | findings | 5" in done.stdout, done.stdout


def test_a_bad_file_or_a_missing_cluster_is_an_error(broker, check):
    done = check("hello", "--http", insight.address(broker))
    assert (done.returncode, done.stdout) == (2, "") and "neither KafkaTopic resources" in done.stderr
    done = check("kafka-topics --alter --topic $TOPIC --partitions 3", "--http", insight.address(broker))
    assert done.returncode == 2 and "no topic can have the name $TOPIC" in done.stderr
    assert check("topics: {a: 3}", "--http", f"127.0.0.1:{harness.free_port()}").returncode == 1
    assert check("topics: {a: 3}", "--snapshot", "/no/such").returncode == 2
    assert check("topics: {a: 3}", "--snapshot", "/tmp", "--bootstrap-server", broker.bootstrap).returncode == 2
