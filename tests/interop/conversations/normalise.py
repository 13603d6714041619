"""Names what may differ between two runs. Every rule is listed in RULES with its reason; nothing else is forgiven.

A value that is made up anew in every run (an id, a port, a time) becomes a label such as `<topic 1>`, numbered by first
appearance, so that the same value still has to appear at the same places.
"""

import re
import time

import records
import talk
import wire

RULES = {
    "host": "the address of the broker under test, wherever it is named",
    "port": "its port, or that of its second listener",
    "cluster": "the cluster id",
    "id": "uuids: topic ids and what else a broker draws at random",
    "member": "member ids that a broker makes: CLIENT_ID-UUID, or a uuid in groups of KIP-848",
    "producer": "producer ids: they only have to be new",
    "token": "ids of delegation tokens, and their HMACs",
    "session": "fetch session ids",
    "epoch": "the epoch of finalized features: how often anything of the metadata changed",
    "throttle": "for how long exactly a client is asked to wait; conversations say it with a tolerance",
    "now": "times within a week of the run, in milliseconds since 1970, also within texts",
    "directory": "where the data lies",
    "disk": "bytes of the disk, in DescribeLogDirs",
    "request": "how a text names the request: Kafka prints an object with addresses of its memory, Partita the name of the API",
    "controller": "the address of Kafka's controller listener, and how far its metadata log has come",
    "order": "lists whose order comes from a hash map, see UNORDERED",
}

# Lists in an order that nobody promises (in Kafka, of a hash map); they are compared sorted by the field named here, or by
# several; "" for plain values.
UNORDERED = {
    ("ApiVersionsResponse", "SupportedFeatures"): "Name",
    ("ApiVersionsResponse", "FinalizedFeatures"): "Name",
    ("DescribeConfigsResponse", "Configs"): "Name",
    ("ListGroupsResponse", "Groups"): "GroupId",
    ("MetadataResponse", "Topics"): "Name",
    ("DescribeAclsResponse", "Resources"): ("ResourceName", "PatternType"),
    ("DescribeAclsResponse", "Acls"): ("Principal", "Operation"),
    ("DeleteAclsResponse", "MatchingAcls"): ("ResourceName", "PatternType"),
    ("DeleteGroupsResponse", "Results"): "GroupId",
    ("CreateTopicsResponse", "Topics"): "Name",
    ("CreateTopicsResponse", "Configs"): "Name",
    ("DeleteTopicsResponse", "Responses"): "Name",
    ("CreatePartitionsResponse", "Results"): "Name",
    ("JoinGroupResponse", "Members"): "MemberId",
    ("DescribeGroupsResponse", "Members"): "MemberId",
    ("ConsumerGroupDescribeResponse", "Members"): "MemberId",
    ("ConsumerGroupHeartbeatResponse", "TopicPartitions"): "TopicId",
    ("OffsetDeleteResponse", "Topics"): "Name",
    ("OffsetDeleteResponse", "Partitions"): "PartitionIndex",
    ("DeleteRecordsResponse", "Topics"): "Name",
    ("DeleteRecordsResponse", "Partitions"): "PartitionIndex",
    ("OffsetForLeaderEpochResponse", "Topics"): "Topic",
    ("OffsetForLeaderEpochResponse", "Partitions"): "Partition",
    ("ListOffsetsResponse", "Topics"): "Name",
    ("ListOffsetsResponse", "Partitions"): "PartitionIndex",
    ("OffsetFetchResponse", "Topics"): "Name",
    ("OffsetFetchResponse", "Partitions"): "PartitionIndex",
    ("OffsetCommitResponse", "Topics"): "Name",
    ("OffsetCommitResponse", "Partitions"): "PartitionIndex",
    ("DescribeGroupsResponse", "Groups"): "GroupId",
    ("ProduceResponse", "Responses"): "Name",
    ("ProduceResponse", "PartitionResponses"): "Index",
    ("MetadataResponse", "Partitions"): "PartitionIndex",
    ("IncrementalAlterConfigsResponse", "Responses"): "ResourceName",
    ("AlterConfigsResponse", "Responses"): "ResourceName",
    ("DescribeDelegationTokenResponse", "Tokens"): "TokenId",
    ("DescribeUserScramCredentialsResponse", "Results"): "User",
    ("DescribeUserScramCredentialsResponse", "CredentialInfos"): "Mechanism",
    ("AlterReplicaLogDirsResponse", "Results"): "TopicName",
    ("AlterReplicaLogDirsResponse", "Partitions"): "PartitionIndex",
    ("ListConfigResourcesResponse", "ConfigResources"): "ResourceName",
    ("AddPartitionsToTxnResponse", "ResultsByTopicV3AndBelow"): "Name",
    ("AddPartitionsToTxnResponse", "ResultsByTransaction"): "TransactionalId",
    ("AddPartitionsToTxnResponse", "TopicResults"): "Name",
    ("AddPartitionsToTxnResponse", "ResultsByPartition"): "PartitionIndex",
    ("TxnOffsetCommitResponse", "Topics"): "Name",
    ("TxnOffsetCommitResponse", "Partitions"): "PartitionIndex",
    ("WriteTxnMarkersResponse", "Markers"): "ProducerId",
    ("WriteTxnMarkersResponse", "Topics"): "Name",
    ("WriteTxnMarkersResponse", "Partitions"): "PartitionIndex",
    ("DescribeProducersResponse", "ActiveProducers"): "ProducerId",
    ("DescribeTransactionsResponse", "Topics"): "Topic",
    ("DescribeTransactionsResponse", "Partitions"): "",
    ("ListTransactionsResponse", "TransactionStates"): "TransactionalId",
    ("ListTransactionsResponse", "UnknownStateFilters"): "",
}

RANDOM_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
MEMBER_ID = re.compile(r"[\w.-]*?" + RANDOM_UUID)
# Fields that say how large the disk is, or how far the metadata log of KRaft has come.
DISK = {("DescribeLogDirsResponse", name) for name in ("TotalBytes", "UsableBytes")}
METADATA_LOG = {("DescribeQuorumResponse", name) for name in (
    "HighWatermark", "LogEndOffset", "LeaderEpoch", "LastFetchTimestamp", "LastCaughtUpTimestamp")}
PRODUCER_IDS = ("ProducerId", "V3AndBelowProducerId", "ProducerIdFilters")
MAKES_PRODUCERS = ("InitProducerIdResponse", "EndTxnResponse")
NAMED_REQUEST = re.compile(r"Request (Request\(.*\)|\w+) needs")
CONTROLLER = re.compile(r"127\.0\.0\.1:\d+")
NUMBER = re.compile(r"-?\d{13,19}")
MADE_MEMBER_ID = re.compile(r"[\w-]{22}")
WEEK_MS = 7 * 24 * 3_600_000


def is_now(value):
    """True for a time within a week of this one, also when it was taken from the largest number that there is."""
    now = time.time() * 1000
    return abs(value - now) < WEEK_MS or abs(value + (1 << 63) - now) < WEEK_MS


class Normaliser:
    """One per run of a conversation: it remembers which value has which label."""

    def __init__(self, cluster, port, directories=(), secured_port=None):
        """`cluster` is (cluster id, the host that the broker names itself by); `secured_port` is that of its second listener."""
        (self.cluster_id, self.host), self.port = cluster, port
        self.ports = {port: "<port>", secured_port: "<secured port>"}
        self.directories = [str(directory) for directory in directories]
        self.labels = {}
        self.counts = {}
        self.said = set()  # Member ids that the script made up.

    def label(self, kind, value):
        known = self.labels.get((kind, value))
        if known is None:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            known = self.labels[kind, value] = f"<{kind} {self.counts[kind]}>"
        return known

    def text(self, value):
        """Strings: member ids, known ids within messages, the address, directories."""
        value = NAMED_REQUEST.sub("Request <request> needs", value)
        value = MEMBER_ID.sub(lambda found: self.label("member", found.group()), value)
        for (kind, raw), label in self.labels.items():
            if isinstance(raw, str) and len(raw) > 8 and raw in value:
                value = value.replace(raw, label)
        value = value.replace(self.cluster_id, "<cluster>")
        for directory in self.directories:
            value = value.replace(directory, "<directory>")
        value = NUMBER.sub(lambda found: "<now>" if is_now(int(found.group())) else found.group(), value)
        return CONTROLLER.sub("<controller>", value.replace(f"{self.host}:{self.port}", "<host>:<port>"))

    def value(self, message, field, value):
        name, kind = field["name"], field["kind"]
        if value is None:
            return None
        if kind == "struct":
            return self.fields(message, field["fields"], value)
        if kind == "uuid":
            value = value if isinstance(value, str) else wire.id_text(value)
            return "none" if value == wire.NO_ID else self.label("id", value)
        if kind == "records":
            return self.batches(value)
        if kind == "bytes" and name == "Hmac" and value and message.endswith("TokenResponse"):
            return self.label("hmac", value if isinstance(value, str) else value.hex())
        if kind == "bytes" and not isinstance(value, str) and ("hmac", value.hex()) in self.labels:
            return self.labels["hmac", value.hex()]
        if kind == "bytes":
            return value if isinstance(value, str) else value.hex() if len(value) <= 200 else f"{len(value)} bytes"
        if kind == "string":
            if name == "TokenId" and value and message.endswith("TokenResponse"):
                return self.label("token", value)
            if name == "Host" and value == self.host:
                return "<host>"
            if name == "MemberId" and message.endswith("Request"):
                self.said.add(value)
            elif name == "MemberId" and MADE_MEMBER_ID.fullmatch(value) and value not in self.said:
                return self.label("member", value)
            if len(value) > 2000:
                return f"{len(value)} characters"
            return self.text(value)
        if message == "DescribeQuorumResponse" and name == "Port":
            return "<controller>"
        if name == "Port" and value in self.ports:
            return self.ports[value]
        if (message, name) in DISK:
            return "<bytes>" if value > 0 else value
        if (message, name) in METADATA_LOG:
            return "<metadata log>" if value > 0 else value
        if name == "ProducerId" and value >= 0 and message in MAKES_PRODUCERS:
            return self.label("producer", value)
        if ("producer", value) in self.labels and name in PRODUCER_IDS:
            return self.labels["producer", value]
        if name == "SessionId" and value > 0 and message.startswith("Fetch"):
            return self.label("session", value)
        if name == "ThrottleTimeMs" and value > 0:
            return "<throttle>"
        if name == "FinalizedFeaturesEpoch" and value >= 0:
            return "<epoch>"
        if name in talk.ERROR_FIELDS:
            return wire.ERRORS.get(value, str(value))
        return "<now>" if kind == "int64" and is_now(value) else value

    def batches(self, data):
        if not isinstance(data, bytes):
            return data
        found = records.describe(data)
        for batch in found:
            for name in ("BaseTimestamp", "MaxTimestamp"):
                if name in batch and is_now(batch[name]):
                    batch[name] = "<now>"
            if ("producer", batch.get("ProducerId")) in self.labels:
                batch["ProducerId"] = self.labels["producer", batch["ProducerId"]]
        return found

    def fields(self, message, fields, values):
        if not isinstance(values, dict):
            return values
        by_name = {field["name"]: field for field in fields}
        out = {}
        for name, value in values.items():
            field = by_name.get(name)
            if field is None:
                out[name] = repr(value)
            elif field["array"] and value is not None:
                key = UNORDERED.get((message, name))
                value = sorted(value) if key == "" else value
                if key and all(isinstance(element, dict) for element in value):
                    value = sorted(value, key=lambda element: _sort_key(element, key))
                out[name] = [self.value(message, field, element) for element in value]
                if key and all(isinstance(element, dict) for element in value):
                    out[name].sort(key=lambda element: _sort_key(element, key))
            else:
                out[name] = self.value(message, field, value)
        return out

    def message(self, name, values):
        return self.fields(name, wire.MESSAGES[name]["fields"], values)

    def step(self, step):
        """One step of a transcript, ready to be written down."""
        if "note" in step:
            return {"note": self.text(step["note"])}
        out = {"ask": step["ask"] + (f" on {step['on']}" if step.get("on") else "")}
        out["request"] = step["request"] if "raw" in step["request"] else self.message(step["message"], step["request"])
        answer = step.get("answer", "not waited for")
        if isinstance(answer, dict):
            answer = self.message(step["message"].replace("Request", "Response"), answer)
        out["answer"] = answer
        if "when" in step:
            out["when"] = step["when"]
        return out


def _sort_key(element, key):
    if isinstance(key, tuple):
        return tuple(str(element.get(name)) for name in key)
    value = element.get(key)
    return (value is None, element.get("ResourceType", 0), str(value) if not isinstance(value, int) else f"{value:020}", str(element.get("TopicId")))
