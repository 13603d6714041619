#pragma once

#include <atomic>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "broker/assembly/ephemeral_directory.h"
#include "broker/config/broker_config.h"
#include "broker/config/log_setup.h"
#include "broker/fetch/fetch_sessions.h"
#include "broker/handlers/request_context.h"
#include "broker/runtime/clients/client_throttles.h"
#include "broker/runtime/clients/connections.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/growth/expansions.h"
#include "broker/runtime/insight/findings_hub.h"
#include "broker/runtime/insight/findings_topic.h"
#include "broker/runtime/insight/reader_observer.h"
#include "broker/runtime/loop/reactor.h"
#include "broker/runtime/partitions/topic_table.h"
#include "broker/runtime/partitions/turn.h"
#include "broker/runtime/upkeep/maintenance.h"
#include "broker/topics/catalog_core.h"
#include "broker/topics/mutation_quotas.h"
#include "storage/keyed_log_checkpoint.h"
#include "storage/log_directory.h"
#include "storage/log_flusher.h"
#include "storage/metadata_store.h"

namespace partita::runtime {

class KeyObserver;

/// The name of the log that holds the catalog. Not a topic: clients cannot see it.
inline constexpr std::string_view kCatalogLogName = "__partita_catalog";

/// Why the broker does not start: one line for the user, who can act on it.
struct StartError {
    std::string message;
};

/// Everything that the threads of a running broker share: settings, logs, catalog, coordinators.
///
/// Handlers run on reactor threads and call it from there; what may block on a device happens on the
/// flusher and maintenance threads. Locks of reactors are held for memory work and page-cache writes only. Order:
/// catalog before group shard before log; maintenance holds the metadata store's before a group shard's.
class Broker {
  public:
    struct Options {
        std::shared_ptr<const config::BrokerConfig> config;
        /// One per reactor that will run.
        std::size_t reactor_count = 1;
        /// The data directory lives in memory and is removed at the end.
        bool ephemeral = false;
        /// What logs and fences are written with, the real one when null. Tests let it fail. Outlives the broker.
        FileSystem* file_system = nullptr;
        /// LMDB has its files for itself: tests let it fail here.
        MetadataStoreOptions metadata_store;
    };

    /// Opens the data directory, recovers it and loads the catalog and coordinators. Blocks on the disk.
    [[nodiscard]] static std::expected<std::unique_ptr<Broker>, StartError> open(const Options& options);
    ~Broker();
    Broker(const Broker&) = delete;
    Broker& operator=(const Broker&) = delete;

    // Settings -----------------------------------------------------------------------------------

    [[nodiscard]] std::shared_ptr<const config::BrokerConfig> config() const;
    [[nodiscard]] BrokerId node_id() const { return node_id_; }
    [[nodiscard]] const std::string& cluster_id() const { return cluster_id_; }
    /// Where the logs lie, as an absolute path: the one log directory that clients are told of.
    [[nodiscard]] const std::string& absolute_log_directory() const { return absolute_log_directory_; }

    /// Where this broker has its HTTP side ("off" when there is none) and its data, for clients that ask for its settings:
    /// DescribeConfigs shows `partita.http.advertised`, unless that was given, and `partita.data.directory`. Said before a reactor runs.
    void announce_places(const std::string& http);
    /// The two; empty when they were not announced.
    [[nodiscard]] const config::ConfigMap& places() const { return places_; }

    // Threads ------------------------------------------------------------------------------------

    [[nodiscard]] std::vector<std::unique_ptr<Reactor>>& reactors() { return reactors_; }
    [[nodiscard]] std::vector<std::unique_ptr<Turn>>& turns() { return turns_; }
    void deliver(const ReplyTarget& target, Reply&& reply) { Reactor::deliver(reactors_, target, std::move(reply)); }
    /// Tells another reactor's waiting fetches of an append.
    void post_append(std::uint32_t reactor, fetch::PartitionKey partition, const fetch::FetchWaiters::Growth& growth);
    /// Tells every reactor's waiting fetches that the partition changed.
    void post_change(const Partition& partition);

    // Topics -------------------------------------------------------------------------------------

    [[nodiscard]] std::uint64_t topic_table_version() const { return topic_table_version_.load(std::memory_order_acquire); }
    [[nodiscard]] std::shared_ptr<const TopicTable> topic_table() const;

    /// Runs a command of the catalog and makes its outcome durable and visible, in this order. The reply
    /// may leave when this returned. Empty when the outcome could not be persisted: nothing changed,
    /// and the request is answered with a storage error.
    template <class Reply>
    [[nodiscard]] std::optional<Reply> change_catalog(
        Turn& turn, const std::function<topics::Decision<Reply>(const topics::CatalogCore&, const topics::CatalogContext&)>& decide) {
        const std::scoped_lock lock(catalog_mutex_);
        topics::Decision<Reply> decision = with_catalog_context(
            turn.now(), [&](const topics::CatalogContext& context) { return decide(*catalog_, context); });
        if (!decision.effects.empty() && !apply_catalog_effects(&turn, decision.effects, turn.now())) {
            return std::nullopt;
        }
        return std::move(decision.reply);
    }

    /// Decides on the catalog as it is now, and changes nothing.
    template <class Decide>
    auto look_at_catalog(Now now, Decide&& decide) {
        const std::scoped_lock lock(catalog_mutex_);
        return with_catalog_context(now, [&](const topics::CatalogContext& context) { return decide(*catalog_, context); });
    }
    /// Topics that are to be made or to grow, by id, with the logs of their new partitions.
    using ClaimedTopics = std::map<TopicId, std::shared_ptr<const TopicState>>;

    /// A change of the catalog for whoever takes steps of its own in between. Holds the catalog's lock: no disk is read, and
    /// nothing is done whose time grows with the groups or the other topics. In this order: decide, claim, write, publish.
    class CatalogSection {
      public:
        explicit CatalogSection(Broker& broker) : broker_(broker), lock_(broker.catalog_mutex_) {}

        [[nodiscard]] const topics::CatalogSnapshot& snapshot() const { return *broker_.catalog_->snapshot(); }
        template <class Decide>
        auto decide(Now now, Decide&& decide) {
            return broker_.with_catalog_context(
                now, [&](const topics::CatalogContext& context) { return decide(*broker_.catalog_, context); });
        }
        /// Gives the new partitions their logs. False when a directory is in the way that cannot be moved: nothing is claimed.
        [[nodiscard]] bool claim(const topics::Effects& effects) { return broker_.claim_partitions(effects, claimed_); }
        /// Until it was written.
        void release_claims() { broker_.release_partitions(claimed_); }
        [[nodiscard]] const TopicState& claimed(const TopicId& topic) const { return *claimed_.at(topic); }
        [[nodiscard]] bool write(const topics::Effects& effects, Now now) { return broker_.write_catalog_records(effects, now); }
        void publish(const topics::Effects& effects, Now now) { broker_.follow_catalog_effects(nullptr, effects, claimed_, now); }

      private:
        Broker& broker_;
        std::unique_lock<std::mutex> lock_;
        ClaimedTopics claimed_;
    };

    /// Random text that nobody had before, for member ids: a UUID in its usual form.
    [[nodiscard]] std::string random_uuid_text();
    /// A fresh producer id, never given out before.
    [[nodiscard]] std::optional<ProducerId> next_producer_id(Turn& turn);

    // Coordinators -------------------------------------------------------------------------------

    [[nodiscard]] GroupShards& groups() { return groups_; }
    [[nodiscard]] Expansions& expansions() { return expansions_; }
    /// The topic's growth is watched from now on, whatever its mode: for controls that need it. Null when there is no
    /// such topic.
    [[nodiscard]] std::shared_ptr<const TopicState> watch_expansion(std::string_view topic, Now now);
    /// Makes the consumers of a topic that is watched refresh their metadata.
    void nudge(const TopicState& topic, Now now);
    /// Creates `__consumer_offsets` when it is not there yet. False when that failed. Waits for no device.
    [[nodiscard]] bool ensure_offsets_topic(Turn& turn);

    /// Who is at the other end of connections.
    [[nodiscard]] Connections& connections() { return connections_; }
    /// From the thread of the connection's reactor, once for each that was accepted.
    void connection_closed(const ClientConnection& client);

    /// How fast clients may go.
    [[nodiscard]] ClientThrottles& throttles() { return throttles_; }

    // Reading ------------------------------------------------------------------------------------

    [[nodiscard]] std::mutex& fetch_sessions_mutex() { return fetch_sessions_mutex_; }
    [[nodiscard]] fetch::FetchSessions& fetch_sessions() { return fetch_sessions_; }

    // Insight ------------------------------------------------------------------------------------

    /// What holds at this moment about expansions, and who wants to hear of changes.
    [[nodiscard]] FindingsHub& findings() { return findings_; }
    /// What producers do with keys.
    [[nodiscard]] KeyObserver& key_observer() { return *key_observer_; }
    /// What consumers of topics that have grown ask for.
    [[nodiscard]] ReaderObserver& reader_observer() { return reader_observer_; }

    // Storage ------------------------------------------------------------------------------------

    [[nodiscard]] LogFlusher& flusher() { return *flusher_; }
    [[nodiscard]] LogDirectory& logs() { return *logs_; }
    [[nodiscard]] MetadataStore& metadata_store() { return *metadata_store_; }
    [[nodiscard]] OpenFiles& open_files() { return *open_files_; }
    [[nodiscard]] FileSystem& file_system() { return file_system_; }
    /// A device failed to make data durable: what the page cache holds can no longer be trusted. Ends the
    /// process without a clean mark, so that the next start recovers.
    [[noreturn]] void fail_stop(const StorageError& error);

    // Life ---------------------------------------------------------------------------------------

    [[nodiscard]] bool is_ready() const { return ready_.load(std::memory_order_acquire); }
    void set_ready(bool ready) { ready_.store(ready, std::memory_order_release); }
    void start_maintenance();
    /// Answers everything that waits in coordinators and fetches. On the first reactor's thread.
    void answer_waiting_requests();
    /// Writes everything out, closes the logs and leaves the clean mark. After all reactors stopped.
    [[nodiscard]] bool close();

    // Log lines ----------------------------------------------------------------------------------

    void log_closed_connection(const ClientConnection& client, std::string_view reason);
    void log_accept_failure(std::string_view reason);
    void log_storage_failure(std::string_view reason);
    void log_group_storage_failure(std::string_view log_name, std::string_view reason);

    /// Counters for /metrics.
    struct Counters {
        std::atomic<std::uint64_t> requests = 0;
        std::atomic<std::uint64_t> produced_bytes = 0;
        std::atomic<std::uint64_t> produced_records = 0;
        std::atomic<std::uint64_t> fetched_bytes = 0;
        std::atomic<std::uint64_t> failed_produces = 0;
        std::atomic<std::uint64_t> failed_fetches = 0;
        std::atomic<std::uint64_t> closed_for_bad_input = 0;
    };
    [[nodiscard]] Counters& counters() { return counters_; }

    /// A log start was moved by a client: it is checkpointed soon, so that a crash does not bring the
    /// records back.
    void log_start_moved();
    /// A coordinator could not write, and is to be rebuilt from its log.
    void coordinator_lost();
    /// Something was appended or removed: maintenance has work sooner or later. Cheap.
    void data_written();

    // For maintenance.
    /// Held by whoever writes to the metadata store: one at a time.
    [[nodiscard]] std::mutex& metadata_store_mutex() { return metadata_store_mutex_; }
    /// The logs whose meaning is the last value of each key, with checkpoints in the metadata store.
    [[nodiscard]] std::vector<std::shared_ptr<PartitionLog>> keyed_logs();
    void log_rewound_checkpoint(const PartitionLog& log, std::int64_t records);
    /// Frees what the metadata store has of topics that are no more. Blocks on the device.
    [[nodiscard]] StorageResult<void> forget_deleted_rows();
    [[nodiscard]] std::shared_ptr<PartitionLog> catalog_log() { return catalog_partition_->log; }

  private:
    explicit Broker(const Options& options);

    [[nodiscard]] std::expected<void, StartError> open_storage();
    /// What a log is called in the metadata store that an older version named by its directory.
    [[nodiscard]] std::string keyed_log_name_of(std::string_view directory) const;
    [[nodiscard]] std::expected<void, StartError> load_catalog();
    /// Takes topics into the catalog that a real Kafka left in the directory: of a new one always, of one that is ours
    /// already when the settings say so. See topic_adoption.cc.
    [[nodiscard]] std::expected<void, StartError> adopt_found_topics(bool is_new, Now now);
    [[nodiscard]] bool set_initial_cluster_configs(Now now);
    [[nodiscard]] std::expected<void, StartError> load_topics();
    [[nodiscard]] std::expected<void, StartError> load_groups();

    template <class Decide>
    auto with_catalog_context(Now now, Decide&& decide) {
        const topics::CatalogSettings settings = catalog_settings();
        const topics::CatalogContext context{
            .now = now,
            .settings = settings,
            .next_topic_id = [this] { return random_uuid(); },
            .log_end_offsets = [this](const topics::Topic& topic) { return log_end_offsets(topic); },
            .mutation_quotas = &mutation_quotas_,
        };
        return decide(context);
    }
    [[nodiscard]] groups::GroupConfig group_config() const;
    [[nodiscard]] topics::CatalogSettings catalog_settings() const;
    [[nodiscard]] std::vector<Offset> log_end_offsets(const topics::Topic& topic) const;
    [[nodiscard]] TopicId random_uuid();

    // With catalog_mutex_ held.
    [[nodiscard]] bool apply_catalog_effects(Turn* turn, const topics::Effects& effects, Now now);
    /// Before anything is written, so that what cannot be done is refused. False when a log cannot be had: none is claimed.
    [[nodiscard]] bool claim_partitions(const topics::Effects& effects, ClaimedTopics& claimed);
    void release_partitions(ClaimedTopics& claimed);
    [[nodiscard]] bool write_catalog_records(const topics::Effects& effects, Now now);
    /// Makes what was written visible: snapshot, topic table, logs, groups.
    void follow_catalog_effects(Turn* turn, const topics::Effects& effects, const ClaimedTopics& claimed, Now now);
    void delete_topic_state(Turn* turn, const topics::Topic& topic, const TopicTable& before, Now now);
    /// With the logs of partitions that `before` has not. Fails when one cannot be had: none is claimed then.
    [[nodiscard]] StorageResult<std::shared_ptr<const TopicState>> make_topic_state(const topics::TopicPointer& topic,
                                                                                    const TopicState* before);
    /// Of a topic that has all its partitions.
    [[nodiscard]] std::shared_ptr<const TopicState> remake_topic_state(const topics::TopicPointer& topic, const TopicState& before);
    [[nodiscard]] StorageResult<void> add_partitions(TopicState& state, const std::shared_ptr<const LogConfig>& log_config);
    void apply_change(TopicTable& table, const topics::CatalogChange& change, const ClaimedTopics& claimed);
    void apply_config_change(const topics::CatalogChange& change, TopicTable& table);
    void publish(std::shared_ptr<const TopicTable> table);

    std::shared_ptr<const config::BrokerConfig> config_;
    mutable std::mutex config_mutex_;
    const BrokerId node_id_;
    const bool ephemeral_;
    std::string cluster_id_;
    std::optional<EphemeralDirectory> ephemeral_directory_;
    std::string data_directory_;
    std::string absolute_log_directory_;
    config::ConfigMap places_;
    std::atomic<bool> ready_ = false;
    Counters counters_;
    log::RateLimiter rate_limiter_;

    PosixFileSystem real_file_system_;
    FileSystem& file_system_;
    const MetadataStoreOptions metadata_store_options_;
    std::unique_ptr<OpenFiles> open_files_;
    std::unique_ptr<LogDirectory> logs_;
    std::unique_ptr<MetadataStore> metadata_store_;
    std::mutex metadata_store_mutex_;
    std::unique_ptr<LogFlusher> flusher_;

    std::unique_ptr<topics::ConfigRules> config_rules_;
    std::mutex catalog_mutex_;
    // Guarded by catalog_mutex_.
    std::unique_ptr<topics::CatalogCore> catalog_;
    std::unique_ptr<Partition> catalog_partition_;
    ProducerId next_producer_id_{0};
    std::int64_t producer_ids_left_ = 0;

    std::atomic<std::uint64_t> next_partition_key_ = 1;
    mutable std::mutex topic_table_mutex_;
    // Guarded by topic_table_mutex_.
    std::shared_ptr<const TopicTable> topic_table_;
    std::atomic<std::uint64_t> topic_table_version_ = 0;

    GroupShards groups_;
    Expansions expansions_;
    // Guarded by catalog_mutex_.
    topics::MutationQuotas mutation_quotas_;
    ClientThrottles throttles_;
    std::mutex fetch_sessions_mutex_;
    // Guarded by fetch_sessions_mutex_.
    fetch::FetchSessions fetch_sessions_;

    std::vector<std::unique_ptr<Reactor>> reactors_;
    std::vector<std::unique_ptr<Turn>> turns_;
    std::unique_ptr<Maintenance> maintenance_;
    FindingsHub findings_;
    std::unique_ptr<KeyObserver> key_observer_;
    ReaderObserver reader_observer_{*this, findings_};
    FindingsTopic findings_topic_{*this};
    Connections connections_{*this};
};

}  // namespace partita::runtime
