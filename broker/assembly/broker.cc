#include "broker/assembly/broker.h"
#include "broker/insight/local/insight_steps.h"
#include "broker/logs/appender.h"
#include "broker/logs/read_request.h"
#include "broker/runtime/clients/client_steps.h"
#include "broker/runtime/coordinators/verification_step.h"
#include "broker/runtime/fences/fence_step.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "broker/assembly/addons.h"
#include "broker/assembly/coordination.h"
#include "broker/assembly/fencing.h"
#include "broker/assembly/first_topics.h"
#include "broker/assembly/first_users.h"
#include "broker/assembly/watching.h"
#include "broker/config/broker_rules.h"
#include "broker/config/current_config.h"
#include "broker/config/log_setup.h"
#include "broker/handlers/extensions.h"
#include "broker/insight/hub/findings_hub.h"
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
#include "broker/runtime/coordinators/hanging_transactions.h"
#include "broker/runtime/growth/expansions.h"
#include "broker/runtime/loop/counters.h"
#include "broker/runtime/loop/failure_log.h"
#include "broker/runtime/loop/upkeep_bell.h"
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

namespace partita::assembly {

namespace {

/// Null if the config names no authorizer.
std::unique_ptr<runtime::AclRules> made_acl_rules(const config::BrokerConfig& config, const logs::PublishedTopics& topics) {
    const auto settings = config::authorizer_settings(config.given());
    PARTITA_ASSERT(settings.has_value(), "the config was checked when it was made");
    if (!*settings) {
        return nullptr;
    }
    return std::make_unique<runtime::AclRules>(
        access::StandardSettings{.super_users = {(*settings)->super_users.begin(), (*settings)->super_users.end()},
                                 .allow_without_rules = (*settings)->allow_everyone_if_no_acl_found},
        topics);
}

}  // namespace

/// The upkeep worker with its tasks, and the parts that look after the data beside it.
struct Broker::Upkeep {
    Upkeep(Parts& parts, bool watches_directory);

    runtime::KeyedLogs keyed_logs;
    runtime::CoordinatorRebuilds rebuilds;
    runtime::ShortFlushes short_flushes;
    runtime::BackgroundSync background_sync;
    runtime::StoreFolds folds;
    runtime::Retention retention;
    runtime::TokenSweep token_sweep;
    runtime::Maintenance worker;
    runtime::Compactor compactor;
    std::optional<runtime::DirectoryWatch> directory_watch;
};

/// The parts that write and read clients' records, and the steps of appends and reads, in their order.
struct Broker::Records {
    Records(Parts& parts, runtime::TopicStates& topics);

    runtime::ClientFetchSessions fetch_sessions;
    logs::Appender appender;
    logs::Reader reader;

    runtime::VerificationStep verification;
    runtime::RoleStep roles;
    insight::KeySampleStep key_samples;
    runtime::ProducerQuota producer_quota;
    runtime::AppendUsage append_usage;

    runtime::ConsumerQuota consumer_quota;
    insight::FencedReadStep fenced_reads;
    runtime::ReadUsage read_usage;
    insight::ReaderReportSteps reader_reports;
};

/// Each part uses only parts above it, and is destroyed before them.
struct Broker::Parts {
    Parts(const Options& options, std::unique_ptr<Storage> opened, const std::atomic<bool>& is_ready);
    /// Joins the addons to the parts that exist by then.
    [[nodiscard]] handlers::Extensions join_addons();
    [[nodiscard]] runtime::Services services_for_requests(const std::atomic<bool>& is_ready);

    const Schedule schedule;
    std::unique_ptr<Storage> storage;
    const ChangeData change_data;
    config::CurrentConfig config;
    logs::Placement placement;
    config::ConfigMap places;
    runtime::Counters counters;
    runtime::FailureLog failures;
    runtime::UpkeepBell upkeep;

    logs::PublishedTopics topics;
    logs::Turns turns;
    runtime::Connections connections;
    /// Set if an authorizer is configured.
    std::unique_ptr<runtime::AclRules> acl_rules;
    assembly::Addons addons;
    access::Authorizer authorizer;
    runtime::ClientThrottles throttles;
    runtime::RequestWatch requests;
    insight::FindingsHub findings;

    Coordination coordination;
    Fencing fencing;
    runtime::TopicStates topic_states;
    runtime::Catalog catalog;

    runtime::OwnChanges own_changes;
    const handlers::Extensions extensions;
    Watching watching;
    runtime::Expansions expansions;
    runtime::ExpansionWorker expansion_worker;
    Records records;

    /// Set once the catalog has its log.
    std::optional<Upkeep> maintenance;

    const runtime::Services services;
};

Broker::Parts::Parts(const Options& options, std::unique_ptr<Storage> opened, const std::atomic<bool>& is_ready)
    : schedule(options.schedule),
      storage(std::move(opened)),
      change_data(options.change_data),
      config(options.config),
      placement(options.config->node_id, options.nodes),
      failures(schedule.clock),
      turns(topics, options.reactor_count, options.polling_max, schedule.clock),
      connections(schedule),
      acl_rules(made_acl_rules(*options.config, topics)),
      addons(*options.config),
      authorizer(addons.rules(acl_rules ? acl_rules.get() : options.access_rules)),
      throttles(runtime::quota_windows(*options.config)),
      coordination(turns, topics, *storage->metadata_store, config, upkeep, failures),
      fencing(*storage, coordination.groups, connections, topics, turns, findings, upkeep,
              runtime::longest_transaction_ms(*options.config)),
      topic_states(config, *storage->logs, fencing.fences),
      catalog(config, topics, topic_states, placement, upkeep),
      own_changes(turns, catalog, upkeep, failures),
      extensions(join_addons()),
      watching(topics, coordination.groups, coordination.transactions, connections, config, findings, own_changes,
               extensions.ownership, schedule),
      expansions(watching.plan_sources, catalog, fencing.fences, watching.readers),
      expansion_worker(turns, schedule.executor, expansions),
      records(*this, topic_states),
      services(services_for_requests(is_ready)) {
    coordination.groups.set_commit_listener(fencing.wakes);
    coordination.outward_writes.set_marker_listener(fencing.wakes);
    coordination.groups.set_transaction_commit_listener(watching.request_notes);
    connections.set_listener(fencing.wakes);
    // In this order: coordinators come last, when all others know which topics exist.
    for (logs::TopicsListener* listener : std::initializer_list<logs::TopicsListener*>{
             &throttles, &watching.watched_topics, &coordination.group_updates, &coordination.transaction_updates, &turns,
             &fencing.fences, &fencing.wakes, &coordination.hosts, &coordination.orphaned_transactions}) {
        topics.add_listener(*listener);
    }
    turns.first_reactor().add_participant(coordination.timers);
}

handlers::Extensions Broker::Parts::join_addons() {
    handlers::Extensions joined;
    addons.attach({.schedule = schedule,
                   .file_system = storage->file_system,
                   .metadata_store = *storage->metadata_store,
                   .config = config,
                   .topics = topics,
                   .turns = turns,
                   .placement = placement,
                   .coordinators = coordination.hosts,
                   .own_changes = own_changes,
                   .findings = findings,
                   .upkeep = upkeep,
                   .failures = failures,
                   .make_first_topics = [this](Now now) { return make_first_topics(*config.get(), catalog, now); },
                   .data_directory = storage->absolute_directory,
                   .change_data = change_data},
                  joined);
    return joined;
}

runtime::Services Broker::Parts::services_for_requests(const std::atomic<bool>& is_ready) {
    return {
        {.description = {.cluster_id = catalog.cluster_id(),
                         .log_directory = storage->absolute_directory,
                         .places = places,
                         .is_ready = is_ready},
         .placement = placement,
         .config = config,
         .topics = topics,
         .turns = turns,
         .clock = schedule.clock,
         .authorizer = authorizer,
         .throttles = throttles,
         .requests = requests,
         .connections = connections,
         .shown_partitions = fencing.shown_partitions,
         .extensions = extensions},
        {.appender = records.appender,
         .reader = records.reader,
         .turns = turns,
         .placement = placement,
         .fetch_sessions = records.fetch_sessions,
         .config = config},
        catalog,
        {.groups = coordination.groups,
         .transactions = coordination.transactions,
         .outward_writes = coordination.outward_writes,
         .catalog = catalog,
         .flusher = *storage->flusher,
         .bell = upkeep,
         .request_notes = watching.request_notes,
         .share = {.groups = coordination.groups,
                   .shares = coordination.shares,
                   .sessions = coordination.share_sessions,
                   .reader = records.reader,
                   .turns = turns,
                   .placement = placement,
                   .catalog = catalog,
                   .config = config}},
        {.expansions = expansions, .worker = expansion_worker, .fences = fencing.fences, .wakes = fencing.wakes},
        {.plan_sources = watching.plan_sources,
         .keys = watching.keys,
         .request_notes = watching.request_notes,
         .findings = findings,
         .readers = watching.readers},
        {.counters = counters,
         .failures = failures,
         .bell = upkeep,
         .flusher = *storage->flusher,
         .open_files = *storage->open_files},
    };
}

Broker::Records::Records(Parts& parts, runtime::TopicStates& topics)
    : fetch_sessions(static_cast<std::size_t>(std::max(0, parts.config.get()->max_incremental_fetch_session_cache_slots))),
      appender({*parts.storage->flusher, parts.counters, parts.failures, parts.upkeep}),
      reader(parts.counters),
      verification(parts.coordination.transactions, parts.config),
      roles(parts.connections, parts.fencing.shown_partitions),
      key_samples(parts.watching.request_notes),
      producer_quota(parts.throttles),
      consumer_quota(parts.throttles),
      fenced_reads(parts.watching.readers.reports().fenced_reads()),
      reader_reports(parts.watching.request_notes) {
    using logs::AppendPoint;
    using logs::ReadPoint;
    using logs::StepFor;
    logs::AppendSteps& appends = appender.steps();
    appends.add(verification, {AppendPoint::admit}, StepFor::transactions);
    appends.add(roles, {AppendPoint::admit}, StepFor::first_of_connection);
    appends.add(key_samples, {AppendPoint::after_staging}, StepFor::every_request, &parts.watching.keys.samples().gate());
    appends.add(producer_quota, {AppendPoint::settle}, StepFor::every_request,
                &parts.throttles.limited(runtime::Throttled::produced_bytes));
    appends.add(append_usage, {AppendPoint::tell}, StepFor::counted_clients);

    logs::ReadSteps& reads = reader.steps();
    reads.add(roles, {ReadPoint::admit}, StepFor::first_of_connection);
    reads.add(consumer_quota, {ReadPoint::admit, ReadPoint::settle}, StepFor::every_request,
              &parts.throttles.limited(runtime::Throttled::fetched_bytes));
    reads.add(fenced_reads, {ReadPoint::on_found}, StepFor::every_request,
              &parts.watching.readers.reports().fenced_reads().watching());
    reads.add(read_usage, {ReadPoint::tell}, StepFor::counted_clients);
    topics.add_step_source(reader_reports);
    parts.addons.add_steps(appends, reads);
}

// Clients wait for rebuilds, so these come first. Short flushes come before folds: they must reach the flusher before a fold
// occupies the worker.
Broker::Upkeep::Upkeep(Parts& parts, bool watches_directory)
    : keyed_logs(parts.catalog.own_log(), parts.topics, *parts.storage->metadata_store),
      rebuilds(parts.coordination.hosts, keyed_logs),
      short_flushes(parts.topics, *parts.storage->logs, *parts.storage->flusher),
      background_sync(parts.config, *parts.storage->logs, *parts.storage->flusher, parts.upkeep),
      folds(*parts.storage->logs, keyed_logs, parts.upkeep),
      retention(parts.config, parts.topics, keyed_logs, parts.turns, parts.upkeep),
      token_sweep(parts.config, parts.topics, parts.own_changes),
      worker({&rebuilds, &short_flushes, &background_sync, &folds, &parts.fencing.upkeep, &retention, &token_sweep,
              &parts.watching.ownership_observer},
             parts.upkeep, parts.schedule),
      compactor(parts.config, parts.topics, *parts.storage->logs, keyed_logs, parts.schedule) {
    if (watches_directory) {
        directory_watch.emplace(parts.turns.first_reactor(), parts.storage->absolute_directory, parts.topics);
    }
}

Broker::Broker(const Options& options, std::unique_ptr<Storage> storage)
    : parts_(std::make_unique<Parts>(options, std::move(storage), is_ready_)) {}

Broker::~Broker() {
    stop_workers();
    parts_->storage->flusher.reset();
    // Waiting requests hold logs, which close with the storage.
    for (const auto& [kind, host] : parts_->coordination.hosts.all()) {
        host->detach();
    }
    parts_->turns.clear();
}

std::expected<std::unique_ptr<Broker>, runtime::StartError> Broker::open(const Options& options) {
    PARTITA_TRY_ASSIGN(auto storage, Storage::open(*options.config, options.storage, options.schedule));
    std::unique_ptr<Broker> broker(new Broker(options, std::move(storage)));
    PARTITA_TRY(broker->load(options));
    return broker;
}

std::expected<void, runtime::StartError> Broker::load(const Options& options) {
    Parts& parts = *parts_;
    Storage& storage = *parts.storage;
    Clock& clock = parts.schedule.clock;  // Read the time before each part, because each takes as long as the disk needs.
    const runtime::Catalog::Place place = {storage.file_system, storage.directory, *storage.logs, *storage.metadata_store};
    PARTITA_TRY(parts.catalog.load(place, clock.now()));
    storage.flusher->sync_first(parts.catalog.own_log());
    parts.fencing.fences.load(clock.now().wall);
    PARTITA_TRY(parts.catalog.load_topics(place, clock.now()));
    PARTITA_TRY(make_first_users(*options.config, parts.catalog, clock.now()));
    PARTITA_TRY(make_first_topics(*options.config, parts.catalog, clock.now()));
    parts.fencing.fences.finish_load();
    parts.addons.load(clock.now());
    const std::shared_ptr<const logs::TopicTable> table = parts.topics.table();
    parts.coordination.group_updates.begin(*table);
    parts.coordination.transaction_updates.begin(*table);
    PARTITA_TRY(parts.coordination.hosts.load(*table, storage.logs->announced_removals(), clock.now()));
    if (!parts.catalog.skip_producer_ids(parts.coordination.transactions.highest_producer_id(), clock.now())) {
        return std::unexpected(runtime::StartError{"cannot write the catalog in " + place.directory});
    }
    runtime::end_hanging_transactions(*table, parts.coordination.transactions, parts.coordination.outward_writes, clock.now());
    if (!storage.logs->open_report().was_clean &&
        !parts.coordination.transactions.raise_epochs(
            runtime::epochs_in_logs(*table, parts.coordination.transactions.producer_ids()), clock.now())) {
        return std::unexpected(runtime::StartError{"cannot write producer epochs in " + place.directory});
    }
    parts.expansions.recover(storage.logs->open_report().was_clean, clock.now());

    parts.maintenance.emplace(parts, options.watches_directory);
    return {};
}

const runtime::Services& Broker::services() const { return parts_->services; }

insight::ReaderObserver& Broker::reader_observer() { return parts_->watching.readers; }

Storage& Broker::storage() { return *parts_->storage; }

void Broker::announce_addons() const { parts_->addons.announce(); }

void Broker::announce_places(const std::string& http) {
    parts_->places = {{"partita.http.advertised", http}, {"partita.data.directory", parts_->storage->absolute_directory}};
}

void Broker::start() {
    parts_->maintenance->worker.start(!parts_->storage->logs->open_report().was_clean);
    parts_->watching.start();
    parts_->maintenance->compactor.start();
    parts_->addons.start();
    if (parts_->maintenance->directory_watch) {
        parts_->maintenance->directory_watch->start();
    }
}

void Broker::answer_waiting_requests() {
    for (const auto& [kind, host] : parts_->coordination.hosts.all()) {
        host->fail_waiting(parts_->turns.first());
    }
    parts_->turns.complete_all_fetches();
}

void Broker::stop_workers() {
    Parts& parts = *parts_;
    parts.expansion_worker.stop();
    parts.addons.stop();
    parts.connections.stop();
    parts.watching.stop();
    if (parts.maintenance) {
        parts.maintenance->compactor.stop();
        parts.maintenance->worker.stop();
    }
}

void Broker::begin_segments() {
    const TimestampMs now = parts_->schedule.clock.now().wall;
    for (const std::shared_ptr<PartitionLog>& log : parts_->storage->logs->logs_with_files()) {
        // Without a new segment, a snapshot copies more.
        if (const auto begun = log->begin_segment(kLinkedBytes, now); !begun) {
            log::warning("storage", "cannot begin a segment for a snapshot", {{"reason", begun.error().message}});
        }
    }
}

bool Broker::close() {
    Parts& parts = *parts_;
    if (parts.maintenance->directory_watch) {
        parts.maintenance->directory_watch->stop();
    }
    stop_workers();
    parts.storage->flusher->drain();
    parts.maintenance->folds.fold(parts.schedule.clock.now().monotonic);
    parts.fencing.upkeep.store_all();
    if (auto closed = parts.storage->logs->close(); !closed) {
        log::error("storage", "the clean stop failed; the next start recovers the logs", {{"reason", closed.error().message}});
        return false;
    }
    return true;
}

}  // namespace partita::assembly
