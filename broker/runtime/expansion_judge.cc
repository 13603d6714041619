// How the modes judge a CreatePartitions request. See expansions.h; the rules and texts are in
// broker/expansion/guard.h.

#include <algorithm>
#include <map>

#include "broker/expansion/lineage.h"
#include "broker/runtime/broker.h"
#include "broker/runtime/drained_position.h"
#include "broker/runtime/expansions.h"
#include "broker/runtime/topic_plan.h"

namespace partita::runtime {
namespace {

using config::ExpansionMode;
using topics::CatalogError;

CatalogError refused(std::string message) { return {ErrorCode::policy_violation, std::move(message)}; }

/// Does the request let `topic` grow to the same count?
bool grows_too(const topics::CreatePartitionsCommand& command, std::string_view topic, std::int32_t new_count) {
    return std::ranges::any_of(command.topics, [&](const topics::TopicToExpand& wish) {
        return wish.name == topic && wish.count == new_count;
    });
}

expansion::GuardedGroup guarded_group(const groups::TopicReader& reader, const TopicState& topic) {
    expansion::GuardedGroup group{.group_id = reader.group_id, .is_streams = reader.is_streams()};
    for (std::size_t index = 0; index < topic.partitions.size(); ++index) {
        const PartitionLog& log = *topic.partitions[index]->log;
        const auto committed = reader.committed.find(PartitionIndex{static_cast<std::int32_t>(index)});
        const bool has_committed = committed != reader.committed.end();
        const Offset end = log.high_watermark();
        const Offset next = first_deliverable(log, has_committed ? committed->second : log.log_start_offset(), false);
        if (next >= end) {
            continue;
        }
        if (has_committed) {
            group.unread_records += end - next;
        } else {
            ++group.uncommitted_partitions;
        }
    }
    return group;
}

}  // namespace

void Expansions::protect(topics::CreatePartitionsCommand& command, Turn& turn) {
    auto decisions = std::make_shared<std::map<TopicId, Decision>>();
    command.judge = [this, &command, &turn, decisions](const topics::Topic& topic, std::int32_t new_count) {
        Decision decision;
        CatalogError error = judge(command, topic, new_count, turn, decision);
        decisions->insert_or_assign(topic.id, std::move(decision));
        return error;
    };
    command.circumstances = [decisions, known_so_far = std::move(command.circumstances)](const topics::Topic& topic,
                                                                                          std::int32_t new_count) {
        topics::ExpansionCircumstances known =
            known_so_far ? known_so_far(topic, new_count) : topics::ExpansionCircumstances{};
        const Decision& decision = decisions->at(topic.id);
        known.mode = config::expansion_mode_name(decision.mode);
        known.override_used = decision.override_used;
        known.seeded_groups = decision.seeded_groups;
        if (!decision.verdict.empty()) {
            known.verdict = decision.verdict;
            known.findings.insert(known.findings.end(), decision.findings.begin(), decision.findings.end());
            std::ranges::sort(known.findings);
            const auto repeated = std::ranges::unique(known.findings);
            known.findings.erase(repeated.begin(), repeated.end());
        }
        return known;
    };
}

CatalogError Expansions::judge(const topics::CreatePartitionsCommand& command, const topics::Topic& topic,
                               std::int32_t new_count, Turn& turn, Decision& decision) {
    const std::shared_ptr<const TopicState> state = broker_.topic_table()->share(topic.id);
    decision.mode = state->config->expansion_mode;
    if (decision.mode == ExpansionMode::faithful) {
        return {};
    }
    if (topic.internal) {
        return refused(expansion::internal_topic_refusal(topic.name));
    }
    if (!broker_.groups().is_complete()) {
        return {ErrorCode::kafka_storage_error, "A coordinator is being rebuilt after a failed write; try again."};
    }
    switch (decision.mode) {
        case ExpansionMode::faithful:
            return {};
        case ExpansionMode::safe_offsets:
            return choose_seeds(topic, decision);
        case ExpansionMode::guarded:
            return judge_guarded(command, *state, new_count, turn, decision);
        case ExpansionMode::fenced:
            break;
    }
    const bool window_is_open = state->expansion && state->expansion->has_open_window();
    if (auto refusal = expansion::fence_refusal(topic.name, topic.partition_count, new_count, window_is_open)) {
        return refused(std::move(*refusal));
    }
    return choose_seeds(topic, decision);
}

CatalogError Expansions::choose_seeds(const topics::Topic& topic, Decision& decision) {
    for (groups::TopicReader& reader : broker_.groups().readers_of(topic.name, topic.id)) {
        if (reader.group_id.size() > topics::ExpansionCircumstances::kTextBytesMax ||
            decision.seeded_groups.size() == topics::ExpansionCircumstances::kGroupsMax) {
            return refused("Topic " + topic.name + " cannot grow in mode " +
                           std::string(config::expansion_mode_name(decision.mode)) + ": more than " +
                           std::to_string(topics::ExpansionCircumstances::kGroupsMax) +
                           " groups read it, or the id of one is longer than " +
                           std::to_string(topics::ExpansionCircumstances::kTextBytesMax) +
                           " bytes, and the record of an expansion names each of them.");
        }
        decision.seeded_groups.push_back(std::move(reader.group_id));
    }
    std::ranges::sort(decision.seeded_groups);
    return {};
}

CatalogError Expansions::judge_guarded(const topics::CreatePartitionsCommand& command, const TopicState& topic,
                                       std::int32_t new_count, Turn& turn, Decision& decision) {
    const expansion::GuardFacts facts = guard_facts(command, topic, new_count, turn);
    const std::vector<expansion::Blocker> blockers = expansion::find_blockers(facts);
    decision.verdict = blockers.empty() ? "safe" : "blocked";
    for (const expansion::Blocker& blocker : blockers) {
        decision.findings.push_back(expansion::to_string(blocker.id));
    }
    if (blockers.empty()) {
        return {};
    }
    if (topic.config->expansion_guard_override) {
        decision.override_used = "partita.expansion.guard.override";
        return {};
    }
    if (!command.validate_only && confirmations_.confirm(topic.topic->name, new_count, turn.now().monotonic)) {
        decision.override_used = "second request";
        return {};
    }
    return refused(expansion::guard_refusal(facts, blockers));
}

expansion::GuardFacts Expansions::guard_facts(const topics::CreatePartitionsCommand& command, const TopicState& topic,
                                              std::int32_t new_count, Turn& turn) {
    expansion::GuardFacts facts{.topic = topic.topic->name,
                                .old_count = topic.topic->partition_count,
                                .new_count = new_count,
                                .quiet_ms = topic.config->expansion_guard_quiet_ms};
    if (topic.expansion) {
        TopicExpansion::ProducerActivity activity = topic.expansion->producer_activity(turn.now().monotonic);
        facts.producers = std::move(activity.silent_ms);
        facts.producers_known_for_ms = activity.known_for_ms;
    }
    for (std::size_t index = 0; index < topic.partitions.size(); ++index) {
        const PartitionLog& log = *topic.partitions[index]->log;
        facts.has_records = facts.has_records || log.log_end_offset() > log.log_start_offset();
        if (log.last_stable_offset() < log.high_watermark()) {
            facts.open_transactions.push_back(PartitionIndex{static_cast<std::int32_t>(index)});
        }
    }
    for (const groups::TopicReader& reader : broker_.groups().readers_of(topic.topic->name, topic.topic->id)) {
        expansion::GuardedGroup group = guarded_group(reader, topic);
        group.copartitioned_with = copartitioned(command, topic, new_count, reader);
        facts.groups.push_back(std::move(group));
    }
    std::ranges::sort(facts.groups, {}, &expansion::GuardedGroup::group_id);
    facts.owning_application = owning_application(broker_, topic.topic->name);
    return facts;
}

std::vector<std::string> Expansions::copartitioned(const topics::CreatePartitionsCommand& command,
                                                   const TopicState& topic, std::int32_t new_count,
                                                   const groups::TopicReader& group) {
    std::vector<std::string> found;
    const std::shared_ptr<const TopicTable> table = broker_.topic_table();
    for (const std::string& name : group.subscriptions) {
        const TopicState* other = table->find(name);
        if (other == nullptr || other->topic == topic.topic || topic.topic->partition_count < 2 ||
            other->topic->partition_count != topic.topic->partition_count || grows_too(command, name, new_count)) {
            continue;
        }
        const auto readers = broker_.groups().readers_of(name, other->topic->id);
        const auto same = std::ranges::find(readers, group.group_id, &groups::TopicReader::group_id);
        if (same != readers.end() && group.holds_the_same_as(*same)) {
            found.push_back(name);
        }
    }
    return found;
}

}  // namespace partita::runtime
