"""Fixtures of the interop tests: one broker and one JVM for tools per module, fresh names per test."""

import re
import secrets

import pytest

import harness

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
    """Kafka's command line tools, pointed at the broker: tools("kafka-topics", "--list")."""
    runner = harness.Tools(broker.bootstrap)
    yield runner
    runner.close()


@pytest.fixture
def unique(request):
    """unique("topic") is a name that no other test uses."""
    test = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")[:60]
    return lambda kind: f"{kind}-{test}-{secrets.token_hex(3)}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Shows the broker's log with every failure."""
    report = (yield).get_result()
    if report.failed and current_broker is not None:
        report.sections.append(("broker log", current_broker.log_text()))
