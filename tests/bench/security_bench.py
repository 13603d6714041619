"""What security costs, beside Apache Kafka: TLS for records, handshakes, logins by SCRAM, and rules of who may do what.

    scripts/bench security [--megabytes N] [--seconds N] [--rounds N] [--only partita|kafka]

The clients are the same for both brokers: kcat, `openssl s_time`, and a few lines here. As they share the machine with the broker,
the broker's processor time says more than the rate. Needs what tests/interop/fetch_tools gets.
"""

import argparse
import base64
import contextlib
import hashlib
import hmac
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/interop"))

import harness  # noqa: E402

MODULE = "org.apache.kafka.common.security."
TICKS = os.sysconf("SC_CLK_TCK")
LOGINS = 1_000
RULES = 10_000
QUESTIONS = 100_000


def processor_ms(broker):
    fields = (pathlib.Path("/proc") / str(broker.process.pid) / "stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / TICKS


@contextlib.contextmanager
def measured(broker, said):
    """Adds wall and processor time to `said`."""
    processor, began = processor_ms(broker), time.monotonic()
    yield
    said["ms"] = (time.monotonic() - began) * 1000
    said["processor_ms"] = processor_ms(broker) - processor


class Kafka(harness.KafkaBroker):
    """With the flags of its own scripts: the tests' start quickly and stay slow."""

    def command(self):
        return ["java", "-Xmx1G", "-Xms1G", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35",
                "-XX:+ExplicitGCInvokesConcurrent", *[part for part in harness.java_command() if part.startswith("-Dlog4j2")],
                "-cp", (harness.TOOLS / "classpath").read_text(), "kafka.Kafka", str(self.configuration)]


def best_of(rounds, run):
    """The best of each figure: the first rounds are for a JVM to get warm."""
    found = [run() for _ in range(rounds)]
    return {name: (max if "/s" in name or "per second" in name else min)(one[name] for one in found) for name in found[0]}


# ---- the protocol, as far as it is needed ----


def text(value):
    data = value.encode()
    return struct.pack(">h", len(data)) + data


def frame(key, version, body, number=1):
    head = struct.pack(">hhih", key, version, number, -1)
    return struct.pack(">i", len(head) + len(body)) + head + body


def reply(connection):
    return harness.read_exactly(connection, struct.unpack(">i", harness.read_exactly(connection, 4))[0])[4:]


def ask(connection, key, version, body):
    connection.sendall(frame(key, version, body))
    return reply(connection)


def authenticate(connection, token):
    said = ask(connection, 36, 1, struct.pack(">i", len(token)) + token)
    assert said[:2] == b"\0\0", said
    (length,) = struct.unpack(">h", said[2:4])
    at = 4 + max(length, 0)
    (size,) = struct.unpack(">i", said[at:at + 4])
    return said[at + 4:at + 4 + size]


class Scram:
    """SCRAM-SHA-256 of one user; the password is hashed once, as clients do that care."""

    def __init__(self, user, password):
        self.user, self.password, self.salted = user, password, {}

    def login(self, connection):
        assert ask(connection, 17, 1, text("SCRAM-SHA-256"))[:2] == b"\0\0"
        bare = f"n={self.user},r={base64.b64encode(os.urandom(18)).decode()}"
        first = authenticate(connection, f"n,,{bare}".encode()).decode()
        nonce, salt, count = re.fullmatch(r"r=([^,]+),s=([^,]+),i=(\d+)", first).groups()
        if salt not in self.salted:
            self.salted[salt] = hashlib.pbkdf2_hmac("sha256", self.password.encode(), base64.b64decode(salt), int(count))
        key = hmac.digest(self.salted[salt], b"Client Key", "sha256")
        final = f"c=biws,r={nonce}"
        signature = hmac.digest(hashlib.sha256(key).digest(), f"{bare},{first},{final}".encode(), "sha256")
        proof = base64.b64encode(bytes(a ^ b for a, b in zip(key, signature))).decode()
        authenticate(connection, f"{final},p={proof}".encode())
        return connection


def add_rules(connection, rules):
    """(principal, topic) each: may describe it."""
    body = struct.pack(">i", len(rules))
    for principal, topic in rules:
        body += struct.pack(">b", 2) + text(topic) + struct.pack(">b", 3) + text(principal) + text("*") + struct.pack(">bb", 8, 3)
    said = ask(connection, 30, 1, body)
    assert struct.unpack(">i", said[4:8])[0] == len(rules), said[:40]


# ---- what is measured ----


def records(broker, address, options, megabytes, lines):
    """kcat writes and reads the same megabytes."""
    topic = f"t{time.monotonic_ns()}"
    written, read = {}, {}
    kcat = ["kcat", "-b", address, *options, "-t", topic, "-p", "0", "-q"]
    subprocess.run([*kcat, "-P"], input=b"first\n", check=True, timeout=120)
    with measured(broker, written), open(lines, "rb") as source:
        subprocess.run([*kcat, "-P", "-X", "linger.ms=5", "-X", "batch.num.messages=1000"], stdin=source, check=True, timeout=600)
    with measured(broker, read), open(os.devnull, "wb") as nowhere:
        subprocess.run([*kcat, "-C", "-o", "beginning", "-e"], stdout=nowhere, check=True, timeout=600)
    return {f"{name} {what}": value for name, said in (("produce", written), ("fetch", read))
            for what, value in (("MB/s", megabytes * 1000 / said["ms"]), ("processor ms per 100 MB", said["processor_ms"] * 100 / megabytes))}


def handshakes(broker, address, seconds, *options):
    said = {}
    with measured(broker, said):
        done = subprocess.run(["openssl", "s_time", "-connect", address, "-time", str(seconds), *options], capture_output=True, text=True,
                              timeout=seconds * 4 + 30)
    count = int(re.findall(r"(\d+) connections in \d+ real seconds", done.stdout)[-1])
    return {"per second": count * 1000 / said["ms"], "processor ms each": said["processor_ms"] / count}


def logins(broker, port, scram):
    connections, said = [], {}
    try:
        with measured(broker, said):
            for _ in range(LOGINS):
                connections.append(scram.login(socket.create_connection(("127.0.0.1", port), timeout=30)))
        return {"ms": said["ms"], "processor ms": said["processor_ms"]}
    finally:
        for connection in connections:
            connection.close()


def questions(broker, port, scram, topic):
    """Requests that need one permission each: Metadata of one topic."""
    connection = scram.login(socket.create_connection(("127.0.0.1", port), timeout=30))
    request, said = frame(3, 1, struct.pack(">i", 1) + text(topic)), {}
    with measured(broker, said):
        for _ in range(QUESTIONS // 100):
            connection.sendall(request * 100)
            for _ in range(100):
                reply(connection)
    connection.close()
    return said["processor_ms"] * 1000 / QUESTIONS


def stores(directory):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-keyout",
                    directory / "key.pem", "-out", directory / "certificate.pem", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
    # Kafka reads keys of PKCS #8 in PEM.
    (directory / "server.pem").write_text((directory / "key.pem").read_text() + (directory / "certificate.pem").read_text())


def properties(directory):
    return {
        "listeners": "PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{second_port},SSL://127.0.0.1:{third_port}",
        "advertised.listeners": "PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{second_port},SSL://127.0.0.1:{third_port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL,CONTROLLER:PLAINTEXT",
        "sasl.enabled.mechanisms": "SCRAM-SHA-256",
        "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config": f"{MODULE}scram.ScramLoginModule required;",
        "listener.name.ssl.ssl.keystore.type": "PEM",
        "listener.name.ssl.ssl.keystore.location": directory / "server.pem",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }


def measure(kind, directory, lines, options):
    make = harness.PartitaBroker if kind == "partita" else Kafka
    figures, before = {}, kernel_tls()
    with make(properties(directory)) as broker:
        plain, secured = f"127.0.0.1:{broker.port}", f"127.0.0.1:{broker.third_port}"
        tls = ["-X", "security.protocol=ssl", "-X", f"ssl.ca.location={directory}/certificate.pem"]
        for name, address, more in (("plain", plain, []), ("TLS", secured, tls)):
            figures.update({f"{name}: {key}": value for key, value in best_of(options.rounds, lambda: records(broker, address, more, options.megabytes, lines)).items()})
        for name, more in (("TLS 1.3", ["-new", "-tls1_3"]), ("TLS 1.2", ["-new", "-tls1_2"]), ("TLS 1.2, resumed", ["-reuse", "-tls1_2"])):
            figures.update({f"handshakes of {name}: {key}": value
                            for key, value in best_of(options.rounds, lambda: handshakes(broker, secured, options.seconds, *more)).items()})
        harness.run_partita("configs", "--bootstrap-server", plain, "--alter", "--entity-type", "users", "--entity-name", "alice",
                            "--add-config", "SCRAM-SHA-256=[password=alice-secret]").succeeded()
        harness.run_partita("topics", "--bootstrap-server", plain, "--create", "--topic", "topic-7").succeeded()
        scram = Scram("alice", "alice-secret")
        harness.wait_until(lambda: logs_in(broker.second_port, scram), 20, "the user")
        figures.update({f"{LOGINS} logins by SCRAM: {key}": value for key, value in best_of(2 * options.rounds, lambda: logins(broker, broker.second_port, scram)).items()})
        with socket.create_connection(("127.0.0.1", broker.port), timeout=60) as admin:
            add_rules(admin, [("User:alice", "topic-7")])
            few = [questions(broker, broker.second_port, scram, "topic-7") for _ in range(3 * options.rounds)]
            add_rules(admin, [(f"User:user-{number % 100}", f"topic-{number}") for number in range(RULES - 1)])
            many = [questions(broker, broker.second_port, scram, "topic-7") for _ in range(3 * options.rounds)]
        figures["a request with 1 rule: processor us"], figures[f"a request with {RULES} rules: processor us"] = min(few), min(many)
    figures["connections encrypted by the kernel"] = kernel_tls() - before
    return figures


def kernel_tls():
    """How many connections the kernel has encrypted for; none where it has no module for that."""
    statistics = pathlib.Path("/proc/net/tls_stat")
    return sum(map(int, re.findall(r"^TlsTx(?:Sw|Device)\s+(\d+)", statistics.read_text(), re.M))) if statistics.exists() else 0


def logs_in(port, scram):
    with contextlib.suppress(AssertionError, OSError), socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        scram.login(connection)
        return True
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["partita", "kafka"])
    options = parser.parse_args()
    kinds = [options.only] if options.only else ["partita", "kafka"]
    with tempfile.TemporaryDirectory(prefix="partita-security-") as name:
        directory = pathlib.Path(name)
        stores(directory)
        lines = directory / "lines"
        lines.write_bytes(b"".join(b"%08d %s\n" % (number, b"x" * 1014) for number in range(options.megabytes * 1000)))
        figures = {kind: measure(kind, directory, lines, options) for kind in kinds}
    width = max(len(name) for name in figures[kinds[0]])
    print(f"{'':{width}}" + "".join(f"{kind:>12}" for kind in kinds))
    for name in figures[kinds[0]]:
        print(f"{name:{width}}" + "".join(f"{figures[kind].get(name, float('nan')):12.2f}" for kind in kinds))


if __name__ == "__main__":
    main()
