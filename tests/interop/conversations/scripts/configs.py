"""DescribeConfigs, AlterConfigs, IncrementalAlterConfigs."""

import wire
from talk import conversation, ends, versions

TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)


def describe(talk, version, *resources, error="NONE", synonyms=False, documentation=False):
    """resources: (type, name[, keys])."""
    return talk.ask("DescribeConfigs", version, error=error, IncludeSynonyms=synonyms, IncludeDocumentation=documentation,
                    Resources=[{"ResourceType": kind, "ResourceName": name, "ConfigurationKeys": keys[0] if keys else None}
                               for kind, name, *keys in resources])


def change(talk, version, kind, name, *operations, error="NONE", validate=False):
    """operations: (key, operation, value)."""
    return talk.ask("IncrementalAlterConfigs", version, ValidateOnly=validate, error=error, Resources=[
        {"ResourceType": kind, "ResourceName": name, "Configs": [
            {"Name": key, "ConfigOperation": operation, "Value": value} for key, operation, value in operations]}])


def replace(talk, version, kind, name, *entries, error="NONE", validate=False):
    return talk.ask("AlterConfigs", version, ValidateOnly=validate, error=error, Resources=[
        {"ResourceType": kind, "ResourceName": name, "Configs": [
            {"Name": key, "Value": value} for key, value in entries]}])


@conversation
def topic_configs_at_every_version(talk):
    name, _ = talk.topic(retention_ms=60000, cleanup_policy="compact,delete")
    for version in versions("DescribeConfigs"):
        describe(talk, version, (TOPIC, name))
        describe(talk, version, (TOPIC, name), synonyms=True)
        describe(talk, version, (TOPIC, name, ["retention.ms", "segment.ms", "nonsense"]), synonyms=True,
                 documentation=True)
        describe(talk, version, (TOPIC, name, []))


@conversation(alone=True)
def broker_configs(talk):
    for version in ends("DescribeConfigs"):
        describe(talk, version, (BROKER, "1"))
    describe(talk, 4, (BROKER, "1"), synonyms=True)
    describe(talk, 4, (BROKER, ""), synonyms=True)
    describe(talk, 4, (BROKER, "1", ["log.retention.ms", "log.retention.hours", "nonsense", "num.partitions"]),
             synonyms=True, documentation=True)


@conversation
def configs_of_what_is_not_there(talk):
    name, _ = talk.topic()
    for version in ends("DescribeConfigs"):
        describe(talk, version, (TOPIC, talk.named("nobody")), error="UNKNOWN_TOPIC_OR_PARTITION")
        describe(talk, version, (TOPIC, "a b"), error=None)
        describe(talk, version, (TOPIC, ""), error=None)
        for other in ("2", "0", "-1", "x", "1 ", "01", "99999999999"):
            describe(talk, version, (BROKER, other, ["num.partitions"]), error=None)
            describe(talk, version, (LOGGER, other, ["nonsense"]), error=None)
        for kind in (0, 1, 3, 5, 99, -1):
            describe(talk, version, (kind, "x"), error=None)
        describe(talk, version, (LOGGER, "1", ["nonsense"]), error=None)
        describe(talk, version, (LOGGER, "", ["nonsense"]), error=None)
        describe(talk, version, (TOPIC, name, ["retention.ms"]), (TOPIC, talk.named("nobody")), (BROKER, "7"), error=None)
        describe(talk, version, (TOPIC, name, ["retention.ms"]), (TOPIC, name, ["segment.ms"]), error=None)
        describe(talk, version)


@conversation
def group_and_client_metrics_configs(talk):
    for version in ends("DescribeConfigs"):
        describe(talk, version, (GROUP, talk.named("g")), synonyms=True)
        describe(talk, version, (GROUP, ""), error=None)
        describe(talk, version, (CLIENT_METRICS, talk.named("m")), synonyms=True, error=None)
        describe(talk, version, (CLIENT_METRICS, ""), error=None)
    group, metrics = talk.named("g"), talk.named("m")
    for key, value in (("consumer.session.timeout.ms", "50000"), ("consumer.heartbeat.interval.ms", "6000"),
                       ("consumer.session.timeout.ms", "1"), ("consumer.heartbeat.interval.ms", "x"), ("nonsense", "1"),
                       ("share.session.timeout.ms", "50000"), ("share.auto.offset.reset", "earliest"),
                       ("share.auto.offset.reset", "never"), ("streams.num.standby.replicas", "1")):
        change(talk, 1, GROUP, group, (key, SET, value), error=None)
    change(talk, 1, GROUP, "", ("consumer.session.timeout.ms", SET, "50000"), error=None)
    describe(talk, 4, (GROUP, group), synonyms=True)
    change(talk, 1, GROUP, group, ("consumer.session.timeout.ms", DELETE, None), error=None)
    for key, value in (("interval.ms", "1000"), ("interval.ms", "1"), ("metrics", "org.apache.kafka"), ("match", "x"),
                       ("match", "client_id=a.*"), ("nonsense", "1")):
        change(talk, 1, CLIENT_METRICS, metrics, (key, SET, value), error=None)
    describe(talk, 4, (CLIENT_METRICS, metrics), synonyms=True, error=None)


@conversation
def topic_configs_change(talk):
    for version in versions("IncrementalAlterConfigs"):
        name, _ = talk.topic(f"t{version}", segment_ms=70000)
        keys = ["retention.ms", "segment.ms", "cleanup.policy", "max.message.bytes"]
        change(talk, version, TOPIC, name, ("retention.ms", SET, "5000"), ("segment.ms", DELETE, None))
        wait_for(talk, name, "retention.ms", "5000")
        describe(talk, 4, (TOPIC, name, keys), synonyms=True)
        change(talk, version, TOPIC, name, ("cleanup.policy", APPEND, "compact"))
        wait_for(talk, name, "cleanup.policy", "delete,compact")
        change(talk, version, TOPIC, name, ("cleanup.policy", APPEND, "compact"))
        change(talk, version, TOPIC, name, ("cleanup.policy", SUBTRACT, "delete"))
        wait_for(talk, name, "cleanup.policy", "compact")
        change(talk, version, TOPIC, name, ("cleanup.policy", SUBTRACT, "nothing"), error=None)
        describe(talk, 4, (TOPIC, name, keys), synonyms=True)
        change(talk, version, TOPIC, name, ("max.message.bytes", SET, "5"), validate=True)
        change(talk, version, TOPIC, name)
        change(talk, version, TOPIC, name, ("segment.ms", DELETE, None))
        describe(talk, 4, (TOPIC, name, keys))


def wait_for(talk, name, key, value):
    """Until the change is visible; the transcript does not show it."""
    talk.quietly("DescribeConfigs", 4, lambda answer: any(
        config["Value"] == value for config in answer["Results"][0]["Configs"]), Resources=[
        {"ResourceType": TOPIC, "ResourceName": name, "ConfigurationKeys": [key]}])


@conversation
def topic_config_changes_that_are_refused(talk):
    name, _ = talk.topic(segment_ms=70000)
    for version in versions("IncrementalAlterConfigs"):
        ask = lambda *operations, error=None: change(talk, version, TOPIC, name, *operations, error=error, validate=True)
        ask(("nonsense", SET, "1"))
        ask(("nonsense", DELETE, None))
        ask(("retention.ms", SET, "x"))
        ask(("retention.ms", SET, ""))
        ask(("retention.ms", SET, None))
        ask(("retention.ms", SET, "-2"))
        ask(("retention.ms", APPEND, "5"))
        ask(("retention.ms", SUBTRACT, "5"))
        ask(("retention.ms", 4, "5"))
        ask(("retention.ms", -1, "5"))
        ask(("retention.ms", SET, "1"), ("retention.ms", SET, "2"))
        ask(("retention.ms", SET, "1"), ("retention.ms", DELETE, None))
        ask(("cleanup.policy", SET, "rot"))
        ask(("cleanup.policy", APPEND, "rot"))
        ask(("cleanup.policy", SET, ""))
        ask(("cleanup.policy", SUBTRACT, "delete"))
        ask(("cleanup.policy", APPEND, None))
        ask(("", SET, "x"))
        ask(("min.insync.replicas", SET, "2"))
        ask(("segment.bytes", SET, "100"))
        ask(("min.compaction.lag.ms", SET, "10"), ("max.compaction.lag.ms", SET, "5"))
        ask(("remote.storage.enable", SET, "true"))
        change(talk, version, TOPIC, talk.named("nobody"), ("retention.ms", SET, "1"), error="UNKNOWN_TOPIC_OR_PARTITION")
        change(talk, version, TOPIC, "a b", ("retention.ms", SET, "1"), error=None)
        change(talk, version, TOPIC, "", ("retention.ms", SET, "1"), error=None)
        for kind in (0, 1, 3, 99):
            change(talk, version, kind, "x", ("retention.ms", SET, "1"), error=None)
        talk.ask("IncrementalAlterConfigs", version, ValidateOnly=True, error=None, Resources=[
            {"ResourceType": TOPIC, "ResourceName": name, "Configs": [
                {"Name": "retention.ms", "ConfigOperation": 0, "Value": value}]} for value in ("1", "2")])
        talk.ask("IncrementalAlterConfigs", version, ValidateOnly=True, error=None, Resources=[
            {"ResourceType": TOPIC, "ResourceName": each, "Configs": [
                {"Name": "retention.ms", "ConfigOperation": 0, "Value": value}]}
            for each, value in ((name, "1"), (talk.named("nobody"), "2"), (name + "x", "x"))])
        talk.ask("IncrementalAlterConfigs", version, Resources=[])


@conversation
def topic_configs_are_replaced(talk):
    for version in versions("AlterConfigs"):
        name, _ = talk.topic(f"t{version}", segment_ms=70000, retention_ms=8000)
        replace(talk, version, TOPIC, name, ("retention.ms", "5000"))
        wait_for(talk, name, "retention.ms", "5000")
        describe(talk, 4, (TOPIC, name, ["retention.ms", "segment.ms"]), synonyms=True)
        replace(talk, version, TOPIC, name, ("retention.ms", "x"), error=None)
        replace(talk, version, TOPIC, name, ("retention.ms", None), error=None)
        replace(talk, version, TOPIC, name, ("nonsense", "x"), error=None)
        replace(talk, version, TOPIC, name, ("retention.ms", "1"), ("retention.ms", "2"), error=None, validate=True)
        replace(talk, version, TOPIC, talk.named("nobody"), ("retention.ms", "1"), error=None)
        replace(talk, version, 3, "x", ("retention.ms", "1"), error=None)
        replace(talk, version, TOPIC, name, validate=True)
        describe(talk, 4, (TOPIC, name, ["retention.ms", "segment.ms"]), synonyms=True)
        replace(talk, version, TOPIC, name)
        talk.ask("AlterConfigs", version, Resources=[])


@conversation(alone=True)
def broker_configs_change(talk):
    keys = ["log.retention.ms", "num.io.threads", "message.max.bytes", "max.connections.per.ip.overrides"]
    for name in ("1", ""):
        change(talk, 1, BROKER, name, ("message.max.bytes", SET, "2000000"))
        talk.quietly("DescribeConfigs", 4, lambda answer: answer["Results"][0]["Configs"][0]["Value"] == "2000000",
                     Resources=[{"ResourceType": BROKER, "ResourceName": "1", "ConfigurationKeys": ["message.max.bytes"]}])
        describe(talk, 4, (BROKER, name, keys), synonyms=True)
        change(talk, 1, BROKER, name, ("message.max.bytes", DELETE, None))
        talk.quietly("DescribeConfigs", 4, lambda answer: answer["Results"][0]["Configs"][0]["Value"] == "1048588",
                     Resources=[{"ResourceType": BROKER, "ResourceName": "1", "ConfigurationKeys": ["message.max.bytes"]}])
        describe(talk, 4, (BROKER, name, keys), synonyms=True)
    for name in ("1", ""):
        ask = lambda key, value, operation=SET: change(talk, 1, BROKER, name, (key, operation, value), error=None,
                                                       validate=True)
        ask("node.id", "2"), ask("log.dirs", "/x"), ask("num.partitions", "5"), ask("nonsense", "1")
        ask("message.max.bytes", "x"), ask("log.retention.ms", "-5"), ask("num.io.threads", "0")
        ask("num.io.threads", "1000"), ask("listeners", "PLAINTEXT://:1"), ask("log.cleanup.policy", "compact", APPEND)
        ask("log.cleanup.policy", "rot"), ask("message.max.bytes", None), ask("message.max.bytes", None, DELETE)
        ask("auto.create.topics.enable", "false"), ask("offsets.topic.num.partitions", "9")
    for name in ("2", "x", "01", "-1"):
        change(talk, 1, BROKER, name, ("message.max.bytes", SET, "2000000"), error=None, validate=True)
    change(talk, 1, LOGGER, "1", ("nonsense", SET, "DEBUG"), error=None, validate=True)
    change(talk, 1, LOGGER, "7", ("nonsense", SET, "DEBUG"), error=None, validate=True)


@conversation(alone=True)
def list_config_resources(talk):
    talk.topic()
    for version in versions("ListConfigResources"):
        talk.ask("ListConfigResources", version)
        if version:
            for kinds in ([TOPIC], [BROKER], [LOGGER], [GROUP], [CLIENT_METRICS], [TOPIC, BROKER], [0], [99], [3]):
                talk.ask("ListConfigResources", version, ResourceTypes=kinds, error=None)
