#include <algorithm>
#include <limits>
#include <utility>

#include "broker/groups/consumer_steps.h"
#include "broker/groups/limits.h"
#include "broker/groups/topic_regex.h"

namespace partita::groups {

std::optional<Refusal> ConsumerSteps::refuse_regex(std::string_view before, std::string_view after, const ConsumerGroup* group) {
    if (after.empty() || after == before || (group != nullptr && group->regex_subscribers(after) > 0)) {
        return std::nullopt;
    }
    if (const auto complaint = regex_complaint(after)) {
        return Refusal{ErrorCode::invalid_regular_expression, "SubscribedTopicRegex `" + std::string(after) +
                                                                  "` is not a valid regular expression: " + *complaint + "."};
    }
    return std::nullopt;
}

/// The member's new subscription is already in force.
ConsumerSteps::RegexUpdate ConsumerSteps::update_regex(const ConsumerGroup& group, const std::string& before,
                                                       const std::string& after, Now now, Effects& effects) {
    RegexUpdate update{.changed = before != after};
    bool is_new = false;
    if (update.changed) {
        forget_unused_regex(group, before, effects);
        if (after.empty()) {
            update.is_resolved = true;
        } else if (group.regex_subscribers(after) == 1) {
            is_new = true;
        } else {
            update.is_resolved = group.resolved(after) != nullptr;
        }
    }
    if (group.regexes().empty()) {
        return update;
    }
    std::int64_t resolved_at = std::numeric_limits<std::int64_t>::min();
    std::int64_t resolved_version = 0;
    for (const auto& [regex, resolved] : group.resolved_regexes()) {
        resolved_at = std::max(resolved_at, resolved.timestamp.value);
        resolved_version = std::max(resolved_version, resolved.version);
    }
    if (!group.resolved_regexes().empty() && now.wall.value >= resolved_at &&
        now.wall.value <= resolved_at + kMinRegexRefreshIntervalMs) {
        return update;
    }
    update.resolve = is_new || group.resolved_regexes().size() != group.regexes().size() ||
                     resolved_version < environment_.version_with_new_topics ||
                     now.wall.value > resolved_at + environment_.config.consumer_regex_refresh_interval_ms;
    return update;
}

void ConsumerSteps::forget_unused_regex(const ConsumerGroup& group, const std::string& regex, Effects& effects) {
    if (!regex.empty() && group.regex_subscribers(regex) == 0) {
        table_.change(group.id(), ConsumerGroupTombstone{ConsumerGroupTombstone::Kind::regular_expression, {}, regex}, effects);
    }
}

/// Resolves all expressions of the group together, so that one round of new topics costs one rebalance.
void ConsumerSteps::resolve_group_regexes(const ConsumerGroup& group, const TopicFilter* may_describe, Now now,
                                          Effects& effects) {
    std::vector<std::string> regexes;
    for (const auto& [regex, subscribers] : group.regexes()) {
        regexes.push_back(regex);
    }
    bool topics_changed = false;
    for (const auto& [regex, topics] : resolve_regexes(regexes, *environment_.cluster, may_describe)) {
        const ResolvedRegex* before = group.resolved(regex);
        topics_changed |= before == nullptr ? !topics.empty() : before->topics != topics;
        table_.change(group.id(),
                      RegularExpressionRecord{.regex = regex,
                                              .topics = {topics.begin(), topics.end()},
                                              .version = environment_.cluster->version(),
                                              .timestamp = now.wall},
                      effects);
    }
    group.seen_metadata_version = -1;
    update_group_epoch(group, topics_changed, effects);
}

}  // namespace partita::groups
