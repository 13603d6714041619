#include "tests/interop/clients/cpp/library.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace library {

std::string bootstrap;

namespace {

using Properties = std::vector<std::pair<std::string, std::string>>;

Properties common_properties(const Json& request) {
    Properties properties = {
        {"bootstrap.servers", bootstrap},
        {"reconnect.backoff.max.ms", "200"},
        // Ask at once after a topic was created; the default waits out a propagation delay of a large cluster.
        {"topic.metadata.propagation.max.ms", std::to_string(request.value("unknown_topic_wait_ms", 10'000))},
        {"topic.metadata.refresh.fast.interval.ms", "50"},
    };
    if (request.contains("metadata_age_ms")) {
        properties.emplace_back("topic.metadata.refresh.interval.ms", std::to_string(request["metadata_age_ms"].get<int>()));
    }
    return properties;
}

/// The client's identity: the lines of the file that its environment names (clients.py).
Properties identity() {
    Properties properties;
    const char* file = std::getenv("CLIENT_LIBRDKAFKA");
    if (file == nullptr) {
        return properties;
    }
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t end = line.find('=');
        if (end != std::string::npos) {
            properties.emplace_back(line.substr(0, end), line.substr(end + 1));
        }
    }
    return properties;
}

std::unique_ptr<RdKafka::Conf> make_conf(const Properties& properties) {
    std::unique_ptr<RdKafka::Conf> conf(RdKafka::Conf::create(RdKafka::Conf::CONF_GLOBAL));
    std::string error;
    Properties all = identity();
    all.insert(all.end(), properties.begin(), properties.end());
    for (const auto& [name, value] : all) {
        if (conf->set(name, value, error) != RdKafka::Conf::CONF_OK) {
            throw Failure(-1, error);
        }
    }
    return conf;
}

template <class Client>
std::unique_ptr<Client> made(Client* client, const std::string& error) {
    if (client == nullptr) {
        throw Failure(-1, error);
    }
    return std::unique_ptr<Client>(client);
}

}  // namespace

Failure failure(RdKafka::ErrorCode code) { return {static_cast<int>(code), RdKafka::err2str(code)}; }

void check(RdKafka::ErrorCode code) {
    if (code != RdKafka::ERR_NO_ERROR) {
        throw failure(code);
    }
}

std::unique_ptr<RdKafka::Producer> make_producer(const Json& request, RdKafka::DeliveryReportCb* told) {
    Properties properties = common_properties(request);
    properties.emplace_back("linger.ms", "5");
    properties.emplace_back("acks", request.value("acks", "all"));
    properties.emplace_back("compression.type", request.value("codec", "none"));
    properties.emplace_back("enable.idempotence", request.value("idempotence", true) ? "true" : "false");
    properties.emplace_back("message.max.bytes", "20000000");
    const auto conf = make_conf(properties);
    std::string error;
    if (told != nullptr) {
        conf->set("dr_cb", told, error);
    }
    return made(RdKafka::Producer::create(conf.get(), error), error);
}

std::unique_ptr<RdKafka::KafkaConsumer> make_consumer(const Json& request, RdKafka::RebalanceCb* rebalanced) {
    Properties properties = common_properties(request);
    properties.emplace_back("enable.auto.commit", "false");
    properties.emplace_back("auto.offset.reset", request.value("reset", "earliest"));
    properties.emplace_back("client.id", request.value("client_id", "rdkafka"));
    properties.emplace_back("group.id", request.value("group", "unused"));
    properties.emplace_back("fetch.wait.max.ms", "100");
    if (request.contains("session_timeout_ms")) {
        properties.emplace_back("session.timeout.ms", std::to_string(request["session_timeout_ms"].get<int>()));
        properties.emplace_back("heartbeat.interval.ms", "500");
    }
    if (const auto instance = agent::text(request, "instance_id")) {
        properties.emplace_back("group.instance.id", *instance);
    }
    if (const auto assignor = agent::text(request, "assignor")) {
        properties.emplace_back("partition.assignment.strategy", *assignor == "cooperative" ? "cooperative-sticky" : "range");
    }
    const auto conf = make_conf(properties);
    std::string error;
    if (rebalanced != nullptr) {
        conf->set("rebalance_cb", rebalanced, error);
    }
    return made(RdKafka::KafkaConsumer::create(conf.get(), error), error);
}

std::vector<int> partition_ids(RdKafka::Handle& client, const std::string& topic) {
    std::string error;
    RdKafka::Metadata* raw = nullptr;
    const std::unique_ptr<RdKafka::Topic> handle(made(RdKafka::Topic::create(&client, topic, nullptr, error), error));
    check(client.metadata(false, handle.get(), &raw, kTimeoutMs));
    const std::unique_ptr<RdKafka::Metadata> metadata(raw);
    const RdKafka::TopicMetadata& found = *metadata->topics()->at(0);
    check(found.err());
    std::vector<int> ids;
    for (const RdKafka::PartitionMetadata* partition : *found.partitions()) {
        ids.push_back(partition->id());
    }
    std::ranges::sort(ids);
    return ids;
}

Json describe(RdKafka::Message& message) {
    Json headers = Json::array();
    if (RdKafka::Headers* found = message.headers(); found != nullptr) {
        for (const RdKafka::Headers::Header& header : found->get_all()) {
            headers.push_back({header.key(), agent::text_of(header.value(), header.value_size())});
        }
    }
    return {{"topic", message.topic_name()},
            {"partition", message.partition()},
            {"offset", message.offset()},
            {"timestamp", message.timestamp().timestamp},
            {"key", agent::text_of(message.key_pointer(), message.key_len())},
            {"value", agent::text_of(message.payload(), message.len())},
            {"headers", headers}};
}

}  // namespace library
