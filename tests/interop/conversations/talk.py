"""What a conversation speaks with: requests, expectations, waits; and the transcript that is compared.

    @conversation
    def unknown_topic(talk):
        talk.ask("DeleteTopics", 6, Topics=[{"Name": "nobody"}], error="UNKNOWN_TOPIC_OR_PARTITION")

`error` is what the script expects: the names of all error codes in the answer that are not NONE (one name, or a list in
the order of the answer). The rest of the answer is compared with what Apache Kafka said to the same request.
"""

import re
import time

import wire

REGISTERED = []
ANSWER_DEADLINE_S = 10
#: The fields by which a request says how long the broker may hold it back, in milliseconds.
WAITS = ("MaxWaitMs", "RebalanceTimeoutMs", "TimeoutMs")
#: Shorter waits have no class: a busy machine may take as long.
SHORTEST_WAIT_S = 1
#: An answer before this part of the wait came at once, and one after that part came when the wait was over.
AT_ONCE, OVER = 0.4, 0.95
#: How long a request may take to show that it is answered at once, before the next step of its conversation.
SETTLED_S = 0.3
ERROR_FIELDS = ("ErrorCode", "PartitionErrorCode")


class Conversation:
    def __init__(self, script, alone, properties, fresh):
        self.script, self.alone, self.properties, self.fresh = script, alone, properties, fresh
        self.module = script.__module__.rsplit(".", 1)[-1]
        self.name = f"{self.module}/{script.__name__.replace('_', ' ')}"


def conversation(script=None, *, alone=False, properties=None, fresh=False):
    """Registers a script. `alone`: it looks at or changes what all share, so it runs before the others and by itself.
    `properties`: it needs a broker of its own kind; conversations with equal properties share one. `fresh`: it needs a broker
    of its own that has not made the topics of its coordinators yet."""
    def register(function):
        REGISTERED.append(Conversation(function, alone, dict(properties or {}), fresh))
        return function
    return register(script) if script else register


def versions(api):
    """All versions of an API, oldest first."""
    return range(wire.oldest(api), wire.newest(api) + 1)


def ends(api):
    """The oldest and the newest version."""
    return sorted({wire.oldest(api), wire.newest(api)})


def errors_of(value):
    """The names of all error codes other than NONE, in the order of the answer."""
    found = []
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ERROR_FIELDS and inner != 0:
                found.append(wire.ERRORS.get(inner, str(inner)))
            else:
                found += errors_of(inner)
    elif isinstance(value, list):
        for inner in value:
            found += errors_of(inner)
    return found


def longest_wait(fields):
    """How long, in seconds, a broker may hold back a request with these fields; 0 where that is too short to be told apart."""
    # Nobody answers a Produce without acknowledgement.
    named = 0 if fields.get("Acks") == 0 else max(fields.get(name) or 0 for name in WAITS)
    return named / 1000 if named >= SHORTEST_WAIT_S * 1000 else 0


class NotServed(Exception):
    """The broker does not advertise an API that a conversation needs."""


class Talk:
    """One run of a conversation against one broker."""

    def __init__(self, host, port, name, served=None, prefix=""):
        self.host, self.port, self.name, self.served = host, port, name, served
        # Every conversation has names of its own, the same in every run; `prefix` keeps them apart on a used broker.
        self.prefix = prefix + re.sub(r"[^a-z0-9]+", "-", name.lower()) + "-"
        self.connections, self.sources = {}, {}
        self.pending = []
        self.steps = []
        self.missed = []
        self.created = []

    # -- names ------------------------------------------------------------------------------------

    def named(self, word):
        """A name that only this conversation uses: for topics, groups."""
        return self.prefix + word

    # -- connections ------------------------------------------------------------------------------

    def connect(self, name, client_id="conversation", source=None):
        self.sources[name] = source = source or self.sources.get(name)
        self.connections[name] = wire.Connection(self.host, self.port, client_id, source)
        return self.connections[name]

    def connection(self, name):
        return self.connections.get(name) or self.connect(name)

    def drop(self, name):
        """Ends a connection without a word."""
        self._forget(self.connections[name])

    def close(self):
        for open_one in self.connections.values():
            open_one.close()

    # -- requests ---------------------------------------------------------------------------------

    def send(self, api, version, *, on="", body=None, **fields):
        """Sends and does not wait. `body` are bytes to send instead of fields."""
        if self.served is not None and api not in self.served:
            raise NotServed(api)
        step = {"ask": f"{api} v{version}", "message": wire.APIS[api]["request"], "request": fields}
        if body is not None:
            step["request"] = {"raw": body.hex()}
        if on:
            step["on"] = on
        self._settle(on)
        self.steps.append(step)
        try:
            pending = self.connection(on).send(api, version, fields, body)
        except wire.Closed:
            step["answer"] = "the connection is closed"
            return None
        pending.step, pending.longest_wait, pending.has_waited, pending.seen_at = step, longest_wait(fields), False, None
        self.pending.append(pending)
        return pending

    def _settle(self, on):
        """Before another step: finds out which of the requests that may be held back wait for it."""
        for pending in self.pending:
            is_open = pending.longest_wait and not pending.has_waited and pending.seen_at is None
            if is_open and pending.connection is not self.connections.get(on):
                self._is_answered(pending, SETTLED_S)

    @staticmethod
    def _is_answered(pending, seconds):
        """Waits for the answer, and notes when it was there."""
        answered = pending.connection.readable(seconds)
        if answered:
            pending.seen_at = pending.seen_at or time.monotonic()
        else:
            pending.has_waited = True
        return answered

    def answer(self, pending, error="NONE", seconds=ANSWER_DEADLINE_S):
        """The answer to a request that was sent; {} when there is none, which the transcript shows."""
        if pending is None:
            return {}
        step = pending.step
        self.pending = [each for each in self.pending if each is not pending]
        try:
            answer = pending.connection.answer(pending, seconds)
        except wire.Closed:
            step["answer"] = "the connection is closed"
            self._forget(pending.connection)
            self._expect(step, ["closed"], error)
            return {}
        except wire.NoAnswer:
            step["answer"] = "no answer"
            self._forget(pending.connection)
            self._expect(step, ["silence"], error)
            return {}
        except wire.Malformed as malformed:
            step["answer"] = f"malformed: {malformed}"
            self._expect(step, ["malformed"], error)
            return {}
        step["answer"], step["answered_at"] = answer, time.monotonic()
        self._note_time(pending)
        self._expect(step, errors_of(answer), error)
        return answer

    def _note_time(self, pending):
        """Puts into the step when its answer came, unless that was at once."""
        wait, took = pending.longest_wait, (pending.seen_at or pending.answered_at) - pending.sent_at
        if wait and took >= OVER * wait:
            pending.step["when"] = "when its wait is over"
        elif pending.has_waited:
            pending.step["when"] = "when something comes"
        elif wait and took > AT_ONCE * wait:
            pending.step["when"] = f"after {took:.1f} s, and it may wait {wait:.1f} s"
            self.missed.append(f"{pending.step['ask']} takes {took:.1f} of {wait:.1f} s: neither no time nor all of it")

    def _forget(self, connection):
        """The next request under this name opens another connection."""
        connection.close()
        self.connections = {name: each for name, each in self.connections.items() if each is not connection}
        self.pending = [each for each in self.pending if each.connection is not connection]

    def ask(self, api, version, *, error="NONE", on="", seconds=ANSWER_DEADLINE_S, body=None, **fields):
        """Sends a request and waits for its answer. error="closed" expects that the broker hangs up instead."""
        return self.answer(self.send(api, version, on=on, body=body, **fields), error, seconds)

    def ask_until(self, api, version, wanted="NONE", *, on="", seconds=ANSWER_DEADLINE_S, **fields):
        """Asks again until the errors of the answer are the wanted ones (or `wanted(answer)` holds): for what a real
        Kafka shows some milliseconds after it acknowledged it. Only the last exchange is in the transcript."""
        holds = wanted if callable(wanted) else lambda answer: _same_errors(errors_of(answer), wanted)
        end = time.monotonic() + seconds
        while True:
            length, missed = len(self.steps), len(self.missed)
            answer = self.ask(api, version, error=None, on=on, **fields)
            if holds(answer) or time.monotonic() > end:
                if not holds(answer):
                    self._expect(self.steps[-1], errors_of(answer), wanted if not callable(wanted) else "what it waits for")
                return answer
            del self.steps[length:], self.missed[missed:]
            time.sleep(0.01)

    def quietly(self, api, version, wanted="NONE", **fields):
        """ask_until that leaves nothing in the transcript: for what only prepares a conversation."""
        length = len(self.steps)
        answer = self.ask_until(api, version, wanted, **fields)
        del self.steps[length:]
        return answer

    def _expect(self, step, found, wanted):
        if wanted is not None and not _same_errors(found, wanted):
            self.missed.append(f"{step['ask']} {step['request']}: expected {wanted}, the answer is {step['answer']}")

    # -- time and order ---------------------------------------------------------------------------

    def takes(self, what, seconds, tolerance, since, until=None):
        """Puts into the transcript whether something took its time: `since` is a monotonic time or a pending request."""
        begin = since.sent_at if isinstance(since, wire.Pending) else since
        end = until.answered_at if isinstance(until, wire.Pending) else until or time.monotonic()
        took = (end or time.monotonic()) - begin
        near = abs(took - seconds) <= tolerance
        verdict = f"{seconds} s, within {tolerance} s" if near else f"{took:.1f} s, not {seconds} s within {tolerance} s"
        self.steps.append({"note": f"{what} takes {verdict}"})
        if not near:
            self.missed.append(f"{what} takes {verdict}")

    def waits(self, pending, seconds=0.4):
        """Puts into the transcript whether a request is still unanswered after some time."""
        answered = pending is not None and self._is_answered(pending, seconds)
        self.steps.append({"note": f"{pending.api if pending else 'it'} " +
                           ("is answered at once" if answered else f"waits for at least {seconds} s")})
        if answered:
            self.missed.append(f"{pending.api} is answered, but should wait")

    def note(self, text):
        self.steps.append({"note": text})

    # -- what many conversations need ---------------------------------------------------------------

    def topic(self, word="topic", partitions=1, **configs):
        """Creates a topic and waits until all of its partitions are served. Returns (name, id)."""
        name = self.named(word)
        length = len(self.steps)
        answer = self.ask("CreateTopics", wire.newest("CreateTopics"), Topics=[
            {"Name": name, "NumPartitions": partitions, "ReplicationFactor": 1,
             "Configs": [{"Name": key.replace("_", "."), "Value": str(value)} for key, value in configs.items()]}],
            TimeoutMs=30000)
        del self.steps[length:]
        self.created.append(name)
        self.served_now(name, range(partitions))
        return name, answer["Topics"][0]["TopicId"] if answer else None

    def delete_topics(self):
        """Deletes what `topic` created, and waits until nobody sees it: the next one looks at all topics."""
        names = [{"Name": name} for name in self.created]
        if names:
            self.quietly("DeleteTopics", 6, lambda answer: True, Topics=names, TimeoutMs=30000)
            self.quietly("Metadata", 12, "UNKNOWN_TOPIC_OR_PARTITION", Topics=names, AllowAutoTopicCreation=False)

    def served_now(self, name, partitions):
        """Waits until the broker leads all these partitions; a busy machine may take its time."""
        self.quietly("ListOffsets", 7, seconds=60, ReplicaId=-1, Topics=[{"Name": name, "Partitions": [
            {"PartitionIndex": index, "CurrentLeaderEpoch": -1, "Timestamp": -1} for index in partitions]}])


def _same_errors(found, wanted):
    if wanted == "NONE":
        return not found
    return found == ([wanted] if isinstance(wanted, str) else list(wanted)) or (
        isinstance(wanted, str) and set(found) == {wanted})
