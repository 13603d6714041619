"""`partita dev-security`, as somebody uses it who tries it: a directory, a broker that is started with it, and clients that take their files
from it as they are."""

import re
import subprocess
import urllib.error
import urllib.request

import confluent_kafka.admin
import pytest

import harness
import secured

#: What docs/security.md promises, on two busy cores; a free one needs a tenth.
PROMISED_S = 10


class SecureBroker(secured.SecurePartita):
    def as_user(self, name, *arguments, **more):
        return harness.run_partita(*arguments, "--bootstrap-server", self.bootstrap, "--command-config", self.security.path / f"{name}.properties", **more)

    def kcat(self, name, *arguments, **more):
        return subprocess.run(["kcat", "-F", str(self.security.path / f"{name}.librdkafka.conf"), *arguments], capture_output=True, text=True, timeout=60, **more)

    def settings(self, name):
        """The file for librdkafka, as an application reads it."""
        lines = (self.security.path / f"{name}.librdkafka.conf").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if not line.startswith("#"))


@pytest.fixture(scope="module")
def broker():
    if harness.TARGET != "partita":
        pytest.skip("a Partita makes the files")
    watch = harness.Stopwatch()
    with SecureBroker() as started:
        # From nothing to a client that has written and read, by the lines that dev-security prints.
        started.as_user("admin", "topics", "--create", "--topic", "orders").succeeded()
        started.as_user("admin", "acls", "--add", "--allow-principal", "User:app", "--operation", "All", "--topic", "*", "--group", "*").succeeded()
        sent = started.kcat("app", "-P", "-t", "orders", input="hello\n")
        read = started.kcat("app", "-C", "-t", "orders", "-e", "-q", "-o", "beginning")
        started.took_s = watch.undisturbed_s()
        assert (sent.returncode, read.returncode, read.stdout) == (0, 0, "hello\n"), (sent, read)
        yield started


def test_from_nothing_to_a_client_takes_seconds(broker):
    assert broker.took_s < PROMISED_S


def test_kafkas_own_tools_take_the_file(broker, tools):
    for name in ("admin", "admin.mtls"):
        address = f"localhost:{broker.port + name.endswith('mtls')}"
        listed = tools("kafka-topics", "--bootstrap-server", address, "--command-config", broker.security.path / f"{name}.properties", "--list")
        assert "orders" in listed.succeeded().lines, name


def test_librdkafka_takes_the_file(broker):
    for name in ("app", "app.mtls"):
        admin = confluent_kafka.admin.AdminClient(broker.settings(name))
        assert "orders" in admin.list_topics(timeout=60).topics, name


def test_our_own_commands_take_every_file(broker):
    for name in ("admin", "app", "admin.mtls", "app.mtls"):
        address = f"localhost:{broker.port + name.endswith('mtls')}"
        listed = harness.run_partita("topics", "--list", "--bootstrap-server", address, "--command-config", broker.security.path / f"{name}.properties")
        assert "orders" in listed.succeeded().lines, name


def test_a_user_may_do_what_an_acl_says_and_no_more(broker):
    refused = broker.as_user("app", "acls", "--list")
    assert refused.code == 1 and "authoriz" in (refused.out + refused.err).lower(), refused


def metrics(broker, token):
    """Name and labels to value, of what a principal did."""
    request = urllib.request.Request(f"http://{broker.http_address}/metrics", headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        text = urllib.request.urlopen(request, timeout=60).read().decode()
    except urllib.error.HTTPError as refused:
        text = refused.read().decode()
    return {name: int(value) for name, value in re.findall(r"^(partita_principal_\S+) (\d+)$", text, re.M)}


def test_metrics_tell_what_each_principal_did_to_whoever_may_know(broker):
    token = (broker.security.path / "http-token").read_text().strip()
    refused = broker.as_user("app", "acls", "--list")
    before = metrics(broker, token)
    assert refused.code == 1 and before['partita_principal_denials_total{principal="User:app"}'] > 0, before
    by_certificate = ["kcat", "-F", str(broker.security.path / "app.mtls.librdkafka.conf")]
    subprocess.run([*by_certificate, "-P", "-t", "orders"], input="by certificate\n", text=True, timeout=60, check=True)
    read = subprocess.run([*by_certificate, "-C", "-t", "orders", "-e", "-q"], capture_output=True, text=True, timeout=60, check=True)
    assert "by certificate" in read.stdout
    after = metrics(broker, token)
    for metric in ("requests", "produced_bytes", "fetched_bytes"):
        of_app = f'partita_principal_{metric}_total{{principal="User:app"}}'
        assert after[of_app] > before[of_app], (metric, before, after)
    assert 'partita_principal_requests_total{principal="User:admin"}' in after
    assert metrics(broker, None) == {}


def test_a_quota_holds_for_a_principal_and_metrics_say_so(broker):
    token = (broker.security.path / "http-token").read_text().strip()
    waited = 'partita_principal_throttled_milliseconds_total{principal="User:app"}'
    assert metrics(broker, token)[waited] == 0
    quota = ("configs", "--alter", "--entity-type", "users", "--entity-name", "app")
    broker.as_user("admin", *quota, "--add-config", "producer_byte_rate=1000").succeeded()
    sent = broker.kcat("app", "-P", "-t", "orders", input="x" * 20000 + "\n")
    broker.as_user("admin", *quota, "--delete-config", "producer_byte_rate").succeeded()
    assert sent.returncode == 0, sent
    after = metrics(broker, token)
    assert after[waited] > 0 and after[waited.replace("app", "admin")] == 0, after


def test_who_has_another_password_or_no_trust_is_told_so(broker, tmp_path):
    text = (broker.security.path / "app.properties").read_text()
    wrong = tmp_path / "wrong.properties"
    wrong.write_text(re.sub(r'password="[^"]*"', 'password="other"', text))
    refused = harness.run_partita("topics", "--list", "--bootstrap-server", broker.bootstrap, "--command-config", wrong)
    assert refused.code == 1 and "Authentication failed during authentication due to invalid credentials" in refused.out + refused.err, refused
    distrust = tmp_path / "distrust.properties"
    distrust.write_text("".join(line for line in text.splitlines(keepends=True) if "truststore" not in line))
    refused = harness.run_partita("topics", "--list", "--bootstrap-server", broker.bootstrap, "--command-config", distrust)
    assert refused.code == 1 and "ssl.truststore.location" in refused.out + refused.err, refused


def test_a_directory_that_moved_and_a_restart_change_nothing(broker):
    moved = broker.security.path.rename(broker.directory / "elsewhere")
    try:
        broker.stop()
        broker.security.path = moved
        broker.restart()
        assert "created credentials of users" not in broker.log_text().split("starting")[-1]
    finally:
        broker.security.path = moved.rename(broker.directory / "security")
    assert "orders" in broker.as_user("app", "topics", "--list").succeeded().lines
