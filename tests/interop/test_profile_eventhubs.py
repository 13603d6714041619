"""The profile of a managed event service (docs/eventhubs.md) as unmodified clients see it: they log in by connection string, and are refused what the
service refuses."""

import contextlib
import json
import pathlib
import re
import socket
import struct
import subprocess

import confluent_kafka
import confluent_kafka.admin
import pytest

import clients
import harness
import matrix

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="the profile is Partita's own")

NAME, KEY = "Root", "c2VjcmV0LWtleQ=="
PYTHON_CLIENTS = harness.TOOLS / "python-clients/bin/python"
REQUEST_BYTES_MAX = 1_046_528
SECONDS = 30


def connection_string(name=NAME, key=KEY, more=""):
    return f"Endpoint=sb://localhost/;SharedAccessKeyName={name};SharedAccessKey={key}{more}"


class ProfileBroker(harness.PartitaBroker):
    def __init__(self, tier=None, keys=f"{NAME}={KEY}", **more):
        super().__init__({**({"partita.profile.access.keys": keys} if keys else {}), **more})
        self.tier = tier

    def command(self):
        return [*super().command(), "--profile", "eventhubs", *(["--tier", self.tier] if self.tier else [])]


@contextlib.contextmanager
def a_tier(tier=None, **more):
    with ProfileBroker(tier, **more) as broker:
        yield broker


@pytest.fixture(scope="module")
def standard():
    with a_tier("standard") as broker:
        yield broker


@pytest.fixture(scope="module")
def premium():
    with a_tier("premium") as broker:
        yield broker


@pytest.fixture(scope="module")
def answering():
    """As the service, but for ApiVersions 4: so Java clients of today can connect."""
    with a_tier("premium", **{"partita.profile.newer.api.versions.enable": "true"}) as broker:
        yield broker


def librdkafka(broker, password=None, **more):
    return {"bootstrap.servers": f"localhost:{broker.port}", "security.protocol": "SASL_PLAINTEXT", "sasl.mechanisms": "PLAIN",
            "sasl.username": "$ConnectionString", "sasl.password": password or connection_string(), **more}


def create(broker, topic, partitions=1, configs=None, password=None):
    """None, or the error of the topic."""
    admin = confluent_kafka.admin.AdminClient(librdkafka(broker, password))
    wanted = confluent_kafka.admin.NewTopic(topic, partitions, 1, config=configs or {})
    return error_of(admin.create_topics([wanted])[topic])


def error_of(future):
    error = future.exception(SECONDS)
    return None if error is None else error.args[0].name()


def produce(broker, topic, value=b"value", password=None, **more):
    """None, or the error of the record."""
    errors = []
    producer = confluent_kafka.Producer(librdkafka(broker, password, **{"message.timeout.ms": 10_000, **more}))
    producer.produce(topic, value, b"key", callback=lambda error, _: errors.append(error and error.name()))
    assert producer.flush(SECONDS) == 0 and len(errors) == 1
    return errors[0]


def consume(broker, topic, group, count, password=None, **more):
    consumer = confluent_kafka.Consumer(librdkafka(broker, password, **{"group.id": group, "auto.offset.reset": "earliest", **more}))
    consumer.subscribe([topic])
    values = []

    def read():
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            values.append(message.value())
        return len(values) >= count
    try:
        harness.wait_until(read, SECONDS, lambda: f"{count} records of {topic}; there are {values}")
        consumer.commit(asynchronous=False)
    finally:
        consumer.close()
    return values


def is_refused_reading(broker, topic, error, group=None, password=None):
    """Whether a reader is told that error: one of the group, or one that is assigned the first partition (and looks for a group besides)."""
    consumer = confluent_kafka.Consumer(librdkafka(broker, password, **{"group.id": group or "nobody", "auto.offset.reset": "earliest"}))
    if group:
        consumer.subscribe([topic])
    else:
        consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    told = set()

    def is_told():
        message = consumer.poll(0.2)
        assert message is None or message.error(), "it reads"
        told.update([message.error().name()] if message else [])
        return error in told
    try:
        return harness.wait_until(is_told, SECONDS, lambda: f"{error}; there is {told}")
    finally:
        consumer.close()


# ---- our own commands ----


def test_our_own_commands_get_in(standard, unique, tmp_path):
    topic = unique("topic")
    login = tmp_path / "client.properties"
    login.write_text("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
                     f'username="$ConnectionString" password="{connection_string()}";\n')
    where = ("--bootstrap-server", f"localhost:{standard.port}", "--command-config", login)
    harness.run_partita("topics", *where, "--create", "--topic", topic, "--partitions", 2).succeeded()
    harness.run_partita("produce", *where, "--topic", topic, input="one\ntwo\n").succeeded()
    read = harness.run_partita("consume", *where, "--topic", topic, "--from-beginning", "--exit").succeeded()
    assert sorted(read.lines) == ["one", "two"]
    grown = harness.run_partita("topics", *where, "--alter", "--topic", topic, "--partitions", 4)
    assert grown.code == 1 and "does not add partitions" in grown.out + grown.err


# ---- librdkafka ----


def test_the_key_that_a_start_makes_is_told_and_lets_clients_in(unique):
    topic = unique("topic")
    with a_tier(keys=None) as broker:
        told = re.search(r"^Endpoint=sb://localhost/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=\S+$", broker.log_text(), re.M)
        assert told, broker.log_text()
        assert create(broker, topic, password=told[0]) is None
        assert produce(broker, topic, password=told[0]) is None
        assert consume(broker, topic, unique("group"), 1, password=told[0]) == [b"value"]


@pytest.mark.parametrize("said_by", ("override", "environment", "file"))
def test_a_profile_wants_a_login_whoever_says_it(unique, said_by):
    settings = {"partita.profile": "eventhubs", "partita.profile.access.keys": f"{NAME}={KEY}"}

    class Configured(harness.PartitaBroker):
        def command(self):
            if said_by != "file":
                return super().command()
            (self.directory / "server.properties").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
            return [*super().command(), "--config", str(self.directory / "server.properties")]

        def environment(self):
            given = {"KAFKA_" + name.upper().replace(".", "_"): value for name, value in settings.items()}
            return {**super().environment(), **(given if said_by == "environment" else {})}
    topic = unique("topic")
    with Configured(settings if said_by == "override" else {}) as broker:
        assert create(broker, topic) is None
        assert produce(broker, topic) is None
        with pytest.raises(confluent_kafka.KafkaException):
            confluent_kafka.admin.AdminClient({"bootstrap.servers": broker.bootstrap}).list_topics(timeout=2)


def test_librdkafka_writes_reads_and_commits(standard, unique):
    topic, group = unique("topic"), unique("group")
    assert create(standard, topic, 2) is None
    for number in range(20):
        assert produce(standard, topic, b"%d" % number) is None
    assert len(consume(standard, topic, group, 20)) == 20
    admin = confluent_kafka.admin.AdminClient(librdkafka(standard))
    listed = admin.list_topics(topic, timeout=SECONDS)
    assert len(listed.topics[topic].partitions) == 2
    # One address for all partitions.
    assert {partition.leader for partition in listed.topics[topic].partitions.values()} == set(listed.brokers) and len(listed.brokers) == 1


def test_tokens_log_in_beside_connection_strings(unique):
    topic = unique("topic")
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
    with a_tier("premium", **{"sasl.enabled.mechanisms": "OAUTHBEARER", "listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config":
                              f'{module} required unsecuredLoginStringClaim_sub="broker";'}) as broker:
        bearer = {"sasl.mechanisms": "OAUTHBEARER", "enable.sasl.oauthbearer.unsecure.jwt": "true", "sasl.oauthbearer.config": "principal=alice",
                  "sasl.username": "", "sasl.password": ""}
        assert create(broker, topic) is None
        assert produce(broker, topic, b"by token", **bearer) is None
        assert produce(broker, topic, b"by key") is None
        assert consume(broker, topic, unique("group"), 2, **bearer) == [b"by token", b"by key"]


def test_librdkafka_with_another_key_is_refused(standard, unique):
    for password in (connection_string(key="d3Jvbmc="), connection_string(name="Nobody"), "no connection string"):
        errors = []
        admin = confluent_kafka.admin.AdminClient(librdkafka(standard, password, error_cb=lambda error: errors.append(str(error))))
        with pytest.raises(confluent_kafka.KafkaException):
            admin.list_topics(timeout=1)
        admin.poll(1)
        assert any("Authentication failed: Invalid username or password" in error for error in errors), errors
    assert "d3Jvbmc" not in standard.log_text(1000)
    assert "broken connection string: a part is not NAME=VALUE" in standard.log_text(1000)


def test_a_connection_string_of_one_topic_is_for_that_only(standard, unique):
    orders, others = unique("orders"), unique("others")
    of_orders = connection_string(more=f";EntityPath={orders}")
    assert create(standard, orders) is None and create(standard, others) is None
    assert produce(standard, orders, password=of_orders) is None
    assert produce(standard, others, password=of_orders) == "TOPIC_AUTHORIZATION_FAILED"


def test_a_key_that_may_only_send_or_only_listen_is_refused_the_other_direction(unique):
    topic = unique("topic")
    with a_tier("standard", keys=f"{NAME}={KEY},sensor:send=a2V5MQ==,billing:listen=a2V5Mg==") as broker:
        sensor, billing = connection_string("sensor", "a2V5MQ=="), connection_string("billing", "a2V5Mg==")
        assert create(broker, topic, password=sensor) == create(broker, topic, password=billing) == "TOPIC_AUTHORIZATION_FAILED"
        assert create(broker, topic) is None
        assert produce(broker, topic, b"one", password=sensor) is None
        assert produce(broker, topic, b"two", password=sensor, **{"enable.idempotence": "true"}) is None
        assert produce(broker, topic, b"no", password=billing) == "TOPIC_AUTHORIZATION_FAILED"
        assert consume(broker, topic, unique("group"), 2, password=billing) == [b"one", b"two"]
        assert is_refused_reading(broker, topic, "TOPIC_AUTHORIZATION_FAILED", password=sensor)
        assert is_refused_reading(broker, topic, "GROUP_AUTHORIZATION_FAILED", unique("group"), password=sensor)
        both = connection_string("billing", "a2V5Mg==", f";EntityPath={topic}")
        assert len(consume(broker, topic, unique("group"), 2, password=both)) == 2


def test_codecs_are_taken_by_tier(standard, premium, unique):
    topic = unique("topic")
    assert create(standard, topic) is None and create(premium, topic) is None
    value = b"v" * 1_000
    for broker, taken in ((standard, ["none"]), (premium, ["none", "gzip"])):
        for codec in ("none", "gzip", "snappy", "lz4"):
            expected = None if codec in taken else "UNSUPPORTED_FOR_MESSAGE_FORMAT"
            assert produce(broker, topic, value, **{"compression.codec": codec}) == expected, (broker.tier, codec)


def test_idempotent_producers_are_served(standard, unique):
    topic = unique("topic")
    assert create(standard, topic) is None
    assert produce(standard, topic, **{"enable.idempotence": "true"}) is None


def test_a_transaction_is_refused_in_the_standard_tier(standard, unique):
    producer = confluent_kafka.Producer(librdkafka(standard, **{"transactional.id": unique("id")}))
    with pytest.raises(confluent_kafka.KafkaException) as refused:
        producer.init_transactions(3)
    # librdkafka asks for its coordinator again and again, until its time is over: it gets no producer id.
    assert refused.value.args[0].code() == confluent_kafka.KafkaError._TIMED_OUT


def test_a_transaction_is_served_in_the_premium_tier(premium, unique):
    topic = unique("topic")
    assert create(premium, topic) is None
    producer = confluent_kafka.Producer(librdkafka(premium, **{"transactional.id": unique("id")}))
    producer.init_transactions(SECONDS)
    for value, ends in ((b"aborted", producer.abort_transaction), (b"committed", producer.commit_transaction)):
        producer.begin_transaction()
        producer.produce(topic, value)
        ends(SECONDS)
    assert consume(premium, topic, unique("group"), 1, **{"isolation.level": "read_committed"}) == [b"committed"]


def test_topics_and_partitions_have_limits(unique):
    with a_tier("standard") as broker:
        assert create(broker, "wide", 33) == "INVALID_PARTITIONS"
        assert create(broker, "kept", 1, {"retention.ms": str(8 * 86_400_000)}) == "INVALID_CONFIG"
        assert create(broker, "kept", 1, {"retention.ms": "-1"}) == "INVALID_CONFIG"
        assert create(broker, "wide", 32) is None
        for number in range(9):
            assert create(broker, f"t{number}") is None
        assert create(broker, "one-more") == "POLICY_VIOLATION"


def test_partitions_are_added_in_the_premium_tier_only(standard, premium, unique):
    for broker, expected in ((standard, "POLICY_VIOLATION"), (premium, None)):
        topic = unique("topic")
        assert create(broker, topic, 2) is None
        admin = confluent_kafka.admin.AdminClient(librdkafka(broker))
        assert error_of(admin.create_partitions([confluent_kafka.admin.NewPartitions(topic, 4)])[topic]) == expected, broker.tier


def test_the_basic_tier_lets_nobody_use_a_topic():
    with a_tier("basic") as broker:
        assert create(broker, "orders") == "TOPIC_AUTHORIZATION_FAILED"
        assert produce(broker, "orders") == "TOPIC_AUTHORIZATION_FAILED"


def test_clients_wait_for_the_capacity_of_a_unit(unique):
    """One unit takes a megabyte a second: three of them last two seconds and more, told in the answers."""
    waits = []
    with a_tier("standard") as broker:
        assert create(broker, "orders") is None
        producer = confluent_kafka.Producer(librdkafka(broker, throttle_cb=lambda event: waits.append(event.throttle_time), **{"linger.ms": 5}))
        for _ in range(30):
            producer.produce("orders", b"v" * 100_000)
            producer.poll(0)
        assert producer.flush(SECONDS) == 0
    assert waits


# ---- byte by byte ----


def ask(broker, frame):
    """The answer without its size; empty when the connection ends."""
    with socket.create_connection(("localhost", broker.port), timeout=10) as connection:
        connection.sendall(struct.pack(">i", len(frame)) + frame)
        try:
            size = connection.recv(4)
            return harness.read_exactly(connection, struct.unpack(">i", size)[0]) if len(size) == 4 else b""
        except ConnectionResetError:
            return b""


def api_versions(version):
    client = b"raw"
    header = struct.pack(">hhih", 18, version, 1, len(client)) + client
    return header + (b"\x00\x04raw\x022\x00" if version >= 3 else b"")


def test_what_is_offered_is_told_byte_by_byte(standard):
    answer = ask(standard, api_versions(0))
    correlation, error, count = struct.unpack(">ihi", answer[:10])
    offered = {key: (first, last) for key, first, last in struct.iter_unpack(">hhh", answer[10:10 + 6 * count])}
    assert (correlation, error) == (1, 0)
    seen = {0: (3, 7), 1: (4, 6), 2: (0, 7), 3: (0, 5), 8: (0, 8), 9: (0, 8), 10: (0, 4), 11: (0, 7), 12: (0, 4), 13: (0, 4), 14: (0, 5), 15: (0, 5),
            16: (0, 4), 17: (0, 1), 18: (0, 3), 19: (0, 6), 20: (0, 2), 22: (0, 1), 32: (0, 2), 36: (0, 1), 37: (0, 1), 42: (0, 2)}
    assert {key: last for key, (_, last) in offered.items()} == {key: last for key, (_, last) in seen.items()}
    assert all(first >= seen[key][0] for key, (first, _) in offered.items()), offered
    assert offered[0] == (3, 7) and offered[1] == (4, 6)


def test_api_versions_four_ends_the_connection(standard, answering):
    assert ask(standard, api_versions(3))[:4] == struct.pack(">i", 1)
    assert ask(standard, api_versions(4)) == b""
    assert struct.unpack(">ih", ask(answering, api_versions(4))[:6]) == (1, 35)


def test_a_request_beyond_the_cap_ends_the_connection(standard):
    padded = api_versions(0).ljust(REQUEST_BYTES_MAX + 1, b"\x00")
    with socket.create_connection(("localhost", standard.port), timeout=10) as connection:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(struct.pack(">i", len(padded)) + padded)
            assert connection.recv(4) == b""


# ---- Java ----


def java(directory, password=None):
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    settings = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "default.api.timeout.ms": "20000", "request.timeout.ms": "10000",
                "sasl.jaas.config": f'{module} required username="$ConnectionString" password="{password or connection_string()}";'}
    path = directory / "client.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return path


@pytest.fixture(scope="module")
def java_tools(answering):
    tools = harness.Tools(f"localhost:{answering.port}")
    yield tools
    tools.close()


def test_the_tools_of_kafka_work(java_tools, tmp_path, unique):
    topic, config = unique("topic"), java(tmp_path)
    java_tools("kafka-topics", "--command-config", config, "--create", "--topic", topic, "--partitions", 2).succeeded()
    java_tools("kafka-topics", "--command-config", config, "--alter", "--topic", topic, "--partitions", 3).succeeded()
    described = java_tools("kafka-topics", "--command-config", config, "--describe", "--topic", topic).succeeded()
    assert "PartitionCount: 3" in described.out, described
    java_tools("kafka-console-producer", "--command-config", config, "--topic", topic, input="one\ntwo\n").succeeded()
    read = java_tools("kafka-console-consumer", "--command-config", config, "--topic", topic, "--from-beginning", "--max-messages", 2,
                      "--timeout-ms", 20_000).succeeded()
    assert sorted(read.lines) == ["one", "two"]


def test_the_tools_of_kafka_hear_what_is_refused(java_tools, tmp_path, unique):
    config = java(tmp_path)
    wide = java_tools("kafka-topics", "--command-config", config, "--create", "--topic", unique("wide"), "--partitions", 101)
    assert wide.code == 1 and "the premium tier of the profile eventhubs has at most 100 partitions in a topic" in wide.out + wide.err, wide
    acls = java_tools("kafka-acls", "--command-config", config, "--list")
    assert acls.code != 0 and "UnsupportedVersionException" in acls.out + acls.err, acls
    wrong = java_tools("kafka-topics", "--command-config", java(tmp_path, connection_string(key="wrong")), "--list")
    assert wrong.code == 1 and "Invalid username or password" in wrong.out + wrong.err, wrong


def test_the_tools_of_kafka_4_cannot_connect_to_what_drops_their_first_request(java_tools, standard, tmp_path):
    config = java(tmp_path)
    config.write_text(config.read_text().replace("=20000", "=3000").replace("=10000", "=2000"))
    listed = java_tools("kafka-topics", "--bootstrap-server", f"localhost:{standard.port}", "--command-config", config, "--list")
    assert listed.code == 1 and "imeout" in listed.out + listed.err, listed


# ---- clients of Python ----


def run_python(script, **settings):
    if not PYTHON_CLIENTS.exists():
        pytest.skip("the clients of Python are not installed")
    done = subprocess.run([PYTHON_CLIENTS, "-B", "-c", script], input=json.dumps(settings), capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.split()


AIOKAFKA = """
import asyncio, json, sys
import aiokafka

async def main(bootstrap, topic, group, password):
    login = dict(bootstrap_servers=bootstrap, security_protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN", sasl_plain_username="$ConnectionString",
                 sasl_plain_password=password)
    async with aiokafka.AIOKafkaProducer(**login) as producer:
        for number in range(3):
            await producer.send_and_wait(topic, b"%d" % number)
    async with aiokafka.AIOKafkaConsumer(topic, group_id=group, auto_offset_reset="earliest", **login) as consumer:
        for _ in range(3):
            print((await consumer.getone()).value.decode())
        await consumer.commit()

asyncio.run(main(**json.load(sys.stdin)))
"""

KAFKA_PYTHON = """
import json, sys
import kafka

asked = json.load(sys.stdin)
login = dict(bootstrap_servers=asked["bootstrap"], security_protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN",
             sasl_plain_username="$ConnectionString", sasl_plain_password=asked["password"])
producer = kafka.KafkaProducer(**login)
for number in range(3):
    producer.send(asked["topic"], b"%d" % number).get(30)
consumer = kafka.KafkaConsumer(asked["topic"], group_id=asked["group"], auto_offset_reset="earliest", **login)
values = []
while len(values) < 3:
    values += [record.value.decode() for records in consumer.poll(1000).values() for record in records]
consumer.commit()
print(*values)
"""


def write_and_read(broker, unique, script):
    topic = unique("topic")
    assert create(broker, topic) is None
    return run_python(script, bootstrap=f"localhost:{broker.port}", topic=topic, group=unique("group"), password=connection_string())


def test_aiokafka_writes_and_reads(standard, unique):
    assert write_and_read(standard, unique, AIOKAFKA) == ["0", "1", "2"]


def test_kafka_python_writes_and_reads_where_its_first_request_is_answered(answering, unique):
    """It begins with ApiVersions 4 and does not come again when the connection ends, as its users have seen with the service."""
    assert write_and_read(answering, unique, KAFKA_PYTHON) == ["0", "1", "2"]


# ---- every library of the matrix, which this module lets in without a login ----

#: Those whose first request is ApiVersions 4, and who do not come again when the connection ends.
NOT_LET_IN = {"java", "java-3.9", "kafka-python"}
#: Asks nobody what versions there are: users of the service set its `Version`, and the agent has the newest.
ASKS_NOBODY = {"sarama"}


def agent_of(name, broker):
    client = matrix.CLIENTS[name]
    if name in ASKS_NOBODY:
        pytest.skip("speaks the versions that its settings say, which are not those of the service")
    clients.require(name)
    for word in client.run:
        place = word.format(tools=harness.TOOLS, clients=matrix.CLIENTS_DIRECTORY, kafka="", java="").split(":")[0]
        if word.startswith("{tools}") and not pathlib.Path(place).exists():
            pytest.skip("is not fetched")
    return clients.Agent(client, f"localhost:{broker.port}")


@pytest.fixture(scope="module")
def open_tiers():
    """By whether a newer ApiVersions is answered."""
    with contextlib.ExitStack() as stack:
        def started(answers):
            properties = {"listeners": "PLAINTEXT://localhost:{port}", "security.inter.broker.protocol": "PLAINTEXT",
                          "partita.profile.newer.api.versions.enable": str(answers).lower()}
            return stack.enter_context(a_tier("premium", keys=None, **properties))
        yield {answers: started(answers) for answers in (False, True)}


@pytest.mark.parametrize("name", matrix.CLIENTS)
def test_every_library_writes_reads_and_commits(open_tiers, unique, name):
    topic, group = unique("topic"), unique("group")
    agent = agent_of(name, open_tiers[True])
    try:
        agent.create_topic(topic, partitions=2)
        acks = agent.call("produce", topic=topic, records=[{"key": None, "value": str(n), "partition": n % 2} for n in range(10)])["acks"]
        assert all("offset" in ack for ack in acks), acks
        read = agent.call("read", topic=topic, count=10, timeout_ms=20000)["records"]
        assert {record["value"] for record in read} == {str(n) for n in range(10)}
        if "groups" not in matrix.CLIENTS[name].lacks:
            agent.call("member_start", name="m", group=group, topic=topic, assignor="range")
            agent.expect_committed(group, topic, {"0": 5, "1": 5})
            agent.call("member_stop", name="m")
    finally:
        agent.close()


@pytest.mark.parametrize("name", matrix.CLIENTS)
def test_a_library_gets_in_where_the_service_lets_it_in(open_tiers, name):
    agent = agent_of(name, open_tiers[False])
    try:
        if name in NOT_LET_IN:
            with pytest.raises((clients.ClientError, harness.Deadline)):
                agent.call("list_topics", seconds=8)
        else:
            agent.call("list_topics")
    finally:
        agent.kill()


# ---- over TLS, as the service has it ----


def test_a_connection_string_is_taken_over_tls_beside_the_users_of_dev_security(tmp_path, unique):
    made = tmp_path / "secure"
    assert harness.run_partita("dev-security", made).code == 0
    topic = unique("topic")

    class Secure(ProfileBroker):
        def command(self):
            return [*super().command(), "--security", str(made)]

        def is_up(self):
            return self.port_file.exists()
    with Secure() as broker:
        over_tls = {"security.protocol": "SASL_SSL", "ssl.ca.location": str(made / "ca.pem")}
        admin = confluent_kafka.admin.AdminClient(librdkafka(broker, **over_tls))
        assert error_of(admin.create_topics([confluent_kafka.admin.NewTopic(topic, 1, 1)])[topic]) is None
        assert produce(broker, topic, **over_tls) is None
        assert consume(broker, topic, unique("group"), 1, **over_tls) == [b"value"]


# ---- bad input ----


@pytest.mark.parametrize(("arguments", "error"), [
    (["--profile", "kinesis"], "eventhubs"),
    (["--profile", "eventhubs", "--tier", "gold"], "dedicated"),
    (["--tier", "basic"], "partita.profile.tier is set but partita.profile is not"),
    (["--profile", "eventhubs", "--override", "partita.capacity.units=0"], "has 1 to 40 units"),
    (["--profile", "eventhubs", "--override", "partita.capacity.units=-1"], "must be at least 0"),
    (["--profile", "eventhubs", "--tier", "premium", "--override", "partita.capacity.units=17"], "has 1 to 16 units"),
    (["--profile", "eventhubs", "--tier", "premium", "--override", "partita.capacity.units.max=4"], "does not add units by itself"),
    (["--profile", "eventhubs", "--override", "log.retention.hours=169"], "keeps records for at most"),
    (["--profile", "eventhubs", "--override", "partita.profile.access.keys=secret"], "partita.profile.access.keys: it must be NAME[:RIGHTS]=KEY"),
    (["--profile", "eventhubs", "--override", "partita.profile.access.keys=sensor:write=secret"], "the rights of the key sensor must be send, listen or manage"),
    (["--profile", "eventhubs", "--override", "partita.profile.access.keys=a=secret,a=secret"], "the key a is given twice"),
])
def test_what_makes_no_sense_is_refused_at_the_start(tmp_path, arguments, error):
    done = harness.run_partita("serve", "--data-dir", tmp_path / "data", "--port", "0", "--http-port", "off", *arguments)
    text = done.out + done.err
    assert done.code != 0 and error in text, done
    assert "=secret" not in text and "'secret'" not in text, done
