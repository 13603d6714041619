"""Our commands beside Kafka's own tools: the same line on the same broker has the same output, first line of the error stream and
exit code. `differences` of docs/commands.md are the lines that are marked here."""

import json
import os
import re
import subprocess
import tempfile

import confluent_kafka
import pytest

import command_lines
import commands
import harness

BROKER_PROPERTIES = command_lines.BROKER_PROPERTIES


@pytest.fixture(scope="module")
def ours(broker):
    runner = commands.Commands(broker.bootstrap)
    yield runner
    runner.close()


@pytest.fixture(scope="module")
def world(tools):
    return command_lines.build(tools)


@pytest.fixture(scope="module")
def recording():
    """PARTITA_RECORD_COMMANDS=1: what Kafka's tools said, for the test without a JVM."""
    record = command_lines.Recording()
    yield record
    if os.environ.get("PARTITA_RECORD_COMMANDS"):
        record.write()


def same(theirs, mine, rename=()):
    assert commands.shown(mine, rename) == commands.shown(theirs), f"{theirs}\n----\n{mine}"


def name_of(line):
    return " ".join(line)[:90]


@pytest.mark.parametrize("line", command_lines.LOOKS, ids=name_of)
def test_a_line_that_changes_nothing(tools, ours, world, recording, line):
    theirs, mine = (command_lines.run(run, line, world) for run in (tools, ours))
    if line[0] == command_lines.ACLS:
        # Behind the message Kafka's tool prints a stack trace on its output.
        theirs.out = "".join(part + "\n" for part in commands.own_words(theirs.out)).replace("\n\n", "\n")
    if line[0] == command_lines.REASSIGN:
        theirs.out = commands.without_stack_trace(theirs.out)
    for result in (theirs, mine):
        result.out = command_lines.without_speeds(result.out)
    recording.add(line, commands.shown(theirs), world, tools.bootstrap)
    key = " ".join(line)
    if key in command_lines.DIFFERENCES:
        said, _ = command_lines.DIFFERENCES[key]
        assert commands.shown(mine) == {**commands.shown(theirs), **said}, f"{theirs}\n----\n{mine}"
        return
    same(theirs, mine)


@pytest.mark.parametrize("scene", command_lines.SCENES)
def test_a_scene_that_changes_something(tools, ours, world, scene):
    for line in command_lines.SCENES[scene]:
        line, text = line if isinstance(line, tuple) else (line, "")
        theirs, mine = (
            run(*[word.format(t=topic, ip=address, plan_of_t=world[topic.replace("-", "_")], **world) for word in line], input=text)
            for run, topic, address in ((tools, "twin-a", "127.0.0.8"), (ours, "twin-b", "127.0.0.9")))
        for result in (theirs, mine):
            result.out = command_lines.without_speeds(command_lines.without_ids(result.out))
        same(theirs, mine, [("twin-b", "twin-a"), ("127.0.0.9", "127.0.0.8")])


def test_records_of_the_coordinators_are_the_same_json(tools, ours, broker, unique):
    topic, group = unique("topic"), unique("group")
    tools("kafka-topics", "--create", "--topic", topic, "--partitions", 2).succeeded()
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": unique('"id"')})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(topic, "value")
    producer.commit_transaction()
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    assert consumer.poll(harness.TOOL_DEADLINE_S) is not None
    consumer.commit(asynchronous=False)
    consumer.close()
    tools("kafka-consumer-groups", "--delete-offsets", "--group", group, "--topic", topic).succeeded()
    shown = 0
    for log, name in (("__consumer_offsets", "OffsetsMessageFormatter"), ("__consumer_offsets", "GroupMetadataMessageFormatter"),
                      ("__transaction_state", "TransactionLogMessageFormatter")):
        for line in tools("kafka-get-offsets", "--topic", log).succeeded().lines:
            _, partition, end = line.split(":")
            if end == "0":
                continue
            read = ["kafka-console-consumer", "--topic", log, "--partition", partition, "--offset", "earliest", "--max-messages", end,
                    "--timeout-ms", "2000", "--formatter", command_lines.FORMATTERS + name]
            theirs, mine = tools(*read), ours(*read)
            assert (mine.code, mine.out) == (theirs.code, theirs.out)
            shown += mine.out.count('{"key":')
    assert shown >= 6, shown


def test_a_class_by_its_name_before_kafka_4_is_served_with_a_word(ours, world):
    shown = ours(*command_lines.READ_WORDS, "--formatter", "kafka.tools.DefaultMessageFormatter").succeeded()
    assert shown.lines == command_lines.WORDS
    assert shown.err.startswith("Kafka 4 refuses --formatter kafka.tools.DefaultMessageFormatter: use org.apache.kafka.tools.consumer.")
    made = ours("kafka-console-producer", "--topic", "plain", "--line-reader", "kafka.tools.ConsoleProducer$LineMessageReader").succeeded()
    assert made.err.startswith("Kafka 4 refuses --line-reader")


@pytest.mark.parametrize("line, hint", [
    (["kafka-topics", "--list", "--zookeeper", "localhost:2181"], "--zookeeper: Kafka has no ZooKeeper since 4.0: use --bootstrap-server"),
    (["kafka-console-producer", "--topic", "plain", "--broker-list", "b:9092"], "--broker-list: renamed in Kafka 4.0: use --bootstrap-server"),
    (["kafka-console-consumer", "--whitelist", "p.*"], "--whitelist: renamed in Kafka 4.0: use --include"),
    (["kafka-acls", "--list", "--authorizer-properties", "zookeeper.connect=z:2181"], "--authorizer-properties: brokers keep the rules")])
def test_an_option_of_earlier_releases_is_refused_with_todays_way(tools, ours, line, hint):
    theirs, mine = tools(*line), ours(*line)
    assert (mine.code, commands.first_error(mine)) == (theirs.code, commands.first_error(theirs))
    assert mine.err.splitlines()[1].startswith(hint), mine


def test_nobody_there_is_said_when_the_time_is_over(tools, ours, tmp_path):
    config = tmp_path / "client.properties"
    config.write_text("default.api.timeout.ms=1200\nrequest.timeout.ms=1000\n")
    line = ["kafka-topics", "--list", "--bootstrap-server", f"127.0.0.1:{harness.free_port()}", "--command-config", str(config)]
    theirs, mine = tools(*line), ours(*line)
    assert theirs.out.splitlines()[0] == mine.out.splitlines()[0]
    assert mine.out == "Error while executing topic command : Timed out waiting for a node assignment. Call: listTopics\n"
    assert theirs.code == mine.code == 1


def test_a_login_that_is_not_served_is_refused(ours, tmp_path):
    config = tmp_path / "client.properties"
    config.write_text("security.protocol=SASL_SSL\n")
    result = ours("kafka-topics", "--list", "--command-config", config)
    assert (result.code, result.out) == (1, "")
    assert result.err == "sasl.mechanism=GSSAPI is not served: only PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512 are\n"


def test_a_store_of_keys_that_cannot_be_read_is_named(ours, tmp_path):
    config = tmp_path / "client.properties"
    config.write_text(f"security.protocol=SSL\nssl.truststore.location={tmp_path}/nowhere.jks\n")
    result = ours("kafka-topics", "--list", "--command-config", config)
    assert (result.code, result.out) == (1, "")
    assert "ssl.truststore.location" in result.err and "nowhere.jks" in result.err and result.err.count("\n") == 1


@pytest.mark.parametrize("address", ["nowhere", "host:port", "host:99999", ":9092", "<i>:1"])
def test_an_address_that_is_none(ours, address):
    result = ours("kafka-topics", "--list", "--bootstrap-server", address)
    assert (result.code, result.out) == (1, "")
    assert re.fullmatch(r"Invalid (url|port) in bootstrap\.servers: .*\n", result.err)


@pytest.mark.parametrize("action", [["cluster-id"], ["list-endpoints"], ["list-endpoints", "--include-fenced-brokers"]])
def test_the_cluster_tells_of_itself(tools, ours, action):
    same(tools("kafka-cluster", *action), ours("kafka-cluster", *action))


def test_the_versions_of_each_broker_are_told(tools, ours):
    theirs = tools("kafka-broker-api-versions")
    # Brokers send these to each other; Kafka's tool says of each that it is not supported.
    between_brokers = re.compile(r"\t\w*ShareGroupState(Summary)?\(8[3-7]\): UNSUPPORTED,\n")
    assert len(between_brokers.findall(theirs.out)) in (0, 5), theirs
    theirs.out = between_brokers.sub("", theirs.out)
    same(theirs, ours("kafka-broker-api-versions"))


def consumed(ours, topic, *more):
    return ours("kafka-console-consumer", "--topic", topic, "--exit", *more).succeeded().lines


@pytest.fixture
def written(ours, unique):
    """A topic with JSON records: three in partition 0 and one, which is no text, in 1."""
    topic = unique("topic")
    ours("kafka-topics", "--create", "--topic", topic, "--partitions", 3, "--config", "retention.ms=-1").succeeded()
    lines = [{"partition": 0, "timestamp": 1000 * n, "key": f"k{n}", "value": f"v{n}"} for n in (1, 2, 3)]
    lines += [{"partition": 1, "timestamp": 5000, "key": None, "value_hex": "ff00", "headers": [{"key": "h", "value": "1"}]}]
    ours("kafka-console-producer", "--topic", topic, "--json", input="\n".join(map(json.dumps, lines))).succeeded()
    return topic


def test_json_lines_come_back_as_they_were_written(ours, written):
    records = [json.loads(line) for line in consumed(ours, written, "--json", "--from-beginning")]
    assert [(r["partition"], r["offset"], r["timestamp"], r["key"]) for r in sorted(records, key=lambda r: r["timestamp"])] == [
        (0, 0, 1000, "k1"), (0, 1, 2000, "k2"), (0, 2, 3000, "k3"), (1, 0, 5000, None)]
    assert records[-1] == {"topic": written, "partition": 1, "offset": 0, "timestamp": 5000,
                           "headers": [{"key": "h", "value": "1"}], "key": None, "value_hex": "ff00"}


def test_formats_tails_and_times(ours, written):
    assert consumed(ours, written, "--format", "%p:%o %k=%s\\n", "--partition", 0, "--offset", 1) == ["0:1 k2=v2", "0:2 k3=v3"]
    assert consumed(ours, written, "--format", "%s\\n", "--hex", "--tail", 1, "--partition", 1) == ["ff00"]
    assert consumed(ours, written, "--tail", 2, "--partition", 0) == ["v2", "v3"]
    assert consumed(ours, written, "--from-time", 2500, "--partition", 0) == ["v3"]
    assert consumed(ours, written, "--from-time", "1970-01-01T00:00:02.000", "--partition", 0) == ["v2", "v3"]
    assert consumed(ours, written, "--partition", 2, "--from-beginning") == []


def test_keys_are_placed_as_kafkas_client_places_them(tools, ours, unique):
    keys = [f"key-{n}" for n in range(40)]
    placed = []
    for run, name in ((tools, "theirs"), (ours, "ours")):
        topic = unique(name)
        ours("kafka-topics", "--create", "--topic", topic, "--partitions", 7).succeeded()
        run("kafka-console-producer", "--topic", topic, "--reader-property", "parse.key=true",
            input="".join(f"{key}\t{key}\n" for key in keys)).succeeded()
        placed.append(dict(line.split() for line in consumed(ours, topic, "--from-beginning", "--format", "%k %p\\n")))
    assert placed[0] == placed[1] and set(placed[0]) == set(keys)


def test_ten_megabytes_in_one_record(ours, unique):
    topic = unique("topic")
    ours("kafka-topics", "--create", "--topic", topic, "--config", "max.message.bytes=20000000").succeeded()
    value = "x" * 10_000_000
    ours("kafka-console-producer", "--topic", topic, input=value).succeeded()
    assert consumed(ours, topic, "--from-beginning") == [value]
    refused = ours.by_command("produce", "--topic", topic, input=3 * value)
    assert refused.code == 1 and "RecordTooLargeException" in refused.err
    assert ours("kafka-console-producer", "--topic", topic, input=3 * value).code == 0


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_goes_on_where_either_tool_has_committed(tools, ours, unique, protocol):
    topic, group = unique("topic"), unique("group")
    ours("kafka-topics", "--create", "--topic", topic).succeeded()
    ours("kafka-console-producer", "--topic", topic, input="".join(f"{n}\n" for n in range(9))).succeeded()
    line = ["kafka-console-consumer", "--topic", topic, "--group", group, "--from-beginning", "--max-messages", 3,
            "--command-property", f"group.protocol={protocol}"]
    read = [run(*line).succeeded().lines for run in (ours, tools, ours)]
    assert read == [[str(n) for n in range(first, first + 3)] for first in (0, 3, 6)]
    described = ours("kafka-consumer-groups", "--describe", "--group", group)
    assert described.err.strip() == f"Consumer group '{group}' has no active members."
    assert described.lines[-1].split()[:6] == [group, topic, "0", "9", "9", "0"]


@pytest.mark.parametrize("properties", [["group.protocol=classic"], ["group.protocol=consumer"],
                                        ["partition.assignment.strategy=org.apache.kafka.clients.consumer.CooperativeStickyAssignor"]],
                         ids=["classic", "consumer", "cooperative"])
def test_partitions_are_shared_with_kafkas_consumer(ours, broker, unique, properties):
    topic, group = unique("topic"), unique("group")
    ours("kafka-topics", "--create", "--topic", topic, "--partitions", 6).succeeded()
    line = ["--bootstrap-server", broker.bootstrap, "--topic", topic, "--group", group, "--from-beginning"]
    line += [word for one in properties for word in ("--command-property", one)]
    theirs = [*harness.java_command(), harness.TOOL_CLASSES["kafka-console-consumer"], *line]
    mine = [ours.link("kafka-console-consumer.sh"), *line]

    def members():
        rows = [line.split() for line in ours("kafka-consumer-groups", "--describe", "--group", group, "--members").lines]
        return [row[4] for row in rows if row and row[0] == group] == ["3", "3"]

    with tempfile.TemporaryFile("w+") as first, tempfile.TemporaryFile("w+") as second:
        readers = [subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
                   for command, out in ((mine, first), (theirs, second))]
        try:
            harness.wait_until(members, 60, "two members with three partitions each")
            lines = [json.dumps({"partition": n % 6, "value": str(n)}) for n in range(60)]
            ours("kafka-console-producer", "--topic", topic, "--json", input="\n".join(lines)).succeeded()

            def read():
                return [os.pread(out.fileno(), 100_000, 0).decode().split() for out in (first, second)]

            harness.wait_until(lambda: sum(map(len, read())) >= 60, 30, read)
            assert sorted(sum(read(), []), key=int) == [str(n) for n in range(60)]
            assert {len(part) for part in read()} == {30}
        finally:
            for reader in readers:
                reader.terminate()
        # Ours ends with 0, a JVM that ends by the signal with 143; both leave.
        assert readers[0].wait(60) == 0 and readers[1].wait(60) in (0, 143)
    assert "has no active members" in ours("kafka-consumer-groups", "--describe", "--group", group).err


@pytest.mark.parametrize("more, said", [
    (["--partition", "0", "--group", "g"], "Options group and partition cannot be specified together."),
    (["--group", "g", "--command-property", "group.id=h"],
     "The group ids provided in different places (directly using '--group', via '--consumer-property', or via '--consumer.config') "
     "do not match. Detected group ids: 'g', 'h'")])
def test_groups_that_make_no_sense_are_refused(tools, ours, more, said):
    line = ["kafka-console-consumer", "--topic", "t", *more]
    assert commands.first_error(tools(*line)) == commands.first_error(ours(*line)) == said


def test_records_that_a_killed_broker_did_not_answer_for_are_stored_once(broker, ours, unique):
    if not hasattr(broker, "restart"):
        pytest.skip("needs a broker of its own")
    topic = unique("topic")
    ours("kafka-topics", "--create", "--topic", topic).succeeded()
    binary = ours.link("kafka-console-producer.sh")
    process = subprocess.Popen([binary, "--bootstrap-server", broker.bootstrap, "--topic", topic, "--sync"], stdin=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    for n in range(2000):
        process.stdin.write(f"{n}\n")
        if n == 700:
            process.stdin.flush()
            broker.kill()
            broker.restart()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert consumed(ours, topic, "--from-beginning") == [str(n) for n in range(2000)]
