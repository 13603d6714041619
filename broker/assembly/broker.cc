#include "broker/assembly/broker.h"
#include "broker/insight/local/insight_steps.h"
#include "broker/logs/appender.h"
#include "broker/logs/read_request.h"
#include "broker/runtime/clients/client_steps.h"
#include "broker/runtime/coordinators/transaction_verification.h"
#include "broker/runtime/fences/fence_step.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "broker/assembly/addons.h"
#include "broker/assembly/first_users.h"
#include "broker/config/broker_rules.h"
#include "broker/config/current_config.h"
#include "broker/config/log_setup.h"
#include "broker/handlers/extensions.h"
#include "broker/insight/hub/findings_hub.h"
#include "broker/insight/local/catalog_switches.h"
#include "broker/insight/local/findings_topic.h"
#include "broker/insight/local/local_cluster.h"
#include "broker/insight/local/request_notes.h"
#include "broker/insight/local/watched_topics.h"
#include "broker/insight/shell/key_observer.h"
#include "broker/insight/shell/ownership_observer.h"
#include "broker/insight/shell/reader_observer.h"
#include "broker/logs/placement.h"
#include "broker/logs/published_topics.h"
#include "broker/logs/turns.h"
#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/catalog/own_changes.h"
#include "broker/runtime/catalog/token_sweep.h"
#include "broker/runtime/clients/acl_rules.h"
#include "broker/runtime/clients/client_fetch_sessions.h"
#include "broker/runtime/clients/client_throttles.h"
#include "broker/runtime/clients/connections.h"
#include "broker/runtime/clients/request_watch.h"
#include "broker/runtime/coordinators/coordinator_timers.h"
#include "broker/runtime/coordinators/group_cluster.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/coordinators/hanging_transactions.h"
#include "broker/runtime/coordinators/outward_writes.h"
#include "broker/runtime/coordinators/transaction_shards.h"
#include "broker/runtime/fences/fence_upkeep.h"
#include "broker/runtime/fences/fence_wakes.h"
#include "broker/runtime/fences/shown_partitions.h"
#include "broker/runtime/growth/expansions.h"
#include "broker/runtime/loop/counters.h"
#include "broker/runtime/loop/failure_log.h"
#include "broker/runtime/loop/upkeep_bell.h"
#include "broker/runtime/settings/group_settings.h"
#include "broker/runtime/settings/transaction_settings.h"
#include "broker/runtime/upkeep/background_sync.h"
#include "broker/runtime/upkeep/compactor.h"
#include "broker/runtime/upkeep/coordinator_rebuilds.h"
#include "broker/runtime/upkeep/directory_watch.h"
#include "broker/runtime/upkeep/keyed_logs.h"
#include "broker/runtime/upkeep/maintenance.h"
#include "broker/runtime/upkeep/retention.h"
#include "broker/runtime/upkeep/short_flushes.h"
#include "broker/runtime/upkeep/store_folds.h"
#include "protocol/assert.h"
#include "protocol/try.h"

namespace partita::runtime {

namespace {

/// Null when the config names no authorizer.
std::unique_ptr<AclRules> made_acl_rules(const config::BrokerConfig& config, const PublishedTopics& topics) {
    const auto settings = config::authorizer_settings(config.given());
    PARTITA_ASSERT(settings.has_value(), "the config was checked when it was made");
    if (!*settings) {
        return nullptr;
    }
    return std::make_unique<AclRules>(
        access::StandardSettings{.super_users = {(*settings)->super_users.begin(), (*settings)->super_users.end()},
                                 .allow_without_rules = (*settings)->allow_everyone_if_no_acl_found},
        topics);
}

}  // namespace

/// The upkeep worker with its tasks.
struct Broker::Upkeep {
    explicit Upkeep(Parts& parts);

    CoordinatorRebuilds rebuilds;
    ShortFlushes short_flushes;
    BackgroundSync background_sync;
    StoreFolds folds;
    Retention retention;
    TokenSweep token_sweep;
    Maintenance worker;
};

/// The steps that appends and reads pass, in their order.
struct Broker::Steps {
    Steps(Parts& parts, TopicStates& topics);

    TransactionVerification verification;
    RoleStep roles;
    insight::KeySampleStep key_samples;
    ProducerQuota producer_quota;
    AppendUsage append_usage;

    ConsumerQuota consumer_quota;
    insight::FencedReadStep fenced_reads;
    ReadUsage read_usage;
    insight::ReaderReportSteps reader_reports;
};

/// Each part is made of parts above it, and destroyed before them.
struct Broker::Parts {
    Parts(const Options& options, std::unique_ptr<Storage> opened, const std::atomic<bool>& is_ready);
    /// Names the coordinators, and joins the addons to the parts that are there by then.
    [[nodiscard]] handlers::Extensions join_addons();

    const Schedule schedule;
    std::unique_ptr<Storage> storage;
    config::CurrentConfig config;
    const logs::Placement placement;
    config::ConfigMap places;
    Counters counters;
    FailureLog failures;
    UpkeepBell upkeep;

    PublishedTopics topics;
    Turns turns;
    Connections connections;
    /// When an authorizer is configured.
    std::unique_ptr<AclRules> acl_rules;
    assembly::Addons addons;
    access::Authorizer authorizer;
    ClientThrottles throttles;
    RequestWatch requests;
    ClientFetchSessions fetch_sessions;
    insight::FindingsHub findings;

    GroupShards groups;
    GroupUpdates group_updates;
    CoordinatorHosts coordinators;
    OutwardWrites outward_writes;
    TransactionShards transactions;
    TransactionUpdates transaction_updates;
    OrphanedTransactions orphaned_transactions;
    CoordinatorTimers coordinator_timers;
    FenceFiles fence_files;
    Fences fences;
    FenceWakes fence_wakes;
    FenceUpkeep fence_upkeep;
    ShownPartitions shown_partitions;
    TopicStates topic_states;
    Catalog catalog;

    OwnChanges own_changes;
    const handlers::Extensions extensions;
    const insight::LocalCluster cluster;
    insight::CatalogSwitches producer_switches;
    insight::KeyObserver keys;
    const insight::LocalPlanSources plan_sources;
    insight::ReaderObserver readers;
    insight::WatchedTopicsChange watched_topics;
    insight::RequestNotes request_notes;
    insight::LocalHistories histories;
    insight::FindingsTopic findings_topic;
    insight::OwnershipObserver ownership_observer;
    Expansions expansions;
    ExpansionWorker expansion_worker;
    logs::Appender appender;
    logs::Reader reader;
    Steps steps;

    /// Once the catalog has its log.
    std::optional<KeyedLogs> keyed_logs;
    std::optional<Upkeep> maintenance;
    std::optional<Compactor> compactor;
    std::optional<DirectoryWatch> directory_watch;

    Services services;
};

Broker::Parts::Parts(const Options& options, std::unique_ptr<Storage> opened, const std::atomic<bool>& is_ready)
    : schedule(options.schedule),
      storage(std::move(opened)),
      config(options.config),
      placement(options.config->node_id, options.nodes),
      failures(schedule.clock),
      turns(topics, options.reactor_count, options.polling_max, schedule.clock),
      connections(schedule),
      acl_rules(made_acl_rules(*options.config, topics)),
      addons(*options.config),
      authorizer(addons.rules(acl_rules ? acl_rules.get() : options.access_rules)),
      throttles(quota_windows(*options.config)),
      fetch_sessions(static_cast<std::size_t>(std::max(0, options.config->max_incremental_fetch_session_cache_slots))),
      groups({turns, *storage->metadata_store, upkeep, failures}, group_settings(*config.get())),
      group_updates(groups, config),
      outward_writes(turns, topics, coordinators),
      transactions({turns, *storage->metadata_store, upkeep, failures, &outward_writes}, transaction_settings(*config.get(), 0)),
      transaction_updates(transactions, config),
      orphaned_transactions(outward_writes),
      coordinator_timers(coordinators, turns.first()),
      fence_files(storage->file_system, storage->directory),
      fences(fence_files, {groups, connections}, upkeep, longest_transaction_ms(*options.config)),
      fence_wakes(fences, topics, turns),
      fence_upkeep(fences, topics, findings),
      shown_partitions(groups),
      topic_states(config, *storage->logs, fences),
      catalog(config, topics, topic_states, upkeep),
      own_changes(turns, catalog, upkeep, failures),
      extensions(join_addons()),
      cluster({topics, groups, transactions, connections}),
      producer_switches(own_changes),
      keys(config, cluster, findings, producer_switches, schedule),
      plan_sources{cluster, keys, schedule.clock},
      readers(plan_sources.facts(), findings, schedule.executor),
      watched_topics(readers),
      request_notes(topics, keys.samples(), readers.reports()),
      histories(groups, extensions.ownership),
      findings_topic(config, topics, findings, own_changes),
      ownership_observer(cluster, histories, readers.reports().fenced_reads(), findings),
      expansions(plan_sources, catalog, fences, readers),
      expansion_worker(turns, schedule.executor, expansions),
      appender({*storage->flusher, counters, failures, upkeep}),
      reader(counters),
      steps(*this, topic_states),
      services{.placement = placement,
               .cluster_id = catalog.cluster_id(),
               .log_directory = storage->absolute_directory,
               .is_ready = is_ready,
               .places = places,
               .extensions = extensions,
               .config = config,
               .topics = topics,
               .turns = turns,
               .records = {appender, reader, turns, placement, fetch_sessions, config},
               .catalog = catalog,
               .groups = groups,
               .transactions = transactions,
               .outward_writes = outward_writes,
               .fences = fences,
               .fence_wakes = fence_wakes,
               .shown_partitions = shown_partitions,
               .expansions = expansions,
               .expansion_worker = expansion_worker,
               .connections = connections,
               .authorizer = authorizer,
               .throttles = throttles,
               .requests = requests,
               .fetch_sessions = fetch_sessions,
               .cluster = cluster,
               .request_notes = request_notes,
               .keys = keys,
               .readers = readers,
               .findings = findings,
               .flusher = *storage->flusher,
               .open_files = *storage->open_files,
               .clock = schedule.clock,
               .upkeep = upkeep,
               .counters = counters,
               .failures = failures} {
    groups.set_commit_listener(fence_wakes);
    outward_writes.set_marker_listener(fence_wakes);
    groups.set_transaction_commit_listener(request_notes);
    connections.set_listener(fence_wakes);
    // In this order: whoever coordinates is told last, when all others know what there is.
    for (TopicsListener* listener :
         std::initializer_list<TopicsListener*>{&throttles, &watched_topics, &group_updates, &transaction_updates, &turns,
                                                &fences, &fence_wakes, &coordinators, &orphaned_transactions}) {
        topics.add_listener(*listener);
    }
    turns.first_reactor().add_participant(coordinator_timers);
}

handlers::Extensions Broker::Parts::join_addons() {
    // Groups are loaded before those whose markers end what is pending in them.
    coordinators.add(catalog::CoordinatorKind::groups, groups);
    coordinators.add(catalog::CoordinatorKind::transactions, transactions);
    handlers::Extensions joined;
    addons.attach({.schedule = schedule,
                   .file_system = storage->file_system,
                   .metadata_store = *storage->metadata_store,
                   .config = config,
                   .topics = topics,
                   .turns = turns,
                   .coordinators = coordinators,
                   .own_changes = own_changes,
                   .findings = findings,
                   .upkeep = upkeep,
                   .failures = failures},
                  joined);
    return joined;
}

Broker::Steps::Steps(Parts& parts, TopicStates& topics)
    : verification(parts.transactions, parts.config),
      roles(parts.connections, parts.shown_partitions),
      key_samples(parts.request_notes),
      producer_quota(parts.throttles),
      consumer_quota(parts.throttles),
      fenced_reads(parts.readers.reports().fenced_reads()),
      reader_reports(parts.request_notes) {
    using logs::AppendPoint;
    using logs::ReadPoint;
    using logs::StepFor;
    logs::AppendSteps& appends = parts.appender.steps();
    appends.add(verification, {AppendPoint::admit}, StepFor::transactions);
    appends.add(roles, {AppendPoint::admit}, StepFor::first_of_connection);
    appends.add(key_samples, {AppendPoint::after_staging}, StepFor::every_request, &parts.keys.samples().gate());
    appends.add(producer_quota, {AppendPoint::settle}, StepFor::every_request,
                &parts.throttles.limited(Throttled::produced_bytes));
    appends.add(append_usage, {AppendPoint::tell}, StepFor::counted_clients);

    logs::ReadSteps& reads = parts.reader.steps();
    reads.add(roles, {ReadPoint::admit}, StepFor::first_of_connection);
    reads.add(consumer_quota, {ReadPoint::admit, ReadPoint::settle}, StepFor::every_request,
              &parts.throttles.limited(Throttled::fetched_bytes));
    reads.add(fenced_reads, {ReadPoint::on_found}, StepFor::every_request, &parts.readers.reports().fenced_reads().watching());
    reads.add(read_usage, {ReadPoint::tell}, StepFor::counted_clients);
    topics.add_step_source(reader_reports);
    parts.addons.add_steps(appends, reads);
}

// Clients wait for rebuilds, so these come first; short flushes ask the flusher before a fold keeps the worker.
Broker::Upkeep::Upkeep(Parts& parts)
    : rebuilds(parts.coordinators, *parts.keyed_logs),
      short_flushes(parts.topics, *parts.storage->logs, *parts.storage->flusher),
      background_sync(parts.config, *parts.storage->logs, *parts.storage->flusher, parts.upkeep),
      folds(*parts.storage->logs, *parts.keyed_logs, parts.upkeep),
      retention(parts.config, parts.topics, *parts.keyed_logs, parts.turns, parts.upkeep),
      token_sweep(parts.config, parts.topics, parts.own_changes),
      worker({&rebuilds, &short_flushes, &background_sync, &folds, &parts.fence_upkeep, &retention, &token_sweep,
              &parts.ownership_observer},
             parts.upkeep, parts.schedule) {}

Broker::Broker(const Options& options, std::unique_ptr<Storage> storage)
    : parts_(std::make_unique<Parts>(options, std::move(storage), is_ready_)) {}

Broker::~Broker() {
    stop_workers();
    parts_->storage->flusher.reset();
    // Requests that wait hold logs, which are closed with the storage.
    for (const auto& [kind, host] : parts_->coordinators.all()) {
        host->detach();
    }
    parts_->turns.clear();
}

std::expected<std::unique_ptr<Broker>, StartError> Broker::open(const Options& options) {
    PARTITA_TRY_ASSIGN(auto storage, Storage::open(*options.config, options.storage, options.schedule));
    std::unique_ptr<Broker> broker(new Broker(options, std::move(storage)));
    PARTITA_TRY(broker->load(options));
    return broker;
}

std::expected<void, StartError> Broker::load(const Options& options) {
    Parts& parts = *parts_;
    Storage& storage = *parts.storage;
    Clock& clock = parts.schedule.clock;  // Each part takes as long as the disk does.
    const Catalog::Place place = {storage.file_system, storage.directory, *storage.logs, *storage.metadata_store};
    PARTITA_TRY(parts.catalog.load(place, clock.now()));
    storage.flusher->sync_first(parts.catalog.own_log());
    parts.fences.load(clock.now().wall);
    PARTITA_TRY(parts.catalog.load_topics(place, clock.now()));
    PARTITA_TRY(make_first_users(*options.config, parts.catalog, clock.now()));
    parts.fences.finish_load();
    parts.addons.load(clock.now());
    const std::shared_ptr<const TopicTable> table = parts.topics.table();
    parts.group_updates.begin(*table);
    parts.transaction_updates.begin(*table);
    PARTITA_TRY(parts.coordinators.load(*table, storage.logs->announced_removals(), clock.now()));
    if (!parts.catalog.skip_producer_ids(parts.transactions.highest_producer_id(), clock.now())) {
        return std::unexpected(StartError{"the catalog cannot be written in " + place.directory});
    }
    end_hanging_transactions(*table, parts.transactions, parts.outward_writes, clock.now());
    if (!storage.logs->open_report().was_clean &&
        !parts.transactions.raise_epochs(epochs_in_logs(*table, parts.transactions.producer_ids()), clock.now())) {
        return std::unexpected(StartError{"epochs of producers cannot be written in " + place.directory});
    }
    parts.expansions.recover(storage.logs->open_report().was_clean, clock.now());

    parts.keyed_logs.emplace(parts.catalog.own_log(), parts.topics, *storage.metadata_store);
    parts.maintenance.emplace(parts);
    parts.compactor.emplace(parts.config, parts.topics, *storage.logs, *parts.keyed_logs, parts.schedule);
    if (options.watches_directory) {
        parts.directory_watch.emplace(parts.turns.first_reactor(), storage.absolute_directory, parts.topics);
    }
    return {};
}

Services& Broker::services() { return parts_->services; }

Storage& Broker::storage() { return *parts_->storage; }

void Broker::announce_addons() const { parts_->addons.announce(); }

void Broker::announce_places(const std::string& http) {
    parts_->places = {{"partita.http.advertised", http}, {"partita.data.directory", parts_->storage->absolute_directory}};
}

void Broker::start() {
    parts_->maintenance->worker.start(!parts_->storage->logs->open_report().was_clean);
    parts_->findings_topic.start();
    parts_->keys.start();
    parts_->readers.start();
    parts_->compactor->start();
    parts_->addons.start();
    if (parts_->directory_watch) {
        parts_->directory_watch->start();
    }
}

void Broker::answer_waiting_requests() {
    for (const auto& [kind, host] : parts_->coordinators.all()) {
        host->fail_waiting(parts_->turns.first());
    }
    parts_->turns.complete_all_fetches();
}

void Broker::stop_workers() {
    Parts& parts = *parts_;
    parts.expansion_worker.stop();
    parts.addons.stop();
    parts.connections.stop();
    parts.readers.stop();
    parts.keys.stop();
    parts.findings_topic.stop();
    if (parts.compactor) {
        parts.compactor->stop();
    }
    if (parts.maintenance) {
        parts.maintenance->worker.stop();
    }
}

bool Broker::close() {
    Parts& parts = *parts_;
    if (parts.directory_watch) {
        parts.directory_watch->stop();
    }
    stop_workers();
    parts.storage->flusher->drain();
    parts.maintenance->folds.fold(parts.schedule.clock.now().monotonic);
    parts.fence_upkeep.store_all();
    if (auto closed = parts.storage->logs->close(); !closed) {
        log::error("storage", "the clean stop failed, the next start recovers", {{"reason", closed.error().message}});
        return false;
    }
    return true;
}

}  // namespace partita::runtime
