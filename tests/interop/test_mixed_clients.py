"""Different client libraries on the same topic and in the same group."""

import collections

import pytest

import matrix
from scenarios import METADATA_AGE_MS, SESSION_TIMEOUT_MS, Scenario, content, sample_records

# The samples are records of years ago.
BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0, "log.retention.ms": -1}

FAMILIES = {name: matrix.CLIENTS[name] for name in ("java", "librdkafka", "librdkafka-debian", "franz-go")}


@pytest.fixture
def agents(broker):
    """One agent of each family, all reporting to one event log."""
    scenario = Scenario(None, broker.bootstrap)
    started = {}
    for name, client in FAMILIES.items():
        scenario.client = client
        started[name] = scenario.agent()
    yield scenario, started
    scenario.close()


def test_each_client_reads_what_the_others_wrote(agents, unique):
    _, by_name = agents
    topic = unique("topic")
    by_name["java"].create_topic(topic, 1)
    sent = []
    for agent in by_name.values():
        for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
            agent.call("produce", topic=topic, codec=codec, idempotence=False, records=sample_records())
            sent += sample_records()
    for name, agent in by_name.items():
        read = agent.call("read", topic=topic, count=len(sent), timeout_ms=30000)["records"]
        assert [record["offset"] for record in read] == list(range(len(sent))), name
        assert content(read) == content(sent), name


def test_a_group_of_all_clients_shares_an_expanding_topic(agents, unique):
    scenario, by_name = agents
    topic, group = unique("topic"), unique("group")
    by_name["java"].create_topic(topic, 4)
    by_name["franz-go"].call("stream_start", name="s", topic=topic, metadata_age_ms=METADATA_AGE_MS)
    for name, agent in by_name.items():
        agent.call("member_start", name=name, group=group, topic=topic, assignor="range",
                   session_timeout_ms=SESSION_TIMEOUT_MS, metadata_age_ms=METADATA_AGE_MS)
    scenario.wait_for_shares({name: 1 for name in by_name}, 4, "one partition for each client")
    by_name["librdkafka"].create_partitions(topic, 8)
    scenario.wait_for_shares({name: 2 for name in by_name}, 8, "two partitions for each client")
    by_name["librdkafka-debian"].call("member_stop", name="librdkafka-debian")
    by_name["java"].call("member_stop", name="java")
    scenario.wait_for_shares({"librdkafka": 4, "franz-go": 4}, 8, "after two left")
    stopped = by_name["franz-go"].call("stream_stop", name="s")
    assert stopped["failed"] == []
    acked = {value for value, _, _ in stopped["acked"]}
    scenario.wait_for_values(acked, "everything acknowledged is read")
    assert scenario.counts() == collections.Counter(acked), "every record exactly once"
