"""The lines that our commands and Kafka's tools are compared on, and what Kafka's tools said to each (command_lines.json)."""

import json
import pathlib
import re

RECORDED = pathlib.Path(__file__).with_name("command_lines.json")
BROKER_PROPERTIES = {"auto.create.topics.enable": "false"}
TOPICS = "kafka-topics"


def build(tools):
    """Topics that lines only look at; words that lines may use."""
    for name, *more in (("plain", "--partitions", 3), ("under_score", "--partitions", 1), ("dot.ted", "--partitions", 12),
                        ("tuned", "--partitions", 2, "--config", "retention.ms=1234567", "--config", "cleanup.policy=compact",
                         "--config", "segment.bytes=2000000", "--config", "max.message.bytes=9999")):
        tools(TOPICS, "--create", "--topic", name, *more).succeeded()
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
        return {key: without_ids(value).replace(words["id"], "ID").replace(bootstrap, "HOST:PORT")
                if isinstance(value, str) else value for key, value in said.items()}

    def add(self, line, said, words, bootstrap):
        self.lines[" ".join(line)] = self.normal(said, words, bootstrap)

    def write(self):
        RECORDED.write_text(json.dumps(self.lines, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


#: Where ours says something else on purpose: what, and why. docs/commands.md lists them.
DIFFERENCES = {
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
}
