"""A broker that a test brings back to a clean state (docs/test-bench.md#a-clean-state), as clients meet it."""

import json
import urllib.error
import urllib.request

import confluent_kafka
import confluent_kafka.admin
import pytest

import clients
import harness
import insight
import matrix
import test_clock
import test_faults

BROKER_PROPERTIES = {"partita.test.bench.enable": "true", "group.initial.rebalance.delay.ms": 0, "transaction.state.log.replication.factor": 1,
                     "auto.create.topics.enable": "false", "partita.create.topics": "first:3:1", "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                     "allow.everyone.if.no.acl.found": "true", "super.users": "User:ANONYMOUS"}


def ask(broker, path, method="GET"):
    request = urllib.request.Request(f"http://{insight.address(broker)}/v1/{path}", method=method)
    with urllib.request.urlopen(request, timeout=90) as answer:
        return json.load(answer)


def reset(broker):
    return ask(broker, "everything", "DELETE")["removed"]


@pytest.fixture(autouse=True)
def clean(broker):
    reset(broker)


def topics(broker):
    return {one["topic"]: one["partitions"] for one in ask(broker, "topics")["topics"]}


def test_nothing_of_before_is_left(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 2)
    test_clock.produce(broker, topic, "a", "b")
    test_clock.produce(broker, "first", "kept by nobody")
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    assert consumer.poll(30).value() in (b"a", b"b")
    consumer.commit(asynchronous=False)
    consumer.close()
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": unique("transactional")})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, "open")
    producer.flush(30)
    admin = insight.admin(broker)
    resource = confluent_kafka.admin.ConfigResource(confluent_kafka.admin.ConfigResource.Type.BROKER, "1")
    resource.add_incremental_config(confluent_kafka.admin.ConfigEntry(
        "message.max.bytes", "12345", incremental_operation=confluent_kafka.admin.AlterConfigOpType.SET))
    admin.incremental_alter_configs([resource])[resource].result(30)
    acl = confluent_kafka.admin.AclBinding(confluent_kafka.admin.ResourceType.TOPIC, topic, confluent_kafka.admin.ResourcePatternType.LITERAL,
                                           "User:bob", "*", confluent_kafka.admin.AclOperation.READ, confluent_kafka.admin.AclPermissionType.ALLOW)
    admin.create_acls([acl])[acl].result(30)
    harness.run_partita("configs", "--bootstrap-server", broker.bootstrap, "--alter", "--entity-type", "clients", "--entity-name", "app",
                        "--add-config", "producer_byte_rate=1000")
    test_faults.add(broker, {"api": "Fetch"}, {"delay_ms": 1})

    removed = reset(broker)
    assert (removed["groups"], removed["quotas"], removed["configs"], removed["acls"], removed["faults"]) == (1, 1, 1, 1, 1)
    assert removed["topics"] >= 4, "two of ours, and those of the coordinators"
    assert topics(broker) == {"first": 3}
    assert test_clock.offsets(broker, "first") == (0, 0)
    assert [one.group_id for one in admin.list_consumer_groups().result(30).valid] == []
    assert ask(broker, "quotas")["quotas"] == [] and test_faults.faults(broker)["faults"] == []
    assert ask(broker, "findings").get("findings") == []
    any_acl = confluent_kafka.admin.AclBindingFilter(confluent_kafka.admin.ResourceType.ANY, None, confluent_kafka.admin.ResourcePatternType.ANY,
                                                     None, None, confluent_kafka.admin.AclOperation.ANY, confluent_kafka.admin.AclPermissionType.ANY)
    assert admin.describe_acls(any_acl).result(30) == []
    described = admin.describe_configs([confluent_kafka.admin.ConfigResource(confluent_kafka.admin.ConfigResource.Type.BROKER, "1")])
    assert next(iter(described.values())).result(30)["message.max.bytes"].value == "1048588"
    with pytest.raises(confluent_kafka.KafkaException):
        producer.commit_transaction(30)


@pytest.mark.parametrize("library", ["java", "librdkafka", "franz-go", "kafkajs"])
def test_a_program_that_stays_connected_goes_on_with_a_topic_of_the_same_name(broker, unique, library):
    if not harness.HAS_ALL_CLIENTS and library not in harness.BASIC_CLIENTS:
        pytest.skip("needs all clients")
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 1)
    agent = clients.Agent(matrix.CLIENTS[library], broker.bootstrap)
    # A commit of the group that is gone fails, which some libraries take for the end of their consumer.
    agent.events.may_fail("reader")
    agent.call("member_start", name="reader", group=group, topic=topic, reset="earliest", client_id="reader")
    agent.call("produce", topic=topic, partition=0, records=[{"value": "before"}])
    agent.events.wait(lambda _: any(one["value"] == "before" for one in agent.events.records()), 60, "the first record")
    reset(broker)
    insight.create(broker, topic, 1)
    agent.call("member_start", name="second", group=group + "-anew", topic=topic, reset="earliest", client_id="second")
    # The producer of the same program goes on.
    agent.call("produce", topic=topic, partition=0, records=[{"value": "after"}])
    agent.events.wait(lambda _: any(one["value"] == "after" for one in agent.events.records()), 60, "the record of the new topic")
    agent.close()


def test_a_reset_survives_a_crash(broker, unique):
    topic = unique("topic")
    insight.create(broker, topic, 1)
    test_clock.produce(broker, topic, "gone")
    reset(broker)
    broker.kill()
    broker.restart()
    assert topics(broker) == {"first": 3}


def test_the_command_resets(broker, unique):
    insight.create(broker, unique("topic"), 1)
    done = harness.run_partita("reset", "--http", insight.address(broker))
    assert done.code == 0 and done.out.startswith("removed 0 groups, 2 topics, 0 quotas, ")
    assert topics(broker) == {"first": 3}


def test_a_broker_without_a_test_bench_keeps_everything():
    with harness.PartitaBroker() as broker, pytest.raises(urllib.error.HTTPError) as refused:
        reset(broker)
    assert refused.value.code == 404
    assert json.load(refused.value)["error"] == "this broker has no test bench; start it with --test-bench"
