#include <array>
#include <map>
#include <set>
#include <utility>

#include "protocol/messages/68_consumer_group_heartbeat.h"
#include "tests/simulation/broker_world_scene.h"

namespace partita::test {
namespace {

const std::string kGroup = "consumers";
/// The default of group.consumer.session.timeout.ms.
constexpr std::int64_t kSessionMs = 45'000;

/// A partition by its topic's id.
using Partition = std::pair<Uuid, std::int32_t>;

/// The owner of each partition, as the members know it. A member keeps a partition until it sends the request that gives the
/// partition up, or until a session passes without an answer.
class Owners {
  public:
    explicit Owners(ClientsWorld& world) : world_(world) {}

    void give(const std::string& member, const Partition& partition) { owned_[partition].insert(member); }
    void take(const std::string& member, const Partition& partition) { owned_[partition].erase(member); }
    /// The broker has heard of the member at this time or later.
    void note_alive(const std::string& member, Instant heard) { heard_[member] = heard; }
    /// The broker may remember nothing.
    void forget() { owned_.clear(); }
    void check() {
        const Instant now = world_.clock.now().monotonic;
        for (auto& [partition, members] : owned_) {
            if (members.size() < 2) {
                continue;
            }
            std::erase_if(members, [&](const std::string& member) { return now - heard_[member] >= kSessionMs; });
            if (members.size() < 2) {
                continue;
            }
            world_.ledger.note_wrong("partition " + std::to_string(partition.second) + " of a topic belongs to " +
                                     *members.begin() + " and to " + *members.rbegin() + " of " + kGroup);
        }
    }

  private:
    ClientsWorld& world_;
    std::map<Partition, std::set<std::string>> owned_;
    std::map<std::string, Instant> heard_;
};

class Consumer final : public SimulatedClient {
  public:
    Consumer(ClientsWorld& world, Owners& owners, std::vector<std::string> topics, std::string name)
        : SimulatedClient(world, std::move(name)), owners_(owners), topics_(std::move(topics)) {}

    /// The broker may have lost its latest answers.
    void power_failed() { is_answered_ = false; }
    void act() override {
        if (waits()) {
            return;
        }
        if (!knows_coordinator_) {
            knows_coordinator_ = true;
            return find_coordinator(kGroup);
        }
        if (epoch_ > 0 && world_.one_in(60)) {
            return leave();
        }
        if (epoch_ == 0 || next_heartbeat_ <= now() || has_news_) {
            heartbeat();
        }
    }

  private:
    void heartbeat() {
        constexpr std::int64_t kHeartbeatMs = 1'000;
        next_heartbeat_ = now() + kHeartbeatMs;
        const bool is_whole = epoch_ == 0 || must_tell_all_;
        ConsumerGroupHeartbeatRequest request{.group_id = kGroup, .member_id = name_, .member_epoch = epoch_};
        std::vector<std::string_view> names(topics_.begin(), topics_.end());
        if (is_whole) {
            request.rebalance_timeout_ms = 300'000;
            request.subscribed_topic_names = names;
        }
        // The member gives up the partitions that it was told to give up: it reads them no more.
        for (const Partition& partition : owned_) {
            if (assigned_.contains(partition)) {
                continue;
            }
            owners_.take(name_, partition);
            ++world_.happened["partitions that a consumer gave up"];
        }
        std::erase_if(owned_, [&](const Partition& partition) { return !assigned_.contains(partition); });
        std::map<Uuid, std::vector<std::int32_t>> by_topic;
        for (const auto& [topic, partition] : owned_) {
            by_topic[topic].push_back(partition);
        }
        std::vector<ConsumerGroupHeartbeatRequest::TopicPartitions> told;
        for (auto& [topic, partitions] : by_topic) {
            told.push_back({.topic_id = topic, .partitions = partitions});
        }
        if (is_whole || has_news_) {
            request.topic_partitions = told;
        }
        has_news_ = false;
        must_tell_all_ = false;
        is_asked_ = true;
        ask<ConsumerGroupHeartbeatResponse>(1, request, [this, asked = now()](const auto& response) {
            is_asked_ = false;
            answered(response, asked);
        });
    }
    void answered(const ConsumerGroupHeartbeatResponse& response, Instant asked) {
        if (response.error_code == ErrorCode::unknown_member_id || response.error_code == ErrorCode::fenced_member_epoch ||
            response.error_code == ErrorCode::group_id_not_found) {
            // The broker writes an epoch down before it tells it, so that the epoch outlives a kill.
            if (epoch_ > 0 && is_answered_ && now() - heard_ < kSessionMs) {
                world_.ledger.note_wrong(name_ + " was given epoch " + std::to_string(epoch_) + " of " + kGroup +
                                         " and is told " + std::string(error_name(response.error_code)));
            }
            return begin_anew();
        }
        if (response.error_code != ErrorCode::none) {
            knows_coordinator_ = !is_no_coordinator(response.error_code);
            must_tell_all_ = true;
            return;
        }
        owners_.note_alive(name_, asked);
        heard_ = asked;
        is_answered_ = true;
        epoch_ = response.member_epoch;
        if (response.assignment == nullptr) {
            return;
        }
        assigned_.clear();
        for (const auto& topic : response.assignment->topic_partitions) {
            for (const std::int32_t partition : topic.partitions) {
                assigned_.emplace(topic.topic_id, partition);
            }
        }
        for (const Partition& partition : assigned_) {
            if (owned_.insert(partition).second) {
                owners_.give(name_, partition);
            }
        }
        has_news_ = true;
    }
    void leave() {
        const ConsumerGroupHeartbeatRequest request{.group_id = kGroup, .member_id = name_, .member_epoch = -1};
        begin_anew();
        ask<ConsumerGroupHeartbeatResponse>(1, request, [](const auto&) {});
    }
    void begin_anew() {
        for (const Partition& partition : owned_) {
            owners_.take(name_, partition);
        }
        owned_.clear();
        assigned_.clear();
        epoch_ = 0;
        is_answered_ = false;
    }
    void on_lost() override {
        must_tell_all_ = true;
        is_answered_ = !is_asked_ && is_answered_;
        is_asked_ = false;
    }

    Owners& owners_;
    const std::vector<std::string> topics_;
    bool knows_coordinator_ = false;
    std::int32_t epoch_ = 0;
    std::set<Partition> owned_;
    std::set<Partition> assigned_;
    /// The broker's latest word from this member about its partitions is out of date.
    bool has_news_ = false;
    bool must_tell_all_ = false;
    Instant next_heartbeat_{};
    /// A heartbeat waits for its answer.
    bool is_asked_ = false;
    /// Since the last answer, no heartbeat was lost, and the broker lost nothing that it knew.
    bool is_answered_ = false;
    /// The broker heard of this member at this time or later.
    Instant heard_{};
};

class ConsumerGroup final : public Scene {
  public:
    ConsumerGroup(ClientsWorld& world, std::vector<std::string> topics)
        : world_(world), topics_(std::move(topics)), owners_(world) {}

    std::vector<std::unique_ptr<SimulatedClient>> clients() override {
        std::vector<std::unique_ptr<SimulatedClient>> all;
        for (const char* name : {"c1", "c2", "c3"}) {
            auto consumer = std::make_unique<Consumer>(world_, owners_, topics_, name);
            consumers_.push_back(consumer.get());
            all.push_back(std::move(consumer));
        }
        return all;
    }
    void replies_were_read() override { owners_.check(); }
    void broker_died(Instant, Instant, bool is_power_failure) override {
        if (!is_power_failure) {
            return;
        }
        owners_.forget();
        for (Consumer* consumer : consumers_) {
            consumer->power_failed();
        }
    }

  private:
    ClientsWorld& world_;
    const std::vector<std::string> topics_;
    Owners owners_;
    /// The consumers that `clients` returned; its caller owns them.
    std::vector<Consumer*> consumers_;
};

}  // namespace

std::unique_ptr<Scene> consumer_group(ClientsWorld& world, std::vector<std::string> topics) {
    return std::make_unique<ConsumerGroup>(world, std::move(topics));
}

}  // namespace partita::test
