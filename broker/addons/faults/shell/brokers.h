#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/addons/faults/core/cluster.h"
#include "broker/assembly/addon.h"
#include "broker/config/broker_config.h"
#include "broker/handlers/request_gate.h"
#include "broker/logs/append_steps.h"
#include "broker/logs/placement.h"
#include "broker/logs/published_topics.h"
#include "protocol/mutex.h"

namespace partita::faults {

/// Several brokers in one process: it carries out what the core (Cluster) decides. Requests learn here who leads and coordinates
/// what, and people kill and pause brokers here. Thread-safe.
class Brokers final : public logs::NodePlan, public handlers::RequestGate, public logs::AppendStep {
  public:
    /// The configured brokers: ascending by id, the first one is the process's own.
    [[nodiscard]] static catalog::Nodes configured(const config::BrokerConfig& config);

    /// `faults` judges requests, too.
    Brokers(const assembly::AddonPlace& place, handlers::RequestGate& faults);
    ~Brokers() override;

    /// Places the topics that exist.
    void load() EXCLUDES(mutex_);
    void start() EXCLUDES(mutex_);
    /// Writes what the next process needs to know.
    void stop() EXCLUDES(mutex_);

    // People ------------------------------------------------------------------------------------

    enum class Action : std::uint8_t { kill, restart, pause, resume, isolate, join };
    /// `then` is called once all of it has happened, on any thread, or at once. The error is a sentence.
    using Then = std::function<void(std::expected<void, std::string>)>;
    /// `is_noticed`: see Cluster::kill.
    void act(Action action, BrokerId broker, bool is_noticed, Then then) EXCLUDES(mutex_);
    /// Makes every broker what it was at the start.
    void revive_all() EXCLUDES(mutex_);

    struct Status {
        Cluster::Broker broker;
        /// A killed one has its ports when it is restarted.
        std::vector<logs::NodeListener> listeners;
    };
    [[nodiscard]] std::vector<Status> list() const EXCLUDES(mutex_);

    // Requests ----------------------------------------------------------------------------------

    [[nodiscard]] handlers::Passage pass(runtime::RequestContext& request) override EXCLUDES(mutex_);
    void closed(const runtime::ClientConnection& client) override { faults_.closed(client); }
    [[nodiscard]] logs::Outcome admit_batch(const logs::AppendRequest& request, const logs::Append& append,
                                            logs::Turn& turn) override EXCLUDES(mutex_);

    // NodePlan ----------------------------------------------------------------------------------

    [[nodiscard]] std::shared_ptr<const logs::Nodes> nodes_known_at(BrokerId asked) const override EXCLUDES(mutex_);
    [[nodiscard]] std::optional<std::uint16_t> port_of(BrokerId node, std::string_view listener) const override EXCLUDES(mutex_);
    [[nodiscard]] std::shared_ptr<const logs::TopicPlace> place_known_at(BrokerId asked, const TopicId& topic) const override
        EXCLUDES(mutex_);
    [[nodiscard]] bool is_led_at(BrokerId asked, const TopicId& topic, PartitionIndex partition) const override EXCLUDES(mutex_);
    [[nodiscard]] bool is_held_at(BrokerId asked, const TopicId& topic, PartitionIndex partition) const override EXCLUDES(mutex_);
    [[nodiscard]] BrokerId coordinator_known_at(BrokerId asked, catalog::CoordinatorKind kind,
                                                std::string_view key) const override EXCLUDES(mutex_);
    [[nodiscard]] std::optional<BrokerId> preferred_replica(BrokerId asked, const TopicId& topic, PartitionIndex partition,
                                                            std::string_view rack) const override EXCLUDES(mutex_);
    void follow(const catalog::CatalogChange& change) override EXCLUDES(mutex_);
    catalog::CatalogError elect(const catalog::Topic& topic, PartitionIndex partition, logs::Election election) override
        EXCLUDES(mutex_);
    catalog::CatalogError reassign(const catalog::Topic& topic, PartitionIndex partition,
                                   const std::optional<std::vector<BrokerId>>& target, bool may_change_factor) override
        EXCLUDES(mutex_);
    void set_doors(std::vector<logs::NodeListener> listeners, logs::NodeDoors* doors) override EXCLUDES(mutex_);
    [[nodiscard]] std::vector<BrokerId> further_nodes() const override EXCLUDES(mutex_);

  private:
    [[nodiscard]] Cluster::Outcome decide(Action action, BrokerId broker, bool is_noticed) REQUIRES(mutex_);
    /// Raises the epochs of changed topics, and wakes what waits for old leaders.
    void carry_out(const Cluster::Effects& effects) REQUIRES(mutex_);
    [[nodiscard]] Instant tick() EXCLUDES(mutex_);
    void save() EXCLUDES(mutex_);
    [[nodiscard]] std::optional<handlers::Passage> hold(runtime::RequestContext& request, BrokerLife life);
    [[nodiscard]] std::optional<handlers::Passage> send_to_coordinator(runtime::RequestContext& request, BrokerLife life)
        EXCLUDES(mutex_);

    const config::CurrentConfig& config_;
    const logs::PublishedTopics& topics_;
    logs::Turns& turns_;
    const Schedule schedule_;
    FileSystem& file_system_;
    const std::string path_;
    const bool reads_by_rack_;
    handlers::RequestGate& faults_;

    mutable Mutex mutex_{LockRank::brokers};
    Cluster cluster_ GUARDED_BY(mutex_);
    std::vector<logs::NodeListener> listeners_ GUARDED_BY(mutex_);
    /// Null while the process does not listen.
    logs::NodeDoors* doors_ GUARDED_BY(mutex_) = nullptr;
    bool is_saved_ GUARDED_BY(mutex_) = false;
    /// Null before the start and after the stop.
    std::unique_ptr<Worker> worker_ GUARDED_BY(mutex_);
};

}  // namespace partita::faults
