"""How exactly a broker with units of capacity (docs/capacity.md) holds its clients to them, and how fairly.

    scripts/bench capacity [--seconds N] [--units N,N...] [--connections N,N...]

Each connection sends one request after the other, or fetches, as fast as it is let. What was acknowledged, or came, in ten seconds is
compared with what the units say; it begins when each connection had to wait once. Fair is 1.00: the connection that got least had as much
as the one that got most. Exit code 1 when something is off by more than 2 %.
"""

import argparse
import asyncio
import pathlib
import struct
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/interop"))

import harness  # noqa: E402
import start_client  # noqa: E402

PRODUCE, FETCH = 0, 1
TOPIC = "capacity"
PARTITIONS = 4
#: Of each unit, a request has ten records of 1,000 bytes: bytes run out before events do. A fetch asks for two of these.
RECORDS, VALUE = 10, b"v" * 1_000
FETCH_BYTES = 25_000
WARM_UP_S = 2.5
INGRESS, EGRESS = 1_000_000, 2_000_000
OFF_MAX = 0.02


def batch(units):
    records = b""
    for delta in range(RECORDS * units):
        record = b"\0" + start_client.varint(0) + start_client.varint(delta) + start_client.varint(-1) + start_client.varint(len(VALUE))
        record += VALUE + start_client.varint(0)
        records += start_client.varint(len(record)) + record
    now_ms = int(time.time() * 1000)
    body = struct.pack(">hiqqqhii", 0, RECORDS * units - 1, now_ms, now_ms, -1, -1, -1, RECORDS * units) + records
    rest = struct.pack(">ibI", 0, 2, start_client.crc32c(body)) + body
    return struct.pack(">qi", 0, len(rest)) + rest


def produce_request(partition, units):
    records = BATCHES[units]
    return start_client.request(PRODUCE, 7, 1, struct.pack(">hhi", -1, -1, 600_000) + struct.pack(">i", 1) + start_client.string(TOPIC) +
                                struct.pack(">iii", 1, partition, len(records)) + records)


def produced(answer, units):
    reader = start_client.Reader(answer)
    reader.take(">ii")
    reader.string()
    _, _, error = reader.take(">iih")
    assert error == 0, f"Produce answered error {error}"
    return len(BATCHES[units])


def fetch_request(partition, units):
    most = FETCH_BYTES * units
    return start_client.request(FETCH, 4, 1, struct.pack(">iiiib", -1, 100, 1, most, 0) + struct.pack(">i", 1) +
                                start_client.string(TOPIC) + struct.pack(">iiqi", 1, partition, 0, most))


def fetched(answer, _):
    reader = start_client.Reader(answer)
    if reader.take(">iii")[2] == 0:
        return 0
    reader.string()
    _, _, error, _, _, _, size = reader.take(">iihqqii")
    assert error == 0, f"Fetch answered error {error}"
    return size


#: By the number of units.
BATCHES = {}


async def repeat(port, frame, size_of, end, seen):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    while time.monotonic() < end:
        writer.write(frame)
        size, = struct.unpack(">i", await reader.readexactly(4))
        came = size_of(await reader.readexactly(size))
        seen.append((time.monotonic(), came))
    writer.close()


async def measure(port, units, connections, request, size_of, seconds):
    """Bytes a second, and what the connection with least has of that with most."""
    begin = time.monotonic() + WARM_UP_S
    seen = [[] for _ in range(connections)]
    await asyncio.gather(*[repeat(port, request(number % PARTITIONS, units), lambda answer: size_of(answer, units), begin + seconds, one)
                           for number, one in enumerate(seen)])
    end = begin + seconds
    parts = [sum(size for when, size in one if begin <= when < end) for one in seen]
    return sum(parts) / seconds, min(parts) / max(parts)


def prepare(broker, units):
    with start_client.Connection(broker.port) as connection:
        connection.read_create_topic(connection.exchange(connection.prepare_create_topic(TOPIC, PARTITIONS)))
        for partition in range(PARTITIONS):
            for _ in range(5):
                connection.exchange((1, produce_request(partition, units)))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=10)
    numbers = lambda text: [int(part) for part in text.split(",")]  # noqa: E731
    options.add_argument("--units", type=numbers, default=[1, 2, 20])
    options.add_argument("--connections", type=numbers, default=[1, 10, 100])
    given = options.parse_args()
    is_exact = True
    print("| direction | units | connections | the units say, B/s | measured, B/s | off | least of most |")
    print("|---|---|---|---|---|---|---|")
    for name, rate, request, size_of in (("ingress", INGRESS, produce_request, produced), ("egress", EGRESS, fetch_request, fetched)):
        for units in given.units:
            BATCHES[units] = batch(units)
            for connections in given.connections:
                # The other direction, through which the topic is filled, has no limit.
                free = {"partita.capacity.unit.ingress.bytes": "0", "partita.capacity.unit.ingress.events": "0"} if name == "egress" else {}
                with harness.start_broker({"partita.capacity.units": str(units), **free}) as broker:
                    prepare(broker, units)
                    measured, fairness = asyncio.run(measure(broker.port, units, connections, request, size_of, given.seconds))
                wanted = units * rate
                off = measured / wanted - 1
                is_exact = is_exact and abs(off) <= OFF_MAX
                print(f"| {name} | {units} | {connections} | {wanted:,} | {measured:,.0f} | {off:+.2%} | {fairness:.2f} |", flush=True)
    return 0 if is_exact else 1


if __name__ == "__main__":
    sys.exit(main())
