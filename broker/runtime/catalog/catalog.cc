// The part of the catalog that changes it and follows the changes: see catalog.h.

#include "broker/runtime/catalog/catalog.h"

#include "broker/catalog/adopt_topics.h"
#include "broker/catalog/internal_topics.h"
#include "broker/runtime/catalog/config_rules.h"
#include "broker/runtime/loop/fail_stop.h"
#include "broker/runtime/loop/upkeep_bell.h"
#include "broker/runtime/settings/catalog_settings.h"
#include "protocol/record_batch_builder.h"
#include "storage/log_flusher.h"

namespace partita::runtime {
namespace {

/// How many seconds' worth of its rate a client may use at once.
std::int64_t quota_seconds(const config::BrokerConfig& config) {
    return std::int64_t{std::get<std::int32_t>(config.value("controller.quota.window.num"))} *
           std::get<std::int32_t>(config.value("controller.quota.window.size.seconds"));
}

}  // namespace

Catalog::Catalog(config::CurrentConfig& config, logs::PublishedTopics& topics, TopicStates& states,
                 const logs::Placement& placement, UpkeepBell& upkeep)
    : config_(config),
      topics_(topics),
      states_(states),
      placement_(placement),
      upkeep_(upkeep),
      rules_(std::make_unique<DefinedConfigRules>([&config] { return config.get(); })),
      core_(*rules_),
      mutation_quotas_(quota_seconds(*config.get())) {}

void Catalog::when_synced(LogFlusher& flusher, std::function<void(bool is_synced)> then) const {
    const bool is_queued = flusher.request_sync(own_log(), [then](const StorageResult<Offset>& synced) {
        if (!synced && synced.error().kind == StorageError::Kind::sync_failed) {
            fail_stop(synced.error());
        }
        then(synced.has_value());
    });
    if (!is_queued) {
        then(false);
    }
}

catalog::CatalogSettings Catalog::settings() const {
    catalog::CatalogSettings settings = catalog_settings(*config_.get());
    if (const logs::NodePlan* plan = placement_.plan()) {
        settings.brokers = placement_.registered();
        for (const logs::Node& node : *plan->nodes_known_at(kNoBroker)) {
            if (node.is_fenced) {
                settings.fenced_brokers.push_back(node.id);
            }
        }
    }
    return settings;
}

std::vector<Offset> Catalog::log_end_offsets(const catalog::Topic& topic) const {
    std::vector<Offset> ends;
    if (const auto state = topics_.table()->share(topic.id)) {
        ends.reserve(state->partitions.size());
        for (const std::shared_ptr<logs::Partition>& partition : state->partitions) {
            ends.push_back(partition->log->log_end_offset());
        }
    }
    return ends;
}

bool Catalog::apply(logs::Turn* turn, const catalog::Effects& effects, Now now) {
    std::vector<TopicId> deleted;
    for (const catalog::CatalogChange& change : effects.changes) {
        if (change.kind == catalog::CatalogChange::Kind::topic_deleted) {
            deleted.push_back(change.before->id);
        }
    }
    ClaimedTopics claimed;
    if (!states_.claim(effects, *topics_.table(), claimed, now)) {
        return false;
    }
    if (!deleted.empty()) {
        states_.announce_removals(deleted);
    }
    const bool is_done = write(effects, now);
    if (is_done) {
        follow(turn, effects, claimed, now);
    } else {
        states_.release(claimed, *topics_.table());
    }
    if (!deleted.empty()) {
        states_.conclude_removals(deleted);
        upkeep_.topic_deleted();
        upkeep_.data_written();
    }
    return is_done;
}

bool Catalog::write(const catalog::Effects& effects, Now now) {
    if (!effects.records.empty()) {
        BatchBuilder builder;
        for (const catalog::Record& record : effects.records) {
            builder.append(now.wall, as_bytes(record.key),
                           record.value ? std::optional<Bytes>(as_bytes(*record.value)) : std::nullopt);
        }
        std::vector<std::byte> batch;
        builder.build(batch);
        const auto appended = partition_->log->append(batch, {.leader_epoch = LeaderEpoch{0}, .now = now.wall});
        if (!appended) {
            log::error("catalog", "refused a change that could not be written", {{"reason", appended.error().message}});
            return false;
        }
        upkeep_.data_written();
    }
    return true;
}

void Catalog::follow(logs::Turn* turn, const catalog::Effects& effects, const ClaimedTopics& claimed, Now now) {
    const std::shared_ptr<const logs::TopicTable> before = topics_.table();
    core_.commit(effects);
    auto next = std::make_shared<logs::TopicTable>(*before);
    next->catalog = core_.snapshot();
    for (const catalog::CatalogChange& change : effects.changes) {
        apply_change(*next, change, claimed, now);
        placement_.follow(change);
    }
    topics_.publish(next);
    // First, so that a client that is notified and looks again finds the logs closed.
    for (const catalog::CatalogChange& change : effects.changes) {
        if (change.kind == catalog::CatalogChange::Kind::topic_deleted) {
            if (const logs::TopicState* topic = before->find(change.before->id)) {
                states_.remove_logs(*topic);
            }
        }
    }
    topics_.tell({.before = *before, .now = *next, .changes = effects.changes, .turn = turn, .time = now});
}

void Catalog::apply_change(logs::TopicTable& table, const catalog::CatalogChange& change, const ClaimedTopics& claimed, Now now) {
    using Kind = catalog::CatalogChange::Kind;
    switch (change.kind) {
        case Kind::topic_created:
            table.put(claimed.at(change.after->id));
            log::info("catalog", "topic created", {{"topic", change.after->name}, {"partitions", change.after->partition_count}});
            return;
        case Kind::topic_deleted:
            table.remove(change.before->id);
            log::info("catalog", "topic deleted", {{"topic", change.before->name}});
            return;
        case Kind::topic_expanded:
            table.put(claimed.at(change.after->id));
            return;
        case Kind::expansion_annotated:
        case Kind::topic_reconfigured: {
            const auto before = table.share(change.after->id);
            table.put(states_.remake(change.after, *before, now));
            return;
        }
        case Kind::configs_changed:
            apply_config_change(change, table, now);
            return;
        case Kind::acls_changed:
        case Kind::delegation_tokens_changed:
        case Kind::identity_changed:
            return;
    }
}

void Catalog::apply_config_change(const catalog::CatalogChange& change, logs::TopicTable& table, Now now) {
    if (change.resource_type != catalog::ConfigResourceType::broker) {
        return;
    }
    const catalog::CatalogSnapshot& catalog = *table.catalog;
    auto changed = config_->with_dynamic(
        {.cluster_default = catalog.default_broker_configs(), .this_broker = catalog.broker_configs(config_->node_id)});
    if (!changed) {
        log::error("config", "cannot apply the dynamic broker configs", {{"reason", changed.error().message}});
        return;
    }
    config_.replace(std::make_shared<const config::BrokerConfig>(std::move(*changed)));
    // Topics inherit from the broker.
    std::vector<std::shared_ptr<const logs::TopicState>> states;
    table.for_each([&](const logs::TopicState& state) { states.push_back(table.share(state.topic->id)); });
    for (const std::shared_ptr<const logs::TopicState>& state : states) {
        table.put(states_.remake(state->topic, *state, now));
    }
}

std::shared_ptr<const logs::TopicState> Catalog::watch_expansion(std::string_view topic, Now now) {
    const MutexLock lock(mutex_);
    const std::shared_ptr<const logs::TopicTable> table = topics_.table();
    const logs::TopicState* found = table->find(topic);
    if (found == nullptr || found->expansion) {
        return found == nullptr ? nullptr : table->share(found->topic->id);
    }
    std::shared_ptr<const logs::TopicState> watched = states_.watched(*found, now);
    auto next = std::make_shared<logs::TopicTable>(*table);
    next->put(watched);
    publish(std::move(next), now);
    return watched;
}

void Catalog::publish(std::shared_ptr<const logs::TopicTable> table, Now now) {
    const std::shared_ptr<const logs::TopicTable> before = topics_.table();
    topics_.publish(table);
    topics_.tell({.before = *before, .now = *table, .time = now});
}

std::optional<ProducerId> Catalog::next_producer_id(logs::Turn& turn) {
    const MutexLock lock(mutex_);
    if (producer_ids_left_ == 0) {
        const auto decision = decide(turn.now(), catalog::AllocateProducerIds());
        if (decision.result.error.failed() || !apply(&turn, decision.effects, turn.now())) {
            return std::nullopt;
        }
        next_producer_id_ = decision.result.first;
        producer_ids_left_ = decision.result.count;
    }
    const ProducerId id = next_producer_id_;
    next_producer_id_ = ProducerId{id.value + 1};
    --producer_ids_left_;
    return id;
}

bool Catalog::skip_producer_ids(ProducerId highest, Now now) {
    const MutexLock lock(mutex_);
    if (highest < core_.snapshot()->next_producer_id()) {
        return true;
    }
    const catalog::AdoptTopics skip{.next_producer_id = {highest.value + 1}};
    return apply(nullptr, decide(now, skip).effects, now);
}

bool Catalog::make_topic_of(catalog::CoordinatorKind kind, logs::Turn& turn) {
    const auto created = change(turn, catalog::AutoCreateTopic{catalog::topic_of(kind).name});
    return created && !created->error.failed();
}

void Catalog::make_topic(logs::Turn& turn, std::string_view name) {
    const auto created = change(turn, catalog::AutoCreateTopic{name});
    if (!created || !created->error.failed()) {
        return;
    }
    if (const auto left_out = unmade_topics_.admit("unmade topic", turn.now().monotonic)) {
        log::warning("catalog", "could not auto-create a topic; the client gets UNKNOWN_TOPIC_OR_PARTITION",
                     {{"topic", name},
                      {"error", error_name(created->error.code)},
                      {"reason", created->error.message.value_or("")},
                      {"lines_left_out", *left_out}});
    }
}

}  // namespace partita::runtime
