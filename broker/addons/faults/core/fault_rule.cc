#include "broker/addons/faults/core/fault_rule.h"

#include <algorithm>
#include <cmath>

namespace partita::faults {
namespace {

bool is_id(std::string_view text) {
    return std::ranges::all_of(text, [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') || each == '.' ||
               each == '_' || each == '-';
    });
}

std::unexpected<std::string> wrong(std::string sentence) { return std::unexpected(std::move(sentence)); }

std::expected<void, std::string> check_texts(const Rule& rule) {
    if (!is_id(rule.id)) {
        return wrong("\"id\" may have letters, digits, '.', '_' and '-'");
    }
    const Match& match = rule.match;
    for (const std::string* text : {&rule.id, &match.client_id, &match.software, &match.principal, &match.group, &match.topic,
                                    &match.listener, &rule.when.after_fault}) {
        if (text->size() > Rule::kTextBytesMax) {
            return wrong("a text of a rule may have " + std::to_string(Rule::kTextBytesMax) + " bytes");
        }
    }
    return {};
}

std::expected<void, std::string> check_when(const When& when) {
    if (when.nth < 1 || when.every < 1) {
        return wrong("\"nth\" and \"every\" count from 1");
    }
    if (when.times < 0 || when.after_ms < 0 || when.for_ms < 0) {
        return wrong("\"times\", \"after_ms\" and \"for_ms\" must not be negative");
    }
    if (!std::isfinite(when.probability) || when.probability < 0 || when.probability > 1) {
        return wrong("\"probability\" must lie between 0 and 1");
    }
    return {};
}

std::expected<void, std::string> check_stale(const StaleMetadata& stale) {
    const bool is_known = stale.partitions || stale.shuffled || stale.leader;
    if (stale.missing == is_known) {
        return wrong("\"stale_metadata\" has \"missing\", or some of \"partitions\", \"shuffled\" and \"leader\"");
    }
    if (stale.partitions.value_or(1) < 1) {
        return wrong("\"partitions\" of \"stale_metadata\" counts from 1");
    }
    if (stale.leader.value_or(0) < StaleMetadata::kNoLeader) {
        return wrong("\"leader\" of \"stale_metadata\" is -1 or the id of a broker");
    }
    return {};
}

std::expected<void, std::string> check_disk(const Rule& rule, bool has_other_action) {
    if (has_other_action || (rule.action.disk_full && rule.action.sync_fails)) {
        return wrong("\"disk_full\" and \"sync_fails\" are each alone in \"do\" of a rule");
    }
    const Match& match = rule.match;
    if (match.api || match.version || !match.client_id.empty() || !match.software.empty() || !match.principal.empty() ||
        !match.group.empty() || !match.listener.empty() || match.broker) {
        return wrong("\"disk_full\" and \"sync_fails\" match files, so \"match\" may have only \"topic\" and \"partition\"");
    }
    if (match.partition && match.topic.empty()) {
        return wrong("\"partition\" needs its \"topic\" in a rule about files");
    }
    return {};
}

std::expected<void, std::string> check_action(const Rule& rule) {
    const Action& action = rule.action;
    const int ends = (action.error ? 1 : 0) + (action.drop_request ? 1 : 0) + (action.drop_response ? 1 : 0) +
                     (action.disconnect ? 1 : 0) + (action.throttle_ms > 0 ? 1 : 0) + (action.corrupt_records ? 1 : 0) +
                     (action.truncate_records ? 1 : 0) + (action.stale_metadata ? 1 : 0) + (action.log_start ? 1 : 0);
    if (ends > 1) {
        return wrong(
            "a rule does one of \"error\", \"drop_request\", \"drop_response\", \"disconnect\", \"throttle_ms\", "
            "\"corrupt_records\", \"truncate_records\", \"stale_metadata\" and \"log_start\"");
    }
    if (action.log_start.value_or(0) < 0) {
        return wrong("\"log_start\" must not be negative");
    }
    if (action.stale_metadata) {
        if (auto checked = check_stale(*action.stale_metadata); !checked) {
            return checked;
        }
    }
    for (const std::int64_t wait_ms : {action.delay_ms, std::int64_t{action.throttle_ms}}) {
        if (wait_ms < 0 || wait_ms > Rule::kWaitMsMax) {
            return wrong("\"delay_ms\" and \"throttle_ms\" lie between 0 and " + std::to_string(Rule::kWaitMsMax));
        }
    }
    if (action.takes_effect && !action.error) {
        return wrong("\"takes_effect\" needs an \"error\"");
    }
    if (action.error == ErrorCode::none) {
        return wrong("NONE is no error");
    }
    if (action.slow_bytes_per_s < 0 || action.slow_bytes_per_s > Rule::kBytesPerSMax) {
        return wrong("\"slow_bytes_per_s\" lies between 0 and " + std::to_string(Rule::kBytesPerSMax));
    }
    if (action.reset_after_bytes.value_or(0) < 0) {
        return wrong("\"reset_after_bytes\" must not be negative");
    }
    const bool has_way = action.slow_bytes_per_s > 0 || action.reset_after_bytes || action.duplicate_response;
    if (has_way && (action.drop_request || action.drop_response || action.disconnect)) {
        return wrong(
            "\"slow_bytes_per_s\", \"reset_after_bytes\" and \"duplicate_response\" need an answer, so they do not go with "
            "\"drop_request\", \"drop_response\" and \"disconnect\"");
    }
    const bool is_about_requests = ends > 0 || has_way || action.delay_ms > 0 || action.hold;
    if (is_about_disk(action)) {
        return check_disk(rule, is_about_requests);
    }
    if (!is_about_requests) {
        return wrong("\"do\" of a rule names no action");
    }
    return {};
}

}  // namespace

bool changes_answer(const Action& action) {
    return action.corrupt_records || action.truncate_records || action.stale_metadata || action.log_start;
}

bool is_about_disk(const Action& action) { return action.disk_full || action.sync_fails; }

bool concerns(const Action& action, ApiKey api) {
    if (action.stale_metadata) {
        return api == ApiKey::metadata || api == ApiKey::describe_topic_partitions;
    }
    return !changes_answer(action) || api == ApiKey::fetch || (action.log_start && api == ApiKey::list_offsets);
}

std::expected<void, std::string> check(const Rule& rule) {
    if (auto checked = check_texts(rule); !checked) {
        return checked;
    }
    if (rule.match.version && !rule.match.api) {
        return wrong("\"version\" of a rule needs its \"api\"");
    }
    if (rule.match.api && !is_about_disk(rule.action) && !concerns(rule.action, *rule.match.api)) {
        return wrong(rule.action.log_start ? "\"log_start\" concerns only the apis Fetch and ListOffsets"
                     : rule.action.stale_metadata
                         ? "\"stale_metadata\" concerns only the apis Metadata and DescribeTopicPartitions"
                         : "\"corrupt_records\" and \"truncate_records\" concern only the api Fetch");
    }
    if (auto checked = check_when(rule.when); !checked) {
        return checked;
    }
    return check_action(rule);
}

}  // namespace partita::faults
