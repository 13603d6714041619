"""Debian's kcat 1.7.1 on librdkafka 2.0.2."""

import json
import re
import subprocess

import pytest

import harness

# kcat creates topics only by naming them.
BROKER_PROPERTIES = {"num.partitions": 3, "group.initial.rebalance.delay.ms": 0}


class Kcat:
    def __init__(self, bootstrap):
        self.bootstrap = bootstrap

    def command(self, *arguments):
        return ["kcat", "-b", self.bootstrap, *map(str, arguments)]

    def __call__(self, *arguments, input="", seconds=40, check=True):
        done = subprocess.run(self.command(*arguments), input=input, capture_output=True, text=True, timeout=seconds)
        assert not check or done.returncode == 0, f"{done.args}\n{done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *arguments):
        """Consumes to the end of all partitions; each message as a dictionary."""
        return [json.loads(line) for line in self("-C", "-q", "-J", "-e", *arguments).stdout.splitlines()]

    def ends(self, topic, count, time=-1):
        queries = [argument for partition in range(count) for argument in ("-t", f"{topic}:{partition}:{time}")]
        return dict((int(p), int(o)) for p, o in re.findall(r"\[(\d+)\] offset (-?\d+)", self("-Q", *queries).stdout))


@pytest.fixture
def kcat(broker):
    return Kcat(broker.bootstrap)


class GroupMember:
    """kcat -G as a background process; everything it prints goes to a file."""

    def __init__(self, kcat, directory, name, group, topic, *more):
        self.path = directory / name
        self.file = open(self.path, "w")
        # -u: unbuffered; %p %o %s tells where each record lay; rebalances are told on standard error.
        self.process = subprocess.Popen(
            kcat.command("-G", group, "-u", "-f", "record %p %o %s\n", "-X", "session.timeout.ms=6000",
                         "-X", "heartbeat.interval.ms=500", "-X", "auto.offset.reset=earliest",
                         "-X", "auto.commit.interval.ms=100",
                         "-X", "topic.metadata.refresh.interval.ms=300", *more, topic),
            stdout=self.file, stderr=subprocess.STDOUT)

    def text(self):
        return self.path.read_text()

    def records(self):
        return [(int(p), int(o), value) for p, o, value in re.findall(r"^record (\d+) (\d+) (.*)$", self.text(), re.M)]

    def owned(self):
        """The partitions of the last rebalance that kcat told of."""
        told = re.findall(r"^% Group \S+ rebalanced .*?: (assigned|revoked|incremental_\w+): ?(.*)$", self.text(), re.M)
        if not told or told[-1][0] != "assigned":
            return set()
        return {int(p) for p in re.findall(r"\[(\d+)\]", told[-1][1])}

    def leave(self):
        self.process.terminate()
        assert self.process.wait(60) == 0, self.text()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.file.close()


def test_lists_the_broker_and_its_topics(kcat, unique):
    topic = unique("topic")
    kcat("-P", "-t", topic, input="x\n")
    metadata = json.loads(kcat("-L", "-J").stdout)
    port = kcat.bootstrap.rsplit(":", 1)[1]
    assert [b["name"] for b in metadata["brokers"]] in ([f"127.0.0.1:{port}"], [f"localhost:{port}"])
    found, = [t for t in metadata["topics"] if t["topic"] == topic]
    assert [p["partition"] for p in found["partitions"]] == [0, 1, 2]
    assert all(p["leader"] == metadata["brokers"][0]["id"] for p in found["partitions"])


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_produces_and_consumes_keyed_records(kcat, unique, codec):
    topic = unique("topic")
    lines = [f"k{n % 7}:value {n} " + "and so on " * 10 for n in range(100)]
    kcat("-P", "-t", topic, "-K:", "-z", codec, "-H", "header=1", "-H", "other=two", input="\n".join(lines) + "\n")
    messages = kcat.json("-t", topic, "-o", "beginning")
    assert sorted(f"{m['key']}:{m['payload']}" for m in messages) == sorted(lines)
    assert all(m["headers"] == ["header", "1", "other", "two"] for m in messages)
    for key in {m["key"] for m in messages}:
        of_key = sorted((m["offset"], m["partition"], m["payload"]) for m in messages if m["key"] == key)
        assert len({partition for _, partition, _ in of_key}) == 1, "a key stays in its partition"
        numbers = [int(payload.split()[1]) for _, _, payload in of_key]
        assert numbers == sorted(numbers), "and in order"


def test_null_and_empty_values(kcat, unique):
    topic = unique("topic")
    kcat("-P", "-t", topic, "-p", 0, "-K:", "-Z", input="gone:\n:value\nk:v\n")
    assert [(m["key"], m["payload"]) for m in kcat.json("-t", topic, "-p", 0, "-o", "beginning")] == [
        ("gone", None), (None, "value"), ("k", "v")]


def test_reads_from_offsets_and_from_the_tail(kcat, unique):
    topic = unique("topic")
    kcat("-P", "-t", topic, "-p", 1, input="".join(f"{n}\n" for n in range(10)))
    for where, expected in (("7", "789"), ("-2", "89"), ("beginning", "0123456789")):
        assert "".join(m["payload"] for m in kcat.json("-t", topic, "-p", 1, "-o", where)) == expected, where


def test_queries_offsets_by_time(kcat, unique):
    topic = unique("topic")
    kcat("-P", "-t", topic, "-p", 0, input="".join(f"{n}\n" for n in range(5)))
    first = kcat.json("-t", topic, "-p", 0, "-o", "beginning")[0]
    assert kcat.ends(topic, 2) == {0: 5, 1: 0}
    assert kcat.ends(topic, 2, -2) == {0: 0, 1: 0}
    assert kcat.ends(topic, 1, first["ts"]) == {0: 0}
    assert kcat.ends(topic, 1, first["ts"] + 3_600_000) == {0: -1}


def test_idempotent_producer(kcat, unique):
    topic = unique("topic")
    kcat("-P", "-t", topic, "-p", 0, "-X", "enable.idempotence=true", "-X", "batch.num.messages=10",
         input="".join(f"{n}\n" for n in range(1000)))
    messages = kcat.json("-t", topic, "-p", 0, "-o", "beginning")
    assert [(m["offset"], m["payload"]) for m in messages] == [(n, str(n)) for n in range(1000)]


def test_a_record_that_is_too_large_is_refused(kcat, unique):
    topic = unique("topic")
    refused = kcat("-P", "-t", topic, "-p", 0, "-X", "message.max.bytes=3000000", "-D", ";", input="x" * 1_100_000,
                   check=False)
    assert refused.returncode == 1 and "Message size too large" in refused.stderr, refused.stderr
    kcat("-P", "-t", topic, "-p", 0, input="small\n")
    assert [m["payload"] for m in kcat.json("-t", topic, "-p", 0, "-o", "beginning")] == ["small"]


def test_a_group_shares_an_expanding_topic(kcat, tools, unique, tmp_path):
    """Three members; one leaves, one dies; partitions 3 to 6 under way; every record read, none twice."""
    topic, group = unique("topic"), unique("group")
    kcat("-P", "-t", topic, "-K:", input="".join(f"k{n}:a{n}\n" for n in range(60)))
    members = {}

    def start(name):
        members[name] = GroupMember(kcat, tmp_path, name, group, topic)

    def wait_for_shares(shares, count, what):
        def settled():
            owned = {name: members[name].owned() for name in shares}
            return {name: len(list_) for name, list_ in owned.items()} == shares and \
                set().union(*owned.values()) == set(range(count))
        harness.wait_until(settled, 30, lambda: what + "\n" + "".join(
            f"--- {name}\n{member.text()[-1500:]}" for name, member in members.items()))

    def wait_for_records(expected, what):
        def all_read():
            return expected <= {value for member in members.values() for _, _, value in member.records()}
        harness.wait_until(all_read, 30, what)

    try:
        for name in ("one", "two", "three"):
            start(name)
        wait_for_shares({"one": 1, "two": 1, "three": 1}, 3, "three members")
        expected = {f"a{n}" for n in range(60)}
        wait_for_records(expected, "the first records are read")
        tools("kafka-topics", "--alter", "--topic", topic, "--partitions", 6).succeeded()
        wait_for_shares({"one": 2, "two": 2, "three": 2}, 6, "the new partitions are assigned")
        kcat("-P", "-t", topic, "-K:", input="".join(f"k{n}:b{n}\n" for n in range(60)))
        expected |= {f"b{n}" for n in range(60)}
        wait_for_records(expected, "the records of six partitions are read")
        members["two"].leave()
        wait_for_shares({"one": 3, "three": 3}, 6, "after one left")
        # What the dead one had read must be committed, or it would rightly be read again.
        harness.wait_until(lambda: lag(tools, group) == 0, 20, "everything is committed")
        members["three"].kill()
        wait_for_shares({"one": 6}, 6, "after one died")
        kcat("-P", "-t", topic, "-K:", input="".join(f"k{n}:c{n}\n" for n in range(60)))
        expected |= {f"c{n}" for n in range(60)}
        wait_for_records(expected, "the last records are read")
        members["one"].leave()
        read = [value for member in members.values() for _, _, value in member.records()]
        assert sorted(read) == sorted(expected), "every record exactly once"
    finally:
        for member in members.values():
            member.kill()


@pytest.fixture
def start(kcat, unique, tmp_path):
    """start(name, ...) makes a member of one group that reads one topic, with more arguments of kcat."""
    members, topic, group = [], unique("topic"), unique("group")

    def call(name, *more):
        members.append(GroupMember(kcat, tmp_path, name, group, topic, *more))
        return members[-1]
    call.topic, call.group = topic, group
    yield call
    for member in members:
        member.kill()


def wait_for_values(member, expected):
    harness.wait_until(lambda: {value for _, _, value in member.records()} == expected, 30,
                       lambda: f"exactly {sorted(expected)} is read\n{member.text()}")


def test_a_group_goes_on_where_it_committed(kcat, tools, start):
    kcat("-P", "-t", start.topic, input="a\nb\nc\n")
    first = start("first")
    wait_for_values(first, {"a", "b", "c"})
    first.leave()
    assert lag(tools, start.group) == 0
    kcat("-P", "-t", start.topic, input="d\ne\n")
    wait_for_values(start("second"), {"d", "e"})


def test_a_member_is_fenced_by_another_of_its_name(kcat, start):
    kcat("-P", "-t", start.topic, input="a\n")
    instance = ("-X", "group.instance.id=instance")
    first = start("first", *instance)
    wait_for_values(first, {"a"})
    start("second", *instance)
    harness.wait_until(lambda: first.process.poll() is not None, 30, lambda: f"the first one gives up\n{first.text()}")
    assert "Static consumer fenced by other consumer with same group.instance.id" in first.text()


def test_an_unknown_topic_is_reported(kcat, unique):
    topic = unique("missing")
    refused = kcat("-C", "-t", topic, "-e", check=False)
    assert refused.returncode == 1, refused
    assert f"Topic {topic} error: Broker: Unknown topic or partition" in refused.stderr, refused


def lag(tools, group):
    """How many records the group has not committed, or None while that is unknown."""
    rows = [line.split() for line in tools("kafka-consumer-groups", "--describe", "--group", group).lines
            if line.startswith(group)]
    values = [row[5] for row in rows]
    return sum(map(int, values)) if values and "-" not in values else None
