"""Clients over TLS: Kafka's tools, the Java client below them, librdkafka and kcat; who is believed and who is not."""

import json
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import tempfile

import pytest

import harness

MODULE = "org.apache.kafka.common.security."
#: Filled before the broker starts.
STORES = pathlib.Path(tempfile.mkdtemp(prefix="partita-tls-"))
PASSWORD = "store-secret"


def run(*command):
    return subprocess.run(list(map(str, command)), cwd=STORES, check=True, capture_output=True, text=True)


def authority(name):
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-noenc", "-keyout", f"{name}.key", "-out", f"{name}.pem", "-days", "2",
        "-subj", f"/CN={name}")


def certificate(name, subject, by, days=2):
    """NAME.key and NAME.pem, and both in NAME.p12."""
    run("openssl", "req", "-newkey", "rsa:2048", "-noenc", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", subject)
    (STORES / "extensions").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    run("openssl", "x509", "-req", "-in", f"{name}.csr", "-CA", f"{by}.pem", "-CAkey", f"{by}.key", "-CAcreateserial", "-days", days,
        "-extfile", "extensions", "-out", f"{name}.pem")
    run("openssl", "pkcs12", "-export", "-inkey", f"{name}.key", "-in", f"{name}.pem", "-certfile", f"{by}.pem", "-name", name,
        "-passout", f"pass:{PASSWORD}", "-out", f"{name}.p12")


def make_stores():
    authority("ca")
    authority("strangers-ca")
    certificate("server", "/O=Partita/CN=localhost", "ca")
    certificate("next-server", "/O=Partita/CN=localhost/OU=next", "ca")
    certificate("alice", "/O=Example, Inc./OU=Sales/CN=Alice", "ca")
    certificate("bob", "/O=Example, Inc./OU=Sales/CN=Bob", "ca")
    certificate("late", "/CN=Late", "ca", days=-1)
    certificate("stranger", "/O=Example, Inc./OU=Sales/CN=Alice", "strangers-ca")
    run("keytool", "-importkeystore", "-noprompt", "-srckeystore", "server.p12", "-srcstorepass", PASSWORD, "-destkeystore", "server.jks",
        "-deststoretype", "JKS", "-deststorepass", PASSWORD, "-destkeypass", "key-secret")
    run("keytool", "-importcert", "-noprompt", "-alias", "ca", "-file", "ca.pem", "-keystore", "trust.jks", "-storetype", "JKS",
        "-storepass", PASSWORD)


def jaas(mechanism, module, options=""):
    return {f"listener.name.sasl_ssl.{mechanism}.sasl.jaas.config": f"{MODULE}{module} required {options};"}


#: The administrator's listener asks for nothing; one tells clients by their certificates, one by logins.
BROKER_PROPERTIES = {
    "listeners": "PLAINTEXT://127.0.0.1:{port},SSL://127.0.0.1:{second_port},SASL_SSL://127.0.0.1:{third_port}",
    "advertised.listeners": "PLAINTEXT://127.0.0.1:{port},SSL://localhost:{second_port},SASL_SSL://localhost:{third_port}",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT",
    "listener.name.ssl.ssl.keystore.location": f"{STORES}/server.jks",
    "listener.name.ssl.ssl.keystore.password": PASSWORD,
    "listener.name.ssl.ssl.key.password": "key-secret",
    "listener.name.ssl.ssl.truststore.location": f"{STORES}/trust.jks",
    "listener.name.ssl.ssl.truststore.password": PASSWORD,
    "listener.name.ssl.ssl.client.auth": "requested",
    "ssl.principal.mapping.rules": "RULE:^CN=([^,]+),OU=Sales.*$/$1/L,DEFAULT",
    "listener.name.sasl_ssl.ssl.keystore.type": "PEM",
    "listener.name.sasl_ssl.ssl.keystore.location": f"{STORES}/served.pem",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
    **jaas("plain", "plain.PlainLoginModule", 'user_admin="admin-secret" user_carol="carol-secret"'),
    **jaas("scram-sha-512", "scram.ScramLoginModule"),
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS;User:admin;User:carol;User:dave",
}


def serve_certificate(name):
    """In place of what is served on SASL_SSL; the file is another one at once."""
    made = STORES / "made.pem"
    made.write_text((STORES / f"{name}.pem").read_text() + (STORES / f"{name}.key").read_text())
    made.rename(STORES / "served.pem")


@pytest.fixture(scope="module", autouse=True)
def stores():
    yield
    shutil.rmtree(STORES, ignore_errors=True)


make_stores()
serve_certificate("server")


@pytest.fixture(scope="module")
def encrypted(broker):
    return f"localhost:{broker.second_port}"


@pytest.fixture(scope="module")
def secured(broker):
    return f"localhost:{broker.third_port}"


def java(protocol, name=None, trust="ca", **more):
    settings = {"security.protocol": protocol, "ssl.truststore.type": "PEM", "ssl.truststore.location": STORES / f"{trust}.pem", **more}
    if name:
        settings.update({"ssl.keystore.type": "PKCS12", "ssl.keystore.location": STORES / f"{name}.p12", "ssl.keystore.password": PASSWORD})
    return settings


def login(name, mechanism="SCRAM-SHA-512"):
    module = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
    return {"sasl.mechanism": mechanism,
            "sasl.jaas.config": f'{MODULE}{module} required username="{name}" password="{name}-secret";'}


@pytest.fixture
def tool_with(tools, tmp_path):
    """A tool with settings of a client."""
    def call(tool, bootstrap, settings, *arguments, seconds=harness.TOOL_DEADLINE_S):
        path = tmp_path / "client.properties"
        path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        option = "--command-config"
        return tools(tool, "--bootstrap-server", bootstrap, option, path, *arguments, seconds=seconds)
    return call


def kcat(bootstrap, *arguments, name=None, trust="ca", **more):
    options = ["-X", "security.protocol=ssl", "-X", f"ssl.ca.location={STORES}/{trust}.pem"]
    if name:
        options += ["-X", f"ssl.certificate.location={STORES}/{name}.pem", "-X", f"ssl.key.location={STORES}/{name}.key"]
    return subprocess.run(["kcat", "-b", bootstrap, *options, *arguments], capture_output=True, text=True, timeout=60, **more)


def log_says(broker, pattern):
    harness.wait_until(lambda: re.search(pattern, broker.log_path.read_text()), 10, f"a line with {pattern}")


# ---- who is let in ----


def test_the_tools_speak_tls_without_saying_who_they_are(tool_with, tools, encrypted, unique):
    topic = unique("topic")
    tools("kafka-topics", "--create", "--topic", topic).succeeded()
    assert topic in tool_with("kafka-topics", encrypted, java("SSL"), "--list").succeeded().lines


def test_a_certificate_says_who_a_client_is_and_acls_go_by_it(tool_with, tools, encrypted, unique):
    topic, hidden = unique("seen"), unique("hidden")
    for name in (topic, hidden):
        tools("kafka-topics", "--create", "--topic", name).succeeded()
    tools("kafka-acls", "--add", "--allow-principal", "User:alice", "--operation", "Describe", "--topic", topic).succeeded()

    def listed():
        assert [name for name in tool_with("kafka-topics", encrypted, java("SSL", "alice"), "--list").succeeded().lines
                if name in (topic, hidden)] == [topic]
    harness.at_once(listed)
    assert topic not in tool_with("kafka-topics", encrypted, java("SSL", "bob"), "--list").succeeded().lines


def test_the_tools_log_in_over_tls(tool_with, tools, secured):
    tools("kafka-configs", "--alter", "--entity-type", "users", "--entity-name", "dave", "--add-config",
          "SCRAM-SHA-512=[password=dave-secret]").succeeded()
    for name, mechanism in (("dave", "SCRAM-SHA-512"), ("carol", "PLAIN")):
        settings = {**java("SASL_SSL"), **login(name, mechanism)}
        harness.at_once(lambda: tool_with("kafka-topics", secured, settings, "--list").succeeded())


def test_kcat_writes_and_reads_a_megabyte_over_tls(tools, encrypted, unique):
    topic = unique("topic")
    tools("kafka-topics", "--create", "--topic", topic).succeeded()
    lines = "".join(f"{number} {'x' * 900}\n" for number in range(1200))
    sent = kcat(encrypted, "-P", "-t", topic, input=lines)
    assert sent.returncode == 0, sent
    read = kcat(encrypted, "-C", "-t", topic, "-e", "-q", "-o", "beginning")
    assert read.returncode == 0 and read.stdout == lines


def test_the_newest_librdkafka_speaks_tls_and_shows_its_certificate(encrypted, secured):
    script = """
import json, sys
from confluent_kafka.admin import AdminClient
for settings in json.load(sys.stdin):
    print(AdminClient(settings).list_topics(timeout=20).cluster_id)
"""
    common = {"ssl.ca.location": f"{STORES}/ca.pem"}
    settings = [{"bootstrap.servers": encrypted, "security.protocol": "SSL", **common},
                {"bootstrap.servers": encrypted, "security.protocol": "SSL", **common, "ssl.keystore.location": f"{STORES}/alice.p12",
                 "ssl.keystore.password": PASSWORD},
                {"bootstrap.servers": secured, "security.protocol": "SASL_SSL", **common, "sasl.mechanisms": "PLAIN",
                 "sasl.username": "carol", "sasl.password": "carol-secret"}]
    done = subprocess.run([harness.TOOLS / "venv/bin/python", "-c", script], input=json.dumps(settings), capture_output=True, text=True,
                          timeout=90)
    assert done.returncode == 0 and len(done.stdout.split()) == 3 and len(set(done.stdout.split())) == 1, done


# ---- who is not ----


def test_certificates_of_strangers_and_expired_ones_are_refused(tool_with, broker, encrypted):
    # Java shows no certificate whose issuer the broker does not name; librdkafka does.
    assert kcat(encrypted, "-L", "-m", "5", name="stranger").returncode != 0
    log_says(broker, "certificate verify failed: self-signed certificate in certificate chain|unable to get local issuer")
    done = tool_with("kafka-topics", encrypted, java("SSL", "late"), "--list")
    # With TLS 1.3 the client has finished its handshake when it hears of that.
    assert done.code == 1 and re.search("SSL handshake failed|Failed to process post-handshake messages", done.out + done.err), done
    log_says(broker, "certificate verify failed: certificate has expired")


def test_who_does_not_believe_the_broker_is_told_from_others(tool_with, broker, encrypted):
    done = tool_with("kafka-topics", encrypted, java("SSL", trust="strangers-ca"), "--list")
    assert done.code == 1 and "SSL handshake failed" in done.out + done.err, done
    log_says(broker, "the client does not trust the broker's certificate")


def test_tls_1_1_is_refused(broker):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    with socket.create_connection(("127.0.0.1", broker.second_port), timeout=60) as plain:
        with pytest.raises(ssl.SSLError):
            context.wrap_socket(plain)
    log_says(broker, "unsupported protocol .the client offers no version of ssl.enabled.protocols")


def test_clients_without_tls_at_its_port_and_with_it_elsewhere_are_closed(broker, encrypted):
    done = subprocess.run(["kcat", "-b", encrypted, "-L", "-m", "2"], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    log_says(broker, "the client does not speak TLS")
    done = kcat(broker.bootstrap, "-L", "-m", "2")
    assert done.returncode != 0
    log_says(broker, "a TLS handshake came to")


# ---- what changes ----


def served_certificate(port):
    return ssl.get_server_certificate(("127.0.0.1", port)).split()


@pytest.mark.skipif(harness.TARGET != "partita", reason="Kafka does not look at files by itself")
def test_a_store_that_changes_on_disk_is_taken(broker, tool_with, secured):
    before = served_certificate(broker.third_port)
    assert before == (STORES / "server.pem").read_text().split()
    (STORES / "served.pem").write_text("half a file")
    log_says(broker, "cannot use the changed TLS settings; the listener keeps")
    assert served_certificate(broker.third_port) == before
    serve_certificate("next-server")
    harness.wait_until(lambda: served_certificate(broker.third_port) == (STORES / "next-server.pem").read_text().split(), 10,
                       "the new certificate")
    tool_with("kafka-topics", secured, {**java("SASL_SSL"), **login("carol", "PLAIN")}, "--list").succeeded()


def test_a_store_that_is_named_by_kafka_configs_is_taken(broker, tools):
    before = served_certificate(broker.second_port)
    prefix = "listener.name.ssl.ssl."
    changes = {"keystore.location": f"{STORES}/next-server.p12", "keystore.type": "PKCS12", "keystore.password": PASSWORD,
               "key.password": PASSWORD}
    tools("kafka-configs", "--alter", "--entity-type", "brokers", "--entity-name", "1", "--add-config",
          ",".join(f"{prefix}{key}={value}" for key, value in changes.items())).succeeded()
    harness.wait_until(lambda: served_certificate(broker.second_port) == (STORES / "next-server.pem").read_text().split(), 10,
                       "the new certificate")
    assert served_certificate(broker.second_port) != before
