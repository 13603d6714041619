"""The lines that our commands and Kafka's tools are compared on, and what Kafka's tools said to each (command_lines.json)."""

import json
import pathlib
import re

RECORDED = pathlib.Path(__file__).with_name("command_lines.json")
BROKER_PROPERTIES = {"auto.create.topics.enable": "false"}
TOPICS = "kafka-topics"
OFFSETS = "kafka-get-offsets"
RECORDS = "kafka-delete-records"
GROUPS = "kafka-consumer-groups"
CONFIGS = "kafka-configs"


def build(tools):
    """Topics that lines only look at; words that lines may use."""
    for name, *more in (("plain", "--partitions", 3), ("under_score", "--partitions", 1), ("dot.ted", "--partitions", 12),
                        ("tuned", "--partitions", 2, "--config", "retention.ms=1234567", "--config", "cleanup.policy=compact",
                         "--config", "segment.bytes=2000000", "--config", "max.message.bytes=9999")):
        tools(TOPICS, "--create", "--topic", name, *more).succeeded()
    tools(GROUPS, "--reset-offsets", "--group", "reader", "--topic", "plain:0,1", "--to-latest", "--execute").succeeded()
    description = tools(TOPICS, "--describe", "--topic", "plain").succeeded().out
    return {"id": re.search(r"TopicId: (\S+)", description)[1], "node": re.search(r"Leader: (\d+)", description)[1]}


def run(runner, line, words):
    """The line with its words filled in. An option without its argument would take the address, so that comes first."""
    arguments = [words[word[1:-1]] if re.fullmatch(r"\{\w+\}", word) else word for word in line]
    return runner(arguments[0], "--bootstrap-server", runner.bootstrap, *arguments[1:])


def without_ids(text):
    """Ids of topics are others each time."""
    return re.sub(r"(TopicId: )\S{22}", r"\1ID", text)


class Recording:
    def __init__(self):
        self.lines = {}

    @staticmethod
    def normal(said, words, bootstrap):
        port = bootstrap.rsplit(":", 1)[1]
        return {key: re.sub(rf"[\w.]+:{port}\b", "HOST:PORT", without_ids(value)).replace(words["id"], "ID")
                if isinstance(value, str) else value for key, value in said.items()}

    def add(self, line, said, words, bootstrap):
        if " ".join(line) not in OF_THE_MOMENT:
            self.lines[" ".join(line)] = self.normal(said, words, bootstrap)

    def write(self):
        RECORDED.write_text(json.dumps(self.lines, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


#: Lines whose answer is another at every start: they are compared, and not recorded.
OF_THE_MOMENT = {"kafka-configs --describe --broker {node} --all"}

#: Where ours says something else on purpose: what, and why. docs/commands.md lists them.
DIFFERENCES = {
    "kafka-consumer-groups --list --timeout soon": ({"error": ""}, "the head of a stack trace"),
    "kafka-consumer-groups --reset-offsets --group reader --topic plain --to-offset x --dry-run":
        ({"error": ""}, "the head of a stack trace"),
    "kafka-topics --list --command-config /no/such/file":
        ({"error": "/no/such/file (No such file or directory)"}, "Kafka's tool names the file and not what is wrong with it"),
}

#: Lines that change nothing: both run on the same topics.
LOOKS = [
    [TOPICS, "--list"],
    [TOPICS, "--list", "--exclude-internal"],
    [TOPICS, "--list", "--topic", "plain"],
    [TOPICS, "--list", "--topic", "p.*|t.*"],
    [TOPICS, "--list", "--topic", "plain,tuned"],
    [TOPICS, "--list", "--topic", "'plain'"],
    [TOPICS, "--list", "--topic", "nothing-like-it"],
    [TOPICS, "--list", "--topic", "[a-"],
    [TOPICS, "-list"],
    [TOPICS, "--describe"],
    [TOPICS, "--describe", "--topic", "plain"],
    [TOPICS, "--describe", "--topic=tuned"],
    [TOPICS, "--describe", "--topic", "p.*"],
    [TOPICS, "--describe", "--topic", "dot.ted", "--partition-size-limit-per-response", "5"],
    [TOPICS, "--describe", "--partition-size-limit-per-response", "2"],
    [TOPICS, "--describe", "--topic-id", "{id}"],
    [TOPICS, "--describe", "--topic-id", "{id}", "--topic", "tuned", "--if-exists"],
    [TOPICS, "--describe", "--topic-id", "MkU3OEVBNTcwNTJENDM2Qg"],
    [TOPICS, "--describe", "--topic-id", "AAAAAAAAAAAAAAAAAAAAAA"],
    [TOPICS, "--describe", "--topics-with-overrides"],
    [TOPICS, "--describe", "--under-replicated-partitions"],
    [TOPICS, "--describe", "--unavailable-partitions"],
    [TOPICS, "--describe", "--under-min-isr-partitions"],
    [TOPICS, "--describe", "--at-min-isr-partitions"],
    [TOPICS, "--describe", "--topic", "missing"],
    [TOPICS, "--describe", "--topic", "missing", "--if-exists"],
    [TOPICS, "--describe", "--if-exists"],
    [TOPICS, "--describe", "--topic", "<b>bold</b>"],
    [TOPICS, "--describe", "--exclude-internal"],
    [TOPICS, "--create", "--topic", "plain"],
    [TOPICS, "--create", "--topic", "plain", "--if-not-exists", "--partitions", "9"],
    [TOPICS, "--create", "--topic", "<b>bold</b>"],
    [TOPICS, "--create", "--topic", "x" * 250],
    [TOPICS, "--create", "--topic", ""],
    [TOPICS, "--create", "--topic", "."],
    [TOPICS, "--create", "--topic", "under.score"],
    [TOPICS, "--create", "--topic", "t", "--partitions", "0"],
    [TOPICS, "--create", "--topic", "t", "--partitions", "-1"],
    [TOPICS, "--create", "--topic", "t", "--partitions", "many"],
    [TOPICS, "--create", "--topic", "t", "--replication-factor", "0"],
    [TOPICS, "--create", "--topic", "t", "--replication-factor", "2"],
    [TOPICS, "--create", "--topic", "t", "--replication-factor", "40000"],
    [TOPICS, "--create", "--topic", "t", "--config", "no.such.config=1"],
    [TOPICS, "--create", "--topic", "t", "--config", "retention.ms=soon"],
    [TOPICS, "--create", "--topic", "t", "--config", "retention.ms"],
    [TOPICS, "--create", "--topic", "t", "--config", "a=b=c"],
    [TOPICS, "--create", "--topic", "t", "--replica-assignment", "1:1"],
    [TOPICS, "--create", "--topic", "t", "--replica-assignment", "1,1:2"],
    [TOPICS, "--create", "--topic", "t", "--replica-assignment", "99"],
    [TOPICS, "--create", "--topic", "t", "--replica-assignment", "1", "--partitions", "1"],
    [TOPICS, "--create"],
    [TOPICS, "--alter", "--topic", "plain"],
    [TOPICS, "--alter", "--topic", "plain", "--partitions", "2"],
    [TOPICS, "--alter", "--topic", "plain", "--partitions", "3"],
    [TOPICS, "--alter", "--topic", "missing", "--partitions", "3"],
    [TOPICS, "--alter", "--topic", "missing", "--partitions", "3", "--if-exists"],
    [TOPICS, "--alter", "--topic", "plain", "--partitions", "5", "--replication-factor", "1"],
    [TOPICS, "--delete", "--topic", "missing"],
    [TOPICS, "--delete", "--topic", "missing", "--if-exists"],
    [TOPICS, "--delete"],
    [TOPICS, "--list", "--partitions", "3"],
    [TOPICS, "--list", "--config", "a=b"],
    [TOPICS, "--list", "--if-exists"],
    [TOPICS, "--list", "--if-not-exists"],
    [TOPICS, "--list", "--under-replicated-partitions"],
    [TOPICS, "--delete", "--topic", "t", "--exclude-internal"],
    [TOPICS, "--list", "--describe"],
    [TOPICS],
    [TOPICS, "--help"],
    [TOPICS, "--version"],
    [TOPICS, "--lost"],
    [TOPICS, "--list", "--topic"],
    [TOPICS, "--list", "--command-config", "/no/such/file"],
    [OFFSETS],
    [OFFSETS, "--topic", "plain"],
    [OFFSETS, "--topic", "p.*,dot.ted"],
    [OFFSETS, "--topic", "plain", "--partitions", "0,2"],
    [OFFSETS, "--topic", "plain", "--partitions", "0,x"],
    [OFFSETS, "--topic", "plain", "--time", "-2"],
    [OFFSETS, "--topic", "plain", "--time", "earliest"],
    [OFFSETS, "--topic", "plain", "--time", "max-timestamp"],
    [OFFSETS, "--topic", "plain", "--time", "earliest-local"],
    [OFFSETS, "--topic", "plain", "--time", "1"],
    [OFFSETS, "--topic", "plain", "--time", "soon"],
    [OFFSETS, "--topic", "missing"],
    [OFFSETS, "--topic-partitions", "plain:1"],
    [OFFSETS, "--topic-partitions", "plain:0-2"],
    [OFFSETS, "--topic-partitions", "plain:1-,dot.ted:-2,tuned,:0"],
    [OFFSETS, "--topic-partitions", "plain:x"],
    [OFFSETS, "--topic-partitions", "plain:1:2"],
    [OFFSETS, "--topic-partitions", "plain", "--topic", "plain"],
    [OFFSETS, "--exclude-internal-topics"],
    [OFFSETS, "--lost"],
    [OFFSETS, "--topic"],
    [OFFSETS, "--help"],
    [RECORDS],
    [RECORDS, "--help"],
    [RECORDS, "--lost"],
    [RECORDS, "--offset-json-file"],
    [GROUPS, "--list"],
    [GROUPS, "--list", "--state"],
    [GROUPS, "--list", "--type"],
    [GROUPS, "--list", "--state", "--type"],
    [GROUPS, "--list", "--state", "empty"],
    [GROUPS, "--list", "--state", "Stable, empty"],
    [GROUPS, "--list", "--type", "classic"],
    [GROUPS, "--list", "--type", "consumer"],
    [GROUPS, "--describe", "--group", "reader"],
    [GROUPS, "--describe", "--group", "reader", "--offsets", "--verbose"],
    [GROUPS, "--describe", "--group", "reader", "--members"],
    [GROUPS, "--describe", "--group", "reader", "--members", "--verbose"],
    [GROUPS, "--describe", "--group", "reader", "--state"],
    [GROUPS, "--describe", "--group", "reader", "--state", "--verbose"],
    [GROUPS, "--describe", "--all-groups"],
    [GROUPS, "--describe", "--group", "missing"],
    [GROUPS, "--describe", "--group", "missing", "--members"],
    [GROUPS, "--describe", "--group", "<b>"],
    [GROUPS, "--describe", "--group", "reader", "--members", "--state"],
    [GROUPS, "--describe", "--group", "reader", "--state", "stable"],
    [GROUPS, "--describe", "--group", "reader", "--topic", "t"],
    [GROUPS, "--list", "--group", "reader"],
    [GROUPS, "--describe", "--group", "reader", "--all-groups"],
    [GROUPS, "--list", "--describe", "--all-groups"],
    [GROUPS, "--timeout", "5"],
    [GROUPS, "--list", "--timeout", "soon"],
    [GROUPS, "--delete", "--group", "missing"],
    [GROUPS, "--delete", "--group", "reader", "--topic", "plain"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--topic", "plain", "--to-earliest", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--topic", "plain", "--to-latest"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--all-topics", "--to-offset", "2", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--all-topics", "--to-offset", "100", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--all-topics", "--shift-by", "-1", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--all-topics", "--shift-by=-100", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--topic", "plain", "--to-current", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--topic", "plain:0,2", "--to-latest", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--topic", "plain:9", "--to-latest", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--topic", "plain:x", "--to-latest", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--topic", "missing", "--to-latest", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--topic", "missing:0", "--to-latest", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--topic", "plain", "--to-datetime", "2020-01-01T00:00:00.000", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--topic", "plain", "--to-datetime", "2099-01-01T00:00:00.000+01:00",
     "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--topic", "plain", "--to-datetime", "yesterday", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--topic", "plain", "--to-datetime", "2020-13-01T00:00:00.000", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--topic", "plain", "--by-duration", "P100D", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--topic", "plain", "--by-duration", "a while", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--topic", "plain", "--to-earliest", "--dry-run", "--export"],
    [GROUPS, "--reset-offsets", "--all-groups", "--topic", "plain", "--to-earliest", "--dry-run", "--export"],
    [GROUPS, "--reset-offsets", "--group", "newcomer", "--topic", "tuned", "--to-earliest", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "b", "--group", "reader", "--group", "a", "--topic", "tuned", "--to-earliest", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "newcomer", "--topic", "tuned", "--shift-by", "1", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--to-earliest", "--dry-run"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--topic", "plain", "--dry-run", "--execute"],
    [GROUPS, "--reset-offsets", "--group", "reader", "--topic", "plain", "--to-offset", "x", "--dry-run"],
    [GROUPS, "--delete-offsets", "--group", "reader", "--topic", "missing"],
    [GROUPS, "--delete-offsets", "--group", "missing", "--topic", "plain"],
    [GROUPS, "--delete-offsets", "--group", "reader", "--topic", "plain:x"],
    [GROUPS, "--validate-regex", "a.*b"],
    [GROUPS, "--validate-regex", "[a-"],
    [GROUPS, "--help"],
    [GROUPS, "--version"],
    [GROUPS, "--lost"],
    [GROUPS, "--list", "--members"],
    [CONFIGS, "--describe", "--topic", "tuned"],
    [CONFIGS, "--describe", "--entity-type", "topics", "--entity-name", "tuned", "--all"],
    [CONFIGS, "--describe", "--entity-type", "topics"],
    [CONFIGS, "--describe", "--topic", "missing"],
    [CONFIGS, "--describe", "--topic", "<b>"],
    [CONFIGS, "--describe", "--broker", "{node}"],
    [CONFIGS, "--describe", "--broker", "{node}", "--all"],
    [CONFIGS, "--describe", "--broker-defaults"],
    [CONFIGS, "--describe", "--entity-type", "brokers"],
    [CONFIGS, "--describe", "--broker", "999"],
    [CONFIGS, "--describe", "--broker", "one"],
    [CONFIGS, "--describe", "--broker-logger", "{node}"],
    [CONFIGS, "--describe", "--entity-type", "broker-loggers"],
    [CONFIGS, "--describe", "--group", "missing"],
    [CONFIGS, "--describe", "--group", "reader"],
    [CONFIGS, "--describe", "--group", "reader", "--all"],
    [CONFIGS, "--describe", "--entity-type", "groups"],
    [CONFIGS, "--describe", "--client-metrics", "missing"],
    [CONFIGS, "--describe", "--entity-type", "client-metrics"],
    [CONFIGS, "--describe", "--entity-type", "users"],
    [CONFIGS, "--describe", "--entity-type", "clients"],
    [CONFIGS, "--describe", "--user", "nobody"],
    [CONFIGS, "--describe", "--user", "nobody", "--client", "c"],
    [CONFIGS, "--describe", "--user-defaults"],
    [CONFIGS, "--describe", "--ip", "127.0.0.1"],
    [CONFIGS, "--describe", "--entity-type", "things"],
    [CONFIGS, "--describe", "--entity-type", "topics", "--entity-type", "topics"],
    [CONFIGS, "--describe", "--entity-type", "topics", "--entity-type", "users"],
    [CONFIGS, "--describe", "--entity-type", "topics", "--topic", "tuned"],
    [CONFIGS, "--describe", "--entity-type", "topics", "--entity-default"],
    [CONFIGS, "--describe"],
    [CONFIGS, "--describe", "--alter"],
    [CONFIGS, "--describe", "--topic", "tuned", "--add-config", "a=b"],
    [CONFIGS, "--alter", "--topic", "plain"],
    [CONFIGS, "--alter", "--entity-type", "topics", "--add-config", "a=b"],
    [CONFIGS, "--alter", "--entity-type", "users", "--add-config", "a=b"],
    [CONFIGS, "--alter", "--topic", "plain", "--add-config", "retention.ms"],
    [CONFIGS, "--alter", "--topic", "plain", "--add-config", "retention.ms=soon"],
    [CONFIGS, "--alter", "--topic", "plain", "--add-config", "no.such.config=1"],
    [CONFIGS, "--alter", "--topic", "plain", "--add-config", "a b=1"],
    [CONFIGS, "--alter", "--topic", "missing", "--add-config", "retention.ms=1"],
    [CONFIGS, "--alter", "--topic", "plain", "--add-config", "a=1", "--add-config-file", "/no/such/file"],
    [CONFIGS, "--alter", "--client", "c", "--add-config", "retention.ms=1"],
    [CONFIGS, "--alter", "--client", "c", "--add-config", "producer_byte_rate=many"],
    [CONFIGS, "--alter", "--client", "c", "--delete-config", "producer_byte_rate"],
    [CONFIGS, "--alter", "--user", "u", "--add-config", "SCRAM-SHA-256=[iterations=1,password=x]"],
    [CONFIGS, "--alter", "--user", "u", "--add-config", "SCRAM-SHA-256=[pass=x]"],
    [CONFIGS, "--alter", "--user-defaults", "--add-config", "SCRAM-SHA-256=[password=x]"],
    [CONFIGS, "--alter", "--broker-logger", "{node}", "--add-config", "no.such.logger=INFO"],
    [CONFIGS, "--alter", "--ip", "127.0.0.1", "--add-config", "producer_byte_rate=1"],
    [CONFIGS],
    [CONFIGS, "--help"],
    [CONFIGS, "--version"],
    [CONFIGS, "--lost"],
    [CONFIGS, "--topic"],
]

#: Scenes that change something: Kafka's tool plays them on a topic of its own, ours on a twin.
SCENES = {
    "topics": [
        [TOPICS, "--create", "--topic", "{t}", "--partitions", "2"],
        [TOPICS, "--describe", "--topic", "{t}"],
        [TOPICS, "--alter", "--topic", "{t}", "--partitions", "5"],
        [TOPICS, "--describe", "--topic", "{t}"],
        [TOPICS, "--create", "--topic", "{t}.x", "--config", " retention.ms = 5 ", "--config", "max.message.bytes=7777"],
        [TOPICS, "--describe", "--topic", "{t}.*"],
        [TOPICS, "--alter", "--topic", "{t}.*", "--partitions", "7"],
        [TOPICS, "--delete", "--topic", "{t}.*"],
        [TOPICS, "--list"],
        [TOPICS, "--create", "--topic", "{t}", "--replica-assignment", "{node},{node},{node}"],
        [TOPICS, "--describe", "--topic", "{t}"],
        [TOPICS, "--alter", "--topic", "{t}", "--partitions", "4", "--replica-assignment", "{node},{node},{node},{node}"],
        [TOPICS, "--delete", "--topic", "{t}"],
    ],
    "groups": [
        [TOPICS, "--create", "--topic", "{t}", "--partitions", "3"],
        [GROUPS, "--reset-offsets", "--group", "{t}-g", "--topic", "{t}", "--to-earliest", "--execute"],
        [GROUPS, "--describe", "--group", "{t}-g"],
        [GROUPS, "--describe", "--group", "{t}-g", "--state"],
        [GROUPS, "--reset-offsets", "--group", "{t}-h", "--topic", "{t}:1", "--to-latest", "--execute"],
        [GROUPS, "--delete-offsets", "--group", "{t}-g", "--topic", "{t}:0,9"],
        [GROUPS, "--delete-offsets", "--group", "{t}-g", "--topic", "{t}"],
        [GROUPS, "--delete", "--group", "{t}-g", "--group", "{t}-i"],
        [GROUPS, "--delete", "--group", "{t}-h"],
        [TOPICS, "--delete", "--topic", "{t}"],
    ],
    "configs": [
        [TOPICS, "--create", "--topic", "{t}"],
        [CONFIGS, "--alter", "--topic", "{t}", "--add-config", "retention.ms=5, cleanup.policy=[compact,delete],max.message.bytes = 7"],
        [CONFIGS, "--describe", "--topic", "{t}"],
        [CONFIGS, "--alter", "--topic", "{t}", "--delete-config", "retention.ms, max.message.bytes"],
        [CONFIGS, "--describe", "--topic", "{t}"],
        [CONFIGS, "--alter", "--topic", "{t}", "--delete-config", "retention.ms"],
        [CONFIGS, "--alter", "--client", "{t}", "--add-config", "producer_byte_rate=1024,consumer_byte_rate=12345678.5"],
        [CONFIGS, "--describe", "--client", "{t}"],
        [CONFIGS, "--alter", "--entity-type", "users", "--entity-name", "{t}", "--entity-type", "clients", "--entity-default",
         "--add-config", "request_percentage=0.0001"],
        [CONFIGS, "--describe", "--user", "{t}", "--client-defaults"],
        [CONFIGS, "--alter", "--entity-type", "users", "--entity-name", "{t}", "--entity-type", "clients", "--entity-default",
         "--delete-config", "request_percentage"],
        [CONFIGS, "--alter", "--client", "{t}", "--delete-config", "producer_byte_rate,consumer_byte_rate"],
        [CONFIGS, "--alter", "--user", "{t}", "--add-config", "SCRAM-SHA-256=[iterations=8192,password=a=b],SCRAM-SHA-512=[password=x]"],
        [CONFIGS, "--describe", "--user", "{t}"],
        [CONFIGS, "--alter", "--user", "{t}", "--delete-config", "SCRAM-SHA-256"],
        [CONFIGS, "--describe", "--entity-type", "users"],
        [CONFIGS, "--alter", "--user", "{t}", "--delete-config", "SCRAM-SHA-512"],
        [CONFIGS, "--alter", "--ip", "{ip}", "--add-config", "connection_creation_rate=100"],
        [CONFIGS, "--describe", "--ip", "{ip}"],
        [CONFIGS, "--alter", "--ip", "{ip}", "--delete-config", "connection_creation_rate"],
        [CONFIGS, "--alter", "--broker-defaults", "--add-config", "log.cleaner.threads=2"],
        [CONFIGS, "--describe", "--broker-defaults"],
        [CONFIGS, "--alter", "--broker-defaults", "--delete-config", "log.cleaner.threads"],
        [CONFIGS, "--alter", "--group", "{t}", "--add-config", "consumer.session.timeout.ms=50000"],
        [CONFIGS, "--describe", "--group", "{t}"],
        [CONFIGS, "--alter", "--group", "{t}", "--delete-config", "consumer.session.timeout.ms"],
        [TOPICS, "--delete", "--topic", "{t}"],
    ],
}
