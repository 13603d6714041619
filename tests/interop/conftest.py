"""Fixtures of the interop tests: one broker and one JVM for tools per module, fresh names per test."""

import json
import os
import re
import secrets

import pytest

pytest.register_assert_rewrite("clients", "scenarios")

import commands  # noqa: E402
import harness  # noqa: E402
import matrix  # noqa: E402

#: The file to which the matrix adds a line per result, for client_table.
RESULTS = os.environ.get("PARTITA_MATRIX_RESULTS")

current_broker = None


@pytest.fixture(scope="module")
def broker(request):
    """The broker under test, with the module's BROKER_PROPERTIES."""
    global current_broker
    with harness.start_broker(getattr(request.module, "BROKER_PROPERTIES", {})) as started:
        current_broker = started
        yield started
    current_broker = None


@pytest.fixture(scope="module")
def tools(broker):
    """Kafka's command line tools, pointed at the broker: tools("kafka-topics", "--list"). With PARTITA_COMMANDS=1 ours in their place."""
    runner = (commands.Commands if os.environ.get("PARTITA_COMMANDS") else harness.Tools)(broker.bootstrap)
    yield runner
    runner.close()


@pytest.fixture
def unique(request):
    """unique("topic") is a name that no other test uses."""
    test = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")[:60]
    return lambda kind: f"{kind}-{test}-{secrets.token_hex(3)}"


def pytest_addoption(parser):
    parser.addoption("--client", help="only this client of clients/matrix.toml")


def pytest_configure(config):
    config.addinivalue_line("markers", "column(name): the column of docs/clients.md in which a scenario counts")
    config.addinivalue_line("markers", "long: runs with PARTITA_LONG_TESTS=1, and always for thorough clients")
    config.addinivalue_line("markers", "lacking(feature): runs only for clients that lack it")
    config.addinivalue_line("markers", "needs(features): skipped for clients that lack one of them")


def pytest_collection_modifyitems(config, items):
    wanted = config.getoption("--client")
    kept = [item for item in items if concerns(item, matrix.CLIENTS[wanted] if wanted else None)]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept
    for item in items:
        mark_for_client(item, getattr(item.cls, "client", None))


def concerns(item, wanted):
    """True if an item is to be seen at all: it is of the wanted client, and shows no lack that its client has not."""
    client = getattr(item.cls, "client", None)
    lacks = all(feature in client.lacks for marker in item.iter_markers("lacking") for feature in marker.args)
    return lacks and (wanted is None or client == wanted)


def mark_for_client(item, client):
    """Skips what the item's client lacks and what takes long."""
    if item.get_closest_marker("long") and not harness.LONG_TESTS and not (client and client.thorough):
        item.add_marker(pytest.mark.skip(reason="takes long: PARTITA_LONG_TESTS=1 runs it"))
    if client is None:
        return
    for marker in item.iter_markers("needs"):
        for feature in marker.args:
            if feature in client.lacks:
                item.add_marker(pytest.mark.skip(reason=f"lacks: {client.lacks[feature]}"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Shows the broker's log with every failure."""
    report = (yield).get_result()
    if report.failed and current_broker is not None:
        report.sections.append(("broker log", current_broker.log_text()))
    if RESULTS and getattr(item.cls, "client", None):
        record(item, report)


def record(item, report):
    """Adds a line to what client_table makes docs/clients.md of."""
    if report.when != "call" and report.passed:
        return
    column = item.get_closest_marker("column")
    line = {"target": harness.TARGET, "client": item.cls.client.name, "test": item.name,
            "column": column.args[0] if column else None, "outcome": report.outcome,
            "version": dict(item.user_properties).get("version"),
            "reason": report.longrepr[2] if report.skipped else ""}
    with open(RESULTS, "a") as file:
        file.write(json.dumps(line) + "\n")
