"""The newest librdkafka, from confluent-kafka's wheel."""

import clients
from scenarios import ClientScenarios, agent, scenario  # noqa: F401

BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0}


class TestConfluent(ClientScenarios):
    family = staticmethod(clients.confluent)
    # librdkafka gives up by itself: _UNKNOWN_TOPIC, or the broker's code.
    unknown_topic_codes = (-188, 3)
