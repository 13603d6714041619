"""Where the Python clients put keys: see ../go/main.go for what is read and printed."""

import sys

import aiokafka.partitioner
import kafka.partitioner.default


class Cluster:
    """As much of a cluster as kafka-python's partitioner asks for."""

    def __init__(self, count):
        self.count = count

    def topics(self):
        return {"topic"}

    def partitions_for_topic(self, _topic):
        return set(range(self.count))

    available_partitions_for_topic = partitions_for_topic


def of_kafka_python(key, count):
    return kafka.partitioner.default.DefaultPartitioner().partition("topic", None, key, None, b"", Cluster(count))


def of_aiokafka(key, count):
    partitions = list(range(count))
    return aiokafka.partitioner.DefaultPartitioner()(key, partitions, partitions)


keys = [bytes.fromhex(line) for line in sys.stdin.read().splitlines()]
for name, place in (("kafka-python", of_kafka_python), ("aiokafka", of_aiokafka)):
    for argument in sys.argv[1:]:
        print(name, argument, *(place(key, int(argument)) for key in keys))
