"""Brokers that want to know who comes, of both kinds, and how clients say it: by SASL_SSL with a password, or by a certificate (mTLS).

`partita dev-security` makes certificates, users and settings. Our broker takes the directory as it is, a real Kafka the settings in it
that are Kafka's own.
"""

import socket
import ssl
import subprocess
import types

import harness

SASL_SSL, MTLS = "SASL_SSL", "mTLS"
WAYS = (SASL_SSL, MTLS)
#: Of stores that are made for clients which do not read PEM.
STORE_PASSWORD = "store-password"


class Directory:
    """What `partita dev-security --mtls` made: SASL_SSL on a port, SSL with certificates of clients on the next."""

    def __init__(self, path, port):
        self.path, self.port = path, port
        harness.run_partita("dev-security", path, "--port", port, "--mtls").succeeded()

    def lines(self, name):
        """A file of settings: name to value."""
        text = (self.path / name).read_text().splitlines()
        return dict(line.split("=", 1) for line in text if line and not line.startswith("#"))

    def bootstrap(self, way):
        return f"localhost:{self.port + (way == MTLS)}"

    def environment(self, way, lacks=(), is_false=False):
        """What tells an agent that it is `app` (clients.py); or not, with a false password or a certificate that somebody else signed."""
        user = "app"
        if way == MTLS:
            return self.by_certificate(f"{user}.mtls", (self.strangers() if is_false else self).path / f"{user}.pem", "pem" not in lacks)
        plain, librdkafka = self.lines(f"{user}.properties"), self.lines(f"{user}.librdkafka.conf")
        mechanism, password = "PLAIN" if "scram" in lacks else "SCRAM-SHA-512", "another" if is_false else librdkafka["sasl.password"]
        plain["sasl.jaas.config"] = plain["sasl.jaas.config"].replace(librdkafka["sasl.password"], password)
        if "pem" in lacks:
            plain.update(self.other_trust())
        librdkafka.update({"sasl.mechanism": mechanism, "sasl.password": password})
        return {**self.files(plain, librdkafka), "CLIENT_MECHANISM": mechanism, "CLIENT_USER": user, "CLIENT_PASSWORD": password}

    def by_certificate(self, name, certificate, reads_pem):
        plain, librdkafka = self.lines(f"{name}.properties"), self.lines(f"{name}.librdkafka.conf")
        plain["ssl.keystore.location"] = librdkafka["ssl.certificate.location"] = librdkafka["ssl.key.location"] = certificate
        if not reads_pem:
            plain.update({**self.other_trust(), **self.other_keys(certificate)})
        return {**self.files(plain, librdkafka), "CLIENT_CERTIFICATE": str(certificate)}

    def strangers(self):
        """Users of the same names, whom another authority made."""
        other = self.path.with_name("strangers")
        if not other.exists():
            Directory(other, self.port)
        return types.SimpleNamespace(path=other)

    def files(self, plain, librdkafka):
        return {"CLIENT_PROPERTIES": self.write("properties", plain), "CLIENT_LIBRDKAFKA": self.write("conf", librdkafka),
                "CLIENT_CA": str(self.path / "ca.pem")}

    def write(self, kind, settings):
        """A file for an agent, without the address, which the agent is given."""
        name = self.path / f"agent-{len(list(self.path.glob('agent-*')))}.{kind}"
        name.write_text("".join(f"{key}={value}\n" for key, value in settings.items() if key != "bootstrap.servers"))
        return str(name)

    def other_trust(self):
        """The same authority in a PKCS12 store, and the settings that name it."""
        store = self.path / "trust.p12"
        if not store.exists():
            run("keytool", "-importcert", "-noprompt", "-alias", "ca", "-file", self.path / "ca.pem", "-keystore", store, "-storetype", "PKCS12",
                "-storepass", STORE_PASSWORD)
        return {"ssl.truststore.type": "PKCS12", "ssl.truststore.location": store, "ssl.truststore.password": STORE_PASSWORD}

    @staticmethod
    def other_keys(certificate):
        store = certificate.with_suffix(".p12")
        if not store.exists():
            run("openssl", "pkcs12", "-export", "-in", certificate, "-out", store, "-passout", f"pass:{STORE_PASSWORD}")
        return {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": store, "ssl.keystore.password": STORE_PASSWORD,
                "ssl.key.password": STORE_PASSWORD}


def run(*command):
    subprocess.run([str(word) for word in command], check=True, capture_output=True, timeout=60)


def shakes_hands(path, port):
    """True if something speaks TLS there, with a certificate of this directory's authority."""
    try:
        with socket.create_connection(("localhost", port), timeout=2) as connection, \
                ssl.create_default_context(cafile=path / "ca.pem").wrap_socket(connection, server_hostname="localhost"):
            return True
    except OSError:
        return False


class SecurePartita(harness.PartitaBroker):
    """Started by `--security`, on the ports that the directory's files name."""

    def __init__(self):
        super().__init__()
        self.host, self.port = "localhost", harness.free_port(and_next=True)
        self.security = Directory(self.directory / "security", self.port)

    def command(self):
        return [*super().command(), "--security", str(self.security.path)]

    def is_up(self):
        return self.port_file.exists()


class SecureKafka(harness.KafkaBroker):
    """The same listeners, users and rules, of a real Kafka."""

    def __init__(self):
        self.security = None
        super().__init__()
        self.host = "localhost"

    def settings(self, controller_port):
        self.port = harness.free_port(and_next=True)
        self.security = Directory(self.directory / "security", self.port)
        settings = {name: value for name, value in self.security.lines("broker.properties").items() if not name.startswith("partita.")}
        password = self.security.lines("admin.librdkafka.conf")["sasl.password"]
        jaas = "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config"
        return {
            **super().settings(controller_port), **settings, "advertised.listeners": settings["listeners"],
            "listeners": f"{settings['listeners']},CONTROLLER://127.0.0.1:{controller_port}",
            "listener.security.protocol.map": "SASL_SSL:SASL_SSL,SSL:SSL,CONTROLLER:PLAINTEXT",
            # Its controller comes without a login, and the broker logs in to itself.
            "super.users": "User:admin;User:ANONYMOUS",
            jaas: settings[jaas].replace(";", f' username="admin" password="{password}";')}

    def format_options(self):
        users = (self.security.path / "scram-users").read_text().splitlines()
        return [word for line in users if not line.startswith("#") for word in ("--add-scram", line)]

    def is_up(self):
        return shakes_hands(self.security.path, self.port)


def start_broker():
    """A broker of the chosen target, not yet entered; None where that is somebody else's."""
    return {"partita": SecurePartita, "kafka": SecureKafka}.get(harness.TARGET, lambda: None)()
