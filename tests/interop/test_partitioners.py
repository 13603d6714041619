"""Our partitioners against the clients' own code, called without a broker: equal for every key and count."""

import ctypes
import ctypes.util
import os
import pathlib
import random
import subprocess

import pytest

import harness

COUNTS = [1, 2, 3, 4, 6, 7, 8, 12, 16, 50, 100]
KEYS = 3000
HERE = pathlib.Path(__file__).parent
PARTITA = os.environ.get("PARTITA_BINARY") or HERE.parents[1] / "build/release/partita"
TOOLS = pathlib.Path(harness.TOOLS)


def random_keys():
    """Keys of 1 to 100 bytes: any bytes, text, big-endian integers. Empty ones have rules of their own (clients.h)."""
    chance = random.Random(20240607)
    keys = [number.to_bytes(width, "big") for width in (4, 8) for number in range(100)]
    keys += [f"user-{number}".encode() for number in range(100)]
    keys += ["żółć".encode(), "😀".encode(), b"\0", b"\xff" * 5, b"\n", b"a\r\n"]
    while len(keys) < KEYS:
        keys.append(chance.randbytes(chance.randint(1, 100)))
    return keys


@pytest.fixture(scope="module")
def made():
    subprocess.run([HERE / "fetch_partitioners"], check=True)
    return TOOLS / "partitioners"


@pytest.fixture(scope="module")
def keys():
    return random_keys()


def lines_of(keys):
    return "".join(key.hex() + "\n" for key in keys)


def ours(name, count, keys):
    done = subprocess.run([PARTITA, "partitioner", name, "--partitions", str(count), "--hex"],
                          input=lines_of(keys), capture_output=True, text=True, check=True)
    return [int(line) for line in done.stdout.splitlines()]


def expect_same(name, count, keys, theirs):
    mine = ours(name, count, keys)
    assert len(mine) == len(theirs) == len(keys)
    wrong = [(key.hex(), mine[i], theirs[i]) for i, key in enumerate(keys) if mine[i] != theirs[i]]
    assert not wrong, f"{name} at {count}: {len(wrong)} keys differ, such as (key, ours, theirs) {wrong[0]}"


def check_program(command, keys, expected_names):
    done = subprocess.run([*map(str, command), *map(str, COUNTS)], input=lines_of(keys), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seen = set()
    for line in done.stdout.splitlines():
        name, count, *partitions = line.split()
        expect_same(name, int(count), keys, [int(partition) for partition in partitions])
        seen.add((name, int(count)))
    assert seen == {(name, count) for name in expected_names for count in COUNTS}


def test_java(made, keys):
    check_program(["java", "-XX:TieredStopAtLevel=1", "-cp", f"{made}/java:{TOOLS}/libs/*", "Placement"], keys,
                  ["java"])


def test_go_clients(made, keys):
    check_program([made / "go-placement"], keys,
                  ["sarama", "sarama-reference", "sarama-crc32", "kafka-go-hash", "kafka-go-reference", "kafka-go-crc32",
                   "kafka-go-murmur2", "franz-go", "franz-go-sarama-hasher", "franz-go-sarama-compat"])


def test_node_clients(made, keys):
    check_program([made / "node/node_modules/.bin/node", made / "node/placement.mjs"], keys,
                  ["kafkajs", "kafkajs-legacy", "kafkajs1", "platformatic", "platformatic-compatibility"])


def test_python_clients(made, keys):
    # Hashing in Python takes its time.
    check_program([made / "venv/bin/python", HERE / "clients/partitioners/python/placement.py"], keys[:600],
                  ["kafka-python", "aiokafka"])


@pytest.mark.parametrize("name, function", [
    ("librdkafka-consistent", "consistent"),
    ("librdkafka", "consistent_random"),
    ("librdkafka-murmur2", "murmur2"),
    ("librdkafka-murmur2-random", "murmur2_random"),
    ("librdkafka-fnv1a", "fnv1a"),
    ("librdkafka-fnv1a-random", "fnv1a_random"),
])
def test_librdkafka(keys, name, function):
    place = getattr(ctypes.CDLL(ctypes.util.find_library("rdkafka")), f"rd_kafka_msg_partitioner_{function}")
    place.restype = ctypes.c_int32
    place.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p]
    for count in COUNTS:
        # The topic is asked for only when a partition is chosen at random, which a key that is not empty prevents.
        expect_same(name, count, keys, [place(None, key, len(key), count, None, None) for key in keys])


# From the tests of the Azure SDK (PartitionResolverTests.cs): int16 codes, of which the partition is the absolute remainder.
@pytest.mark.parametrize("key, code", [("7", -15263), ("131", 30562), ("FWfAT", -22341), ("$0cb", 26269)])
def test_event_hubs(key, code):
    for count in COUNTS:
        assert ours("eventhubs", count, [key.encode()]) == [abs(code) % count]
