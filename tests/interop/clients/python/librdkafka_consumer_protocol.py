"""A member of a consumer group of KIP-848 by the newest librdkafka: prints the value of each record as it comes.

librdkafka_consumer_protocol.py BOOTSTRAP GROUP TOPIC   (a topic that starts with ^ is a regular expression)
"""

import signal
import sys

import confluent_kafka

bootstrap, group, topic = sys.argv[1:4]
running = True


def stop(*_):
    global running
    running = False


signal.signal(signal.SIGTERM, stop)
consumer = confluent_kafka.Consumer({
    "bootstrap.servers": bootstrap, "group.id": group, "group.protocol": "consumer", "auto.offset.reset": "earliest"})
consumer.subscribe([topic])
while running:
    message = consumer.poll(0.1)
    if message is None:
        continue
    if message.error():
        print(f"error {message.error()}", flush=True)
    else:
        print(message.value().decode(), flush=True)
consumer.close()
