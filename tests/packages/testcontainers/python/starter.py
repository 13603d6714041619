"""Starts the container that the argument names by the library, says where it is, and stops it when standard input ends."""

import sys

from testcontainers.community.kafka import KafkaContainer, RedpandaContainer

IMAGE = "partita:8.0.0"
MAKE = {
    "KafkaContainer": lambda: KafkaContainer(IMAGE),
    "KafkaContainer.with_kraft": lambda: KafkaContainer(IMAGE).with_kraft(),
    "RedpandaContainer": lambda: RedpandaContainer(IMAGE),
}

with MAKE[sys.argv[1]]() as container:
    print("READY", container.get_bootstrap_server(), flush=True)
    sys.stdin.read()
