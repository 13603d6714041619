#include "broker/insight/plan/guard.h"

#include <algorithm>

#include "broker/insight/findings/sentence_numbers.h"
#include "broker/insight/plan/lineage.h"

namespace partita::insight {
namespace {

std::string seconds(std::int64_t duration_ms) {
    if (duration_ms < 10'000) {
        return std::to_string(duration_ms / 1000) + "." + std::to_string(duration_ms % 1000 / 100) + " s";
    }
    return std::to_string(duration_ms / 1000) + " s";
}

/// "6 to 8", the form that every text here uses.
std::string step(std::int32_t old_count, std::int32_t new_count) {
    return std::to_string(old_count) + " to " + std::to_string(new_count);
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

void add_group(const GuardedGroup& group, std::vector<Blocker>& blockers) {
    if (group.is_streams) {
        blockers.push_back(
            {HazardId::streams_application_dies,
             "the Kafka Streams application " + group.group_id + " reads it, and stops when the count of a source topic changes",
             group.group_id});
    } else if (!group.copartitioned_with.empty()) {
        blockers.push_back({HazardId::copartition_breaks,
                            "group " + group.group_id + " reads it together with " + joined(group.copartitioned_with) +
                                ", which has the same count and would not grow with it",
                            group.group_id});
    }
    if (group.unread.records > 0) {
        blockers.push_back({HazardId::backlog_inversion,
                            "group " + group.group_id + " has not read " + counted(group.unread, "record"), group.group_id});
    }
    if (group.uncommitted_partitions > 0) {
        blockers.push_back({HazardId::backlog_inversion,
                            "group " + group.group_id + " has committed nothing for " +
                                counted(group.uncommitted_partitions, "partition", "partitions") + " with records",
                            group.group_id});
    }
}

}  // namespace

std::vector<Blocker> find_blockers(const GuardFacts& facts) {
    std::vector<Blocker> blockers;
    if (facts.owning_application) {
        blockers.push_back(
            {HazardId::streams_internal_topic, "it belongs to the Kafka Streams application " + *facts.owning_application});
    }
    for (const GuardedGroup& group : facts.groups) {
        add_group(group, blockers);
    }
    for (const OpenTransaction& open : facts.open_transactions) {
        blockers.push_back({HazardId::open_transactions,
                            "transaction " + name_of(open) + " is open in " + counted(std::ssize(open.partitions), "partition")});
    }
    for (const auto& [producer, silent_ms] : facts.producers) {
        if (silent_ms < facts.quiet_ms) {
            blockers.push_back({HazardId::stale_producer,
                                "producer " + (producer.client_id.empty() ? "without a client.id" : producer.client_id) + " at " +
                                    producer.address + " wrote " + seconds(silent_ms) + " ago, but " + seconds(facts.quiet_ms) +
                                    " of silence are needed"});
        }
    }
    if (facts.has_records && facts.producers_known_for_ms < facts.quiet_ms) {
        blockers.push_back({HazardId::stale_producer, "the broker has watched its producers for " +
                                                          seconds(facts.producers_known_for_ms) + ", but " +
                                                          seconds(facts.quiet_ms) + " of silence are needed"});
    }
    // Worst first; equally bad blockers stay in the order in which they were found.
    std::ranges::stable_sort(blockers, std::ranges::greater(),
                             [](const Blocker& blocker) { return hazard(blocker.id).severity; });
    return blockers;
}

std::string guard_refusal(const GuardFacts& facts, const std::vector<Blocker>& blockers) {
    std::string text = "Topic " + facts.topic + " is guarded (partita.expansion.mode), and growing from " +
                       step(facts.old_count, facts.new_count) + " partitions is refused: ";
    for (std::size_t index = 0; index < std::min(blockers.size(), kSpelledBlockersMax); ++index) {
        text += (index == 0 ? "" : "; ") + blockers[index].reason + " (" + to_string(blockers[index].id) + ")";
    }
    if (blockers.size() > kSpelledBlockersMax) {
        text += "; and " + std::to_string(blockers.size() - kSpelledBlockersMax) + " more";
    }
    return text + ". To grow anyway, repeat the request within " + std::to_string(kConfirmationMs / 1000) +
           " s or set partita.expansion.guard.override=true on the topic. See " + std::string(kExpansionGuide) + ".";
}

std::string internal_topic_refusal(std::string_view topic) {
    return "Topic " + std::string(topic) +
           " belongs to the broker, which finds its content by a hash modulo its partition count: growing it loses groups and "
           "transactions (" +
           to_string(HazardId::internal_topic) + "). Only mode faithful (partita.expansion.mode) lets it grow.";
}

std::optional<std::string> fence_refusal(std::string_view topic, std::int32_t old_count, std::int32_t new_count,
                                         bool window_is_open) {
    const std::string prefix = "Topic " + std::string(topic) + " is fenced (partita.expansion.mode), and growing from " +
                               step(old_count, new_count) + " partitions is refused: ";
    if (const auto better = nearest_better_target(old_count, new_count)) {
        return prefix + std::to_string(new_count) + " is not a multiple of " + std::to_string(old_count) +
               ", so keys would move between old partitions, which cannot be fenced. Use " + std::to_string(*better) +
               " instead. See " + std::string(kExpansionGuide) + ".";
    }
    if (new_count % old_count != 0) {
        return prefix + std::to_string(new_count) + " is not a multiple of " + std::to_string(old_count) + ".";
    }
    if (window_is_open) {
        return prefix +
               "some producers may not know of the previous expansion yet, and a new partition can wait for only one parent. Try "
               "again when the window of that expansion has closed (partita.expansion.window.ms).";
    }
    return std::nullopt;
}

Blocker internal_topic_blocker(std::string_view topic) { return {HazardId::internal_topic, internal_topic_refusal(topic)}; }

std::optional<Blocker> fence_blocker(std::string_view topic, std::int32_t old_count, std::int32_t new_count,
                                     bool window_is_open) {
    std::optional<std::string> refusal = fence_refusal(topic, old_count, new_count, window_is_open);
    if (!refusal) {
        return std::nullopt;
    }
    return Blocker{window_is_open ? HazardId::stale_producer : HazardId::keys_shuffle_among_old_partitions, *std::move(refusal)};
}

bool Confirmations::confirm(std::string_view topic, std::int32_t new_count, std::string_view requester, Instant now) {
    std::pair<std::string, std::string> key{topic, requester};
    const auto known = refusals_.find(key);
    if (known != refusals_.end()) {
        const bool confirmed = known->second.new_count == new_count && now - known->second.at <= kConfirmationMs;
        if (confirmed) {
            refusals_.erase(known);
            return true;
        }
        known->second = {new_count, now};
        return false;
    }
    if (refusals_.size() == kRefusalsMax) {
        refusals_.erase(std::ranges::min_element(refusals_, {}, [](const auto& refusal) { return refusal.second.at; }));
    }
    refusals_.emplace(std::move(key), Refusal{new_count, now});
    return false;
}

}  // namespace partita::insight
