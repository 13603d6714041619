"""Builds and reads record batches (format 2), and what classic consumers put into JoinGroup and SyncGroup."""

import gzip
import struct

import wire

HEADER = struct.Struct(">qiibIhiqqqhii")
CRC_AT, COVERED_FROM, RECORDS_FROM = 17, 21, 61
CODECS = {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}


def _crc_table():
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _crc_table()


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = value >> 8 ^ _TABLE[(value ^ byte) & 0xFF]
    return value ^ 0xFFFFFFFF


def signed(value):
    """A zig-zag varint."""
    return wire.varint((value << 1 ^ value >> 63) & (1 << 64) - 1)


def _read_signed(reader):
    value = shift = 0
    while True:
        byte = reader.take(1)[0]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value >> 1 ^ -(value & 1)
        shift += 7


def _sized(data):
    data = data.encode() if isinstance(data, str) else data
    return signed(-1) if data is None else signed(len(data)) + data


def record(offset_delta, timestamp_delta, key, value, headers=()):
    body = b"\0" + signed(timestamp_delta) + signed(offset_delta) + _sized(key) + _sized(value) + signed(len(headers))
    for name, content in headers:
        body += _sized(name) + _sized(content)
    return signed(len(body)) + body


def batch(*records, base_offset=0, timestamp=1_000_000, attributes=0, producer_id=-1, producer_epoch=-1, sequence=-1,
          leader_epoch=-1, count=None, last_offset_delta=None, max_timestamp=None, magic=2, crc=None, codec="none",
          length=None):
    """A batch of (key, value[, timestamp delta[, headers]]) tuples; every field of the header can be set to lie."""
    encoded, newest = b"", timestamp
    for index, entry in enumerate(records):
        key, value, delta, headers = (*entry, *(0, ())[len(entry) - 2:])
        encoded += record(index, delta, key, value, headers)
        newest = max(newest, timestamp + delta)
    if codec == "gzip":
        encoded, attributes = gzip.compress(encoded, mtime=0), attributes | 1
    count = len(records) if count is None else count
    tail = struct.pack(">hiqqqhii", attributes, count - 1 if last_offset_delta is None else last_offset_delta,
                       timestamp, newest if max_timestamp is None else max_timestamp, producer_id, producer_epoch,
                       sequence, count) + encoded
    size = RECORDS_FROM - 12 + len(encoded) if length is None else length
    return struct.pack(">qiibI", base_offset, size, leader_epoch, magic, crc32c(tail) if crc is None else crc) + tail


def describe(data):
    """What batches say, as plain values; what is no whole batch is counted as left-over bytes."""
    batches = []
    while len(data) >= RECORDS_FROM:
        (base, size, epoch, magic, crc, attributes, last_delta, first_time, newest, producer_id, producer_epoch, sequence,
         count) = HEADER.unpack(data[:RECORDS_FROM])
        if size < RECORDS_FROM - 12 or len(data) < 12 + size or magic != 2:
            break
        whole, data = data[:12 + size], data[12 + size:]
        entry = {"BaseOffset": base, "LeaderEpoch": epoch, "Attributes": attributes, "LastOffsetDelta": last_delta,
                 "BaseTimestamp": first_time, "MaxTimestamp": newest, "ProducerId": producer_id,
                 "ProducerEpoch": producer_epoch, "BaseSequence": sequence, "Count": count}
        if crc != crc32c(whole[COVERED_FROM:]):
            entry["Crc"] = "wrong"
        body = whole[RECORDS_FROM:]
        try:
            if attributes & 7 in (0, 1):
                entry["Records"] = _records(gzip.decompress(body) if attributes & 7 == 1 else body, count)
        except (OSError, EOFError):
            entry["Records"] = "not compressed as it says"
        batches.append(entry)
    if data:
        batches.append({"LeftOver": len(data)})
    return batches


def _records(body, count):
    reader, found = wire.Reader(body), []
    try:
        for _ in range(count):
            _read_signed(reader)  # the length
            reader.take(1)
            time_delta, offset_delta = _read_signed(reader), _read_signed(reader)
            key, value = (_bytes(reader) for _ in range(2))
            headers = [(_bytes(reader), _bytes(reader)) for _ in range(_read_signed(reader))]
            found.append([offset_delta, time_delta, key, value, *([headers] if headers else [])])
    except wire.Malformed:
        return "malformed"
    return found


def _bytes(reader):
    length = _read_signed(reader)
    if length < 0:
        return None
    raw = bytes(reader.take(length))
    return raw.decode("utf-8", "backslashreplace") if length <= 80 else f"{length} bytes"


def subscription(*topics, version=1, user_data=b""):
    """The metadata of a classic consumer."""
    return struct.pack(">h", version) + wire.encode("ConsumerProtocolSubscription", version,
                                                    {"Topics": list(topics), "UserData": user_data})


def assignment(version=1, **partitions):
    """What a classic leader assigns to a member: assignment(orders=[0, 1])."""
    return struct.pack(">h", version) + wire.encode("ConsumerProtocolAssignment", version, {"AssignedPartitions": [
        {"Topic": topic, "Partitions": numbers} for topic, numbers in partitions.items()]})
