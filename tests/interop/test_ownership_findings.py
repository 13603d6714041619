"""What goes wrong in a group, done by clients as they are, and what the broker finds (docs/ownership.md): G01 and G02."""

import confluent_kafka
import pytest

import claims_processor
import harness
import insight

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="findings are Partita's own")


def wait_for_group(broker, group, hazard):
    """The open finding of that id about the group."""
    def found():
        every = insight.ask(broker, "findings")["findings"]
        return next((one for one in every if one["id"] == hazard and one["subject"].get("group") == group), None)
    return harness.wait_until(found, 25, lambda: f"{hazard} for {group}: {insight.ask(broker, 'findings')}")


def consumer(broker, group, **settings):
    return confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, "enable.auto.commit": False,
                                     "auto.offset.reset": "earliest", **settings})


def read_one(reader, what):
    message = harness.wait_until(lambda: reader.poll(0.1), 30, what)
    assert message.error() is None
    return message


def test_processes_with_one_instance_id_are_owners_at_once(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 1)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap})
    producer.produce(topic, "value")
    assert producer.flush(20) == 0
    # Each hears of the next one with its next request. Its heartbeat is far away, so that will be a commit.
    patient = {"group.instance.id": "the-only-one", "heartbeat.interval.ms": 20_000, "session.timeout.ms": 60_000}
    processes = []
    for number in range(4):
        latest = consumer(broker, group, **{"client.id": f"web-{number}"}, **patient)
        latest.subscribe([topic])
        record = read_one(latest, f"a record for web-{number}, which has the partition now")
        if processes:
            # The library ends at the first refusal.
            with pytest.raises(confluent_kafka.KafkaException) as refused:
                processes[-1].commit(record, asynchronous=False)
            assert refused.value.args[0].name() == "FENCED_INSTANCE_ID"
        processes.append(latest)
    two_owners = wait_for_group(broker, group, "G01")
    late = wait_for_group(broker, group, "G02")
    assert (two_owners["subject"]["topic"], two_owners["subject"]["partition"]) == (topic, 0)
    number = int(two_owners["subject"]["client_id"].removeprefix("web-"))
    assert f"web-{number} of " in two_owners["condition"] and f"web-{number + 1} of " in two_owners["condition"]
    assert two_owners["numbers"]["refused_offset"] == record.offset() + 1
    assert (late["numbers"]["refused_commits"], late["numbers"]["members"]) == (3, 3)
    assert insight.ask(broker, f"groups/{group}/ownership")["takeover_kinds"]["stolen"] == 3
    # What was refused is not there, and the one that has the partition may commit.
    assert latest.committed([confluent_kafka.TopicPartition(topic, 0)], timeout=20)[0].offset < 0
    latest.commit(record, asynchronous=False)
    assert latest.committed([confluent_kafka.TopicPartition(topic, 0)], timeout=20)[0].offset == record.offset() + 1
    for process in processes:
        process.close()


def test_a_processor_that_goes_on_after_its_claim_was_stolen_is_a_second_owner(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 1)
    store = claims_processor.Store(insight.address(broker), group)
    tag = store.ask("claims", {"owner": "web-1", "claims": [{"topic": topic, "partition": 0}]})["claims"][0]["tag"]
    store.ask("claims", {"owner": "web-2", "claims": [{"topic": topic, "partition": 0, "tag": tag}]})
    for offset in range(3):
        refused = store.ask("checkpoints", {"owner": "web-1", "checkpoints": [{"topic": topic, "partition": 0, "offset": offset}]})["refused"]
        assert refused[0]["reason"] == "stolen" and refused[0]["current"]["owner"] == "web-2"
    assert wait_for_group(broker, group, "G01")["numbers"]["refused_commits"] == 3
    assert wait_for_group(broker, group, "G02")["numbers"]["refused_commits"] == 3
    assert store.ask("checkpoints")["checkpoints"] == []
