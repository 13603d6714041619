#include "broker/insight/shell/topic_plan.h"

#include <algorithm>
#include <memory>

#include "broker/insight/identity/applications.h"
#include "broker/insight/plan/streams_topics.h"
#include "broker/insight/shell/key_observer.h"

namespace partita::insight {
namespace {

/// Gives each internal topic with that count to the groups whose ids are prefixes of its name.
void add_internal_topics(const ClusterNames& names, std::int32_t old_count, std::vector<GroupFacts>& groups) {
    for (const ClusterNames::Topic& internal : names.streams_internal) {
        if (internal.partition_count != old_count) {
            continue;
        }
        const std::string_view name = internal.name;
        for (std::size_t dash = name.find('-'); dash != std::string_view::npos; dash = name.find('-', dash + 1)) {
            const auto group = std::ranges::lower_bound(groups, name.substr(0, dash), {}, &GroupFacts::group_id);
            if (group != groups.end() && group->group_id == name.substr(0, dash)) {
                group->internal_topics.emplace_back(internal.name);
            }
        }
    }
}

/// The facts about one topic, with those facts about other topics of its groups that the question asks for.
PlannedTopic facts_of(const PlanSources& sources, const ObservedTopics& topics, const ObservedTopic& topic,
                      std::int32_t new_count, const ReaderQuestion& question) {
    return planned_topic(sources, topic, question.partition_count, new_count,
                         sources.cluster.groups().readers_of(topic, question), names_in(topics));
}

}  // namespace

void count_unread(RecordCounter& counter, PlannedTopic& facts) {
    for (GroupFacts& group : facts.groups) {
        RecordCount unread;
        for (std::size_t index = 0; index < facts.partitions.size(); ++index) {
            const PartitionIndex partition{static_cast<std::int32_t>(index)};
            const PartitionFacts& log = facts.partitions[index];
            const Offset position = std::max(position_of(group, partition).value_or(log.log_start), log.log_start);
            if (position < log.log_end) {
                unread += counter.between(partition, position, log.log_end);
            }
        }
        group.unread = unread;
    }
}

ClusterNames names_in(const ObservedTopics& topics) {
    ClusterNames names;
    topics.for_each_name([&](std::string_view name, std::int32_t partition_count) {
        if (is_streams_internal_topic(name)) {
            names.streams_internal.push_back({name, partition_count});
        }
        if (is_mirror_topic(name)) {
            names.mirrors.emplace_back(name);
        }
    });
    return names;
}

PlannedTopic planned_topic(const PlanSources& sources, const ObservedTopic& topic, std::int32_t old_count, std::int32_t new_count,
                           std::vector<GroupFacts> groups, const ClusterNames& names) {
    const TopicTraits traits = topic.traits();
    PlannedTopic facts;
    facts.name = topic.name();
    facts.old_count = old_count;
    facts.new_count = new_count;
    facts.is_internal = traits.is_internal;
    facts.is_compacted = traits.is_compacted;
    facts.is_deleted_by_age = traits.is_deleted_by_age;
    facts.retention_ms = traits.retention_ms;
    facts.seeds_offsets = traits.seeds_offsets;
    facts.now = sources.clock.now().wall;
    for (const LogEdges& log : topic.logs()) {
        facts.partitions.push_back({.log_start = log.start, .log_end = log.end});
    }
    facts.open_transactions = topic.open_transactions();
    facts.earlier = topic.growths();
    facts.is_history_known = traits.created != kNoTimestamp;
    facts.groups = std::move(groups);
    add_internal_topics(names, old_count, facts.groups);
    facts.mirror_topics = names.mirrors;
    facts.owning_application =
        owning_application(facts.name, [&](std::string_view group) { return sources.cluster.groups().protocol_of(group); });
    return facts;
}

std::vector<ProducerFacts> producer_facts(KeyObserver& keys, const TopicId& topic, TimestampMs now) {
    std::vector<ProducerFacts> producers;
    for (const ProducerReport& report : keys.producers(topic)) {
        if (now.value - report.last_seen.value >= TopicWatch::kSilentMs) {
            continue;
        }
        producers.push_back({to_string(report.identity), report.verdict.habit, report.identity.producer_id != kNoProducerId});
    }
    return producers;
}

std::expected<PlannedTopic, PlanFactsError> plan_facts(const PlanSources& sources, std::string_view name,
                                                       std::int64_t new_count) {
    const std::shared_ptr<const ObservedTopics> topics = sources.cluster.topics();
    const std::unique_ptr<ObservedTopic> topic = topics->find(name);
    if (topic == nullptr) {
        return std::unexpected(PlanFactsError{PlanFactsError::Kind::unknown_topic, "there is no topic " + std::string(name)});
    }
    const std::int32_t old_count = topic->partition_count();
    if (auto problem = target_problem(name, old_count, new_count)) {
        return std::unexpected(PlanFactsError{PlanFactsError::Kind::invalid_target, std::move(*problem)});
    }
    PlannedTopic facts = facts_of(sources, *topics, *topic, static_cast<std::int32_t>(new_count),
                                  {.others = ReaderQuestion::Others::all, .partition_count = old_count});
    facts.producers = producer_facts(sources.keys, topic->ref().id, facts.now);
    return facts;
}

PlannedTopic growth_facts(const PlanSources& sources, const ObservedTopic& topic, std::size_t aligned_max,
                          std::span<const std::pair<std::string_view, std::string_view>> joins) {
    const EarlierExpansion last = topic.growths().back();
    PlannedTopic facts = facts_of(sources, *sources.cluster.topics(), topic, last.new_count,
                                  {.others = ReaderQuestion::Others::aligned,
                                   .partition_count = last.old_count,
                                   .aligned_max = aligned_max,
                                   .besides = joins});
    topic.find_positions(facts.groups);
    return facts;
}

std::string plan_sentence(const PlannedTopic& facts) {
    const Plan plan = make_plan_without_scan(facts);
    std::string sentence = "Topic " + plan.topic + " may grow from " + std::to_string(plan.from) + " to " +
                           std::to_string(plan.to) + " partitions: " + to_percent(plan.expected_key_share) +
                           " of evenly hashed keys move.";
    std::string ids;
    for (const Finding& finding : plan.findings) {
        const std::string id = to_string(finding.id);
        if (finding.severity != Severity::info && ids.find(id) == std::string::npos) {
            ids += (ids.empty() ? "" : ", ") + id;
        }
    }
    if (!ids.empty()) {
        sentence += " Findings: " + ids + ".";
    }
    return sentence + " For the keys themselves: partita plan " + plan.topic + " --to " + std::to_string(plan.to);
}

}  // namespace partita::insight
