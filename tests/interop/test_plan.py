"""`partita plan` against what real producers then do: key by key, and over --bootstrap from any Kafka."""

import json
import os
import re
import subprocess

import pytest

import clients
import harness
import matrix

BROKER_PROPERTIES = {"auto.create.topics.enable": "false"}

# One client for each of the three hashes that Kafka clients use by default, and a second one of the commonest.
PRODUCERS = [name for name in ("java", "librdkafka-debian", "sarama", "franz-go") if name in matrix.CLIENTS]
EXPECTED = {"java": "murmur2-pos", "franz-go": "murmur2-pos", "librdkafka-debian": "crc32-uns", "sarama": "fnv1a-sabs"}
KEYS = [f"user-{index}" for index in range(300)]


def binary():
    return os.environ.get("PARTITA_BINARY") or str(harness.HERE.parents[1] / "build" / "release" / "partita")


def plan(*arguments):
    """Exit code and standard output of `partita plan`."""
    done = subprocess.run([binary(), "plan", *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 3), f"{arguments} ended with {done.returncode}\n{done.stderr}"
    return done.returncode, done.stdout


def source(broker):
    """How to reach the broker: by HTTP where it is ours, and over Kafka's protocol always."""
    ways = [["--bootstrap", broker.bootstrap, "--over-kafka"]]
    if harness.TARGET == "partita":
        port, = re.findall(r"http listening address=127\.0\.0\.1:(\d+)", broker.log_path.read_text())
        ways.append(["--http", f"127.0.0.1:{port}"])
    return ways


def moves(listing):
    """key -> (old partition, new partition)"""
    lines = (line.split("\t") for line in listing.splitlines())
    return {key: (int(old), int(new)) for key, old, new in lines}


def produce(agent, topic):
    """key -> partition"""
    acks = agent.call("produce", topic=topic, records=[{"key": key, "value": "v"} for key in KEYS])["acks"]
    return {key: ack["partition"] for key, ack in zip(KEYS, acks)}


@pytest.mark.parametrize("to, better", [(8, [12]), (12, [])])
@pytest.mark.parametrize("name", PRODUCERS)
def test_the_plan_is_what_the_producer_then_does(broker, unique, name, to, better):
    topic = unique("topic")
    client = matrix.CLIENTS[name]
    agent = clients.Agent(client, broker.bootstrap)
    try:
        agent.create_topic(topic, 6)
        before = produce(agent, topic)
        plans = {}
        for way in source(broker):
            code, listing = plan(topic, "--to", to, "--keys", *way)
            assert code == 3
            plans[way[0]] = moves(listing)
            _, text = plan(topic, "--to", to, "--json", *way)
            judged = json.loads(text)
            assert judged["partitioner"]["name"] == EXPECTED[name], judged["partitioner"]
            assert judged["scanned"]["records"] == len(KEYS)
            assert judged["scanned"]["complete"] is True
            assert judged["moved"]["keys"] == sum(old != new for old, new in plans[way[0]].values())
            assert judged["better_targets"] == better
        assert len({json.dumps(listed, sort_keys=True) for listed in plans.values()}) == 1
        agent.create_partitions(topic, to)
    finally:
        agent.close()
    # A producer that starts now knows the new count from its first record on.
    fresh = clients.Agent(client, broker.bootstrap)
    try:
        fresh.expect_partitions(topic, to)
        after = produce(fresh, topic)
    finally:
        fresh.close()
    predicted = next(iter(plans.values()))
    assert {key: old for key, (old, _) in predicted.items()} == before
    assert {key: new for key, (_, new) in predicted.items()} == after


def test_a_plan_over_kafkas_protocol_sees_groups_and_their_backlog(broker, tools, unique):
    topic, group = unique("topic"), unique("group")
    agent = clients.Agent(clients.debian_librdkafka, broker.bootstrap)
    try:
        agent.create_topic(topic, 3)
        produce(agent, topic)
    finally:
        agent.close()
    tools("kafka-consumer-groups", "--group", group, "--topic", topic, "--reset-offsets", "--to-earliest",
          "--execute").succeeded()
    for way in source(broker):
        code, text = plan(topic, "--to", 6, "--json", *way)
        judged = json.loads(text)
        assert code == 3
        assert judged["verdict"] == "blocked"
        seen, = judged["groups"]
        assert seen["group"] == group
        assert seen["lag"] == len(KEYS)
        assert seen["moved_backlog"] == judged["moved"]["records"] > 0
        assert "H03" in [finding["id"] for finding in judged["findings"]]


def test_every_way_gives_the_same_plan(broker, tools, unique):
    topic, group = unique("topic"), unique("group")
    agent = clients.Agent(clients.debian_librdkafka, broker.bootstrap)
    try:
        agent.create_topic(topic, 3, configs={"cleanup.policy": "compact"})
        produce(agent, topic)
    finally:
        agent.close()
    tools("kafka-consumer-groups", "--group", group, "--topic", topic, "--reset-offsets", "--to-earliest",
          "--execute").succeeded()

    def comparable(judged):
        # What Kafka's protocol does not tell, and how a plan over it says so (docs/expansion.md).
        judged["findings"] = [one for one in judged["findings"] if one["id"] not in ("H04", "H47", "H50")]
        for one in judged["findings"]:
            one["numbers"].pop("safe_after_ms", None)  # It counts from the moment of the question.
        return {name: value for name, value in judged.items() if name not in ("unknown", "broker")}
    plans = [comparable(json.loads(plan(topic, "--to", 4, "--json", *way)[1])) for way in source(broker)]
    assert len(plans[0]["findings"]) > 4
    for one in plans[1:]:
        assert [finding["id"] for finding in one["findings"]] == [finding["id"] for finding in plans[0]["findings"]]
        assert one == plans[0]


def test_a_compacted_topic_lists_its_orphans(broker, tools, unique):
    topic = unique("topic")
    agent = clients.Agent(clients.debian_librdkafka, broker.bootstrap)
    try:
        agent.create_topic(topic, 4, configs={"cleanup.policy": "compact"})
        produce(agent, topic)
    finally:
        agent.close()
    for way in source(broker):
        _, text = plan(topic, "--to", 6, "--json", *way)
        judged = json.loads(text)
        orphans, = [finding for finding in judged["findings"] if finding["id"] == "H40"]
        assert orphans["count"] == judged["moved"]["keys"]


def test_behind_a_damaged_batch_what_is_not_read_is_named(broker, unique):
    """Over Kafka's protocol nothing is read behind one; the broker's own plan goes on."""
    topic = unique("topic")
    agent = clients.Agent(clients.debian_librdkafka, broker.bootstrap)
    try:
        agent.create_topic(topic, 1)
        for _ in range(3):
            produce(agent, topic)
    finally:
        agent.close()
    log, = broker.data_directory.glob(f"{topic}-0/*.log")
    content = bytearray(log.read_bytes())
    second = 12 + int.from_bytes(content[8:12], "big")
    assert second < len(content), "there are several batches"
    damaged = int.from_bytes(content[second:second + 8], "big")
    end = len(KEYS) * 3
    with open(log, "r+b") as file:
        file.seek(second + 70)
        file.write(bytes([content[second + 70] ^ 0xff]))
    for way in source(broker):
        code, text = plan(topic, "--to", 4, "--partitioner", "java", "--json", *way)
        judged = json.loads(text)
        assert code == 3
        assert judged["verdict"] == "unknown"
        scanned = judged["scanned"]
        assert (scanned["damaged_batches"], scanned["complete"]) == (1, False)
        assert scanned["first_damage"].startswith(f"partition 0 at offset {damaged}")
        if way[0] == "--bootstrap":
            assert scanned["records"] == damaged
            assert any(f"partition 0 from offset {damaged} to {end}" in fact for fact in judged["unknown"]), judged["unknown"]
        else:
            assert scanned["records"] > damaged


def test_bootstrap_refuses_with_a_sentence(broker):
    for arguments, sentence in (
            (["no-such-topic", "--to", "4"], "there is no topic no-such-topic"),
            (["x", "--to", "4", "-X", "no.such.setting=1"], "no.such.setting"),
            (["x", "--to", "4", "-X", "nonsense"], "KEY=VALUE")):
        done = subprocess.run([binary(), "plan", *arguments, "--bootstrap", broker.bootstrap], capture_output=True,
                              text=True, timeout=60)
        assert done.returncode == 2, done
        assert sentence in done.stderr, done
