// The variables of the official container image, as its documentation and the compose files of users set them.

#include <gtest/gtest.h>

#include "broker/config/broker_config.h"
#include "broker/config/properties.h"

namespace partita::config {
namespace {

std::expected<LoadedBrokerConfig, ConfigError> load(std::vector<std::string> environment) {
    return load_broker_config({.environment = std::move(environment)});
}

TEST(ImageEnvironment, OfACombinedNodeIsUnderstood) {
    const auto loaded = load({"KAFKA_NODE_ID=3",
                              "KAFKA_PROCESS_ROLES=broker,controller",
                              "KAFKA_LISTENERS=PLAINTEXT://:9092,CONTROLLER://:9093",
                              "KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://broker:9092",
                              "KAFKA_CONTROLLER_LISTENER_NAMES=CONTROLLER",
                              "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
                              "KAFKA_CONTROLLER_QUORUM_VOTERS=3@localhost:9093",
                              "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR=1",
                              "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR=1",
                              "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR=1",
                              "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS=0",
                              "KAFKA_SHARE_COORDINATOR_STATE_TOPIC_REPLICATION_FACTOR=1",
                              "KAFKA_SHARE_COORDINATOR_STATE_TOPIC_MIN_ISR=1",
                              "KAFKA_NUM_PARTITIONS=6",
                              "KAFKA_LOG_DIRS=/tmp/kraft-combined-logs",
                              "KAFKA_AUTO_CREATE_TOPICS_ENABLE=false",
                              "KAFKA_HEAP_OPTS=-Xmx1G",
                              "KAFKA_JMX_PORT=9999",
                              "KAFKA_LOG4J_ROOT_LOGLEVEL=WARN",
                              "KAFKA_TOOLS_LOG4J_LOGLEVEL=ERROR",
                              "CLUSTER_ID=5L6g3nShT-eMCtK--X86sw",
                              "PATH=/bin"});
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    EXPECT_TRUE(loaded->unknown_names.empty());
    const BrokerConfig& config = loaded->config;
    EXPECT_EQ(config.node_id, BrokerId{3});
    EXPECT_EQ(config.num_partitions, 6);
    EXPECT_EQ(config.log_dirs, std::vector<std::string>{"/tmp/kraft-combined-logs"});
    EXPECT_FALSE(config.auto_create_topics_enable);
    ASSERT_EQ(config.listeners.listeners.size(), 1u);
    EXPECT_EQ(config.listeners.listeners[0].endpoint.port, 9092);
    ASSERT_EQ(config.listeners.advertised.size(), 1u);
    EXPECT_EQ(config.listeners.advertised[0].host, "broker");
    ASSERT_TRUE(config.listeners.controller_endpoint.has_value());
    EXPECT_EQ(config.listeners.controller_endpoint->port, 9093);
    EXPECT_EQ(config.given().at("partita.cluster.id"), "5L6g3nShT-eMCtK--X86sw");
}

TEST(ImageEnvironment, OfListenersInsideAndOutsideOfAContainerIsUnderstood) {
    const auto loaded = load({"KAFKA_LISTENERS=INSIDE://0.0.0.0:29092,OUTSIDE://0.0.0.0:9092,CONTROLLER://localhost:9093",
                              "KAFKA_ADVERTISED_LISTENERS=INSIDE://kafka:29092,OUTSIDE://localhost:9092",
                              "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP=INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT",
                              "KAFKA_INTER_BROKER_LISTENER_NAME=INSIDE", "KAFKA_CONTROLLER_LISTENER_NAMES=CONTROLLER"});
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    const ListenerSettings& settings = loaded->config.listeners;
    EXPECT_EQ(settings.listeners.size(), 2u);
    EXPECT_EQ(settings.inter_broker_listener_name, "INSIDE");
    EXPECT_EQ(advertised_address(settings, "INSIDE", "172.17.0.2", 29092), (AdvertisedAddress{"kafka", 29092}));
    EXPECT_EQ(advertised_address(settings, "OUTSIDE", "172.17.0.2", 9092), (AdvertisedAddress{"localhost", 9092}));
}

TEST(ImageEnvironment, ComesBeforeTheFileAndAfterOverrides) {
    const auto loaded = load_broker_config({.properties = "num.partitions=2\nlog.retention.ms=1",
                                            .environment = {"KAFKA_NUM_PARTITIONS=3", "KAFKA_LOG_RETENTION_MS=2"},
                                            .overrides = {"log.retention.ms=3"}});
    ASSERT_TRUE(loaded.has_value());
    EXPECT_EQ(loaded->config.num_partitions, 3);
    EXPECT_EQ(std::get<std::int64_t>(loaded->config.value("log.retention.ms")), 3);
}

TEST(ImageEnvironment, WithAValueThatIsNoneNamesTheKey) {
    const auto loaded = load({"KAFKA_NUM_PARTITIONS=many"});
    ASSERT_FALSE(loaded.has_value());
    EXPECT_NE(loaded.error().message.find("num.partitions"), std::string::npos);
}

TEST(ImageEnvironment, WhatKafkaRequiresIsDescribedAsGiven) {
    const auto loaded = load({"KAFKA_BROKER_ID=4"});
    ASSERT_TRUE(loaded.has_value());
    const ConfigMap& given = loaded->config.given();
    EXPECT_EQ(given.at("node.id"), "4");
    EXPECT_EQ(given.at("process.roles"), "broker,controller");
    EXPECT_EQ(given.at("controller.listener.names"), "CONTROLLER");
}

}  // namespace
}  // namespace partita::config
