"""franz-go."""

import clients
from scenarios import ClientScenarios, agent, scenario  # noqa: F401

BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0}


class TestFranz(ClientScenarios):
    family = staticmethod(clients.franz)
