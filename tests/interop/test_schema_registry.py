"""A schema registry that keeps its schemas in a topic (Apicurio, spoken to as to Confluent's), with an Avro producer and consumer."""

import json
import os
import subprocess
import urllib.error
import urllib.request

import pytest

import connect
import harness
import insight

BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0, "offsets.topic.num.partitions": 5}

pytestmark = pytest.mark.skipif(harness.TARGET not in ("partita", "kafka"), reason="the broker is not ours to kill")


class Registry(connect.Program):
    def __init__(self, broker, directory):
        port = harness.free_port()
        self.url = f"http://127.0.0.1:{port}/apis/ccompat/v7"
        [jar] = (harness.TOOLS / "registry").glob("*-runner.jar")
        super().__init__(directory, "registry", [*connect.JAVA, "-jar", str(jar)], {
            **os.environ, "APICURIO_STORAGE_KIND": "kafkasql", "APICURIO_KAFKASQL_BOOTSTRAP_SERVERS": broker.bootstrap,
            "QUARKUS_HTTP_HOST": "127.0.0.1", "QUARKUS_HTTP_PORT": str(port)})

    def start(self):
        super().start()
        harness.wait_until(self.subjects, connect.START_S, lambda: f"the registry answers\n{self.log_text()}")

    def subjects(self):
        """What schemas are there for, as JSON; None while nobody answers."""
        self.check_alive()
        try:
            with urllib.request.urlopen(f"{self.url}/subjects", timeout=60) as answer:
                return answer.read().decode()
        except (urllib.error.URLError, OSError):
            return None

    def newest(self, subject):
        with urllib.request.urlopen(f"{self.url}/subjects/{subject}/versions/latest", timeout=60) as answer:
            return json.load(answer)

    def id_of(self, subject):
        return self.newest(subject)["id"]


def avro(what, registry, broker, topic, count, client="avro_client"):
    done = subprocess.run([harness.TOOLS / "avro/bin/python", "-B", harness.HERE / f"clients/python/{client}.py", what,
                           registry.url, broker.bootstrap, topic, str(count)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{done.stderr}\n{registry.log_text()}"
    return done.stdout


def test_avro_is_read_with_the_schema_that_outlived_registry_and_broker(broker, unique, tmp_path):
    topic = unique("orders")
    insight.create(broker, topic, 1)
    with Registry(broker, tmp_path) as registry:
        avro("produce", registry, broker, topic, 100)
        assert json.loads(registry.subjects()) == [f"{topic}-value"]
        registry.kill()
        broker.kill()
        broker.restart()
        # It has nothing but the topic to learn it from.
        registry.start()
        harness.wait_until(lambda: json.loads(registry.subjects()) == [f"{topic}-value"], 60, registry.subjects)
        orders = json.loads(avro("consume", registry, broker, topic, 100))
    assert orders == [{"id": number, "item": f"item-{number}"} for number in range(100)]


#: A file that our command registers. Python's deserializer of Protobuf wants the registry to make a description of a text, which Apicurio
#: does not: for it we write by the schema that the serializer has registered.
AVRO_SCHEMA = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, {"name": "item", "type": "string"}]})


@pytest.mark.skipif(harness.TARGET != "partita", reason="our own commands")
def test_our_commands_read_what_serializers_write_and_the_reverse(broker, unique, tmp_path):
    with Registry(broker, tmp_path) as registry:
        for client in ("avro_client", "protobuf_client"):
            theirs, ours = unique(f"theirs-{client[:4]}"), unique(f"ours-{client[:4]}")
            for topic in (theirs, ours):
                insight.create(broker, topic, 1)
            avro("produce", registry, broker, theirs, 10, client)
            shown = harness.run_partita("consume", "--bootstrap-server", broker.bootstrap, "--topic", theirs, "--from-beginning", "--exit",
                                        "--schema-registry", registry.url).succeeded()
            # 64 bits are a string in Protobuf's JSON.
            assert [{**json.loads(line), "id": int(json.loads(line)["id"])} for line in shown.lines] == [
                {"id": number, "item": f"item-{number}"} for number in range(10)], client
            (tmp_path / "order.avsc").write_text(AVRO_SCHEMA)
            schema = tmp_path / "order.avsc" if client == "avro_client" else registry.id_of(f"{theirs}-value")
            harness.run_partita("produce", "--bootstrap-server", broker.bootstrap, "--topic", ours, "--schema-registry", registry.url,
                                "--value-schema", schema, input="\n".join(shown.lines) + "\n").succeeded()
            read = json.loads(avro("consume", registry, broker, ours, 10, client))
            # A deserializer leaves out what has its default.
            assert [(int(order.get("id", 0)), order["item"]) for order in read] == [(number, f"item-{number}") for number in range(10)], client
        topic, lines = unique("ours-json"), ['{"id":1,"item":"pen"}', '{"id":2}']
        insight.create(broker, topic, 1)
        (tmp_path / "order.json").write_text(json.dumps({"type": "object", "properties": {"id": {"type": "integer"}}}))
        harness.run_partita("produce", "--bootstrap-server", broker.bootstrap, "--topic", topic, "--schema-registry", registry.url,
                            "--value-schema", tmp_path / "order.json", input="\n".join(lines) + "\n").succeeded()
        assert registry.newest(f"{topic}-value")["schemaType"] == "JSON"
        assert harness.run_partita("consume", "--bootstrap-server", broker.bootstrap, "--topic", topic, "--from-beginning", "--exit",
                                   "--schema-registry", registry.url).succeeded().lines == lines
        # A schema that imports a neighbour, registered with its reference.
        topic = unique("ours-neighbours")
        insight.create(broker, topic, 1)
        (tmp_path / "money.proto").write_text('syntax = "proto3"; package shop; message Money { int64 units = 1; }')
        (tmp_path / "price.proto").write_text('syntax = "proto3"; package shop; import "money.proto"; import "google/protobuf/timestamp.proto"; '
                                              'message Price { Money money = 1; google.protobuf.Timestamp at = 2; }')
        line = '{"money":{"units":"7"},"at":"2026-11-30T00:00:00Z"}'
        harness.run_partita("produce", "--bootstrap-server", broker.bootstrap, "--topic", topic, "--schema-registry", registry.url,
                            "--value-schema", tmp_path / "price.proto", input=line + "\n").succeeded()
        assert registry.newest(f"{topic}-value")["references"] == [{"name": "money.proto", "subject": "money.proto", "version": 1}]
        shown = harness.run_partita("consume", "--bootstrap-server", broker.bootstrap, "--topic", topic, "--from-beginning", "--exit",
                                    "--schema-registry", registry.url).succeeded()
        assert json.loads(shown.out) == json.loads(line)
