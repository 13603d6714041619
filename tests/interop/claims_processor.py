"""A processor as those of managed event services are: it shares out the partitions of a topic with others of its kind by claims in a store,
here the broker's own (docs/ownership.md), and no consumer group. It is an example, and what test_claims.py runs.

    claims_processor.py HTTP-ADDRESS BOOTSTRAP TOPIC GROUP OWNER balanced|greedy

Each handled record, and each partition that comes or goes, is a line of JSON on standard output."""

import collections
import json
import random
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import confluent_kafka

BALANCE_EVERY_S = 0.5
LIFETIME_MS = 8000
CHECKPOINT_EVERY = 20


def wanted(claims, partitions, owner, strategy, choose=random):
    """The partitions, and for each the tag that it is claimed by (None: nobody has it), that `owner` takes next.

    Owners are counted by their valid claims, and `owner` itself. Each may have as many as all others, some one more where it does not come out
    even. First what nobody has; then from whoever has most, as long as that has at least two more. `balanced` takes one at a time, `greedy`
    all that it lacks."""
    held = collections.defaultdict(list)
    tags = {}
    for claim in claims:
        tags[claim["partition"]] = claim["tag"]
        if claim["valid"]:
            held[claim["owner"]].append(claim["partition"])
    mine = len(held[owner])
    share, rest = divmod(partitions, len(held))
    with_one_more = sum(len(has) > share for name, has in held.items() if name != owner)
    lacks = share + (with_one_more < rest) - mine
    if strategy == "balanced":
        lacks = min(lacks, 1)
    taken = {partition for has in held.values() for partition in has}
    free = [partition for partition in range(partitions) if partition not in taken]
    choose.shuffle(free)
    wishes = {partition: tags.get(partition) for partition in free[:max(0, lacks)]}
    others = {name: list(has) for name, has in held.items() if name != owner}
    while len(wishes) < lacks and others:
        richest = max(others.values(), key=len)
        if len(richest) < mine + len(wishes) + 2:
            break
        partition = richest.pop(choose.randrange(len(richest)))
        wishes[partition] = tags[partition]
    return wishes


class Store:
    """The store of claims and checkpoints of one group."""

    def __init__(self, address, group):
        self.base = f"http://{address}/v1/groups/{urllib.parse.quote(group, safe='')}"

    def ask(self, path, body=None):
        """412 is an answer, too: nothing of what was asked for was done, and `refused` says why."""
        request = urllib.request.Request(f"{self.base}/{path}", data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            if refused.code != 412:
                raise
            return json.load(refused)


class Processor:
    def __init__(self, address, bootstrap, topic, group, owner, strategy):
        self.store, self.topic, self.owner, self.strategy = Store(address, group), topic, owner, strategy
        self.consumer = confluent_kafka.Consumer({"bootstrap.servers": bootstrap, "group.id": group, "enable.auto.commit": False,
                                                  "auto.offset.reset": "earliest"})
        self.partitions = len(self.consumer.list_topics(topic, 20).topics[topic].partitions)
        self.tags = {}  # Of my claims, by partition.
        self.next = {}  # Offsets.
        self.told = {}  # The last checkpoints.

    def tell(self, **event):
        print(json.dumps({"owner": self.owner, "time": time.time(), **event}), flush=True)

    def claim(self, wishes):
        """The claims that I have now, and what was refused."""
        if not wishes:
            return [], []
        claims = [{"topic": self.topic, "partition": partition, **({} if tag is None else {"tag": tag})} for partition, tag in wishes.items()]
        answer = self.store.ask("claims", {"owner": self.owner, "lifetime_ms": LIFETIME_MS, "claims": claims})
        return answer["claims"], answer["refused"]

    def balance(self):
        before = set(self.tags)
        renewed, refused = self.claim(self.tags)
        self.tags = {claim["partition"]: claim["tag"] for claim in renewed}
        for lost in refused:
            self.tell(event="lost", partition=lost["partition"], reason=lost["reason"], to=(lost["current"] or {}).get("owner"))
        known = self.store.ask(f"claims?topic={self.topic}")["claims"]
        won, _ = self.claim(wanted(known, self.partitions, self.owner, self.strategy))
        self.tags.update({claim["partition"]: claim["tag"] for claim in won})
        if won:
            kept = {row["partition"]: row["offset"] for row in self.store.ask(f"checkpoints?topic={self.topic}")["checkpoints"]}
            for claim in won:
                self.next[claim["partition"]] = kept.get(claim["partition"], 0)
                self.tell(event="won", partition=claim["partition"], offset=self.next[claim["partition"]])
        if before != set(self.tags):
            self.consumer.assign([confluent_kafka.TopicPartition(self.topic, partition, self.next[partition]) for partition in self.tags])

    def checkpoint(self, partitions):
        """The next offset to read: whoever comes after me begins there. A partition that I have no more is refused; the next renewal says so."""
        rows = [{"topic": self.topic, "partition": partition, "offset": self.next[partition], "sequence_number": self.next[partition] - 1}
                for partition in partitions if self.next[partition] > self.told.get(partition, 0)]
        if rows:
            for row in self.store.ask("checkpoints", {"owner": self.owner, "checkpoints": rows})["checkpoints"]:
                self.told[row["partition"]] = self.next[row["partition"]]

    def run(self):
        due = time.monotonic()
        while True:
            if time.monotonic() >= due:
                self.checkpoint(self.tags)
                self.balance()
                # Not all at the same moments.
                due = time.monotonic() + BALANCE_EVERY_S * random.uniform(0.8, 1.2)
            message = self.consumer.poll(max(0.0, min(0.1, due - time.monotonic())))
            if message is None or message.error() or message.partition() not in self.tags:
                continue
            self.tell(event="handled", partition=message.partition(), offset=message.offset())
            self.next[message.partition()] = message.offset() + 1
            if message.offset() % CHECKPOINT_EVERY == 0:
                self.checkpoint([message.partition()])


if __name__ == "__main__":
    Processor(*sys.argv[1:]).run()
