// How the broker changes its catalog and follows the changes. See broker.h.

#include <algorithm>

#include "broker/assembly/broker.h"
#include "broker/config/broker_rules.h"
#include "broker/config/mode_patterns.h"
#include "broker/runtime/catalog/config_rules.h"
#include "broker/runtime/coordinators/group_cluster.h"
#include "broker/runtime/loop/clock.h"
#include "protocol/assert.h"
#include "protocol/record_batch_builder.h"
#include "protocol/shared_block.h"

namespace partita::runtime {

topics::CatalogSettings Broker::catalog_settings() const {
    const auto config = this->config();
    topics::CatalogSettings settings;
    settings.brokers = {node_id_};
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

std::vector<Offset> Broker::log_end_offsets(const topics::Topic& topic) const {
    std::vector<Offset> ends;
    if (const auto state = topic_table()->share(topic.id)) {
        ends.reserve(state->partitions.size());
        for (const std::shared_ptr<Partition>& partition : state->partitions) {
            ends.push_back(partition->log->log_end_offset());
        }
    }
    return ends;
}

bool Broker::apply_catalog_effects(Turn* turn, const topics::Effects& effects, Now now) {
    std::vector<TopicId> deleted;
    for (const topics::CatalogChange& change : effects.changes) {
        if (change.kind == topics::CatalogChange::Kind::topic_deleted) {
            deleted.push_back(change.before->id);
        }
    }
    ClaimedTopics claimed;
    if (!claim_partitions(effects, claimed)) {
        return false;
    }
    if (!deleted.empty()) {
        logs_->announce_removals(deleted);
    }
    const bool is_done = write_catalog_records(effects, now);
    if (is_done) {
        follow_catalog_effects(turn, effects, claimed, now);
    } else {
        release_partitions(claimed);
    }
    if (!deleted.empty()) {
        logs_->conclude_removals(deleted);
        data_written();
    }
    return is_done;
}

bool Broker::claim_partitions(const topics::Effects& effects, ClaimedTopics& claimed) {
    using Kind = topics::CatalogChange::Kind;
    const std::shared_ptr<const TopicTable> table = topic_table();
    for (const topics::CatalogChange& change : effects.changes) {
        if (change.kind != Kind::topic_created && change.kind != Kind::topic_expanded) {
            continue;
        }
        auto state = make_topic_state(change.after, change.before ? table->find(change.after->id) : nullptr);
        if (!state) {
            log::error("catalog", "a change was refused: a directory is in the way of a new partition and cannot be moved",
                       {{"topic", change.after->name}, {"reason", state.error().message}});
            release_partitions(claimed);
            return false;
        }
        claimed.emplace(change.after->id, std::move(*state));
    }
    return true;
}

void Broker::release_partitions(ClaimedTopics& claimed) {
    const std::shared_ptr<const TopicTable> table = topic_table();
    for (const auto& [id, state] : claimed) {
        const TopicState* before = table->find(id);
        std::vector<std::shared_ptr<PartitionLog>> logs;
        for (std::size_t index = before == nullptr ? 0 : before->partitions.size(); index < state->partitions.size(); ++index) {
            logs.push_back(state->partitions[index]->log);
        }
        logs_->release(logs);
    }
    claimed.clear();
}

bool Broker::write_catalog_records(const topics::Effects& effects, Now now) {
    if (!effects.records.empty()) {
        BatchBuilder builder;
        for (const topics::CatalogRecord& record : effects.records) {
            builder.append(now.wall, as_bytes(record.key),
                           record.value ? std::optional<Bytes>(as_bytes(*record.value)) : std::nullopt);
        }
        std::vector<std::byte> batch;
        builder.build(batch);
        const auto appended = catalog_partition_->log->append(batch, {.leader_epoch = LeaderEpoch{0}, .now = now.wall});
        if (!appended) {
            log::error("catalog", "a change cannot be written and was refused", {{"reason", appended.error().message}});
            return false;
        }
        data_written();
    }
    return true;
}

void Broker::follow_catalog_effects(Turn* turn, const topics::Effects& effects, const ClaimedTopics& claimed, Now now) {
    const std::shared_ptr<const TopicTable> before = topic_table();
    catalog_->commit(effects);
    auto next = std::make_shared<TopicTable>(*before);
    next->catalog = catalog_->snapshot();
    for (const topics::CatalogChange& change : effects.changes) {
        apply_change(*next, change, claimed);
    }
    publish(next);
    groups_.cluster_changed(std::make_shared<GroupCluster>(next->catalog, config()->broker_rack.value_or(""), hidden_from_consumers(*next)),
                            std::ranges::any_of(effects.changes, [](const topics::CatalogChange& change) {
                                return change.kind == topics::CatalogChange::Kind::topic_created;
                            }));

    for (const topics::CatalogChange& change : effects.changes) {
        if (change.kind == topics::CatalogChange::Kind::topic_reconfigured) {
            const TopicState* state = next->find(change.after->id);
            if (state->config->nudge != before->find(change.after->id)->config->nudge && state->expansion) {
                nudge(*state, now);
            }
        }
        if (change.kind == topics::CatalogChange::Kind::topic_deleted) {
            delete_topic_state(turn, *change.before, *before, now);
        }
    }
}

void Broker::delete_topic_state(Turn* turn, const topics::Topic& topic, const TopicTable& before, Now now) {
    if (const auto state = before.share(topic.id)) {
        for (const std::shared_ptr<Partition>& partition : state->partitions) {
            if (auto removed = logs_->remove(partition->log); !removed) {
                log::error("storage", "a deleted partition cannot be removed",
                           {{"partition", partition->log->directory_name()}, {"reason", removed.error().message}});
            }
            post_change(*partition);
        }
        if (state->expansion) {
            expansions_.topic_deleted(topic.id);
        }
    }
    maintenance_->topic_deleted();
    if (topic.name == topics::kOffsetsTopicName) {
        groups_.forget_all(now);
    } else {
        groups_.topic_deleted(turn, {.name = topic.name, .topic_id = topic.id}, now);
    }
}

void Broker::apply_change(TopicTable& table, const topics::CatalogChange& change, const ClaimedTopics& claimed) {
    using Kind = topics::CatalogChange::Kind;
    switch (change.kind) {
        case Kind::topic_created:
            table.put(claimed.at(change.after->id));
            log::info("catalog", "topic created",
                      {{"topic", change.after->name}, {"partitions", change.after->partition_count}});
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
            table.put(remake_topic_state(change.after, *before));
            return;
        }
        case Kind::configs_changed:
            apply_config_change(change, table);
            return;
        case Kind::identity_changed:
            return;
    }
}

void Broker::apply_config_change(const topics::CatalogChange& change, TopicTable& table) {
    if (change.resource_type != topics::ConfigResourceType::broker) {
        return;
    }
    const topics::CatalogSnapshot& catalog = *table.catalog;
    auto changed = config()->with_dynamic(
        {.cluster_default = catalog.default_broker_configs(), .this_broker = catalog.broker_configs(node_id_)});
    if (!changed) {
        log::error("config", "dynamic broker configs do not apply", {{"reason", changed.error().message}});
        return;
    }
    {
        const std::scoped_lock lock(config_mutex_);
        config_ = std::make_shared<const config::BrokerConfig>(std::move(*changed));
    }
    // Topics inherit from the broker.
    std::vector<std::shared_ptr<const TopicState>> states;
    table.for_each([&](const TopicState& state) { states.push_back(table.share(state.topic->id)); });
    for (const std::shared_ptr<const TopicState>& state : states) {
        table.put(remake_topic_state(state->topic, *state));
    }
    groups_.reconfigure(group_config());
}

std::shared_ptr<const TopicState> Broker::remake_topic_state(const topics::TopicPointer& topic, const TopicState& before) {
    auto state = make_topic_state(topic, &before);
    PARTITA_ASSERT(state.has_value(), "a topic that does not grow needs no new log");
    return std::move(*state);
}

StorageResult<std::shared_ptr<const TopicState>> Broker::make_topic_state(const topics::TopicPointer& topic,
                                                                          const TopicState* before) {
    auto state = std::make_shared<TopicState>();
    state->topic = topic;
    const auto config = this->config();
    auto effective = config::effective_topic_config(config::with_mode_pattern(topic->configs, *config, topic->name), *config);
    if (!effective) {
        log::error("config", "a topic's settings cannot be read, the defaults serve instead",
                   {{"topic", topic->name}, {"reason", effective.error().message}});
        effective = config::TopicConfig{};
    }
    state->config = std::make_shared<const config::TopicConfig>(*effective);
    state->expansion = expansions_.state_for(*topic, *effective, before == nullptr ? nullptr : before->expansion,
                                              before == nullptr && is_ready(), read_clock());
    auto log_config = std::make_shared<LogConfig>();
    log_config->segment_bytes = effective->segment_bytes;
    // So that what must be compacted in time can be: the active segment never is.
    log_config->segment_ms = effective->cleanup_compact && effective->max_compaction_lag_ms > 0
                                 ? std::min(effective->segment_ms, effective->max_compaction_lag_ms)
                                 : effective->segment_ms;
    log_config->segment_jitter_ms = effective->segment_jitter_ms;
    log_config->segment_index_bytes = effective->segment_index_bytes;
    log_config->index_interval_bytes = effective->index_interval_bytes;
    log_config->retention_ms = effective->retention_ms;
    log_config->retention_bytes = effective->retention_bytes;
    log_config->delete_old_segments = effective->cleanup_delete;
    log_config->compact = effective->cleanup_compact;
    log_config->min_cleanable_dirty_ratio = effective->min_cleanable_dirty_ratio;
    log_config->min_compaction_lag_ms = effective->min_compaction_lag_ms;
    log_config->max_compaction_lag_ms = effective->max_compaction_lag_ms;
    log_config->delete_retention_ms = effective->delete_retention_ms;
    log_config->producer_id_expiration_ms = config->producer_id_expiration_ms;

    if (before != nullptr) {
        state->partitions = before->partitions;
        for (const std::shared_ptr<Partition>& partition : state->partitions) {
            partition->log->set_config(log_config);
        }
    }
    if (auto added = add_partitions(*state, log_config); !added) {
        return std::unexpected(std::move(added.error()));
    }
    return state;
}

StorageResult<void> Broker::add_partitions(TopicState& state, const std::shared_ptr<const LogConfig>& log_config) {
    const PartitionIndex first{static_cast<std::int32_t>(state.partitions.size())};
    if (first.value >= state.topic->partition_count) {
        return {};
    }
    auto log_topic = std::make_shared<const LogTopic>(LogTopic{state.topic->name, state.topic->id});
    // Of what the catalog knew at the start every directory was opened; what a client makes later gets its own.
    const auto unreadable = is_ready() ? LogDirectory::Unreadable::is_a_stray : LogDirectory::Unreadable::is_an_error;
    auto logs = logs_->claim_range(log_topic, first, {state.topic->partition_count}, log_config, unreadable);
    if (!logs) {
        // A directory in the way that cannot be moved, which needs a hand.
        return std::unexpected(std::move(logs.error()));
    }
    state.partitions.reserve(static_cast<std::size_t>(state.topic->partition_count));
    SharedBlock<Partition> block(logs->size());
    for (std::shared_ptr<PartitionLog>& log : *logs) {
        const fetch::PartitionKey key{next_partition_key_.fetch_add(1, std::memory_order_relaxed)};
        state.partitions.push_back(block.make(std::move(log), key));
    }
    for (const LogDirectory::Stray& stray : logs_->take_new_strays()) {
        log::warning("storage",
                     stray.is_unreadable
                         ? "a directory that cannot be opened was in the way of a new partition and was set aside"
                         : "a directory names another topic id in its partition.metadata and was set aside; to serve its "
                           "data, stop the broker, remove its partition.metadata and give it its old name",
                     {{"directory", stray.directory}, {"renamed_to", stray.renamed_to}});
    }
    return {};
}

void Broker::nudge(const TopicState& topic, Now now) {
    topic.expansion->nudge(now.monotonic);
    // Fetches that wait see it at once.
    for (const std::shared_ptr<Partition>& partition : topic.partitions) {
        post_change(*partition);
    }
}

std::shared_ptr<const TopicState> Broker::watch_expansion(std::string_view topic, Now now) {
    const std::scoped_lock lock(catalog_mutex_);
    const std::shared_ptr<const TopicTable> table = topic_table();
    const TopicState* found = table->find(topic);
    if (found == nullptr || found->expansion) {
        return found == nullptr ? nullptr : table->share(found->topic->id);
    }
    auto watched = std::make_shared<TopicState>(*found);
    watched->expansion = std::make_shared<TopicExpansion>(*this, now.monotonic);
    auto next = std::make_shared<TopicTable>(*table);
    next->put(watched);
    publish(std::move(next));
    return watched;
}

void Broker::publish(std::shared_ptr<const TopicTable> table) {
    throttles_.follow(table->catalog);
    {
        const std::scoped_lock lock(topic_table_mutex_);
        topic_table_ = std::move(table);
    }
    topic_table_version_.fetch_add(1, std::memory_order_acq_rel);
}

std::shared_ptr<const TopicTable> Broker::topic_table() const {
    const std::scoped_lock lock(topic_table_mutex_);
    return topic_table_;
}

std::optional<ProducerId> Broker::next_producer_id(Turn& turn) {
    const std::scoped_lock lock(catalog_mutex_);
    if (producer_ids_left_ == 0) {
        const topics::Decision<topics::ProducerIdBlockReply> decision =
            with_catalog_context(turn.now(), [&](const topics::CatalogContext& context) {
                return catalog_->allocate_producer_ids(context);
            });
        if (decision.reply.error.failed() || !apply_catalog_effects(&turn, decision.effects, turn.now())) {
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

bool Broker::ensure_offsets_topic(Turn& turn) {
    if (groups_.is_attached()) {
        return true;
    }
    const auto created = change_catalog<topics::CreatedTopic>(
        turn, [](const topics::CatalogCore& core, const topics::CatalogContext& context) {
            return core.auto_create_topic(topics::kOffsetsTopicName, context);
        });
    if (!created || created->error.failed()) {
        return false;
    }
    const std::scoped_lock lock(catalog_mutex_);
    if (groups_.is_attached()) {
        return true;
    }
    const TopicState* offsets = topic_table()->find(topics::kOffsetsTopicName);
    if (offsets == nullptr) {
        return false;
    }
    if (!groups_.attach(offsets->partitions, group_config())) {
        log::error("groups", "__consumer_offsets has another number of partitions than before; restart the broker");
        return false;
    }
    groups_.serve(turn.now());
    return true;
}

}  // namespace partita::runtime
