"""The Java client of Kafka 4.3.1."""

import clients
from scenarios import SESSION_TIMEOUT_MS, ClientScenarios, agent, scenario  # noqa: F401

BROKER_PROPERTIES = {"auto.create.topics.enable": "false", "group.initial.rebalance.delay.ms": 0}

REQUEST_TIMED_OUT = 7


class TestJava(ClientScenarios):
    family = staticmethod(clients.java)
    # "Topic ... not present in metadata after 1000 ms" is a TimeoutException.
    unknown_topic_codes = (REQUEST_TIMED_OUT,)

    def test_static_members_come_back_without_a_rebalance(self, scenario, unique):
        topic, group = unique("topic"), unique("group")
        agent, mortal = scenario.agent(), scenario.agent()
        agent.create_topic(topic, partitions=4)
        member = dict(group=group, topic=topic, assignor="range", session_timeout_ms=3 * SESSION_TIMEOUT_MS)
        agent.call("member_start", name="stays", instance_id="a", **member)
        mortal.call("member_start", name="before", instance_id="b", **member)
        scenario.wait_for_shares({"stays": 2, "before": 2}, 4, "two static members")
        share = scenario.events.owned()["before"]
        changes = len([e for e in scenario.events.events if e.get("member") == "stays"])
        mortal.kill()
        reborn = scenario.agent()
        reborn.call("member_start", name="after", instance_id="b", **member)
        scenario.wait_for_shares({"stays": 2, "after": 2}, 4, "the instance is back")
        assert scenario.events.owned()["after"] == share
        assert len([e for e in scenario.events.events if e.get("member") == "stays"]) == changes, \
            "the other member saw no rebalance"
