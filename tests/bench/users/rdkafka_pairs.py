"""rdkafka_pairs.py BOOTSTRAP PROTOCOL TOPIC PAIRS GAP_MS...: as PairStart.java, through confluent-kafka. Both consumers are polled by
one thread, every few milliseconds; librdkafka's own threads do what takes the time."""

import json
import sys
import time
import uuid

import confluent_kafka

WARM_UPS = 3
PATIENCE_S = 60
READY_S = 0.003
POLL_S = 0.002


def consumer(bootstrap, protocol, group):
    settings = {"bootstrap.servers": bootstrap, "group.id": group, "auto.offset.reset": "earliest", "log_level": 0}
    # What a classic member has by default cannot be said to the other protocol.
    return confluent_kafka.Consumer(settings | ({"group.protocol": "consumer"} if protocol == "consumer" else {}))


def start_together(bootstrap, protocol, topic, count, gap_ms):
    """Milliseconds from the first one's start until each of them owned partitions."""
    group = f"pair-{uuid.uuid4()}"
    consumers = [consumer(bootstrap, protocol, group) for _ in range(count)]
    owned_at = [None] * count

    def on_assign(number):
        def note(_, partitions):
            if partitions and owned_at[number] is None:
                owned_at[number] = time.perf_counter()
        return note

    start = time.perf_counter() + READY_S
    for number, each in enumerate(consumers):
        while time.perf_counter() < start + number * gap_ms / 1000:
            pass
        each.subscribe([topic], on_assign=on_assign(number))
    while None in owned_at:
        for each in consumers:
            each.poll(POLL_S)
        if time.perf_counter() - start > PATIENCE_S:
            raise SystemExit("a consumer was given nothing")
    for each in consumers:
        each.close()
    return 1000 * (max(owned_at) - start)


def main(bootstrap, protocol, topic, pairs, *gaps):
    for _ in range(WARM_UPS):
        start_together(bootstrap, protocol, topic, 1, 0)
    times = {gap: [start_together(bootstrap, protocol, topic, 2, float(gap)) for _ in range(int(pairs))] for gap in gaps}
    times["alone"] = [start_together(bootstrap, protocol, topic, 1, 0) for _ in range(int(pairs))]
    print(json.dumps(times))


if __name__ == "__main__":
    main(*sys.argv[1:])
