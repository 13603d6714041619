"""`partita produce` and `consume` with a schema registry: what they write is what other libraries write, and what those write they show.
The schemas come from a stub here; test_schema_registry has a real registry and real serializers."""

import base64
import json

import confluent_kafka
import pytest

import harness
import insight
from schema_stub import SchemaStub

BROKER_PROPERTIES = {"auto.create.topics.enable": "false"}

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="our own commands")

ORDER = json.dumps({"type": "record", "name": "Order", "fields": [
    {"name": "id", "type": "long"}, {"name": "item", "type": "string"}, {"name": "note", "type": ["null", "string"]}]})
#: What fastavro writes for id 150, item "pen" and note "x", and for id 1, item "" and no note.
ORDER_BYTES = [bytes.fromhex("ac020670656e020278"), bytes.fromhex("020000")]
ORDERS = ['{"id": 150, "item": "pen", "note": "x"}', '{"id": 1, "item": "", "note": null}']
#: The example of Protocol Buffers' own description of its encoding.
PROTO = 'syntax = "proto3"; package shop; message Other { bool x = 1; } message Test { int32 a = 1; string b = 2; }'
PROTO_BYTES = bytes.fromhex("0202" "089601120774657374696e67")
JSON_SCHEMA = json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"price": {"type": "number"}}})


@pytest.fixture
def registry():
    with SchemaStub() as started:
        yield started


def produce(broker, topic, registry, lines, *more):
    return harness.run_partita("produce", "--bootstrap-server", broker.bootstrap, "--topic", topic, "--schema-registry", registry.url, *more,
                               input="".join(line + "\n" for line in lines))


def consume(broker, topic, registry, *more):
    return harness.run_partita("consume", "--bootstrap-server", broker.bootstrap, "--topic", topic, "--from-beginning", "--exit",
                               "--schema-registry", registry.url, *more)


def stored(broker, topic, count):
    """Keys and values as they are in the topic's only partition."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "unused", "enable.auto.commit": False})
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, confluent_kafka.OFFSET_BEGINNING)])
    found = [(message.key(), message.value()) for message in consumer.consume(count, 20)]
    consumer.close()
    assert len(found) == count
    return found


def framed(number, payload):
    return b"\0" + number.to_bytes(4, "big") + payload


def test_values_are_written_by_the_newest_schema_as_other_libraries_do(broker, unique, registry):
    topic = unique("orders")
    insight.create(broker, topic, 1)
    number = registry.add(f"{topic}-value", ORDER)
    produce(broker, topic, registry, ORDERS, "--key", "k").succeeded()
    assert stored(broker, topic, 2) == [(b"k", framed(number, each)) for each in ORDER_BYTES]
    shown = consume(broker, topic, registry).succeeded()
    assert [json.loads(line) for line in shown.lines] == [{"id": 150, "item": "pen", "note": {"string": "x"}}, {"id": 1, "item": "", "note": None}]
    # What is shown can be written again.
    again = unique("copy")
    insight.create(broker, again, 1)
    registry.add(f"{again}-value", ORDER)
    lines = consume(broker, topic, registry, "--json").succeeded().lines
    assert json.loads(lines[0])["value"]["item"] == "pen"
    produce(broker, again, registry, lines, "--json").succeeded()
    assert stored(broker, again, 2) == stored(broker, topic, 2)


def test_a_schema_in_a_file_is_registered_and_keys_have_their_own(broker, unique, registry, tmp_path):
    topic = unique("tests")
    insight.create(broker, topic, 1)
    (tmp_path / "test.proto").write_text(PROTO)
    produce(broker, topic, registry, ['7\t{"a": 150, "b": "testing"}'], "--value-schema", tmp_path / "test.proto", "--value-message", "Test",
            "--key-schema", '"long"', "--property", "parse.key=true").succeeded()
    assert registry.schemas[registry.subjects[f"{topic}-value"]] == {"schema": PROTO, "schemaType": "PROTOBUF"}
    ids = [registry.subjects[f"{topic}-{side}"] for side in ("key", "value")]
    assert stored(broker, topic, 1) == [(framed(ids[0], b"\x0e"), framed(ids[1], PROTO_BYTES))]
    shown = consume(broker, topic, registry, "--decode-keys", "--format", "%k %s\\n").succeeded()
    assert shown.lines == ['7 {"a":150,"b":"testing"}']


def test_files_that_a_schema_imports_are_registered_before_it(broker, unique, registry, tmp_path):
    topic = unique("orders")
    insight.create(broker, topic, 1)
    (tmp_path / "common/shop").mkdir(parents=True)
    (tmp_path / "schemas").mkdir()
    (tmp_path / "common/shop/money.proto").write_text('syntax = "proto3"; package shop; message Money { int64 units = 1; }')
    (tmp_path / "schemas/item.proto").write_text(
        'syntax = "proto3"; package shop; import "shop/money.proto"; message Item { string name = 1; Money price = 2; }')
    order = ('syntax = "proto3"; package shop; import "item.proto"; import "shop/money.proto"; import "google/protobuf/timestamp.proto"; '
             'import "google/protobuf/type.proto"; message Order { repeated Item items = 1; Money total = 2; google.protobuf.Timestamp at = 3; '
             'google.protobuf.Syntax syntax = 4; }')
    (tmp_path / "schemas/order.proto").write_text(order)
    line = '{"items":[{"name":"pen","price":{"units":"2"}}],"total":{"units":"2"},"at":"2026-11-30T00:00:00Z","syntax":"SYNTAX_PROTO3"}'
    written = ["--value-schema", tmp_path / "schemas/order.proto"]
    lost = produce(broker, topic, registry, [line], *written)
    assert lost.code == 1 and "item.proto imports shop/money.proto, which is in none of these directories: " in lost.out + lost.err
    produce(broker, topic, registry, [line], *written, "--import-path", tmp_path / "nothing", "--import-path", tmp_path / "common").succeeded()
    assert [reference["subject"] for reference in registry.schemas[registry.subjects[f"{topic}-value"]]["references"]] == [
        "item.proto", "shop/money.proto"]
    assert registry.schemas[registry.subjects["item.proto"]]["references"] == [
        {"name": "shop/money.proto", "subject": "shop/money.proto", "version": 1}]
    assert "references" not in registry.schemas[registry.subjects["shop/money.proto"]]
    assert json.loads(consume(broker, topic, registry).succeeded().out) == json.loads(line)


@pytest.mark.parametrize("text, complaint", [
    ('import "a.proto";', "a.proto imports itself, through "),
    ('import "/etc/passwd";', "an import is named from a directory of --import-path on"),
    ('import "../a.proto";', "an import is named from a directory of --import-path on"),
    ('import "broken.proto";', "broken.proto: invalid schema: line 1, column 1")])
def test_an_import_that_cannot_be_used_is_named(broker, unique, registry, tmp_path, text, complaint):
    (tmp_path / "a.proto").write_text(f'syntax = "proto3"; {text} message A {{}}')
    (tmp_path / "broken.proto").write_text("?")
    refused = produce(broker, unique("t"), registry, ["{}"], "--value-schema", tmp_path / "a.proto")
    assert refused.code == 1 and complaint in refused.out + refused.err, refused


def test_values_of_a_json_schema_are_the_json_behind_its_id(broker, unique, registry, tmp_path):
    topic = unique("prices")
    insight.create(broker, topic, 1)
    (tmp_path / "price.json").write_text(JSON_SCHEMA)
    # What the schema demands is not looked at; digits and spaces are as they were said.
    lines = ['{"price": 1.50}', '{ "price":"none" }', "7"]
    produce(broker, topic, registry, lines, "--value-schema", tmp_path / "price.json").succeeded()
    number = registry.subjects[f"{topic}-value"]
    assert registry.schemas[number] == {"schema": JSON_SCHEMA, "schemaType": "JSON"}
    assert stored(broker, topic, 3) == [(None, framed(number, line.encode())) for line in lines]
    assert consume(broker, topic, registry).succeeded().lines == ['{"price":1.5}', '{"price":"none"}', "7"]
    copied = consume(broker, topic, registry, "--json").succeeded().lines
    assert [json.loads(line)["value"] for line in copied] == [{"price": 1.5}, {"price": "none"}, 7]
    produce(broker, topic, registry, copied[:1], "--json").succeeded()
    assert stored(broker, topic, 4)[3] == (None, framed(number, b'{"price":1.5}'))
    refused = produce(broker, topic, registry, ['{"price": 1'])
    assert refused.code == 1 and "the value on line number 1: it is not JSON" in refused.out + refused.err


def test_what_is_of_no_schema_is_shown_as_it_is_and_told(broker, unique, registry):
    topic = unique("mixed")
    insight.create(broker, topic, 1)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap})
    for value in (b"plain", framed(9, b""), None):
        producer.produce(topic, value)
    assert producer.flush(60) == 0
    shown = consume(broker, topic, registry)
    assert shown.code == 1
    assert shown.out.splitlines()[0] == "plain" and shown.out.splitlines()[-1] == "null"
    assert f"The value of {topic}-0 at offset 0 is shown undecoded: it has no schema id" in shown.err
    assert "at offset 1 is shown undecoded: the schema registry answers 404 to /schemas/ids/9: Schema not found" in shown.err
    # The second record's schema is asked for once, and tombstones name none.
    assert registry.asked == ["/registry/v1/schemas/types", "/registry/v1/schemas/ids/9"]


def test_a_line_that_does_not_agree_ends_with_its_number_and_place(broker, unique, registry):
    topic = unique("orders")
    insight.create(broker, topic, 1)
    registry.add(f"{topic}-value", ORDER)
    refused = produce(broker, topic, registry, [ORDERS[0], '{"id": "x", "item": "", "note": null}'])
    assert refused.code == 1
    assert "the value on line number 2: id is a string, where the schema has long" in refused.out + refused.err
    assert stored(broker, topic, 1) == [(None, framed(registry.subjects[f"{topic}-value"], ORDER_BYTES[0]))]


def test_a_registry_that_is_away_or_asks_who_it_is_ends_the_command(broker, unique):
    topic = unique("orders")
    insight.create(broker, topic, 1)
    login = "Basic " + base64.b64encode(b"me:secret").decode()
    with SchemaStub(login) as registry:
        registry.add(f"{topic}-value", ORDER)
        refused = produce(broker, topic, registry, ORDERS)
        assert refused.code == 1 and "401" in refused.out + refused.err and "Unauthorized" in refused.out + refused.err
        produce(broker, topic, registry, ORDERS, "--schema-registry-login", "me:secret").succeeded()
        assert len(consume(broker, topic, registry, "--schema-registry-login", "me:secret").succeeded().lines) == 2
        # Nothing is read before it is known who asks.
        stranger = consume(broker, topic, registry)
        assert stranger.code == 1 and "401" in stranger.out + stranger.err and "shown undecoded" not in stranger.err
    away = consume(broker, topic, registry)
    assert away.code == 1 and "no schema registry answers at http://127.0.0.1:" in away.out + away.err


def test_an_address_that_is_none_is_refused_with_what_to_say(broker, unique, registry):
    topic = unique("orders")
    insight.create(broker, topic, 1)
    for url in ("ftp://registry", "http://", "registry:none"):
        registry.url = url
        refused = produce(broker, topic, registry, ORDERS)
        assert refused.code == 1 and f"--schema-registry is {url}; use http://HOST:PORT" in refused.out + refused.err


def test_a_reader_of_a_topic_without_records_is_told_at_once_of_a_registry_that_is_not_there(broker, unique, registry):
    topic = unique("empty")
    insight.create(broker, topic, 1)
    for url, said in (("ftp://registry", "--schema-registry is ftp://registry; use http://HOST:PORT"),
                      (f"http://127.0.0.1:{harness.free_port()}", "no schema registry answers at http://127.0.0.1:")):
        ended = harness.run_partita("consume", "-b", broker.bootstrap, "-t", topic, "--schema-registry", url)
        assert ended.code == 1 and said in ended.out + ended.err


def test_options_that_need_a_registry_say_so(broker):
    refused = harness.run_partita("produce", "--bootstrap-server", broker.bootstrap, "--topic", "t", "--value-schema", "7", input="")
    assert refused.code == 1 and "--value-schema needs --schema-registry" in refused.out + refused.err
