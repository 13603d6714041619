"""Kafka's tools for whoever runs a broker: log directories, features, quorum, reassignments, elections, ACLs, quotas,
credentials, transactions, and kafka-configs for everything that is no topic."""

import json
import re

import harness

BROKER_PROPERTIES = {"auto.create.topics.enable": "false"}


def create(tools, topic, partitions=1):
    tools("kafka-topics", "--create", "--topic", topic, "--partitions", partitions).succeeded()

    def shown():
        tools("kafka-configs", "--describe", "--entity-type", "topics", "--entity-name", topic).succeeded()
        assert topic in tools("kafka-topics", "--list").lines
    harness.at_once(shown)


def broker_id(tools):
    return re.search(r"\(id: (\d+) rack", tools("kafka-broker-api-versions").succeeded().out)[1]


def configs(tools, *arguments):
    return tools("kafka-configs", *arguments)


def first(tools, tool, *arguments):
    """For tools that want --bootstrap-server in front of their subcommand."""
    return tools(tool, "--bootstrap-server", tools.bootstrap, *arguments)


def text_of(result):
    return result.out + result.err


# Log directories -----------------------------------------------------------------------------------------------


def log_dirs(tools, *more):
    lines = tools("kafka-log-dirs", "--describe", *more).succeeded().lines
    return json.loads(lines[-1])


def test_log_dirs_name_the_directory_and_the_partitions(tools, unique, broker):
    topic = unique("topic")
    create(tools, topic, 3)

    def shown():
        described = log_dirs(tools, "--topic-list", topic)
        (directory,) = described["brokers"][0]["logDirs"]
        assert directory["error"] is None
        assert sorted(p["partition"] for p in directory["partitions"]) == [f"{topic}-{n}" for n in range(3)]
        assert all(p["size"] == 0 and p["offsetLag"] == 0 and not p["isFuture"] for p in directory["partitions"])
        if broker.data_directory:
            assert directory["logDir"] == str(broker.data_directory)
    harness.at_once(shown)


def test_log_dirs_grow_with_records(tools, unique):
    topic = unique("topic")
    create(tools, topic)
    tools("kafka-console-producer", "--topic", topic, input="x" * 1000 + "\n").succeeded()
    (directory,) = log_dirs(tools, "--topic-list", topic)["brokers"][0]["logDirs"]
    assert 1000 < directory["partitions"][0]["size"] < 2000


def test_log_dirs_without_topics_list_all(tools, unique):
    topic = unique("topic")
    create(tools, topic)

    def shown():
        (directory,) = log_dirs(tools)["brokers"][0]["logDirs"]
        assert f"{topic}-0" in [p["partition"] for p in directory["partitions"]]
    harness.at_once(shown)


# Features and quorum -------------------------------------------------------------------------------------------


def features(tools):
    lines = first(tools, "kafka-features", "describe").succeeded().lines
    return {m["name"]: m["level"] for m in
            (re.match(r"Feature: (?P<name>\S+)\s.*FinalizedVersionLevel: (?P<level>\S+)", line) for line in lines) if m}


def test_features_are_those_of_kafka_4_3(tools):
    described = features(tools)
    assert described["metadata.version"] == "4.3-IV0"
    assert described["eligible.leader.replicas.version"] == "1"


def test_features_upgrade_to_the_level_they_have(tools):
    done = first(tools, "kafka-features", "upgrade", "--metadata", "4.3-IV0")
    assert done.code == 0, done
    assert "metadata.version was upgraded to 30." in done.out, done


def test_features_do_not_lose_metadata(tools):
    done = first(tools, "kafka-features", "downgrade", "--metadata", "4.0-IV3")
    assert done.code == 1, done
    assert "Refusing to perform the requested downgrade because it might delete metadata information" in text_of(done)


def test_features_are_disabled_and_enabled(tools):
    name = "eligible.leader.replicas.version"
    dry = first(tools, "kafka-features", "disable", "--feature", name, "--dry-run").succeeded()
    assert f"{name} can be disabled." in dry.out, dry
    assert features(tools)[name] == "1"
    assert f"{name} was disabled." in first(tools, "kafka-features", "disable", "--feature", name).succeeded().out

    def is_off():
        assert features(tools)[name] == "0"
    harness.at_once(is_off)
    first(tools, "kafka-features", "upgrade", "--feature", f"{name}=1").succeeded()

    def is_on():
        assert features(tools)[name] == "1"
    harness.at_once(is_on)


def test_features_refuse_what_nobody_knows(tools):
    done = first(tools, "kafka-features", "upgrade", "--feature", "group.version=99")
    assert done.code == 1, done
    assert "Invalid update version 99 for feature group.version." in text_of(done)


def test_quorum_has_one_voter_which_leads(tools):
    node = broker_id(tools)
    status = first(tools, "kafka-metadata-quorum", "describe", "--status").succeeded().out
    assert re.search(rf"^LeaderId:\s+{node}$", status, re.M), status
    assert re.search(r"^CurrentVoters:\s+\[.*\]$", status, re.M), status
    assert re.search(r"^MaxFollowerLag:\s+0$", status, re.M), status
    replicas = first(tools, "kafka-metadata-quorum", "describe", "--replication").succeeded().lines
    assert len(replicas) == 2, replicas
    assert replicas[1].split()[0] == node and "Leader" in replicas[1]


def test_cluster_lists_its_endpoint_and_refuses_strangers(tools, broker):
    listed = tools("kafka-cluster", "list-endpoints").succeeded().lines
    assert any(str(broker.port) in line for line in listed[1:]), listed
    done = tools("kafka-cluster", "unregister", "--id", 4711)
    assert "4711 is not currently registered" in text_of(done), done


# Reassignments and elections -----------------------------------------------------------------------------------


def written(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(json.dumps(content))
    return str(path)


def test_reassignment_to_where_it_is_succeeds(tools, unique, tmp_path):
    topic = unique("topic")
    create(tools, topic)
    node = int(broker_id(tools))
    plan = written(tmp_path, "plan.json", {"version": 1, "partitions": [
        {"topic": topic, "partition": 0, "replicas": [node], "log_dirs": ["any"]}]})
    done = tools("kafka-reassign-partitions", "--reassignment-json-file", plan, "--execute")
    assert done.code == 0 and f"Successfully started partition reassignment for {topic}-0" in done.out, done

    def finished():
        verified = tools("kafka-reassign-partitions", "--reassignment-json-file", plan, "--verify")
        assert f"Reassignment of partition {topic}-0 is completed." in verified.out, verified
    harness.at_once(finished)
    listed = tools("kafka-reassign-partitions", "--list").succeeded()
    assert "No partition reassignments found." in listed.out


def test_reassignment_to_a_missing_broker_fails(tools, unique, tmp_path):
    topic = unique("topic")
    create(tools, topic)
    plan = written(tmp_path, "plan.json", {"version": 1, "partitions": [
        {"topic": topic, "partition": 0, "replicas": [4711]}]})
    done = tools("kafka-reassign-partitions", "--reassignment-json-file", plan, "--execute")
    assert done.code == 1 and "4711" in text_of(done), done


def test_reassignment_generates_a_plan(tools, unique, tmp_path):
    topic = unique("topic")
    create(tools, topic, 2)
    node = broker_id(tools)
    topics = written(tmp_path, "topics.json", {"version": 1, "topics": [{"topic": topic}]})
    done = tools("kafka-reassign-partitions", "--topics-to-move-json-file", topics, "--broker-list", node,
                 "--generate").succeeded()
    plan = json.loads(done.lines[-1])
    assert [p["replicas"] for p in plan["partitions"]] == [[int(node)]] * 2


def test_election_is_not_needed(tools, unique):
    topic = unique("topic")
    create(tools, topic)
    done = tools("kafka-leader-election", "--election-type", "preferred", "--topic", topic, "--partition", 0)
    assert done.code == 0 and f"Valid replica already elected for partitions {topic}-0" in done.out, done
    assert tools("kafka-leader-election", "--election-type", "preferred", "--all-topic-partitions").code == 0


def test_election_of_an_unknown_topic_fails(tools, unique):
    topic = unique("topic")
    done = tools("kafka-leader-election", "--election-type", "unclean", "--topic", topic, "--partition", 0)
    assert done.code == 1 and topic in text_of(done), done


# Security that is not configured -------------------------------------------------------------------------------


def test_acls_need_an_authorizer(tools):
    listed = tools("kafka-acls", "--list")
    assert "No Authorizer is configured on the broker" in text_of(listed), listed
    added = tools("kafka-acls", "--add", "--allow-principal", "User:a", "--operation", "Read", "--topic", "t")
    assert "No Authorizer is configured" in text_of(added), added


def test_delegation_tokens_need_an_authenticated_channel(tools, tmp_path):
    empty = tmp_path / "client.properties"
    empty.write_text("")
    done = tools("kafka-delegation-tokens", "--create", "--max-life-time-period", -1, "--command-config", empty)
    assert done.code == 1 and "Delegation Token requests are not allowed on PLAINTEXT" in text_of(done), done


def test_scram_credentials_are_kept_and_described(tools, unique):
    user = unique("user")
    add = ["--alter", "--entity-type", "users", "--entity-name", user, "--add-config",
           "SCRAM-SHA-256=[iterations=8192,password=secret]"]
    assert f"Completed updating config for user {user}." in configs(tools, *add).succeeded().out

    def shown():
        described = configs(tools, "--describe", "--entity-type", "users", "--entity-name", user).succeeded()
        assert f"SCRAM credential configs for user-principal '{user}' are SCRAM-SHA-256=iterations=8192" in described.out
    harness.at_once(shown)
    configs(tools, "--alter", "--entity-type", "users", "--entity-name", user, "--delete-config",
            "SCRAM-SHA-256").succeeded()

    def gone():
        described = configs(tools, "--describe", "--entity-type", "users", "--entity-name", user)
        assert "SCRAM-SHA-256" not in described.out, described
    harness.at_once(gone)


# Quotas --------------------------------------------------------------------------------------------------------


def test_quotas_of_users_clients_and_addresses_are_kept_and_described(tools, unique):
    user, client = unique("user"), unique("client")
    entity = ["--entity-type", "users", "--entity-name", user, "--entity-type", "clients", "--entity-name", client]
    configs(tools, "--alter", "--add-config", "producer_byte_rate=1024,request_percentage=12.5", *entity).succeeded()

    def shown():
        described = configs(tools, "--describe", *entity).succeeded().out
        assert f"Quota configs for user-principal '{user}', client-id '{client}' are" in described, described
        assert "producer_byte_rate=1024.0" in described and "request_percentage=12.5" in described, described
    harness.at_once(shown)
    configs(tools, "--alter", "--delete-config", "producer_byte_rate,request_percentage", *entity).succeeded()

    def gone():
        assert configs(tools, "--describe", *entity).succeeded().out.strip() == ""
    harness.at_once(gone)
    configs(tools, "--alter", "--add-config", "connection_creation_rate=100", "--entity-type", "ips", "--entity-name",
            "127.0.0.1").succeeded()

    def ip_shown():
        described = configs(tools, "--describe", "--entity-type", "ips", "--entity-name", "127.0.0.1").succeeded()
        assert "connection_creation_rate=100.0" in described.out, described
    harness.at_once(ip_shown)
    configs(tools, "--alter", "--delete-config", "connection_creation_rate", "--entity-type", "ips", "--entity-name",
            "127.0.0.1").succeeded()


def test_quota_that_is_none_is_refused(tools, unique):
    done = configs(tools, "--alter", "--add-config", "producer_byte_rate=1.5", "--entity-type", "users",
                   "--entity-name", unique("user"))
    assert done.code == 1 and "producer_byte_rate cannot be a fractional value." in text_of(done), done


# Configs of brokers, loggers, groups and subscriptions -----------------------------------------------------------


def test_broker_configs_show_its_id_and_roles_as_given(tools):
    node = broker_id(tools)
    described = configs(tools, "--describe", "--entity-type", "brokers", "--entity-name", node, "--all").succeeded()
    for line in (f"  node.id={node} sensitive=false synonyms={{STATIC_BROKER_CONFIG:node.id={node}}}",
                 f"  broker.id={node} sensitive=false synonyms={{STATIC_BROKER_CONFIG:broker.id={node}, "
                 "DEFAULT_CONFIG:broker.id=-1}",
                 "  process.roles=broker,controller sensitive=false "
                 "synonyms={STATIC_BROKER_CONFIG:process.roles=broker,controller}",
                 "  controller.listener.names=CONTROLLER sensitive=false "
                 "synonyms={STATIC_BROKER_CONFIG:controller.listener.names=CONTROLLER}"):
        assert line in described.lines, (line, described)


def test_dynamic_broker_config_is_set_for_one_broker_and_for_all(tools):
    node = broker_id(tools)
    one = ["--entity-type", "brokers", "--entity-name", node]
    default = ["--entity-type", "brokers", "--entity-default"]
    configs(tools, "--alter", "--add-config", "log.cleaner.threads=2", *one).succeeded()
    configs(tools, "--alter", "--add-config", "message.max.bytes=2000000", *default).succeeded()

    def shown():
        assert "log.cleaner.threads=2" in configs(tools, "--describe", *one).succeeded().out
        described = configs(tools, "--describe", *default).succeeded().out
        assert "message.max.bytes=2000000" in described and "min.insync.replicas=1" in described, described
    harness.at_once(shown)
    configs(tools, "--alter", "--delete-config", "log.cleaner.threads", *one).succeeded()
    configs(tools, "--alter", "--delete-config", "message.max.bytes", *default).succeeded()


def test_read_only_broker_config_is_refused(tools):
    done = configs(tools, "--alter", "--add-config", "node.id=7", "--entity-type", "brokers", "--entity-name",
                   broker_id(tools))
    assert done.code == 1 and "Cannot update these configs dynamically: [node.id]" in text_of(done), done


def test_log_level_of_a_logger_is_set_and_removed(tools):
    loggers = ["--entity-type", "broker-loggers", "--entity-name", broker_id(tools)]
    name = "kafka.log.LogManager"
    before = configs(tools, "--describe", *loggers).succeeded()
    assert any(line.startswith("  root=") for line in before.lines), before
    configs(tools, "--alter", "--add-config", f"{name}=ERROR", *loggers).succeeded()
    assert f"  {name}=ERROR sensitive=false synonyms={{}}" in configs(tools, "--describe", *loggers).lines
    configs(tools, "--alter", "--delete-config", name, *loggers).succeeded()
    assert f"  {name}=ERROR sensitive=false synonyms={{}}" not in configs(tools, "--describe", *loggers).lines
    unknown = configs(tools, "--alter", "--add-config", "no.such.logger=DEBUG", *loggers)
    assert unknown.code == 1 and "no.such.logger" in text_of(unknown), unknown


def test_configs_of_a_group_are_set_described_and_removed(tools, unique):
    group = unique("group")
    entity = ["--entity-type", "groups", "--entity-name", group]
    configs(tools, "--alter", "--add-config", "consumer.session.timeout.ms=50000", *entity).succeeded()

    def shown():
        described = configs(tools, "--describe", *entity).succeeded()
        assert ("  consumer.session.timeout.ms=50000 sensitive=false synonyms={DYNAMIC_GROUP_CONFIG:"
                "consumer.session.timeout.ms=50000, DEFAULT_CONFIG:group.consumer.session.timeout.ms=45000}"
                ) in described.lines, described
    harness.at_once(shown)
    refused = configs(tools, "--alter", "--add-config", "consumer.session.timeout.ms=1", *entity)
    assert refused.code == 1, refused
    assert ("consumer.session.timeout.ms must be greater than or equal to group.consumer.min.session.timeout.ms"
            in text_of(refused)), refused
    configs(tools, "--alter", "--delete-config", "consumer.session.timeout.ms", *entity).succeeded()

    def gone():
        assert "consumer.session.timeout.ms" not in configs(tools, "--describe", *entity).out
    harness.at_once(gone)


def test_client_metrics_subscription_is_set_listed_and_deleted(tools, unique):
    name = unique("metrics")
    tools("kafka-client-metrics", "--alter", "--name", name, "--metrics", "org.apache.kafka.consumer", "--interval",
          60000, "--match", "client_id=a.*").succeeded()

    def shown():
        assert name in tools("kafka-client-metrics", "--list").succeeded().lines
        described = tools("kafka-client-metrics", "--describe", "--name", name).succeeded()
        assert {"  interval.ms=60000", "  match=client_id=a.*", "  metrics=org.apache.kafka.consumer"} <= set(
            described.lines), described
        assert name in configs(tools, "--describe", "--entity-type", "client-metrics").succeeded().out
    harness.at_once(shown)
    refused = tools("kafka-client-metrics", "--alter", "--name", name, "--interval", 1)
    assert "interval must be between 100 and 3600000 (1 hour)" in text_of(refused), refused
    tools("kafka-client-metrics", "--delete", "--name", name).succeeded()

    def gone():
        assert name not in tools("kafka-client-metrics", "--list").succeeded().lines
    harness.at_once(gone)


# Transactions --------------------------------------------------------------------------------------------------


def test_there_are_no_transactions_to_list(tools):
    listed = first(tools, "kafka-transactions", "list").succeeded()
    assert len(listed.lines) == 1 and listed.lines[0].startswith("TransactionalId"), listed


def test_producers_of_a_partition_are_described(tools, unique):
    topic = unique("topic")
    create(tools, topic)
    tools("kafka-console-producer", "--topic", topic, input="a\nb\n").succeeded()
    described = first(tools, "kafka-transactions", "describe-producers", "--topic", topic, "--partition", 0).succeeded()
    assert len(described.lines) == 2, described
    titles, values = described.lines[0].split(), described.lines[1].split()
    producer = dict(zip(titles, values))
    assert producer["LatestCoordinatorEpoch"] == "-1" and producer["CurrentTransactionStartOffset"] == "None", described
    assert int(producer["LastSequence"]) in (0, 1), described
