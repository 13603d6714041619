"""A Kafka Streams application and an expansion of its source topic: recognised, refused in `guarded`, and what becomes of
it in `faithful`; also of one that commits within transactions alone (exactly once)."""

import re

import confluent_kafka
import confluent_kafka.admin
import pytest

import harness
import insight
import streams

# A group's first generation is there at once.
BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0,
                     "transaction.state.log.num.partitions": 5}

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="findings and modes are Partita's own")


@pytest.fixture(params=["at_least_once", "exactly_once_v2"])
def application(request, broker, unique):
    """application(topic) runs one that counts the topic's keys and values, and has committed that it has read some."""
    started = []

    def start(topic):
        application = streams.Application(broker, "CountingApplication", unique("application"), [topic],
                                          {"processing.guarantee": request.param, "commit.interval.ms": 100})
        started.append(application)
        application.wait_for("state RUNNING")
        harness.wait_until(lambda: has_committed(broker, application.id, topic), 40, lambda: f"commits of {application}")
        return application
    yield start
    for one in started:
        one.stop()
        one.remove()


def refusal(broker, topic, partitions):
    with pytest.raises(confluent_kafka.KafkaException) as refused:
        insight.grow(broker, topic, partitions)
    error = refused.value.args[0]
    assert error.code() == confluent_kafka.KafkaError.POLICY_VIOLATION
    return error.str()


def guard(broker, topic):
    client, types = insight.admin(broker), confluent_kafka.admin
    entries = [types.ConfigEntry(name, value, incremental_operation=types.AlterConfigOpType.SET)
               for name, value in (("partita.expansion.mode", "guarded"), ("partita.expansion.guard.quiet.ms", "0"))]
    resource = types.ConfigResource(types.ConfigResource.Type.TOPIC, topic, incremental_configs=entries)
    client.incremental_alter_configs([resource])[resource].result(60)


def partitions(broker, topic):
    return len(insight.admin(broker).list_topics(topic, timeout=60).topics[topic].partitions)


def produce(broker, topic, count):
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "partitioner": "murmur2_random"})
    for number in range(count):
        producer.produce(topic, key=f"user-{number % 100}", value=f"value-{number % 7}")
    assert producer.flush(60) == 0


def has_committed(broker, group, topic):
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    try:
        places = [confluent_kafka.TopicPartition(topic, partition) for partition in range(partitions(broker, topic))]
        return any(place.offset > 0 for place in consumer.committed(places, 10))
    finally:
        consumer.close()


def findings(plan):
    return {finding["id"]: finding for finding in plan["findings"]}


def test_a_running_application_is_recognised_and_guarded_refuses(broker, unique, application):
    topic = unique("topic")
    insight.create(broker, topic, 2)
    guard(broker, topic)
    produce(broker, topic, 300)
    running = application(topic)
    changelog = f"{running.id}-by-key-changelog"
    harness.wait_until(lambda: insight.admin(broker).list_topics(timeout=60).topics.get(changelog), 20, "its changelog is there")

    plan = insight.ask(broker, f"topics/{topic}/expansion?to=4")
    assert plan["verdict"] == "blocked"
    # What stands against it is told once, also when the mode refuses it for that.
    [reader] = [found for found in plan["findings"] if found["id"] == "H26"]
    assert reader["severity"] == "block" and reader["subject"]["group"] == running.id
    assert changelog in reader["condition"]
    # Its own topics are no better to grow, and are known to be its own.
    own = findings(insight.ask(broker, f"topics/{changelog}/expansion?to=4"))["H45"]
    assert own["severity"] == "block" and f"internal topic of Kafka Streams application {running.id}" in own["condition"]

    assert f"the Kafka Streams application {running.id} reads it" in refusal(broker, topic, 4)
    assert partitions(broker, topic) == 2
    guard(broker, changelog)
    assert f"it belongs to the Kafka Streams application {running.id}" in refusal(broker, changelog, 4)
    assert partitions(broker, changelog) == 2
    assert running.lines[-1] == "state RUNNING"


def test_an_application_dies_of_it_as_the_finding_says(broker, unique, application):
    topic = unique("topic")
    insight.create(broker, topic, 2)
    produce(broker, topic, 300)
    running = application(topic)
    insight.grow(broker, topic, 4)

    insight.wait_for(broker, topic, "H26", group=running.id)
    insight.wait_for(broker, topic, "H28", group=running.id)
    # What the finding foretells, in the application's own words.
    died = running.wait_for("died ")
    assert re.search(r"invalid partitions: expected: 4; actual: 2", died), died
    assert insight.finding(broker, topic, "H26", group=running.id)
    # What a reset of the application does with its topics.
    admin = insight.admin(broker)
    own = [name for name in admin.list_topics(timeout=60).topics if name.startswith(f"{running.id}-")]
    assert own
    for deleted in admin.delete_topics(own).values():
        deleted.result(60)
    insight.wait_until_closed(broker, topic, "H26", group=running.id)
    insight.wait_until_closed(broker, topic, "H28", group=running.id)
