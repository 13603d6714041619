"""A Kafka client for measurements: raw frames over one blocking socket, with nothing but Python's library.

Requests are built before the clock runs and answers are taken apart after it stopped, so that Python's slowness stays
out of the figures. All requests are of versions without tagged fields, which every Kafka since 2.1 serves. It checks
what it reads: a short, long or mismatched answer is an error.
"""

import socket
import struct

EARLIEST, LATEST = -2, -1
CREATE_TOPICS, DELETE_TOPICS, CREATE_PARTITIONS, LIST_OFFSETS, PRODUCE, API_VERSIONS, METADATA = 19, 20, 37, 2, 0, 18, 3
SOCKET_TIMEOUT_S = 60


class ProtocolError(Exception):
    pass


def make_crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC_TABLE = make_crc_table()


def crc32c(data):
    """Castagnoli's CRC, RFC 3720 appendix B.4."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def string(text):
    data = text.encode()
    return struct.pack(">h", len(data)) + data


def array(items):
    return struct.pack(">i", len(items)) + b"".join(items)


def varint(value):
    value = (value << 1) ^ (value >> 63)
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def record_batch(key, value, timestamp_ms):
    """A record batch, magic 2, with one record."""
    record = b"\0" + varint(0) + varint(0) + varint(len(key)) + key + varint(len(value)) + value + varint(0)
    record = varint(len(record)) + record
    # attributes, last offset delta, two timestamps, producer id, epoch, sequence, count
    body = struct.pack(">hiqqqhii", 0, 0, timestamp_ms, timestamp_ms, -1, -1, -1, 1) + record
    rest = struct.pack(">ibI", 0, 2, crc32c(body)) + body
    return struct.pack(">qi", 0, len(rest)) + rest


class Reader:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, form):
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values if len(values) > 1 else values[0]

    def string(self):
        length = self.take(">h")
        if length < 0:
            return None
        self.at += length
        return self.data[self.at - length:self.at].decode()

    def end(self):
        if self.at != len(self.data):
            raise ProtocolError(f"{len(self.data) - self.at} bytes too many in an answer")


def request(key, version, correlation_id, body):
    payload = struct.pack(">hhi", key, version, correlation_id) + string("bench") + body
    return struct.pack(">i", len(payload)) + payload


class Connection:
    def __init__(self, port, host="127.0.0.1", timeout=SOCKET_TIMEOUT_S):
        self.socket = socket.create_connection((host, port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.correlation_id = 0

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def receive(self, count):
        data = bytearray(count)
        view = memoryview(data)
        while view:
            read = self.socket.recv_into(view)
            if read == 0:
                raise ProtocolError("the broker closed the connection")
            view = view[read:]
        return bytes(data)

    def prepare(self, key, version, body):
        self.correlation_id += 1
        return self.correlation_id, request(key, version, self.correlation_id, body)

    def exchange(self, prepared):
        """Sends a prepared request; returns the body of its answer, unread."""
        correlation_id, frame = prepared
        self.socket.sendall(frame)
        size = struct.unpack(">i", self.receive(4))[0]
        reader = Reader(self.receive(size))
        if reader.take(">i") != correlation_id:
            raise ProtocolError("the answer belongs to another request")
        return reader

    # Each request as a pair: prepare_* makes it, read_* takes its answer apart.

    def prepare_api_versions(self):
        return self.prepare(API_VERSIONS, 0, b"")

    @staticmethod
    def read_api_versions(reader):
        """Returns key -> (first, last) version."""
        error, count = reader.take(">hi")
        if error:
            raise ProtocolError(f"ApiVersions answered error {error}")
        versions = {}
        for _ in range(count):
            key, first, last = reader.take(">hhh")
            versions[key] = first, last
        reader.end()
        return versions

    def prepare_create_topic(self, name, partitions, timeout_ms=60000, configs=()):
        """`configs`: pairs of name and value."""
        entries = [string(key) + string(str(value)) for key, value in configs]
        topic = string(name) + struct.pack(">ih", partitions, 1) + array([]) + array(entries)
        return self.prepare(CREATE_TOPICS, 4, array([topic]) + struct.pack(">ib", timeout_ms, 0))

    @staticmethod
    def read_create_topic(reader):
        reader.take(">i")
        if reader.take(">i") != 1:
            raise ProtocolError("CreateTopics answered for another number of topics")
        reader.string()
        error = reader.take(">h")
        text = reader.string()
        reader.end()
        if error:
            raise ProtocolError(f"CreateTopics answered error {error}: {text}")

    def prepare_delete_topic(self, name, timeout_ms=60000):
        return self.prepare(DELETE_TOPICS, 3, array([string(name)]) + struct.pack(">i", timeout_ms))

    def prepare_create_partitions(self, name, count, timeout_ms=60000):
        topic = string(name) + struct.pack(">ii", count, -1)
        return self.prepare(CREATE_PARTITIONS, 1, array([topic]) + struct.pack(">ib", timeout_ms, 0))

    @staticmethod
    def read_create_partitions(reader):
        reader.take(">i")
        if reader.take(">i") != 1:
            raise ProtocolError("CreatePartitions answered for another number of topics")
        reader.string()
        error = reader.take(">h")
        text = reader.string()
        reader.end()
        if error:
            raise ProtocolError(f"CreatePartitions answered error {error}: {text}")

    def prepare_list_offsets(self, name, partitions, timestamp):
        asked = array([struct.pack(">iiq", partition, -1, timestamp) for partition in range(partitions)])
        return self.prepare(LIST_OFFSETS, 5, struct.pack(">ib", -1, 0) + array([string(name) + asked]))

    @staticmethod
    def read_list_offsets(reader):
        """Returns partition -> (error, offset)."""
        reader.take(">i")
        if reader.take(">i") != 1:
            raise ProtocolError("ListOffsets answered for another number of topics")
        reader.string()
        answers = {}
        for _ in range(reader.take(">i")):
            partition, error, _, offset, _ = reader.take(">ihqqi")
            answers[partition] = error, offset
        reader.end()
        return answers

    def prepare_produce(self, name, partitions, batch):
        records = struct.pack(">i", len(batch)) + batch
        asked = array([struct.pack(">i", partition) + records for partition in partitions])
        return self.prepare(PRODUCE, 7, struct.pack(">hhi", -1, -1, 60000) + array([string(name) + asked]))

    @staticmethod
    def read_produce(reader):
        """Returns partition -> (error, base offset)."""
        if reader.take(">i") != 1:
            raise ProtocolError("Produce answered for another number of topics")
        reader.string()
        answers = {}
        for _ in range(reader.take(">i")):
            partition, error, offset, _, _ = reader.take(">ihqqq")
            answers[partition] = error, offset
        reader.take(">i")
        reader.end()
        return answers

    def prepare_metadata(self, name):
        return self.prepare(METADATA, 4, array([string(name)]) + b"\0")

    @staticmethod
    def read_metadata(reader):
        """Returns the number of partitions with a leader of the one topic asked for."""
        reader.take(">i")
        for _ in range(reader.take(">i")):
            reader.take(">i")
            reader.string()
            reader.take(">i")
            reader.string()
        reader.string()
        reader.take(">i")
        if reader.take(">i") != 1:
            raise ProtocolError("Metadata answered for another number of topics")
        reader.take(">h")
        reader.string()
        reader.take(">b")
        led = 0
        for _ in range(reader.take(">i")):
            error, _, leader = reader.take(">hii")
            led += error == 0 and leader >= 0
            for _ in range(2):
                replicas = reader.take(">i")
                reader.at += 4 * replicas
        reader.end()
        return led
