"""The lines that our commands and Kafka's tools are compared on, and what Kafka's tools said to each (command_lines.json)."""

import atexit
import json
import pathlib
import re
import shutil
import tempfile

RECORDED = pathlib.Path(__file__).with_name("command_lines.json")
BROKER_PROPERTIES = {"auto.create.topics.enable": "false"}
TOPICS = "kafka-topics"
OFFSETS = "kafka-get-offsets"
RECORDS = "kafka-delete-records"
GROUPS = "kafka-consumer-groups"
CONFIGS = "kafka-configs"
PRODUCE = "kafka-console-producer"
CONSUME = "kafka-console-consumer"
CLUSTER = "kafka-cluster"
LOG_DIRS = "kafka-log-dirs"
ALL_GROUPS = "kafka-groups"
TRANSACTIONS = "kafka-transactions"
ELECTION = "kafka-leader-election"
FEATURES = "kafka-features"
QUORUM = "kafka-metadata-quorum"
ACLS = "kafka-acls"
TOKENS = "kafka-delegation-tokens"
REASSIGN = "kafka-reassign-partitions"
PERF_CONSUME = "kafka-consumer-perf-test"
PERF_PRODUCE = "kafka-producer-perf-test"
#: Settings of a client that says nothing of who it is.
NOBODYS = ("--command-config", "/dev/null")


def build(tools):
    """Topics that lines only look at; words that lines may use."""
    for name, *more in (("plain", "--partitions", 3), ("under_score", "--partitions", 1), ("dot.ted", "--partitions", 12),
                        ("tuned", "--partitions", 2, "--config", "retention.ms=1234567", "--config", "cleanup.policy=compact",
                         "--config", "segment.bytes=2000000", "--config", "max.message.bytes=9999")):
        tools(TOPICS, "--create", "--topic", name, *more).succeeded()
    tools(TOPICS, "--create", "--topic", "words", "--partitions", 1).succeeded()
    tools(PRODUCE, "--topic", "words", input="".join(word + "\n" for word in WORDS)).succeeded()
    tools(GROUPS, "--reset-offsets", "--group", "reader", "--topic", "plain:0,1", "--to-latest", "--execute").succeeded()
    description = tools(TOPICS, "--describe", "--topic", "plain").succeeded().out
    words = {"id": re.search(r"TopicId: (\S+)", description)[1], "node": re.search(r"Leader: (\d+)", description)[1]}
    sizes = json.loads(tools(LOG_DIRS, "--describe").succeeded().lines[-1])
    words["log_dir"] = sizes["brokers"][0]["logDirs"][0]["logDir"]
    return words | write_files(int(words["node"]), words["log_dir"])


def plan(*partitions, version=1):
    """A file for kafka-reassign-partitions."""
    return json.dumps({"version": version, "partitions": [
        dict(zip(("topic", "partition", "replicas", "log_dirs"), partition)) for partition in partitions]}, separators=(",", ":"))


def write_files(node, log_dir):
    """Files that lines may name: {plan} is the path of "plan"."""
    files = {
        "impatient": "default.api.timeout.ms=1500\nrequest.timeout.ms=1000\n",
        "values": "\none\n\ntwo;three\nfour;\n",
        "move": '{"topics":[{"topic":"plain"},{"topic":"words"}],"version":1}',
        "move_twice": '{"topics":[{"topic":"plain"},{"topic":"words"},{"topic":"plain"}]}',
        "move_missing": '{"topics":[{"topic":"plain"},{"topic":"nope"},{"topic":"none"}]}',
        "move_nothing": "{}",
        "move_text": '{"topics":[{"topic":5}]}',
        "move_object": '{"topics":{"topic":"plain"}}',
        "plan": plan(("plain", 0, [node], ["any"]), ("plain", 1, [node])),
        "plan_other": plan(("plain", 0, [node, node + 1])),
        "plan_missing": plan(("nope", 0, [node])),
        "plan_partition": plan(("plain", 77, [node]), ("words", 9, [node])),
        "plan_behind": plan(("plain", 3, [node])),
        "plan_twice": plan(("plain", 0, [node]), ("words", 0, [node]), ("plain", 0, [node]), ("words", 0, [node])),
        "plan_replicas": plan(("plain", 0, [node, node]), ("plain", 1, [node, 7, 7, node])),
        "plan_empty": plan(),
        "plan_nowhere": plan(("plain", 0, [])),
        "plan_version": plan(version=2),
        "plan_text": '{"version":"1","partitions":[]}',
        "plan_null": '{"version":null}',
        "plan_list": "[1, 2]",
        "plan_field": '{"partitions":[{"topic":"plain"}]}',
        "plan_number": '{"partitions":[{"topic":"plain","partition":99999999999,"replicas":[1]}]}',
        "plan_fraction": '{"partitions":[{"topic":"plain","partition":0,"replicas":[1.5]}]}',
        "plan_more": plan(("plain", 0, [node])) + " and more",
        "plan_broken": '{"version":',
        "plan_blank": "",
        "plan_directory": plan(("plain", 0, [node], ["/nope"])),
        "plan_directories": plan(("plain", 0, [node], ["any", "any"])),
        "plan_here": plan(("plain", 0, [node], [log_dir]), ("plain", 1, [node], ["any"])),
        **{f"twin_{letter}": plan((f"twin-{letter}", 0, [node]), (f"twin-{letter}", 1, [node], [log_dir])) for letter in "ab"},
    }
    directory = pathlib.Path(tempfile.mkdtemp(prefix="partita-lines-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    for name, text in files.items():
        (directory / name).write_text(text)
    return {"files": str(directory), "no_file": str(directory / "no_file")} | {name: str(directory / name) for name in files}


def run(runner, line, words):
    """The line with its words filled in. An option without its argument would take the address, so that comes first."""
    arguments = [words[word[1:-1]] if re.fullmatch(r"\{\w+\}", word) else word for word in line]
    return runner(arguments[0], "--bootstrap-server", runner.bootstrap, *arguments[1:])


def without_ids(text):
    """Ids of topics are others each time."""
    return re.sub(r"(TopicId: )\S{22}", r"\1ID", text)


def without_speeds(text):
    """Times and speeds are others each time; how much was read and written is not."""
    def columns(match):
        words = match[0].split(", ")
        return ", ".join(word if at in (2, 4) else "N" for at, word in enumerate(words))

    text = re.sub(r"(records sent), .*", lambda match: re.sub(r"([\d.]+|NaN|Infinity)(?= (ms|MB|records))", "N", match[0]), text)
    return re.sub(r"^[^,\n]+, [^,\n]+(, ([\d.]+|NaN|Infinity)){8}$", columns, text, flags=re.MULTILINE)


def given_twice(tool, *line):
    """The line with its last two words repeated."""
    return [tool, *line, *line[-2:]]


#: Records for deserializers: two, three, four and eight bytes, and text of a UUID.
WORDS = ["abcd", "ab", "abcdefgh", "abc", "123E4567-e89b-12d3-a456-426614174000", "\u00e4\\"]
READ_WORDS = [CONSUME, "--topic", "words", "--partition", "0", "--offset", "earliest", "--max-messages", str(len(WORDS)), "--timeout-ms",
              "5000"]
SERIALIZATION = "org.apache.kafka.common.serialization."
FORMATTERS = "org.apache.kafka.tools.consumer."


class Recording:
    def __init__(self):
        self.lines = {}

    @staticmethod
    def normal(said, words, bootstrap):
        port = bootstrap.rsplit(":", 1)[1]
        names = {words["id"]: "ID", words["log_dir"]: "LOG_DIR", words["files"]: "FILES"}

        def normal_text(text):
            text = re.sub(rf"[\w.]+:{port}\b", "HOST:PORT", without_speeds(without_ids(text)))
            for word, name in names.items():
                text = text.replace(word, name)
            return text

        return {key: normal_text(value) if isinstance(value, str) else value for key, value in said.items()}

    def add(self, line, said, words, bootstrap):
        if " ".join(line) not in OF_THE_MOMENT:
            self.lines[" ".join(line)] = self.normal(said, words, bootstrap)

    def write(self):
        """Lines that were not run stay as they were recorded."""
        known = {" ".join(line) for line in LOOKS}
        before = {key: said for key, said in json.loads(RECORDED.read_text()).items() if key in known}
        RECORDED.write_text(json.dumps({**before, **self.lines}, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


#: Lines whose answer is another at every start: they are compared, and not recorded.
OF_THE_MOMENT = {"kafka-configs --describe --broker {node} --all", "kafka-log-dirs --describe",
                 "kafka-log-dirs --describe --topic-list plain,tuned", "kafka-log-dirs --describe --topic-list missing",
                 "kafka-log-dirs --describe --broker-list {node} --topic-list plain"}

#: Where ours says something else on purpose: what, and why. docs/commands.md lists them.
DIFFERENCES = {
    "kafka-consumer-groups --list --timeout soon": ({"error": ""}, "the head of a stack trace"),
    "kafka-consumer-groups --reset-offsets --group reader --topic plain --to-offset x --dry-run":
        ({"error": ""}, "the head of a stack trace"),
    # joptsimple's exception, which Kafka's tool prints on its output and as a stack trace.
    **{" ".join(line): ({"error": ""}, "the head of a stack trace") for line in (
        given_twice(GROUPS, "--list", "--state", "empty"), given_twice(GROUPS, "--list", "--type", "classic"),
        given_twice(GROUPS, "--list", "--timeout", "5000"), given_twice(GROUPS, "--list", *NOBODYS),
        given_twice(GROUPS, "--describe", "--group", "reader", "--timeout", "5000"),
        given_twice(GROUPS, "--reset-offsets", "--dry-run", "--group", "reader", "--topic", "plain", "--shift-by", "1"),
        given_twice(GROUPS, "--reset-offsets", "--dry-run", "--group", "reader", "--topic", "plain", "--by-duration", "P1D"),
        given_twice(GROUPS, "--delete-offsets", "--topic", "missing", "--group", "reader"))},
    "kafka-reassign-partitions --list --command-config /no/such/file":
        ({"output": "Error: /no/such/file (No such file or directory)\n"}, "Kafka's tool names the file and not what is wrong with it"),
    **{f"kafka-reassign-partitions {action} --reassignment-json-file {{plan_broken}}":
       ({"output": "Error: The input string is not a valid JSON\n"}, "Kafka's tool says where") for action in ("--execute", "--verify")},
    **{f"kafka-reassign-partitions {action} --reassignment-json-file {{plan_blank}}":
       ({"output": "Error: The input string shouldn't be empty\n"}, "Kafka's tool says where") for action in ("--execute", "--verify")},
    "kafka-consumer-perf-test --topic words --num-records 5 --command-config /no/such/file":
        ({"error": "/no/such/file (No such file or directory)"}, "Kafka's tool names the file and not what is wrong with it"),
    "kafka-producer-perf-test --topic nope --num-records 5 --throughput -1 --record-size 5 --command-config /no/such/file":
        ({"error": "/no/such/file (No such file or directory)"}, "Kafka's tool names the file and not what is wrong with it"),
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
    [PRODUCE],
    [PRODUCE, "--help"],
    [PRODUCE, "--lost"],
    [PRODUCE, "--topic"],
    [PRODUCE, "--topic", "missing", "--max-block-ms", "1500"],
    [CONSUME],
    [CONSUME, "--help"],
    [CONSUME, "--lost"],
    [CONSUME, "--topic", "plain", "--include", "p.*"],
    [CONSUME, "--partition", "0", "--include", "p.*"],
    [CONSUME, "--topic", "plain", "--offset", "3"],
    [CONSUME, "--topic", "plain", "--partition", "0", "--offset", "soon"],
    [CONSUME, "--topic", "plain", "--partition", "0", "--offset", "-5"],
    [CONSUME, "--topic", "plain", "--partition", "0", "--offset", "3", "--from-beginning"],
    [LOG_DIRS],
    [LOG_DIRS, "--help"],
    [LOG_DIRS, "--lost"],
    [LOG_DIRS, "--describe"],
    [LOG_DIRS, "--describe", "--topic-list", "plain,tuned"],
    [LOG_DIRS, "--describe", "--topic-list", "missing"],
    [LOG_DIRS, "--describe", "--broker-list", "{node}", "--topic-list", "plain"],
    [LOG_DIRS, "--describe", "--broker-list", "99"],
    [LOG_DIRS, "--describe", "--broker-list", "x"],
    [ALL_GROUPS, "--list"],
    [ALL_GROUPS, "--list", "--consumer"],
    [ALL_GROUPS, "--list", "--share"],
    [ALL_GROUPS, "--list", "--group-type", "x"],
    [ALL_GROUPS],
    [TRANSACTIONS, "list"],
    [TRANSACTIONS, "describe", "--transactional-id", "none"],
    [TRANSACTIONS, "describe-producers", "--topic", "plain", "--partition", "1"],
    [TRANSACTIONS, "find-hanging", "--topic", "plain"],
    [TRANSACTIONS, "find-hanging"],
    [TRANSACTIONS, "abort", "--topic", "plain", "--partition", "0"],
    [TRANSACTIONS, "abort", "--topic", "plain", "--partition", "0", "--start-offset", "3"],
    [TRANSACTIONS, "abort", "--topic", "plain", "--partition", "0", "--producer-id", "3"],
    [ELECTION, "--election-type", "preferred", "--topic", "plain", "--partition", "1"],
    [ELECTION, "--election-type", "unclean", "--topic", "plain", "--partition", "7"],
    [ELECTION, "--election-type", "preferred", "--all-topic-partitions"],
    [ELECTION, "--topic", "plain"],
    [FEATURES, "upgrade", "--feature", "x=1"],
    [FEATURES, "upgrade", "--feature", "y"],
    [FEATURES, "upgrade"],
    [FEATURES, "disable", "--feature", "group.version", "--dry-run"],
    [FEATURES, "version-mapping", "--release-version", "4.0"],
    [FEATURES, "version-mapping", "--release-version", "9"],
    [FEATURES, "feature-dependencies", "--feature", "group.version=1", "--feature", "metadata.version=17"],
    [QUORUM, "describe"],
    [ACLS],
    [ACLS, "--add", "--topic", "t", "--consumer"],
    [ACLS, "--list", "--producer"],
    [ACLS, "--add", "--allow-principal", "User:a"],
    [ACLS, "--add", "--topic", "t"],
    [ACLS, "--add", "--allow-principal", "User:a", "--topic", "t", "--resource-pattern-type", "any"],
    [ACLS, "--list"],
    [ALL_GROUPS, "--lost"],
    [ALL_GROUPS, "--list", "--consumer", "--share"],
    [ALL_GROUPS, "--list", "--protocol", "none"],
    [ELECTION],
    [ELECTION, "--election-type", "preferred", "--topic", "missing", "--partition", "0"],
    [ELECTION, "--election-type", "neither", "--all-topic-partitions"],
    [ELECTION, "--lost"],
    [FEATURES, "upgrade", "--feature", "group.version=99"],
    [FEATURES, "downgrade", "--feature", "no.such.feature=1"],
    [ACLS, "--list", "--topic", "t"],
    [ACLS, "--add", "--allow-principal", "anna", "--topic", "t", "--operation", "Read"],
    [ACLS, "--remove", "--topic", "t", "--force"],
    [ACLS, "--list", "--add"],
    [ACLS, "--lost"],
    [TOKENS],
    [TOKENS, "--lost"],
    [TOKENS, "--create"],
    [TOKENS, "--create", "--describe"],
    [TOKENS, "--describe"],
    [TOKENS, "--create", *NOBODYS],
    [TOKENS, "--create", *NOBODYS, "--max-life-time-period", "-1"],
    [TOKENS, "--create", *NOBODYS, "--max-life-time-period", "-1", "--renewer-principal", "User:a", "--renewer-principal", "User:b"],
    [TOKENS, "--create", *NOBODYS, "--max-life-time-period", "-1", "--hmac", "YQ=="],
    [TOKENS, "--describe", *NOBODYS],
    [TOKENS, "--describe", *NOBODYS, "--owner-principal", "User:a"],
    [TOKENS, "--describe", *NOBODYS, "--hmac", "YQ=="],
    [TOKENS, "--renew", *NOBODYS],
    [TOKENS, "--renew", *NOBODYS, "--hmac", "YQ=="],
    [TOKENS, "--renew", *NOBODYS, "--hmac", "YQ==", "--renew-time-period", "-1"],
    [TOKENS, "--renew", *NOBODYS, "--hmac", "YQ==", "--renew-time-period", "-1", "--owner-principal", "User:a"],
    [TOKENS, "--expire", *NOBODYS, "--hmac", "YQ==", "--expiry-time-period", "-1"],
    [TOKENS, "--expire", *NOBODYS, "--expiry-time-period", "-1"],
    # An option that takes one argument is given twice.
    given_twice(TOPICS, "--create", "--topic", "t"),
    given_twice(TOPICS, "--create", "--topic", "t", "--partitions", "1"),
    given_twice(TOPICS, "--create", "--topic", "t", "--replication-factor", "1"),
    given_twice(TOPICS, "--create", "--topic", "t", "--replica-assignment", "1"),
    given_twice(TOPICS, "--describe", "--topic-id", "AAAAAAAAAAAAAAAAAAAAAA"),
    given_twice(TOPICS, "--list", "--topic", "plain"),
    given_twice(TOPICS, "--list", *NOBODYS),
    given_twice(TOPICS, "--alter", "--topic", "plain", "--partitions", "4"),
    given_twice(TOPICS, "--delete", "--topic", "missing"),
    given_twice(OFFSETS, "--topic", "plain"),
    given_twice(OFFSETS, "--topic", "plain", "--partitions", "0"),
    given_twice(OFFSETS, "--topic", "plain", "--time", "-1"),
    given_twice(OFFSETS, "--topic-partitions", "plain:0"),
    given_twice(OFFSETS, *NOBODYS),
    given_twice(RECORDS, "--offset-json-file", "/no/such/file"),
    given_twice(GROUPS, "--list", "--state", "empty"),
    given_twice(GROUPS, "--list", "--type", "classic"),
    given_twice(GROUPS, "--list", "--timeout", "5000"),
    given_twice(GROUPS, "--list", *NOBODYS),
    given_twice(GROUPS, "--describe", "--group", "reader"),
    given_twice(GROUPS, "--describe", "--group", "reader", "--timeout", "5000"),
    given_twice(GROUPS, "--reset-offsets", "--dry-run", "--group", "reader", "--topic", "plain", "--shift-by", "1"),
    given_twice(GROUPS, "--reset-offsets", "--dry-run", "--group", "reader", "--topic", "plain", "--by-duration", "P1D"),
    given_twice(GROUPS, "--reset-offsets", "--dry-run", "--group", "reader", "--topic", "plain", "--to-offset", "0"),
    given_twice(GROUPS, "--delete-offsets", "--group", "reader", "--topic", "missing"),
    given_twice(GROUPS, "--delete-offsets", "--topic", "missing", "--group", "reader"),
    given_twice(GROUPS, "--validate-regex", "a"),
    given_twice(CONFIGS, "--alter", "--topic", "plain", "--add-config", "retention.ms=soon"),
    given_twice(CONFIGS, "--alter", "--topic", "plain", "--add-config-file", "/no/such/file"),
    given_twice(CONFIGS, "--alter", "--topic", "missing", "--delete-config", "retention.ms"),
    given_twice(CONFIGS, "--describe", "--topic", "plain"),
    given_twice(CONFIGS, "--describe", "--broker", "{node}"),
    given_twice(CONFIGS, "--describe", "--user", "u"),
    given_twice(CONFIGS, "--describe", "--group", "reader"),
    given_twice(CONFIGS, "--describe", "--entity-type", "topics", "--entity-name", "plain"),
    given_twice(CONFIGS, "--describe", "--topic", "plain", *NOBODYS),
    given_twice(LOG_DIRS, "--describe", "--topic-list", "plain"),
    given_twice(LOG_DIRS, "--describe", "--broker-list", "{node}"),
    given_twice(ALL_GROUPS, "--list", "--group-type", "classic"),
    given_twice(ALL_GROUPS, "--list", "--protocol", "x"),
    given_twice(TRANSACTIONS, "describe", "--transactional-id", "none"),
    given_twice(FEATURES, "version-mapping", "--release-version", "4.0"),
    given_twice(ELECTION, "--all-topic-partitions", "--election-type", "preferred"),
    given_twice(ELECTION, "--election-type", "preferred", "--topic", "plain", "--partition", "0"),
    given_twice(TOKENS, "--renew", *NOBODYS, "--renew-time-period", "-1", "--hmac", "YQ=="),
    given_twice(TOKENS, "--expire", *NOBODYS, "--hmac", "YQ==", "--expiry-time-period", "-1"),
    given_twice(PRODUCE, "--topic", "plain"),
    given_twice(PRODUCE, "--topic", "plain", "--batch-size", "1"),
    given_twice(PRODUCE, "--topic", "plain", "--compression-codec", "gzip"),
    given_twice(PRODUCE, "--topic", "plain", "--request-required-acks", "1"),
    given_twice(PRODUCE, "--topic", "plain", "--line-reader", "x"),
    given_twice(PRODUCE, "--topic", "plain", "--reader-property", "a=b"),
    given_twice(PRODUCE, "--topic", "plain", "--command-property", "acks=1"),
    given_twice(CONSUME, "--topic", "plain", "--partition", "0"),
    given_twice(CONSUME, "--topic", "plain", "--formatter", "x"),
    given_twice(CONSUME, "--topic", "plain", "--group", "g"),
    given_twice(CONSUME, "--topic", "plain", "--value-deserializer", "x"),
    # Names of options and classes, of today and before.
    *([*READ_WORDS, "--value-deserializer", f"{SERIALIZATION}{name}Deserializer", *more]
      for name in ("Boolean", "ByteBuffer", "Bytes", "Double", "Float", "Integer", "Long", "Short", "String", "UUID", "Void", "List")
      for more in ([], ["--skip-message-on-error"])),
    *([*READ_WORDS, "--formatter", FORMATTERS + name, "--formatter-property", "print.key=true"]
      for name in ("DefaultMessageFormatter", "LoggingMessageFormatter", "NoOpMessageFormatter", "OffsetsMessageFormatter",
                   "GroupMetadataMessageFormatter", "TransactionLogMessageFormatter")),
    [CONSUME, "--topic", "words", "--partition", "0", "--formatter", "x.Y"],
    [*READ_WORDS, "--formatter-property", "print.key=true", "--formatter-property", f"key.deserializer={SERIALIZATION}IntegerDeserializer"],
    [*READ_WORDS, "--formatter-property", "value.deserializer=x.Y"],
    [*READ_WORDS, "--value-deserializer", "IntegerDeserializer"],
    [CONSUME, "--topic", "words", "--partition", "0", "--formatter", "NoOpMessageFormatter"],
    [*READ_WORDS, "--property", "print.key=true"],
    [*READ_WORDS, "--property", "a=b", "--formatter-property", "a=b"],
    [*READ_WORDS, "--consumer-property", "client.id=a"],
    [*READ_WORDS, "--consumer-property", "a=b", "--command-property", "a=b"],
    [*READ_WORDS, "--consumer.config", "/dev/null"],
    [*READ_WORDS, "--consumer.config", "/dev/null", "--command-config", "/dev/null"],
    [PRODUCE, "--topic", "plain", "--property", "parse.key=true"],
    [PRODUCE, "--topic", "plain", "--property", "a=b", "--reader-property", "a=b"],
    [PRODUCE, "--topic", "plain", "--producer-property", "acks=1"],
    [PRODUCE, "--topic", "plain", "--producer.config", "/dev/null"],
    [PRODUCE, "--topic", "plain", "--producer.config", "/dev/null", "--command-config", "/dev/null"],
    [PRODUCE, "--topic", "plain", "--batch-size", "5", "--max-partition-memory-bytes", "1000"],
    [PRODUCE, "--topic", "plain", "--line-reader", "org.apache.kafka.tools.LineMessageReader"],
    [PRODUCE, "--topic", "plain", "--line-reader", "x.Y"],
    # Moves of partitions.
    [REASSIGN],
    [REASSIGN, "--help"],
    [REASSIGN, "--lost"],
    [REASSIGN, "--list"],
    [REASSIGN, "--list", "--generate"],
    [REASSIGN, "--list", "--bootstrap-controller", "localhost:1"],
    [REASSIGN, "--list", "--command-config", "/no/such/file"],
    [REASSIGN, "--list", "--timeout", "5"],
    [REASSIGN, "--list", "--verify", "--timeout", "5"],
    [REASSIGN, "--verify", "--throttle", "5", "--reassignment-json-file", "{plan}", "--additional"],
    given_twice(REASSIGN, "--list", "--timeout", "5"),
    given_twice(REASSIGN, "--list", *NOBODYS),
    given_twice(REASSIGN, "--verify", "--reassignment-json-file", "{plan}"),
    [REASSIGN, "--generate"],
    [REASSIGN, "--generate", "--broker-list", "1"],
    [REASSIGN, "--generate", "--topics-to-move-json-file", "{move}"],
    *([REASSIGN, "--generate", "--topics-to-move-json-file", file, "--broker-list", brokers, *more] for file, brokers, *more in (
        ("{move}", "{node}"), ("{move}", "{node}", "--disable-rack-aware"), ("{move}", "{node}", "--throttle", "5"), ("{move}", "1,2"),
        ("{move}", "1,1"), ("{move}", "2,1,2,1"), ("{move}", "x"), ("{move}", "1, 2"), ("{move}", "1,,"), ("{move}", ","),
        ("{move}", ",1"), ("{move}", "99999999999"), ("{move}", "77"), ("{move_twice}", "1"), ("{move_missing}", "1"),
        ("{move_nothing}", "1"), ("{move_text}", "1"), ("{move_object}", "1"), ("{plan_broken}", "1"), ("{plan_blank}", "1"),
        ("{plan_version}", "1"), ("{plan_list}", "1"), ("{plan}", "1"), ("{no_file}", "1"))),
    *([REASSIGN, action, "--reassignment-json-file", "{" + file + "}"] for action in ("--execute", "--verify") for file in (
        "plan", "plan_missing", "plan_partition", "plan_behind", "plan_twice", "plan_empty", "plan_nowhere",
        "plan_version", "plan_text", "plan_null", "plan_list", "plan_field", "plan_number", "plan_fraction", "plan_more", "plan_broken",
        "plan_blank", "plan_directory", "plan_directories", "plan_here", "no_file")),
    *([REASSIGN, "--cancel", "--reassignment-json-file", "{" + file + "}"] for file in (
        "plan", "plan_missing", "plan_partition", "plan_empty", "plan_version", "plan_directory", "no_file")),
    *([REASSIGN, action, "--reassignment-json-file", file, "--command-config", "{impatient}"]
      for file in ("{plan_other}", "{plan_replicas}") for action in ("--execute", "--verify", "--cancel")),
    [REASSIGN, "--verify", "--reassignment-json-file", "{plan}", "--preserve-throttles"],
    [REASSIGN, "--cancel", "--reassignment-json-file", "{plan}", "--preserve-throttles", "--timeout", "7"],
    [REASSIGN, "--cancel", "--reassignment-json-file", "{plan}", "--timeout", "soon"],
    *([REASSIGN, "--execute", "--reassignment-json-file", "{plan}", *more] for more in (
        ["--throttle", "x"], ["--throttle", "-5"], ["--timeout", ""], ["--replica-alter-log-dirs-throttle", "1.5"],
        ["--disallow-replication-factor-change"], ["--additional", "--timeout", "500"])),
    # Measurements.
    *([PERF_PRODUCE, *line] for line in (
        ["--lost"], ["--lost", "x"], ["-x"], ["extra", "--topic", "t"], ["--topic"], ["--topic", "t"], ["--pay", "x"], ["--print-metrics=5"],
        ["--topic", "t", "--num-records", "5", "--throughput", "-1"], ["--topic", "t", "--record-size", "5", "--throughput", "-1"])),
    *([PERF_PRODUCE, "--topic", "nope", "--num-records", "5", "--throughput", *more] for more in (
        ["x", "--record-size", "5"], ["", "--record-size", "5"], ["-.5", "--record-size", "5"], ["-1x"], ["-", "--record-size", "5"],
        ["-1", "--record-size", "1.5"], ["-1", "--record-size", "0"], ["-1", "--record-size", "99999999999"],
        ["-1", "--record-size", "5", "--payload-monotonic"], ["-1", "--payload-m", "--payload-file", "x"],
        ["-1", "--record-size", "5", "--", "x"], ["-1", "--record-size", "5", "--command-property", "--print-metrics"],
        ["-1", "--record-size", "5", "--command-property", "a=b", "--producer-props", "c=d"],
        ["-1", "--record-size", "5", "--command-config", "a", "--producer.config", "b"],
        ["-1", "--record-size", "5", "--command-property=a=b", "extra", "--warmup-records", "5"],
        ["-1", "--record-size", "5", "--warmup-records", "5"], ["-1", "--record-size", "5", "--warmup-records", "x"],
        ["-1", "--record-size", "5", "--transaction-duration-ms", "0"], ["-1", "--record-size", "5", "--reporting-interval", "0"],
        ["-1", "--num-rec", "-5", "--record-size", "5"], ["-1", "--payload-file", "/nonexistent"],
        ["-1", "--payload-file", "{plan_blank}"],
        ["-1", "--record-size", "5", "--producer-props", "a=b=c"], ["-1", "--record-size", "5", "--command-property", "a"],
        ["-1", "--record-size", "5", "--command-property", "acks=7"], ["-1", "--record-size", "5", "--command-property", "batch.size=x"],
        ["-1", "--record-size", "5", "--command-property", "compression.type=x"],
        ["-1", "--record-size", "5", "--command-property", "enable.idempotence=true", "acks=1"],
        ["-1", "--record-size", "5", "--transactional-id", "x", "--command-property", "enable.idempotence=false"],
        ["-1", "--record-size", "5", "--command-config", "/no/such/file"],
        ["-1", "--record-size", "5", "--producer.config", "/dev/null", "--producer-props", "max.block.ms=300", "--warmup-records", "4"])),
    [PERF_PRODUCE, "--topic", "words", "--num-records", "2", "--throughput", "-1", "--record-size", "5000000"],
    [PERF_CONSUME],
    [PERF_CONSUME, "--help"],
    [PERF_CONSUME, "--lost"],
    [PERF_CONSUME, "--topic", "words"],
    [PERF_CONSUME, "--topic", "words", "--include", "x", "--num-records", "4"],
    [PERF_CONSUME, "--num-records", "4"],
    [PERF_CONSUME, "--topic", "words", "--messages", "5", "--num-records", "4"],
    given_twice(PERF_CONSUME, "--topic", "words", "--num-records", "5"),
    given_twice(PERF_CONSUME, "--num-records", "5", "--topic", "words"),
    *([PERF_CONSUME, "--topic", "words", *more] for more in (
        ["--num-records", "x"], ["--num-records", "0"], ["--messages", "0"], ["--num-records", "0", "--timeout", "x"],
        ["--num-records", "5", "--reporting-interval", "0"], ["--num-records", "5", "--fetch-size", "x"],
        ["--num-records", "5", "--socket-buffer-size", "1.5"], ["--num-records", "5", "--date-format", "q"],
        ["--num-records", "5", "--command-config", "/no/such/file"],
        ["--num-records", "5", "--consumer.config", "/dev/null", "--command-config", "/dev/null"],
        ["--messages", "5", "--reporting-interval", "x", "--consumer.config", "/dev/null"])),
    *([PERF_CONSUME, *more, "--command-property", "enable.auto.commit=false"] for more in (
        ["--topic", "words", "--num-records", "6"], ["--topic", "words", "--num-records", "2", "--hide-header"],
        ["--include", "wor.*", "--messages", "6", "--date-format", "HH"], ["--topic", "words", "--num-records", "7", "--timeout", "3000"],
        ["--topic", "words", "--num-records", "6", "--show-detailed-stats", "--reporting-interval", "100000"],
        ["--topic", "words", "--num-records", "1", "--from-latest", "--timeout", "2000"])),
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
    "moves": [
        [TOPICS, "--create", "--topic", "{t}", "--partitions", "2"],
        [REASSIGN, "--execute", "--reassignment-json-file", "{plan_of_t}", "--throttle", "5000000"],
        [CONFIGS, "--describe", "--topic", "{t}"],
        [CONFIGS, "--describe", "--broker", "{node}"],
        [REASSIGN, "--execute", "--reassignment-json-file", "{plan_of_t}", "--replica-alter-log-dirs-throttle", "7000000", "--additional"],
        [CONFIGS, "--describe", "--broker", "{node}"],
        [REASSIGN, "--verify", "--reassignment-json-file", "{plan_of_t}", "--preserve-throttles"],
        [CONFIGS, "--describe", "--topic", "{t}"],
        [REASSIGN, "--verify", "--reassignment-json-file", "{plan_of_t}"],
        [CONFIGS, "--describe", "--topic", "{t}"],
        [CONFIGS, "--describe", "--broker", "{node}"],
        [REASSIGN, "--execute", "--reassignment-json-file", "{plan_of_t}", "--throttle", "0"],
        [REASSIGN, "--cancel", "--reassignment-json-file", "{plan_of_t}"],
        [CONFIGS, "--describe", "--topic", "{t}"],
        [TOPICS, "--delete", "--topic", "{t}"],
    ],
    "measured": [
        [TOPICS, "--create", "--topic", "{t}", "--partitions", "1"],
        [PERF_PRODUCE, "--topic", "{t}", "--num-records", "3", "--throughput", "-1", "--record-size", "40"],
        [PERF_PRODUCE, "--topic", "{t}", "--num-records", "12", "--throughput", "1000", "--payload-monotonic", "--warmup-records", "5"],
        [PERF_PRODUCE, "--topic", "{t}", "--num-records", "9", "--throughput", "-1", "--payload-file", "{values}"],
        [PERF_PRODUCE, "--topic", "{t}", "--num-records", "9", "--throughput", "-1", "--payload-file", "{values}", "--payload-delimiter", ";",
         "--command-property", "acks=1", "batch.size=10", "compression.type=gzip"],
        [PERF_PRODUCE, "--topic", "{t}", "--num-records", "30", "--throughput", "2e2", "--record-size", "7", "--transaction-duration-ms", "40"],
        [PERF_PRODUCE, "--topic", "{t}", "--num-records", "4", "--throughput", "-1", "--record-size", "7", "--transactional-id", "{t}",
         "--producer.config", "/dev/null"],
        [CONSUME, "--topic", "{t}", "--partition", "0", "--from-beginning", "--max-messages", "67", "--isolation-level", "read_committed",
         "--timeout-ms", "5000"],
        [PERF_CONSUME, "--topic", "{t}", "--num-records", "67"],
        [TOPICS, "--delete", "--topic", "{t}"],
    ],
    "records": [
        [TOPICS, "--create", "--topic", "{t}", "--partitions", "1"],
        ([PRODUCE, "--topic", "{t}"], "first\nsecond\r\n\nunended"),
        ([PRODUCE, "--topic", "{t}", "--sync", "--compression-codec", "lz4", "--reader-property", "parse.key=true",
          "--reader-property", "key.separator=:"], "k:v\nk::v\n:\n"),
        ([PRODUCE, "--topic", "{t}", "--compression-codec", "--reader-property", "parse.key=true", "--reader-property",
          "parse.headers=true", "--reader-property", "null.marker=NULL"], "a:1,b:NULL\tNULL\tNULL\nNULL\tk\tgrüße\n"),
        ([PRODUCE, "--topic", "{t}", "--reader-property", "parse.key=true"], "no key\n"),
        ([PRODUCE, "--topic", "{t}", "--request-required-acks", "0", "--compression-codec", "zstd"], "unacknowledged\n"),
        ([PRODUCE, "--topic", "{t}", "--request-required-acks", "1", "--batch-size", "1"], "one\ntwo\n"),
        ([PRODUCE, "--topic", "{t}-missing", "--max-block-ms", "1500"], "lost\n"),
        ([PRODUCE, "--topic", "{t}-missing", "--max-block-ms", "1500", "--sync"], "lost\n"),
        [OFFSETS, "--topic", "{t}"],
        [CONSUME, "--topic", "{t}", "--partition", "0", "--from-beginning", "--max-messages", "12"],
        [CONSUME, "--topic", "{t}", "--partition", "0", "--offset", "earliest", "--max-messages", "9", "--formatter-property",
         "print.key=true", "--formatter-property", "print.headers=true", "--formatter-property", "print.offset=true",
         "--formatter-property", "print.partition=true", "--formatter-property", "print.epoch=true", "--formatter-property",
         "key.separator=|", "--formatter-property", "null.literal=-", "--formatter-property", "headers.separator=;"],
        [CONSUME, "--topic", "{t}", "--partition", "0", "--offset", "5", "--max-messages", "2"],
        [CONSUME, "--topic", "{t}", "--partition", "0", "--offset", "5", "--max-messages", "1", "--formatter-property", "print.value=false"],
        [CONSUME, "--topic", "{t}", "--partition", "0", "--from-beginning", "--max-messages", "0"],
        [GROUPS, "--reset-offsets", "--group", "{t}-g", "--topic", "{t}", "--shift-by", "1", "--dry-run"],
        [GROUPS, "--reset-offsets", "--group", "{t}-g", "--topic", "{t}", "--to-offset", "4", "--execute"],
        [GROUPS, "--describe", "--group", "{t}-g", "--verbose"],
        [GROUPS, "--reset-offsets", "--group", "{t}-g", "--all-topics", "--shift-by", "-2", "--execute"],
        [GROUPS, "--delete", "--group", "{t}-g"],
        [TOPICS, "--delete", "--topic", "{t}"],
    ],
}
