"""Kafka's tools that write and read on their own: the verifiable producer and consumer, the performance tests, the
end-to-end latency, the compatibility test, and the console consumer with the protocol of KIP-848.

Each runs in a JVM of its own: these tools keep threads, and end their JVM in their own way.
"""

import json
import re

import pytest

import harness

BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0}

TOOLS = "org.apache.kafka.tools."


@pytest.fixture
def run(broker):
    """run("ProducerPerformance", ...) in a JVM of its own, against the broker; the tool must succeed."""
    def call(tool, *arguments):
        return harness.run_java(TOOLS + tool, "--bootstrap-server", broker.bootstrap, *map(str, arguments))
    return call


@pytest.fixture
def topic(tools, unique):
    name = unique("topic")
    tools("kafka-topics", "--create", "--topic", name, "--partitions", 3).succeeded()
    return name


def events(done):
    """The JSON lines of a verifiable tool by their names."""
    found = {}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            event = json.loads(line)
            found.setdefault(event["name"], []).append(event)
    return found


PROTOCOLS = ["classic", "consumer"]


@pytest.mark.parametrize("acks", ["0", "1", "-1"])
def test_the_verifiable_producer_gets_every_record_acknowledged(run, topic, acks):
    told = events(run("VerifiableProducer", "--topic", topic, "--max-messages", 200, "--acks", acks))
    assert len(told["producer_send_success"]) == 200 and "producer_send_error" not in told
    assert {event["value"] for event in told["producer_send_success"]} == {str(n) for n in range(200)}
    summary, = told["tool_data"]
    assert (summary["sent"], summary["acked"]) == (200, 200)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_verifiable_consumer_reads_and_commits_what_the_producer_wrote(run, tools, topic, unique, protocol):
    group = unique("group")
    run("VerifiableProducer", "--topic", topic, "--max-messages", 300, "--repeating-keys", 50)
    told = events(run("VerifiableConsumer", "--topic", topic, "--group-id", group, "--group-protocol", protocol,
                      "--max-messages", 300, "--verbose"))
    assert sorted(int(event["value"]) for event in told["record_data"]) == list(range(300))
    assert sum(event["count"] for event in told["records_consumed"]) == 300
    assert [p["partition"] for p in told["partitions_assigned"][-1]["partitions"]] == [0, 1, 2]
    assert all(event["success"] for event in told["offsets_committed"])
    described = tools("kafka-consumer-groups", "--describe", "--group", group).succeeded()
    lags = re.findall(rf"^{group}\s+{topic}\s+\d+\s+\d+\s+\d+\s+(\d+)\s", described.out, re.M)
    assert lags == ["0", "0", "0"], described


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_performance_tests_write_and_read_every_record(run, topic, unique, protocol):
    done = run("ProducerPerformance", "--topic", topic, "--num-records", 5000, "--record-size", 200, "--throughput", -1,
               "--command-property", "compression.type=lz4")
    assert re.search(r"^5000 records sent, [\d.]+ records/sec", done.stdout, re.M), done
    done = run("ConsumerPerformance", "--topic", topic, "--num-records", 5000, "--group", unique("group"), "--timeout",
               20000, "--hide-header", "--command-property", f"group.protocol={protocol}")
    columns = done.stdout.strip().splitlines()[-1].split(", ")
    assert columns[4] == "5000", done


def test_clients_above_their_quotas_are_told_to_wait(run, tools, topic, unique):
    """The Java clients count what they were told (ThrottleTimeMs); eleven windows of a second allow a burst."""
    producer, consumer = unique("producer"), unique("consumer")
    for client, quota in ((producer, "producer_byte_rate"), (consumer, "consumer_byte_rate")):
        tools("kafka-configs", "--alter", "--add-config", f"{quota}=27000", "--entity-type", "clients", "--entity-name",
              client).succeeded()
    done = run("ProducerPerformance", "--topic", topic, "--num-records", 300, "--record-size", 1000, "--throughput", -1,
               "--print-metrics", "--command-property", f"client.id={producer}")
    told = re.search(rf"produce-throttle-time-max:{{client-id={producer}}}\s*:\s*([\d.]+)", done.stdout)
    assert told and 500 < float(told[1]) < 20_000, done
    done = run("ConsumerPerformance", "--topic", topic, "--num-records", 300, "--group", unique("group"), "--timeout",
               30000, "--print-metrics", "--command-property", f"client.id={consumer}")
    told = re.search(rf"fetch-throttle-time-max:{{client-id={consumer}}}\s*:\s*([\d.]+)", done.stdout)
    assert told and 500 < float(told[1]) < 30_000, done


def test_the_end_to_end_latency_is_measured(run, unique):
    """It creates its topic, too."""
    done = run("EndToEndLatency", "--topic", unique("topic"), "--num-records", 50, "--producer-acks", "all",
               "--record-size", 100)
    assert re.search(r"^Avg latency: [\d.]+ ms", done.stdout, re.M), done
    assert re.search(r"^Percentiles: 50th = \d+, 99th = \d+, 99.9th = \d+$", done.stdout, re.M), done


def test_the_compatibility_test_finds_everything_that_it_expects_of_a_new_broker(run, tools, unique):
    topic = unique("topic")
    tools("kafka-topics", "--create", "--topic", topic, "--partitions", 1).succeeded()
    done = run("ClientCompatibilityTest", "--topic", topic, "--num-cluster-nodes", 1,
               *(word for flag in ("offsets-for-times", "cluster-id", "create-topics", "describe-acls",
                                   "describe-configs", "idempotent-producer")
                 for word in (f"--{flag}-supported", "True")),
               "--expect-record-too-large-exception", "False")
    assert done.stdout == "SUCCESS.\n", done


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_console_consumer_goes_on_where_its_group_stopped(tools, topic, unique, protocol):
    group = unique("group")

    def produce(*lines):
        tools("kafka-console-producer", "--topic", topic, input="".join(line + "\n" for line in lines)).succeeded()

    def consume(count):
        done = tools("kafka-console-consumer", "--topic", topic, "--group", group, "--max-messages", count,
                     "--timeout-ms", 20000, "--command-property", f"group.protocol={protocol}", "--command-property",
                     "auto.offset.reset=earliest")
        assert f"Processed a total of {count} messages" in done.err, done
        return sorted(done.succeeded().lines)

    produce("1", "2", "3")
    assert consume(3) == ["1", "2", "3"]
    produce("4", "5")
    assert consume(2) == ["4", "5"]
    listed = tools("kafka-consumer-groups", "--list", "--type").succeeded()
    assert re.search(rf"^{group}\s+{protocol.title()}\s*$", listed.out, re.M), listed


def test_offsets_are_reset_for_all_groups_and_all_topics(tools, run, unique):
    topics, groups = [unique("one"), unique("two")], [unique("a"), unique("b")]
    for topic in topics:
        tools("kafka-topics", "--create", "--topic", topic, "--partitions", 1).succeeded()
        run("VerifiableProducer", "--topic", topic, "--max-messages", 10)
    for group in groups:
        for topic in topics:
            tools("kafka-consumer-groups", "--reset-offsets", "--group", group, "--topic", topic, "--to-latest",
                  "--execute").succeeded()

    def offsets(done):
        return sorted(re.findall(rf"^({'|'.join(groups)})\s+({'|'.join(topics)})\s+0\s+(\d+)\s*$", done.out, re.M))

    everywhere = [(group, topic) for group in sorted(groups) for topic in sorted(topics)]
    planned = tools("kafka-consumer-groups", "--reset-offsets", "--all-groups", "--all-topics", "--shift-by", "-4")
    assert offsets(planned.succeeded()) == [(g, t, "6") for g, t in everywhere], planned
    assert "No action will be performed as the --execute option is missing." in planned.out + planned.err, planned
    done = tools("kafka-consumer-groups", "--reset-offsets", "--all-groups", "--all-topics", "--shift-by", "-4",
                 "--execute").succeeded()
    assert offsets(done) == [(g, t, "6") for g, t in everywhere], done


def test_offsets_of_several_groups_go_to_a_file_and_back(tools, run, unique, tmp_path):
    topic, groups = unique("topic"), sorted([unique("a"), unique("b")])
    tools("kafka-topics", "--create", "--topic", topic, "--partitions", 1).succeeded()
    run("VerifiableProducer", "--topic", topic, "--max-messages", 10)
    several = [word for group in groups for word in ("--group", group)]
    for group, offset in zip(groups, (3, 7)):
        tools("kafka-consumer-groups", "--reset-offsets", "--group", group, "--topic", topic, "--to-offset", offset,
              "--execute").succeeded()
    exported = tools("kafka-consumer-groups", "--reset-offsets", *several, "--topic", topic, "--to-current", "--export",
                     "--dry-run").succeeded()
    lines = sorted(line for line in exported.lines if line.strip())
    assert lines == [f'"{groups[0]}","{topic}",0,3', f'"{groups[1]}","{topic}",0,7'], exported
    for group in groups:
        tools("kafka-consumer-groups", "--reset-offsets", "--group", group, "--topic", topic, "--to-earliest",
              "--execute").succeeded()
    file = tmp_path / "offsets.csv"
    file.write_text("\n".join(lines) + "\n")
    done = tools("kafka-consumer-groups", "--reset-offsets", *several, "--from-file", file, "--execute").succeeded()
    found = sorted(re.findall(rf"^(\S+)\s+{topic}\s+0\s+(\d+)\s*$", done.out, re.M))
    assert found == [(groups[0], "3"), (groups[1], "7")], done
