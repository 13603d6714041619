#include "broker/insight/shell/topic_plan.h"

#include <algorithm>

#include "broker/insight/identity/applications.h"
#include "broker/insight/plan/streams_topics.h"
#include "broker/insight/shell/key_observer.h"
#include "broker/insight/shell/open_transactions.h"
#include "broker/logs/drained_position.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/queries/topic_sizes.h"
#include "storage/log_markers.h"

namespace partita::runtime {
namespace {

using insight::GroupFacts;
using insight::PlannedTopic;

GroupFacts group_facts(const TopicState& topic, groups::TopicReader reader) {
    GroupFacts group;
    group.committed.assign(topic.partitions.size(), kNoOffset);
    for (const auto& [partition, offset] : reader.committed) {
        if (topic.topic->has_partition(partition)) {
            group.committed[static_cast<std::size_t>(partition.value)] = offset;
        }
    }
    for (groups::TopicReader::OtherTopic& other : reader.other_topics) {
        group.other_topics.push_back({std::move(other.name), other.partition_count, other.is_aligned});
    }
    group.reads_others = reader.reads_others;
    group.has_more_aligned = reader.has_more_aligned;
    group.state = reader.members.empty() ? "Empty" : "Active";
    for (groups::TopicReader::Member& member : reader.members) {
        group.members.push_back({std::move(member.client_id), std::move(member.client_host), std::move(member.assigned),
                                 std::move(member.member_id)});
    }
    group.seeded_partitions = static_cast<std::int64_t>(reader.seeds.size());
    group.group_id = std::move(reader.group_id);
    group.protocol_type = std::move(reader.protocol_type);
    group.protocol = std::move(reader.protocol);
    return group;
}

/// Gives each internal topic of that count to the groups by whose ids its name begins.
void add_internal_topics(const CatalogNames& names, std::int32_t old_count, std::vector<GroupFacts>& groups) {
    for (const catalog::TopicPointer& internal : names.streams_internal) {
        if (internal->partition_count != old_count) {
            continue;
        }
        const std::string_view name = internal->name;
        for (std::size_t dash = name.find('-'); dash != std::string_view::npos; dash = name.find('-', dash + 1)) {
            const auto group = std::ranges::lower_bound(groups, name.substr(0, dash), {}, &GroupFacts::group_id);
            if (group != groups.end() && group->group_id == name.substr(0, dash)) {
                group->internal_topics.push_back(internal->name);
            }
        }
    }
}

void add_logs(const TopicState& topic, PlannedTopic& facts) {
    for (const std::shared_ptr<Partition>& partition : topic.partitions) {
        const LogBounds bounds = log_bounds(*partition->log);
        insight::PartitionFacts& part = facts.partitions.emplace_back();
        part.log_end = bounds.end;
        part.log_start = bounds.start;
    }
}

/// One topic alone, with what the question asks for of the other topics that its groups read.
PlannedTopic facts_of(const PlanSources& sources, const TopicTable& table, const TopicState& topic, std::int32_t new_count,
                      groups::TopicQuestion question) {
    question.topic = topic.topic->name;
    question.topic_id = topic.topic->id;
    return planned_topic(sources, topic, question.partition_count, new_count,
                         std::move(sources.groups.readers_of({&question, 1}).front()), names_in(*table.catalog));
}

}  // namespace

void pass_what_nobody_reads(const TopicState& topic, DrainedPositions& drained, std::vector<GroupFacts>& groups) {
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

void count_unread(insight::RecordCounts& counts, PlannedTopic& facts) {
    for (GroupFacts& group : facts.groups) {
        insight::RecordCount unread;
        for (std::size_t index = 0; index < facts.partitions.size(); ++index) {
            const PartitionIndex partition{static_cast<std::int32_t>(index)};
            const insight::PartitionFacts& log = facts.partitions[index];
            const Offset position = std::max(position_of(group, partition).value_or(log.log_start), log.log_start);
            if (position < log.log_end) {
                unread += counts.between(partition, position, log.log_end);
            }
        }
        group.unread = unread;
    }
}

CatalogNames names_in(const catalog::CatalogSnapshot& catalog) {
    CatalogNames names;
    const catalog::TopicIndex& topics = catalog.topics();
    for (auto topic = topics.begin(); topic != topics.end(); ++topic) {
        if (insight::is_streams_internal_topic(topic->name)) {
            names.streams_internal.push_back(topic.shared());
        }
        if (insight::is_mirror_topic(topic->name)) {
            names.mirrors.push_back(topic->name);
        }
    }
    return names;
}

PlannedTopic planned_topic(const PlanSources& sources, const TopicState& topic, std::int32_t old_count, std::int32_t new_count,
                           std::vector<groups::TopicReader> readers, const CatalogNames& names) {
    PlannedTopic facts;
    facts.name = topic.topic->name;
    facts.old_count = old_count;
    facts.new_count = new_count;
    facts.is_internal = topic.topic->internal;
    facts.is_compacted = topic.config->cleanup_compact;
    facts.is_deleted_by_age = topic.config->cleanup_delete;
    facts.retention_ms = topic.config->retention_ms;
    facts.seeds_offsets = topic.config->expansion_mode != config::ExpansionMode::faithful;
    facts.now = sources.clock.now().wall;
    add_logs(topic, facts);
    facts.open_transactions = open_transactions(topic, sources.transactions);
    for (const auto& expansion : topic.topic->expansions) {
        facts.earlier.push_back(
            {expansion->old_partition_count, expansion->new_partition_count, expansion->time, expansion->log_end_offsets});
    }
    facts.is_history_known = topic.topic->created_time != kNoTimestamp;
    for (groups::TopicReader& reader : readers) {
        facts.groups.push_back(group_facts(topic, std::move(reader)));
    }
    std::ranges::sort(facts.groups, {}, &GroupFacts::group_id);
    add_internal_topics(names, old_count, facts.groups);
    facts.mirror_topics = names.mirrors;
    facts.owning_application = owning_application(sources.groups, facts.name);
    return facts;
}

std::optional<std::string> owning_application(GroupShards& groups, std::string_view topic) {
    return insight::owning_application(topic, [&](std::string_view group_id) { return groups.protocol_of(group_id); });
}

std::vector<insight::ProducerFacts> producer_facts(KeyObserver& keys, const TopicState& topic, TimestampMs now) {
    std::vector<insight::ProducerFacts> producers;
    for (const insight::ProducerReport& report : keys.producers(topic.topic->id)) {
        if (now.value - report.last_seen.value >= insight::TopicWatch::kSilentMs) {
            continue;
        }
        producers.push_back(
            {insight::to_string(report.identity), report.verdict.habit, report.identity.producer_id != kNoProducerId});
    }
    return producers;
}

std::expected<PlannedTopic, PlanFactsError> plan_facts(const PlanSources& sources, std::string_view name,
                                                       std::int64_t new_count) {
    const std::shared_ptr<const TopicTable> table = sources.topics.table();
    const TopicState* topic = table->find(name);
    if (topic == nullptr) {
        return std::unexpected(PlanFactsError{PlanFactsError::Kind::unknown_topic, "there is no topic " + std::string(name)});
    }
    const std::int32_t old_count = topic->topic->partition_count;
    if (auto problem = insight::target_problem(name, old_count, new_count)) {
        return std::unexpected(PlanFactsError{PlanFactsError::Kind::invalid_target, std::move(*problem)});
    }
    PlannedTopic facts = facts_of(sources, *table, *topic, static_cast<std::int32_t>(new_count),
                                  {.others = groups::TopicQuestion::Others::all, .partition_count = old_count});
    facts.producers = producer_facts(sources.keys, *topic, facts.now);
    return facts;
}

PlannedTopic growth_facts(const PlanSources& sources, const TopicState& topic, std::size_t aligned_max,
                          std::span<const std::pair<std::string_view, std::string_view>> joins) {
    const catalog::ExpansionEpoch& last = *topic.topic->expansions.back();
    PlannedTopic facts = facts_of(sources, *sources.topics.table(), topic, last.new_partition_count,
                                  {.others = groups::TopicQuestion::Others::aligned,
                                   .partition_count = last.old_partition_count,
                                   .aligned_max = aligned_max,
                                   .besides = joins});
    DrainedPositions drained;
    pass_what_nobody_reads(topic, drained, facts.groups);
    return facts;
}

catalog::ExpansionCircumstances expansion_circumstances(const PlannedTopic& facts, catalog::RequestOrigin requested_by) {
    catalog::ExpansionCircumstances known;
    known.requested_by = std::move(requested_by);
    const insight::Plan plan = insight::make_plan_without_scan(facts);
    known.verdict = insight::to_string(plan.verdict);
    for (const insight::Finding& finding : plan.findings) {
        known.findings.push_back(insight::to_string(finding.id));
    }
    std::ranges::sort(known.findings);
    const auto repeated = std::ranges::unique(known.findings);
    known.findings.erase(repeated.begin(), repeated.end());
    known.group_count = static_cast<std::int32_t>(facts.groups.size());
    for (std::size_t index = 0; index < plan.groups.size(); ++index) {
        const insight::PlannedGroup& group = plan.groups[index];
        const auto committed =
            std::ranges::count_if(facts.groups[index].committed, [](Offset offset) { return offset != kNoOffset; });
        known.groups.push_back({group.group_id, group.state, static_cast<std::int32_t>(group.members),
                                static_cast<std::int32_t>(committed), group.lag});
    }
    return known;
}

std::string plan_sentence(const PlannedTopic& facts) {
    const insight::Plan plan = insight::make_plan_without_scan(facts);
    std::string sentence = "Topic " + plan.topic + " may grow from " + std::to_string(plan.from) + " to " +
                           std::to_string(plan.to) + " partitions: " + insight::to_percent(plan.expected_key_share) +
                           " of evenly hashed keys move.";
    std::string ids;
    for (const insight::Finding& finding : plan.findings) {
        const std::string id = insight::to_string(finding.id);
        if (finding.severity != insight::Severity::info && ids.find(id) == std::string::npos) {
            ids += (ids.empty() ? "" : ", ") + id;
        }
    }
    if (!ids.empty()) {
        sentence += " Findings: " + ids + ".";
    }
    return sentence + " For the keys themselves: partita plan " + plan.topic + " --to " + std::to_string(plan.to);
}

std::vector<Offset> offsets_since(const PublishedTopics& topics, std::string_view name, TimestampMs since) {
    std::vector<Offset> offsets;
    const std::shared_ptr<const TopicTable> table = topics.table();
    const TopicState* topic = table->find(name);
    if (topic == nullptr) {
        return offsets;
    }
    for (const std::shared_ptr<Partition>& partition : topic->partitions) {
        const Offset end = partition->log->log_end_offset();
        const auto found = partition->log->offset_for_timestamp(since, end);
        // What cannot be looked up is read from its start: too much rather than too little.
        offsets.push_back(!found ? partition->log->log_start_offset() : *found ? (*found)->offset : end);
    }
    return offsets;
}

}  // namespace partita::runtime
