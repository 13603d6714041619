#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/catalog/catalog_core.h"
#include "broker/catalog/internal_topics.h"
#include "broker/catalog/mutation_quotas.h"
#include "broker/config/current_config.h"
#include "broker/config/log_setup.h"
#include "broker/logs/partition.h"
#include "broker/logs/placement.h"
#include "broker/logs/published_topics.h"
#include "broker/logs/turn.h"
#include "broker/runtime/catalog/topic_states.h"
#include "broker/runtime/loop/fresh_ids.h"
#include "broker/runtime/loop/start_error.h"
#include "protocol/mutex.h"
#include "storage/file_system.h"
#include "storage/metadata_store.h"

namespace partita {
class LogFlusher;
}

namespace partita::runtime {

class UpkeepBell;

/// The catalog of the running broker. For each change it does these in order: decides (broker/catalog), persists the outcome in
/// its own log, publishes the new state, and notifies the listeners of the published topics.
///
/// Thread-safe. Its lock is held until the listeners have heard, and comes before those of `TopicExpansion`, group shards and
/// logs. Code under it reads no disk, and takes no time that grows with the groups or the other topics.
class Catalog {
  public:
    /// It publishes in `topics` and `config`. No other object publishes there or makes topics with `states`.
    /// `placement` chooses the nodes of new partitions.
    Catalog(config::CurrentConfig& config, logs::PublishedTopics& topics, TopicStates& states, const logs::Placement& placement,
            UpkeepBell& upkeep);

    // Start: in this order, before any other call -------------------------------------------------

    /// The broker's directory and its stores.
    struct Place {
        FileSystem& files;
        const std::string& directory;
        LogDirectory& logs;
        MetadataStore& store;
    };
    /// Replays the log, adopts topics that a real Kafka left in the directory (see topic_adoption.h), and gives a new cluster an
    /// id.
    [[nodiscard]] std::expected<void, StartError> load(const Place& place, Now now);
    /// Opens the logs of all topics and publishes the table of topics.
    [[nodiscard]] std::expected<void, StartError> load_topics(const Place& place, Now now);

    [[nodiscard]] const std::string& cluster_id() const { return cluster_id_; }
    /// The log that makes the catalog durable. It exists once `load` has returned.
    [[nodiscard]] std::shared_ptr<PartitionLog> own_log() const { return partition_->log; }
    /// Where that log ends. It grows with every change.
    [[nodiscard]] Offset log_end() const { return partition_->log->log_end_offset(); }
    /// True if a power failure could still undo a change.
    [[nodiscard]] bool has_unsynced_changes() const { return partition_->log->has_unsynced_data(); }
    /// Calls `then` with true once the device has all changes made so far. Calls it with false if the device cannot take them, or
    /// if too many syncs wait. Stops the broker if a sync fails. `then` runs now, or later on another thread.
    void when_synced(LogFlusher& flusher, std::function<void(bool is_synced)> then) const;

    // Changes ------------------------------------------------------------------------------------

    /// Runs a command, makes the outcome durable, then visible. The caller may send the reply once this returns. Empty if the
    /// outcome could not be persisted: nothing has changed, and the caller answers with a storage error.
    template <class Command>
    [[nodiscard]] std::optional<typename Command::Result> change(logs::Turn& turn, const Command& command) {
        typename Command::Result result;
        return change(turn, command, result) ? std::optional(std::move(result)) : std::nullopt;
    }
    /// The same for a reply that names each part of the command: `result` is also set if the outcome could not be persisted. This
    /// returns false then.
    template <class Command>
    [[nodiscard]] bool change(logs::Turn& turn, const Command& command, typename Command::Result& result) {
        const MutexLock lock(mutex_);
        const Now now = turn.now();
        catalog::Decision<Command> decision = decide(now, command);
        result = std::move(decision.result);
        return decision.effects.empty() || apply(&turn, decision.effects, now);
    }

    /// A change for callers with steps of their own in between. Holds the catalog's lock. Call in this order: decide, claim,
    /// write, publish.
    class SCOPED_CAPABILITY Section {
      public:
        // Clang does not see that the lock of `catalog` is that of `catalog_`, so the functions below assert it.
        explicit Section(Catalog& catalog) ACQUIRE(catalog.mutex_) : catalog_(catalog) { catalog.mutex_.lock(); }
        ~Section() RELEASE() NO_THREAD_SAFETY_ANALYSIS { catalog_.mutex_.unlock(); }
        Section(const Section&) = delete;
        Section& operator=(const Section&) = delete;

        [[nodiscard]] const catalog::CatalogSnapshot& snapshot() const {
            catalog_.mutex_.assert_held();
            return *catalog_.core_.snapshot();
        }
        template <class Command>
        [[nodiscard]] catalog::Decision<Command> decide(Now now, const Command& command) {
            catalog_.mutex_.assert_held();
            return catalog_.decide(now, command);
        }
        /// Gives the new partitions their logs. False if a directory is in the way that cannot be moved; nothing is claimed then.
        [[nodiscard]] bool claim(const catalog::Effects& effects, Now now) {
            catalog_.mutex_.assert_held();
            return catalog_.states_.claim(effects, *catalog_.topics_.table(), claimed_, now);
        }
        /// Takes the logs back from the new partitions. Allowed only if the change was not written.
        void release_claims() {
            catalog_.mutex_.assert_held();
            catalog_.states_.release(claimed_, *catalog_.topics_.table());
        }
        [[nodiscard]] const logs::TopicState& claimed(const TopicId& topic) const { return *claimed_.at(topic); }
        [[nodiscard]] bool write(const catalog::Effects& effects, Now now) {
            catalog_.mutex_.assert_held();
            return catalog_.write(effects, now);
        }
        void publish(const catalog::Effects& effects, Now now) {
            catalog_.mutex_.assert_held();
            catalog_.follow(nullptr, effects, claimed_, now);
        }

      private:
        Catalog& catalog_;
        ClaimedTopics claimed_;
    };

    /// A new producer id that was never given out before. Empty if it could not be persisted.
    [[nodiscard]] std::optional<ProducerId> next_producer_id(logs::Turn& turn);
    /// Gives out no id up to this one from now on. For a start: a power failure may have taken the record that ids were given
    /// out, but left batches that use them. False if this could not be persisted.
    [[nodiscard]] bool skip_producer_ids(ProducerId highest, Now now);
    /// Creates the topic of these coordinators if it does not exist. The coordinators have heard of it when this returns. False
    /// if it cannot be created. Does not wait for a device.
    [[nodiscard]] bool make_topic_of(catalog::CoordinatorKind kind, logs::Turn& turn);
    /// Creates a topic that a client asked for, with the settings of the broker, if it does not exist. If it cannot be created,
    /// the client may ask again and again: the log says why, at most once a second.
    void make_topic(logs::Turn& turn, std::string_view name);
    /// Watches the topic's growth from now on in any mode, for controls that need it. Null if the topic does not exist.
    [[nodiscard]] std::shared_ptr<const logs::TopicState> watch_expansion(std::string_view topic, Now now);

  private:
    template <class Command>
    [[nodiscard]] catalog::Decision<Command> decide(Now now, const Command& command) REQUIRES(mutex_) {
        const catalog::CatalogSettings settings = this->settings();
        const catalog::CatalogContext context{
            .now = now,
            .settings = settings,
            .next_topic_id = fresh_uuid,
            .log_end_offsets = [this](const catalog::Topic& topic) { return log_end_offsets(topic); },
            .mutation_quotas = &mutation_quotas_,
        };
        return core_.decide(command, context);
    }
    [[nodiscard]] catalog::CatalogSettings settings() const;
    [[nodiscard]] std::vector<Offset> log_end_offsets(const catalog::Topic& topic) const;
    [[nodiscard]] std::expected<void, StartError> adopt_found_topics(const Place& place, bool is_new, Now now) REQUIRES(mutex_);
    [[nodiscard]] bool set_initial_cluster_configs(Now now) REQUIRES(mutex_);

    [[nodiscard]] bool apply(logs::Turn* turn, const catalog::Effects& effects, Now now) REQUIRES(mutex_);
    [[nodiscard]] bool write(const catalog::Effects& effects, Now now) REQUIRES(mutex_);
    /// Makes a written change visible (snapshot, settings, topic table) and notifies listeners.
    void follow(logs::Turn* turn, const catalog::Effects& effects, const ClaimedTopics& claimed, Now now) REQUIRES(mutex_);
    void apply_change(logs::TopicTable& table, const catalog::CatalogChange& change, const ClaimedTopics& claimed, Now now)
        REQUIRES(mutex_);
    void apply_config_change(const catalog::CatalogChange& change, logs::TopicTable& table, Now now) REQUIRES(mutex_);
    /// Publishes a table in which the catalog changed nothing.
    void publish(std::shared_ptr<const logs::TopicTable> table, Now now) REQUIRES(mutex_);

    config::CurrentConfig& config_;
    logs::PublishedTopics& topics_;
    TopicStates& states_ GUARDED_BY(mutex_);
    const logs::Placement& placement_;
    UpkeepBell& upkeep_;
    std::string cluster_id_;
    std::unique_ptr<catalog::ConfigRules> rules_;
    /// `load` creates it; it then stays the same.
    std::unique_ptr<logs::Partition> partition_;

    log::RateLimiter unmade_topics_;

    Mutex mutex_{LockRank::catalog};
    catalog::CatalogCore core_ GUARDED_BY(mutex_);
    catalog::MutationQuotas mutation_quotas_ GUARDED_BY(mutex_);
    ProducerId next_producer_id_ GUARDED_BY(mutex_){0};
    std::int64_t producer_ids_left_ GUARDED_BY(mutex_) = 0;
};

}  // namespace partita::runtime
