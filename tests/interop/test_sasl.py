"""Clients that log in by SASL: Kafka's tools, the Java client, librdkafka of two releases, and tokens that somebody signs."""

import base64
import json
import re
import socket
import struct
import subprocess
import threading
import time

import pytest

import commands
import harness

MODULE = "org.apache.kafka.common.security."


def jaas(mechanism, module, options=""):
    return {f"listener.name.sasl_plaintext.{mechanism}.sasl.jaas.config": f"{MODULE}{module} required {options};"}


#: Beside the listener that asks for nothing, one that wants a login, and one for signed tokens, whose keys a fixture makes.
BROKER_PROPERTIES = {
    "listeners": "PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{second_port}",
    "advertised.listeners": "PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{second_port}",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
    "listener.name.sasl_plaintext.plain.connections.max.reauth.ms": "6000",
    **jaas("plain", "plain.PlainLoginModule", 'user_admin="admin-secret" user_alice="alice-secret"'),
    **jaas("scram-sha-256", "scram.ScramLoginModule"),
    **jaas("scram-sha-512", "scram.ScramLoginModule"),
    **jaas("oauthbearer", "oauthbearer.OAuthBearerLoginModule", 'unsecuredLoginStringClaim_sub="broker"'),
}


@pytest.fixture(scope="module")
def secured(broker):
    """Where clients have to log in."""
    return f"127.0.0.1:{broker.second_port}"


class User:
    """How a user is configured, for Java and for librdkafka."""

    def __init__(self, mechanism, name, password):
        self.mechanism, self.name, self.password = mechanism, name, password

    def java(self):
        module = "plain.PlainLoginModule" if self.mechanism == "PLAIN" else "scram.ScramLoginModule"
        return {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": self.mechanism,
                "sasl.jaas.config": f'{MODULE}{module} required username="{self.name}" password="{self.password}";'}

    def librdkafka(self):
        return {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanisms": self.mechanism, "sasl.username": self.name,
                "sasl.password": self.password}


class Bearer(User):
    def __init__(self, name):
        super().__init__("OAUTHBEARER", name, None)

    def java(self):
        login = f"{MODULE}oauthbearer.internals.unsecured.OAuthBearerUnsecuredLoginCallbackHandler"
        return {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER", "sasl.login.callback.handler.class": login,
                "sasl.jaas.config": f'{MODULE}oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="{self.name}";'}

    def librdkafka(self):
        return {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanisms": "OAUTHBEARER", "enable.sasl.oauthbearer.unsecure.jwt": "true",
                "sasl.oauthbearer.config": f"principal={self.name}"}


ALICE = User("PLAIN", "alice", "alice-secret")


@pytest.fixture(scope="module")
def scram_users(tools):
    """One user with credentials for both mechanisms, made as administrators make them."""
    for credential in ("SCRAM-SHA-256=[iterations=8192,password=bob-secret]", "SCRAM-SHA-512=[password=bob-secret]"):
        done = tools("kafka-configs", "--alter", "--entity-type", "users", "--entity-name", "bob", "--add-config", credential).succeeded()
        assert "Completed updating config for user bob." in done.out
    users = [User("SCRAM-SHA-256", "bob", "bob-secret"), User("SCRAM-SHA-512", "bob", "bob-secret")]

    def described():
        out = tools("kafka-configs", "--describe", "--entity-type", "users", "--entity-name", "bob").succeeded().out
        assert "SCRAM-SHA-256=iterations=8192" in out and "SCRAM-SHA-512=iterations=4096" in out, out
    harness.at_once(described)
    return users


def properties_file(directory, settings):
    path = directory / "client.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return path


def list_topics(tools, secured, directory, user):
    return tools("kafka-topics", "--bootstrap-server", secured, "--command-config", properties_file(directory, user.java()), "--list")


def kcat(secured, user, *arguments, **more):
    options = [word for key, value in user.librdkafka().items() for word in ("-X", f"{key}={value}")]
    return subprocess.run(["kcat", "-b", secured, *options, *arguments], capture_output=True, text=True, timeout=60, **more)


def round_trip(secured, user, topic):
    sent = kcat(secured, user, "-P", "-t", topic, input=f"of {user.name}\n")
    assert sent.returncode == 0, sent
    read = kcat(secured, user, "-C", "-t", topic, "-e", "-q", "-o", "beginning")
    assert read.returncode == 0 and read.stdout == f"of {user.name}\n", read


# ---- who is let in ----


def test_the_tools_log_in_by_plain(tools, secured, tmp_path, unique):
    topic = unique("topic")
    tools("kafka-topics", "--create", "--topic", topic).succeeded()

    def listed():
        assert topic in list_topics(tools, secured, tmp_path, ALICE).succeeded().lines
    harness.at_once(listed)


def test_the_tools_log_in_by_scram_as_soon_as_the_user_is_made(tools, secured, tmp_path, scram_users):
    for user in scram_users:
        harness.at_once(lambda: list_topics(tools, secured, tmp_path, user).succeeded())


def test_the_tools_log_in_by_a_token_that_nobody_signed(tools, secured, tmp_path):
    list_topics(tools, secured, tmp_path, Bearer("carol")).succeeded()


def test_a_user_that_is_no_more_is_let_in_no_more(tools, secured, tmp_path):
    user = User("SCRAM-SHA-512", "guest", "guest-secret")
    entity = ("--entity-type", "users", "--entity-name", "guest")
    tools("kafka-configs", "--alter", *entity, "--add-config", "SCRAM-SHA-512=[password=guest-secret]").succeeded()
    harness.at_once(lambda: list_topics(tools, secured, tmp_path, user).succeeded())
    tools("kafka-configs", "--alter", *entity, "--delete-config", "SCRAM-SHA-512").succeeded()

    def refused():
        assert list_topics(tools, secured, tmp_path, user).code != 0
    harness.at_once(refused)


def test_kcat_logs_in_by_passwords_and_tokens(tools, secured, unique):
    for user in [ALICE, Bearer("carol")]:
        topic = unique("topic")
        tools("kafka-topics", "--create", "--topic", topic).succeeded()
        round_trip(secured, user, topic)


def test_the_newest_librdkafka_logs_in_by_every_mechanism(secured, scram_users):
    script = """
import json, sys
from confluent_kafka.admin import AdminClient
for settings in json.load(sys.stdin):
    print(AdminClient(settings).list_topics(timeout=10).cluster_id)
"""
    settings = [{"bootstrap.servers": secured, **user.librdkafka()} for user in [ALICE, *scram_users, Bearer("carol")]]
    done = subprocess.run([harness.TOOLS / "venv/bin/python", "-c", script], input=json.dumps(settings), capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0 and len(set(done.stdout.split())) == 1, done


# ---- who is not ----


def text_of(result):
    return result.out + result.err


def test_the_tools_show_why_a_password_is_refused(tools, secured, tmp_path):
    done = list_topics(tools, secured, tmp_path, User("PLAIN", "alice", "wrong"))
    assert done.code == 1
    assert "Authentication failed: Invalid username or password" in text_of(done), done


def test_the_tools_do_not_hear_whether_there_is_such_a_user(tools, secured, tmp_path, scram_users):
    for name in ("bob", "nobody"):
        done = list_topics(tools, secured, tmp_path, User("SCRAM-SHA-256", name, "wrong"))
        assert done.code == 1
        assert "Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256" in text_of(done), done


def test_kcat_shows_why_a_password_is_refused(secured):
    done = kcat(secured, User("PLAIN", "alice", "wrong"), "-L", "-m", "2")
    assert done.returncode != 0
    assert "Authentication failed: Invalid username or password" in done.stderr, done


def test_a_librdkafka_that_repeats_another_nonce_is_refused(secured, scram_users):
    """Before 2.6.1 it puts its own nonce before the broker's once more. Kafka notices since CVE-2024-56128."""
    version = re.search(r"librdkafka (\d+)\.(\d+)\.(\d+)", subprocess.run(["kcat", "-V"], capture_output=True, text=True, check=True).stdout)
    is_old = tuple(map(int, version.groups())) < (2, 6, 1)
    for user in scram_users:
        done = kcat(secured, user, "-L", "-m", "2")
        assert (done.returncode != 0) == is_old, done
        assert is_old == (f"due to invalid credentials with SASL mechanism {user.mechanism}" in done.stderr), done


def test_kcat_shows_which_mechanisms_there_are(secured):
    done = kcat(secured, User("GSSAPI", "alice", "x"), "-L", "-m", "2", "-X", "sasl.kerberos.kinit.cmd=true")
    assert done.returncode != 0
    assert re.search(r"[Uu]nsupported|not supported", done.stderr), done
    assert re.search(r"PLAIN.*SCRAM-SHA-512.*SCRAM-SHA-256.*OAUTHBEARER", done.stderr), done


def test_who_does_not_log_in_is_not_served(tools, secured):
    done = subprocess.run(["kcat", "-b", secured, "-L", "-m", "2"], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0


# ---- users that a Kafka had ----


@pytest.mark.skipif(harness.TARGET != "partita", reason="needs the broker's files")
@pytest.mark.parametrize("form", ["static voters", "standalone"])
def test_users_of_kafka_storage_log_in_to_the_directory_that_it_formatted(form, tmp_path):
    """KIP-900: `kafka-storage format --add-scram`, of a Kafka with a static quorum and of one with a dynamic one."""
    broker = harness.PartitaBroker({**BROKER_PROPERTIES, "node.id": 1})
    settings = {"node.id": 1, "process.roles": "broker,controller", "log.dirs": broker.data_directory, "controller.listener.names": "CONTROLLER",
                "listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093"}
    if form == "static voters":
        settings["controller.quorum.voters"] = "1@127.0.0.1:9093"
    else:
        settings["controller.quorum.bootstrap.servers"] = "127.0.0.1:9093"
    configuration = properties_file(tmp_path, settings)
    harness.run_java("kafka.tools.StorageTool", "format", "-t", harness.CLUSTER_ID, "-c", str(configuration), "--add-scram",
                     "SCRAM-SHA-256=[name=frank,password=frank-secret]", "--add-scram", "SCRAM-SHA-512=[name=frank,password=frank-secret]",
                     *(["--standalone"] if form == "standalone" else []))
    with broker:
        own = commands.Commands(f"127.0.0.1:{broker.second_port}")
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
            user = User(mechanism, "frank", "frank-secret")
            own("kafka-topics", "--command-config", properties_file(tmp_path, user.java()), "--list").succeeded()
        own.close()


# ---- our own commands ----


@pytest.fixture(scope="module")
def own(secured):
    if harness.TARGET != "partita":
        pytest.skip("they are tried with our broker")
    runner = commands.Commands(secured)
    yield runner
    runner.close()


def test_our_commands_log_in_by_passwords(own, tools, tmp_path, unique, scram_users):
    topic = unique("topic")
    tools("kafka-topics", "--create", "--topic", topic).succeeded()
    for user in [ALICE, *scram_users]:
        assert topic in own("kafka-topics", "--command-config", properties_file(tmp_path, user.java()), "--list").succeeded().lines


def test_our_commands_show_why_they_are_not_let_in(own, tmp_path, scram_users):
    for user, why in ((User("PLAIN", "alice", "wrong"), "Authentication failed: Invalid username or password"),
                      (User("SCRAM-SHA-256", "bob", "wrong"), "due to invalid credentials with SASL mechanism SCRAM-SHA-256"),
                      (Bearer("carol"), "sasl.mechanism=OAUTHBEARER is not served")):
        done = own("kafka-topics", "--command-config", properties_file(tmp_path, user.java()), "--list")
        assert done.code == 1 and why in text_of(done), done


# ---- sessions ----


def test_a_java_client_logs_in_again_and_misses_nothing(tools, secured, tmp_path, unique, broker):
    topic = unique("topic")
    tools("kafka-topics", "--create", "--topic", topic).succeeded()
    count = 6

    def produce():
        for number in range(count):
            time.sleep(1.5)  # Its sessions last for six seconds.
            assert kcat(f"127.0.0.1:{broker.port}", Plain(), "-P", "-t", topic, input=f"{number}\n").returncode == 0

    producer = threading.Thread(target=produce)
    producer.start()
    watch = harness.Stopwatch()
    read = tools("kafka-console-consumer", "--bootstrap-server", secured, "--command-config", properties_file(tmp_path, ALICE.java()),
                 "--topic", topic, "--from-beginning", "--max-messages", count, "--timeout-ms", 30000).succeeded()
    producer.join()
    assert read.lines == [str(number) for number in range(count)], read
    # It logs in a third of a second before the end or earlier: too late, and on a new connection, where others have the processors.
    if broker.kind == "partita" and watch.short_s() < watch.seconds() / 3:
        assert "the session of the login has ended" not in broker.log_text(400)


class Plain:
    """Nobody."""

    def librdkafka(self):
        return {"security.protocol": "PLAINTEXT"}


# ---- signed tokens, by hand: a client with a token of an issuer needs an issuer ----


def url_base64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """Signs tokens with RSA, by openssl."""

    def __init__(self, directory):
        self.key = directory / "issuer.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", self.key], check=True,
                       capture_output=True)
        modulus = subprocess.run(["openssl", "rsa", "-in", self.key, "-noout", "-modulus"], check=True, capture_output=True, text=True).stdout
        number = bytes.fromhex(modulus.strip().split("=")[1])
        self.key_set = directory / "keys.json"
        self.key_set.write_text(json.dumps({"keys": [
            {"kty": "RSA", "kid": "1", "use": "sig", "alg": "RS256", "n": url_base64(number), "e": "AQAB"}]}))

    def token(self, **claims):
        now = int(time.time())
        header = url_base64(json.dumps({"alg": "RS256", "kid": "1"}).encode())
        body = url_base64(json.dumps({"sub": "dave", "iat": now, "exp": now + 600, "iss": "https://issuer", "aud": "kafka", **claims}).encode())
        signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.key], input=f"{header}.{body}".encode(), check=True,
                                   capture_output=True).stdout
        return f"{header}.{body}.{url_base64(signature)}"


@pytest.fixture(scope="module")
def issuer(tmp_path_factory):
    return Issuer(tmp_path_factory.mktemp("issuer"))


@pytest.fixture(scope="module")
def token_broker(issuer):
    if harness.TARGET != "partita":
        pytest.skip("Kafka reads key sets from files that a system property names")
    prefix = "listener.name.sasl_plaintext.oauthbearer."
    properties = {
        "listeners": "PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{second_port}",
        "advertised.listeners": "PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{second_port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        **jaas("oauthbearer", "oauthbearer.OAuthBearerLoginModule"),
        prefix + "sasl.server.callback.handler.class": MODULE + "oauthbearer.OAuthBearerValidatorCallbackHandler",
        prefix + "sasl.oauthbearer.jwks.endpoint.url": issuer.key_set.as_uri(),
        prefix + "sasl.oauthbearer.expected.audience": "kafka",
        prefix + "sasl.oauthbearer.expected.issuer": "https://issuer",
    }
    with harness.start_broker(properties) as broker:
        yield broker


def ask(connection, key, version, body):
    header = struct.pack(">hhih", key, version, 1, -1)
    connection.sendall(struct.pack(">i", len(header) + len(body)) + header + body)
    size = struct.unpack(">i", harness.read_exactly(connection, 4))[0]
    return harness.read_exactly(connection, size)[4:]


def bearer_login(broker, token):
    """Error, text and bytes of the broker's answer to the token, and its answer to what a client says then."""
    with socket.create_connection(("127.0.0.1", broker.second_port), timeout=60) as connection:
        mechanism = b"OAUTHBEARER"
        hands = ask(connection, 17, 1, struct.pack(">h", len(mechanism)) + mechanism)
        assert hands[:2] == b"\0\0", hands
        message = b"n,,\x01auth=Bearer " + token.encode() + b"\x01\x01"
        first = ask(connection, 36, 1, struct.pack(">i", len(message)) + message)
        if b"invalid_token" not in first:
            return first
        return ask(connection, 36, 1, struct.pack(">i", 1) + b"\x01")


def test_a_token_that_the_issuer_signed_logs_in_for_its_lifetime(token_broker, issuer):
    answer = bearer_login(token_broker, issuer.token())
    assert answer[:2] == b"\0\0", answer
    (lifetime_ms,) = struct.unpack(">q", answer[-8:])
    assert 590_000 < lifetime_ms <= 600_000


def test_tokens_of_others_or_for_others_or_that_expired_do_not(token_broker, issuer, tmp_path):
    stranger = Issuer(tmp_path)
    genuine = issuer.token()
    head, body, signature = genuine.split(".")
    unsigned = url_base64(b'{"alg":"none"}') + "." + body + "."
    for token in (stranger.token(), unsigned, f"{head}.{url_base64(b'{}')}.{signature}", issuer.token(aud="another"),
                  issuer.token(iss="https://another"), issuer.token(exp=int(time.time()) - 60), issuer.token(sub="")):
        answer = bearer_login(token_broker, token)
        error, length = struct.unpack(">hh", answer[:4])
        assert error == 58 and answer[4:4 + length] == b'{"status":"invalid_token"}', (token, answer)
