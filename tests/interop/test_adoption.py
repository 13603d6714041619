"""A data directory that a real Kafka wrote is served: topics, their settings, records, committed offsets, producer ids."""

import re
import shutil

import pytest

import clients
import harness
import test_delegation_tokens as secured

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="needs the broker's files")

CONFIGS = {"retention.ms": "-1", "segment.bytes": "1048576", "max.message.bytes": "900000"}


def described(tools, topic):
    out = tools("kafka-topics", "--describe", "--topic", topic).succeeded().out
    return re.search(r"TopicId: (\S+)\tPartitionCount: (\d+)\tReplicationFactor: 1\tConfigs: (\S*)", out).groups()


def values(agent, topic, count):
    return sorted(r["value"] for r in agent.call("read", topic=topic, count=count, timeout_ms=30000)["records"])


@pytest.fixture(scope="module")
def kafka_directory(tmp_path_factory):
    """What a Kafka left behind that was stopped in order, and what its tools and clients had said of it."""
    known = {}
    with harness.KafkaBroker() as kafka:
        tools = harness.Tools(kafka.bootstrap)
        agent = clients.Agent(clients.java, kafka.bootstrap)
        agent.create_topic("orders", 3, configs=CONFIGS)
        agent.create_topic("deleted", 2)
        agent.create_topic("compacted", 1, configs={"cleanup.policy": "compact"})
        for codec in ["none", "zstd"]:
            agent.call("produce", topic="orders", codec=codec,
                       records=[{"partition": n % 3, "key": f"k{n}", "value": f"{codec}-{n}"} for n in range(60)])
        agent.call("produce", topic="compacted", records=[{"partition": 0, "key": "k", "value": "last"}])
        agent.call("member_start", name="m", group="readers", topic="orders")
        agent.expect_committed("readers", "orders", {"0": 40, "1": 40, "2": 40})
        agent.call("member_stop", name="m")
        tools("kafka-topics", "--delete", "--topic", "deleted").succeeded()
        for topic in ["orders", "compacted", "__consumer_offsets"]:
            known[topic] = described(tools, topic)
        agent.close()
        tools.close()
        kafka.stop()
        copy = tmp_path_factory.mktemp("kafka") / "data"
        shutil.copytree(kafka.data_directory, copy)
    return copy, known


@pytest.mark.parametrize("metadata", ["with its metadata", "folders alone"])
def test_a_kafkas_directory_is_served(kafka_directory, metadata):
    directory, known = kafka_directory
    broker = harness.PartitaBroker({"group.initial.rebalance.delay.ms": 0})
    shutil.copytree(directory, broker.data_directory)
    if metadata == "folders alone":
        shutil.rmtree(broker.data_directory / "__cluster_metadata-0")
        (broker.data_directory / "meta.properties").unlink()
    with broker:
        assert "adopted topics from Kafka" in broker.log_text()
        tools = harness.Tools(broker.bootstrap)
        agent = clients.Agent(clients.java, broker.bootstrap)
        topics = tools("kafka-topics", "--list").succeeded().lines
        assert {"orders", "compacted", "__consumer_offsets"} <= set(topics) and "deleted" not in topics
        for topic, (topic_id, count, configs) in known.items():
            now_id, now_count, now_configs = described(tools, topic)
            assert (now_id, now_count) == (topic_id, count)
            if metadata == "with its metadata":
                assert sorted(now_configs.split(",")) == sorted(configs.split(","))
            elif topic == "orders":
                assert "retention.ms=-1" in now_configs, "nothing is deleted by settings that nobody made"
        if metadata == "with its metadata":
            assert harness.CLUSTER_ID in tools("kafka-cluster", "cluster-id").succeeded().out
        expected = sorted(f"{codec}-{n}" for codec in ["none", "zstd"] for n in range(60))
        assert values(agent, "orders", 120) == expected
        agent.expect_committed("readers", "orders", {"0": 40, "1": 40, "2": 40})

        # And it goes on: a producer with an id of its own, the group from where it was.
        agent.call("produce", topic="orders",
                   records=[{"partition": n % 3, "key": f"k{n}", "value": f"more-{n}"} for n in range(30)])
        agent.call("member_start", name="again", group="readers", topic="orders")
        agent.expect_committed("readers", "orders", {"0": 50, "1": 50, "2": 50})
        read = {record["value"] for record in agent.events.records()}
        assert read == {f"more-{n}" for n in range(30)}, "only what was not read before"
        agent.call("member_stop", name="again")

        # After a kill it is an ordinary directory of ours.
        broker.kill()
        broker.restart()
        assert described(tools, "orders")[0] == known["orders"][0]
        assert values(agent, "orders", 150) == sorted(expected + [f"more-{n}" for n in range(30)])
        assert broker.log_text().count("adopted topics from Kafka") == 1
        agent.close()
        tools.close()


def rules_of(tools):
    """What kafka-acls lists, in no order."""
    return sorted(line.strip() for line in tools("kafka-acls", "--list").succeeded().lines if line.strip())


def test_who_may_do_what_on_a_kafka_may_do_it_here(tmp_path):
    def tokens(broker, tools, *arguments):
        return tools("kafka-delegation-tokens", "--bootstrap-server", f"127.0.0.1:{broker.second_port}", "--command-config",
                     secured.properties_file(tmp_path, secured.ALICE.java()), *arguments).succeeded().out

    def topics_of(broker, tools, user):
        return secured.list_topics(tools, f"127.0.0.1:{broker.second_port}", tmp_path, user)

    bob, gone = (secured.User("SCRAM-SHA-512", name, f"{name}-secret") for name in ("bob", "gone"))
    directory = tmp_path / "data"
    with harness.KafkaBroker(secured.BROKER_PROPERTIES) as kafka:
        tools = harness.Tools(kafka.bootstrap)
        for topic in ("orders", "payments", "others"):
            tools("kafka-topics", "--create", "--topic", topic).succeeded()
        for user in (bob, gone):
            tools("kafka-configs", "--alter", "--entity-type", "users", "--entity-name", user.name, "--add-config",
                  f"SCRAM-SHA-512=[password={user.password}]").succeeded()
        tools("kafka-configs", "--alter", "--entity-type", "users", "--entity-name", "gone", "--delete-config", "SCRAM-SHA-512").succeeded()
        describe = ("--operation", "Describe")
        tools("kafka-acls", "--add", "--allow-principal", "User:bob", *describe, "--topic", "orders").succeeded()
        tools("kafka-acls", "--add", "--allow-principal", "User:alice", *describe, "--topic", "pay", "--resource-pattern-type", "prefixed").succeeded()
        tools("kafka-acls", "--add", "--deny-principal", "User:bob", "--deny-host", "10.1.2.3", "--operation", "All", "--group", "*").succeeded()
        tools("kafka-acls", "--add", "--allow-principal", "User:bob", *describe, "--topic", "others").succeeded()
        tools("kafka-acls", "--remove", "--force", "--allow-principal", "User:bob", *describe, "--topic", "others").succeeded()
        out = tokens(kafka, tools, "--create", "--max-life-time-period", "-1", "--renewer-principal", "User:bob")
        (row,) = secured.words(out)
        known = rules_of(tools)
        tools.close()
        kafka.stop()
        shutil.copytree(kafka.data_directory, directory)
    broker = harness.PartitaBroker(secured.BROKER_PROPERTIES)
    shutil.copytree(directory, broker.data_directory)
    with broker:
        tools = harness.Tools(broker.bootstrap)
        for _ in range(2):
            assert rules_of(tools) == known and len(known) > 3, known
            assert topics_of(broker, tools, bob).lines == ["orders"]
            assert topics_of(broker, tools, gone).code != 0
            assert topics_of(broker, tools, secured.Bearer("SCRAM-SHA-256", row[0], row[1])).lines == ["payments"]
            (described,) = secured.words(tokens(broker, tools, "--describe", "--owner-principal", "User:alice"))
            assert described[:5] == row[:5]
            # And so it is after a kill, which finds a directory of ours.
            broker.kill()
            broker.restart()
        log = broker.log_text(lines=100_000)
        assert "adopted ACLs from Kafka" in log and row[1] not in log
        tools.close()


def test_folders_that_turn_up_later_wait_for_the_switch(kafka_directory):
    directory, known = kafka_directory
    with harness.PartitaBroker() as broker:
        tools = harness.Tools(broker.bootstrap)
        tools("kafka-topics", "--create", "--topic", "ours", "--partitions", "1").succeeded()
        broker.stop()
        for partition in range(3):
            shutil.copytree(directory / f"orders-{partition}", broker.data_directory / f"orders-{partition}")
        broker.restart()
        assert "orders" not in tools("kafka-topics", "--list").succeeded().lines
        assert "partita.adopt.directories=true" in broker.log_text(), "the log says what to do"
        broker.stop()
        broker.properties["partita.adopt.directories"] = "true"
        broker.restart()
        assert described(tools, "orders")[:2] == known["orders"][:2]
        agent = clients.Agent(clients.java, broker.bootstrap)
        assert len(values(agent, "orders", 120)) == 120
        agent.close()
        tools.close()
