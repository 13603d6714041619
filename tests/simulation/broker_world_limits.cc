#include <array>
#include <deque>
#include <optional>
#include <set>

#include "protocol/messages/00_produce.h"
#include "protocol/messages/19_create_topics.h"
#include "protocol/messages/32_describe_configs.h"
#include "protocol/messages/44_incremental_alter_configs.h"
#include "protocol/messages/49_alter_client_quotas.h"
#include "protocol/record_batch_builder.h"
#include "tests/simulation/broker_world_scene.h"

namespace partita::test {
namespace {

constexpr std::int8_t kTopicResource = 2;
constexpr std::int8_t kBrokerResource = 4;
constexpr std::int8_t kSet = 0;
constexpr std::int64_t kRecordBytes = 2'000;
/// Limits for the topic: smaller than a record, and larger.
constexpr std::array<std::int64_t, 2> kTopicLimits{1'000, 100'000};
/// producer_byte_rate.
constexpr std::int64_t kBytesPerSecond = 1'000;
/// Kafka counts rates over eleven windows of a second, the last of which is not over yet.
constexpr std::int64_t kWindowsMs = 11'000;
constexpr std::int64_t kWholeWindowsMs = 9'000;

/// A setting as its only owner knows it. While an answer is missing, its value is unknown.
class Setting {
  public:
    void note_asked(std::int64_t value) {
        asked_.insert(value);
        known_.reset();
    }
    void note_set(std::int64_t value, Instant now) {
        known_ = value;
        told_at_ = now;
    }
    void note_unknown() { known_.reset(); }
    /// Without an answer, the value may be any that was asked for.
    [[nodiscard]] bool can_be(std::int64_t value) const { return known_ ? *known_ == value : asked_.contains(value); }
    [[nodiscard]] std::optional<std::int64_t> known() const { return known_; }
    void broker_died(Instant died, Instant started, bool is_power_failure) {
        const bool is_unsynced = died - told_at_ < Ledger::kUnsyncedMs;
        if (is_unsynced && is_power_failure) {
            known_.reset();
        }
        if (is_unsynced && !is_power_failure) {
            told_at_ = started;
        }
    }

  private:
    std::optional<std::int64_t> known_;
    std::set<std::int64_t> asked_;
    Instant told_at_{};
};

/// Sets limits for itself and its topic, and produces against them. No other client touches these.
class Operator final : public SimulatedClient {
  public:
    Operator(ClientsWorld& world, std::string name) : SimulatedClient(world, name), topic_("metered-" + name) {}

    void act() override {
        if (waits()) {
            return;
        }
        if (world_.ledger.count_of(topic_) == 0) {
            return create();
        }
        switch (world_.below(12)) {
            case 0:
                return set_quota(world_.one_in(3) ? 0 : kBytesPerSecond);
            case 1:
                return set_limit(kTopicLimits[world_.below(kTopicLimits.size())]);
            case 2:
                return set_broker_limit(2'000'000 + static_cast<std::int64_t>(world_.below(1'000)));
            case 3:
                return look(kTopicResource, topic_, "max.message.bytes", limit_);
            case 4:
                if (is_first()) {
                    return look(kBrokerResource, "", "message.max.bytes", broker_limit_);
                }
                [[fallthrough]];
            default:
                produce();
        }
    }
    bool look_back(bool is_first_call) override {
        if (!is_first_call) {
            return false;
        }
        if (world_.ledger.count_of(topic_) > 0) {
            look(kTopicResource, topic_, "max.message.bytes", limit_);
        }
        if (is_first()) {
            look(kBrokerResource, "", "message.max.bytes", broker_limit_);
        }
        return false;
    }
    void broker_died(Instant died, Instant started, bool is_power_failure) {
        for (Setting* setting : {&quota_, &limit_, &broker_limit_}) {
            setting->broker_died(died, started, is_power_failure);
        }
        produced_.clear();
        rests_until_.reset();
    }

  private:
    struct Produced {
        Instant when;
        std::int64_t bytes = 0;
    };

    /// True for one of all operators, which alone changes the broker's settings.
    [[nodiscard]] bool is_first() const { return name_ == "q1"; }

    void create() {
        std::array topics{CreateTopicsRequest::CreatableTopic{.name = topic_, .num_partitions = 1, .replication_factor = 1}};
        ask<CreateTopicsResponse>(7, CreateTopicsRequest{.topics = topics}, [this](const auto& response) {
            const ErrorCode error = response.topics[0].error_code;
            if (error == ErrorCode::none || error == ErrorCode::topic_already_exists) {
                world_.ledger.note_count(topic_, 1);
            }
        });
    }
    /// 0: none.
    void set_quota(std::int64_t bytes_per_second) {
        std::array entity{AlterClientQuotasRequest::EntityData{.entity_type = "client-id", .entity_name = name_}};
        std::array ops{AlterClientQuotasRequest::OpData{
            .key = "producer_byte_rate", .value = static_cast<double>(bytes_per_second), .remove = bytes_per_second == 0}};
        std::array entries{AlterClientQuotasRequest::EntryData{.entity = entity, .ops = ops}};
        quota_.note_asked(bytes_per_second);
        produced_.clear();
        ask<AlterClientQuotasResponse>(1, AlterClientQuotasRequest{.entries = entries},
                                       [this, bytes_per_second](const auto& response) {
                                           if (response.entries[0].error_code != ErrorCode::none) {
                                               return;
                                           }
                                           quota_.note_set(bytes_per_second, now());
                                       });
    }
    void set_limit(std::int64_t bytes) { set(kTopicResource, topic_, "max.message.bytes", bytes, limit_); }
    void set_broker_limit(std::int64_t bytes) {
        if (is_first()) {
            set(kBrokerResource, "", "message.max.bytes", bytes, broker_limit_);
        }
    }
    void set(std::int8_t type, const std::string& name, const std::string& key, std::int64_t value, Setting& setting) {
        const std::string text = std::to_string(value);
        std::array configs{IncrementalAlterConfigsRequest::AlterableConfig{.name = key, .config_operation = kSet, .value = text}};
        std::array resources{IncrementalAlterConfigsRequest::AlterConfigsResource{
            .resource_type = type, .resource_name = name, .configs = configs}};
        setting.note_asked(value);
        ask<IncrementalAlterConfigsResponse>(1, IncrementalAlterConfigsRequest{.resources = resources},
                                             [this, value, &setting](const auto& response) {
                                                 if (response.responses[0].error_code != ErrorCode::none) {
                                                     return;
                                                 }
                                                 setting.note_set(value, now());
                                                 ++world_.happened["changes of configs"];
                                             });
    }
    void look(std::int8_t type, const std::string& name, const std::string& key, const Setting& setting) {
        std::array<std::string_view, 1> keys{key};
        std::array resources{DescribeConfigsRequest::DescribeConfigsResource{
            .resource_type = type, .resource_name = name, .configuration_keys = keys}};
        ask<DescribeConfigsResponse>(
            4, DescribeConfigsRequest{.resources = resources}, [this, name, key, &setting](const auto& response) {
                const auto& result = response.results[0];
                if (!setting.known()) {
                    return;
                }
                for (const auto& config : result.configs) {
                    if (config.name == key && setting.can_be(std::stoll(std::string(config.value.value_or("-1"))))) {
                        return;
                    }
                }
                note_wrong(key + " of \"" + name + "\" was set to " + std::to_string(*setting.known()) + ", and is not so");
            });
    }
    void produce() {
        const std::string value = world_.ledger.fresh_value() + std::string(kRecordBytes, '.');
        BatchBuilder builder;
        builder.append(world_.clock.now().wall, std::nullopt, as_bytes(value));
        std::vector<std::byte> records;
        builder.build(records);
        std::array partitions{ProduceRequest::PartitionProduceData{.index = 0, .records = Records(Bytes(records))}};
        std::array topics{ProduceRequest::TopicProduceData{.name = topic_, .partition_data = partitions}};
        ask<ProduceResponse>(9, ProduceRequest{.acks = -1, .timeout_ms = 5'000, .topic_data = topics},
                             [this, asked = now(), bytes = static_cast<std::int64_t>(records.size())](const auto& response) {
                                 note_produced(response, asked, bytes);
                             });
    }
    void note_produced(const ProduceResponse& response, Instant asked, std::int64_t bytes) {
        const ErrorCode error = response.responses[0].partition_responses[0].error_code;
        const auto limit = limit_.known();
        if (error == ErrorCode::none && limit && *limit < kRecordBytes) {
            note_wrong("a record that is too large is taken");
        }
        if (error == ErrorCode::message_too_large && limit && *limit > kRecordBytes) {
            note_wrong("a record that fits is refused");
        }
        if (error == ErrorCode::message_too_large) {
            ++world_.happened["records that were too large"];
        }
        if (rests_until_ && now() < *rests_until_) {
            note_wrong("whoever was to be held back is served");
        }
        rests_until_.reset();
        const std::int32_t throttle_ms = response.throttle_time_ms;
        if (throttle_ms > 0) {
            ++world_.happened["replies that told of a quota"];
            rests_until_ = asked + throttle_ms;
        }
        const auto quota = quota_.known();
        if (!quota) {
            return;
        }
        if (*quota == 0) {
            if (throttle_ms > 0) {
                note_wrong("a client without a quota is held back");
            }
            return;
        }
        if (error == ErrorCode::none) {
            produced_.push_back({asked, bytes});
        }
        while (!produced_.empty() && now() - produced_.front().when > kWholeWindowsMs) {
            produced_.pop_front();
        }
        std::int64_t sum = 0;
        for (const Produced& one : produced_) {
            sum += one.bytes;
        }
        if (sum * 1'000 > *quota * kWindowsMs && throttle_ms == 0) {
            note_wrong("a client wrote " + std::to_string(sum) + " bytes and is not held back");
        }
    }
    void note_wrong(const std::string& what) { world_.ledger.note_wrong(name_ + ": " + what); }
    void on_lost() override { rests_until_.reset(); }

    const std::string topic_;
    Setting quota_;
    Setting limit_;
    Setting broker_limit_;
    /// Under the present quota, in the broker's present life.
    std::deque<Produced> produced_;
    std::optional<Instant> rests_until_;
};

class Limits final : public Scene {
  public:
    explicit Limits(ClientsWorld& world) : world_(world) {}

    std::vector<std::unique_ptr<SimulatedClient>> clients() override {
        std::vector<std::unique_ptr<SimulatedClient>> all;
        for (const char* name : {"q1", "q2"}) {
            auto made = std::make_unique<Operator>(world_, name);
            operators_.push_back(made.get());
            all.push_back(std::move(made));
        }
        return all;
    }
    void broker_died(Instant died, Instant started, bool is_power_failure) override {
        for (Operator* one : operators_) {
            one->broker_died(died, started, is_power_failure);
        }
    }

  private:
    ClientsWorld& world_;
    /// The world owns them.
    std::vector<Operator*> operators_;
};

}  // namespace

std::unique_ptr<Scene> limits(ClientsWorld& world) { return std::make_unique<Limits>(world); }

}  // namespace partita::test
