"""`partita plan --bootstrap` with kcat's settings (-X key=value), which are librdkafka's: a broker behind TLS, and a Kafka that wants SASL."""

import contextlib
import json
import os
import socket
import ssl
import subprocess
import threading

import pytest

import harness

RECORDS = 200


class TlsFront:
    """Ends TLS before a broker: what comes in goes to it, and back."""

    def __init__(self, directory):
        self.certificate, key = directory / "certificate.pem", directory / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", self.certificate],
                       check=True, capture_output=True)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.certificate, key)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def serve(self, broker):
        while True:
            try:
                accepted, _ = self.listener.accept()
            except OSError:
                return  # Closed: the test is over.
            threading.Thread(target=self.forward, args=(accepted, broker), daemon=True).start()

    def forward(self, accepted, broker):
        # A client that does not want this certificate, or speaks no TLS, goes away within the handshake.
        with contextlib.suppress(OSError), self.context.wrap_socket(accepted, server_side=True) as secured, \
                socket.create_connection((broker.host, broker.port)) as plain:
            back = threading.Thread(target=self.pump, args=(plain, secured), daemon=True)
            back.start()
            self.pump(secured, plain)
            back.join()

    @staticmethod
    def pump(source, target):
        with contextlib.suppress(OSError):
            while received := source.recv(65536):
                target.sendall(received)
            target.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def front(tmp_path_factory):
    front = TlsFront(tmp_path_factory.mktemp("tls"))
    with harness.start_broker({"advertised.listeners": f"PLAINTEXT://127.0.0.1:{front.port}"}) as broker:
        threading.Thread(target=front.serve, args=(broker,), daemon=True).start()
        yield front
        front.listener.close()


def secured(front):
    return ["-X", "security.protocol=ssl", "-X", f"ssl.ca.location={front.certificate}"]


def plan(front, *arguments):
    binary = os.environ.get("PARTITA_BINARY") or str(harness.HERE.parents[1] / "build" / "release" / "partita")
    return subprocess.run([binary, "plan", *arguments, "--bootstrap", f"127.0.0.1:{front.port}"], capture_output=True, text=True,
                          timeout=60)


def test_a_plan_is_made_through_tls(front, unique):
    topic = unique("topic")
    lines = "".join(f"key-{index}:value\n" for index in range(RECORDS))
    subprocess.run(["kcat", "-b", f"127.0.0.1:{front.port}", *secured(front), "-P", "-K", ":", "-t", topic], input=lines, text=True,
                   check=True, timeout=30)
    done = plan(front, topic, "--to", "4", "--json", "--partitioner", "librdkafka", *secured(front))
    assert done.returncode == 3, done.stderr
    judged = json.loads(done.stdout)
    assert (judged["from"], judged["to"]) == (1, 4)
    assert judged["scanned"]["records"] == judged["scanned"]["keys"] == RECORDS
    assert 0 < judged["moved"]["keys"] < RECORDS


@pytest.mark.parametrize("settings, told", [([], "security.protocol"), (["-X", "security.protocol=ssl"], "certificate")])
def test_without_the_right_settings_it_ends_with_a_sentence(front, settings, told):
    done = plan(front, "x", "--to", "4", *settings)
    assert done.returncode not in (0, 3)
    assert done.stdout == ""
    assert told in done.stderr.lower(), done.stderr


@pytest.fixture(scope="module")
def kafka_with_passwords():
    """A real Kafka whose only listener for clients is SASL_PLAINTEXT, with the mechanism PLAIN and one user."""
    jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_reader="secret" ;'
    broker = harness.KafkaBroker({
        "listener.security.protocol.map": "CLIENTS:SASL_PLAINTEXT,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "listener.name.clients.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.clients.plain.sasl.jaas.config": jaas,
    })
    port = harness.free_port()
    text = broker.configuration.read_text()
    # The harness waits for the listener without passwords.
    plain = f"PLAINTEXT://127.0.0.1:{broker.port}"
    text = text.replace(f"listeners={plain},", f"listeners={plain},CLIENTS://127.0.0.1:{port},")
    text = text.replace(f"advertised.listeners={plain}", f"advertised.listeners={plain},CLIENTS://127.0.0.1:{port}")
    broker.configuration.write_text(text)
    with broker:
        broker.clients_port = port
        yield broker


def sasl(password):
    return ["-X", "security.protocol=sasl_plaintext", "-X", "sasl.mechanism=PLAIN", "-X", "sasl.username=reader",
            "-X", f"sasl.password={password}"]


def plan_of_kafka(broker, *arguments):
    binary = os.environ.get("PARTITA_BINARY") or str(harness.HERE.parents[1] / "build" / "release" / "partita")
    return subprocess.run([binary, "plan", *arguments, "--bootstrap", f"127.0.0.1:{broker.clients_port}"], capture_output=True,
                          text=True, timeout=60)


def test_a_plan_is_made_of_a_kafka_that_wants_a_password(kafka_with_passwords, unique):
    topic = unique("topic")
    lines = "".join(f"key-{index}:value\n" for index in range(RECORDS))
    subprocess.run(["kcat", "-b", f"127.0.0.1:{kafka_with_passwords.clients_port}", *sasl("secret"), "-P", "-K", ":", "-t", topic],
                   input=lines, text=True, check=True, timeout=30)
    done = plan_of_kafka(kafka_with_passwords, topic, "--to", "4", "--json", "--partitioner", "librdkafka", *sasl("secret"))
    assert done.returncode == 3, done.stderr
    judged = json.loads(done.stdout)
    assert judged["scanned"]["records"] == judged["scanned"]["keys"] == RECORDS
    assert 0 < judged["moved"]["keys"] < RECORDS


def test_a_wrong_password_ends_with_a_sentence(kafka_with_passwords):
    done = plan_of_kafka(kafka_with_passwords, "x", "--to", "4", *sasl("wrong"))
    assert done.returncode not in (0, 3)
    assert done.stdout == ""
    assert "authentication" in done.stderr.lower(), done.stderr
