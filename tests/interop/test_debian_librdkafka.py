"""Debian's librdkafka 2.0.2, under Debian's python3-confluent-kafka."""

import clients
from scenarios import ClientScenarios, agent, scenario  # noqa: F401

BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0}


class TestDebianLibrdkafka(ClientScenarios):
    family = staticmethod(clients.debian_librdkafka)
    unknown_topic_codes = (-188, 3)
    commits_in_rebalances = True
