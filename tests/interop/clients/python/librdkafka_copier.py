"""Copies a topic to another one, exactly once, until it is killed: consumes, produces and commits offsets in transactions.

    librdkafka_copier.py BOOTSTRAP INPUT OUTPUT GROUP TRANSACTIONAL_ID PROTOCOL

Prints one JSON line for each transaction that was committed: {"copied": how many so far}. Every fifth one it aborts itself and does again.
Whoever starts it may kill it at any moment and start another one.
"""

import json
import os
import sys
import threading

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

PER_TRANSACTION = 20
CALL_S = 30
SEND_OFFSETS_S = 10

bootstrap, source, target, group, transactional_id, protocol = sys.argv[1:]
common = {"bootstrap.servers": bootstrap, "reconnect.backoff.max.ms": 200, "topic.metadata.refresh.fast.interval.ms": 50}


def make_consumer():
    properties = {**common, "group.id": group, "group.protocol": protocol, "enable.auto.commit": False, "fetch.wait.max.ms": 100,
                  "auto.offset.reset": "earliest", "isolation.level": "read_committed"}
    if protocol == "classic":
        properties.update({"session.timeout.ms": 6000, "heartbeat.interval.ms": 500})
    return Consumer(properties)


def make_producer():
    """Again and again until the coordinator has aborted what was left open."""
    producer = Producer({**common, "transactional.id": transactional_id, "transaction.timeout.ms": 20000, "linger.ms": 2})
    while True:
        try:
            producer.init_transactions(CALL_S)
            return producer
        except KafkaException as failure:
            if not failure.args[0].retriable():
                raise


def rewind(consumer):
    """To what is committed: the transaction that read on is not."""
    for place in consumer.committed(consumer.assignment(), timeout=CALL_S):
        offset = place.offset if place.offset >= 0 else 0
        consumer.seek(TopicPartition(place.topic, place.partition, offset))


def send_offsets(producer, places, metadata):
    """librdkafka does not keep this call's timeout: one whose coordinator goes away meanwhile may wait for ever
    (confluentinc/librdkafka#5456, #5511). Nothing but another process helps then, and whoever started this one starts it."""
    hangs = threading.Timer(2 * SEND_OFFSETS_S, os._exit, [1])
    hangs.daemon = True
    hangs.start()
    try:
        producer.send_offsets_to_transaction(places, metadata, SEND_OFFSETS_S)
    finally:
        hangs.cancel()


def copy(consumer, producer, messages, aborts):
    """One transaction; True when it was committed."""
    producer.begin_transaction()
    try:
        for message in messages:
            producer.produce(target, key=message.key(), value=message.value())
        send_offsets(producer, consumer.position(consumer.assignment()), consumer.consumer_group_metadata())
        if aborts:
            producer.abort_transaction(CALL_S)
            return False
        retrying(lambda: producer.commit_transaction(CALL_S))
        return True
    except KafkaException as failure:
        if failure.args[0].fatal():
            raise
        retrying(lambda: producer.abort_transaction(CALL_S))
        return False


def retrying(call):
    while True:
        try:
            return call()
        except KafkaException as failure:
            if not failure.args[0].retriable():
                raise


def main():
    consumer, producer = make_consumer(), make_producer()
    consumer.subscribe([source])
    copied = tried = 0
    while True:
        messages = [message for message in consumer.consume(PER_TRANSACTION, 0.2) if message.error() is None]
        if not messages:
            continue
        tried += 1
        if copy(consumer, producer, messages, aborts=tried % 5 == 0):
            copied += len(messages)
            print(json.dumps({"copied": copied}), flush=True)
        else:
            rewind(consumer)


main()
