#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "broker/catalog/commands.h"
#include "broker/catalog/partition_place.h"
#include "protocol/types.h"

namespace partita::faults {

/// The state of a broker, as people have put it.
enum class BrokerLife : std::uint8_t {
    up,
    /// Its process is gone: it has no listener and no connection.
    killed,
    /// Its process stands still: its connections are open, and it answers nothing.
    paused,
    /// Clients reach it; the controller and the other brokers do not. It goes on with what it knew.
    isolated,
};
[[nodiscard]] std::string_view name_of(BrokerLife life);

/// A cluster of brokers as Kafka's controller sees it: who is alive, which brokers have each partition, and who leads it. The
/// rules are those of Kafka 4.3.1 with KRaft and eligible leader replicas (KIP-966). The brokers of this cluster share one log,
/// so that a replica that is alive has everything at once.
///
/// A state machine: commands, events and the time come in; the changed topics and the next deadline come out. The number of its
/// topics and partitions is that of the catalog.
class Cluster {
  public:
    static constexpr std::size_t kBrokersMax = 32;

    struct Settings {
        /// Ascending by id, each once; at least one.
        catalog::Nodes brokers;
        /// After this time without a sign of life, the controller fences a broker.
        std::int64_t session_timeout_ms = 9000;
        /// The topic's `min.insync.replicas`; a topic that was just made may be unknown to it.
        std::function<std::int32_t(const TopicId&)> min_insync_replicas;
    };
    /// All brokers are up.
    explicit Cluster(Settings settings);

    struct Effects {
        std::set<TopicId> topics;
        /// A broker was fenced, or is alive again.
        bool are_nodes_changed = false;
    };
    /// The error is a sentence.
    using Outcome = std::expected<Effects, std::string>;

    // Brokers -----------------------------------------------------------------------------------

    /// `is_noticed`: the controller learns of it at once, as when a broker stops orderly. Otherwise after the session timeout.
    [[nodiscard]] Outcome kill(BrokerId broker, bool is_noticed, Instant now);
    [[nodiscard]] Outcome restart(BrokerId broker);
    [[nodiscard]] Outcome pause(BrokerId broker, Instant now);
    [[nodiscard]] Outcome resume(BrokerId broker);
    [[nodiscard]] Outcome isolate(BrokerId broker, Instant now);
    [[nodiscard]] Outcome join(BrokerId broker);
    /// Fences the brokers whose session has ended.
    [[nodiscard]] Effects tick(Instant now);
    /// When `tick` has something to do; null if never.
    [[nodiscard]] std::optional<Instant> next_deadline() const;

    struct Broker {
        BrokerId id;
        std::optional<std::string> rack;
        BrokerLife life = BrokerLife::up;
        bool is_fenced = false;
        /// By what the controller knows.
        std::size_t leader_count = 0;
        std::size_t replica_count = 0;
    };
    [[nodiscard]] std::vector<Broker> brokers() const;
    /// Null for an unknown broker.
    [[nodiscard]] std::optional<BrokerLife> life_of(BrokerId broker) const;

    // Topics ------------------------------------------------------------------------------------

    struct NewPartitions {
        TopicId topic;
        /// The partitions from this one on are new; the topic then has `partition_count` of them.
        std::int32_t first = 0;
        std::int32_t partition_count = 0;
        std::size_t replication_factor = 1;
        /// By partition, from `first` on. Empty: the cluster chooses.
        std::span<const std::vector<BrokerId>> assignments = {};
    };
    /// Places partitions. Without assignments, a topic's leaders go round all living brokers, beginning at one that depends on
    /// the topic's id; followers come behind the leader, one step further in each round, and in different racks where possible.
    void place(const NewPartitions& partitions);
    /// Takes over what an earlier process knew, and places the rest. All brokers are up, so all replicas are in sync.
    [[nodiscard]] Effects restore(const TopicId& topic, catalog::TopicPlace place, const NewPartitions& all);
    void remove(const TopicId& topic);
    /// Elects a leader, as ElectLeaders does.
    [[nodiscard]] catalog::CatalogError elect(const TopicId& topic, PartitionIndex partition, catalog::Election election,
                                              Effects& effects);
    /// As AlterPartitionReassignments; the brokers of `target` are registered. The replicas move at once, except to a broker
    /// that is not alive.
    [[nodiscard]] catalog::CatalogError reassign(const TopicId& topic, PartitionIndex partition,
                                                 const std::optional<std::vector<BrokerId>>& target, bool may_change_factor,
                                                 Effects& effects);

    // The knowledge of a broker -----------------------------------------------------------------------

    /// kNoBroker asks the controller. An isolated broker knows what was so when it was isolated.
    [[nodiscard]] std::shared_ptr<const catalog::Nodes> nodes_known_at(BrokerId asked) const { return known_at(asked).nodes; }
    /// Null for an unknown topic.
    [[nodiscard]] std::shared_ptr<const catalog::TopicPlace> place_known_at(BrokerId asked, const TopicId& topic) const;
    /// Null for the leader itself. The consumer is in `rack`, and the leader chooses as RackAwareReplicaSelector does.
    [[nodiscard]] std::optional<BrokerId> preferred_replica(BrokerId asked, const TopicId& topic, PartitionIndex partition,
                                                            std::string_view rack) const;
    /// True if fewer replicas are in sync than the topic demands for a write that waits for all of them.
    [[nodiscard]] bool lacks_replicas(const TopicId& topic, PartitionIndex partition) const;

    /// All topics with their places, in no particular order.
    template <class Visit>
    void for_each_topic(Visit&& visit) const {
        for (const auto& [topic, place] : current_.topics) {
            visit(topic, *place);
        }
    }

  private:
    using Places = std::unordered_map<TopicId, std::shared_ptr<const catalog::TopicPlace>>;
    struct Knowledge {
        std::shared_ptr<const catalog::Nodes> nodes;
        Places topics;
    };
    struct State {
        BrokerLife life = BrokerLife::up;
        std::optional<Instant> fence_at;
    };
    struct Change;

    [[nodiscard]] const Knowledge& known_at(BrokerId asked) const;
    [[nodiscard]] bool is_alive(BrokerId broker) const;
    [[nodiscard]] std::expected<State*, std::string> find(BrokerId broker, BrokerLife expected, std::string_view verb);
    void set_fenced(BrokerId broker, bool is_fenced, Effects& effects);
    void fence(BrokerId broker, Effects& effects);
    void revive(BrokerId broker, Effects& effects);
    /// Applies `change` to every partition; it returns false for no change.
    void change_all(const std::function<bool(const TopicId&, catalog::PartitionPlace&)>& change, Effects& effects);
    /// Carries out the change by the controller's rules: completes a reassignment, notes eligible leaders, elects, raises the
    /// epoch.
    void settle(const TopicId& topic, catalog::PartitionPlace& place, Change change) const;
    /// Lets living replicas into the ISR.
    void catch_up(const TopicId& topic, catalog::PartitionPlace& place) const;
    [[nodiscard]] std::vector<BrokerId> chosen(const TopicId& topic, std::int32_t partition,
                                               std::size_t replication_factor) const;
    [[nodiscard]] catalog::PartitionPlace made(std::vector<BrokerId> replicas) const;
    [[nodiscard]] std::int32_t wanted_in_sync(const TopicId& topic, std::size_t replicas) const;

    const Settings settings_;
    std::map<BrokerId, State> states_;
    Knowledge current_;
    /// For each isolated broker.
    std::map<BrokerId, Knowledge> outdated_;
};

}  // namespace partita::faults
