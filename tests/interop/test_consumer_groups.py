"""kafka-consumer-groups: list, describe, reset-offsets, delete-offsets, delete, and what it says of mistakes."""

import datetime
import re

import pytest

import clients

# Records of years ago are read for as long as the module takes.
BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0, "log.retention.ms": -1}

START = 1_700_000_000_000
RECORDS = 10
LOOPBACK = r"/(127\.0\.0\.1|0:0:0:0:0:0:0:1)"


@pytest.fixture(scope="module")
def client(broker):
    agent = clients.Agent(clients.confluent, broker.bootstrap)
    yield agent
    agent.close()


class Filled:
    """A topic of two partitions with ten records each, record n at START + n seconds, and a group that has not met it."""

    def __init__(self, client, tools, unique):
        self.client, self.tools = client, tools
        self.topic, self.group = unique("topic"), unique("group")
        client.create_topic(self.topic, partitions=2)
        client.call("produce", topic=self.topic, records=[
            {"partition": partition, "timestamp": START + 1000 * n, "key": None, "value": str(n)}
            for partition in (0, 1) for n in range(RECORDS)])

    def run(self, *arguments):
        return self.tools("kafka-consumer-groups", *arguments)

    def start_member(self):
        self.client.call("member_start", name=self.group, group=self.group, topic=self.topic)
        self.client.events.wait(
            lambda events: len([e for e in events if e.get("member") == self.group and e["event"] == "record"]) ==
            2 * RECORDS, 30, "the member reads everything")
        self.client.expect_committed(self.group, self.topic, {"0": RECORDS, "1": RECORDS})

    def stop_member(self):
        self.client.call("member_stop", name=self.group)

    def committed(self):
        return self.client.call("committed", group=self.group, topic=self.topic)["offsets"]

    def reset(self, *how):
        return self.run("--reset-offsets", "--group", self.group, "--topic", self.topic, *how)


@pytest.fixture
def filled(client, tools, unique):
    return Filled(client, tools, unique)


@pytest.fixture
def read(filled):
    """A group that read everything and is empty now."""
    filled.start_member()
    filled.stop_member()
    return filled


@pytest.fixture
def active(filled):
    """A group with one member that read everything and is still there."""
    filled.start_member()
    yield filled
    filled.stop_member()


def table(result):
    """The rows of a printed table as dictionaries by column title."""
    lines = [line for line in result.succeeded().lines if line.strip()]
    start = next(i for i, line in enumerate(lines) if line.startswith(("GROUP", "TOPIC")))
    titles = re.split(r"\s{2,}|\s(?=[A-Z#])", lines[start].strip())
    rows = []
    for line in lines[start + 1:]:
        cells = line.split()
        rows.append(dict(zip(titles, cells)))
    return rows


def says(result, text, code=1):
    assert text in result.out + result.err, result
    assert result.code == code, result


def test_list_names_the_group_and_its_state(read):
    assert read.group in read.run("--list").succeeded().lines
    listed = read.run("--list", "--state").succeeded()
    assert re.search(rf"^{read.group}\s+Empty\s*$", listed.out, re.M), listed
    listed = read.run("--list", "--type").succeeded()
    assert re.search(rf"^{read.group}\s+Classic\s*$", listed.out, re.M), listed
    assert read.group not in read.run("--list", "--state", "stable").succeeded().out
    assert read.group in read.run("--list", "--state", "empty").succeeded().out


def test_describe_of_a_group_at_work(active):
    rows = table(active.run("--describe", "--group", active.group))
    assert [(row["GROUP"], row["TOPIC"], row["PARTITION"], row["CURRENT-OFFSET"], row["LOG-END-OFFSET"], row["LAG"])
            for row in rows] == [(active.group, active.topic, str(p), "10", "10", "0") for p in (0, 1)]
    assert all(row["CONSUMER-ID"].startswith("rdkafka-") and re.fullmatch(LOOPBACK, row["HOST"]) for row in rows), str(rows)
    assert {row["CLIENT-ID"] for row in rows} == {"rdkafka"}
    state = active.run("--describe", "--group", active.group, "--state").succeeded()
    assert re.search(rf"^{active.group}\s+(127\.0\.0\.1|localhost):\d+\s+\(\d+\)\s+range\s+Stable\s+1\s*$", state.out, re.M), state
    members = active.run("--describe", "--group", active.group, "--members", "--verbose").succeeded()
    assert re.search(rf"^{active.group}\s+rdkafka-\S+\s+{LOOPBACK}\s+rdkafka\s+2\s", members.out, re.M), members
    assert f"{active.topic}:0,1" in members.out, members


def test_describe_of_an_empty_group_shows_its_lag(client, read):
    client.call("produce", topic=read.topic, records=[{"partition": 1, "key": None, "value": "more"}])
    result = read.run("--describe", "--group", read.group)
    assert f"Consumer group '{read.group}' has no active members." in result.out + result.err
    assert [(row["PARTITION"], row["CURRENT-OFFSET"], row["LOG-END-OFFSET"], row["LAG"], row["CONSUMER-ID"])
            for row in table(result)] == [("0", "10", "10", "0", "-"), ("1", "10", "11", "1", "-")]


def test_describe_of_all_groups(read, active):
    out = read.run("--describe", "--all-groups").succeeded().out
    assert read.group in out and active.group in out


def test_describe_of_an_unknown_group(filled):
    says(filled.run("--describe", "--group", filled.group),
         "Error: Executing consumer group command failed due to "
         f"org.apache.kafka.common.errors.GroupIdNotFoundException: Group {filled.group} not found.", code=0)


@pytest.mark.parametrize("how, expected", [
    (["--to-earliest"], (0, 0)),
    (["--to-latest"], (10, 10)),
    (["--to-current"], (10, 10)),
    (["--to-offset", "4"], (4, 4)),
    (["--to-offset", "400"], (10, 10)),
    (["--shift-by", "-3"], (7, 7)),
    (["--shift-by", "-300"], (0, 0)),
    (["--to-datetime", datetime.datetime.fromtimestamp(START / 1000 + 6, datetime.timezone.utc).strftime(
        "%Y-%m-%dT%H:%M:%S.000")], (6, 6)),
    # All records are years old, so none is at or after that time: the end.
    (["--by-duration", "PT1H"], (10, 10)),
])
def test_reset_offsets(read, how, expected):
    plan = read.reset(*how, "--dry-run")
    assert sorted((row["PARTITION"], row["NEW-OFFSET"]) for row in table(plan)) == [
        ("0", str(expected[0])), ("1", str(expected[1]))]
    assert read.committed() == {"0": 10, "1": 10}, "a dry run changes nothing"
    done = read.reset(*how, "--execute")
    assert sorted((row["GROUP"], row["TOPIC"], row["PARTITION"], row["NEW-OFFSET"]) for row in table(done)) == [
        (read.group, read.topic, str(p), str(expected[p])) for p in (0, 1)]
    assert read.committed() == {"0": expected[0], "1": expected[1]}


def test_reset_of_one_partition(read):
    read.run("--reset-offsets", "--group", read.group, "--topic", f"{read.topic}:1", "--to-earliest",
             "--execute").succeeded()
    assert read.committed() == {"0": 10, "1": 0}


def test_reset_from_a_file_that_was_exported(read, tmp_path):
    exported = read.reset("--to-offset", "5", "--export", "--dry-run").succeeded()
    lines = [line for line in exported.lines if line.strip()]
    assert sorted(lines) == [f'"{read.topic}",0,5', f'"{read.topic}",1,5'], exported
    file = tmp_path / "offsets.csv"
    file.write_text("\n".join([f"{read.topic},0,2", f"{read.topic},1,3"]) + "\n")
    read.run("--reset-offsets", "--group", read.group, "--from-file", file, "--execute").succeeded()
    assert read.committed() == {"0": 2, "1": 3}


def test_reset_makes_a_group_that_nobody_knew(filled):
    filled.reset("--to-offset", "6", "--execute").succeeded()
    assert filled.committed() == {"0": 6, "1": 6}
    assert filled.group in filled.run("--list").succeeded().lines


def test_members_begin_where_the_reset_put_them(read, client):
    read.reset("--to-offset", "8", "--execute").succeeded()
    before = len(client.events.records())
    client.call("member_start", name=read.group, group=read.group, topic=read.topic)
    client.events.wait(lambda _: len(client.events.records()) >= before + 4, 30, "the member reads the rest")
    client.call("member_stop", name=read.group)
    assert sorted((r["partition"], r["offset"]) for r in client.events.records()[before:]) == [
        (0, 8), (0, 9), (1, 8), (1, 9)]


def test_reset_of_an_active_group_is_refused(active):
    says(active.reset("--to-earliest", "--execute"),
         f"Error: Assignments can only be reset if the group '{active.group}' is inactive, but the current state is "
         "Stable.", code=0)
    assert active.committed() == {"0": 10, "1": 10}


def test_delete_offsets(read):
    result = read.run("--delete-offsets", "--group", read.group, "--topic", f"{read.topic}:0").succeeded()
    assert f"Request succeeded for deleting offsets from group {read.group}." in result.out, result
    assert re.search(rf"^{read.topic}\s+0\s+Successful\s*$", result.out, re.M), result
    assert read.committed() == {"1": 10}


def test_delete_offsets_of_a_subscribed_topic_is_refused(active):
    result = active.run("--delete-offsets", "--group", active.group, "--topic", active.topic)
    says(result, "Encountered some partition-level error, see the follow-up details.", result.code)
    assert "GroupSubscribedToTopicException: Deleting offsets of a topic is forbidden while the consumer group is " \
        "actively subscribed to it." in result.out + result.err, result
    assert active.committed() == {"0": 10, "1": 10}


def test_delete_a_group(read):
    result = read.run("--delete", "--group", read.group).succeeded()
    assert f"Deletion of requested consumer groups ('{read.group}') was successful." in result.out, result
    assert read.group not in read.run("--list").succeeded().lines
    assert read.committed() == {}


def test_delete_of_an_active_group_is_refused(active):
    result = active.run("--delete", "--group", active.group)
    says(result, f"* Group '{active.group}' could not be deleted due to: "
                 "org.apache.kafka.common.errors.GroupNotEmptyException", result.code)
    assert active.group in active.run("--list").succeeded().lines


def test_delete_of_an_unknown_group_is_refused(filled):
    result = filled.run("--delete", "--group", filled.group)
    says(result, f"* Group '{filled.group}' could not be deleted due to: "
                 "org.apache.kafka.common.errors.GroupIdNotFoundException", result.code)
