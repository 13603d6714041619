"""Clients that share partitions out among themselves by claims (docs/ownership.md): the store survives a crash, and processors that are
written to it (claims_processor.py) balance, take over what a dead one had, and lose nothing."""

import collections
import json
import random
import subprocess
import sys
import threading
import time

import confluent_kafka
import pytest

import claims_processor
import harness
import insight

PARTITIONS = 32

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="only a Partita has this API")


def claim(store, owner, partition=0, topic="orders", **more):
    """The claim, or what was refused."""
    body = {key: more.pop(key) for key in ("owner_level", "lifetime_ms", "release") if key in more}
    answer = store.ask("claims", {"owner": owner, **body, "claims": [{"topic": topic, "partition": partition, **more}]})
    return (answer["claims"] or answer["refused"])[0]


def test_claims_and_checkpoints_survive_a_crash_of_the_broker():
    with harness.start_broker() as broker:
        insight.create(broker, "orders", 2)
        store = claims_processor.Store(insight.address(broker), "billing")
        first = claim(store, "web-1", owner_level=2, lifetime_ms=600_000)
        renewed = claim(store, "web-1", tag=first["tag"], owner_level=2, lifetime_ms=600_000)
        store.ask("checkpoints", {"owner": "web-1", "checkpoints": [{"topic": "orders", "partition": 0, "offset": 812, "sequence_number": 811}]})
        claim(store, "web-1", 1)
        assert claim(store, "web-1", 1, release=True)["owner"] is None
        broker.kill()
        broker.restart()
        store = claims_processor.Store(insight.address(broker), "billing")
        before, free = store.ask("claims")["claims"]
        assert (before["owner"], before["tag"], before["owner_level"], before["valid"]) == ("web-1", renewed["tag"], 2, True)
        assert (free["owner"], free["valid"]) == (None, False)
        assert [(row["offset"], row["sequence_number"], row["owner"]) for row in store.ask("checkpoints")["checkpoints"]] == [(812, 811, "web-1")]
        # What was over is over, and who has it has it.
        assert claim(store, "web-1", tag=first["tag"], owner_level=2)["reason"] == "stale_tag"
        assert claim(store, "web-2", tag=renewed["tag"])["reason"] == "lower_level"
        assert claim(store, "web-2", owner_level=3)["owner"] == "web-2"
        told = claim(store, "web-1", tag=renewed["tag"], owner_level=2)
        assert (told["reason"], told["current"]["owner"]) == ("stolen", "web-2")


def test_claims_stay_where_their_topic_is_grown():
    with harness.start_broker() as broker:
        insight.create(broker, "orders", 1)
        tags = {}
        for number in range(10):
            tags[f"g{number}"] = claim(claims_processor.Store(insight.address(broker), f"g{number}"), "web-1", lifetime_ms=600_000)["tag"]
        insight.grow(broker, "__partita_claims", 4)
        for is_restarted in (False, True):
            if is_restarted:
                broker.kill()
                broker.restart()
            for group, tag in tags.items():
                store = claims_processor.Store(insight.address(broker), group)
                assert [(row["owner"], row["tag"]) for row in store.ask("claims")["claims"]] == [("web-1", tag)], (group, is_restarted)
                tags[group] = claim(store, "web-1", tag=tag, lifetime_ms=600_000)["tag"]


def test_a_group_of_kafka_with_the_name_is_shown_once_the_claims_are_over(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 1)
    store = claims_processor.Store(insight.address(broker), group)
    claim(store, "web-1", topic=topic)
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group, "client.id": "member"})
    consumer.subscribe([topic])
    harness.wait_until(lambda: consumer.poll(0.1) or consumer.assignment(), 30, "the assignment")

    def owners():
        owned = insight.ask(broker, f"groups/{group}/ownership")
        clients = {one["member_id"]: one["client_id"] for one in owned["members"]}
        return [clients[one["member_id"]] for one in owned["partitions"]]

    assert owners() == ["web-1"]
    claim(store, "web-1", topic=topic, release=True)
    assert owners() == ["member"]
    consumer.close()


def test_of_many_who_claim_the_same_at_once_one_has_it(broker, unique):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, 1)
    address = insight.address(broker)
    tag = claim(claims_processor.Store(address, group), "first", topic=topic, lifetime_ms=100)["tag"]
    time.sleep(0.1)  # For its expiry there is no event: nothing happens then.
    answers = {}

    def run(owner):
        answers[owner] = claim(claims_processor.Store(address, group), owner, topic=topic, tag=tag)

    threads = [threading.Thread(target=run, args=(f"web-{number}",)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winners = [owner for owner, answer in answers.items() if "reason" not in answer]
    assert len(winners) == 1
    assert {answer["current"]["owner"] for answer in answers.values() if "reason" in answer} == set(winners)


def settle(owners, strategy, claims=(), rounds=200):
    """What they have in the end, when each takes its turn in a random order; and how many claims were made."""
    rng = random.Random(7)
    rows = {row["partition"]: dict(row) for row in claims}
    made = 0
    for _ in range(rounds):
        before = made
        for owner in rng.sample(owners, len(owners)):
            for partition in claims_processor.wanted(list(rows.values()), PARTITIONS, owner, strategy, rng):
                rows[partition] = {"partition": partition, "owner": owner, "valid": True, "tag": "1"}
                made += 1
        if made == before:
            break
    else:
        raise AssertionError("they never rest")
    return list(rows.values()), made


@pytest.mark.parametrize("strategy", ("balanced", "greedy"))
@pytest.mark.parametrize("count", (1, 2, 3, 5, 7, 31, 32, 33, 40))
def test_the_rule_of_the_processors_comes_to_rest_with_fair_shares(strategy, count):
    owners = [f"web-{number}" for number in range(count)]
    rows, _ = settle(owners[:1], strategy)
    rows, _ = settle(owners, strategy, rows)
    shares = collections.Counter(row["owner"] for row in rows)
    assert sum(shares.values()) == PARTITIONS
    if count <= PARTITIONS:
        assert set(shares.values()) <= {PARTITIONS // count, -(-PARTITIONS // count)} and len(shares) == count
    # The claims of the last one expire.
    left, _ = settle(owners[:-1] or owners, strategy, [{**row, "valid": row["owner"] != owners[-1]} for row in rows])
    assert len({row["partition"] for row in left}) == PARTITIONS and all(row["valid"] for row in left)


class Processors:
    """Processes, each with what it told."""

    def __init__(self, broker, topic, group, strategy):
        self.arguments = [insight.address(broker), broker.bootstrap, topic, group]
        self.strategy = strategy
        self.running = {}
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process, reader in self.running.values():
            process.kill()
            process.wait()
            reader.join()

    def start(self, owner):
        process = subprocess.Popen([sys.executable, "-B", str(harness.HERE / "claims_processor.py"), *self.arguments, owner, self.strategy],
                                   stdout=subprocess.PIPE, text=True)

        def read():
            for line in process.stdout:
                if line.endswith("\n"):  # Else it was cut off by its end.
                    self.events.append(json.loads(line))

        reader = threading.Thread(target=read)
        reader.start()
        self.running[owner] = process, reader

    def kill(self, owner):
        process, reader = self.running.pop(owner)
        process.kill()
        process.wait()
        reader.join()

    def check(self):
        for owner, (process, _) in self.running.items():
            assert process.poll() is None, f"{owner} ended with {process.returncode}"


@pytest.mark.parametrize("strategy", ("balanced", "greedy"))
def test_processors_share_partitions_out_and_lose_nothing(broker, unique, strategy):
    topic, group = unique("topic"), unique("group")
    insight.create(broker, topic, PARTITIONS)
    store = claims_processor.Store(insight.address(broker), group)
    written = collections.Counter()
    stop = threading.Event()

    def write():
        producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 5})

        def delivered(error, message):
            assert error is None
            written[message.partition()] += 1

        number = 0
        while not stop.wait(0.02):
            for _ in range(8):
                producer.produce(topic, str(number), partition=number % PARTITIONS, on_delivery=delivered)
                number += 1
            producer.poll(0)
        producer.flush(60)

    def shares():
        processors.check()
        return sorted(collections.Counter(one["owner"] for one in store.ask("claims")["claims"] if one["valid"]).values())

    def wait_for_shares(expected):
        harness.wait_until(lambda: shares() == expected, 60, lambda: f"shares {expected}: {shares()}")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with Processors(broker, topic, group, strategy) as processors:
            processors.start("web-1")
            wait_for_shares([32])
            processors.start("web-2")
            wait_for_shares([16, 16])
            processors.start("web-3")
            wait_for_shares([10, 11, 11])
            owned = insight.ask(broker, f"groups/{group}/ownership")
            assert len({one["member_id"] for one in owned["partitions"]}) == 3 and len(owned["partitions"]) == PARTITIONS
            # Each took what it lacked: ordinary, however many there were.
            assert owned["takeover_kinds"]["normal"] >= 16 + 10
            assert owned["takeover_kinds"]["lost"] == owned["takeover_kinds"]["stolen"] == owned["takeover_kinds"]["flapping"] == 0
            had = sum(one["member_id"] == "web-2" for one in owned["partitions"])
            processors.kill("web-2")
            wait_for_shares([16, 16])
            kinds = insight.ask(broker, f"groups/{group}/ownership")["takeover_kinds"]
            assert kinds["lost"] == had and kinds["stolen"] == 0
            stop.set()
            writer.join()

            def handled():
                processors.check()
                return collections.Counter(one["partition"] for one in
                                           {(e["partition"], e["offset"]): e for e in list(processors.events) if e["event"] == "handled"}.values())

            harness.wait_until(lambda: handled() == written, 60, lambda: f"all of {sum(written.values())}: {sum(handled().values())}")
            assert [one for one in insight.ask(broker, "findings")["findings"] if one["subject"].get("group") == group] == []
            lost = [one for one in processors.events if one["event"] == "lost"]
            # A third one may take it before the first one asks again.
            assert {"stolen"} <= {one["reason"] for one in lost} <= {"stolen", "stale_tag"}
            assert all(one["to"] in {"web-1", "web-2", "web-3"} - {one["owner"]} for one in lost)
            twice = sum(e["event"] == "handled" for e in processors.events) - sum(written.values())
            print(f"{strategy}: {sum(written.values())} records, {twice} handled twice, {len(lost)} partitions moved while both were alive")
    finally:
        stop.set()
        writer.join()
