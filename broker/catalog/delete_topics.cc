#include <map>
#include <set>
#include <utility>

#include "broker/catalog/catalog_core.h"
#include "broker/catalog/change_builder.h"
#include "broker/catalog/mutation_quotas.h"

namespace partita::catalog {
namespace {

constexpr std::int16_t kFirstVersionWithDeletionDisabled = 3;

DeletedTopic refused(std::optional<std::string_view> name, const TopicId& id, ErrorCode code, std::string_view message) {
    DeletedTopic result;
    if (name) {
        result.name = std::string(*name);
    }
    result.id = id;
    result.error = {code, std::string(message)};
    return result;
}

/// The error that applies to every topic before any is checked; null if there is none.
std::optional<ErrorCode> failure_of_all(const DeleteTopics& command, const CatalogSettings& settings) {
    if (!settings.delete_topic_enable) {
        return command.request_version < kFirstVersionWithDeletionDisabled ? ErrorCode::invalid_request
                                                                           : ErrorCode::topic_deletion_disabled;
    }
    if (command.has_no_time) {
        return ErrorCode::request_timed_out;
    }
    return std::nullopt;
}

DeleteTopicsResult all_refused(const DeleteTopics& command, ErrorCode code) {
    DeleteTopicsResult answer;
    for (const TopicReference& topic : command.topics) {
        answer.topics.push_back(refused(topic.name, topic.id, code, ""));
        answer.topics.back().error.message.reset();
    }
    return answer;
}

/// The names and ids that the request asks for, with their counts.
struct Wishes {
    std::map<std::string_view, int> names;
    std::map<TopicId, int> ids;
};

/// Sorts out entries that name nothing, or name a topic in two ways.
Wishes count_wishes(const DeleteTopics& command, DeleteTopicsResult& answer) {
    Wishes wishes;
    for (const TopicReference& topic : command.topics) {
        if (topic.name && !topic.id.is_zero()) {
            answer.topics.push_back(
                refused(topic.name, topic.id, ErrorCode::invalid_request, "You may not specify both topic name and topic id."));
        } else if (topic.name) {
            ++wishes.names[*topic.name];
        } else if (!topic.id.is_zero()) {
            ++wishes.ids[topic.id];
        } else {
            answer.topics.push_back(
                refused(std::nullopt, TopicId{}, ErrorCode::invalid_request, "Neither topic name nor id were specified."));
        }
    }
    return wishes;
}

}  // namespace

Decision<DeleteTopics> CatalogCore::decide(const DeleteTopics& command, const CatalogContext& context) const {
    if (const auto failure = failure_of_all(command, context.settings)) {
        return {all_refused(command, *failure), {}};
    }

    DeleteTopicsResult answer;
    Wishes wishes = count_wishes(command, answer);
    for (const auto& [name, count] : wishes.names) {
        if (count > 1) {
            answer.topics.push_back(refused(name, TopicId{}, ErrorCode::invalid_request, kDuplicateTopicName));
        }
    }
    for (const auto& [id, count] : wishes.ids) {
        if (count > 1) {
            answer.topics.push_back(refused(std::nullopt, id, ErrorCode::invalid_request, "Duplicate topic id."));
        }
    }

    // Ids first, then names, as in Kafka: a name whose id also came cancels both.
    std::set<TopicId> doomed;
    for (const auto& [id, count] : wishes.ids) {
        if (count > 1) {
            continue;
        }
        if (snapshot_->find_topic(id) == nullptr) {
            answer.topics.push_back(
                refused(std::nullopt, id, ErrorCode::unknown_topic_id, error_message(ErrorCode::unknown_topic_id)));
        } else {
            doomed.insert(id);
        }
    }
    for (const auto& [name, count] : wishes.names) {
        if (count > 1) {
            continue;
        }
        const Topic* topic = snapshot_->find_topic(name);
        if (topic == nullptr) {
            answer.topics.push_back(refused(name, TopicId{}, ErrorCode::unknown_topic_or_partition,
                                            error_message(ErrorCode::unknown_topic_or_partition)));
        } else if (wishes.ids.contains(topic->id)) {
            doomed.erase(topic->id);
            answer.topics.push_back(refused(name, topic->id, ErrorCode::invalid_request,
                                            "The provided topic name maps to an ID that was already supplied."));
        } else {
            doomed.insert(topic->id);
        }
    }

    ChangeBuilder change(snapshot_);
    MutationMeter meter(*snapshot_, command.client, context);
    for (const TopicReference& wish : command.topics) {
        const TopicPointer topic = wish.name ? snapshot_->share_topic(*wish.name) : snapshot_->share_topic(wish.id);
        if (!topic || doomed.erase(topic->id) == 0) {
            continue;
        }
        CatalogError throttled = meter.charge(topic->partition_count);
        if (!throttled.failed()) {
            change.delete_topic(topic);
        }
        answer.topics.push_back({.name = topic->name, .id = topic->id, .error = std::move(throttled)});
    }
    answer.throttle_ms = meter.throttle_ms();
    return {std::move(answer), change.finish()};
}

}  // namespace partita::catalog
