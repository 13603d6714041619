"""`partita dev-security`, as somebody uses it who tries it: a directory, a broker that is started with it, and clients that take their files
from it as they are."""

import re
import subprocess
import time

import confluent_kafka.admin
import pytest

import harness

#: What docs/security.md promises, on two busy cores; a free one needs a tenth.
PROMISED_S = 10


class SecureBroker(harness.PartitaBroker):
    """Started by `--security`, on the port that the directory's files name."""

    def __init__(self):
        super().__init__()
        self.security = self.directory / "security"
        self.host = "localhost"
        # The second listener has the next one.
        while self.port + 1 == self.second_port:
            self.second_port = harness.free_port()
        harness.run_partita("dev-security", self.security, "--port", self.port, "--mtls").succeeded()

    def command(self):
        return [*super().command(), "--security", str(self.security)]

    def is_up(self):
        return self.port_file.exists()

    def as_user(self, name, *arguments, **more):
        return harness.run_partita(*arguments, "--bootstrap-server", self.bootstrap, "--command-config", self.security / f"{name}.properties", **more)

    def kcat(self, name, *arguments, **more):
        return subprocess.run(["kcat", "-F", str(self.security / f"{name}.librdkafka.conf"), *arguments], capture_output=True, text=True, timeout=30, **more)

    def settings(self, name):
        """The file for librdkafka, as an application reads it."""
        lines = (self.security / f"{name}.librdkafka.conf").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if not line.startswith("#"))


@pytest.fixture(scope="module")
def broker():
    if harness.TARGET != "partita":
        pytest.skip("a Partita makes the files")
    began = time.monotonic()
    with SecureBroker() as started:
        # From nothing to a client that has written and read, by the lines that dev-security prints.
        started.as_user("admin", "topics", "--create", "--topic", "orders").succeeded()
        started.as_user("admin", "acls", "--add", "--allow-principal", "User:app", "--operation", "All", "--topic", "*", "--group", "*").succeeded()
        sent = started.kcat("app", "-P", "-t", "orders", input="hello\n")
        read = started.kcat("app", "-C", "-t", "orders", "-e", "-q", "-o", "beginning")
        started.took_s = time.monotonic() - began
        assert (sent.returncode, read.returncode, read.stdout) == (0, 0, "hello\n"), (sent, read)
        yield started


def test_from_nothing_to_a_client_takes_seconds(broker):
    assert broker.took_s < PROMISED_S


def test_kafkas_own_tools_take_the_file(broker, tools):
    for name in ("admin", "admin.mtls"):
        address = f"localhost:{broker.port + name.endswith('mtls')}"
        listed = tools("kafka-topics", "--bootstrap-server", address, "--command-config", broker.security / f"{name}.properties", "--list")
        assert "orders" in listed.succeeded().lines, name


def test_librdkafka_takes_the_file(broker):
    for name in ("app", "app.mtls"):
        admin = confluent_kafka.admin.AdminClient(broker.settings(name))
        assert "orders" in admin.list_topics(timeout=20).topics, name


def test_our_own_commands_take_every_file(broker):
    for name in ("admin", "app", "admin.mtls", "app.mtls"):
        address = f"localhost:{broker.port + name.endswith('mtls')}"
        listed = harness.run_partita("topics", "--list", "--bootstrap-server", address, "--command-config", broker.security / f"{name}.properties")
        assert "orders" in listed.succeeded().lines, name


def test_a_user_may_do_what_an_acl_says_and_no_more(broker):
    refused = broker.as_user("app", "acls", "--list")
    assert refused.code == 1 and "authoriz" in (refused.out + refused.err).lower(), refused


def test_who_has_another_password_or_no_trust_is_told_so(broker, tmp_path):
    text = (broker.security / "app.properties").read_text()
    wrong = tmp_path / "wrong.properties"
    wrong.write_text(re.sub(r'password="[^"]*"', 'password="other"', text))
    refused = harness.run_partita("topics", "--list", "--bootstrap-server", broker.bootstrap, "--command-config", wrong)
    assert refused.code == 1 and "Authentication failed during authentication due to invalid credentials" in refused.out + refused.err, refused
    distrust = tmp_path / "distrust.properties"
    distrust.write_text("".join(line for line in text.splitlines(keepends=True) if "truststore" not in line))
    refused = harness.run_partita("topics", "--list", "--bootstrap-server", broker.bootstrap, "--command-config", distrust)
    assert refused.code == 1 and "ssl.truststore.location" in refused.out + refused.err, refused


def test_a_directory_that_moved_and_a_restart_change_nothing(broker):
    moved = broker.security.rename(broker.directory / "elsewhere")
    try:
        broker.stop()
        broker.security = moved
        broker.restart()
        assert "credentials of users were made" not in broker.log_text().split("starting")[-1]
    finally:
        broker.security = moved.rename(broker.directory / "security")
    assert "orders" in broker.as_user("app", "topics", "--list").succeeded().lines
