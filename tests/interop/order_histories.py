"""Random histories of groups that read a topic with a backlog while it grows, with librdkafka at full speed. Each judges H06 by what
the application received. `test_order_histories.py` plays some; by hand, with more:

    tests/interop/run_module test_order_histories.py -k random    (PARTITA_LONG_TESTS=1: 500 groups)

A history is one topic with several groups at once, and follows from its seed."""

import concurrent.futures
import dataclasses
import random
import threading
import time

import confluent_kafka

import harness
import insight
import writing

#: A group whose members cannot finish in this time has lost records.
PATIENCE_S = 90
BATCH = 500


@dataclasses.dataclass
class GroupPlan:
    """How one group reads."""

    name: str
    #: It is one consumer in no group, which assigns itself all partitions that it finds at its beginning.
    assigns: bool
    #: The share of the older records that it reads before the growth; None: it begins after the growth.
    read_before: float | None
    members: int
    #: Null: it commits only at its end.
    commit_interval_ms: int | None
    #: Members that leave, and are replaced, after so many records each.
    replacements: list[int]
    #: A member pauses a partition after each so many records, and resumes it after as many.
    pause_every: int | None
    #: How many records librdkafka fetches ahead.
    ahead: int

    def __str__(self):
        if self.assigns:
            return f"{self.name}: assigns itself all partitions, ahead {self.ahead}"
        return (f"{self.name}: read {self.read_before} before, {self.members} members, commits {self.commit_interval_ms} ms, "
                f"replaced after {self.replacements}, pauses {self.pause_every}, ahead {self.ahead}")


@dataclasses.dataclass
class Plan:
    seed: int
    old: int
    new: int
    #: A second growth, while the groups read; None: there is none.
    newer: int | None
    #: The members stay while the topic grows; otherwise the groups are away.
    at_work: bool
    keys: int
    before: int
    after: int
    #: Records after each growth, before the others, by a producer that does not learn of growths.
    late: int
    groups: list[GroupPlan]

    def __str__(self):
        lines = [f"seed {self.seed}: {self.old} to {self.new} partitions, then {self.newer}, {'at work' if self.at_work else 'away'}; "
                 f"{self.keys} keys; {self.before} records before, {self.late} late, {self.after} after"]
        return "\n  ".join(lines + [str(group) for group in self.groups])


def plan_of(seed, groups):
    """The history of the seed, with so many groups."""
    dice = random.Random(seed)
    old = dice.choice([1, 2, 3, 4, 6, 8])
    new = dice.choice([old + 1, old + 2, 2 * old, 2 * old + 1])
    before = dice.choice([500, 3000, 10_000, 20_000])
    return Plan(seed=seed, old=old, new=new, newer=dice.choice([None, None, new + dice.randint(1, 4)]),
                at_work=dice.random() < 0.3, keys=dice.choice([20, 300, 2000]),
                before=before, after=dice.choice([before // 10, before // 2, before]),
                # Histories without such a producer are what they were before there was one.
                late=random.Random(f"late {seed}").choice([0, before // 10, before // 2]),
                groups=[group_of(dice, seed, index, before) for index in range(groups)])


def group_of(dice, seed, index, before):
    assigns = dice.random() < 0.15
    members = 1 if assigns else dice.choice([1, 1, 2, 3])
    return GroupPlan(name=f"history-{seed}-{index}", assigns=assigns, read_before=dice.choice([None, 0, 0.1, 0.25, 0.5, 0.9, 1]), members=members,
                     commit_interval_ms=dice.choice([100, 1000, 5000, None]),
                     replacements=[dice.randint(1, before) for _ in range(dice.choice([0, 0, 1, 2]))],
                     pause_every=dice.choice([None, None, None, dice.randint(50, 2000)]), ahead=dice.choice([1000, 100_000, 100_000]))


class Application:
    """The members of one group, and what they received, in the order in which they received it."""

    def __init__(self, broker, topic, plan):
        self.plan = plan
        self.topic = topic
        self.config = {"bootstrap.servers": broker.bootstrap, "group.id": plan.name, "auto.offset.reset": "earliest",
                       "topic.metadata.refresh.interval.ms": 500, "queued.min.messages": plan.ahead,
                       # Stored when a record is noted: a commit must not be behind what the application has taken.
                       "enable.auto.offset.store": False, "enable.auto.commit": plan.commit_interval_ms is not None,
                       "auto.commit.interval.ms": plan.commit_interval_ms or 5000, "client.id": plan.name,
                       "on_commit": self.note_commit}
        self.lock = threading.Lock()
        self.received = []
        #: How many of them came before the growth.
        self.before = 0
        #: What each consumer received. Without commits each one begins anew.
        self.passes = []
        self.distinct = set()
        #: Received, and its offset was refused: the partition had another owner by then, who is given the record again.
        self.unstored = set()
        #: Commits that the broker refused, at a rebalance for example.
        self.refused_commits = 0
        self.replacements = list(plan.replacements)

    def note_commit(self, error, _):
        if error is not None and error.code() != confluent_kafka.KafkaError._NO_OFFSET:
            with self.lock:
                self.refused_commits += 1

    def begin_pass(self):
        with self.lock:
            self.passes.append([])
            return self.passes[-1]

    def note(self, messages, own):
        with self.lock:
            for message in messages:
                number = int(message.value())
                self.received.append(number)
                own.append(number)
                self.distinct.add(number)

    def store(self, consumer, messages):
        """Offsets of partitions that were revoked since are refused, and belong to the next owner."""
        ends = {message.partition(): message.offset() + 1 for message in messages}
        for partition, offset in ends.items():
            try:
                consumer.store_offsets(offsets=[confluent_kafka.TopicPartition(self.topic, partition, offset)])
            except confluent_kafka.KafkaException:
                with self.lock:
                    self.unstored.update(int(message.value()) for message in messages if message.partition() == partition)

    def outsider(self, count, deadline):
        """Reads everything, in no group, from the beginning of all partitions."""
        consumer = confluent_kafka.Consumer({**self.config, "enable.auto.commit": False})
        partitions = consumer.list_topics(self.topic, 30).topics[self.topic].partitions
        consumer.assign([confluent_kafka.TopicPartition(self.topic, partition, confluent_kafka.OFFSET_BEGINNING)
                         for partition in partitions])
        own = self.begin_pass()
        while len(self.distinct) < count and time.monotonic() < deadline:
            self.note([message for message in consumer.consume(BATCH, 0.1) if not message.error()], own)
        consumer.close()

    def member(self, count, deadline):
        """Reads until the group has received so many records. It leaves early, and another begins, if the plan says so."""
        consumer = confluent_kafka.Consumer(self.config)
        consumer.subscribe([self.topic])
        mine, paused, next_pause = 0, [], self.plan.pause_every
        own = self.begin_pass()
        while len(self.distinct) < count and time.monotonic() < deadline:
            messages = [message for message in consumer.consume(BATCH, 0.1) if not message.error()]
            self.note(messages, own)
            self.store(consumer, messages)
            mine += len(messages)
            with self.lock:
                leaves = bool(self.replacements) and mine >= self.replacements[0] and self.replacements.pop(0)
            if leaves:
                consumer.close()
                own = self.begin_pass()
                consumer = confluent_kafka.Consumer(self.config)
                consumer.subscribe([self.topic])
                mine, paused, next_pause = 0, [], self.plan.pause_every
            elif next_pause and mine >= next_pause and consumer.assignment():
                if paused:
                    consumer.resume(paused)
                    paused = []
                else:
                    paused = consumer.assignment()[:1]
                    consumer.pause(paused)
                next_pause = mine + self.plan.pause_every
            elif paused and not messages:
                consumer.resume(paused)
                paused = []
        consumer.close()

    def commit_everything(self, writer):
        """Ends the group's part: it has received everything."""
        consumer = confluent_kafka.Consumer(self.config)
        consumer.commit(offsets=[confluent_kafka.TopicPartition(self.topic, partition, end) for partition, end in writer.ends().items()],
                        asynchronous=False)
        consumer.close()

    def run(self, count):
        deadline = time.monotonic() + PATIENCE_S
        read = self.outsider if self.plan.assigns else self.member
        with concurrent.futures.ThreadPoolExecutor(self.plan.members) as threads:
            for member in [threads.submit(read, count, deadline) for _ in range(self.plan.members)]:
                member.result()
        assert len(self.distinct) >= count, f"{len(self.distinct)} of {count} records came: {self.plan}"


@dataclasses.dataclass
class Verdict:
    """One group: what its application received, and what the broker told."""

    plan: GroupPlan
    #: It reads in no group, and a producer learned late of a growth: the broker does not judge all of that, and says so.
    may_be_inexact: bool
    suffered: set
    #: Keys in wrong order within the pass of one consumer. If the group has committed nothing and has no member while the topic
    #: grows, the broker judges it anew, and the application may have had the older record in an earlier pass.
    suffered_anew: set
    told: set
    #: Those of `told` that the broker leaves open, and further keys of which it says that they may be.
    open: set
    perhaps: int
    is_exact: bool
    #: Keys with a record that the application received and could not store: for the broker it was not taken.
    unstored: set
    refused_commits: int

    @property
    def invented(self):
        """Told as certain, and not suffered."""
        return self.told - self.open - self.suffered - self.suffered_anew - self.unstored

    @property
    def missed(self):
        """Suffered, and neither told nor left open."""
        return max(0, len(self.suffered - self.told) - self.perhaps)

    @property
    def is_right(self):
        return (self.is_exact or self.may_be_inexact) and not self.invented and not self.missed

    def __str__(self):
        return (f"{len(self.suffered)} suffered, {len(self.told)} told ({len(self.open)} of them open), {self.perhaps} perhaps, "
                f"{'exact' if self.is_exact else 'at least'}; {self.refused_commits} commits refused; invented {len(self.invented)}, missed {self.missed}: {self.plan}")


def verdict_on(broker, topic, application, writer, at_work, has_late):
    """Compares what the application received with what the broker tells now."""
    plan = application.plan
    reader = {"client_id": plan.name} if plan.assigns else {"group": plan.name}
    finding = insight.finding(broker, topic, "H06", **reader)
    listed = insight.wrong_keys(broker, topic, **reader)
    numbers = finding["numbers"] if finding else {}
    # A group that is away and has committed nothing begins anew.
    begins_anew = plan.commit_interval_ms is None and not at_work
    received = application.received[application.before:] if begins_anew else application.received
    suffered_anew = set()
    if plan.commit_interval_ms is None:
        suffered_anew = set().union(*(writer.wrong_keys(own) for own in application.passes))
    return Verdict(plan=plan, may_be_inexact=plan.assigns and has_late, suffered=writer.wrong_keys(received), suffered_anew=suffered_anew, told={key["key"] for key in listed},
                   open={key["key"] for key in listed if key["is_in_two_members"]},
                   perhaps=sum(numbers.get(name, 0) for name in ("overlapping_keys", "unattributed_keys", "given_back_keys")),
                   is_exact=bool(numbers.get("is_exact", 1)),
                   unstored={writer.key_of(number) for number in application.unstored},
                   refused_commits=application.refused_commits)


def judge(broker, topic, application, writer, at_work, has_late):
    """The verdict once the broker has judged everything. It is late while it reads the log."""
    if not application.plan.assigns:
        application.commit_everything(writer)
        insight.wait_until_closed(broker, topic, "H03", seconds=60, group=application.plan.name)
    verdicts = []

    def is_right():
        verdicts.append(verdict_on(broker, topic, application, writer, at_work, has_late))
        return verdicts[-1].is_right
    harness.is_seen_within(is_right, 20)
    return verdicts[-1]


def play(broker, plan):
    """Plays the history. Returns a verdict for each group."""
    topic = f"history-{plan.seed}"
    insight.create(broker, topic, plan.old)
    writer = writing.Writer(broker, topic, plan.keys)
    writer.write(plan.before)
    applications = [Application(broker, topic, group) for group in plan.groups]
    total = plan.before + (plan.late + plan.after) * (2 if plan.newer else 1)

    def write_after():
        writer.write_late(plan.late)
        writer.write(plan.after)

    def grow():
        insight.grow(broker, topic, plan.new)
        write_after()

    with concurrent.futures.ThreadPoolExecutor(len(applications)) as threads:
        def begin(count_of):
            return [threads.submit(application.run, count_of(application.plan)) for application in applications
                    if count_of(application.plan)]

        if not plan.at_work:
            for run in begin(lambda group: 0 if group.assigns else int((group.read_before or 0) * plan.before)):
                run.result()
            for application in applications:
                application.before = len(application.received)
            grow()
        runs = begin(lambda group: 0 if group.assigns else total)
        if plan.at_work:
            # Those that are fastest have read something by now.
            harness.wait_until(lambda: any(application.distinct for application in applications), 30, "the first record")
            grow()
        if plan.newer:
            insight.grow(broker, topic, plan.newer)
            write_after()
        # A consumer that assigns itself partitions does not learn of further ones.
        runs += begin(lambda group: total if group.assigns else 0)
        for run in runs:
            run.result()
    return [judge(broker, topic, application, writer, plan.at_work, plan.late > 0) for application in applications]
