#!/usr/bin/env python3
"""Commands that no tool of Kafka's is like: quotas, the picture of a plan, top, completions. Needs neither a JVM nor a client."""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import time
import unittest
import xml.etree.ElementTree

import commands
import harness

SVG = "{http://www.w3.org/2000/svg}"


class OwnCommands(unittest.TestCase):
    properties = {}

    @classmethod
    def setUpClass(cls):
        cls.broker = harness.PartitaBroker(cls.properties).__enter__()
        cls.addClassCleanup(cls.broker.__exit__, None)
        cls.ours = commands.Commands(cls.broker.bootstrap)
        cls.addClassCleanup(cls.ours.close)

    def partita(self, *words, environment=None):
        done = subprocess.run([self.ours.binary, *map(str, words)], capture_output=True, text=True, timeout=harness.TOOL_DEADLINE_S,
                              env={**os.environ, **(environment or {})})
        return harness.ToolResult(" ".join(map(str, words)), done.returncode, done.stdout, done.stderr)

    def said(self, result, code, out, error=""):
        self.assertEqual((result.code, result.out, result.err), (code, out, error))


class OwnNames(OwnCommands):
    """What `partita topics` does that `kafka-topics` does not."""

    def test_without_an_address_the_environment_says_who_is_asked(self):
        here = {"PARTITA_BOOTSTRAP": self.ours.bootstrap}
        self.said(self.partita("topics", "--create", "--topic", "by-environment", environment=here), 0, "Created topic by-environment.\n")
        for words in (("topics", "--list"), ("groups", "--list"), ("cluster", "cluster-id"), ("quotas",), ("offsets", "--topic", "by-environment"),
                      ("consume", "--topic", "by-environment", "--exit"), ("configs", "--describe", "--topic", "by-environment"), ("log-dirs", "--describe"),
                      ("features", "describe"), ("quorum", "describe", "--status"), ("transactions", "list"), ("all-groups", "--list"),
                      ("api-versions", "--command-config", os.devnull)):
            self.partita(*words, environment=here).succeeded()
        # Another broker is asked where the line names one, and Kafka's names want to be told.
        port = harness.free_port()
        named = self.partita("consume", "--topic", "t", "--bootstrap-server", f"127.0.0.1:{port}", "--command-property", "default.api.timeout.ms=100",
                             "--command-property", "request.timeout.ms=100", environment=here)
        self.assertIn(f"127.0.0.1:{port}: Connection refused", named.err)
        done = subprocess.run([self.ours.link("kafka-topics"), "--list"], capture_output=True, text=True, env={**os.environ, **here})
        self.assertEqual((done.returncode, done.stderr), (1, "--bootstrap-server must be specified\n"))

    def test_what_was_wrong_is_the_last_that_is_told_and_help_is_output(self):
        self.said(self.partita("consume", "--topic", "t", "--from-time", "yesterday"), 1, "",
                  "--from-time is yesterday; use milliseconds since 1970, 2026-11-21T10:00:00.000 or PT15M\n"
                  "`partita consume --help` lists the options.\n")
        asked = self.partita("consume", "--help")
        self.assertEqual((asked.code, asked.err), (0, ""))
        self.assertIn("--from-time <time>", asked.out)
        self.assertEqual(self.partita("help", "consume").out, asked.out)
        self.assertEqual(self.partita("help", "plan").out, self.partita("plan", "--help").out)
        self.assertEqual(self.partita("help").out, self.partita("--help").out)
        done = subprocess.run([self.ours.link("kafka-console-consumer"), "--help"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))

    def test_a_topic_and_a_host_that_are_not_there_are_named_at_once(self):
        self.said(self.ours.by_command("consume", "--topic", "nosuch", "--exit"), 1, "", "there is no topic nosuch\n")
        watch = harness.Stopwatch()
        nowhere = self.partita("topics", "--list", "--bootstrap-server", "nosuch.invalid:9092")
        # Where no resolver is to be had, it may come back, and is tried again.
        if "trying again" not in nowhere.err:
            self.assertEqual(nowhere.code, 1)
            self.assertIn("Error while executing topic command : nosuch.invalid:9092: ", nowhere.out)
            self.assertLess(watch.undisturbed_s(), 20)


class Quotas(OwnCommands):
    def quotas(self, *words):
        return self.ours.by_command("quotas", *words)

    def tearDown(self):
        for line in self.quotas("--list", "--json").succeeded().lines:
            options = []
            for kind, name in json.loads(line)["entity"].items():
                option = {"client-id": "client"}.get(kind, kind)
                options += [f"--{option}-defaults"] if name is None else [f"--{option}", name]
            self.quotas("--remove", *options).succeeded()

    def test_what_was_set_is_listed_and_can_be_removed(self):
        self.said(self.quotas("--set", "--user", "anna", "producer_byte_rate=1MiB", "request_percentage=50%"), 0,
                  "user anna: producer_byte_rate is 1048576 (1.0 MiB/s)\nuser anna: request_percentage is 50 (50 % of a thread)\n")
        self.quotas("--set", "--client-defaults", "consumer_byte_rate=2MB").succeeded()
        self.quotas("--set", "--ip", "127.0.0.7", "connection_creation_rate=5").succeeded()
        listed = ("FOR               QUOTA                     VALUE\n"
                  "any other client  consumer_byte_rate        2000000 (1.9 MiB/s)\n"
                  "ip 127.0.0.7      connection_creation_rate  5 (5 a second)\n"
                  "user anna         producer_byte_rate        1048576 (1.0 MiB/s)\n"
                  "user anna         request_percentage        50 (50 % of a thread)\n")
        self.said(self.quotas(), 0, listed)
        self.said(self.quotas("--list"), 0, listed)
        self.said(self.quotas("--remove", "--user", "anna", "producer_byte_rate"), 0, "user anna: producer_byte_rate is removed\n")
        self.said(self.quotas("--list", "--user", "anna", "--json"), 0,
                  '{"entity":{"user":"anna"},"quotas":{"request_percentage":50.0}}\n')
        self.said(self.quotas("--remove", "--user", "anna"), 0, "user anna: request_percentage is removed\n")
        self.said(self.quotas("--list", "--user", "anna"), 0, "", "no quota is set for user anna\n")

    def test_what_holds_for_somebody_is_described_with_where_it_comes_from(self):
        self.quotas("--set", "--user", "anna", "--client-defaults", "producer_byte_rate=1000").succeeded()
        self.quotas("--set", "--user-defaults", "producer_byte_rate=5", "consumer_byte_rate=7").succeeded()
        self.said(self.quotas("--describe", "--user", "anna", "--client", "app"), 0,
                  "QUOTA                     VALUE            SET FOR\n"
                  "producer_byte_rate        1000 (1000 B/s)  user anna, any other client\n"
                  "consumer_byte_rate        7 (7 B/s)        any other user\n"
                  "request_percentage        no limit\n"
                  "controller_mutation_rate  no limit\n")
        one = [json.loads(line) for line in self.quotas("--describe", "--user", "bob", "--json").succeeded().lines][0]
        self.assertEqual(one, {"quota": "producer_byte_rate", "value": 5, "set_for": {"user": None}})

    def test_kafkas_tool_shows_what_ours_has_set(self):
        self.quotas("--set", "--user", "anna", "--client", "app", "producer_byte_rate=1.5MB").succeeded()
        self.assertEqual(self.ours("kafka-configs", "--describe", "--user", "anna", "--client", "app").succeeded().out,
                         "Quota configs for user-principal 'anna', client-id 'app' are producer_byte_rate=1500000.0\n")

    def test_a_line_that_makes_no_sense_says_what_would(self):
        for words, error in (
                (["--set", "--user", "a", "producer_byte_rte=5"], "unknown quota 'producer_byte_rte'; did you mean producer_byte_rate?"),
                (["--set", "--user", "a", "producer_byte_rate"], "'producer_byte_rate' has no value: use producer_byte_rate=VALUE"),
                (["--set", "--user", "a", "producer_byte_rate=x"],
                 "producer_byte_rate is 'x'; use bytes per second, such as 1048576, 10MB or 1.5MiB"),
                (["--set", "producer_byte_rate=5"], "the entity is missing: use --user, --client or both, or --ip; or --user-defaults, "
                 "--client-defaults, --ip-defaults"),
                (["--set", "--ip", "::1", "producer_byte_rate=5"], "producer_byte_rate applies to users and clients, not to addresses"),
                (["--set", "--user", "a", "connection_creation_rate=5"], "connection_creation_rate applies to addresses: use --ip or --ip-defaults"),
                (["--remove", "--user", "nobody"], "user nobody has no quota"),
                (["--remove", "--user", "nobody", "request_percentage"], "user nobody has no request_percentage"),
                (["--describe"], "the entity is missing: use --user, --client, both, or --ip"),
                (["--list", "words"], "'words' is not an option; only --set and --remove take words")):
            with self.subTest(" ".join(words)):
                self.said(self.quotas(*words), 1, "", f"partita quotas: {error}\n")
        self.assertEqual(self.quotas("--lst").err, "partita quotas: lst is not a recognized option\ndid you mean --list?\n")

    def test_names_are_text(self):
        name = "<b>\x1b[31m"
        self.quotas("--set", "--user", name, "producer_byte_rate=5").succeeded()
        self.assertIn("user <b>?[31m  producer_byte_rate", self.quotas().out)
        self.assertEqual(json.loads(self.quotas("--json").out)["entity"], {"user": name})


class FaultFiles(OwnCommands):
    properties = {"partita.test.bench.enable": "true"}

    def add(self, text):
        done = subprocess.run([self.ours.binary, "fault", "add", "--file", "-", "--http", self.broker.http_address], input=text,
                              capture_output=True, text=True, timeout=harness.TOOL_DEADLINE_S)
        return harness.ToolResult("fault add", done.returncode, done.stdout, done.stderr)

    def listed(self, rule):
        return json.loads(self.partita("fault", "list", rule, "--json", "--http", self.broker.http_address).succeeded().out)

    def test_rules_are_yaml_or_json(self):
        self.said(self.add("# Two rules.\n- id: moved\n  match: {api: OffsetCommit}\n  when: {times: 1}\n  do: {error: NOT_COORDINATOR}\n"
                           "- {id: silent, match: {api: JoinGroup}, when: {after_fault: moved, probability: .5}, do: {drop_request: true}}\n"),
                  0, "moved\nsilent\n")
        self.assertEqual(self.listed("silent")["when"], {"probability": 0.5, "after_fault": "moved"})
        self.said(self.add('{"id": "late", "match": {"api": "Fetch"}, "do": {"delay_ms": 5}}'), 0, "late\n")
        self.assertEqual(self.listed("late")["do"], {"delay_ms": 5})

    def test_a_file_that_is_no_rule_is_refused_by_line_and_column(self):
        self.said(self.add("match:\n  api: [Fetch\ndo: {delay_ms: 5}\n"), 2, "",
                  "partita: -: line 3, column 3: end of sequence flow not found\n")
        self.said(self.add("match: {api: Fetch, api: Produce}\n"), 2, "", "partita: -: line 1, column 21: the key api stands here twice\n")
        self.said(self.add(""), 2, "", "partita: -: the text is empty\n")
        refused = self.add("mtach: {api: Fetch}\ndo: {delay_ms: 5}\n")
        self.assertEqual((refused.code, refused.out), (2, ""))
        self.assertIn('"mtach" is unknown here', refused.err)


class Seeds(OwnCommands):
    """Topics, records and offsets from files."""

    def seed(self, text, *words, name="seed.yaml"):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = pathlib.Path(directory.name, name)
        self.path.write_text(text)
        return self.partita("seed", self.path, "--bootstrap-server", self.ours.bootstrap, *words)

    def records(self, topic):
        """All records of the topic, by partition and offset."""
        lines = self.partita("consume", "--bootstrap-server", self.ours.bootstrap, "--topic", topic, "--from-beginning", "--exit", "--json").succeeded()
        records = sorted(map(json.loads, lines.out.splitlines()), key=lambda one: (one["partition"], one["offset"]))
        return [{name: value for name, value in one.items() if name not in ("topic", "offset")} for one in records]

    def committed(self, group):
        lines = self.ours("kafka-consumer-groups", "--describe", "--group", group, "--offsets").succeeded().out.splitlines()
        rows = [line.split() for line in lines if line.startswith(group)]
        return {(row[1], int(row[2])): int(row[3]) for row in rows}

    def test_a_file_makes_topics_records_and_offsets(self):
        text = ("topics:\n  seeded: {partitions: 3, configs: {cleanup.policy: compact}}\n"
                "records:\n"
                "  - {topic: seeded, key: a, value: text, partition: 1, timestamp: 17, headers: {trace: x}}\n"
                "  - {topic: seeded, key: a, value: null, partition: 1, timestamp: 18}\n"
                "  - {topic: seeded, key_base64: AP8=, value: {total: 7}, partition: 2, timestamp: 19}\n"
                "groups:\n  reader: {seeded: {1: 1, 2: latest}}\n")
        self.said(self.seed(text), 0, "created 1 topic, wrote 3 records, committed 2 offsets of 1 group\n")
        self.assertEqual(self.records("seeded"), [
            {"partition": 1, "timestamp": 17, "headers": [{"key": "trace", "value": "x"}], "key": "a", "value": "text"},
            {"partition": 1, "timestamp": 18, "headers": [], "key": "a", "value": None},
            {"partition": 2, "timestamp": 19, "headers": [], "key_hex": "00ff", "value": '{"total":7}'}])
        self.assertEqual(self.committed("reader"), {("seeded", 1): 1, ("seeded", 2): 1})
        # The second time, it depends on what the line says.
        refused = self.seed(text)
        self.assertEqual((refused.code, refused.out), (2, ""))
        self.assertIn("topic seeded exists; --existing skip", refused.err)
        self.said(self.seed(text, "--existing", "skip"), 0, "created 0 topics, wrote 0 records; skipped topic seeded\n")
        self.assertEqual(len(self.records("seeded")), 3)
        self.seed(text, "--existing", "append").succeeded()
        self.assertEqual(len(self.records("seeded")), 6)
        other = self.seed(text.replace("partitions: 3", "partitions: 4"), "--existing", "append")
        self.said(other, 2, "", "partita: topic seeded exists with 3 partitions, and the seed says 4\n")

    def test_a_generator_makes_the_same_records_again(self):
        text = ("topics: {%s: 6}\nrecords: [{topic: %s, generate: 20000, keys: 300, seed: 5, value_bytes: 50, timestamp: 1000, every_ms: 1}]\n"
                "groups: {%s-group: {%s: 25%%}}\n")
        for topic in ("bulk-1", "bulk-2"):
            self.said(self.seed(text % (topic, topic, topic, topic)), 0,
                      "created 1 topic, wrote 20000 records, committed 6 offsets of 1 group\n")
        one = self.records("bulk-1")
        self.assertEqual(one, self.records("bulk-2"))
        self.assertEqual((len(one), len({record["key"] for record in one})), (20000, 300))
        by_partition = [sum(record["partition"] == partition for record in one) for partition in range(6)]
        self.assertEqual(self.committed("bulk-1-group"), {("bulk-1", partition): count // 4 for partition, count in enumerate(by_partition)})

    def test_what_consume_prints_can_be_seeded(self):
        self.seed("topics: {there: 2}\nrecords:\n- {topic: there, key: k, value_hex: ff00, headers: [{key: h, value: '1'}, {key: h, value: null}]}\n").succeeded()
        lines = self.partita("consume", "--bootstrap-server", self.ours.bootstrap, "--topic", "there", "--from-beginning", "--exit", "--json").succeeded().out
        self.said(self.seed('{"topics": {"back": 2}}\n\n' + lines.replace('"there"', '"back"'), name="records.jsonl"), 0,
                  "created 1 topic, wrote 1 record\n")
        self.assertEqual(self.records("back"), self.records("there"))

    def test_a_mistake_changes_nothing_and_is_named(self):
        before = self.partita("topics", "--list", "--bootstrap-server", self.ours.bootstrap).succeeded().out
        for text, name, error in (
                ("topics: {new: 3}\nrecords:\n- {topic: new, valeu: 1}\n", "a.yaml",
                 "line 3, column 3: records[0] needs value (null for a tombstone), value_base64, value_hex or generate"),
                ("topics: {new: 3}\n  x: 1\n", "a.yaml", "line 2, column 3: end of map not found"),
                ('{"topics": {"new": 3}}\n{"topic": "new"}\n', "a.jsonl",
                 "line 2: the document needs value (null for a tombstone), value_base64, value_hex or generate"),
                ('{"topics": {"new": 3}}\n' + "x" * (4 << 20) + "x\n", "a.jsonl", "line 2: longer than 4194304 bytes")):
            self.said(self.seed(text, name=name), 2, "", f"partita: {self.path}: {error}\n")
        self.said(self.seed("x" * (8 << 20) + "x"), 2, "",
                  f"partita: {self.path} is larger than 8.0 MiB; JSON lines (--format json-lines) may be longer\n")
        self.assertEqual(self.partita("topics", "--list", "--bootstrap-server", self.ours.bootstrap).succeeded().out, before)
        missing = self.seed("records: [{topic: nowhere, value: a}]\n")
        self.said(missing, 2, "", "partita: topic nowhere does not exist, and the seed does not create it: name it under topics\n")
        beyond = self.seed("topics: {short: 1}\ngroups: {g: {short: {0: 5}}}\n")
        self.said(beyond, 2, "", "partita: group g: short-0 ends at 0, so no group has read up to 5\n")
        nobody = self.partita("seed", self.path, "--bootstrap-server", f"127.0.0.1:{harness.free_port()}", "-X", "default.api.timeout.ms=300",
                              "-X", "request.timeout.ms=300")
        self.assertEqual((nobody.code, nobody.out), (1, ""))


class Letters(OwnCommands):
    """What fingers know from kcat."""

    def test_records_go_there_and_back(self):
        self.ours("kafka-topics", "--create", "--topic", "letters").succeeded()
        at = ["-b", self.broker.bootstrap, "-t", "letters", "-p", "0"]
        done = subprocess.run([self.ours.binary, "produce", *at, "-k", "anna", "-H", "trace=7"], input="one\ntwo\nthree\n", text=True,
                              capture_output=True, timeout=harness.TOOL_DEADLINE_S)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.said(self.partita("consume", *at, "--from-beginning", "-e", "-c", "2", "-f", r"%t %p %o %k %s %h\x0a"), 0,
                  "letters 0 0 anna one trace=7\nletters 0 1 anna two trace=7\n")
        self.assertEqual([json.loads(line)["value"] for line in self.partita("consume", *at, "--tail", "2", "-e", "-J").succeeded().lines],
                         ["two", "three"])


class PlanPicture(OwnCommands):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ours("kafka-topics", "--create", "--topic", "orders", "--partitions", 4).succeeded()
        cls.ours("kafka-console-producer", "--topic", "orders", "--reader-property", "parse.key=true",
                 input="".join(f"k{n}\tv\n" for n in range(500))).succeeded()

    def plan(self, *words, environment=None):
        return self.partita("plan", "orders", "--quiet", "--bootstrap", self.broker.bootstrap, *words,
                            environment={"LC_ALL": "C.UTF-8", **(environment or {})})

    def test_in_a_pipe_the_picture_is_there_when_it_is_asked_for(self):
        self.assertNotIn(" before  ", self.plan("--to", 8).out)
        drawn = self.plan("--to", 8, "--picture", "always").out
        self.assertIn(" before  ", drawn)
        self.assertIn("░", drawn)
        self.assertNotIn("\x1b", drawn)
        ascii_only = self.plan("--to", 8, "--picture", "always", environment={"LC_ALL": "C"}).out
        self.assertIn("50 % move to a new partition", ascii_only)
        self.assertTrue(ascii_only.isascii())

    def test_the_svg_is_a_document_with_a_path_for_each_way(self):
        with tempfile.TemporaryDirectory() as directory:
            for to, ways in ((6, 12), (8, 8), (49, 0)):
                file = pathlib.Path(directory) / "picture.svg"
                self.assertIn(self.plan("--to", to, "--svg", file).code, (0, 3))
                root = xml.etree.ElementTree.parse(file).getroot()
                self.assertEqual(root.tag, f"{SVG}svg")
                self.assertEqual(len(root.findall(f".//{SVG}path")), ways)
            refused = self.plan("--to", 8, "--svg", f"{directory}/no/such/directory.svg")
            self.assertEqual(refused.code, 1)
            self.assertIn("cannot write", refused.err)


class Completions(OwnCommands):
    """What the shells themselves make of the files for them."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for topic in ("orders", "orders.retry", "payments"):
            cls.ours("kafka-topics", "--create", "--topic", topic).succeeded()
        cls.files = tempfile.TemporaryDirectory(prefix="partita-completions-")
        cls.addClassCleanup(cls.files.cleanup)
        cls.programs = pathlib.Path(cls.files.name) / "bin"
        cls.programs.mkdir()
        (cls.programs / "partita").symlink_to(os.path.realpath(cls.ours.binary))
        for shell in ("bash", "zsh", "fish"):
            script = subprocess.run([cls.ours.binary, "completion", shell], capture_output=True, text=True, timeout=60, check=True).stdout
            (pathlib.Path(cls.files.name) / shell).write_text(script)

    def offered(self, shell, script, *words):
        done = subprocess.run([shell, *(["--no-rcs"] if shell == "zsh" else []), "-c", script, *(["shell"] if shell != "fish" else []), *words],
                              capture_output=True, text=True, timeout=60, cwd=self.files.name,
                              env={**os.environ, "PATH": f"{self.programs}:{os.environ['PATH']}", "HOME": self.files.name})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split("\n")[:-1]

    def bash(self, *words):
        return self.offered("bash", f'source {self.files.name}/bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() {{ COMPREPLY+=("$*"); }}; '
                            '_partita; printf "%s\\n" "${COMPREPLY[@]}"', *words)

    def test_bash(self):
        at = ["--bootstrap-server", *re.split("(:)", self.broker.bootstrap)]
        self.assertEqual(self.bash("partita", "topi"), ["topics"])
        self.assertEqual(self.bash("kafka-topics.sh", "--under-m"), ["--under-min-isr-partitions"])
        self.assertEqual(self.bash("partita", "topics", *at, "--topic", "ord"), ["orders", "orders.retry"])
        self.assertEqual(self.bash("partita", "topics", *at, "--topic", "=", "pay"), ["payments"])
        self.assertEqual(self.bash("partita", "topics", "--command-config", ""), ["-o default"])

    @unittest.skipUnless(shutil.which("fish"), "needs fish (Debian package)")
    def test_fish(self):
        def offered(line):
            return [one.split("\t")[0] for one in self.offered("fish", f"source {self.files.name}/fish; complete -C $argv[1]", line)]
        self.assertEqual(offered("partita topi"), ["topics"])
        self.assertEqual(offered("kafka-topics --under-m"), ["--under-min-isr-partitions"])
        self.assertEqual(offered(f"partita topics --bootstrap-server {self.broker.bootstrap} --topic ord"), ["orders", "orders.retry"])
        self.assertIn("bash", offered("partita topics --command-config "))

    @unittest.skipUnless(shutil.which("zsh"), "needs zsh (Debian package)")
    def test_zsh(self):
        def offered(*words):
            # What zsh's own functions are given: they only work where somebody types.
            script = (f'compdef() {{ :; }}; _files() {{ echo files; }}; _describe() {{ print -rl -- ${{(P)2}}; }}; source {self.files.name}/zsh; '
                      'words=("$@"); CURRENT=$#words; _partita')
            return [one.split(":")[0] for one in self.offered("zsh", script, *words)]
        self.assertEqual(offered("partita", "topi"), ["topics"])
        self.assertEqual(offered("kafka-topics.sh", "--under-m"), ["--under-min-isr-partitions"])
        self.assertEqual(offered("partita", "topics", "--bootstrap-server", self.broker.bootstrap, "--topic", "ord"), ["orders", "orders.retry"])
        self.assertEqual(offered("partita", "topics", "--command-config", ""), ["files"])

    def test_a_broker_that_does_not_answer_is_not_waited_for(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            watch = harness.Stopwatch()
            port = str(silent.getsockname()[1])
            self.assertEqual(self.bash("partita", "topics", "--bootstrap-server", "127.0.0.1", ":", port, "--topic", ""), [""])
            self.assertLess(watch.undisturbed_s(), 10)

    def test_lists_say_of_each_tool_what_it_does(self):
        for listed in (self.partita("--help").succeeded().out, self.partita("complete", "zsh", "--", "partita", "").succeeded().out):
            self.assertRegex(listed, r"(?m)^ *offsets\s+show the first and last offsets of partitions, or the offset at a time$")
            self.assertNotIn("This tool", listed)
        self.assertIn("partita-offsets \\- show the first and last offsets of partitions", self.partita("manual", "offsets").succeeded().out)
        # By itself it introduces itself as Kafka's does.
        self.assertIn("An interactive shell for getting topic-partition offsets.", self.partita("offsets", "--help").succeeded().out)

    def test_every_command_has_a_manual_page(self):
        for command in ("topics", "plan", "top", "control", "quotas"):
            page = self.partita("manual", command).succeeded().out
            self.assertTrue(page.startswith(f".TH PARTITA-{command.upper()} 1 "))
        refused = self.partita("manual", "nothing")
        self.assertEqual((refused.code, refused.out), (2, ""))

    def test_words_of_tools_are_words_that_they_take(self):
        for tool, words in (("transactions", "list describe describe-producers abort find-hanging forceTerminateTransaction"),
                            ("features", "describe upgrade downgrade disable version-mapping feature-dependencies"), ("quorum", "describe"),
                            ("cluster", "cluster-id list-endpoints unregister")):
            offered = self.bash("partita", tool, "")
            self.assertEqual(offered, words.split())
            for word in offered:
                self.assertNotIn("use one of", self.partita(tool, word, environment={"PARTITA_BOOTSTRAP": self.ours.bootstrap}).err)


class Top(OwnCommands):
    """What goes on in a broker, drawn in a terminal of our own."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ours("kafka-topics", "--create", "--topic", "orders", "--partitions", 4).succeeded()
        cls.ours("kafka-console-producer", "--topic", "orders", input="a\nb\nc\n").succeeded()
        cls.ours("kafka-consumer-groups", "--reset-offsets", "--group", "billing", "--topic", "orders", "--to-earliest", "--execute").succeeded()
        cls.http = cls.broker.http_address

    def top(self, *words, **more):
        return self.partita("top", "--http", self.http, "--interval", "0.1", *words, **more)

    def test_without_a_terminal_it_is_one_snapshot(self):
        text = self.top().succeeded().out
        self.assertRegex(text, r"(?m)^TOPICS 1 +PARTITIONS +SIZE +RECORDS +A SECOND\norders +4 +\d+ B +3 +0$")
        self.assertRegex(text, r"(?m)^billing +Empty +0 +3$")
        self.assertNotIn("\x1b", text)

    def test_for_machines_it_is_a_line_for_each_look(self):
        look = json.loads(self.top("--once", "--json").succeeded().out)
        self.assertEqual((look["topics"][0]["topic"], look["topics"][0]["records_per_second"]), ("orders", 0))
        self.assertEqual(look["groups"], [{"group": "billing", "state": "Empty", "type": "classic", "members": 0, "lag": 3}])
        process = subprocess.Popen([self.ours.binary, "top", "--http", self.http, "--interval", "0.1", "--json"], stdout=subprocess.PIPE, text=True)
        self.assertEqual([json.loads(process.stdout.readline())["schema"] for _ in range(3)], [1, 1, 1])
        process.stdout.close()
        self.assertEqual(process.wait(harness.TOOL_DEADLINE_S), 0)

    def test_nobody_there_is_said_at_once(self):
        result = self.partita("top", "--http", f"127.0.0.1:{harness.free_port()}")
        self.assertEqual((result.code, result.out), (1, ""))
        self.assertIn("start a broker, or name its HTTP address with --http or in $PARTITA_HTTP", result.err)
        self.assertEqual(self.partita("top", "--interval", "0").code, 2)

    def drawn(self, lines, columns, **environment):
        """The program in a terminal of this size; what it writes is collected."""
        screen = Screen([self.ours.binary, "top", "--http", self.http, "--interval", "0.2"], lines, columns,
                        {"TERM": "xterm", "LC_ALL": "C.UTF-8", **environment})
        self.addCleanup(screen.close)
        return screen

    def test_a_terminal_is_drawn_anew_and_left_as_it_was(self):
        screen = self.drawn(30, 100)
        before = termios.tcgetattr(screen.terminal)
        screen.wait(lambda text: text.count("\x1b[H") >= 3 and "billing" in text)
        self.assertTrue(screen.text.startswith("\x1b[?1049h"))
        self.assertNotEqual(termios.tcgetattr(screen.terminal), before)
        screen.resize(8, 40)
        screen.wait(lambda text: all(len(ESCAPES.sub("", line)) <= 40 for line in text.replace("\r", "").split("\x1b[H")[-1].split("\n")))
        screen.press("2")
        screen.wait(lambda text: "TOPICS" not in text.split("\x1b[H")[-1] and "GROUPS" in text.split("\x1b[H")[-1])
        screen.press("q")
        self.assertEqual(screen.process.wait(harness.TOOL_DEADLINE_S), 0)
        screen.wait(lambda text: text.endswith("\x1b[?25h\x1b[?1049l"))
        self.assertEqual(termios.tcgetattr(screen.terminal), before)

    def test_a_signal_leaves_the_terminal_as_it_was(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            screen = self.drawn(24, 80)
            before = termios.tcgetattr(screen.terminal)
            screen.wait(lambda text: "TOPICS" in text)
            screen.process.send_signal(number)
            self.assertEqual(screen.process.wait(harness.TOOL_DEADLINE_S), 0)
            screen.wait(lambda text: text.endswith("\x1b[?1049l"))
            self.assertEqual(termios.tcgetattr(screen.terminal), before)

    def test_no_color_has_none_and_a_dumb_terminal_gets_the_snapshot(self):
        screen = self.drawn(24, 80, NO_COLOR="1")
        screen.wait(lambda text: "TOPICS" in text)
        self.assertEqual(re.findall(r"\x1b\[[0-9;]*m", screen.text), [])
        dumb = self.drawn(24, 80, TERM="dumb")
        self.assertEqual(dumb.process.wait(harness.TOOL_DEADLINE_S), 0)
        dumb.wait(lambda text: "CLIENTS" in text)
        self.assertNotIn("\x1b", dumb.text)

    def test_a_broker_that_goes_away_is_waited_for(self):
        with harness.PartitaBroker({}) as other:
            screen = Screen([self.ours.binary, "top", "--http", other.http_address, "--interval", "0.2"], 24, 100,
                            {"TERM": "xterm", "LC_ALL": "C.UTF-8"})
            self.addCleanup(screen.close)
            screen.wait(lambda text: "TOPICS" in text)
            other.kill()
            screen.wait(lambda text: "no broker's HTTP side answers" in text.split("\x1b[H")[-1])
            self.assertIsNone(screen.process.poll())


ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Screen:
    """A program in a terminal; `text` is all that it wrote."""

    def __init__(self, command, lines, columns, environment):
        self.ours, self.terminal = pty.openpty()
        self.resize(lines, columns)
        kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
        self.process = subprocess.Popen(command, stdin=self.terminal, stdout=self.terminal, stderr=subprocess.DEVNULL,
                                        env={**kept, **environment}, start_new_session=True)
        self.text = ""

    def resize(self, lines, columns):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        if hasattr(self, "process"):
            self.process.send_signal(signal.SIGWINCH)

    def press(self, key):
        os.write(self.ours, key.encode())

    def wait(self, condition):
        end = time.monotonic() + harness.TOOL_DEADLINE_S
        while not condition(self.text):
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.ours], [], [], left)[0]:
                raise harness.Deadline(f"the screen shows {self.text[-3000:]!r}")
            self.text += os.read(self.ours, 1 << 16).decode(errors="replace")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.ours)
        os.close(self.terminal)


if __name__ == "__main__":
    unittest.main()
