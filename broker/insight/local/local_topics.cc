#include "broker/insight/local/local_topics.h"

#include <algorithm>
#include <memory>
#include <set>

#include "broker/config/topic_config.h"
#include "broker/insight/local/log_keyed_records.h"
#include "broker/insight/local/log_record_counter.h"
#include "broker/insight/local/log_record_fates.h"
#include "broker/insight/local/transactions_in_topic.h"
#include "broker/logs/drained_position.h"
#include "broker/logs/log_bounds.h"
#include "broker/logs/published_topics.h"
#include "storage/log_markers.h"

namespace partita::insight {
namespace {

std::vector<EarlierExpansion> growths_of(const catalog::Topic& topic) {
    std::vector<EarlierExpansion> growths;
    growths.reserve(topic.expansions.size());
    for (const auto& expansion : topic.expansions) {
        growths.push_back(
            {expansion->old_partition_count, expansion->new_partition_count, expansion->time, expansion->log_end_offsets});
    }
    return growths;
}

}  // namespace

GrownTopic grown_topic(const catalog::Topic& topic, std::vector<std::pair<std::string, std::string>> joins, bool is_growing) {
    const catalog::ExpansionEpoch& newest = *topic.expansions.back();
    GrownTopic grown{.id = topic.id,
                     .name = topic.name,
                     .growths = growths_of(topic),
                     .sequence = newest.catalog_sequence,
                     .joins = std::move(joins),
                     .readers = std::nullopt};
    for (std::size_t index = 0; index < topic.expansions.size(); ++index) {
        if (const auto& at_cut = topic.expansions[index]->circumstances) {
            GroupsAtGrowth groups;
            const std::int32_t old_count = topic.expansions[index]->old_partition_count;
            for (const catalog::GroupAtCut& group : at_cut->groups) {
                const bool had_committed_all = group.lag == 0 && group.committed_partitions == old_count;
                if (had_committed_all) {
                    groups.done.insert(group.group_id);
                } else if (group.members > 0) {
                    groups.at_work.insert(group.group_id);
                }
            }
            // At a start of the broker, others may have read everything since the growth.
            groups.are_all_known = is_growing && static_cast<std::size_t>(at_cut->group_count) == at_cut->groups.size();
            grown.growths[index].groups = std::make_shared<const GroupsAtGrowth>(std::move(groups));
        }
    }
    // Circumstances describe the moment of the growth, even if the observer sees it later.
    const auto& circumstances = newest.circumstances;
    if (is_growing && circumstances && static_cast<std::size_t>(circumstances->group_count) == circumstances->groups.size()) {
        std::set<std::string>& readers = grown.readers.emplace();
        for (const catalog::GroupAtCut& group : circumstances->groups) {
            readers.insert(group.group_id);
        }
    }
    return grown;
}

TopicTraits LocalTopic::traits() const {
    return {.is_internal = topic_.topic->internal,
            .is_compacted = topic_.config->cleanup_compact,
            .is_deleted_by_age = topic_.config->cleanup_delete,
            .retention_ms = topic_.config->retention_ms,
            .window_ms = topic_.config->expansion_window_ms,
            .seeds_offsets = topic_.config->expansion_mode != config::ExpansionMode::faithful,
            .created = topic_.topic->created_time};
}

std::vector<EarlierExpansion> LocalTopic::growths() const { return growths_of(*topic_.topic); }

std::vector<LogEdges> LocalTopic::logs() const {
    std::vector<LogEdges> edges;
    edges.reserve(topic_.partitions.size());
    for (const auto& partition : topic_.partitions) {
        const logs::LogBounds bounds = logs::log_bounds(*partition);
        edges.push_back({bounds.start, bounds.stable_end, bounds.end});
    }
    return edges;
}

std::optional<std::set<std::string>> LocalTopic::released_by_fence() const {
    if (!topic_.expansion) {
        return std::nullopt;
    }
    runtime::TopicExpansion::Status status = topic_.expansion->status();
    return status.has_fence ? std::optional(std::move(status.released)) : std::nullopt;
}

std::vector<OpenTransaction> LocalTopic::open_transactions() const { return insight::open_transactions(topic_, transactions_); }

std::unique_ptr<RecordFates> LocalTopic::fates() const { return std::make_unique<LogRecordFates>(topic_); }

std::unique_ptr<RecordCounter> LocalTopic::counter() const { return std::make_unique<LogRecordCounter>(topic_); }

std::unique_ptr<KeyedRecords> LocalTopic::records(std::size_t bytes_max) const {
    return std::make_unique<LogKeyedRecords>(topic_, bytes_max);
}

void LocalTopic::find_positions(std::vector<GroupFacts>& groups) const {
    logs::DrainedPositions drained;
    skip_undeliverable(topic_, drained, groups);
}

std::unique_ptr<ObservedTopic> LocalTopics::find(const TopicId& topic) const {
    const logs::TopicState* state = table_->find(topic);
    return state == nullptr ? nullptr : std::make_unique<LocalTopic>(*state, transactions_);
}

std::unique_ptr<ObservedTopic> LocalTopics::find(std::string_view name) const {
    const logs::TopicState* state = table_->find(name);
    return state == nullptr ? nullptr : std::make_unique<LocalTopic>(*state, transactions_);
}

void LocalTopics::for_each_name(FunctionRef<void(std::string_view name, std::int32_t partitions)> visit) const {
    const catalog::TopicIndex& topics = table_->catalog->topics();
    for (auto topic = topics.begin(); topic != topics.end(); ++topic) {
        visit(topic->name, topic->partition_count);
    }
}

std::vector<GrownTopic> LocalTopics::grown() const {
    std::vector<GrownTopic> grown;
    table_->for_each([&](const logs::TopicState& topic) {
        if (!topic.topic->expansions.empty()) {
            grown.push_back(grown_topic(*topic.topic, {}, false));
        }
    });
    return grown;
}

void skip_undeliverable(const logs::TopicState& topic, logs::DrainedPositions& drained, std::vector<GroupFacts>& groups) {
    for (GroupFacts& group : groups) {
        group.positions = group.committed;
    }
    std::vector<Offset*> positions;
    for (std::size_t index = 0; index < topic.partitions.size(); ++index) {
        PartitionLog& log = *topic.partitions[index]->log;
        const Offset end = std::min(log.high_watermark(), markers_end(log));
        positions.clear();
        for (GroupFacts& group : groups) {
            // Facts may be older than the topic's newest partitions.
            if (index >= group.positions.size()) {
                continue;
            }
            Offset& position = group.positions[index];
            if (position != kNoOffset && position < end) {
                positions.push_back(&position);
            }
        }
        // Ascending, so that the log is read once.
        std::ranges::sort(positions, {}, [](const Offset* position) { return *position; });
        for (Offset* position : positions) {
            *position = std::max(*position, drained.first_deliverable(log, *position));
        }
    }
}

std::vector<Offset> offsets_since(const logs::PublishedTopics& topics, std::string_view name, TimestampMs since) {
    std::vector<Offset> offsets;
    const std::shared_ptr<const logs::TopicTable> table = topics.table();
    const logs::TopicState* topic = table->find(name);
    if (topic == nullptr) {
        return offsets;
    }
    for (const std::shared_ptr<logs::Partition>& partition : topic->partitions) {
        const Offset end = partition->log->log_end_offset();
        const auto found = partition->log->offset_for_timestamp(since, end);
        // If a lookup fails, read from the log start: too much rather than too little.
        offsets.push_back(!found ? partition->log->log_start_offset() : *found ? (*found)->offset : end);
    }
    return offsets;
}

}  // namespace partita::insight
