"""Speaks every API at every version: encodes and decodes messages by the project's own tables, and holds connections.

The tables come from the program `message_tables` (PARTITA_MESSAGE_TABLES names it), so there are no definitions here. Two
things keep an error of the tables from hiding on both sides: the vectors of tests/golden/kafka_generated.txt, written by
Kafka's own classes, go through this codec in wire_test.py, and what is compared was said by a real Kafka.
"""

import json
import os
import pathlib
import select
import socket
import struct
import subprocess
import time
import uuid
import base64

ROOT = pathlib.Path(__file__).resolve().parents[3]
FIXED = {"int8": ">b", "int16": ">h", "uint16": ">H", "int32": ">i", "uint32": ">I", "int64": ">q", "float64": ">d"}
NO_ID = base64.urlsafe_b64encode(bytes(16)).decode().rstrip("=")


class Malformed(Exception):
    """Bytes that are no message of the table."""


class Closed(Exception):
    """The broker ended the connection."""


class NoAnswer(Exception):
    """No answer within the time that was given."""


def _tables_program():
    named = os.environ.get("PARTITA_MESSAGE_TABLES")
    if named:
        return named
    built = ROOT / "build/dev/tests/interop/message_tables"
    if os.access(built, os.X_OK):
        return str(built)
    raise SystemExit(f"message_tables is not built: {built}; run cmake --preset dev && cmake --build --preset dev, or set "
                     "PARTITA_MESSAGE_TABLES")


TABLES = json.loads(subprocess.run([_tables_program()], capture_output=True, check=True).stdout)
APIS = {api["name"]: api for api in TABLES["apis"]}
API_NAMES = {api["key"]: api["name"] for api in TABLES["apis"]}
MESSAGES = TABLES["messages"]
ERRORS = {int(code): name for code, name in TABLES["errors"].items()}


def _capitalise(fields):
    """A handful of Kafka's names begin with a small letter; scripts need not know which."""
    for field in fields:
        field["name"] = field["name"][0].upper() + field["name"][1:]
        _capitalise(field.get("fields", ()))


for _message in MESSAGES.values():
    _capitalise(_message["fields"])


def newest(api):
    """The newest version that a broker speaks without unstable.api.versions.enable."""
    return APIS[api]["last"] - (1 if APIS[api]["unstable"] else 0)


def oldest(api):
    return APIS[api]["first"]


def within(version, ends):
    return ends[0] <= version <= ends[1]


def id_text(raw):
    """A uuid as Kafka writes it: base64url without padding."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def id_bytes(text):
    return base64.urlsafe_b64decode(text + "==")


def random_id():
    return id_text(uuid.uuid4().bytes)


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class Reader:
    def __init__(self, data):
        self.data, self.position = data, 0

    def take(self, count):
        if count < 0 or self.position + count > len(self.data):
            raise Malformed(f"{count} bytes wanted at {self.position} of {len(self.data)}")
        self.position += count
        return self.data[self.position - count:self.position]

    def fixed(self, kind):
        return struct.unpack(FIXED[kind], self.take(struct.calcsize(FIXED[kind])))[0]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 28 and byte > 0x8F:
                raise Malformed("a varint above 32 bits")

    @property
    def rest(self):
        return len(self.data) - self.position


def _is_compact(field, flexible):
    return flexible and not field["classic"]


def _put_length(value, compact, short):
    if compact:
        return varint(0 if value is None else len(value) + 1)
    return struct.pack(">h" if short else ">i", -1 if value is None else len(value))


def _get_length(reader, compact, short):
    if compact:
        return reader.varint() - 1
    return reader.fixed("int16" if short else "int32")


def _encode_one(field, value, version, flexible):
    kind = field["kind"]
    if kind in FIXED:
        return struct.pack(FIXED[kind], value)
    if kind == "boolean":
        return b"\1" if value else b"\0"
    if kind == "uuid":
        return value if isinstance(value, bytes) else id_bytes(value)
    if kind == "string":
        raw = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
        return _put_length(raw, _is_compact(field, flexible), short=True) + (raw or b"")
    if kind in ("bytes", "records"):
        raw = value.encode() if isinstance(value, str) else value
        return _put_length(raw, _is_compact(field, flexible), short=False) + (raw or b"")
    if within(version, field["nullable"]) and not field["array"]:
        if value is None:
            return b"\xff"
        return b"\1" + _encode_fields(field["fields"], value, version, flexible)
    return _encode_fields(field["fields"], value, version, flexible)


def _encode_field(field, value, version, flexible):
    if not field["array"]:
        return _encode_one(field, value, version, flexible)
    out = _put_length(value, _is_compact(field, flexible), short=False)
    return out + b"".join(_encode_one(field, element, version, flexible) for element in value or [])


def _default(field):
    return [] if field["default"] == [] else field["default"]


def _is_default(field, value, version):
    if field["kind"] == "struct" and not field["array"] and isinstance(value, dict) and field["default"] == {}:
        return all(_is_default(inner, value.get(inner["name"], _default(inner)), version) for inner in field["fields"])
    if field["kind"] == "uuid" and isinstance(value, bytes):
        value = id_text(value)
    if field["kind"] in ("bytes", "records", "string") and isinstance(value, str):
        return value == field["default"]
    return value == field["default"] or (value == b"" and field["default"] == "")


def _encode_fields(fields, values, version, flexible):
    known = {field["name"] for field in fields}
    unknown = set(values) - known
    if unknown:
        raise KeyError(f"no field {sorted(unknown)}; there are {sorted(known)}")
    out, tags = bytearray(), {}
    for field in fields:
        if not within(version, field["versions"]):
            continue
        value = values.get(field["name"], _default(field))
        if within(version, field["tagged"]):
            if not _is_default(field, value, version):
                tags[field["tag"]] = _encode_field(field, value, version, flexible)
        else:
            try:
                out += _encode_field(field, value, version, flexible)
            except (struct.error, TypeError, AttributeError) as error:
                raise ValueError(f"{field['name']}: {value!r} is no {field['kind']}") from error
    if flexible:
        out += varint(len(tags))
        for tag in sorted(tags):
            out += varint(tag) + varint(len(tags[tag])) + tags[tag]
    return bytes(out)


def encode(message, version, values):
    """The bytes of a message. Fields that are left out have their defaults; fields of other versions are ignored, so that
    one script can speak all versions; a name that no version knows is an error."""
    table = MESSAGES[message]
    return _encode_fields(table["fields"], values, version, version >= table["flexible"])


def _decode_one(reader, field, version, flexible):
    kind = field["kind"]
    if kind in FIXED:
        return reader.fixed(kind)
    if kind == "boolean":
        return reader.take(1) != b"\0"
    if kind == "uuid":
        return id_text(reader.take(16))
    if kind in ("string", "bytes", "records"):
        length = _get_length(reader, _is_compact(field, flexible), short=kind == "string")
        if length < 0:
            return None
        raw = bytes(reader.take(length))
        return raw.decode("utf-8", "surrogateescape") if kind == "string" else raw
    if within(version, field["nullable"]) and not field["array"]:
        return None if reader.fixed("int8") < 0 else _decode_fields(reader, field["fields"], version, flexible)
    return _decode_fields(reader, field["fields"], version, flexible)


def _decode_field(reader, field, version, flexible):
    if not field["array"]:
        return _decode_one(reader, field, version, flexible)
    count = _get_length(reader, _is_compact(field, flexible), short=False)
    return None if count < 0 else [_decode_one(reader, field, version, flexible) for _ in range(count)]


def _decode_fields(reader, fields, version, flexible):
    values = {}
    for field in fields:
        if within(version, field["versions"]) and not within(version, field["tagged"]):
            values[field["name"]] = _decode_field(reader, field, version, flexible)
    if not flexible:
        return values
    by_tag = {field["tag"]: field for field in fields
              if within(version, field["versions"]) and within(version, field["tagged"])}
    for _ in range(reader.varint()):
        tag = reader.varint()
        inner = Reader(reader.take(reader.varint()))
        if tag in by_tag:
            values[by_tag[tag]["name"]] = _decode_field(inner, by_tag[tag], version, flexible)
            if inner.rest:
                raise Malformed(f"{inner.rest} bytes left in tag {tag}")
        else:
            values[f"unknown tag {tag}"] = inner.data
    return values


def decode(message, version, data, leave_rest=False):
    """The fields of a message that the bytes hold: those of the version, tagged ones only when they were sent."""
    table = MESSAGES[message]
    reader = Reader(data)
    values = _decode_fields(reader, table["fields"], version, version >= table["flexible"])
    if reader.rest and not leave_rest:
        raise Malformed(f"{reader.rest} bytes left after {message} v{version}")
    return values


def request_bytes(api, version, correlation_id, client_id, body):
    """A request without its length, from an encoded body."""
    client = struct.pack(">h", -1) if client_id is None else struct.pack(">h", len(client_id)) + client_id.encode()
    tags = b"\0" if version >= APIS[api]["flexible"] else b""
    return struct.pack(">hhi", APIS[api]["key"], version, correlation_id) + client + tags + body


class Pending:
    """A request that was sent and whose answer may come."""

    def __init__(self, connection, api, version, correlation_id):
        self.connection, self.api, self.version, self.correlation_id = connection, api, version, correlation_id
        self.sent_at = time.monotonic()
        self.answered_at = None


class Connection:
    """One connection to a broker; requests may be pipelined, answers come in order."""

    def __init__(self, host, port, client_id="conversation", source=None):
        """`source` is the address that the connection comes from: on loopback all of 127/8 is there."""
        self.client_id = client_id
        self.socket = socket.create_connection((host, port), timeout=30, source_address=source and (source, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = bytearray()
        self.next_correlation_id = 1
        self.waiting = []

    def send(self, api, version, values, body=None):
        correlation_id = self.next_correlation_id
        self.next_correlation_id += 1
        if body is None:
            body = encode(APIS[api]["request"], version, values)
        pending = Pending(self, api, version, correlation_id)
        try:
            self.send_frame(request_bytes(api, version, correlation_id, self.client_id, body))
        except OSError as error:
            raise Closed() from error
        self.waiting.append(pending)
        return pending

    def send_frame(self, frame):
        self.socket.sendall(struct.pack(">i", len(frame)) + frame)

    def readable(self, seconds):
        """True when bytes (or the end) are there within the time."""
        return len(self.received) > 0 or bool(select.select([self.socket], [], [], max(0, seconds))[0])

    def frame(self, seconds):
        """The next frame from the broker, without its length."""
        end = time.monotonic() + seconds
        while len(self.received) < 4 or len(self.received) < 4 + struct.unpack(">i", self.received[:4])[0]:
            if not select.select([self.socket], [], [], max(0, end - time.monotonic()))[0]:
                raise NoAnswer()
            try:
                part = self.socket.recv(1 << 20)
            except ConnectionError:
                part = b""
            if not part:
                raise Closed()
            self.received += part
        length = struct.unpack(">i", self.received[:4])[0]
        frame = bytes(self.received[4:4 + length])
        del self.received[:4 + length]
        return frame

    def answer(self, pending, seconds):
        """The decoded answer to the oldest waiting request, which must be `pending`."""
        assert self.waiting[0] is pending, "answers of a connection come in the order of its requests"
        frame = self.frame(seconds)
        pending.answered_at = time.monotonic()
        self.waiting.pop(0)
        correlation_id = struct.unpack(">i", frame[:4])[0]
        if correlation_id != pending.correlation_id:
            raise Malformed(f"correlation id {correlation_id} instead of {pending.correlation_id}")
        api = APIS[pending.api]
        body = frame[4:]
        if pending.api != "ApiVersions" and pending.version >= api["flexible"]:
            if body[:1] != b"\0":
                raise Malformed("a tag in the response header")
            body = body[1:]
        version = pending.version
        if pending.api == "ApiVersions" and body[:2] == b"\0\x23":
            # An unsupported version is answered at version 0 (KIP-511), whatever was asked.
            version = 0
        return decode(api["response"], version, body)

    def close(self):
        self.socket.close()
