#include "broker/assembly/broker.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include "broker/assembly/repair_hints.h"
#include "broker/runtime/catalog/config_rules.h"
#include "broker/runtime/catalog/topic_adoption.h"
#include "broker/runtime/coordinators/group_cluster.h"
#include "broker/runtime/insight/key_observer.h"
#include "broker/runtime/loop/clock.h"
#include "broker/topics/features.h"
#include "protocol/assert.h"
#include "protocol/random_bytes.h"

namespace partita::runtime {
namespace {

/// The catalog's log is no topic; its fixed id only tells its directory from a topic's.
constexpr TopicId kCatalogLogId{{'p', 'a', 'r', 't', 'i', 't', 'a', '-', 'c', 'a', 't', 'a', 'l', 'o', 'g', 1}};

std::size_t descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return 1024;
    }
    if (limit.rlim_cur < limit.rlim_max) {
        rlimit raised = limit;
        raised.rlim_cur = limit.rlim_max;
        if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) {
            limit = raised;
        }
    }
    return static_cast<std::size_t>(limit.rlim_cur);
}

/// The kernel doubles a process's table of descriptors as it fills, and once there are threads every doubling (the 64th
/// descriptor, the 128th, ...) keeps the one who opened that file, or accepted that connection, waiting for a grace period of
/// RCU: 7 to 13 ms. So it gets its size while there is one thread: 8 bytes of kernel memory for each place.
void grow_descriptor_table() {
    constexpr std::size_t kPlaces = 4096;
    const auto last = static_cast<int>(std::min(descriptor_limit(), kPlaces)) - 1;
    const int any = ::open("/", O_PATH | O_CLOEXEC);
    if (const int placed = ::fcntl(any, F_DUPFD_CLOEXEC, last); placed >= 0) {
        ::close(placed);
    }
    if (any >= 0) {
        ::close(any);
    }
}

/// Three of eight descriptors are for log files, the rest for connections and everything else.
std::size_t open_file_limit() {
    constexpr std::size_t kFewest = 16;
    constexpr std::size_t kMost = 100'000;
    return std::clamp(descriptor_limit() * 3 / 8, kFewest, kMost);
}

/// How many seconds of its rate a client may use at once.
std::int64_t quota_seconds(const config::BrokerConfig& config) {
    return std::int64_t{std::get<std::int32_t>(config.value("controller.quota.window.num"))} *
           std::get<std::int32_t>(config.value("controller.quota.window.size.seconds"));
}

}  // namespace

Broker::Broker(const Options& options)
    : config_(options.config), node_id_(options.config->node_id), ephemeral_(options.ephemeral),
      file_system_(options.file_system == nullptr ? real_file_system_ : *options.file_system),
      metadata_store_options_(options.metadata_store), groups_(*this), expansions_(*this),
      mutation_quotas_(quota_seconds(*options.config)), throttles_(quota_windows(*options.config)),
      fetch_sessions_(static_cast<std::size_t>(std::max(0, options.config->max_incremental_fetch_session_cache_slots))) {
    PARTITA_ASSERT(options.reactor_count >= 1 && options.reactor_count <= Partition::kReactorsMax,
                   "one bit per reactor");
    for (std::uint32_t index = 0; index < options.reactor_count; ++index) {
        reactors_.push_back(std::make_unique<Reactor>(index));
        turns_.push_back(std::make_unique<Turn>(*this, *reactors_.back()));
        reactors_.back()->add_participant(*turns_.back());
    }
    config_rules_ = std::make_unique<DefinedConfigRules>([this] { return config(); });
    catalog_ = std::make_unique<topics::CatalogCore>(*config_rules_);
    maintenance_ = std::make_unique<Maintenance>(*this);
    key_observer_ = std::make_unique<KeyObserver>(*this, findings_);
}

Broker::~Broker() {
    expansions_.stop();
    reader_observer_.stop();
    key_observer_->stop();
    findings_topic_.stop();
    maintenance_->stop();
    flusher_.reset();
    metadata_store_.reset();
    groups_.detach();
    topic_table_.reset();
    turns_.clear();
    catalog_partition_.reset();
    logs_.reset();
    ephemeral_directory_.reset();
}

std::expected<std::unique_ptr<Broker>, StartError> Broker::open(const Options& options) {
    std::unique_ptr<Broker> broker(new Broker(options));
    if (auto done = broker->open_storage(); !done) {
        return std::unexpected(done.error());
    }
    if (auto done = broker->load_catalog(); !done) {
        return std::unexpected(done.error());
    }
    if (auto done = broker->load_topics(); !done) {
        return std::unexpected(done.error());
    }
    if (auto done = broker->load_groups(); !done) {
        return std::unexpected(done.error());
    }
    broker->expansions_.recover(broker->logs_->open_report().was_clean, read_clock());
    return broker;
}

std::expected<void, StartError> Broker::open_storage() {
    data_directory_ = config_->log_dirs.front();
    if (ephemeral_) {
        const std::string parents[] = {"/dev/shm", "/tmp"};
        auto created = EphemeralDirectory::create(parents);
        if (!created) {
            return std::unexpected(StartError{"no memory-backed directory for --ephemeral: neither /dev/shm nor /tmp is writable"});
        }
        if (created->swept > 0) {
            log::info("storage", "what killed ephemeral brokers left is removed", {{"directories", created->swept}});
        }
        ephemeral_directory_.emplace(std::move(created->directory));
        data_directory_ = ephemeral_directory_->path();
    }
    if (config_->log_dirs.size() > 1) {
        log::warning("storage", "only the first of several log.dirs is used", {{"directory", data_directory_}});
    }
    grow_descriptor_table();
    open_files_ = std::make_unique<OpenFiles>(file_system_, open_file_limit());
    LogDirectory::Options directory_options;
    directory_options.recovery_threads = static_cast<std::size_t>(std::max(1, config_->num_recovery_threads_per_data_dir));
    directory_options.default_config = std::make_shared<const LogConfig>();
    directory_options.now = read_clock().wall;
    auto logs = LogDirectory::open(file_system_, *open_files_, data_directory_, directory_options);
    if (!logs) {
        return std::unexpected(StartError{with_repair_hint(logs.error())});
    }
    logs_ = std::move(*logs);
    std::error_code unknown;
    absolute_log_directory_ = std::filesystem::absolute(data_directory_, unknown).lexically_normal().string();
    while (absolute_log_directory_.size() > 1 && absolute_log_directory_.ends_with('/')) {
        absolute_log_directory_.pop_back();
    }
    const LogDirectory::OpenReport& report = logs_->open_report();
    for (const RecoveryReport& partition : report.partitions) {
        if (partition.cut_bytes > 0 && partition.set_aside.empty() && partition.cut_kind == CutKind::zeros) {
            // What lay ready behind a log that is synced often, as a rule.
            log::info("recovery", "zeros behind the records were cut off",
                      {{"partition", partition.directory},
                       {"segment", partition.cut_segment},
                       {"position", partition.cut_position},
                       {"bytes", partition.cut_bytes}});
        } else if (partition.cut_bytes > 0) {
            log::warning("recovery", "a damaged tail was cut off",
                         {{"partition", partition.directory},
                          {"segment", partition.cut_segment},
                          {"position", partition.cut_position},
                          {"bytes", partition.cut_bytes},
                          {"reason", partition.cut_reason},
                          {"set_aside", partition.set_aside.empty() ? "nothing" : partition.set_aside.front()}});
        }
    }
    for (const auto& [directory, error] : report.failed) {
        log::error("recovery", "a partition's directory cannot be opened and is not served",
                   {{"directory", directory}, {"reason", error.message}});
    }
    if (!report.was_clean && !report.partitions.empty()) {
        std::uint64_t scanned = 0;
        for (const RecoveryReport& partition : report.partitions) {
            scanned += partition.scanned_bytes;
        }
        log::info("recovery", "recovered after an unclean stop",
                  {{"partitions", report.partitions.size()}, {"scanned_bytes", scanned}});
    }
    MetadataStoreOptions store_options = metadata_store_options_;
    store_options.upgraded_name = [this](std::string_view directory) { return keyed_log_name_of(directory); };
    auto store = MetadataStore::open(data_directory_ + "/partita-metadata", store_options);
    if (!store) {
        return std::unexpected(StartError{with_repair_hint(store.error())});
    }
    metadata_store_ = std::move(*store);
    flusher_ = std::make_unique<LogFlusher>();
    return {};
}

std::string Broker::keyed_log_name_of(std::string_view directory) const {
    if (directory == std::string(kCatalogLogName) + "-0") {
        return keyed_log_name(directory, kCatalogLogId);
    }
    for (const LogDirectory::Unclaimed& found : logs_->unclaimed()) {
        if (directory == found.topic + "-" + std::to_string(found.partition.value)) {
            return keyed_log_name(directory, found.topic_id);
        }
    }
    return std::string(directory);
}

std::expected<void, StartError> Broker::load_catalog() {
    auto log_topic = std::make_shared<const LogTopic>(LogTopic{std::string(kCatalogLogName), kCatalogLogId});
    auto log_config = std::make_shared<LogConfig>();
    log_config->delete_old_segments = false;
    auto log = logs_->claim(log_topic, PartitionIndex{0}, log_config);
    if (!log) {
        return std::unexpected(StartError{log.error().message});
    }
    catalog_partition_ = std::make_unique<Partition>(std::move(*log), fetch::PartitionKey{0});

    const auto visit = [&](const KeyedRecord& record) -> StorageResult<void> {
        if (auto done = catalog_->replay(record.key, record.value); !done) {
            return std::unexpected(corrupt_error(catalog_partition_->log->directory_path(), done.error().message));
        }
        return {};
    };
    const auto replayed = replay_keyed_log(*catalog_partition_->log, *metadata_store_, visit);
    if (!replayed) {
        return std::unexpected(StartError{with_repair_hint(replayed.error())});
    }
    log_rewound_checkpoint(*catalog_partition_->log, replayed->rewound_records);
    if (auto done = catalog_->finish_replay(); !done) {
        return std::unexpected(StartError{"the catalog cannot be read: " + done.error().message});
    }
    auto empty = std::make_shared<TopicTable>();
    empty->catalog = catalog_->snapshot();
    publish(empty);

    const Now now = read_clock();
    const bool is_new = catalog_->snapshot()->cluster_id().empty();
    std::string fresh_cluster_id = kafka_cluster_id(file_system_, data_directory_).value_or(random_uuid().to_string());
    if (const auto given = config_->given().find("partita.cluster.id"); given != config_->given().end()) {
        if (Uuid parsed; !Uuid::parse(given->second, parsed)) {
            return std::unexpected(StartError{"partita.cluster.id (CLUSTER_ID) is " + given->second +
                                              "; it must be a UUID of 22 characters, as kafka-storage random-uuid gives"});
        }
        fresh_cluster_id = given->second;
    }
    // Before the catalog has a cluster id, so that a start that is interrupted here begins anew.
    if (auto adopted = adopt_found_topics(is_new, now); !adopted) {
        return adopted;
    }
    const topics::Decision<topics::InitialiseReply> decision =
        with_catalog_context(now, [&](const topics::CatalogContext& context) {
            return catalog_->initialise(
                fresh_cluster_id, topics::started_features(catalog_->snapshot()->finalized_features()), context);
        });
    if ((!decision.effects.empty() && !apply_catalog_effects(nullptr, decision.effects, now)) ||
        (is_new && !set_initial_cluster_configs(now))) {
        return std::unexpected(StartError{"the catalog cannot be written in " + data_directory_ +
                                          "; free some space or check the directory's permissions"});
    }
    cluster_id_ = decision.reply.cluster_id;
    return {};
}

bool Broker::set_initial_cluster_configs(Now now) {
    const config::ConfigMap initial = config::initial_cluster_default_configs();
    topics::IncrementalAlterConfigsCommand command;
    topics::ResourceToAlter& resource = command.resources.emplace_back();
    resource.resource = {topics::ConfigResourceType::broker, ""};
    for (const auto& [name, value] : initial) {
        resource.changes.push_back({.name = name, .operation = 0, .value = value});
    }
    const auto decision = with_catalog_context(now, [&](const topics::CatalogContext& context) {
        return catalog_->incremental_alter_configs(command, context);
    });
    PARTITA_ASSERT(!decision.reply.resources.front().error.failed(), "the configs of a new cluster are valid");
    return decision.effects.empty() || apply_catalog_effects(nullptr, decision.effects, now);
}

void Broker::log_rewound_checkpoint(const PartitionLog& log, std::int64_t records) {
    if (records > 0) {
        log::warning("recovery", "a checkpoint knows more than its log, which must have lost its end",
                     {{"log", log.directory_name()}, {"records", records}});
    }
}

std::expected<void, StartError> Broker::load_topics() {
    const topics::CatalogPointer catalog = catalog_->snapshot();
    auto dynamic = config_->with_dynamic(
        {.cluster_default = catalog->default_broker_configs(), .this_broker = catalog->broker_configs(node_id_)});
    if (!dynamic) {
        return std::unexpected(StartError{"dynamic broker configs do not apply: " + dynamic.error().message});
    }
    config_ = std::make_shared<const config::BrokerConfig>(std::move(*dynamic));
    expansions_.load_fences(data_directory_);
    auto table = std::make_shared<TopicTable>();
    table->catalog = catalog;
    for (const auto& [directory, error] : logs_->open_report().failed) {
        const std::size_t dash = directory.rfind('-');
        if (catalog->find_topic(std::string_view(directory).substr(0, dash)) != nullptr) {
            return std::unexpected(StartError{"the partition " + directory + " cannot be opened: " + error.message +
                                              "; nothing of it was changed"});
        }
    }
    for (const topics::Topic& topic : catalog->topics()) {
        auto state = make_topic_state(catalog->share_topic(topic.id), nullptr);
        if (!state) {
            return std::unexpected(StartError{"a partition of " + topic.name + " cannot be opened: " + state.error().message +
                                              "; nothing of it was changed"});
        }
        table->put(std::move(*state));
    }
    publish(std::move(table));
    if (auto removed = logs_->remove_announced(); !removed) {
        log::warning("recovery", "an interrupted deletion cannot be finished", {{"reason", removed.error().message}});
    }
    for (const LogDirectory::Unclaimed& unclaimed : logs_->unclaimed()) {
        if (unclaimed.topic != topics::kClusterMetadataTopicName) {
            log::warning("recovery", "a directory belongs to no topic of the catalog and is left alone",
                         {{"directory", unclaimed.topic + "-" + std::to_string(unclaimed.partition.value)},
                          {"if_it_holds_records", "start once with --override partita.adopt.directories=true"}});
        }
    }
    return {};
}

std::expected<void, StartError> Broker::load_groups() {
    groups_.cluster_changed(std::make_shared<GroupCluster>(topic_table()->catalog, config()->broker_rack.value_or(""),
                                                           hidden_from_consumers(*topic_table())),
                            true);
    const TopicState* offsets = topic_table()->find(topics::kOffsetsTopicName);
    if (offsets == nullptr) {
        return {};
    }
    (void)groups_.attach(offsets->partitions, group_config());
    if (auto loaded = groups_.load(read_clock()); !loaded) {
        return std::unexpected(StartError{"committed offsets cannot be loaded: " + loaded.error().message});
    }
    return {};
}

groups::GroupConfig Broker::group_config() const {
    const auto config = this->config();
    groups::GroupConfig groups;
    groups.min_session_timeout_ms = config->group_min_session_timeout_ms;
    groups.max_session_timeout_ms = config->group_max_session_timeout_ms;
    groups.initial_rebalance_delay_ms = config->group_initial_rebalance_delay_ms;
    groups.max_size = config->group_max_size;
    groups.offset_metadata_max_bytes = config->offset_metadata_max_bytes;
    groups.offsets_retention_ms = std::int64_t{config->offsets_retention_minutes} * 60'000;
    groups.offsets_retention_check_interval_ms = config->offsets_retention_check_interval_ms;
    groups.consumer_session_timeout_ms = config->group_consumer_session_timeout_ms;
    groups.consumer_heartbeat_interval_ms = config->group_consumer_heartbeat_interval_ms;
    groups.consumer_max_size = config->group_consumer_max_size;
    groups.consumer_assignment_interval_ms = config->group_consumer_assignment_interval_ms;
    groups.consumer_regex_refresh_interval_ms = config->group_consumer_regex_refresh_interval_ms;
    groups.migration_policy = groups::migration_policy(config->group_consumer_migration_policy);
    groups.consumer_assignors = config->group_consumer_assignors;
    return groups;
}

void Broker::announce_places(const std::string& http) {
    places_ = {{"partita.http.advertised", http}, {"partita.data.directory", absolute_log_directory_}};
}

std::shared_ptr<const config::BrokerConfig> Broker::config() const {
    const std::scoped_lock lock(config_mutex_);
    return config_;
}

TopicId Broker::random_uuid() {
    TopicId id = random_value<TopicId>();
    // Version 4, variant 1 of RFC 4122.
    id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0f) | 0x40);
    id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3f) | 0x80);
    return id;
}

std::string Broker::random_uuid_text() {
    const TopicId id = random_uuid();
    constexpr std::string_view kHexDigits = "0123456789abcdef";
    std::string text;
    text.reserve(36);
    for (std::size_t i = 0; i < id.bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            text.push_back('-');
        }
        text.push_back(kHexDigits[id.bytes[i] >> 4]);
        text.push_back(kHexDigits[id.bytes[i] & 0x0f]);
    }
    return text;
}

void Broker::post_append(std::uint32_t reactor, fetch::PartitionKey partition, const fetch::FetchWaiters::Growth& growth) {
    Turn& turn = *turns_[reactor];
    reactors_[reactor]->post([&turn, partition, growth] { turn.on_foreign_append(partition, growth); });
}

void Broker::post_change(const Partition& partition) {
    std::uint64_t waiting = partition.waiting_reactors.load(std::memory_order_seq_cst);
    for (std::size_t index = 0; waiting != 0; ++index, waiting >>= 1) {
        if ((waiting & 1) != 0) {
            Turn& turn = *turns_[index];
            reactors_[index]->post([&turn, key = partition.key] { turn.on_change(key); });
        }
    }
}

void Broker::data_written() { maintenance_->wake(); }

void Broker::log_start_moved() { maintenance_->checkpoint_soon(); }

void Broker::coordinator_lost() { maintenance_->rebuild_coordinators_soon(); }

StorageResult<void> Broker::forget_deleted_rows() {
    const std::scoped_lock lock(metadata_store_mutex_);
    const auto names = metadata_store_->logs();
    if (!names) {
        return std::unexpected(names.error());
    }
    // Whatever is created from here on has no rows before the next fold, which this thread makes.
    const std::shared_ptr<const TopicTable> table = topic_table();
    for (const std::string& name : *names) {
        const std::optional<TopicId> topic = topic_of_keyed_log(name);
        if (topic && *topic != kCatalogLogId && table->share(*topic) == nullptr) {
            if (auto done = metadata_store_->forget(name); !done) {
                return done;
            }
        }
    }
    return {};
}

void Broker::fail_stop(const StorageError& error) {
    log::error("storage", "storage failed; the broker stops, and recovers what is safe at its next start",
               {{"reason", error.message}});
    std::_Exit(1);
}

void Broker::start_maintenance() {
    maintenance_->start();
    findings_topic_.start();
    key_observer_->start();
    reader_observer_.start();
}

void Broker::answer_waiting_requests() {
    groups_.fail_waiting(*turns_.front());
    for (std::size_t index = 0; index < reactors_.size(); ++index) {
        Turn& turn = *turns_[index];
        reactors_[index]->post([&turn] { turn.complete_all_fetches(); });
    }
}

void Broker::connection_closed(const ClientConnection& client) {
    const bool is_known = client.noted_producer || client.noted_consumer || client.noted_member != 0;
    if (!is_known) {
        return;
    }
    for (const std::weak_ptr<TopicExpansion>& told : client.expansions) {
        if (const std::shared_ptr<TopicExpansion> expansion = told.lock()) {
            expansion->on_connection_closed(client.id);
        }
    }
    if (client.noted_producer) {
        key_observer_->connection_closed(client.id);
    }
    connections_.closed(client.id);
}

bool Broker::close() {
    expansions_.stop();
    connections_.stop();
    reader_observer_.stop();
    key_observer_->stop();
    findings_topic_.stop();
    maintenance_->stop();
    flusher_->drain();
    maintenance_->fold();
    expansions_.store_all();
    if (auto closed = logs_->close(); !closed) {
        log::error("storage", "the clean stop failed, the next start recovers", {{"reason", closed.error().message}});
        return false;
    }
    return true;
}

std::vector<std::shared_ptr<PartitionLog>> Broker::keyed_logs() {
    std::vector<std::shared_ptr<PartitionLog>> logs;
    logs.push_back(catalog_partition_->log);
    if (const TopicState* offsets = topic_table()->find(topics::kOffsetsTopicName)) {
        for (const std::shared_ptr<Partition>& partition : offsets->partitions) {
            if (partition->log->has_files()) {
                logs.push_back(partition->log);
            }
        }
    }
    return logs;
}

void Broker::log_closed_connection(const ClientConnection& client, std::string_view reason) {
    counters_.closed_for_bad_input.fetch_add(1, std::memory_order_relaxed);
    // Numbers in the reason are a stranger's choice; what stands before them names it.
    const std::string_view kind = reason.substr(0, reason.find_first_of("0123456789"));
    if (const auto left_out = rate_limiter_.admit(kind, read_clock().monotonic)) {
        log::warning("net", "connection closed",
                     {{"client", client.host + ":" + std::to_string(client.port)},
                      {"listener", client.listener->name},
                      {"reason", reason},
                      {"left_out", *left_out}});
    }
}

void Broker::log_storage_failure(std::string_view reason) {
    if (const auto left_out = rate_limiter_.admit("append failed", read_clock().monotonic)) {
        log::error("storage", "an append failed; the producer is told KAFKA_STORAGE_ERROR and may try again",
                   {{"reason", reason}, {"left_out", *left_out}});
    }
}

void Broker::log_group_storage_failure(std::string_view log_name, std::string_view reason) {
    if (const auto left_out = rate_limiter_.admit("group append failed", read_clock().monotonic)) {
        log::error("groups", "records cannot be written, the coordinator starts anew from its log",
                   {{"log", log_name}, {"reason", reason}, {"left_out", *left_out}});
    }
}

void Broker::log_accept_failure(std::string_view reason) {
    if (const auto left_out = rate_limiter_.admit("accept failed", read_clock().monotonic)) {
        log::warning("net", "connections cannot be accepted for a moment", {{"reason", reason}, {"left_out", *left_out}});
    }
}

}  // namespace partita::runtime
