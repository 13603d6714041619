"""A broker with its test bench on: what that costs clients (B beside T, the same binary with the bench), and how quick the bench
itself is. Rows of the second kind start a broker of their own, and their figures stand under B."""

import json
import statistics
import time
import urllib.request

from rows import SMALL, Consume, EndToEnd, Produce, Replay, Row

SESSIONS = 10_000
MEMBERS = 1000
FORMATIONS = 5  # groups that a run of the replay client's `rejoin` leaves behind, each with all its members
SESSION_MS = 30_000
SNAPSHOT_MEGABYTES = 1000
CHANGES = 9
TIMEOUT_S = 120


class ProduceBesideBench(Produce):
    contenders = ("B", "T")
    rivals = False

    def __init__(self):
        super().__init__("bench-on-produce", "produce 100 B records with keys, the test bench off (B) and on without a rule (T)",
                         (("cpu_s_per_gb", "T", -0.98),), partitions=16, share=2, **SMALL)


class ConsumeBesideBench(Consume):
    contenders = ("B", "T")
    rivals = False

    def __init__(self):
        super().__init__(1)
        self.name, self.text = "bench-on-consume", f"{self.text}, the test bench off (B) and on without a rule (T)"
        self.bars = (("cpu_s_per_gb", "T", -0.98),)


class EndToEndBesideBench(EndToEnd):
    contenders = ("B", "T")
    rivals = False

    def __init__(self):
        super().__init__(10_000)
        self.name, self.text = "bench-on-end-to-end", f"{self.text}, the test bench off (B) and on without a rule (T)"
        self.bars = (("latency_p50_us", "T", -0.95),)


class OfBench(Replay):
    contenders = ("B",)
    rivals = False

    def ask(self, session, method, path, body=None):
        """The answer over HTTP, and the milliseconds until it came."""
        request = urllib.request.Request(f"http://127.0.0.1:{session.http_port}{path}", method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        began = time.monotonic()
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            text = answer.read()
        return json.loads(text), 1000 * (time.monotonic() - began)


class ClockStep(OfBench):
    name = "bench-clock"
    text = f"the clock moves over the end of {SESSIONS:,} sessions of group members, in {SESSIONS // MEMBERS} groups"
    figures = (("step_ms", "ms", "less"),)
    bars = (("step_ms", None, 100),)

    def measure(self, session, bench):
        with bench.contenders["T"].session() as fresh:
            for _ in range(SESSIONS // MEMBERS // FORMATIONS):
                self.replay(fresh, bench, "unused", "rejoin", members=MEMBERS, rounds=1)
            self.check_states(fresh, "Stable")
            _, step_ms = self.ask(fresh, "POST", "/v1/clock", {"advance_ms": SESSION_MS + 1})
            self.check_states(fresh, "Empty")
        return {"step_ms": step_ms}

    def check_states(self, session, wanted):
        states = {group["state"] for group in self.ask(session, "GET", "/v1/groups")[0]["groups"]}
        if states != {wanted}:
            raise RuntimeError(f"the groups are {states} and not {wanted}: the machine was too slow for their sessions")


class Snapshots(OfBench):
    name = "bench-snapshots"
    text = f"a snapshot of {SNAPSHOT_MEGABYTES} MB: taken, and restored, each until the broker serves again"
    figures = (("restore_ms", "ms", "less"), ("take_ms", "ms", "less"))
    bars = (("restore_ms", None, 50),)

    def measure(self, session, bench):
        with bench.contenders["T"].session() as fresh:
            topic = self.topic(fresh, bench)
            self.replay(fresh, bench, topic, "produce", megabytes=SNAPSHOT_MEGABYTES)
            taken, restored = [], []
            for _ in range(CHANGES):
                taken.append(self.ask(fresh, "PUT", "/v1/snapshots/filled")[1])
                restored.append(self.ask(fresh, "POST", "/v1/snapshots/filled/restore")[1])
        return {"restore_ms": statistics.median(restored), "take_ms": statistics.median(taken)}


ROWS: list[Row] = [ProduceBesideBench(), ConsumeBesideBench(), EndToEndBesideBench(), ClockStep(), Snapshots()]
