#include "broker/insight/plan/streams_topics.h"

namespace partita::insight {

bool is_streams_internal_topic(std::string_view topic) {
    return topic.ends_with("-changelog") || topic.ends_with("-repartition");
}

bool is_streams_internal_topic_of(std::string_view topic, std::string_view application_id) {
    return is_streams_internal_topic(topic) && topic.size() > application_id.size() && topic.starts_with(application_id) &&
           topic[application_id.size()] == '-';
}

std::optional<std::string> owning_application(std::string_view topic, const ProtocolOfGroup& protocol_of) {
    if (!is_streams_internal_topic(topic)) {
        return std::nullopt;
    }
    std::optional<std::string> stopped;
    for (std::size_t dash = topic.rfind('-'); dash != std::string_view::npos && dash > 0; dash = topic.rfind('-', dash - 1)) {
        const std::string_view group_id = topic.substr(0, dash);
        const std::optional<std::string> protocol = protocol_of(group_id);
        if (!protocol) {
            continue;
        }
        if (*protocol == kStreamsAssignor) {
            return std::string(group_id);
        }
        if (!stopped) {
            stopped = group_id;
        }
    }
    return stopped;
}

}  // namespace partita::insight
