"""Applications that a scenario tries (docs/scenarios.md): scenario_application.py KIND. Some are hurt by a growth, some are written well.

Consumers print a JSON line for each record that they process. They commit behind it.
"""

import json
import os
import signal
import sys

import confluent_kafka

TOPIC = os.environ["PARTITA_TOPIC"]
stopped = []


def stop(*_):
    stopped.append(True)


def client(**more):
    return {"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"], **{name.replace("_", "."): value for name, value in more.items()}}


def report(record):
    print(json.dumps({"topic": record.topic(), "partition": record.partition(), "offset": record.offset()}), flush=True)


def consumer(reset, **more):
    return confluent_kafka.Consumer(client(group_id=os.environ["PARTITA_GROUP"], auto_offset_reset=reset, enable_auto_commit=False,
                                           session_timeout_ms=6000, topic_metadata_refresh_interval_ms=300, fetch_wait_max_ms=50, **more))


def consume(reset, commits=True, assigned=None):
    """Processes records as they come."""
    reader = consumer(reset)
    behind = []

    def revoked(_, partitions):
        if commits and behind:
            reader.commit(asynchronous=False)
            behind.clear()

    if assigned is None:
        reader.subscribe([TOPIC], on_revoke=revoked)
    else:
        reader.assign([confluent_kafka.TopicPartition(TOPIC, partition) for partition in range(assigned)])
    while not stopped:
        record = reader.poll(0.1)
        if record is None:
            if commits and behind:
                reader.commit(asynchronous=False)
                behind.clear()
        elif record.error():
            sys.exit(f"cannot read: {record.error()}")
        else:
            report(record)
            behind.append(record)
    if commits:
        revoked(reader, [])
    reader.close()


def consume_by_time():
    """Takes what is there in all partitions before it processes any of it, and processes it in the order of its time."""
    reader = consumer("earliest", enable_partition_eof=True)
    ends, waiting = set(), []
    held = set()

    def assigned(_, partitions):
        held.update(one.partition for one in partitions)

    reader.subscribe([TOPIC], on_assign=assigned)
    while not stopped:
        record = reader.poll(0.1)
        if record is not None and record.error() is None:
            ends.discard(record.partition())
            waiting.append(record)
        elif record is not None and record.error().code() == confluent_kafka.KafkaError._PARTITION_EOF:
            ends.add(record.partition())
        elif record is not None:
            sys.exit(f"cannot read: {record.error()}")
        if waiting and held and ends >= held:
            for one in sorted(waiting, key=lambda one: one.timestamp()[1]):
                report(one)
            waiting.clear()
            reader.commit(asynchronous=False)
    reader.close()


def produce(fixed_partitions=None):
    """Writes keyed records until it is stopped; with a number of partitions of its own, or by its client's partitioner."""
    writer = confluent_kafka.Producer(client(topic_metadata_refresh_interval_ms=200, partitioner="murmur2_random", linger_ms=5))
    number = 0
    while not stopped:
        where = {} if fixed_partitions is None else {"partition": number * 7919 % 300 % fixed_partitions}
        writer.produce(TOPIC, key=f"key-{number * 7919 % 300}", value=str(number), **where)
        number += 1
        writer.poll(0.001)
    writer.flush(10)


KINDS = {
    "earliest": lambda: consume("earliest"),
    "latest": lambda: consume("latest"),
    "error": lambda: consume("error"),
    "by-time": consume_by_time,
    "without-commits": lambda: consume("earliest", commits=False),
    "assigned-6": lambda: consume("earliest", assigned=6),
    "producer": produce,
    "producer-6": lambda: produce(6),
}

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stop)
    KINDS[sys.argv[1]]()
