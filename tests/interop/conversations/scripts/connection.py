"""ApiVersions and what a connection does with requests that nobody can read."""

import struct

import wire
from talk import conversation, ends, versions

SOFTWARE = {"ClientSoftwareName": "conversations", "ClientSoftwareVersion": "1.0"}


@conversation(alone=True)
def api_versions_of_every_version(talk):
    for version in versions("ApiVersions"):
        talk.ask("ApiVersions", version, **SOFTWARE)


@conversation(properties={"unstable.api.versions.enable": "true"})
def versions_in_development_are_offered_on_demand(talk):
    talk.ask("ApiVersions", 4, **SOFTWARE)
    producer = {"TransactionTimeoutMs": 60000, "ProducerId": -1, "ProducerEpoch": -1}
    talk.ask("InitProducerId", 6, TransactionalId=None, Enable2Pc=True, KeepPreparedTxn=True, **producer)
    talk.ask("InitProducerId", 6, TransactionalId="", error="INVALID_REQUEST", **producer)


@conversation
def a_version_in_development_is_not_served_unasked(talk):
    talk.ask("InitProducerId", 6, TransactionalId=None, TransactionTimeoutMs=60000, error="closed")


@conversation
def api_versions_from_the_future_is_answered_at_version_0(talk):
    # KIP-511: the body is not read, the answer names the one entry that the client needs.
    talk.ask("ApiVersions", 5, body=b"", error="UNSUPPORTED_VERSION")
    talk.ask("ApiVersions", 99, body=b"whatever", error="UNSUPPORTED_VERSION")
    talk.ask("ApiVersions", 32767, body=b"", error="UNSUPPORTED_VERSION")
    talk.ask("Metadata", 12, Topics=[])


@conversation
def api_versions_with_odd_software_names(talk):
    for name in ("", "-a", "a-", "a b", "a_b", "ü", "a" * 300, "apache-kafka.java", "x"):
        error = None
        talk.ask("ApiVersions", 3, ClientSoftwareName=name, ClientSoftwareVersion="1", error=error)
        talk.ask("ApiVersions", 4, ClientSoftwareName="x", ClientSoftwareVersion=name, error=error)


@conversation
def api_versions_in_the_middle_of_a_connection(talk):
    talk.ask("Metadata", 1, Topics=[])
    for version in ends("ApiVersions"):
        talk.ask("ApiVersions", version, error=None, **SOFTWARE)
    talk.ask("Metadata", 1, Topics=[])


def unreadable(talk, what, frame):
    """Sends a frame and writes down what comes back."""
    connection = talk.connect("unreadable")
    try:
        connection.send_frame(frame)
        connection.frame(3)
        talk.note(f"{what}: answered")
    except wire.Closed:
        talk.note(f"{what}: the connection is closed")
    except wire.NoAnswer:
        talk.note(f"{what}: no answer, the connection stays")
    talk.drop("unreadable")


@conversation
def requests_that_cannot_be_read_end_the_connection(talk):
    header = struct.pack(">hhih", 3, 12, 5, 1) + b"c"
    unreadable(talk, "an api key that does not exist", struct.pack(">hhih", 999, 0, 5, 1) + b"c")
    unreadable(talk, "a negative api key", struct.pack(">hhih", -1, 0, 5, 1) + b"c")
    unreadable(talk, "a removed api (LeaderAndIsr)", struct.pack(">hhih", 4, 0, 5, 1) + b"c")
    unreadable(talk, "an api of controllers (Vote)", struct.pack(">hhih", 52, 0, 5, 1) + b"c\0\0")
    unreadable(talk, "Metadata of version 99", struct.pack(">hhih", 3, 99, 5, 1) + b"c\0\0\0")
    unreadable(talk, "Metadata of version -1", struct.pack(">hhih", 3, -1, 5, 1) + b"c\0\0\0")
    unreadable(talk, "Produce of version 2", struct.pack(">hhih", 0, 2, 5, 1) + b"c" + bytes(20))
    unreadable(talk, "Fetch of version 3", struct.pack(">hhih", 1, 3, 5, 1) + b"c" + bytes(30))
    unreadable(talk, "CreateTopics of version 1", struct.pack(">hhih", 19, 1, 5, 1) + b"c" + bytes(30))
    unreadable(talk, "a Metadata request that ends too early", header + b"\0\5")
    unreadable(talk, "a frame of 3 bytes", b"\0\3\0")
    unreadable(talk, "an empty frame", b"")
    unreadable(talk, "a client id beyond the frame", struct.pack(">hhih", 3, 1, 5, 500) + b"c")
    unreadable(talk, "a null client id", struct.pack(">hhih", 3, 0, 5, -1) + struct.pack(">i", 1) + b"\0\3x.y" + b"")


@conversation
def bytes_after_a_request_are_ignored(talk):
    body = wire.encode("MetadataRequest", 12, {"Topics": []})
    talk.ask("Metadata", 12, body=body + b"more")
    body = wire.encode("ApiVersionsRequest", 0, {})
    talk.ask("ApiVersions", 0, body=body + b"more", error=None)


@conversation
def unknown_tags_are_skipped(talk):
    body = wire.encode("MetadataRequest", 12, {"Topics": []})
    assert body.endswith(b"\0")
    talk.ask("Metadata", 12, body=body[:-1] + b"\2\x05\3abc\x64\0")


@conversation
def pipelined_requests_are_answered_in_order(talk):
    waiting = [talk.send("Metadata", version, Topics=[] if version else None) for version in (1, 5, 9, 12)]
    for pending in waiting:
        talk.answer(pending)


@conversation
def an_oversized_frame_ends_the_connection(talk):
    connection = talk.connect("big")
    connection.socket.sendall(struct.pack(">i", 104857601) + b"\0\3\0\0")
    try:
        connection.frame(5)
        talk.note("answered")
    except wire.Closed:
        talk.note("the connection is closed")
    connection = talk.connect("negative")
    connection.socket.sendall(struct.pack(">i", -5) + b"\0\3\0\0")
    try:
        connection.frame(5)
        talk.note("answered")
    except wire.Closed:
        talk.note("the connection is closed")
