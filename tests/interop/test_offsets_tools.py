"""kafka-get-offsets, kafka-delete-records, kafka-broker-api-versions, kafka-cluster."""

import json
import re

import pytest

import clients
import harness

# Records of years ago are there for as long as the module takes.
BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "log.retention.ms": -1}

START = 1_700_000_000_000


@pytest.fixture(scope="module")
def writer(broker):
    agent = clients.Agent(clients.confluent, broker.bootstrap)
    yield agent
    agent.close()


@pytest.fixture
def filled(writer, unique):
    """A topic with ten records in partition 0, five in 1 and none in 2; record n has the timestamp START + n."""
    topic = unique("topic")
    writer.create_topic(topic, partitions=3)
    records = [{"partition": p, "timestamp": START + n, "key": None, "value": str(n)}
               for p, count in ((0, 10), (1, 5)) for n in range(count)]
    writer.call("produce", topic=topic, records=records)
    return topic


def offsets(tools, topic, *more):
    lines = tools("kafka-get-offsets", "--topic", topic, *more).succeeded().lines
    assert all(line.startswith(topic + ":") for line in lines), lines
    return [line[len(topic) + 1:] for line in lines]


@pytest.mark.parametrize("time, expected", [
    ("-1", ["0:10", "1:5", "2:0"]), ("latest", ["0:10", "1:5", "2:0"]),
    ("-2", ["0:0", "1:0", "2:0"]), ("earliest", ["0:0", "1:0", "2:0"]),
    # A partition that has no such record answers -1, which the tool leaves out.
    ("-3", ["0:9", "1:4"]), ("max-timestamp", ["0:9", "1:4"]),
    ("-4", ["0:0", "1:0", "2:0"]),
    (str(START - 9), ["0:0", "1:0"]), (str(START + 3), ["0:3", "1:3"]), (str(START + 7), ["0:7"]),
    (str(START + 100), []),
])
def test_get_offsets(tools, filled, time, expected):
    assert offsets(tools, filled, "--time", time) == expected


def test_get_offsets_of_chosen_partitions(tools, filled):
    assert offsets(tools, filled, "--partitions", "0,2") == ["0:10", "2:0"]
    listed = tools("kafka-get-offsets", "--topic-partitions", f"{filled}:1").succeeded().lines
    assert listed == [f"{filled}:1:5"]


def test_get_offsets_of_an_unknown_topic_fails(tools, unique):
    result = tools("kafka-get-offsets", "--topic", unique("missing"))
    assert result.code == 1 and "Could not match any topic-partitions with the specified filters" in result.err, result


def delete_records(tools, tmp_path, *partitions):
    request = tmp_path / "delete.json"
    request.write_text(json.dumps({"version": 1, "partitions": [
        {"topic": topic, "partition": partition, "offset": offset} for topic, partition, offset in partitions]}))
    return tools("kafka-delete-records", "--offset-json-file", request)


def test_delete_records_moves_the_start(tools, writer, filled, tmp_path):
    result = delete_records(tools, tmp_path, (filled, 0, 4), (filled, 1, -1)).succeeded()
    assert f"partition: {filled}-0\tlow_watermark: 4" in result.lines, result
    assert f"partition: {filled}-1\tlow_watermark: 5" in result.lines, result
    assert offsets(tools, filled, "--time", "-2") == ["0:4", "1:5", "2:0"]
    assert offsets(tools, filled, "--time", "-1") == ["0:10", "1:5", "2:0"]
    read = writer.call("read", topic=filled, count=6, timeout_ms=20000)["records"]
    assert [record["value"] for record in read] == [str(n) for n in range(4, 10)]


def test_delete_records_survive_a_restart(tools, broker, writer, filled, tmp_path):
    if not isinstance(broker, harness.ProcessBroker):
        pytest.skip("the broker is not ours to restart")
    delete_records(tools, tmp_path, (filled, 0, 4)).succeeded()
    broker.stop()
    broker.restart()
    assert offsets(tools, filled, "--time", "-2") == ["0:4", "1:0", "2:0"]
    assert offsets(tools, filled) == ["0:10", "1:5", "2:0"]


def test_delete_records_beyond_the_end_is_refused(tools, filled, tmp_path):
    result = delete_records(tools, tmp_path, (filled, 0, 11))
    text = result.out + result.err
    assert re.search(rf"partition: {filled}-0\terror: .*OffsetOutOfRange", text), result
    assert offsets(tools, filled, "--time", "-2") == ["0:0", "1:0", "2:0"]


def test_delete_records_of_a_compacted_topic_is_refused(tools, writer, unique, tmp_path):
    topic = unique("topic")
    writer.create_topic(topic, partitions=1, configs={"cleanup.policy": "compact"})
    writer.call("produce", topic=topic, records=[{"key": "k", "value": "v"}])
    result = delete_records(tools, tmp_path, (topic, 0, 1))
    assert "PolicyViolation" in result.out + result.err, result


def test_broker_api_versions(tools):
    result = tools("kafka-broker-api-versions").succeeded()
    assert re.match(r"(127\.0\.0\.1|localhost):\d+ \(id: \d+ rack: null isFenced: false\) -> \(", result.lines[0]), result
    served = dict(re.findall(r"^\t(\w+)\(\d+\): (.*?),?$", result.out, re.M))
    assert served["Produce"].startswith("0 to ")
    for name in ("Fetch", "ListOffsets", "Metadata", "OffsetCommit", "OffsetFetch", "FindCoordinator", "JoinGroup",
                 "Heartbeat", "LeaveGroup", "SyncGroup", "DescribeGroups", "ListGroups", "ApiVersions", "CreateTopics",
                 "DeleteTopics", "DeleteRecords", "InitProducerId", "OffsetForLeaderEpoch", "DescribeConfigs",
                 "CreatePartitions", "DeleteGroups", "IncrementalAlterConfigs", "OffsetDelete", "DescribeCluster",
                 "DescribeTopicPartitions"):
        assert "usable: " in served[name], (name, served[name])


def test_cluster_id_is_stable(tools, broker):
    pattern = re.compile(r"Cluster ID: [A-Za-z0-9_-]{22}")
    first = tools("kafka-cluster", "cluster-id").succeeded().out.strip()
    assert pattern.fullmatch(first), first
    if isinstance(broker, harness.ProcessBroker):
        broker.stop()
        broker.restart()
    assert tools("kafka-cluster", "cluster-id").succeeded().out.strip() == first
