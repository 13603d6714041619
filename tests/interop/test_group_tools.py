"""Kafka's tools around groups beside kafka-consumer-groups: kafka-groups, kafka-streams-application-reset, and
kafka-replica-verification, which reads as a debugging consumer does."""

import re
import signal
import subprocess
import threading

import pytest

import clients
import harness

BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0}


@pytest.fixture(scope="module")
def client(broker):
    agent = clients.Agent(clients.confluent, broker.bootstrap)
    yield agent
    agent.close()


@pytest.fixture
def read(client, unique):
    """A topic with ten records in each of two partitions, and an empty group that read and committed them."""
    topic, group = unique("topic"), unique("group")
    client.create_topic(topic, partitions=2)
    client.call("produce", topic=topic, records=[{"partition": n % 2, "key": None, "value": str(n)} for n in range(20)])
    client.call("member_start", name=group, group=group, topic=topic)
    client.expect_committed(group, topic, {"0": 10, "1": 10})
    client.call("member_stop", name=group)
    return topic, group


def test_groups_are_listed_with_type_and_protocol(tools, read):
    _, group = read
    listed = tools("kafka-groups", "--list").succeeded()
    assert re.search(rf"^{group}\s+Classic\s+consumer\s*$", listed.out, re.M), listed
    assert group in tools("kafka-groups", "--list", "--group-type", "classic").succeeded().out
    assert group in tools("kafka-groups", "--list", "--consumer").succeeded().out
    for other in (["--group-type", "consumer"], ["--share"], ["--streams"], ["--protocol", "connect"]):
        assert group not in tools("kafka-groups", "--list", *other).succeeded().out, other


def test_a_streams_application_is_reset(tools, client, read):
    topic, group = read
    done = tools("kafka-streams-application-reset", "--application-id", group, "--input-topics", topic, "--force")
    assert f"Reset-offsets for input topics [{topic}]" in done.succeeded().out, done
    client.expect_committed(group, topic, {"0": 0, "1": 0})


def test_replicas_are_verified(tools, broker, read):
    topic, _ = read
    with subprocess.Popen(
            [*harness.java_command(), "org.apache.kafka.tools.ReplicaVerificationTool", "--broker-list", broker.bootstrap,
             "--topics-include", topic, "--time", "-2", "--report-interval-ms", "500"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as tool:
        end = threading.Timer(40, tool.kill)
        end.start()
        said = []
        for line in tool.stdout:
            said.append(line)
            if re.search(rf"max lag is 0 for partition {topic}-\d at offset \d+ among 2 partitions", line):
                tool.send_signal(signal.SIGTERM)
                break
        else:
            raise AssertionError("".join(said))
        end.cancel()
        tool.kill()
