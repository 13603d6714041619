"""Our commands beside Kafka's own tools: the same line on the same broker has the same output, first line of the error stream and
exit code. `differences` of docs/commands.md are the lines that are marked here."""

import os
import re

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
        theirs, mine = (run(*[word.format(t=topic, ip=address, **world) for word in line])
                        for run, topic, address in ((tools, "twin-a", "127.0.0.8"), (ours, "twin-b", "127.0.0.9")))
        for result in (theirs, mine):
            result.out = command_lines.without_ids(result.out)
        same(theirs, mine, [("twin-b", "twin-a"), ("127.0.0.9", "127.0.0.8")])


def test_nobody_there_is_said_when_the_time_is_over(tools, ours, tmp_path):
    config = tmp_path / "client.properties"
    config.write_text("default.api.timeout.ms=1200\nrequest.timeout.ms=1000\n")
    line = ["kafka-topics", "--list", "--bootstrap-server", f"127.0.0.1:{harness.free_port()}", "--command-config", str(config)]
    theirs, mine = tools(*line), ours(*line)
    assert theirs.out.splitlines()[0] == mine.out.splitlines()[0]
    assert mine.out == "Error while executing topic command : Timed out waiting for a node assignment. Call: listTopics\n"
    assert theirs.code == mine.code == 1


def test_a_protection_that_is_not_served_is_refused(ours, tmp_path):
    config = tmp_path / "client.properties"
    config.write_text("security.protocol=SASL_SSL\n")
    result = ours("kafka-topics", "--list", "--command-config", config)
    assert (result.code, result.out) == (1, "")
    assert result.err == "security.protocol=SASL_SSL is not served yet: only PLAINTEXT is\n"


@pytest.mark.parametrize("address", ["nowhere", "host:port", "host:99999", ":9092", "<i>:1"])
def test_an_address_that_is_none(ours, address):
    result = ours("kafka-topics", "--list", "--bootstrap-server", address)
    assert (result.code, result.out) == (1, "")
    assert re.fullmatch(r"Invalid (url|port) in bootstrap\.servers: .*\n", result.err)
