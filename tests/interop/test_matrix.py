"""Every client library of clients/matrix.toml runs every scenario of scenarios.py: one class of tests for each.

`--client NAME` runs one of them; without it all run. PARTITA_LONG_TESTS=1 adds the scenarios that take long.
"""

import re

import matrix
from scenarios import ClientScenarios, agent, scenario  # noqa: F401

# The samples are records of years ago.
BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0, "log.retention.ms": -1}


def scenarios_of(client):
    name = "Test" + re.sub(r"[^a-z0-9]", "", client.name.title(), flags=re.I)
    return name, type(name, (ClientScenarios,), {"client": client})


for each in matrix.CLIENTS.values():
    class_name, tests = scenarios_of(each)
    globals()[class_name] = tests
