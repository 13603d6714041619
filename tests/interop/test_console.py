"""kafka-console-producer and kafka-console-consumer, with the classic group protocol."""

import json
import re

import pytest

import harness

BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0}

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


@pytest.fixture
def topic(tools, unique):
    name = unique("topic")
    tools("kafka-topics", "--create", "--topic", name, "--partitions", 1).succeeded()
    return name


def produce(tools, topic, lines, *more):
    result = tools("kafka-console-producer", "--topic", topic, *more, input="".join(line + "\n" for line in lines))
    assert "ERROR" not in result.err, result
    return result.succeeded()


def consume(tools, topic, count, *more):
    """Reads exactly `count` messages. The timeout only bounds a failure."""
    result = tools("kafka-console-consumer", "--topic", topic, "--max-messages", count, "--timeout-ms", 20000, *more)
    assert f"Processed a total of {count} messages" in result.err, result
    return result.succeeded().lines


@pytest.mark.parametrize("codec", CODECS)
def test_produces_and_consumes(tools, topic, codec):
    lines = [f"line {n} " + "again and again " * 10 for n in range(200)]
    produce(tools, topic, lines, "--compression-codec", codec)
    assert consume(tools, topic, 200, "--from-beginning") == lines


def test_keys_headers_and_nulls(tools, topic):
    produce(tools, topic,
            ["a:1,b:2|key|value", "NULL|NULL|NULL", "c:3|k|NULL", "d:4|NULL|v"],
            "--reader-property", "parse.key=true", "--reader-property", "parse.headers=true",
            "--reader-property", "key.separator=|", "--reader-property", "headers.delimiter=|",
            "--reader-property", "null.marker=NULL")
    formatted = consume(tools, topic, 4, "--from-beginning", "--formatter-property", "print.key=true",
                        "--formatter-property", "print.headers=true", "--formatter-property", "print.offset=true",
                        "--formatter-property", "print.partition=true", "--formatter-property", "key.separator=|",
                        "--formatter-property", "null.literal=(null)")
    assert formatted == ["Partition:0|Offset:0|a:1,b:2|key|value", "Partition:0|Offset:1|NO_HEADERS|(null)|(null)",
                         "Partition:0|Offset:2|c:3|k|(null)", "Partition:0|Offset:3|d:4|(null)|v"]


def test_timestamps_are_the_producers(tools, topic):
    produce(tools, topic, ["x"])
    line, = consume(tools, topic, 1, "--from-beginning", "--formatter-property", "print.timestamp=true")
    assert re.fullmatch(r"CreateTime:\d{13}\tx", line)


def test_reads_from_a_partition_and_offset(tools, unique):
    topic = unique("topic")
    tools("kafka-topics", "--create", "--topic", topic, "--partitions", 3).succeeded()
    for key in "abcdefgh":
        produce(tools, topic, [f"{key}:{key}{n}" for n in range(3)], "--reader-property", "parse.key=true",
                "--reader-property", "key.separator=:")
    ends = {}
    for line in tools("kafka-get-offsets", "--topic", topic).succeeded().lines:
        _, partition, end = line.split(":")
        ends[int(partition)] = int(end)
    assert sum(ends.values()) == 24
    partition, end = max(ends.items(), key=lambda item: item[1])
    everything = consume(tools, topic, end, "--partition", partition, "--offset", "earliest")
    assert consume(tools, topic, end - 2, "--partition", partition, "--offset", 2) == everything[2:]


def test_a_read_at_the_end_waits_and_times_out(tools, topic):
    produce(tools, topic, ["old"])
    result = tools("kafka-console-consumer", "--topic", topic, "--partition", 0, "--offset", "latest",
                   "--timeout-ms", 500)
    assert result.out == "" and "Processed a total of 0 messages" in result.err, result


def test_a_group_goes_on_where_it_stopped(tools, topic, unique):
    group = unique("group")
    produce(tools, topic, ["1", "2", "3"])
    assert consume(tools, topic, 3, "--group", group, "--from-beginning") == ["1", "2", "3"]
    produce(tools, topic, ["4", "5"])
    assert consume(tools, topic, 2, "--group", group) == ["4", "5"]


def test_a_pattern_subscribes_to_several_topics(tools, unique):
    prefix = unique("topic")
    for end in ("a", "b"):
        tools("kafka-topics", "--create", "--topic", f"{prefix}-{end}", "--partitions", 1).succeeded()
        produce(tools, f"{prefix}-{end}", [end])
    result = tools("kafka-console-consumer", "--include", prefix + "-.*", "--from-beginning", "--max-messages", 2,
                   "--timeout-ms", 20000).succeeded()
    assert sorted(result.lines) == ["a", "b"], result


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_every_kind_of_acknowledgement(tools, topic, acks):
    produce(tools, topic, ["x", "y"], "--request-required-acks", acks)
    assert consume(tools, topic, 2, "--from-beginning") == ["x", "y"]


def test_synchronous_sends(tools, topic):
    produce(tools, topic, ["x", "y"], "--sync")
    assert consume(tools, topic, 2, "--from-beginning") == ["x", "y"]


def test_a_record_that_is_too_large_is_reported(tools, unique):
    topic = unique("topic")
    tools("kafka-topics", "--create", "--topic", topic, "--config", "max.message.bytes=1000").succeeded()
    result = tools("kafka-console-producer", "--topic", topic, input="x" * 2000 + "\n")
    assert "RecordTooLargeException: The request included a message larger than the max message size the server will " \
        "accept." in result.err, result


def test_a_missing_topic_is_created_by_a_producer_if_the_broker_allows(unique):
    if harness.TARGET not in ("partita", "kafka"):
        pytest.skip("needs a broker with other properties")
    with harness.start_broker({"num.partitions": 2}) as creating:
        tools = harness.Tools(creating.bootstrap)
        try:
            topic = unique("topic")
            produce(tools, topic, ["x"])
            assert consume(tools, topic, 1, "--from-beginning") == ["x"]
            described = tools("kafka-topics", "--describe", "--topic", topic).succeeded()
            assert "PartitionCount: 2\t" in described.out
        finally:
            tools.close()


def decoded(out):
    """The JSON documents that a formatter printed one after the other, on one line or on several."""
    decoder, documents, text = json.JSONDecoder(), [], out.strip()
    while text:
        document, end = decoder.raw_decode(text)
        documents.append(document)
        text = text[end:].lstrip()
    return documents


def test_a_group_reads_the_commits_of_another(tools, topic, unique):
    """__consumer_offsets is a topic like others: consumed in a group, decoded by Kafka's own formatters."""
    group, watcher = unique("group"), unique("watcher")
    produce(tools, topic, ["a", "b", "c"])
    consume(tools, topic, 3, "--group", group, "--from-beginning")

    def read(reader, formatter):
        result = tools("kafka-console-consumer", "--topic", "__consumer_offsets", "--group", reader, "--from-beginning",
                       "--timeout-ms", 4000, "--formatter", "org.apache.kafka.tools.consumer." + formatter)
        return [d for d in decoded(result.succeeded().out) if d["key"]["data"]["group"] == group]

    commits = read(watcher, "OffsetsMessageFormatter")
    assert {c["key"]["data"]["topic"] for c in commits} == {topic}
    last = {c["key"]["data"]["partition"]: c["value"]["data"]["offset"] for c in commits}
    assert sum(last.values()) == 3, commits
    # The watcher committed how far it read, in the very topic that it read.
    assert "__consumer_offsets" in tools("kafka-consumer-groups", "--describe", "--group", watcher).succeeded().out
    generations = read(unique("other-watcher"), "GroupMetadataMessageFormatter")
    assert [g["value"]["data"]["generation"] for g in generations] == [0, 1, 2], generations
    joined, left = generations[1]["value"]["data"], generations[2]["value"]["data"]
    assert (joined["protocolType"], joined["protocol"], len(joined["members"])) == ("consumer", "range", 1)
    assert (left["protocolType"], left["protocol"], left["members"]) == ("consumer", None, [])
