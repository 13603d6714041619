// How the broker changes its catalog and follows the changes: see catalog.h.

#include "broker/runtime/catalog/catalog.h"

#include <algorithm>

#include "broker/config/broker_rules.h"
#include "broker/config/log_setup.h"
#include "broker/runtime/catalog/config_rules.h"
#include "broker/runtime/clients/client_throttles.h"
#include "broker/runtime/coordinators/group_cluster.h"
#include "broker/runtime/coordinators/group_settings.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/fences/fences.h"
#include "broker/runtime/loop/upkeep_bell.h"
#include "broker/runtime/partitions/published_topics.h"
#include "broker/runtime/partitions/turns.h"
#include "broker/topics/internal_topics.h"
#include "protocol/record_batch_builder.h"

namespace partita::runtime {
namespace {

/// How many seconds of its rate a client may use at once.
std::int64_t quota_seconds(const config::BrokerConfig& config) {
    return std::int64_t{std::get<std::int32_t>(config.value("controller.quota.window.num"))} *
           std::get<std::int32_t>(config.value("controller.quota.window.size.seconds"));
}

}  // namespace

Catalog::Catalog(const Surroundings& surroundings)
    : around_(surroundings),
      rules_(std::make_unique<DefinedConfigRules>([&config = surroundings.config] { return config.get(); })),
      core_(*rules_),
      states_(surroundings.config, surroundings.logs, surroundings.fences, surroundings.topics, surroundings.turns.clock()),
      mutation_quotas_(quota_seconds(*surroundings.config.get())) {}

topics::CatalogSettings Catalog::settings() const {
    const auto config = around_.config.get();
    topics::CatalogSettings settings;
    settings.brokers = {config->node_id};
    settings.num_partitions = config->num_partitions;
    settings.default_replication_factor = config->default_replication_factor;
    settings.delete_topic_enable = config->delete_topic_enable;
    settings.takes_new_partitions = !config::is_cordoned(*config, config->log_dirs.front());
    settings.offsets_topic_num_partitions = config->offsets_topic_num_partitions;
    settings.offsets_topic_segment_bytes = config->offsets_topic_segment_bytes;
    settings.transaction_state_log_num_partitions = config->transaction_state_log_num_partitions;
    settings.transaction_state_log_segment_bytes = config->transaction_state_log_segment_bytes;
    settings.transaction_state_log_min_isr = config->transaction_state_log_min_isr;
    return settings;
}

std::vector<Offset> Catalog::log_end_offsets(const topics::Topic& topic) const {
    std::vector<Offset> ends;
    if (const auto state = around_.topics.table()->share(topic.id)) {
        ends.reserve(state->partitions.size());
        for (const std::shared_ptr<Partition>& partition : state->partitions) {
            ends.push_back(partition->log->log_end_offset());
        }
    }
    return ends;
}

bool Catalog::apply(Turn* turn, const topics::Effects& effects, Now now) {
    std::vector<TopicId> deleted;
    for (const topics::CatalogChange& change : effects.changes) {
        if (change.kind == topics::CatalogChange::Kind::topic_deleted) {
            deleted.push_back(change.before->id);
        }
    }
    ClaimedTopics claimed;
    if (!states_.claim(effects, claimed)) {
        return false;
    }
    if (!deleted.empty()) {
        around_.logs.announce_removals(deleted);
    }
    const bool is_done = write(effects, now);
    if (is_done) {
        follow(turn, effects, claimed, now);
    } else {
        states_.release(claimed);
    }
    if (!deleted.empty()) {
        around_.logs.conclude_removals(deleted);
        around_.upkeep.data_written();
    }
    return is_done;
}

bool Catalog::write(const topics::Effects& effects, Now now) {
    if (!effects.records.empty()) {
        BatchBuilder builder;
        for (const topics::CatalogRecord& record : effects.records) {
            builder.append(now.wall, as_bytes(record.key),
                           record.value ? std::optional<Bytes>(as_bytes(*record.value)) : std::nullopt);
        }
        std::vector<std::byte> batch;
        builder.build(batch);
        const auto appended = partition_->log->append(batch, {.leader_epoch = LeaderEpoch{0}, .now = now.wall});
        if (!appended) {
            log::error("catalog", "a change cannot be written and was refused", {{"reason", appended.error().message}});
            return false;
        }
        around_.upkeep.data_written();
    }
    return true;
}

void Catalog::follow(Turn* turn, const topics::Effects& effects, const ClaimedTopics& claimed, Now now) {
    const std::shared_ptr<const TopicTable> before = around_.topics.table();
    core_.commit(effects);
    auto next = std::make_shared<TopicTable>(*before);
    next->catalog = core_.snapshot();
    for (const topics::CatalogChange& change : effects.changes) {
        apply_change(*next, change, claimed);
    }
    publish(next);
    tell_groups(*next, std::ranges::any_of(effects.changes, [](const topics::CatalogChange& change) {
        return change.kind == topics::CatalogChange::Kind::topic_created;
    }));

    for (const topics::CatalogChange& change : effects.changes) {
        // What is adopted at the start is served by `load_coordinators`, which reads it first.
        if (turn != nullptr && change.kind == topics::CatalogChange::Kind::topic_created) {
            serve_coordinators(*next->find(change.after->id), now);
        }
        if (change.kind == topics::CatalogChange::Kind::topic_reconfigured) {
            const TopicState* state = next->find(change.after->id);
            if (state->config->nudge != before->find(change.after->id)->config->nudge && state->expansion) {
                around_.fences.nudge(*state, now);
            }
        }
        if (change.kind == topics::CatalogChange::Kind::topic_deleted) {
            delete_topic(turn, *change.before, *before, now);
        }
    }
}

void Catalog::serve_coordinators(const TopicState& topic, Now now) {
    for (const auto& [kind, host] : around_.coordinators.all()) {
        if (topics::topic_of(kind).name != topic.topic->name) {
            continue;
        }
        if (host->attach(topic.partitions)) {
            host->serve(now);
        } else {
            log::error("coordinators", "their topic has another number of partitions than before; restart the broker",
                       {{"topic", topic.topic->name}});
        }
    }
}

void Catalog::tell_groups(const TopicTable& table, bool has_new_topics) {
    around_.groups.cluster_changed(
        std::make_shared<GroupCluster>(table.catalog, around_.config->broker_rack.value_or(""), hidden_from_consumers(table)),
        has_new_topics);
}

void Catalog::delete_topic(Turn* turn, const topics::Topic& topic, const TopicTable& before, Now now) {
    if (const auto state = before.share(topic.id)) {
        for (const std::shared_ptr<Partition>& partition : state->partitions) {
            if (auto removed = around_.logs.remove(partition->log); !removed) {
                log::error("storage", "a deleted partition cannot be removed",
                           {{"partition", partition->log->directory_name()}, {"reason", removed.error().message}});
            }
            around_.turns.post_change(*partition);
        }
        if (state->expansion) {
            around_.fences.topic_deleted(topic.id);
        }
    }
    around_.upkeep.topic_deleted();
    for (const auto& [kind, host] : around_.coordinators.all()) {
        if (topics::topic_of(kind).name == topic.name) {
            host->forget_all(now);
        } else {
            host->topic_deleted(turn, {.name = topic.name, .topic_id = topic.id}, now);
        }
    }
}

void Catalog::apply_change(TopicTable& table, const topics::CatalogChange& change, const ClaimedTopics& claimed) {
    using Kind = topics::CatalogChange::Kind;
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
            table.put(states_.remake(change.after, *before));
            return;
        }
        case Kind::configs_changed:
            apply_config_change(change, table);
            return;
        case Kind::identity_changed:
            return;
    }
}

void Catalog::apply_config_change(const topics::CatalogChange& change, TopicTable& table) {
    if (change.resource_type != topics::ConfigResourceType::broker) {
        return;
    }
    const topics::CatalogSnapshot& catalog = *table.catalog;
    auto changed = around_.config->with_dynamic(
        {.cluster_default = catalog.default_broker_configs(), .this_broker = catalog.broker_configs(around_.config->node_id)});
    if (!changed) {
        log::error("config", "dynamic broker configs do not apply", {{"reason", changed.error().message}});
        return;
    }
    around_.config.replace(std::make_shared<const config::BrokerConfig>(std::move(*changed)));
    // Topics inherit from the broker.
    std::vector<std::shared_ptr<const TopicState>> states;
    table.for_each([&](const TopicState& state) { states.push_back(table.share(state.topic->id)); });
    for (const std::shared_ptr<const TopicState>& state : states) {
        table.put(states_.remake(state->topic, *state));
    }
    around_.groups.reconfigure(group_settings(*around_.config.get()));
}

std::shared_ptr<const TopicState> Catalog::watch_expansion(std::string_view topic, Now now) {
    const MutexLock lock(mutex_);
    const std::shared_ptr<const TopicTable> table = around_.topics.table();
    const TopicState* found = table->find(topic);
    if (found == nullptr || found->expansion) {
        return found == nullptr ? nullptr : table->share(found->topic->id);
    }
    auto watched = std::make_shared<TopicState>(*found);
    watched->expansion = around_.fences.new_state(now.monotonic);
    auto next = std::make_shared<TopicTable>(*table);
    next->put(watched);
    publish(std::move(next));
    return watched;
}

void Catalog::publish(std::shared_ptr<const TopicTable> table) {
    around_.throttles.follow(table->catalog);
    around_.topics.publish(std::move(table));
}

std::optional<ProducerId> Catalog::next_producer_id(Turn& turn) {
    const MutexLock lock(mutex_);
    if (producer_ids_left_ == 0) {
        const auto allocate = [](const topics::CatalogCore& core, const topics::CatalogContext& context) {
            return core.allocate_producer_ids(context);
        };
        const topics::Decision<topics::ProducerIdBlockReply> decision = decide_now(turn.now(), allocate);
        if (decision.reply.error.failed() || !apply(&turn, decision.effects, turn.now())) {
            return std::nullopt;
        }
        next_producer_id_ = decision.reply.first;
        producer_ids_left_ = decision.reply.count;
    }
    const ProducerId id = next_producer_id_;
    next_producer_id_ = ProducerId{id.value + 1};
    --producer_ids_left_;
    return id;
}

bool Catalog::ensure_coordinators(topics::CoordinatorKind kind, Turn& turn) {
    CoordinatorHost& host = around_.coordinators.of(kind);
    if (host.is_attached()) {
        return true;
    }
    const std::string_view name = topics::topic_of(kind).name;
    const auto created =
        change<topics::CreatedTopic>(turn, [name](const topics::CatalogCore& core, const topics::CatalogContext& context) {
            return core.auto_create_topic(name, context);
        });
    return created && !created->error.failed() && host.is_attached();
}

}  // namespace partita::runtime
