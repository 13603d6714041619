#pragma once

#include <cstddef>
#include <expected>
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
#include "broker/logs/partition.h"
#include "broker/logs/published_topics.h"
#include "broker/logs/turn.h"
#include "broker/runtime/catalog/topic_states.h"
#include "broker/runtime/loop/fresh_ids.h"
#include "broker/runtime/loop/start_error.h"
#include "protocol/mutex.h"
#include "storage/file_system.h"
#include "storage/metadata_store.h"

namespace partita::runtime {

class UpkeepBell;

/// The catalog of the running broker: decides on a change (broker/topics), persists it in a log of its own, publishes what is in
/// force from now on, and tells those who listen to the published topics, in this order.
///
/// Thread-safe. Its lock is held until the listeners have heard; it comes before those of `TopicExpansion`, group shards and
/// logs. Under it no disk is read, and nothing is done whose time grows with the groups or the other topics.
class Catalog {
  public:
    /// It publishes in `topics` and `config`; nobody else does, and nobody else makes topics with `states`.
    Catalog(config::CurrentConfig& config, PublishedTopics& topics, TopicStates& states, UpkeepBell& upkeep);

    // Start: in this order, before anybody else calls ---------------------------------------------

    /// Where the broker's files are.
    struct Place {
        FileSystem& files;
        const std::string& directory;
        LogDirectory& logs;
        MetadataStore& store;
    };
    /// Replays the log, adopts topics that a real Kafka left in the directory (see topic_adoption.h), and gives a new cluster its
    /// id.
    [[nodiscard]] std::expected<void, StartError> load(const Place& place, Now now);
    /// Opens the logs of all topics and publishes the table with them.
    [[nodiscard]] std::expected<void, StartError> load_topics(const Place& place, Now now);

    [[nodiscard]] const std::string& cluster_id() const { return cluster_id_; }
    /// The log that makes the catalog durable. There is one once `load` has returned.
    [[nodiscard]] std::shared_ptr<PartitionLog> own_log() const { return partition_->log; }

    // Changes ------------------------------------------------------------------------------------

    /// Runs a command of the catalog and makes its outcome durable and visible, in this order. The reply
    /// may leave when this returned. Empty when the outcome could not be persisted: nothing changed,
    /// and the request is answered with a storage error.
    template <class Reply, class Decide>
    [[nodiscard]] std::optional<Reply> change(Turn& turn, Decide&& decide) {
        const MutexLock lock(mutex_);
        const Now now = turn.now();
        catalog::Decision<Reply> decision = decide_now(now, decide);
        if (!decision.effects.empty() && !apply(&turn, decision.effects, now)) {
            return std::nullopt;
        }
        return std::move(decision.reply);
    }

    /// Decides on the catalog as it is now, and changes nothing.
    template <class Decide>
    auto look(Now now, Decide&& decide) {
        const MutexLock lock(mutex_);
        return decide_now(now, decide);
    }

    /// A change for whoever takes steps of its own in between. Holds the catalog's lock. In this order: decide, claim, write,
    /// publish.
    class SCOPED_CAPABILITY Section {
      public:
        // Clang does not see that the lock of `catalog` is that of `catalog_`: the functions below assert it.
        explicit Section(Catalog& catalog) ACQUIRE(catalog.mutex_) : catalog_(catalog) { catalog.mutex_.lock(); }
        ~Section() RELEASE() NO_THREAD_SAFETY_ANALYSIS { catalog_.mutex_.unlock(); }
        Section(const Section&) = delete;
        Section& operator=(const Section&) = delete;

        [[nodiscard]] const catalog::CatalogSnapshot& snapshot() const {
            catalog_.mutex_.assert_held();
            return *catalog_.core_.snapshot();
        }
        template <class Decide>
        auto decide(Now now, Decide&& decide) {
            catalog_.mutex_.assert_held();
            return catalog_.decide_now(now, decide);
        }
        /// Gives the new partitions their logs. False when a directory is in the way that cannot be moved: nothing is claimed.
        [[nodiscard]] bool claim(const catalog::Effects& effects, Now now) {
            catalog_.mutex_.assert_held();
            return catalog_.states_.claim(effects, *catalog_.topics_.table(), claimed_, now);
        }
        /// Takes the logs back from the new partitions. Only while the change was not written.
        void release_claims() {
            catalog_.mutex_.assert_held();
            catalog_.states_.release(claimed_, *catalog_.topics_.table());
        }
        [[nodiscard]] const TopicState& claimed(const TopicId& topic) const { return *claimed_.at(topic); }
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

    /// A fresh producer id, never given out before. Empty when it could not be persisted.
    [[nodiscard]] std::optional<ProducerId> next_producer_id(Turn& turn);
    /// Gives out no id up to this one from now on. For a start: a power failure may have taken what says that ids were given out,
    /// and left records that name them. False when that could not be persisted.
    [[nodiscard]] bool skip_producer_ids(ProducerId highest, Now now);
    /// Makes the topic of these coordinators when it is not there yet. They have heard of it when this returns. False when it
    /// cannot be made. Waits for no device.
    [[nodiscard]] bool make_topic_of(catalog::CoordinatorKind kind, Turn& turn);
    /// The topic's growth is watched from now on, whatever its mode: for controls that need it. Null when there is no
    /// such topic.
    [[nodiscard]] std::shared_ptr<const TopicState> watch_expansion(std::string_view topic, Now now);

  private:
    template <class Decide>
    auto decide_now(Now now, Decide&& decide) REQUIRES(mutex_) {
        const catalog::CatalogSettings settings = this->settings();
        const catalog::CatalogContext context{
            .now = now,
            .settings = settings,
            .next_topic_id = fresh_uuid,
            .log_end_offsets = [this](const catalog::Topic& topic) { return log_end_offsets(topic); },
            .mutation_quotas = &mutation_quotas_,
        };
        return decide(std::as_const(core_), context);
    }
    [[nodiscard]] catalog::CatalogSettings settings() const;
    [[nodiscard]] std::vector<Offset> log_end_offsets(const catalog::Topic& topic) const;
    [[nodiscard]] std::expected<void, StartError> adopt_found_topics(const Place& place, bool is_new, Now now) REQUIRES(mutex_);
    [[nodiscard]] bool set_initial_cluster_configs(Now now) REQUIRES(mutex_);

    [[nodiscard]] bool apply(Turn* turn, const catalog::Effects& effects, Now now) REQUIRES(mutex_);
    [[nodiscard]] bool write(const catalog::Effects& effects, Now now) REQUIRES(mutex_);
    /// Makes what was written visible: snapshot, settings, topic table; and tells of it.
    void follow(Turn* turn, const catalog::Effects& effects, const ClaimedTopics& claimed, Now now) REQUIRES(mutex_);
    void apply_change(TopicTable& table, const catalog::CatalogChange& change, const ClaimedTopics& claimed, Now now)
        REQUIRES(mutex_);
    void apply_config_change(const catalog::CatalogChange& change, TopicTable& table, Now now) REQUIRES(mutex_);
    /// A table in which the catalog changed nothing.
    void publish(std::shared_ptr<const TopicTable> table, Now now) REQUIRES(mutex_);

    config::CurrentConfig& config_;
    PublishedTopics& topics_;
    TopicStates& states_ GUARDED_BY(mutex_);
    UpkeepBell& upkeep_;
    std::string cluster_id_;
    std::unique_ptr<catalog::ConfigRules> rules_;
    /// Made by `load`, and the same from then on.
    std::unique_ptr<Partition> partition_;

    Mutex mutex_{LockRank::catalog};
    catalog::CatalogCore core_ GUARDED_BY(mutex_);
    catalog::MutationQuotas mutation_quotas_ GUARDED_BY(mutex_);
    ProducerId next_producer_id_ GUARDED_BY(mutex_){0};
    std::int64_t producer_ids_left_ GUARDED_BY(mutex_) = 0;
};

}  // namespace partita::runtime
