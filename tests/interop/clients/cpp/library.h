#pragma once

#include <librdkafka/rdkafkacpp.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/interop/clients/cpp/agent.h"

/// librdkafka++ as the agent sets it up.
namespace library {

using agent::Failure;
using agent::Json;

constexpr int kTimeoutMs = 30'000;

/// Where the brokers are; set once, at the start.
extern std::string bootstrap;

[[nodiscard]] Failure failure(RdKafka::ErrorCode code);
/// Throws unless the code says that all is well.
void check(RdKafka::ErrorCode code);

/// Callbacks outlive the client that calls them.
[[nodiscard]] std::unique_ptr<RdKafka::Producer> make_producer(const Json& request, RdKafka::DeliveryReportCb* told = nullptr);
[[nodiscard]] std::unique_ptr<RdKafka::KafkaConsumer> make_consumer(const Json& request,
                                                                    RdKafka::RebalanceCb* rebalanced = nullptr);

/// Ascending.
[[nodiscard]] std::vector<int> partition_ids(RdKafka::Handle& client, const std::string& topic);

/// Partitions with offsets; owns what it holds.
class Places {
  public:
    Places() = default;
    ~Places() { RdKafka::TopicPartition::destroy(places_); }
    Places(const Places&) = delete;
    Places& operator=(const Places&) = delete;

    void add(const std::string& topic, int partition, std::int64_t offset) {
        places_.push_back(RdKafka::TopicPartition::create(topic, partition, offset));
    }
    /// All partitions of a topic at one offset, or at one timestamp where that is what is meant.
    void add_everywhere(RdKafka::Handle& client, const std::string& topic, std::int64_t offset) {
        for (const int partition : partition_ids(client, topic)) {
            add(topic, partition, offset);
        }
    }
    [[nodiscard]] std::vector<RdKafka::TopicPartition*>& list() { return places_; }

  private:
    std::vector<RdKafka::TopicPartition*> places_;
};

[[nodiscard]] Json describe(RdKafka::Message& message);

}  // namespace library
