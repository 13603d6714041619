#include "storage/keyed_log_name.h"

#include "storage/partition_log.h"

namespace partita {
namespace {

/// Topic names may contain this character, texts of ids do not.
constexpr char kBeforeTopicId = '.';

}  // namespace

std::string keyed_log_name(const PartitionLog& log) { return keyed_log_name(log.directory_name(), log.topic().id); }

std::string keyed_log_name(std::string_view directory_name, const TopicId& topic) {
    return std::string(directory_name) + kBeforeTopicId + topic.to_string();
}

std::optional<TopicId> topic_of_keyed_log(std::string_view name) {
    const std::size_t end_of_directory = name.rfind(kBeforeTopicId);
    TopicId topic;
    if (end_of_directory == std::string_view::npos || !Uuid::parse(name.substr(end_of_directory + 1), topic)) {
        return std::nullopt;
    }
    return topic;
}

}  // namespace partita
