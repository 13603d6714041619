"""A member of a consumer group of KIP-848 by the newest librdkafka that prints a line of JSON for each partition that it
is given; or, with a count, whoever adds partitions to the topic and prints when that was answered.

librdkafka_assignment.py BOOTSTRAP GROUP TOPIC
librdkafka_assignment.py BOOTSTRAP --expand TOPIC COUNT
"""

import json
import signal
import sys
import time

import confluent_kafka
from confluent_kafka import admin


def emit(**event):
    print(json.dumps({"time": time.time(), **event}), flush=True)


def expand(bootstrap, topic, count):
    client = admin.AdminClient({"bootstrap.servers": bootstrap})
    for answer in client.create_partitions([admin.NewPartitions(topic, count)]).values():
        answer.result(30)
    emit(event="expanded")


def member(bootstrap, group, topic):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    consumer = confluent_kafka.Consumer({
        "bootstrap.servers": bootstrap, "group.id": group, "group.protocol": "consumer", "auto.offset.reset": "earliest"})
    consumer.subscribe([topic], on_assign=lambda _, partitions: emit(
        event="assigned", partitions=[partition.partition for partition in partitions]))
    try:
        while True:
            consumer.poll(0.1)
    finally:
        consumer.close()


if __name__ == "__main__":
    if sys.argv[2] == "--expand":
        expand(sys.argv[1], sys.argv[3], int(sys.argv[4]))
    else:
        member(*sys.argv[1:4])
