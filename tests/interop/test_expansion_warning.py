"""The line that the broker logs when a topic of keyed records grows, and its silence when no key can move."""

import pytest

import harness

BROKER_PROPERTIES = {"auto.create.topics.enable": "false"}

# Kafka says nothing at all here; the line is ours (docs/differences.md).
pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="the warning is Partita's own")


def warnings_of(broker, topic):
    lines = broker.log_path.read_text(errors="replace").splitlines()
    return [line for line in lines if f"topic {topic} grew" in line]


def create(tools, topic, partitions):
    tools("kafka-topics", "--create", "--topic", topic, "--partitions", partitions).succeeded()


def grow(tools, topic, partitions):
    tools("kafka-topics", "--alter", "--topic", topic, "--partitions", partitions).succeeded()


def write_keyed(tools, topic):
    tools("kafka-console-producer", "--topic", topic, "--reader-property", "parse.key=true",
          "--reader-property", "key.separator=:", input="a:1\nb:2\nc:3\nd:4\n").succeeded()


def test_a_keyed_topic_that_grows_by_a_multiple(broker, tools, unique):
    topic = unique("topic")
    create(tools, topic, 3)
    write_keyed(tools, topic)
    grow(tools, topic, 6)
    line, = warnings_of(broker, topic)
    assert " WARN " in line
    assert (f"topic {topic} grew from 3 to 6 partitions: 50 % of its keys change partition, and the order of records "
            "of such a key is no longer kept; see docs/expansion.md") in line


def test_a_keyed_topic_that_grows_by_no_multiple_is_told_a_better_count(broker, tools, unique):
    topic = unique("topic")
    create(tools, topic, 4)
    write_keyed(tools, topic)
    grow(tools, topic, 6)
    line, = warnings_of(broker, topic)
    # gcd(4, 6) = 2: a third of the keys stays, two thirds change partition, and half of those need not have.
    assert (f"topic {topic} grew from 4 to 6 partitions: 66.7 % of its keys change partition, and the order of records "
            "of such a key is no longer kept (33.3 % only move between old partitions: a multiple of 4, such as 8, "
            "would have spared them); see docs/expansion.md") in line


def test_every_expansion_of_a_keyed_topic_is_told_once(broker, tools, unique):
    topic = unique("topic")
    create(tools, topic, 1)
    write_keyed(tools, topic)
    grow(tools, topic, 2)
    grow(tools, topic, 4)
    first, second = warnings_of(broker, topic)
    assert "from 1 to 2 partitions: 50 %" in first
    assert "from 2 to 4 partitions: 50 %" in second


def test_topics_without_keys_grow_in_silence(broker, tools, unique):
    keyless, empty = unique("keyless"), unique("empty")
    create(tools, keyless, 3)
    create(tools, empty, 3)
    tools("kafka-console-producer", "--topic", keyless, input="1\n2\n3\n").succeeded()
    grow(tools, keyless, 5)
    grow(tools, empty, 5)
    # The line is written before the acknowledgement, so what is not there now does not come.
    assert warnings_of(broker, keyless) + warnings_of(broker, empty) == []


def test_an_expansion_that_is_refused_is_not_told(broker, tools, unique):
    topic = unique("topic")
    create(tools, topic, 3)
    write_keyed(tools, topic)
    assert tools("kafka-topics", "--alter", "--topic", topic, "--partitions", 3).code == 1
    assert warnings_of(broker, topic) == []
