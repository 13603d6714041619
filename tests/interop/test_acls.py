"""ACLs as people make them: Kafka's kafka-acls with every option, and clients that are let in or kept out by them."""

import re
import subprocess

import confluent_kafka
import confluent_kafka.admin
import pytest

import harness

MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"

#: The listener without a login is the administrator's; alice and bob log in.
BROKER_PROPERTIES = {
    "listeners": "PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{second_port}",
    "advertised.listeners": "PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{second_port}",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config":
        f'{MODULE} required user_alice="alice-secret" user_bob="bob-secret";',
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS;User:admin",
    "auto.create.topics.enable": "false",
}


OPTIONS = {"TOPIC": "--topic", "GROUP": "--group", "TRANSACTIONAL_ID": "--transactional-id", "DELEGATION_TOKEN": "--delegation-token",
           "USER": "--user-principal"}


@pytest.fixture(scope="module")
def secured(broker):
    return f"127.0.0.1:{broker.second_port}"


@pytest.fixture
def acls(tools):
    """kafka-acls. What a test leaves behind is removed."""
    def call(*arguments):
        return tools("kafka-acls", *arguments)
    yield call
    for kind, name, pattern in patterns(call("--list")):
        option = ["--cluster"] if kind == "CLUSTER" else [OPTIONS[kind], name, "--resource-pattern-type", pattern.lower()]
        call("--remove", "--force", *option).succeeded()


@pytest.fixture
def topic(tools, unique):
    name = unique("topic")
    tools("kafka-topics", "--create", "--topic", name).succeeded()
    return name


def patterns(result):
    """{(type, name, pattern type): {(principal, host, operation, permission)}} of what the tool prints as current."""
    found, current = {}, None
    for line in result.succeeded().lines:
        if heading := re.match(r"Current ACLs for resource `ResourcePattern\(resourceType=(\w+), name=(.*), patternType=(\w+)\)`:", line):
            current = found.setdefault(heading.groups(), set())
        elif entry := re.search(r"\(principal=(.*), host=(.*), operation=(\w+), permissionType=(\w+)\)", line):
            if current is not None:
                current.add(entry.groups())
        elif line.strip():
            current = None
    return found


def allow(principal, *operations, host="*"):
    return {(principal, host, operation, "ALLOW") for operation in operations}


def kcat(secured, user, *arguments, **more):
    options = [word for key, value in {
        "security.protocol": "SASL_PLAINTEXT", "sasl.mechanisms": "PLAIN", "sasl.username": user,
        "sasl.password": f"{user}-secret"}.items() for word in ("-X", f"{key}={value}")]
    return subprocess.run(["kcat", "-b", secured, *options, *arguments], capture_output=True, text=True, timeout=60, **more)


def produce(secured, user, topic):
    return kcat(secured, user, "-P", "-t", topic, "-X", "message.timeout.ms=4000", input="v\n")


def read_all(secured, user, topic):
    return kcat(secured, user, "-C", "-t", topic, "-e", "-q", "-o", "beginning")


def client_file(directory, user):
    path = directory / f"{user}.properties"
    path.write_text("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
                    f'sasl.jaas.config={MODULE} required username="{user}" password="{user}-secret";\n')
    return path


# ---- kafka-acls ----


def test_acls_of_every_kind_of_resource_are_made_listed_and_removed(acls):
    acls("--add", "--allow-principal", "User:alice", "--allow-principal", "User:bob", "--allow-host", "10.0.0.1", "--operation", "Read",
         "--operation", "Describe", "--topic", "made").succeeded()
    acls("--add", "--deny-principal", "User:mallory", "--deny-host", "10.9.9.9", "--operation", "All", "--group", "g-",
         "--resource-pattern-type", "prefixed").succeeded()
    acls("--add", "--allow-principal", "User:alice", "--operation", "Alter", "--cluster").succeeded()
    acls("--add", "--allow-principal", "User:alice", "--operation", "Describe", "--delegation-token", "token").succeeded()
    acls("--add", "--allow-principal", "User:alice", "--operation", "CreateTokens", "--user-principal", "User:bob").succeeded()
    acls("--add", "--allow-principal", "User:alice", "--operation", "Write", "--transactional-id", "x").succeeded()
    everything = {
        ("TOPIC", "made", "LITERAL"): allow("User:alice", "READ", "DESCRIBE", host="10.0.0.1") |
                                      allow("User:bob", "READ", "DESCRIBE", host="10.0.0.1"),
        ("GROUP", "g-", "PREFIXED"): {("User:mallory", "10.9.9.9", "ALL", "DENY")},
        ("CLUSTER", "kafka-cluster", "LITERAL"): allow("User:alice", "ALTER"),
        ("DELEGATION_TOKEN", "token", "LITERAL"): allow("User:alice", "DESCRIBE"),
        ("USER", "User:bob", "LITERAL"): allow("User:alice", "CREATE_TOKENS"),
        ("TRANSACTIONAL_ID", "x", "LITERAL"): allow("User:alice", "WRITE"),
    }

    def listed():
        assert patterns(acls("--list")) == everything
    harness.at_once(listed)
    assert patterns(acls("--list", "--topic", "made")) == {("TOPIC", "made", "LITERAL"): everything["TOPIC", "made", "LITERAL"]}
    assert patterns(acls("--list", "--group", "g-1")) == {}
    assert patterns(acls("--list", "--group", "g-1", "--resource-pattern-type", "match")) == {
        ("GROUP", "g-", "PREFIXED"): everything["GROUP", "g-", "PREFIXED"]}
    of_bob = acls("--list", "--principal", "User:bob")
    assert ("TOPIC", "made", "LITERAL") in patterns(of_bob) and "operation=ALTER" not in of_bob.out, of_bob

    acls("--remove", "--force", "--allow-principal", "User:alice", "--allow-host", "10.0.0.1", "--operation", "Read",
         "--topic", "made").succeeded()

    def one_less():
        assert ("User:alice", "10.0.0.1", "READ", "ALLOW") not in patterns(acls("--list", "--topic", "made"))["TOPIC", "made", "LITERAL"]
    harness.at_once(one_less)


def test_the_shorthands_make_what_producers_and_consumers_need(acls):
    acls("--add", "--allow-principal", "User:alice", "--producer", "--topic", "made", "--transactional-id", "x", "--idempotent").succeeded()
    acls("--add", "--allow-principal", "User:bob", "--consumer", "--topic", "made", "--group", "g").succeeded()

    def listed():
        assert patterns(acls("--list")) == {
            ("TOPIC", "made", "LITERAL"): allow("User:alice", "WRITE", "DESCRIBE", "CREATE") | allow("User:bob", "READ", "DESCRIBE"),
            ("TRANSACTIONAL_ID", "x", "LITERAL"): allow("User:alice", "WRITE", "DESCRIBE"),
            ("CLUSTER", "kafka-cluster", "LITERAL"): allow("User:alice", "IDEMPOTENT_WRITE"),
            ("GROUP", "g", "LITERAL"): allow("User:bob", "READ"),
        }
    harness.at_once(listed)
    acls("--remove", "--force", "--allow-principal", "User:bob", "--consumer", "--topic", "made", "--group", "g").succeeded()

    def gone():
        assert not any("User:bob" in str(entries) for entries in patterns(acls("--list")).values())
    harness.at_once(gone)


def test_who_may_not_alter_the_cluster_makes_no_acls(tools, secured, acls, tmp_path):
    def as_alice(*arguments):
        return tools("kafka-acls", "--bootstrap-server", secured, "--command-config", client_file(tmp_path, "alice"), *arguments)
    for arguments in (["--list"], ["--add", "--allow-principal", "User:alice", "--operation", "All", "--topic", "t"]):
        refused = as_alice(*arguments)
        assert "ClusterAuthorizationException" in refused.out + refused.err, refused
    assert patterns(acls("--list")) == {}


# ---- clients ----


def test_a_producer_is_kept_out_until_an_acl_lets_it_in(secured, acls, topic):
    refused = produce(secured, "alice", topic)
    assert refused.returncode != 0 and "Topic authorization failed" in refused.stderr, refused
    acls("--add", "--allow-principal", "User:alice", "--producer", "--topic", topic).succeeded()

    def let_in():
        done = produce(secured, "alice", topic)
        assert done.returncode == 0, done
    harness.at_once(let_in)
    assert produce(secured, "bob", topic).returncode != 0
    assert read_all(secured, "alice", topic).returncode != 0, "WRITE is not READ"


def test_a_rule_that_denies_wins_and_prefixes_hold_for_what_begins_with_them(secured, acls, topic):
    acls("--add", "--allow-principal", "User:*", "--operation", "All", "--topic", topic[:-1], "--resource-pattern-type", "prefixed").succeeded()

    def let_in():
        assert produce(secured, "alice", topic).returncode == 0
        assert produce(secured, "bob", topic).returncode == 0
    harness.at_once(let_in)
    acls("--add", "--deny-principal", "User:bob", "--deny-host", "127.0.0.1", "--operation", "Write", "--topic", "*").succeeded()

    def kept_out():
        assert produce(secured, "bob", topic).returncode != 0
    harness.at_once(kept_out)
    assert produce(secured, "alice", topic).returncode == 0
    assert read_all(secured, "bob", topic).returncode == 0, "what denies WRITE does not deny READ"


def test_a_consumer_needs_its_group_too(tools, secured, acls, topic, unique, tmp_path):
    group = unique("group")
    acls("--add", "--allow-principal", "User:alice", "--operation", "Read", "--operation", "Write", "--topic", topic).succeeded()
    harness.at_once(lambda: produce(secured, "alice", topic).check_returncode())

    def consume():
        return tools("kafka-console-consumer", "--bootstrap-server", secured, "--command-config", client_file(tmp_path, "alice"),
                     "--topic", topic, "--group", group, "--from-beginning", "--max-messages", "1", "--timeout-ms", "20000")
    refused = consume()
    assert "GroupAuthorizationException" in refused.out + refused.err, refused
    acls("--add", "--allow-principal", "User:alice", "--operation", "Read", "--group", group).succeeded()

    def let_in():
        assert consume().succeeded().out.startswith("v"), "the record"
    harness.at_once(let_in)


def test_topics_that_may_not_be_described_are_not_shown(tools, secured, acls, topic, tmp_path):
    def listed():
        return tools("kafka-topics", "--bootstrap-server", secured, "--command-config", client_file(tmp_path, "alice"),
                     "--list").succeeded().lines
    assert topic not in listed()
    acls("--add", "--allow-principal", "User:alice", "--operation", "Describe", "--topic", topic).succeeded()

    def shown():
        assert topic in listed()
    harness.at_once(shown)


def test_who_may_not_create_topics_is_told_so(tools, secured, tmp_path, unique):
    refused = tools("kafka-topics", "--bootstrap-server", secured, "--command-config", client_file(tmp_path, "alice"), "--create",
                    "--topic", unique("topic"))
    assert refused.code == 1 and "Error while executing topic command : Authorization failed." in refused.out, refused


@pytest.mark.skipif(harness.TARGET != "partita", reason="the log of Partita")
def test_each_denial_is_a_line_of_the_audit_log(broker, secured, acls, topic):
    produce(secured, "alice", topic)
    denied = (rf"INFO access Principal = User:alice is Denied operation = DESCRIBE from host = 127\.0\.0\.1 on resource = "
              rf"Topic:LITERAL:{topic} for request = Metadata with resourceRefCount = 1 based on rule DefaultDeny$")
    assert re.search(denied, broker.log_text(10_000), re.M), broker.log_text()
    acls("--add", "--deny-principal", "User:alice", "--operation", "All", "--topic", topic).succeeded()
    produce(secured, "alice", topic)
    rule = (f"based on rule MatchingAcl(acl=StandardAcl[resourceType=TOPIC, resourceName={topic}, patternType=LITERAL, "
            "principal=User:alice, host=*, operation=ALL, permissionType=DENY])")
    assert rule in broker.log_text(10_000), broker.log_text()


@pytest.mark.skipif(harness.TARGET != "partita", reason="kills the broker")
def test_acls_survive_a_kill(broker, secured, acls, topic):
    acls("--add", "--allow-principal", "User:alice", "--producer", "--topic", topic).succeeded()
    broker.kill()
    broker.restart()
    assert produce(secured, "alice", topic).returncode == 0
    assert produce(secured, "bob", topic).returncode != 0


@pytest.mark.skipif(harness.TARGET != "partita", reason="the log of Partita")
def test_a_request_that_names_thousands_of_topics_is_told_in_a_thousand_lines(broker, secured, unique):
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": secured, "security.protocol": "SASL_PLAINTEXT",
                                               "sasl.mechanism": "PLAIN", "sasl.username": "alice", "sasl.password": "alice-secret"})
    name = unique("absent")
    answers = admin.describe_topics(confluent_kafka.TopicCollection([f"{name}-{number}" for number in range(1_500)]))
    for answer in answers.values():
        assert answer.exception(timeout=20) is not None

    def end():
        text = broker.log_path.read_text()
        return re.search(r"Principal = User:alice from host = 127\.0\.0\.1 named more resources in request = Metadata: "
                         r"(\d+) of them are not logged", text)
    left_out = harness.wait_until(end, 20, "what is left out is told").group(1)
    assert left_out == "500"
    assert "Topic:LITERAL:" + name in broker.log_path.read_text()


@pytest.mark.skipif(harness.TARGET != "partita", reason="the catalog of Partita")
def test_nobody_makes_a_topic_that_would_have_the_log_of_the_brokers_catalog(tools):
    name = "__partita_catalog"
    refused = tools("kafka-topics", "--create", "--topic", name)
    assert refused.code == 1 and "prohibited" in refused.out, refused
    with harness.start_broker({"auto.create.topics.enable": "true"}) as broker:
        for arguments in (["-P", "-t", name, "-X", "message.timeout.ms=2000"], ["-L", "-t", name, "-X", "allow.auto.create.topics=true"]):
            subprocess.run(["kcat", "-b", broker.bootstrap, *arguments], capture_output=True, text=True, timeout=60, input="v\n")
        read = subprocess.run(["kcat", "-b", broker.bootstrap, "-C", "-t", name, "-o", "beginning", "-e"], capture_output=True, timeout=60)
        assert read.stdout == b"" and b"Unknown topic" in read.stderr, read
