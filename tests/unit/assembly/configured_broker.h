#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/config/current_config.h"
#include "broker/handlers/services.h"
#include "broker/insight/findings/finding.h"
#include "broker/insight/hub/findings_hub.h"
#include "broker/insight/local/findings_topic.h"
#include "broker/insight/shell/key_budget.h"
#include "broker/insight/shell/key_observer.h"
#include "broker/logs/published_topics.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/messages/19_create_topics.h"
#include "protocol/messages/22_init_producer_id.h"
#include "protocol/messages/37_create_partitions.h"
#include "protocol/messages/44_incremental_alter_configs.h"
#include "protocol/messages/61_describe_producers.h"
#include "protocol/messages/68_consumer_group_heartbeat.h"
#include "protocol/messages/76_share_group_heartbeat.h"
#include "protocol/record_batch_builder.h"
#include "storage/cleaning_rules.h"
#include "tests/simulation/broker_world_caller.h"

namespace partita::test {

/// A simulated broker whose behaviour shows which configs act. Each question uses new topics and groups, so that a test can
/// repeat it after it changed a config.
class ConfiguredBroker {
  public:
    explicit ConfiguredBroker(const std::vector<std::string>& overrides) : called_(1, overrides) {
        called_.broker().on_step = [this](const std::string& worker) { looks_ += worker == "compactor" ? 1 : 0; };
    }

    /// Sets the default of all brokers; nothing removes the value.
    void configure(std::string_view name, const std::optional<std::string>& value) {
        constexpr std::int8_t kBroker = 4;
        std::array configs{IncrementalAlterConfigsRequest::AlterableConfig{
            .name = name, .config_operation = static_cast<std::int8_t>(value ? 0 : 1), .value = value}};
        std::array resources{IncrementalAlterConfigsRequest::AlterConfigsResource{
            .resource_type = kBroker, .resource_name = "", .configs = configs}};
        called_.ask<IncrementalAlterConfigsResponse>(
            1, IncrementalAlterConfigsRequest{.resources = resources}, [&](const auto& response) {
                EXPECT_EQ(response.responses[0].error_code, ErrorCode::none) << response.responses[0].error_message.value_or("");
            });
        // Parts that look at the settings only now and then have looked by now.
        called_.rest(2 * insight::KeyObserver::kIdleMs);
    }

    // Groups -------------------------------------------------------------------------------------

    /// Whether a second member of a consumer group gets a target with its first heartbeat, and not later.
    bool assigns_with_each_heartbeat() {
        const auto [group, topic] = make_coordinated_group();
        const std::int32_t first = epoch_of_new_member(group, "first", topic);
        EXPECT_GT(first, 0);
        return epoch_of_new_member(group, "second", topic) > first;
    }
    /// The same for a share group.
    bool shares_with_each_heartbeat() {
        const auto [group, topic] = make_coordinated_group();
        const std::int32_t first = epoch_of_new_sharer(group, "first", topic);
        EXPECT_GT(first, 0);
        return epoch_of_new_sharer(group, "second", topic) > first;
    }

    // Syncs --------------------------------------------------------------------------------------

    /// Whether a record in a topic with these configs is on the device within that time.
    bool syncs_within(std::int64_t duration_ms, std::vector<CreateTopicsRequest::CreatableTopicConfig> configs) {
        const std::string topic = make_topic(1, std::move(configs));
        // The catalog has its own sync.
        called_.rest(5'000);
        BatchBuilder builder;
        builder.append(called_.now().wall, std::nullopt, as_bytes("v"));
        produce(topic, 1, builder);
        EXPECT_TRUE(state_of(topic)->partitions[0]->log->has_unsynced_data());
        called_.rest(duration_ms);
        return !state_of(topic)->partitions[0]->log->has_unsynced_data();
    }

    // Compaction ---------------------------------------------------------------------------------

    static constexpr std::int64_t kBatches = 100;
    static constexpr std::int64_t kKeysPerBatch = 40;
    static constexpr std::int64_t kKeys = kBatches * kKeysPerBatch;

    /// How often the compactor looks for work within that time.
    int looks_within(std::int64_t duration_ms) {
        const int before = looks_;
        called_.rest(duration_ms);
        return looks_ - before;
    }
    struct Cleaning {
        /// Offset up to which the `kKeys` records are compacted.
        std::int64_t cleaned_until = 0;
        /// Changes of files and syncs in that time.
        std::uint64_t file_changes = 0;
    };
    /// Runs one look of the compactor at a log of `kKeys` different keys.
    Cleaning clean_once() {
        (void)changes_of_next_look();
        const std::string topic =
            make_topic(1, {{"cleanup.policy", "compact"}, {"segment.ms", "1"}, {"min.cleanable.dirty.ratio", "0"}});
        for (std::int64_t batch = 0; batch < kBatches; ++batch) {
            BatchBuilder builder;
            for (std::int64_t key = batch * kKeysPerBatch; key < (batch + 1) * kKeysPerBatch; ++key) {
                builder.append(called_.now().wall, as_bytes("k" + std::to_string(key)), as_bytes("v"));
            }
            produce(topic, 1, builder);
        }
        // The last segment is never compacted.
        called_.rest(1'000);
        BatchBuilder last;
        last.append(called_.now().wall, as_bytes("last"), as_bytes("v"));
        produce(topic, 1, last);
        // The compactor skips records that are not synced.
        called_.rest(2'000);
        const std::uint64_t changes = changes_of_next_look();
        const auto range = state_of(topic)->partitions[0]->log->dirty_range(called_.now().wall, kNobodyNeedsMore);
        EXPECT_TRUE(range.has_value());
        return {range ? range->first_dirty.value : 0, changes};
    }

    // Detection ----------------------------------------------------------------------------------

    /// Whether the broker looks at the keys of one produced batch.
    bool looks_at_keys() { return batches_taken(1, 1) == 1; }
    /// Whether the broker takes more records at once than its budget pays for, and no more than the queue holds.
    bool takes_whatever_comes() {
        constexpr std::int32_t kPartitions = 5;
        constexpr int kRecords = insight::KeyBudget::kMostRecords / kPartitions;
        return batches_taken(kPartitions, kRecords) == kPartitions;
    }
    /// Whether a finding about a topic that has grown comes into the findings topic.
    bool writes_findings() {
        const std::string topic = make_topic(1, {});
        std::array topics{CreatePartitionsRequest::CreatePartitionsTopic{.name = topic, .count = 2, .assignments = nullptr}};
        called_.ask<CreatePartitionsResponse>(
            3, CreatePartitionsRequest{.topics = topics, .timeout_ms = 30'000},
            [](const auto& response) { EXPECT_EQ(response.results[0].error_code, ErrorCode::none); });
        called_.rest(1'000);
        const std::int64_t before = findings_written();
        const std::array findings{
            insight::make_finding(insight::HazardId::stale_producer, {.topic = topic, .client_id = fresh("client")}, "late")};
        called_.broker().services().insight.findings.settle("a test", findings, called_.now().wall);
        called_.broker().wake();
        called_.rest(1'000);
        return findings_written() > before;
    }

    // Producers ----------------------------------------------------------------------------------

    /// Whether the broker still knows a producer that was silent for half an hour. The topic stays from the first question on.
    bool knows_silent_producer() {
        if (lasting_topic_.empty()) {
            lasting_topic_ = make_topic(1, {});
        }
        const ProducerId producer{++producers_};
        BatchBuilder builder({.producer_id = producer, .producer_epoch = {0}, .base_sequence = {0}});
        builder.append(called_.now().wall, std::nullopt, as_bytes("v"));
        produce(lasting_topic_, 1, builder);
        called_.rest(std::int64_t{30} * 60 * 1'000);
        std::array<std::int32_t, 1> partitions{0};
        std::array topics{DescribeProducersRequest::TopicRequest{.name = lasting_topic_, .partition_indexes = partitions}};
        bool is_known = false;
        called_.ask<DescribeProducersResponse>(0, DescribeProducersRequest{.topics = topics}, [&](const auto& response) {
            for (const auto& one : response.topics[0].partitions[0].active_producers) {
                is_known = is_known || one.producer_id == producer.value;
            }
        });
        return is_known;
    }
    /// Whether the broker writes a batch of a transaction that its coordinator was not told of.
    bool takes_what_was_not_added() {
        const std::string id = fresh("transactional-id");
        std::array<std::string_view, 1> keys{id};
        called_.ask<FindCoordinatorResponse>(
            4, FindCoordinatorRequest{.key_type = 1, .coordinator_keys = keys},
            [](const auto& response) { EXPECT_EQ(response.coordinators[0].error_code, ErrorCode::none); });
        called_.rest(1'000);
        BatchOptions options{.base_sequence = {0}, .transactional = true};
        called_.ask<InitProducerIdResponse>(4, InitProducerIdRequest{.transactional_id = id, .transaction_timeout_ms = 60'000},
                                            [&](const auto& response) {
                                                EXPECT_EQ(response.error_code, ErrorCode::none);
                                                options.producer_id = {response.producer_id};
                                                options.producer_epoch = {response.producer_epoch};
                                            });
        BatchBuilder builder(options);
        builder.append(called_.now().wall, std::nullopt, as_bytes("v"));
        std::vector<std::byte> batch;
        builder.build(batch);
        const std::string topic = make_topic(1, {});
        std::array partitions{ProduceRequest::PartitionProduceData{.index = 0, .records = Records(Bytes(batch))}};
        std::array topics{ProduceRequest::TopicProduceData{.name = topic, .partition_data = partitions}};
        ErrorCode error = ErrorCode::none;
        called_.ask<ProduceResponse>(
            11, ProduceRequest{.transactional_id = id, .acks = -1, .timeout_ms = 5'000, .topic_data = topics},
            [&](const auto& response) { error = response.responses[0].partition_responses[0].error_code; });
        EXPECT_TRUE(error == ErrorCode::none || error == ErrorCode::transaction_abortable) << error_name(error);
        return error == ErrorCode::none;
    }

  protected:
    [[nodiscard]] CalledBroker& called() { return called_; }

    using Configs = std::vector<CreateTopicsRequest::CreatableTopicConfig>;
    static constexpr Offset kNobodyNeedsMore{std::numeric_limits<std::int64_t>::max()};

    std::string fresh(const std::string& what) { return what + "-" + std::to_string(++names_); }
    std::string make_topic(std::int32_t partitions, Configs configs) {
        const std::string name = fresh("topic");
        std::array topics{CreateTopicsRequest::CreatableTopic{
            .name = name, .num_partitions = partitions, .replication_factor = 1, .configs = configs}};
        called_.ask<CreateTopicsResponse>(7, CreateTopicsRequest{.topics = topics}, [](const auto& response) {
            EXPECT_EQ(response.topics[0].error_code, ErrorCode::none) << response.topics[0].error_message.value_or("");
        });
        return name;
    }
    const logs::TopicState* state_of(const std::string& topic) {
        table_ = called_.broker().services().topics.table();
        return table_->find(topic);
    }
    /// Sends the same batch to each partition, in one request. Returns for how many milliseconds the producer has to wait.
    std::int32_t produce(const std::string& topic, std::int32_t partition_count, BatchBuilder& builder) {
        std::vector<std::byte> batch;
        builder.build(batch);
        std::vector<ProduceRequest::PartitionProduceData> partitions;
        for (std::int32_t index = 0; index < partition_count; ++index) {
            partitions.push_back({.index = index, .records = Records(Bytes(batch))});
        }
        std::array topics{ProduceRequest::TopicProduceData{.name = topic, .partition_data = partitions}};
        std::int32_t wait_ms = 0;
        called_.ask<ProduceResponse>(9, ProduceRequest{.acks = -1, .timeout_ms = 5'000, .topic_data = topics},
                                     [&](const auto& response) {
                                         wait_ms = response.throttle_time_ms;
                                         for (const auto& partition : response.responses[0].partition_responses) {
                                             EXPECT_EQ(partition.error_code, ErrorCode::none);
                                         }
                                     });
        return wait_ms;
    }

  private:
    struct CoordinatedGroup {
        std::string group;
        std::string topic;
    };
    /// The names of a new topic and of a group whose coordinator is there.
    CoordinatedGroup make_coordinated_group() {
        CoordinatedGroup made{.group = fresh("group"), .topic = make_topic(2, {})};
        std::array<std::string_view, 1> keys{made.group};
        called_.ask<FindCoordinatorResponse>(4, FindCoordinatorRequest{.coordinator_keys = keys}, [](const auto& response) {
            EXPECT_EQ(response.coordinators[0].error_code, ErrorCode::none);
        });
        called_.rest(1'000);
        return made;
    }
    std::int32_t epoch_of_new_sharer(const std::string& group, std::string_view member, std::string_view topic) {
        std::array<std::string_view, 1> names{topic};
        std::int32_t epoch = -1;
        called_.ask<ShareGroupHeartbeatResponse>(
            1, ShareGroupHeartbeatRequest{.group_id = group, .member_id = member, .subscribed_topic_names = names},
            [&](const auto& response) {
                EXPECT_EQ(response.error_code, ErrorCode::none) << response.error_message.value_or("");
                epoch = response.member_epoch;
            });
        return epoch;
    }
    std::int32_t epoch_of_new_member(const std::string& group, std::string_view member, std::string_view topic) {
        std::array<std::string_view, 1> names{topic};
        ConsumerGroupHeartbeatRequest request{.group_id = group,
                                              .member_id = member,
                                              .rebalance_timeout_ms = 60'000,
                                              .subscribed_topic_names = names,
                                              .topic_partitions = {}};
        std::int32_t epoch = -1;
        called_.ask<ConsumerGroupHeartbeatResponse>(1, request, [&](const auto& response) {
            EXPECT_EQ(response.error_code, ErrorCode::none) << response.error_message.value_or("");
            epoch = response.member_epoch;
        });
        return epoch;
    }
    /// Rests until the compactor has looked once more, and returns the number of file changes meanwhile.
    std::uint64_t changes_of_next_look() {
        constexpr std::int64_t kMomentMs = 10;
        const int before = looks_;
        std::uint64_t changes = 0;
        while (looks_ == before) {
            changes = called_.broker().files().calls();
            called_.rest(kMomentMs);
        }
        return called_.broker().files().calls() - changes;
    }
    std::uint64_t batches_taken(std::int32_t partitions, int records) {
        const std::string topic = make_topic(partitions, {});
        BatchBuilder builder;
        for (int record = 0; record < records; ++record) {
            builder.append(called_.now().wall, std::nullopt, Bytes());
        }
        const insight::KeySamples& samples = called_.broker().services().insight.keys.samples();
        const std::uint64_t before = samples.taken();
        produce(topic, partitions, builder);
        const std::uint64_t taken = samples.taken() - before;
        called_.rest(2 * insight::KeyObserver::kIdleMs);
        return taken;
    }
    std::int64_t findings_written() {
        const logs::TopicState* topic = state_of(std::string(insight::FindingsTopic::kName));
        return topic == nullptr ? 0 : topic->partitions[0]->log->log_end_offset().value;
    }

    CalledBroker called_;
    std::shared_ptr<const logs::TopicTable> table_;
    std::string lasting_topic_;
    std::int64_t producers_ = 0;
    int looks_ = 0;
    int names_ = 0;
};

/// Another value of a config, and a check that shows whether the broker acts on it: true with that value, false with the default.
template <class Broker>
struct ConfigChange {
    std::string value;
    std::function<bool(Broker&)> is_acted_on;
    /// Configs of the start that make the difference visible.
    std::vector<std::string> overrides = {};
};

template <class Broker>
void expect_acts_at_once(std::string_view name, const ConfigChange<Broker>& change) {
    Broker broker(change.overrides);
    EXPECT_FALSE(change.is_acted_on(broker)) << "before it is changed";
    broker.configure(name, change.value);
    EXPECT_TRUE(change.is_acted_on(broker)) << "after it was changed";
    broker.configure(name, std::nullopt);
    EXPECT_FALSE(change.is_acted_on(broker)) << "after the change was taken back";
}

}  // namespace partita::test
