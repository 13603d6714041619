"""MirrorMaker 2 between a real Apache Kafka and the broker, both ways, exactly once: records, topics' configs, and groups that move
over."""

import contextlib

import confluent_kafka
import confluent_kafka.admin
import pytest

import connect
import harness
import insight

BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0,
                     "group.min.session.timeout.ms": 1000, "transaction.state.log.num.partitions": 5,
                     "offsets.topic.num.partitions": 5, "transaction.abort.timed.out.transaction.cleanup.interval.ms": 500}
CONFIGS = {"retention.ms": "987654321", "max.message.bytes": "900000", "cleanup.policy": "compact,delete"}
CALL_S = 30

pytestmark = pytest.mark.skipif(harness.TARGET not in ("partita", "kafka"), reason="the broker is not ours to kill")


class Side:
    """One of the two clusters, with a topic of its own that goes to the other."""

    def __init__(self, name, broker, topic, partitions):
        self.name, self.broker, self.topic = name, broker, topic
        self.sent = {partition: [] for partition in range(partitions)}
        insight.create(broker, topic, partitions, **CONFIGS)

    @property
    def mirrored_topic(self):
        return f"{self.name}.{self.topic}"

    @property
    def count(self):
        return sum(map(len, self.sent.values()))

    def values(self):
        return sorted(value for values in self.sent.values() for value in values)

    def produce(self, count):
        producer = confluent_kafka.Producer({"bootstrap.servers": self.broker.bootstrap, "linger.ms": 5})
        for number in range(self.count, self.count + count):
            partition = number % len(self.sent)
            producer.produce(self.topic, key=f"key-{number}", value=f"{self.name}-{number:06}", partition=partition)
            self.sent[partition].append(f"{self.name}-{number:06}")
        assert producer.flush(CALL_S) == 0

    def consume_in_group(self, group, topic, count):
        """What a group that subscribes is given next, which it then commits."""
        consumer = confluent_kafka.Consumer({"bootstrap.servers": self.broker.bootstrap, "group.id": group,
                                             "enable.auto.commit": False, "auto.offset.reset": "earliest",
                                             "isolation.level": "read_committed"})
        consumer.subscribe([topic])
        values = []
        harness.wait_until(lambda: values.extend(message.value().decode() for message in consumer.consume(count, 0.1)
                                                 if message.error() is None) or len(values) >= count,
                           60, lambda: f"{count} records of {topic}, of which {len(values)} are here")
        consumer.commit(asynchronous=False)
        consumer.close()
        return values

    def committed(self, group, topic, partitions):
        consumer = confluent_kafka.Consumer({"bootstrap.servers": self.broker.bootstrap, "group.id": group})
        try:
            places = [confluent_kafka.TopicPartition(topic, partition) for partition in partitions]
            return {place.partition: place.offset for place in consumer.committed(places, timeout=CALL_S)}
        finally:
            consumer.close()

    def configs(self, topic):
        resource = confluent_kafka.admin.ConfigResource(confluent_kafka.admin.ConfigResource.Type.TOPIC, topic)
        client = insight.admin(self.broker)  # Must outlive the future.
        described = client.describe_configs([resource])[resource].result(CALL_S)
        return {name: described[name].value for name in CONFIGS}


class Mirror(connect.JavaProgram):
    """A dedicated MirrorMaker 2 from each of the two to the other."""

    def __init__(self, sides, directory):
        names = [side.name for side in sides]
        properties = {"clusters": ",".join(names), "dedicated.mode.enable.internal.rest": "true",
                      "listeners": f"http://127.0.0.1:{harness.free_port()}", "plugin.discovery": "service_load",
                      "topics": "|".join(side.topic for side in sides), "groups": "group-.*", "tasks.max": 1,
                      "replication.factor": 1, "offset.lag.max": 0, "sync.group.offsets.enabled": "true",
                      "scheduled.rebalance.max.delay.ms": 0, "session.timeout.ms": 3000, "heartbeat.interval.ms": 500}
        for topics in ("checkpoints.topic", "heartbeats.topic", "offset-syncs.topic", "offset.storage", "status.storage",
                       "config.storage"):
            properties[f"{topics}.replication.factor"] = 1
        for period in ("refresh.topics", "refresh.groups", "sync.topic.configs", "emit.checkpoints", "sync.group.offsets",
                       "emit.heartbeats"):
            properties[f"{period}.interval.seconds"] = 1
        for side in sides:
            properties[f"{side.name}.bootstrap.servers"] = side.broker.bootstrap
            properties[f"{side.name}.exactly.once.source.support"] = "enabled"
            properties[f"{side.name}.producer.transaction.timeout.ms"] = connect.TRANSACTION_TIMEOUT_MS
            [other] = [name for name in names if name != side.name]
            properties[f"{side.name}->{other}.enabled"] = "true"
            properties[f"{side.name}->{other}.consumer.isolation.level"] = "read_committed"
        super().__init__("org.apache.kafka.connect.mirror.MirrorMaker", directory, "mirror", properties)


@pytest.fixture
def sides(broker, unique):
    with harness.KafkaBroker() as kafka:
        yield Side("apache", kafka, unique("orders"), 3), Side("partita", broker, unique("payments"), 2)


def pairs(sides):
    """Where records come from and where they go, each way."""
    return [(sides[0], sides[1]), (sides[1], sides[0])]


def translate_to_the_end(origin, target, group, reader, read, mirror):
    """Waits until the group has its place behind all mirrored records. What the mirror has not told of offsets when it has nothing more
    to mirror it tells with the next records, so there are more of them, and the group reads them."""
    def is_translated():
        places = target.committed(group, origin.mirrored_topic, origin.sent)
        return all(places[partition] >= end for partition, end in reader.ends.items())

    def is_translated_soon():
        if harness.is_seen_within(is_translated, 5):
            return True
        origin.produce(len(origin.sent))
        read.extend(origin.consume_in_group(group, origin.topic, len(origin.sent)))
        reader.wait_for(origin.count, told=mirror.log_text)
    harness.wait_until(is_translated_soon, 120, lambda: f"behind {reader.ends}: "
                       f"{target.committed(group, origin.mirrored_topic, origin.sent)}\n{mirror.log_text()}")


def test_records_configs_and_groups_are_mirrored_both_ways(sides, tmp_path):
    for side in sides:
        side.produce(300)
    with Mirror(sides, tmp_path) as mirror:
        readers = []
        for origin, target in pairs(sides):
            reader = connect.Reader(target.broker, origin.mirrored_topic, len(origin.sent))
            readers.append(reader)
            reader.wait_for(300, told=mirror.log_text)
            assert reader.found == origin.sent, "each record once, in its partition, in order"
            harness.wait_until(lambda: target.configs(origin.mirrored_topic) == CONFIGS, 30,
                               lambda: f"configs {target.configs(origin.mirrored_topic)}")
            assert len(insight.admin(target.broker).list_topics(origin.mirrored_topic, timeout=CALL_S)
                       .topics[origin.mirrored_topic].partitions) == len(origin.sent)

        for (origin, target), reader in zip(pairs(sides), readers):
            group = f"group-{origin.name}"
            read = origin.consume_in_group(group, origin.topic, 300)
            translate_to_the_end(origin, target, group, reader, read, mirror)
            assert sorted(read) == origin.values()
            origin.produce(30)
            reader.wait_for(origin.count, told=mirror.log_text)
            assert reader.found == origin.sent, "what came later, too, and nothing twice"
            # The group moves over and goes on where it was: nothing is missing and nothing comes again.
            assert sorted(target.consume_in_group(group, origin.mirrored_topic, 30)) == origin.values()[len(read):]
            reader.close()
        for side in sides:
            assert not [name for name in insight.admin(side.broker).list_topics(timeout=CALL_S).topics
                        if name.startswith(f"{side.name}.") and name.endswith(side.topic)], "nothing comes home"


@pytest.mark.skipif(harness.TARGET != "partita", reason="not every kill of a broker is survived elsewhere")
@pytest.mark.long
def test_a_mirror_is_exact_though_it_and_the_broker_are_killed(sides, tmp_path):
    (apache, partita) = sides
    with Mirror(sides, tmp_path) as mirror:
        for side in sides:
            side.produce(500)
        readers = {origin: connect.Reader(target.broker, origin.mirrored_topic, len(origin.sent))
                   for origin, target in pairs(sides)}
        for origin, reader in readers.items():
            reader.wait_for(500, told=mirror.log_text)
        for kill in ("broker", "mirror"):
            for side in sides:
                side.produce(5000)
            readers[apache].wait_for(readers[apache].count + 1, told=mirror.log_text)
            if kill == "broker":
                partita.broker.kill()
                partita.broker.restart()
            else:
                mirror.kill()
                mirror.start()
            for origin, reader in readers.items():
                reader.wait_for(origin.count, told=mirror.log_text)
                assert reader.found == origin.sent, f"{kill} killed: each record once, in its partition, in order"
        for reader in readers.values():
            reader.close()
