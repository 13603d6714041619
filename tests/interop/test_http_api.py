"""docs/openapi.json is what the JSON API answers: each operation that it describes is asked for, and each answer has the members that
it names, all of them and no others."""

import json
import pathlib
import re
import socket
import urllib.error
import urllib.request

import confluent_kafka
import confluent_kafka.admin
import pytest

import harness
import insight

DOCUMENT = json.loads((pathlib.Path(__file__).parents[2] / "docs" / "openapi.json").read_text())
BROKER_PROPERTIES = {"partita.test.bench.enable": "true"}
TYPES = {"string": {str}, "integer": {int}, "number": {int, float}, "boolean": {bool}, "object": {dict}, "array": {list}, "null": {type(None)}}


def differences(value, schema, where="$"):
    """What of `value` is not as the schema says; only the words that the document uses are known."""
    if "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    if "oneOf" in schema:
        found = [differences(value, choice, where) for choice in schema["oneOf"]]
        return [] if [] in found else found[0]
    unknown = schema.keys() - {"type", "properties", "required", "additionalProperties", "items", "const", "enum", "description"}
    assert not unknown, f"{where}: nobody checks {unknown}"
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(type(value) in TYPES[name] for name in types):
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
            with urllib.request.urlopen(request, timeout=60) as answer:
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
        owned = site.ask("ownership", group=f"group-{protocol}")
        assert [(one["topic"], one["partition"], one["member_id"]) for one in owned["partitions"]] == [
            (topic, partition, group["members"][0]["member_id"]) for partition in (0, 1)]
        assert owned["partitions"][0]["since_ms"] > 0 and owned["takeovers"] == []
        assert [one["claim"] for one in owned["partitions"]] == [group["epoch"] or 1] * 2
        assert owned["partitions"][0]["checkpoint"] is None
        checkpoint = owned["partitions"][1]["checkpoint"]
        assert checkpoint.pop("time_ms") > 0
        assert checkpoint == {"offset": 1, "member_id": group["members"][0]["member_id"], "lag": 0}
    finally:
        consumer.close()
    owned = site.ask("ownership", query="?limit=1&skip=1", group=f"group-{protocol}")
    assert owned["total"] == 2 and [one["partition"] for one in owned["partitions"]] == [1]
    assert owned["partitions"][0]["member_id"] is None and owned["members"][0]["gone_cause"] == "left"
    told = site.ask("rebalances", group=f"group-{protocol}")["rebalances"]
    assert [[event["cause"] for event in one["events"]] for one in told] == [["left"], ["joined"]]
    assert [one["protocol"] for one in told] == [protocol] * 2 and all(one["ended_ms"] >= one["began_ms"] for one in told)
    assert site.ask("ownership", group="nobody", status=404)["code"] == "GROUP_ID_NOT_FOUND"
    preview = site.ask("resetOffsets", {"topic": topic, "to": "earliest", "dry_run": True}, group=f"group-{protocol}")
    assert preview["partitions"] == [{"partition": 0, "from": None, "to": 0}, {"partition": 1, "from": 1, "to": 0}]
    site.ask("resetOffsets", {"topic": topic, "to": "latest", "partitions": [1]}, group=f"group-{protocol}")
    assert f"group-{protocol}" in [one["group"] for one in site.ask("groups")["groups"]]
    site.ask("deleteGroup", group=f"group-{protocol}")
    assert site.ask("group", group=f"group-{protocol}", status=404)["code"] == "GROUP_ID_NOT_FOUND"


def test_claims_of_clients_that_share_partitions_out_themselves(site):
    site.ask("createTopic", {"topic": "claimed", "partitions": 2})
    assert site.ask("claims", group="processors")["claims"] == []
    both = [{"topic": "claimed", "partition": partition} for partition in (0, 1)]
    made = site.ask("changeClaims", {"owner": "web-1", "lifetime_ms": 60_000, "claims": both}, group="processors")["claims"]
    assert [(one["partition"], one["owner"], one["claim"], one["valid"]) for one in made] == [(0, "web-1", 1, True), (1, "web-1", 1, True)]
    refused = site.ask("changeClaims", {"owner": "web-2", "claims": both}, group="processors", status=412)
    assert [one["reason"] for one in refused["refused"]] == ["held"] * 2 and refused["error"] == "another claim of the partition is valid"
    # One of them is free, by its tag; of the other nothing happens.
    site.ask("changeClaims", {"owner": "web-1", "release": True, "claims": [{**both[1], "tag": made[1]["tag"]}]}, group="processors")
    some = site.ask("changeClaims", {"owner": "web-2", "owner_level": 1, "claims": [{**both[0], "tag": "stale"}, both[1]]}, group="processors")
    assert [one["partition"] for one in some["claims"]] == [1] and [one["reason"] for one in some["refused"]] == ["stale_tag"]
    assert [one["partition"] for one in site.ask("claims", query="?owner=web-1", group="processors")["claims"]] == [0]
    assert site.ask("claims", query="?topic=other", group="processors")["claims"] == []
    site.ask("writeCheckpoints", {"owner": "web-1", "checkpoints": [{**both[0], "offset": 7, "sequence_number": 6}]}, group="processors")
    late = site.ask("writeCheckpoints", {"owner": "web-1", "checkpoints": [{**both[1], "offset": 7}]}, group="processors", status=412)
    assert late["refused"][0]["reason"] == "stolen" and late["refused"][0]["current"]["owner"] == "web-2"
    assert [(one["offset"], one["sequence_number"], one["end"]) for one in site.ask("checkpoints", group="processors")["checkpoints"]] == [(7, 6, 0)]
    owned = site.ask("ownership", group="processors")
    assert [(one["partition"], one["member_id"], one["claim"]) for one in owned["partitions"]] == [(0, "web-1", 1), (1, "web-2", 2)]
    assert [(one["from"], one["to"], one["cause"], one["kind"]) for one in owned["takeovers"]] == [("web-1", "web-2", "left", "normal")]
    assert owned["partitions"][0]["checkpoint"]["member_id"] == "web-1"
    for body in ({"owner": "", "claims": both}, {"owner": "x" * 257, "claims": both}, {"owner": "w", "claims": []}, {"owner": "w"},
                 {"owner": "w", "lifetime_ms": 99, "claims": both}, {"owner": "w", "owner_level": -1, "claims": both},
                 {"owner": "w", "claims": [{"topic": "claimed"}]}, {"owner": "w", "claims": [{**both[0], "tag": 5}]},
                 {"owner": "w", "claims": [{**both[0], "partition": -1}]}, {"owner": "w", "claims": both * 501}, {"owner": "w", "claims": both, "x": 1},
                 {"owner": "w", "claims": [{**both[0], "x": 1}]}):
        assert site.ask("changeClaims", body, group="processors", status=400)["error"]
    assert site.ask("changeClaims", {"owner": "w", "claims": [{"topic": "claimed", "partition": 2}]}, group="processors", status=404)["code"] == "UNKNOWN_TOPIC_OR_PARTITION"
    site.ask("writeCheckpoints", {"owner": "w", "checkpoints": [{**both[0], "offset": -1}]}, group="processors", status=400)
    assert site.ask("forgetClaims", group="processors", status=409)["code"] == "NON_EMPTY_GROUP"
    site.ask("changeClaims", {"owner": "web-1", "release": True, "claims": [both[0]]}, group="processors")
    site.ask("changeClaims", {"owner": "web-2", "release": True, "claims": [both[1]]}, group="processors")
    assert site.ask("forgetClaims", group="processors")["forgotten"] is True
    assert site.ask("forgetClaims", group="processors", status=404)["code"] == "GROUP_ID_NOT_FOUND"


def test_a_topic_that_grows(site, broker):
    site.ask("createTopic", {"topic": "growing", "partitions": 4, "configs": {"partita.expansion.mode": "safe-offsets"}})
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "client.id": "writer", "topic.metadata.refresh.interval.ms": 600_000})
    for index in range(2000):
        producer.produce("growing", key=f"key-{index % 300}", value="v")
    assert producer.flush(60) == 0
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "slow", "auto.offset.reset": "earliest", "enable.auto.commit": False,
                                         "topic.metadata.refresh.interval.ms": 600_000, "metadata.max.age.ms": 900_000})
    try:
        consumer.subscribe(["growing"])
        message = consumer.poll(30)
        assert message is not None and message.error() is None
        consumer.commit(message, asynchronous=False)
        plan = site.ask("plan", query="?to=8", topic="growing")
        assert plan["from"] == 4 and plan["moved"]["keys"] > 0 and plan["groups"][0]["group"] == "slow" and plan["findings"]
        site.ask("plan", query="?to=3", topic="growing", status=400)
        site.ask("addPartitions", {"count": 8}, topic="growing")
        log = site.ask("expansions", topic="growing")
        assert [(one["from"], one["to"], one["requested_by"]["client_id"]) for one in log["expansions"]] == [(4, 8, "partita-http")]
        assert site.ask("protection", topic="growing")["mode"] == "safe-offsets"
        assert [one["client_id"] for one in site.ask("producers", topic="growing")["producers"]] == ["writer"]
        found = []

        def shown():
            found[:] = site.ask("findings", query="?topic=growing")["findings"]
            return found
        harness.wait_until(shown, 60, lambda: "a finding about the topic")
        assert {one["subject"]["topic"] for one in found} == {"growing"}
        assert {one["state"] for one in site.ask("findings", query="?topic=growing&state=all")["findings"]} <= {"open", "over"}
        site.ask("findings", query="?state=closed", status=400)
        assert site.ask("markSeen", {"topic": "growing", "id": "H06"})["seen"] == 0
        site.ask("markSeen", {"id": "H99"}, status=400)
        wrong = site.ask("wrongKeys", query="?topic=growing&group=slow")
        assert wrong["total"] == len(wrong["keys"])
        site.ask("wrongKeys", query="?topic=growing", status=400)
        site.ask("wrongKeys", query="?topic=growing&group=slow&limit=1001", status=400)
        site.ask("wrongKeys", query="?topic=no-such&group=slow", status=404)
        # The stream begins with what is open.
        with urllib.request.urlopen(f"http://{site.address}/v1/events", timeout=60) as stream:
            event = json.loads(stream.readline())
        assert differences(event, DOCUMENT["components"]["schemas"]["FindingEvent"]) == []
        site.asked.add("events")
        assert site.ask("nudge", topic="growing")["nudging_ms"] > 0
        assert site.ask("showPartitions", query="?consumers=until-released", topic="growing")["visibility"]["consumers_delay_ms"] == "until-released"
        site.ask("showPartitions", query="?consumers=never", topic="growing", status=400)
        site.ask("showPartitions", query="?consumers=released", topic="growing")
        assert site.ask("takeBackSeeds", query="?epoch=1", topic="growing")["epoch"] == 1
        site.ask("takeBackSeeds", query="?epoch=2", topic="growing", status=400)
    finally:
        consumer.close()


def test_an_error_is_told_with_the_request_that_caused_it(site, broker):
    site.ask("createTopic", {"topic": "narrow", "partitions": 2, "configs": {"max.message.bytes": "200"}})
    # What the HTTP side is refused it hears itself.
    before = site.ask("errors")["total"]
    site.ask("createTopic", {"topic": "narrow"}, status=409)
    assert site.ask("errors")["total"] == before
    failed = []
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "client.id": "too-much", "linger.ms": 0})
    producer.produce("narrow", value=b"x" * 1000, partition=1, on_delivery=lambda error, _: failed.append(error))
    producer.flush(60)
    assert failed[0] is not None
    given = [one for one in site.ask("errors")["errors"] if one["client"]["client_id"] == "too-much"]
    assert [(one["api"], one["code"], one["times"]) for one in given] == [("Produce", "MESSAGE_TOO_LARGE", 1)]
    assert given[0]["about"]["Index"] == "1" and "narrow" in given[0]["about"].values()
    assert given[0]["client"]["software"] == "confluent-kafka-python" and given[0]["client"]["address"] == "127.0.0.1"

    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": broker.bootstrap, "client.id": "maker"})
    for _ in range(2):
        with pytest.raises(confluent_kafka.KafkaException):
            admin.create_topics([confluent_kafka.admin.NewTopic("narrow", 1)])["narrow"].result(60)
    given = [one for one in site.ask("errors", query="?limit=5")["errors"] if one["client"]["client_id"] == "maker"]
    assert [(one["api"], one["code"], one["times"], one["about"]["Name"]) for one in given] == [("CreateTopics", "TOPIC_ALREADY_EXISTS", 2, "narrow")]
    assert '"narrow"' in given[0]["request"] and given[0]["message"] == "Topic 'narrow' already exists."

    # An answer that comes later, and does not say of what group it is.
    joins = [one for one in site.ask("errors")["errors"] if one["api"] == "JoinGroup" and one["code"] == "MEMBER_ID_REQUIRED"]
    assert not joins or all(one["client"]["client_id"] for one in joins)

    host, port = broker.bootstrap.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall((8).to_bytes(4, "big") + (999).to_bytes(2, "big") + bytes(6))
        assert connection.recv(1) == b""
    newest = site.ask("errors")["errors"][0]
    assert newest["code"] == "CONNECTION_CLOSED" and "999" in newest["message"] and newest["api"] is None
    site.ask("errors", query="?limit=0", status=400)


def test_requests_are_measured_while_somebody_looks(site, broker):
    site.ask("requests")
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 0})
    for _ in range(50):
        producer.produce("narrow", value=b"v", partition=0)
        assert producer.flush(60) == 0
    answer = site.ask("requests")
    produce = next(one for one in answer["requests"] if one["api"] == "Produce")
    assert produce["requests"] >= 50 and produce["with_errors"] >= 1
    latency = produce["latency"]
    assert latency["measured"] >= 50 and 0 < latency["p50_ms"] <= latency["p95_ms"] <= latency["p99_ms"] <= latency["max_ms"] < 30_000
    assert answer["measured_since_ms"] <= answer["time_ms"]


def test_who_has_to_wait_for_a_quota_is_told(site, broker, tools):
    assert site.ask("quotas")["quotas"] == []
    tools("kafka-configs", "--alter", "--entity-type", "clients", "--entity-name", "hurried", "--add-config", "producer_byte_rate=20000")
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "client.id": "hurried", "linger.ms": 0})
    # The third is too much; the answer says so, and who sent another one would have to wait.
    for _ in range(3):
        producer.produce("quota-made", value=b"x" * 100_000)
        assert producer.flush(60) == 0
    answer = site.ask("quotas")
    assert answer["quotas"] == [{"entity": {"client-id": "hurried"}, "limits": {"producer_byte_rate": 20_000}}]
    waited = [one for one in answer["throttled"] if one["client_id"] == "hurried"]
    assert len(waited) == 1 and waited[0]["times"] >= 1 and waited[0]["total_ms"] >= waited[0]["last_ms"] > 0


def test_capacity_is_set_in_units(site):
    assert site.ask("capacity")["units"] is None
    assert site.ask("setCapacity", {"units": 2, "units_max": 3})["ingress"]["per_second"] == {"bytes": 2_000_000, "events": 2_000}
    for body in ({"units": 0}, {"units": -1}, {"units": 1001}, {"units": "2"}, {"units": 1.5}, {}, {"units": 3, "units_max": 2}, {"unit": 1}):
        assert site.ask("setCapacity", body, status=400)["error"]
    answer = site.ask("capacity")
    assert answer["units"] == 2 and answer["units_max"] == 3 and answer["egress"]["wait_ms"] == 0
    assert [(one["units_before"], one["units"], one["automatic"]) for one in answer["steps"]] == [(None, 2, False)]


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
    for value in ("1", "2"):
        site.ask("writeRecord", {"value": value, "key": "anna", "partition": 3}, topic="made")
        site.ask("writeRecord", {"value": value, "key": "\u00e4\u00f6 %&", "partition": 3}, topic="made")
    for query in ("key=anna", "key_hex=616E6e61"):
        of_key = site.ask("records", query=f"?{query}", topic="made", partition=3)
        assert [one["value"] for one in of_key["records"]] == ["1", "2"] and of_key["next"] == of_key["end"]
        assert of_key["looked_at"] == of_key["end"] - of_key["start"]
    assert len(site.ask("records", query="?key=%C3%A4%C3%B6%20%25%26&limit=1", topic="made", partition=3)["records"]) == 1
    assert site.ask("records", query="?key=nobody", topic="made", partition=3)["records"] == []
    last = of_key["records"][-1]
    later = site.ask("records", query=f"?time_ms={last['timestamp_ms']}", topic="made", partition=3)
    assert later["records"][0]["timestamp_ms"] >= last["timestamp_ms"] and later["from"] <= last["offset"]
    assert site.ask("records", query=f"?time_ms={last['timestamp_ms'] + 10**9}", topic="made", partition=3)["records"] == []
    for query in ("time_ms=1&from=1", "time_ms=soon", "key_hex=6", "key_hex=xy", "key=a&key_hex=61"):
        site.ask("records", query=f"?{query}", topic="made", partition=3, status=400)
    site.ask("topics", query="?search=MA&limit=1&skip=0&internal=0")
    site.ask("broker")
    requests = {one["api"]: one for one in site.ask("requests")["requests"]}
    assert requests["CreateTopics"]["requests"] >= 3 and requests["CreateTopics"]["key"] == 19
    site.ask("brokerConfigs")
    site.ask("deleteTopic", topic="made")
    site.ask("topic", topic="made", status=404)


def test_faults(site, broker):
    assert site.ask("addFaults", {"match": {"api": "Produce", "topic": "nothing"}, "do": {"error": "REQUEST_TIMED_OUT"}})["ids"] == ["fault-1"]
    several = [{"id": "slow", "match": {"api": "metadata"}, "when": {"times": 1}, "do": {"delay_ms": 1}}, {"do": {"hold": True}, "match": {"client_id": "x"}}]
    assert site.ask("addFaults", several)["ids"] == ["slow", "fault-2"]
    insight.admin(broker).list_topics(timeout=30)
    assert [(one["id"], one["acted"]) for one in site.ask("faults")["faults"]] == [("fault-1", 0), ("slow", 1), ("fault-2", 0)]
    assert site.ask("fault", id="slow")["match"] == {"api": "Metadata"}
    assert [one["acted"] for one in site.ask("faultMatches", id="slow")["matches"]][0] is True
    assert site.ask("releaseFault", id="fault-2")["released"] == 0
    site.ask("removeFault", id="slow")
    site.ask("fault", id="slow", status=404)
    site.ask("addFaults", {"do": {"delay": 1}}, status=400)
    site.ask("removeFaults")
    assert site.ask("faults")["faults"] == []


def test_the_clock(site):
    before = site.ask("moveClock", {"freeze": True})["time_ms"]
    assert site.ask("clock")["time_ms"] == before
    site.ask("moveClock", {"advance_ms": 1, "set": 1}, status=400)
    moved = site.ask("moveClock", {"advance_ms": 3_600_000, "freeze": False})
    assert moved["advanced_ms"] == 3_600_000 and moved["ran"]["upkeep"] >= 1


def test_a_reset(site):
    site.ask("addFaults", {"match": {"api": "Fetch"}, "do": {"delay_ms": 1}})
    assert site.ask("removeEverything")["removed"]["faults"] == 1
    assert site.ask("topics")["topics"] == []


def test_snapshots(site):
    taken = site.ask("takeSnapshot", snapshot="one")["snapshot"]
    assert site.ask("snapshots")["snapshots"] == [taken] and site.ask("snapshot", snapshot="one")["snapshot"] == taken
    assert site.ask("restoreSnapshot", snapshot="one")["snapshot"] == taken
    site.ask("takeSnapshot", snapshot="-", status=400)
    assert site.ask("removeSnapshot", snapshot="one")["removed"] == "one"
    for operation in ("snapshot", "restoreSnapshot", "removeSnapshot"):
        site.ask(operation, snapshot="one", status=404)


def test_several_brokers(site):
    site.ask("brokers", status=404)
    with harness.start_broker({**BROKER_PROPERTIES, "partita.test.bench.brokers": 2, "partita.test.bench.racks": "a,b",
                               "listeners": "PLAINTEXT://127.0.0.1:0"}, any_port=True) as two:
        cluster = Site(insight.address(two))
        assert [(one["id"], one["rack"], one["state"]) for one in cluster.ask("brokers")["brokers"]] == [(1, "a", "up"), (2, "b", "up")]
        for act, undo, state in (("killBroker", "restartBroker", "killed"), ("pauseBroker", "resumeBroker", "paused"),
                                 ("isolateBroker", "joinBroker", "isolated")):
            assert cluster.ask(act, id=2)["changed"]["state"] == state
            cluster.ask(act, id=2, status=409)
            assert cluster.ask(undo, id=2)["changed"]["state"] == "up"
        assert not cluster.ask("killBroker", {"noticed": False}, id=1)["changed"]["fenced"]
        cluster.ask("killBroker", {"noticed": "no"}, id=1, status=400)
        cluster.ask("killBroker", id=7, status=409)
    site.asked |= cluster.asked


def test_every_operation_was_asked_and_every_route_is_described(site):
    assert OPERATIONS.keys() == site.asked, "the tests above leave some out"
    _, text = site.send("GET", "/nowhere", None)
    served = {(method.lower(), re.sub(r"/(?:[TGP]|ID|NAME)(?=/|$)", "/*", path))
              for method, path in re.findall(r"(GET|POST|PUT|DELETE) (/v1/[^,\s]*)", text.decode())}
    described = {(method, re.sub(r"\{\w+\}", "*", path)) for method, path, _ in OPERATIONS.values()}
    assert served == described


def test_a_request_of_ten_megabytes_is_refused_by_its_header(site):
    host, port = site.address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(f"POST /v1/topics/made/records HTTP/1.1\r\nHost: {site.address}\r\nContent-Type: application/json\r\n"
                           f"Content-Length: {10 << 20}\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    head, body = answer.split(b"\r\n\r\n", 1)
    assert head.startswith(b"HTTP/1.1 413 ") and "error" in json.loads(body)
