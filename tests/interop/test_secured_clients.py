"""Every client library of clients/matrix.toml as a user who has to prove who he is: by SCRAM over SASL_SSL, and by a certificate (mTLS).
The brokers let `app` do what ACLs say, and nobody else but `admin` anything, so whoever is served was recognised.

`--client NAME` runs one of them; without it all run.
"""

import pytest

import clients
import harness
import matrix
import secured
from scenarios import Scenario, content, needs, sample_records

MINE = "mine-"


@pytest.fixture(scope="module")
def broker():
    chosen = secured.start_broker()
    if chosen is None:
        pytest.skip("whoever runs there has users of his own")
    with chosen as started:
        # Some libraries have a group also to read without one.
        for kind, prefix in (("--topic", MINE), ("--group", MINE), ("--group", "unused"), ("--group", f"read-{MINE}")):
            as_admin(started, "acls", "--add", "--allow-principal", "User:app", "--operation", "All", kind, prefix, "--resource-pattern-type", "prefixed")
        yield started


def as_admin(broker, command, *arguments):
    return harness.run_partita(command, "--bootstrap-server", broker.security.bootstrap(secured.SASL_SSL), "--command-config",
                               broker.security.path / "admin.properties", *arguments).succeeded()


class SecuredScenario(Scenario):
    """One test's agents, each of which is somebody."""

    def __init__(self, client, broker, way):
        super().__init__(client, broker.security.bootstrap(way))
        self.security, self.way = broker.security, way

    def agent(self, is_false=False):
        environment = self.security.environment(self.way, self.client.lacks, is_false)
        agent = clients.Agent(self.client, self.bootstrap, self.events, environment)
        self.agents.append(agent)
        return agent


@pytest.fixture
def scenario(request, broker):
    started = SecuredScenario(request.cls.client, broker, request.cls.way)
    yield started
    started.close()


class SecuredScenarios:
    """What every client does by either way; a deriving class names both."""

    #: A matrix.Client, and one of secured.WAYS.
    client = way = None

    def test_writes_and_reads_what_it_may(self, scenario, unique, record_property):
        topic, agent = unique(MINE + "topic"), scenario.agent()
        record_property("version", agent.call("version")["version"].lstrip("v"))
        agent.create_topic(topic, partitions=2)
        records = sample_records(1, self.client.lacks)
        acks = agent.call("produce", topic=topic, records=records)["acks"]
        assert [ack.get("partition") for ack in acks] == [1] * len(records), acks
        read = agent.call("read", topic=topic, count=len(records), timeout_ms=20000)["records"]
        assert content(read) == content(records)

    @needs("groups")
    def test_consumes_as_a_group_and_commits(self, scenario, unique):
        topic, group, agent = unique(MINE + "topic"), unique(MINE + "group"), scenario.agent()
        agent.create_topic(topic, partitions=2)
        agent.call("member_start", name="m", group=group, topic=topic, assignor="range")
        scenario.wait_for_shares({"m": 2}, 2, "the member")
        agent.call("produce", topic=topic, records=[{"key": None, "value": str(n), "partition": n % 2} for n in range(10)])
        scenario.wait_for_values(set(range(10)), "all records")
        agent.expect_committed(group, topic, {"0": 5, "1": 5})
        agent.call("member_stop", name="m")

    def test_is_told_what_it_may_not(self, scenario, broker, unique):
        topic = unique("hidden")
        as_admin(broker, "topics", "--create", "--topic", topic)
        with pytest.raises(clients.ClientError) as refused:
            acks = scenario.agent().call("produce", topic=topic, records=[{"key": None, "value": "x", "partition": 0}])["acks"]
            # Most tell it of the record.
            raise clients.ClientError({"type": "", **acks[0]}) if "code" in acks[0] else AssertionError(acks)
        assert refused.value.code in self.client.refused_codes, refused.value

    def test_is_not_let_in_as_somebody_else(self, scenario):
        """Most libraries go on trying, so that no answer is one, too."""
        with pytest.raises((clients.ClientError, harness.Deadline)):
            scenario.agent(is_false=True).call("list_topics", seconds=8)


for each in matrix.CLIENTS.values():
    for way in secured.WAYS:
        class_name = f"Test{each.name.title().replace('-', '').replace('.', '')}Over{way.title().replace('_', '')}"
        # In docs/clients.md each way is a column.
        marks = [pytest.mark.column("SASL_SSL, SCRAM" if way == secured.SASL_SSL else way)]
        globals()[class_name] = type(class_name, (SecuredScenarios,), {"client": each, "way": way, "pytestmark": marks})
