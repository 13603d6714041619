#include "broker/runtime/growth/expansion_facts.h"

#include <algorithm>
#include <tuple>

#include "broker/insight/local/local_cluster.h"
#include "broker/insight/local/local_topics.h"
#include "broker/insight/local/log_record_counter.h"
#include "broker/insight/shell/key_observer.h"
#include "broker/insight/shell/reader_memory.h"
#include "broker/insight/shell/topic_plan.h"
#include "broker/logs/drained_position.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/fences/topic_expansion.h"
#include "protocol/assert.h"

namespace partita::runtime {
namespace {

using config::ExpansionMode;
using groups::TopicQuestion;

/// The limit of other topics that the facts name for one topic, over all its groups: as many joins as are watched afterwards.
constexpr std::size_t kAlignedMax = insight::RememberedJoins::kJoinsMax;

/// True if the request lets `topic` grow to the same count.
bool grows_too(std::span<const WantedGrowth> all, std::string_view topic, std::int32_t new_count) {
    const auto wish =
        std::ranges::lower_bound(all, topic, {}, [](const WantedGrowth& growth) { return std::string_view(growth.topic->name); });
    return wish != all.end() && wish->topic->name == topic && wish->new_count == new_count;
}

/// Adds the number of records of one partition that each group has yet to receive.
void add_unread(PartitionLog& log, PartitionIndex partition, std::span<const groups::TopicReader> readers,
                logs::DrainedPositions& drained, insight::LogRecordCounter& counts, std::vector<insight::GuardedGroup>& groups) {
    // Position, whether it was committed, index of the group; ascending, so that one pass reads the log.
    std::vector<std::tuple<Offset, bool, std::size_t>> positions;
    for (std::size_t index = 0; index < readers.size(); ++index) {
        const auto committed = readers[index].committed.find(partition);
        const bool has_committed = committed != readers[index].committed.end();
        positions.emplace_back(std::max(has_committed ? committed->second : log.log_start_offset(), log.log_start_offset()),
                               has_committed, index);
    }
    std::ranges::sort(positions);
    const Offset end = log.high_watermark();
    for (const auto& [position, has_committed, index] : positions) {
        const Offset next = position < end ? drained.first_deliverable(log, position) : end;
        if (next >= end) {
            continue;
        }
        if (has_committed) {
            groups[index].unread += counts.between(partition, next, end);
        } else {
            ++groups[index].uncommitted_partitions;
        }
    }
}

insight::GuardFacts guard_facts(const WantedGrowth& wanted, const logs::TopicState& state,
                                std::span<const groups::TopicReader> readers, std::span<const WantedGrowth> all,
                                logs::DrainedPositions& drained, Now now) {
    insight::GuardFacts facts{.topic = wanted.topic->name,
                              .old_count = wanted.topic->partition_count,
                              .new_count = wanted.new_count,
                              .quiet_ms = state.config->expansion_guard_quiet_ms};
    if (state.expansion) {
        TopicExpansion::ProducerActivity activity = state.expansion->producer_activity(now.monotonic);
        facts.producers = std::move(activity.silent_ms);
        facts.producers_known_for_ms = activity.known_for_ms;
    }
    for (const groups::TopicReader& reader : readers) {
        insight::GuardedGroup& group = facts.groups.emplace_back();
        group.group_id = reader.group_id;
        group.is_streams = reader.is_streams();
        for (const groups::TopicReader::OtherTopic& other : reader.other_topics) {
            if (other.is_aligned && !grows_too(all, other.name, wanted.new_count)) {
                group.copartitioned_with.push_back(other.name);
            }
        }
    }
    // All topics of the request share one budget.
    insight::LogRecordCounter counts(
        state, std::max(insight::LogRecordCounter::kBytesMax / all.size(), insight::LogRecordCounter::kReadBytes));
    for (std::size_t index = 0; index < state.partitions.size(); ++index) {
        PartitionLog& log = *state.partitions[index]->log;
        const PartitionIndex partition{static_cast<std::int32_t>(index)};
        facts.has_records = facts.has_records || log.log_end_offset() > log.log_start_offset();
        add_unread(log, partition, readers, drained, counts, facts.groups);
    }
    std::ranges::sort(facts.groups, {}, &insight::GuardedGroup::group_id);
    return facts;
}

}  // namespace

std::vector<GrowthFacts> gather_growth_facts(const insight::LocalPlanSources& sources, std::span<const WantedGrowth> wanted,
                                             std::span<const WantedGrowth> all, logs::DrainedPositions& drained, Now now) {
    PARTITA_ASSERT(wanted.size() <= kGrowthsPerPass, "as many topics as one pass is for");
    const std::shared_ptr<const logs::TopicTable> table = sources.cluster.parts().topics.table();
    const insight::LocalTopics topics(table, sources.cluster.parts().transactions);
    const insight::ClusterNames names = insight::names_in(topics);
    const bool are_groups_known = sources.cluster.parts().groups.is_complete();
    std::vector<TopicQuestion> questions;
    std::vector<std::shared_ptr<const logs::TopicState>> states;
    for (const WantedGrowth& growth : wanted) {
        // Null if the topic was deleted meanwhile; the check under the catalog's lock detects that.
        states.push_back(table->share(growth.topic->id));
        const bool is_guarded = states.back() && states.back()->config->expansion_mode == ExpansionMode::guarded;
        questions.push_back({.topic = growth.topic->name,
                             .topic_id = growth.topic->id,
                             .others = is_guarded ? TopicQuestion::Others::all : TopicQuestion::Others::aligned,
                             .partition_count = growth.topic->partition_count,
                             .aligned_max = kAlignedMax});
    }
    std::vector<std::vector<groups::TopicReader>> readers = sources.cluster.parts().groups.readers_of(questions);

    std::vector<GrowthFacts> gathered;
    for (std::size_t index = 0; index < wanted.size(); ++index) {
        GrowthFacts& facts = gathered.emplace_back();
        facts.topic = wanted[index].topic;
        facts.new_count = wanted[index].new_count;
        if (!states[index]) {
            facts.planned.old_count = facts.topic->partition_count;
            facts.planned.new_count = facts.new_count;
            continue;
        }
        const logs::TopicState& state = *states[index];
        facts.mode = state.config->expansion_mode;
        facts.is_guard_overridden = state.config->expansion_guard_override;
        facts.are_groups_known = are_groups_known;
        facts.window_is_open = state.expansion && state.expansion->has_open_window();
        if (facts.mode == ExpansionMode::guarded) {
            facts.guard = guard_facts(wanted[index], state, readers[index], all, drained, now);
        }
        facts.planned = insight::planned_topic(sources.facts(), insight::LocalTopic(state, sources.cluster.parts().transactions),
                                               facts.topic->partition_count, facts.new_count,
                                               insight::group_facts(state.partitions.size(), std::move(readers[index])), names);
        insight::skip_undeliverable(state, drained, facts.planned.groups);
        facts.planned.producers = insight::producer_facts(sources.keys, state.topic->id, facts.planned.now);
        if (facts.guard) {
            facts.guard->owning_application = facts.planned.owning_application;
            facts.guard->open_transactions = facts.planned.open_transactions;
        }
    }
    return gathered;
}

bool has_new_readers(GroupShards& groups, const catalog::Topic& topic, std::span<const std::string> known) {
    return std::ranges::any_of(groups.readers_of(topic.name, topic.id), [&](const groups::TopicReader& reader) {
        return !std::ranges::binary_search(known, reader.group_id);
    });
}

}  // namespace partita::runtime
