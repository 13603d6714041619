"""Tokens of OAUTHBEARER whose issuer gives its keys out by HTTPS: librdkafka's clients, keys that change, and an issuer that fails."""

import base64
import contextlib
import http.server
import json
import pathlib
import re
import ssl
import subprocess
import tempfile
import threading
import time

import pytest

import harness

MODULE = "org.apache.kafka.common.security."
PREFIX = "listener.name.sasl_plaintext.oauthbearer."


def url_base64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*arguments, **more):
    return subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, **more).stdout


class Key:
    """Signs tokens with RSA, by openssl."""

    def __init__(self, directory, name):
        self.name, self.path = name, directory / f"{name}.pem"
        openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", self.path)
        number = openssl("rsa", "-in", self.path, "-noout", "-modulus", text=True).strip().split("=")[1]
        self.public = {"kty": "RSA", "kid": name, "use": "sig", "alg": "RS256", "n": url_base64(bytes.fromhex(number)), "e": "AQAB"}

    def token(self, **claims):
        now = int(time.time())
        header = url_base64(json.dumps({"alg": "RS256", "kid": self.name}).encode())
        body = url_base64(json.dumps({"sub": "dave", "iat": now, "exp": now + 600, **claims}).encode())
        return f"{header}.{body}." + url_base64(openssl("dgst", "-sha256", "-sign", self.path, input=f"{header}.{body}".encode()))


class Issuer:
    """Serves a key set over HTTPS, and says how often it was asked."""

    def __init__(self, directory):
        self.directory, self.keys, self.asked, self.answer = directory, [], 0, None
        openssl("req", "-x509", "-newkey", "rsa:2048", "-noenc", "-keyout", directory / "https.key", "-out", directory / "https.pem",
                "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
        issuer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                issuer.asked += 1
                status, body = issuer.answer or (200, json.dumps({"keys": [key.public for key in issuer.keys]}).encode())
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(directory / "https.pem", directory / "https.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"https://localhost:{self.server.server_port}/keys"

    def properties(self, trusted=True, **more):
        options = f'ssl.truststore.type="PEM" ssl.truststore.location="{self.directory}/https.pem"' if trusted else ""
        return {
            "listeners": "PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{second_port}",
            "advertised.listeners": "PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{second_port}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
            "sasl.enabled.mechanisms": "OAUTHBEARER",
            PREFIX + "sasl.jaas.config": f"{MODULE}oauthbearer.OAuthBearerLoginModule required {options};",
            PREFIX + "sasl.server.callback.handler.class": MODULE + "oauthbearer.OAuthBearerValidatorCallbackHandler",
            PREFIX + "sasl.oauthbearer.jwks.endpoint.url": self.url,
            **more}


@pytest.fixture(scope="module")
def issuer():
    if harness.TARGET != "partita":
        pytest.skip("Kafka takes URLs that a system property names")
    with tempfile.TemporaryDirectory(prefix="partita-issuer-") as directory:
        issuer = Issuer(pathlib.Path(directory))
        yield issuer
        issuer.server.shutdown()


@pytest.fixture
def keys(issuer):
    """The first is served, the second not yet."""
    issuer.answer, issuer.asked = None, 0
    made = [Key(issuer.directory, name) for name in ("one", "two")]
    issuer.keys = made[:1]
    return made


LOGIN = """
import sys
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
token = sys.argv[2]
client = AdminClient({"bootstrap.servers": sys.argv[1], "security.protocol": "SASL_PLAINTEXT", "sasl.mechanisms": "OAUTHBEARER",
                      "oauth_cb": lambda _: (token, 1e12)})
client.poll(1)
try:
    print(client.list_topics(timeout=float(sys.argv[3])).cluster_id)
except KafkaException as error:
    print("refused", error)
"""


def login(broker, token, seconds=20):
    """By librdkafka: the id of the cluster, or refused. It tries again until the time is over."""
    done = subprocess.run([harness.TOOLS / "venv/bin/python", "-c", LOGIN, f"127.0.0.1:{broker.second_port}", token, str(seconds)],
                          capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done
    return done.stdout.strip()


def test_a_token_by_a_key_of_the_set_logs_in_and_one_by_another_does_not(issuer, keys):
    with harness.start_broker(issuer.properties()) as broker:
        assert re.fullmatch(r"[\w-]{22}", login(broker, keys[0].token()))
        assert issuer.asked == 1
        assert login(broker, keys[0].token(exp=int(time.time()) - 60), 3).startswith("refused")
        stranger = Key(issuer.directory, "stranger")
        stranger.name = "one"
        assert login(broker, stranger.token(), 3).startswith("refused")
        assert issuer.asked == 1, "a key that there is was not missed"


def test_a_key_that_the_issuer_has_since_is_fetched_for_its_first_token(issuer, keys):
    with harness.start_broker(issuer.properties()) as broker:
        assert issuer.asked == 1
        issuer.keys = keys
        # The first attempt is refused, and has the set fetched; librdkafka tries again.
        assert re.fullmatch(r"[\w-]{22}", login(broker, keys[1].token()))
        assert issuer.asked == 2


def test_whatever_strangers_name_the_issuer_is_asked_once_in_a_second(issuer, keys):
    with harness.start_broker(issuer.properties()) as broker:
        began = time.monotonic()
        for each in range(5):
            keys[1].name = f"stranger-{each}"
            assert login(broker, keys[1].token(), 1).startswith("refused")
        assert 2 <= issuer.asked <= 2 + (time.monotonic() - began)


def test_while_the_issuer_fails_the_keys_from_before_count(issuer, keys):
    refresh = {"sasl.oauthbearer.jwks.endpoint.refresh.ms": "500", "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": "200",
               "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": "200"}
    with harness.start_broker(issuer.properties(**refresh)) as broker:
        for answer in ((500, b"no"), (200, b"no JSON"), (200, b'{"keys":[]}'), (200, b"x" * 3_000_000), (302, b"")):
            issuer.answer, asked = answer, issuer.asked
            harness.wait_until(lambda: issuer.asked > asked + 1, 10, "two more fetches")
            assert re.fullmatch(r"[\w-]{22}", login(broker, keys[0].token()))
        log = broker.log_path.read_text()
        assert log.count("cannot fetch the OAUTHBEARER key set") == 1 and "the answer is 500, not 200" in log
        issuer.answer, issuer.keys = None, keys
        harness.wait_until(lambda: "can be fetched again" in broker.log_path.read_text(), 10, "the end of the failure")
        assert re.fullmatch(r"[\w-]{22}", login(broker, keys[1].token()))


@pytest.mark.parametrize("why", ["it is not trusted", "it has no keys"])
def test_an_issuer_that_cannot_be_used_ends_the_start_with_one_line(issuer, keys, why):
    if why == "it has no keys":
        issuer.keys = []
    fast = {"sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": "20000", "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": "20000"}
    with pytest.raises(Exception) as refused:
        with harness.start_broker(issuer.properties(trusted=why != "it is not trusted", **fast)):
            pass
    assert "sasl.oauthbearer.jwks.endpoint.url=https://localhost:" in str(refused.value), refused.value
