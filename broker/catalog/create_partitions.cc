#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "broker/catalog/catalog_core.h"
#include "broker/catalog/catalog_limits.h"
#include "broker/catalog/change_builder.h"
#include "broker/catalog/mutation_quotas.h"
#include "protocol/assert.h"

namespace partita::catalog {
namespace {

CatalogError error(ErrorCode code, std::string message) { return {code, std::move(message)}; }

/// Checks Kafka's rules in Kafka's order. `records_before` counts the partitions that the request added so far.
CatalogError judge(const TopicToExpand& wish, const Topic* topic, std::int64_t records_before, const CatalogSettings& settings,
                   LimitedCommand& limited, MutationMeter& meter) {
    if (topic == nullptr) {
        return {ErrorCode::unknown_topic_or_partition, std::nullopt};
    }
    const std::string current = std::to_string(topic->partition_count);
    if (wish.count == topic->partition_count) {
        return error(ErrorCode::invalid_partitions, "Topic already has " + current + " partition(s).");
    }
    if (wish.count < topic->partition_count) {
        return error(ErrorCode::invalid_partitions, "The topic " + topic->name + " currently has " + current + " partition(s); " +
                                                        std::to_string(wish.count) + " would not be an increase.");
    }
    const std::int64_t added = static_cast<std::int64_t>(wish.count) - topic->partition_count;
    if (wish.assignments && static_cast<std::int64_t>(wish.assignments->size()) != added) {
        return error(ErrorCode::invalid_replica_assignment,
                     "Attempted to add " + std::to_string(added) + " additional partition(s), but only " +
                         std::to_string(wish.assignments->size()) + " assignment(s) were specified.");
    }
    if (CatalogError beyond = limited.admit_growth(*topic, wish.count); beyond.failed()) {
        return beyond;
    }
    if (CatalogError throttled = meter.charge(added); throttled.failed()) {
        return throttled;
    }
    if (!wish.assignments && !settings.takes_new_partitions) {
        return error(ErrorCode::invalid_replication_factor, std::string(kNoPlace));
    }
    if (wish.assignments) {
        for (const std::vector<BrokerId>& brokers : *wish.assignments) {
            if (auto problem =
                    assignment_problem(brokers, static_cast<std::size_t>(topic->replication_factor), settings.brokers.value)) {
                return error(ErrorCode::invalid_replica_assignment, std::move(*problem));
            }
            const PartitionIndex partition{topic->partition_count +
                                           static_cast<std::int32_t>(&brokers - wish.assignments->data())};
            if (auto problem = dead_assignment_problem(brokers, partition, settings.fenced_brokers)) {
                return error(ErrorCode::invalid_replica_assignment, std::move(*problem));
            }
        }
    }
    if (records_before + added > kMaxRecordsPerRequest) {
        // Kafka hits its limit on records half-way and tells the client only this. Nothing of such an expansion is applied here.
        return error(ErrorCode::unknown_server_error, std::string(error_message(ErrorCode::unknown_server_error)));
    }
    return {};
}

std::vector<Offset> ends_at_the_cut(const Topic& topic, const CatalogContext& context) {
    std::vector<Offset> ends;
    if (context.log_end_offsets) {
        ends = context.log_end_offsets(topic);
    }
    PARTITA_ASSERT(ends.size() <= static_cast<std::size_t>(topic.partition_count), "one log end per partition at most");
    while (!ends.empty() && ends.back() == Offset{0}) {
        ends.pop_back();
    }
    return ends;
}

Topic expanded(const Topic& before, const TopicToExpand& wish, std::int64_t sequence, const CatalogContext& context) {
    Topic after = before;
    after.partition_count = wish.count;
    ExpansionEpoch expansion;
    expansion.epoch = static_cast<std::int32_t>(before.expansions.size()) + 1;
    expansion.old_partition_count = before.partition_count;
    expansion.new_partition_count = wish.count;
    expansion.time = context.now.wall;
    expansion.catalog_sequence = sequence;
    expansion.log_end_offsets = ends_at_the_cut(before, context);
    if (wish.judged != nullptr) {
        expansion.circumstances = wish.judged->circumstances;
    }
    after.expansions.push_back(std::make_shared<const ExpansionEpoch>(std::move(expansion)));
    return after;
}

}  // namespace

std::shared_ptr<const ExpansionCircumstances> bounded_circumstances(ExpansionCircumstances known) {
    RequestOrigin& origin = known.requested_by;
    for (std::string* text : {&origin.client_id, &origin.software_name, &origin.software_version, &origin.address,
                              &origin.principal, &known.mode, &known.verdict, &known.override_used}) {
        cut_text(*text);
    }
    for (GroupAtCut& group : known.groups) {
        cut_text(group.group_id);
    }
    std::ranges::sort(known.groups, {}, &GroupAtCut::group_id);
    known.group_count = std::max(known.group_count, static_cast<std::int32_t>(known.groups.size()));
    if (known.groups.size() > ExpansionCircumstances::kGroupsMax) {
        known.groups.resize(ExpansionCircumstances::kGroupsMax);
    }
    std::ranges::for_each(known.seeded_groups, cut_text);
    std::ranges::sort(known.seeded_groups);
    if (known.seeded_groups.size() > ExpansionCircumstances::kGroupsMax) {
        known.seeded_groups.resize(ExpansionCircumstances::kGroupsMax);
    }
    std::ranges::for_each(known.findings, cut_text);
    std::ranges::sort(known.findings);
    if (known.findings.size() > ExpansionCircumstances::kFindingsMax) {
        known.findings.resize(ExpansionCircumstances::kFindingsMax);
    }
    return std::make_shared<const ExpansionCircumstances>(std::move(known));
}

Decision<CreatePartitions> CatalogCore::decide(const CreatePartitions& command, const CatalogContext& context) const {
    std::map<std::string_view, int> occurrences;
    for (const TopicToExpand& wish : command.topics) {
        ++occurrences[wish.name];
    }

    CreatePartitionsResult answer;
    for (const TopicToExpand& wish : command.topics) {
        int& count = occurrences[wish.name];
        if (count < 2) {
            continue;
        }
        answer.topics.push_back({std::string(wish.name), error(ErrorCode::invalid_request, std::string(kDuplicateTopicName))});
        count = 0;
    }

    ChangeBuilder change(snapshot_);
    MutationMeter meter(*snapshot_, command.client, context);
    LimitedCommand limited(*snapshot_, context.settings.limits.value);
    std::int64_t records = 0;
    for (const TopicToExpand& wish : command.topics) {
        if (occurrences[wish.name] != 1) {
            continue;
        }
        const TopicPointer topic = snapshot_->share_topic(wish.name);
        CatalogError judged = judge(wish, topic.get(), records, context.settings, limited, meter);
        if (!judged.failed() && wish.judged != nullptr) {
            judged = wish.judged->refusal;
        }
        if (!judged.failed()) {
            records += wish.count - topic->partition_count;
            if (!command.validate_only) {
                change.expand_topic(topic, expanded(*topic, wish, change.next_sequence(), context),
                                    wish.assignments.value_or(std::vector<std::vector<BrokerId>>()));
            }
        }
        answer.topics.push_back({std::string(wish.name), std::move(judged)});
    }
    answer.throttle_ms = meter.throttle_ms();
    return {std::move(answer), change.finish()};
}

}  // namespace partita::catalog
