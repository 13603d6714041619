"""docs/openapi.json is what the JSON API answers: each operation that it describes is asked for, and each answer has the members that
it names, all of them and no others."""

import json
import pathlib
import re
import socket
import urllib.error
import urllib.request

import confluent_kafka
import pytest

import harness
import insight

DOCUMENT = json.loads((pathlib.Path(__file__).parents[2] / "docs" / "openapi.json").read_text())
#: Not described there yet: what is about expansions, and what is no JSON object.
ELSEWHERE = {"expansion", "expansions", "producers", "protection", "seeds", "nudge", "visibility", "findings", "events"}
TYPES = {"string": str, "integer": int, "boolean": bool, "object": dict, "array": list, "null": type(None)}


def differences(value, schema, where="$"):
    """What of `value` is not as the schema says; only the words that the document uses are known."""
    if "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    unknown = schema.keys() - {"type", "properties", "required", "additionalProperties", "items", "const", "enum", "description"}
    assert not unknown, f"{where}: nobody checks {unknown}"
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(type(value) is TYPES[name] for name in types):
        return [f"{where} is {value!r}, not {types}"]
    if "const" in schema and value != schema["const"]:
        return [f"{where} is {value!r}, not {schema['const']!r}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{where} is {value!r}, none of {schema['enum']}"]
    if isinstance(value, list):
        return [line for index, item in enumerate(value) for line in differences(item, schema["items"], f"{where}[{index}]")]
    if not isinstance(value, dict):
        return []
    properties = schema.get("properties", {})
    found = [f"{where} lacks {name}" for name in schema.get("required", []) if name not in value]
    for name, member in value.items():
        if name in properties:
            found += differences(member, properties[name], f"{where}.{name}")
        elif schema.get("additionalProperties") is False:
            found.append(f"{where} has {name}, of which nothing is said")
        elif isinstance(schema.get("additionalProperties"), dict):
            found += differences(member, schema["additionalProperties"], f"{where}.{name}")
    return found


OPERATIONS = {operation["operationId"]: (method, path, operation)
              for path, methods in DOCUMENT["paths"].items() for method, operation in methods.items() if method != "parameters"}


class Site:
    def __init__(self, address):
        self.address = address
        self.asked = set()

    def send(self, method, path, body):
        request = urllib.request.Request(f"http://{self.address}{path}", method=method.upper(),
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read()

    def ask(self, name, body=None, query="", status=200, **parts):
        method, path, operation = OPERATIONS[name]
        if body is not None and status == 200:
            assert differences(body, operation["requestBody"]["content"]["application/json"]["schema"]) == []
        code, text = self.send(method, path.format(**parts) + query, body)
        assert code == status, text
        value = json.loads(text)
        schema = operation["responses"]["200" if status == 200 else "default"]["content"]["application/json"]["schema"]
        assert differences(value, schema) == []
        self.asked.add(name)
        return value


@pytest.fixture(scope="module")
def site(broker):
    if harness.TARGET != "partita":
        pytest.skip("only a Partita has this API")
    return Site(insight.address(broker))


@pytest.mark.parametrize("protocol", ("classic", "consumer"))
def test_a_group_with_a_member(site, broker, protocol):
    topic = f"read-{protocol}"
    site.ask("createTopic", {"topic": topic, "partitions": 2})
    assert site.ask("writeRecord", {"key": "anna", "value": "{}", "headers": {"trace": "1"}, "partition": 1}, topic=topic)["offset"] == 0
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": f"group-{protocol}", "auto.offset.reset": "earliest",
                                         "group.protocol": protocol, "enable.auto.commit": False})
    try:
        consumer.subscribe([topic])
        message = consumer.poll(30)
        assert message is not None and message.error() is None
        consumer.commit(message, asynchronous=False)
        group = site.ask("group", group=f"group-{protocol}")
        assert group["type"] == protocol and group["state"] == "Stable" and group["lag"] == 0
        assert group["members"][0]["assigned"] == [{"topic": topic, "partitions": [0, 1]}]
        assert [one["committed"] for one in group["partitions"]] == [None, 1]
        assert all(one["member_id"] == group["members"][0]["member_id"] for one in group["partitions"])
        assert site.ask("topicGroups", topic=topic)["groups"][0]["members"] == 1
        software = [one["software"] for one in site.ask("connections")["connections"]]
        assert "confluent-kafka-python" in software
        refused = site.ask("resetOffsets", {"topic": topic, "to": "earliest"}, group=f"group-{protocol}", status=409)
        assert refused["code"] == "UNKNOWN_MEMBER_ID" and "members" in refused["error"]
        assert site.ask("deleteGroup", group=f"group-{protocol}", status=409)["code"] == "NON_EMPTY_GROUP"
    finally:
        consumer.close()
    preview = site.ask("resetOffsets", {"topic": topic, "to": "earliest", "dry_run": True}, group=f"group-{protocol}")
    assert preview["partitions"] == [{"partition": 0, "from": None, "to": 0}, {"partition": 1, "from": 1, "to": 0}]
    site.ask("resetOffsets", {"topic": topic, "to": "latest", "partitions": [1]}, group=f"group-{protocol}")
    assert f"group-{protocol}" in [one["group"] for one in site.ask("groups")["groups"]]
    site.ask("deleteGroup", group=f"group-{protocol}")
    assert site.ask("group", group=f"group-{protocol}", status=404)["code"] == "GROUP_ID_NOT_FOUND"


def test_the_rest(site):
    site.ask("createTopic", {"topic": "made", "partitions": 2, "configs": {"cleanup.policy": "compact"}})
    site.ask("createTopic", {"topic": "made"}, status=409)
    site.ask("createTopic", {"topic": "only-judged", "validate_only": True})
    assert site.ask("topics", query="?search=only-judged")["total"] == 0
    site.ask("changeTopicConfigs", {"set": {"retention.ms": "60000", "cleanup.policy": None}}, topic="made")
    configs = {one["name"]: one for one in site.ask("topicConfigs", topic="made")["configs"]}
    assert configs["retention.ms"]["source"] == "topic" and configs["cleanup.policy"]["source"] == "default"
    site.ask("addPartitions", {"count": 4, "validate_only": True}, topic="made")
    assert len(site.ask("topic", topic="made")["partitions"]) == 2
    site.ask("addPartitions", {"count": 4}, topic="made")
    assert len(site.ask("topic", topic="made")["partitions"]) == 4
    site.ask("addPartitions", {"count": 4}, topic="made", status=400)
    site.ask("writeRecord", {"value": None, "key": "gone"}, topic="made")
    found = [record for partition in range(4) for record in site.ask("records", topic="made", partition=partition)["records"]]
    assert [(one["key"], one["value"]) for one in found] == [("gone", None)]
    site.ask("topics", query="?search=MA&limit=1&skip=0&internal=0")
    site.ask("broker")
    site.ask("brokerConfigs")
    site.ask("deleteTopic", topic="made")
    site.ask("topic", topic="made", status=404)


def test_every_operation_was_asked_and_every_route_is_described(site):
    assert OPERATIONS.keys() == site.asked, "the tests above leave some out"
    _, text = site.send("GET", "/nowhere", None)
    served = {(method.lower(), re.sub(r"/[TGP](?=/|$)", "/*", path))
              for method, path in re.findall(r"(GET|POST|DELETE) (/v1/[^,\s]*)", text.decode())}
    described = {(method, re.sub(r"\{\w+\}", "*", path)) for method, path, _ in OPERATIONS.values()}
    assert {route for route in served if route[1].rsplit("/", 1)[1] not in ELSEWHERE} == described


def test_a_request_of_ten_megabytes_is_refused_by_its_header(site):
    host, port = site.address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(f"POST /v1/topics/made/records HTTP/1.1\r\nHost: {site.address}\r\nContent-Type: application/json\r\n"
                           f"Content-Length: {10 << 20}\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    head, body = answer.split(b"\r\n\r\n", 1)
    assert head.startswith(b"HTTP/1.1 413 ") and "error" in json.loads(body)
