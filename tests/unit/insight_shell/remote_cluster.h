#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/insight/facts/cluster.h"

namespace partita::insight {

/// A cluster that is not ours, as a client knows it over the network: values only, without a log, group or connection of this
/// broker behind them.
class RemoteCluster final : public ObservedCluster {
  public:
    struct Topic {
        std::string name;
        std::int32_t partition_count = 0;
        std::vector<EarlierExpansion> growths;
        std::vector<LogEdges> logs;
        TopicTraits traits;
    };

    /// The cluster has these groups and topics from now on, at the next sequence.
    std::map<TopicId, Topic> known_topics;
    std::vector<GroupFacts> known_groups;
    std::map<std::pair<std::string, std::string>, ConnectionFacts> members;
    std::set<ConnectionId> wanted;
    std::int64_t sequence = 1;

    /// The topic grows to `count`, and its logs keep their ends.
    GrownTopic grow(const TopicId& id, std::int32_t count, TimestampMs now) {
        Topic& topic = known_topics.at(id);
        EarlierExpansion growth{topic.partition_count, count, now, {}};
        for (const LogEdges& log : topic.logs) {
            growth.log_end_offsets.push_back(log.end);
        }
        topic.growths.push_back(growth);
        topic.partition_count = count;
        topic.logs.resize(static_cast<std::size_t>(count));
        return {.id = id, .name = topic.name, .growths = topic.growths, .sequence = ++sequence, .joins = {}, .readers = {}};
    }

    [[nodiscard]] std::shared_ptr<const ObservedTopics> topics() const override { return std::make_shared<Topics>(*this); }
    [[nodiscard]] const ObservedGroups& groups() const override { return groups_; }
    [[nodiscard]] ObservedClients& clients() const override { return clients_; }

  private:
    /// All records stand: the cluster has no transactions.
    class NoTransactions final : public RecordFates {
      public:
        RecordFate of(PartitionIndex, Offset) const override { return RecordFate::stands; }
    };
    class EveryOffset final : public RecordCounter {
      public:
        RecordCount between(PartitionIndex, Offset from, Offset to) override { return {to - from}; }
    };
    class View final : public ObservedTopic {
      public:
        View(const TopicId& id, Topic topic, std::int64_t sequence) : id_(id), topic_(std::move(topic)), sequence_(sequence) {}
        TopicRef ref() const override { return {id_, topic_.growths.size()}; }
        std::string_view name() const override { return topic_.name; }
        std::int32_t partition_count() const override { return topic_.partition_count; }
        TopicTraits traits() const override { return topic_.traits; }
        std::vector<EarlierExpansion> growths() const override { return topic_.growths; }
        std::uint64_t state() const override { return static_cast<std::uint64_t>(sequence_); }
        std::vector<LogEdges> logs() const override { return topic_.logs; }
        std::optional<std::set<std::string>> released_by_fence() const override { return std::nullopt; }
        std::vector<OpenTransaction> open_transactions() const override { return {}; }
        std::unique_ptr<RecordFates> fates() const override { return std::make_unique<NoTransactions>(); }
        std::unique_ptr<RecordCounter> counter() const override { return std::make_unique<EveryOffset>(); }
        std::unique_ptr<KeyedRecords> records(std::size_t) const override { return nullptr; }
        void find_positions(std::vector<GroupFacts>& groups) const override {
            for (GroupFacts& group : groups) {
                group.positions = group.committed;
            }
        }

      private:
        const TopicId id_;
        const Topic topic_;
        const std::int64_t sequence_;
    };
    class Topics final : public ObservedTopics {
      public:
        explicit Topics(const RemoteCluster& cluster) : topics_(cluster.known_topics), sequence_(cluster.sequence) {}
        std::int64_t sequence() const override { return sequence_; }
        std::unique_ptr<ObservedTopic> find(const TopicId& id) const override {
            const auto known = topics_.find(id);
            return known == topics_.end() ? nullptr : std::make_unique<View>(id, known->second, sequence_);
        }
        std::unique_ptr<ObservedTopic> find(std::string_view name) const override {
            const auto known = std::ranges::find_if(topics_, [&](const auto& topic) { return topic.second.name == name; });
            return known == topics_.end() ? nullptr : find(known->first);
        }
        void for_each_name(FunctionRef<void(std::string_view, std::int32_t)> visit) const override {
            for (const auto& [id, topic] : topics_) {
                visit(topic.name, topic.partition_count);
            }
        }
        std::vector<GrownTopic> grown() const override {
            std::vector<GrownTopic> grown;
            for (const auto& [id, topic] : topics_) {
                if (!topic.growths.empty()) {
                    grown.push_back({.id = id,
                                     .name = topic.name,
                                     .growths = topic.growths,
                                     .sequence = sequence_,
                                     .joins = {},
                                     .readers = {}});
                }
            }
            return grown;
        }

      private:
        const std::map<TopicId, Topic> topics_;
        const std::int64_t sequence_;
    };
    class Groups final : public ObservedGroups {
      public:
        explicit Groups(const RemoteCluster& cluster) : cluster_(cluster) {}
        std::uint64_t membership_version() const override { return static_cast<std::uint64_t>(cluster_.sequence); }
        bool is_complete() const override { return true; }
        std::vector<GroupFacts> readers_of(const ObservedTopic&, const ReaderQuestion&) const override {
            return cluster_.known_groups;
        }
        std::optional<std::string> protocol_of(std::string_view group) const override {
            const auto known = std::ranges::find(cluster_.known_groups, group, &GroupFacts::group_id);
            return known == cluster_.known_groups.end() ? std::nullopt : std::optional(known->protocol);
        }
        std::optional<MemberFacts> member(std::string_view, std::string_view) const override { return std::nullopt; }

      private:
        const RemoteCluster& cluster_;
    };
    class Clients final : public ObservedClients {
      public:
        explicit Clients(RemoteCluster& cluster) : cluster_(cluster) {}
        std::optional<ConnectionFacts> find(ConnectionId) const override { return std::nullopt; }
        std::optional<ConnectionFacts> coordinator_of(std::string_view group, std::string_view member_id) const override {
            const auto known = cluster_.members.find({std::string(group), std::string(member_id)});
            return known == cluster_.members.end() ? std::nullopt : std::optional(known->second);
        }
        std::vector<SpeakingConnection> called(std::string_view, std::size_t) const override { return {}; }
        bool knows_all() const override { return false; }
        bool want_process(ConnectionId connection) override {
            cluster_.wanted.insert(connection);
            return true;
        }

      private:
        RemoteCluster& cluster_;
    };

    const Groups groups_{*this};
    mutable Clients clients_{*this};
};

}  // namespace partita::insight
