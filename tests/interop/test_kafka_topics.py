"""kafka-topics and kafka-configs: what they print and the errors that a user sees."""

import re

import harness

BROKER_PROPERTIES = {"auto.create.topics.enable": "false"}

ERROR = "Error while executing topic command : "
DESCRIPTION = re.compile(
    r"Topic: (?P<name>\S+)\tTopicId: (?P<id>[A-Za-z0-9_-]{22})\tPartitionCount: (?P<partitions>\d+)"
    r"\tReplicationFactor: 1\tConfigs: ?(?P<configs>.*)")
PARTITION = re.compile(
    r"\tTopic: (?P<name>\S+)\tPartition: (?P<partition>\d+)\tLeader: (?P<leader>\d+)\tReplicas: (?P<replicas>\d+)"
    r"\tIsr: (?P<isr>\d+)\tElr: ?(?P<elr>\S*)\tLastKnownElr: ?(?P<last_known_elr>\S*)")


def listed(tools):
    return tools("kafka-topics", "--list").succeeded().lines


def create(tools, topic, partitions=1, *more):
    created = tools("kafka-topics", "--create", "--topic", topic, "--partitions", partitions, *more).succeeded()

    def shown():
        assert topic in listed(tools)
        tools("kafka-configs", "--describe", "--entity-type", "topics", "--entity-name", topic, "--all").succeeded()
    harness.at_once(shown)
    return created


def alter(tools, topic, partitions):
    altered = tools("kafka-topics", "--alter", "--topic", topic, "--partitions", partitions).succeeded()

    def shown():
        assert describe(tools, topic)[1] == list(range(partitions))
    harness.at_once(shown)
    return altered


def delete(tools, topic):
    deleted = tools("kafka-topics", "--delete", "--topic", topic).succeeded()

    def gone():
        assert topic not in listed(tools)
    harness.at_once(gone)
    return deleted


def describe(tools, topic):
    """The description's first line, matched, and its partitions in the order printed."""
    result = tools("kafka-topics", "--describe", "--topic", topic).succeeded()
    head = DESCRIPTION.fullmatch(result.lines[0])
    assert head, result
    partitions = [PARTITION.fullmatch(line) for line in result.lines[1:]]
    assert all(partitions), result
    for match in partitions:
        assert match["name"] == head["name"]
        assert match["leader"] == match["replicas"] == match["isr"] == partitions[0]["leader"]
    return head, [int(match["partition"]) for match in partitions]


def fails(result, text):
    assert result.code == 1, result
    assert ERROR + text in result.out + result.err, result


def test_create_list_describe_delete(tools, unique):
    topic = unique("topic")
    assert create(tools, topic, 3).lines == [f"Created topic {topic}."]
    head, partitions = describe(tools, topic)
    assert (head["name"], head["partitions"], partitions) == (topic, "3", [0, 1, 2])
    assert delete(tools, topic).out == ""


def test_list_is_sorted(tools, unique):
    names = [unique(kind) for kind in ("b", "a", "c")]
    for name in names:
        create(tools, name)
    assert [name for name in listed(tools) if name in names] == sorted(names)


def test_create_takes_the_defaults_of_the_broker(tools, unique):
    topic = unique("topic")
    tools("kafka-topics", "--create", "--topic", topic).succeeded()

    def shown():
        assert describe(tools, topic)[1] == [0]
    harness.at_once(shown)


def test_create_warns_of_names_that_collide_in_metrics(tools, unique):
    topic = unique("topic.with_both")
    result = create(tools, topic)
    assert result.lines[-1] == f"Created topic {topic}."
    assert "WARNING: Due to limitations in metric names" in result.out


def test_create_refuses_a_name_that_collides(tools, unique):
    name = unique("topic")
    create(tools, name + ".a_b")
    fails(tools("kafka-topics", "--create", "--topic", name + "_a.b"),
          f"Topic '{name}_a.b' collides with existing topic: {name}.a_b")


def test_create_with_configs_shows_them(tools, unique):
    topic = unique("topic")
    create(tools, topic, 1, "--config", "retention.ms=1234567", "--config", "cleanup.policy=compact")
    head, _ = describe(tools, topic)
    assert {"retention.ms=1234567", "cleanup.policy=compact"} <= set(head["configs"].split(","))


def test_create_refuses_an_unknown_config(tools, unique):
    result = tools("kafka-topics", "--create", "--topic", unique("topic"), "--config", "no.such.config=1")
    assert result.code == 1 and "no.such.config" in result.out + result.err, result


def test_create_refuses_a_bad_config_value(tools, unique):
    result = tools("kafka-topics", "--create", "--topic", unique("topic"), "--config", "retention.ms=soon")
    fails(result, "Invalid value soon for configuration retention.ms: Not a number of type LONG")


def test_create_of_an_existing_topic_fails(tools, unique):
    topic = unique("topic")
    create(tools, topic, 2)
    fails(tools("kafka-topics", "--create", "--topic", topic, "--partitions", 2), f"Topic '{topic}' already exists.")


def test_create_if_not_exists_accepts_an_existing_topic(tools, unique):
    topic = unique("topic")
    create(tools, topic, 2)
    create(tools, topic, 5, "--if-not-exists")
    assert describe(tools, topic)[1] == [0, 1]


def test_create_refuses_an_invalid_name(tools):
    fails(tools("kafka-topics", "--create", "--topic", "not/valid"),
          "Topic name is invalid: 'not/valid' contains one or more characters other than ASCII alphanumerics, "
          "'.', '_' and '-'")


def test_create_refuses_a_name_that_is_too_long(tools):
    result = tools("kafka-topics", "--create", "--topic", "x" * 250)
    fails(result, f"Topic name is invalid: the length of '{'x' * 250}' is longer than the max allowed length 249")


def test_create_refuses_two_replicas_on_one_broker(tools, unique):
    fails(tools("kafka-topics", "--create", "--topic", unique("topic"), "--replication-factor", 2),
          "Unable to replicate the partition 2 time(s): The target replication factor of 2 cannot be reached because "
          "only 1 broker(s) are registered or some brokers have all their log directories cordoned.")


def test_create_refuses_no_partitions(tools, unique):
    fails(tools("kafka-topics", "--create", "--topic", unique("topic"), "--partitions", 0),
          "The partitions must be greater than 0")


def test_create_with_an_assignment(tools, unique):
    topic = unique("topic")
    other = unique("topic")
    create(tools, other)
    node = re.search(r"Leader: (\d+)", tools("kafka-topics", "--describe", "--topic", other).out)[1]
    tools("kafka-topics", "--create", "--topic", topic, "--replica-assignment", f"{node},{node}").succeeded()

    def shown():
        assert describe(tools, topic)[1] == [0, 1]
    harness.at_once(shown)


def test_alter_adds_partitions_at_once_and_ascending(tools, unique):
    topic = unique("topic")
    create(tools, topic, 3)
    before, _ = describe(tools, topic)
    assert alter(tools, topic, 12).out == ""
    after, partitions = describe(tools, topic)
    assert partitions == list(range(12))
    assert (after["partitions"], after["id"]) == ("12", before["id"])


def test_alter_takes_a_regular_expression(tools, unique):
    prefix = unique("topic")
    for end in ("a", "b"):
        create(tools, f"{prefix}-{end}", 1)
    tools("kafka-topics", "--alter", "--topic", prefix + "-.*", "--partitions", 4).succeeded()

    def shown():
        for end in ("a", "b"):
            assert describe(tools, f"{prefix}-{end}")[1] == [0, 1, 2, 3]
    harness.at_once(shown)


def test_alter_refuses_the_count_there_is(tools, unique):
    topic = unique("topic")
    create(tools, topic, 3)
    fails(tools("kafka-topics", "--alter", "--topic", topic, "--partitions", 3), "Topic already has 3 partition(s).")


def test_alter_refuses_fewer_partitions(tools, unique):
    topic = unique("topic")
    create(tools, topic, 6)
    fails(tools("kafka-topics", "--alter", "--topic", topic, "--partitions", 3),
          f"The topic {topic} currently has 6 partition(s); 3 would not be an increase.")


def test_alter_of_an_unknown_topic_fails(tools, unique):
    topic = unique("topic")
    fails(tools("kafka-topics", "--alter", "--topic", topic, "--partitions", 3),
          f"Topic '{topic}' does not exist as expected")
    tools("kafka-topics", "--alter", "--topic", topic, "--partitions", 3, "--if-exists").succeeded()


def test_describe_and_delete_of_an_unknown_topic_fail(tools, unique):
    topic = unique("topic")
    for action in ("--describe", "--delete"):
        fails(tools("kafka-topics", action, "--topic", topic), f"Topic '{topic}' does not exist as expected")


def test_a_topic_created_again_has_another_id(tools, unique):
    topic = unique("topic")
    create(tools, topic)
    first, _ = describe(tools, topic)
    delete(tools, topic)
    create(tools, topic)
    second, _ = describe(tools, topic)
    assert first["id"] != second["id"]


def test_describe_pages_through_many_partitions(tools, unique):
    topic = unique("topic")
    create(tools, topic, 300)
    result = tools("kafka-topics", "--describe", "--topic", topic, "--partition-size-limit-per-response", 7).succeeded()
    assert [int(PARTITION.fullmatch(line)["partition"]) for line in result.lines[1:]] == list(range(300))


def test_describe_by_id(tools, unique):
    topic = unique("topic")
    create(tools, topic, 2)
    head, _ = describe(tools, topic)
    result = tools("kafka-topics", "--describe", "--topic-id", head["id"]).succeeded()
    assert DESCRIPTION.fullmatch(result.lines[0])["name"] == topic


def test_describe_shows_only_what_is_out_of_order(tools, unique):
    topic = unique("topic")
    create(tools, topic, 2)
    for only in ("--under-replicated-partitions", "--unavailable-partitions", "--under-min-isr-partitions"):
        assert tools("kafka-topics", "--describe", "--topic", topic, only).succeeded().out.strip() == "", only
    overridden = tools("kafka-topics", "--describe", "--topic", topic, "--topics-with-overrides").succeeded()
    assert "Partition: " not in overridden.out


CONFIG_LINE = re.compile(r"  (?P<name>\S+)=(?P<value>\S*) sensitive=(?P<sensitive>true|false) synonyms=\{(?P<synonyms>.*)\}")


def topic_configs(tools, topic, *more):
    """What kafka-configs says of a topic: name -> (value, synonyms)."""
    result = tools("kafka-configs", "--describe", "--entity-type", "topics", "--entity-name", topic, *more).succeeded()
    matches = [CONFIG_LINE.fullmatch(line) for line in result.lines[1:]]
    assert all(matches), result
    return result.lines[0], {m["name"]: (m["value"], m["synonyms"]) for m in matches}


def alter_config(tools, topic, *change):
    return tools("kafka-configs", "--alter", "--entity-type", "topics", "--entity-name", topic, *change)


def test_configs_of_a_topic_are_altered_described_and_deleted(tools, unique):
    topic = unique("topic")
    create(tools, topic)
    head, configs = topic_configs(tools, topic)
    assert head == f"Dynamic configs for topic {topic} are:"
    assert "retention.ms" not in configs
    changed = alter_config(tools, topic, "--add-config", "retention.ms=60000,max.message.bytes=2000").succeeded()
    assert changed.lines == [f"Completed updating config for topic {topic}."]

    def shown():
        _, configs = topic_configs(tools, topic)
        assert configs["retention.ms"] == ("60000", "DYNAMIC_TOPIC_CONFIG:retention.ms=60000")
        assert configs["max.message.bytes"] == (
            "2000", "DYNAMIC_TOPIC_CONFIG:max.message.bytes=2000, DEFAULT_CONFIG:message.max.bytes=1048588")
    harness.at_once(shown)
    alter_config(tools, topic, "--delete-config", "retention.ms").succeeded()

    def removed():
        _, configs = topic_configs(tools, topic)
        assert "retention.ms" not in configs and "max.message.bytes" in configs
    harness.at_once(removed)


DEFAULTS = {
    "cleanup.policy": "delete", "compression.gzip.level": "-1", "compression.lz4.level": "9",
    "compression.type": "producer", "compression.zstd.level": "3", "delete.retention.ms": "86400000",
    "file.delete.delay.ms": "60000", "flush.messages": "9223372036854775807", "flush.ms": "9223372036854775807",
    "follower.replication.throttled.replicas": "", "index.interval.bytes": "4096",
    "leader.replication.throttled.replicas": "", "local.retention.bytes": "-2", "local.retention.ms": "-2",
    "max.compaction.lag.ms": "9223372036854775807", "max.message.bytes": "1048588",
    "message.timestamp.after.max.ms": "3600000", "message.timestamp.before.max.ms": "9223372036854775807",
    "message.timestamp.type": "CreateTime", "min.cleanable.dirty.ratio": "0.5", "min.compaction.lag.ms": "0",
    "min.insync.replicas": "1", "preallocate": "false", "remote.log.copy.disable": "false",
    "remote.log.delete.on.disable": "false", "remote.storage.enable": "false", "retention.bytes": "-1",
    "retention.ms": "604800000", "segment.bytes": "1073741824", "segment.index.bytes": "10485760",
    "segment.jitter.ms": "0", "segment.ms": "604800000", "unclean.leader.election.enable": "false",
}


def test_all_configs_of_a_topic_have_kafkas_defaults(tools, unique):
    topic = unique("topic")
    create(tools, topic)
    head, configs = topic_configs(tools, topic, "--all")
    assert head == f"All configs for topic {topic} are:"
    assert {name: value for name, (value, _) in configs.items() if name in DEFAULTS} == DEFAULTS


def test_bad_configs_of_a_topic_are_refused(tools, unique):
    topic = unique("topic")
    create(tools, topic)
    for change, text in (
            ("retention.ms=soon", "Invalid value soon for configuration retention.ms: Not a number of type LONG"),
            ("no.such.config=1", "Unknown topic config name: no.such.config"),
            ("cleanup.policy=burn", "Invalid value burn for configuration cleanup.policy"),
            ("segment.bytes=10", "Invalid value 10 for configuration segment.bytes: Value must be at least 1048576")):
        result = alter_config(tools, topic, "--add-config", change)
        assert result.code == 1 and text in result.out + result.err, result
    assert "retention.ms" not in topic_configs(tools, topic)[1]


def test_a_list_config_loses_what_it_names_twice(tools, unique):
    topic = unique("topic")
    create(tools, topic)
    alter_config(tools, topic, "--add-config", "cleanup.policy=[compact,delete,compact]").succeeded()

    def shown():
        assert topic_configs(tools, topic)[1]["cleanup.policy"] == (
            "compact,delete",
            "DYNAMIC_TOPIC_CONFIG:cleanup.policy=compact,delete, DEFAULT_CONFIG:log.cleanup.policy=delete")
    harness.at_once(shown)


def test_configs_of_an_unknown_topic_are_refused(tools, unique):
    topic = unique("topic")
    result = alter_config(tools, topic, "--add-config", "retention.ms=60000")
    assert result.code == 1, result
    result = tools("kafka-configs", "--describe", "--entity-type", "topics", "--entity-name", topic)
    assert result.succeeded().lines == [f"The topic '{topic}' doesn't exist and doesn't have dynamic config."]


def test_configs_of_the_broker_are_described(tools, unique):
    topic = unique("topic")
    create(tools, topic)
    node = re.search(r"Leader: (\d+)", tools("kafka-topics", "--describe", "--topic", topic).out)[1]
    result = tools("kafka-configs", "--describe", "--entity-type", "brokers", "--entity-name", node, "--all").succeeded()
    assert result.lines[0] == f"All configs for broker {node} are:"
    values = dict(re.findall(r"^  (\S+?)=(\S*) sensitive=", result.out, re.M))
    assert values["num.partitions"] == "1"
    assert values["auto.create.topics.enable"] == "false"
    assert values["message.max.bytes"] == "1048588"


def test_configs_of_the_broker_are_altered_and_deleted(tools, unique):
    topic = unique("topic")
    create(tools, topic)
    node = re.search(r"Leader: (\d+)", tools("kafka-topics", "--describe", "--topic", topic).out)[1]
    broker = ("--entity-type", "brokers", "--entity-name", node)
    changed = tools("kafka-configs", "--alter", *broker, "--add-config", "log.retention.ms=70000").succeeded()
    assert changed.lines == [f"Completed updating config for broker {node}."]

    def shown():
        described = tools("kafka-configs", "--describe", *broker).succeeded()
        assert described.lines == [
            f"Dynamic configs for broker {node} are:",
            "  log.retention.ms=70000 sensitive=false synonyms={DYNAMIC_BROKER_CONFIG:log.retention.ms=70000, "
            "DEFAULT_CONFIG:log.retention.hours=168}"]
        # Topics without a value of their own follow the broker.
        assert topic_configs(tools, topic, "--all")[1]["retention.ms"] == (
            "70000", "DYNAMIC_BROKER_CONFIG:log.retention.ms=70000, DEFAULT_CONFIG:log.retention.hours=168")
    harness.at_once(shown)
    tools("kafka-configs", "--alter", *broker, "--delete-config", "log.retention.ms").succeeded()

    def removed():
        described = tools("kafka-configs", "--describe", *broker).succeeded()
        assert described.lines == [f"Dynamic configs for broker {node} are:"]
    harness.at_once(removed)


def test_min_insync_replicas_belongs_to_the_cluster(tools):
    described = tools("kafka-configs", "--describe", "--entity-type", "brokers", "--entity-default").succeeded()
    assert ("  min.insync.replicas=1 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:min.insync.replicas=1}"
            in described.lines), described


def test_bad_configs_of_the_broker_are_refused(tools, unique):
    topic = unique("topic")
    create(tools, topic)
    node = re.search(r"Leader: (\d+)", tools("kafka-topics", "--describe", "--topic", topic).out)[1]
    one, all_brokers = ("--entity-name", node), ("--entity-default",)
    for entity, change, text in (
            (one, "num.partitions=5", "InvalidRequestException: Cannot update these configs dynamically: [num.partitions]"),
            (one, "num.partitions=5,node.id=3",
             "InvalidRequestException: Cannot update these configs dynamically: [node.id, num.partitions]"),
            (one, "log.retention.ms=soon", "InvalidRequestException: "
             "Invalid value soon for configuration log.retention.ms: Not a number of type LONG"),
            (one, "listeners=nowhere", "InvalidRequestException: Unable to parse a listener name from nowhere"),
            (all_brokers, "listeners=PLAINTEXT://127.0.0.1:1", "InvalidRequestException: "
             "Cannot update these configs at default cluster level, broker id must be specified: [listeners]"),
            (one, "min.insync.replicas=2", "InvalidConfigurationException: "
             "Broker-level min.insync.replicas cannot be altered while ELR is enabled.")):
        result = tools("kafka-configs", "--alter", "--entity-type", "brokers", *entity, "--add-config", change)
        assert result.code == 1 and text in result.out + result.err, result
    described = tools("kafka-configs", "--describe", "--entity-type", "brokers", *one).succeeded()
    assert described.lines == [f"Dynamic configs for broker {node} are:"]
