"""Writes segments in the message formats 0 and 1, as brokers before Kafka 0.11 did, and batches of format 2 behind them."""

import gzip
import struct
import zlib

# Headers of LZ4 frames with blocks of 64 KiB. Clients of format 0 counted the magic number into the last byte, a checksum (KAFKA-3160).
LZ4_HEADERS = {0: bytes.fromhex("04224d1860401a"), 1: bytes.fromhex("04224d18604082")}


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ 0x82F63B78 if crc & 1 else crc >> 1
    return crc ^ 0xFFFFFFFF


def snappy(data, _):
    """Literals only, in the framing of the Java library."""
    size, rest = b"", len(data)
    while rest > 127:
        size, rest = size + bytes([rest & 127 | 128]), rest >> 7
    raw = size + bytes([rest])
    for start in range(0, len(data), 60):
        piece = data[start:start + 60]
        raw += bytes([(len(piece) - 1) << 2]) + piece
    return b"\x82SNAPPY\0" + struct.pack(">iii", 1, 1, len(raw)) + raw


def lz4(data, magic):
    """One block that is not compressed."""
    return LZ4_HEADERS[magic] + struct.pack("<I", len(data) | 1 << 31) + data + bytes(4)


CODECS = {"gzip": (1, lambda data, _: gzip.compress(data)), "snappy": (2, snappy), "lz4": (3, lz4)}
LOG_APPEND_TIME_BIT = 8


def entry(magic, attributes, offset, time, key, value):
    def sized(data):
        return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data
    covered = struct.pack(">bb", magic, attributes) + (struct.pack(">q", time) if magic else b"") + sized(key) + sized(value)
    return struct.pack(">qiI", offset, len(covered) + 4, zlib.crc32(covered)) + covered


def entries(magic, records, codec=None, append_time=None):
    """Records are (offset, time, key, value): one entry each, or all in a compressed one."""
    bit = LOG_APPEND_TIME_BIT if append_time is not None else 0
    if codec is None:
        return b"".join(entry(magic, bit, offset, append_time or time, key, value) for offset, time, key, value in records)
    base = records[0][0] if magic else 0
    number, pack = CODECS[codec]
    inner = b"".join(entry(magic, 0, offset - base, time, key, value) for offset, time, key, value in records)
    newest = append_time or max(time for _, time, _, _ in records)
    return entry(magic, number | bit, records[-1][0], newest, None, pack(inner, magic))


def batch(records):
    def varint(number):
        number, out = (number << 1) ^ (number >> 63), b""
        while number > 127:
            number, out = number >> 7, out + bytes([number & 127 | 128])
        return out + bytes([number])

    def sized(data):
        return varint(-1) if data is None else varint(len(data)) + data

    base, first_time = records[0][:2]
    body = b""
    for offset, time, key, value in records:
        record = b"\0" + varint(time - first_time) + varint(offset - base) + sized(key) + sized(value) + varint(0)
        body += varint(len(record)) + record
    covered = struct.pack(">hiqqqhii", 0, records[-1][0] - base, first_time, max(record[1] for record in records), -1, -1, -1, len(records)) + body
    return struct.pack(">qiibI", base, len(covered) + 9, 0, 2, crc32c(covered)) + covered
