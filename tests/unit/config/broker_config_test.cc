#include "broker/config/broker_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "broker/config/describe_configs.h"
#include "broker/config/topic_config.h"

namespace partita::config {
namespace {

LoadedBrokerConfig loaded(ConfigInputs inputs) {
    auto result = load_broker_config(inputs);
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
    return result.value_or(LoadedBrokerConfig{});
}

TEST(BrokerConfig, DefaultConstructedEqualsOneLoadedFromNothing) {
    const BrokerConfig made = loaded({}).config;
    const BrokerConfig plain;
    EXPECT_EQ(made.node_id, plain.node_id);
    EXPECT_EQ(made.log_dirs, plain.log_dirs);
    EXPECT_EQ(made.http_listener, plain.http_listener);
    EXPECT_EQ(made.group_coordinator_rebalance_protocols, plain.group_coordinator_rebalance_protocols);
    EXPECT_EQ(made.group_consumer_assignors, plain.group_consumer_assignors);
    EXPECT_EQ(made.group_consumer_migration_policy, plain.group_consumer_migration_policy);
    EXPECT_EQ(made.log_cleaner_io_max_bytes_per_second, plain.log_cleaner_io_max_bytes_per_second);
    EXPECT_EQ(made.log_cleaner_io_buffer_load_factor, plain.log_cleaner_io_buffer_load_factor);
#define SAME(field) EXPECT_EQ(made.field, plain.field)
    SAME(num_network_threads);
    SAME(num_io_threads);
    SAME(background_threads);
    SAME(num_recovery_threads_per_data_dir);
    SAME(socket_request_max_bytes);
    SAME(socket_send_buffer_bytes);
    SAME(socket_receive_buffer_bytes);
    SAME(socket_listen_backlog_size);
    SAME(connections_max_idle_ms);
    SAME(max_connections);
    SAME(max_connections_per_ip);
    SAME(max_connection_creation_rate);
    SAME(queued_max_requests);
    SAME(queued_max_request_bytes);
    SAME(request_timeout_ms);
    SAME(fetch_max_bytes);
    SAME(max_incremental_fetch_session_cache_slots);
    SAME(max_request_partition_size_limit);
    SAME(auto_create_topics_enable);
    SAME(delete_topic_enable);
    SAME(num_partitions);
    SAME(default_replication_factor);
    SAME(log_retention_check_interval_ms);
    SAME(log_flush_scheduler_interval_ms);
    SAME(log_flush_offset_checkpoint_interval_ms);
    SAME(log_initial_task_delay_ms);
    SAME(log_cleaner_enable);
    SAME(log_cleaner_threads);
    SAME(log_cleaner_backoff_ms);
    SAME(log_cleaner_dedupe_buffer_size);
    SAME(log_cleaner_io_buffer_size);
    SAME(producer_id_expiration_ms);
    SAME(producer_id_expiration_check_interval_ms);
    SAME(offsets_topic_num_partitions);
    SAME(offsets_topic_replication_factor);
    SAME(offsets_topic_segment_bytes);
    SAME(offsets_retention_minutes);
    SAME(offsets_retention_check_interval_ms);
    SAME(offset_metadata_max_bytes);
    SAME(offsets_commit_timeout_ms);
    SAME(unstable_api_versions_enable);
    SAME(group_initial_rebalance_delay_ms);
    SAME(group_min_session_timeout_ms);
    SAME(group_max_session_timeout_ms);
    SAME(group_max_size);
    SAME(group_consumer_session_timeout_ms);
    SAME(group_consumer_min_session_timeout_ms);
    SAME(group_consumer_max_session_timeout_ms);
    SAME(group_consumer_heartbeat_interval_ms);
    SAME(group_consumer_min_heartbeat_interval_ms);
    SAME(group_consumer_max_heartbeat_interval_ms);
    SAME(group_consumer_max_size);
    SAME(group_consumer_assignment_interval_ms);
    SAME(group_consumer_regex_refresh_interval_ms);
    SAME(transaction_state_log_num_partitions);
    SAME(transaction_state_log_replication_factor);
    SAME(transaction_state_log_min_isr);
    SAME(transaction_state_log_segment_bytes);
    SAME(transaction_max_timeout_ms);
    SAME(transactional_id_expiration_ms);
    SAME(transaction_abort_timed_out_transaction_cleanup_interval_ms);
    SAME(transaction_remove_expired_transaction_cleanup_interval_ms);
    SAME(transaction_partition_verification_enable);
#undef SAME
    EXPECT_EQ(effective_topic_config({}, made), TopicConfig{});
    EXPECT_EQ(effective_topic_config({}, plain), TopicConfig{});
}

TEST(BrokerConfig, OverridesBeatEnvironmentBeatsFileBeatsDefault) {
    const ConfigInputs inputs{.properties = "num.partitions=2\nfetch.max.bytes=2048\nlog.dirs=/a,/b\n",
                              .environment = {"KAFKA_NUM_PARTITIONS=3", "KAFKA_FETCH_MAX_BYTES=4096", "HOME=/root"},
                              .overrides = {"num.partitions=4", "num.partitions=5"}};
    const BrokerConfig config = loaded(inputs).config;
    EXPECT_EQ(config.num_partitions, 5);
    EXPECT_EQ(config.fetch_max_bytes, 4096);
    EXPECT_THAT(config.log_dirs, testing::ElementsAre("/a", "/b"));
    EXPECT_EQ(config.num_io_threads, 8);
}

TEST(BrokerConfig, UnknownNamesAreCollectedAndKnownUselessOnesAreNot) {
    const LoadedBrokerConfig result = loaded({.properties = "zookeeper.connect=x\nfoo=1\nprocess.roles=broker\n"
                                                            "listener.name.x.ssl.keystore.type=PEM\n"
                                                            "controller.quorum.voters=1@h:1\n",
                                              .environment = {"KAFKA_BAR_BAZ=1"},
                                              .overrides = {}});
    EXPECT_THAT(result.unknown_names, testing::ElementsAre("bar.baz", "foo", "zookeeper.connect"));
    EXPECT_EQ(result.config.given().at("controller.quorum.voters"), "1@h:1");
}

TEST(BrokerConfig, InvalidValueNamesKeyValueAndWhatIsAllowed) {
    const auto zero = load_broker_config({.properties = {}, .environment = {}, .overrides = {"num.partitions=0"}});
    ASSERT_FALSE(zero.has_value());
    EXPECT_EQ(zero.error().message,
              "Invalid value 0 for configuration num.partitions: Value must be at least 1 (allowed: a 32-bit integer "
              "of at least 1)");
    const auto text = load_broker_config({.properties = {}, .environment = {"KAFKA_LOG_ROLL_MS=x"}, .overrides = {}});
    ASSERT_FALSE(text.has_value());
    EXPECT_EQ(text.error().message,
              "Invalid value x for configuration log.roll.ms: Not a number of type LONG (allowed: a 64-bit integer)");
}

TEST(BrokerConfig, RetentionOfTopicsFollowsTheFirstOfMillisecondsMinutesHours) {
    const auto retention = [](const std::vector<std::string>& overrides) {
        return effective_topic_config({}, loaded({.properties = {}, .environment = {}, .overrides = overrides}).config)
            ->retention_ms;
    };
    EXPECT_EQ(retention({}), 604800000);
    EXPECT_EQ(retention({"log.retention.hours=1"}), 3600000);
    EXPECT_EQ(retention({"log.retention.hours=1", "log.retention.minutes=2"}), 120000);
    EXPECT_EQ(retention({"log.retention.hours=1", "log.retention.minutes=2", "log.retention.ms=3"}), 3);
    EXPECT_EQ(retention({"log.retention.hours=-5"}), -1);
}

TEST(BrokerConfig, DynamicValueHidesEveryStaticNameOfTheSameThing) {
    const BrokerConfig fixed =
        loaded({.properties = {}, .environment = {}, .overrides = {"log.retention.minutes=2"}}).config;
    const auto changed = fixed.with_dynamic({{{"log.retention.ms", "7000"}}, {}});
    ASSERT_TRUE(changed.has_value());
    EXPECT_EQ(effective_topic_config({}, *changed)->retention_ms, 7000);
    EXPECT_EQ(effective_topic_config({{"retention.ms", "9"}}, *changed)->retention_ms, 9);
    EXPECT_EQ(std::get<std::int64_t>(changed->value("log.retention.ms")), 7000);
}

TEST(BrokerConfig, ThisBrokersValueBeatsTheClustersDefault) {
    const auto config = BrokerConfig{}.with_dynamic({{{"max.connections", "5"}}, {{"max.connections", "6"}}});
    ASSERT_TRUE(config.has_value());
    EXPECT_EQ(config->max_connections, 6);
}

TEST(BrokerConfig, EmptyHttpListenerSwitchesItOffAndABadOneIsRefused) {
    EXPECT_EQ(loaded({.properties = {}, .environment = {}, .overrides = {"partita.http.listener="}}).config.http_listener,
              std::nullopt);
    EXPECT_EQ(loaded({.properties = {}, .environment = {}, .overrides = {"partita.http.listener=[::1]:0"}})
                  .config.http_listener,
              (AdvertisedAddress{"::1", 0}));
    EXPECT_FALSE(load_broker_config({.properties = {}, .environment = {}, .overrides = {"partita.http.listener=x"}}));
}

TEST(TopicConfig, EveryTypedFieldFollowsItsOverride) {
    const ConfigMap overrides = {{"cleanup.policy", "compact"},       {"compression.type", "zstd"},
                                 {"message.timestamp.type", "LogAppendTime"}, {"segment.bytes", "1048576"},
                                 {"min.cleanable.dirty.ratio", ".25"}, {"preallocate", "TRUE"}};
    const auto config = effective_topic_config(overrides, BrokerConfig{});
    ASSERT_TRUE(config.has_value());
    EXPECT_TRUE(config->cleanup_compact);
    EXPECT_FALSE(config->cleanup_delete);
    EXPECT_EQ(config->compression_type, CompressionSetting::zstd);
    EXPECT_EQ(config->message_timestamp_type, TimestampType::log_append_time);
    EXPECT_EQ(config->segment_bytes, 1048576);
    EXPECT_EQ(config->min_cleanable_dirty_ratio, 0.25);
    EXPECT_TRUE(config->preallocate);
}

TEST(TopicConfig, InternalSegmentBytesGoesBelowTheLimitOfSegmentBytes) {
    EXPECT_EQ(effective_topic_config({{"internal.segment.bytes", "500"}}, BrokerConfig{})->segment_bytes, 500);
}

TEST(DescribeConfigs, FreshTopicShowsOnlyMinInsyncReplicasAsNotDefault) {
    const auto broker = BrokerConfig::from({})->with_dynamic({initial_cluster_default_configs(), {}});
    std::vector<std::string> not_default;
    for (const ConfigEntry& entry : describe_topic_configs({}, *broker, {})) {
        EXPECT_TRUE(entry.synonyms.empty());
        EXPECT_EQ(entry.documentation, std::nullopt);
        if (entry.source != ConfigSource::default_config) {
            not_default.push_back(entry.name + "=" + entry.value.value_or(""));
        }
    }
    EXPECT_THAT(not_default, testing::ElementsAre("min.insync.replicas=1"));
}

TEST(DescribeConfigs, OnlyNamesAskedForThatExistAreGiven) {
    const DescribeOptions options{
        .names = {{"retention.ms", "nope"}}, .include_synonyms = false, .include_documentation = true};
    const auto entries = describe_topic_configs({}, BrokerConfig{}, options);
    ASSERT_EQ(entries.size(), 1u);
    EXPECT_EQ(entries[0].name, "retention.ms");
    EXPECT_FALSE(entries[0].documentation.value_or("").empty());
}

TEST(DescribeConfigs, PasswordsAndUnknownNamesAreNeverShown) {
    const auto broker = BrokerConfig::from({{"ssl.key.password", "secret"}, {"foo", "secret"}});
    ASSERT_TRUE(broker.has_value());
    const DescribeOptions options{
        .names = {{"ssl.key.password", "foo"}}, .include_synonyms = true, .include_documentation = true};
    for (const ConfigEntry& entry : describe_broker_configs(*broker, options)) {
        EXPECT_TRUE(entry.sensitive);
        EXPECT_EQ(entry.value, std::nullopt);
        for (const SynonymEntry& synonym : entry.synonyms) {
            EXPECT_EQ(synonym.value, std::nullopt);
        }
    }
}

TEST(Definitions, EveryConfigIsDocumentedAndItsDefaultIsValid) {
    for (const ConfigDefinition& definition : broker_config_definitions()) {
        EXPECT_FALSE(definition.documentation.empty()) << definition.name;
        if (definition.default_value) {
            EXPECT_TRUE(parse_config_value(definition, definition.default_value).has_value()) << definition.name;
        }
    }
    for (const TopicConfigDefinition& topic : topic_config_definitions()) {
        for (const ConfigSynonym& synonym : topic.broker_synonyms) {
            EXPECT_NE(find_broker_config(synonym.broker_config), nullptr) << synonym.broker_config;
        }
    }
}

}  // namespace
}  // namespace partita::config
