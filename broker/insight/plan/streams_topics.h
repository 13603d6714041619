#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

/// The internal topics of Kafka Streams applications. Streams names them "<application.id>-<store>-changelog" and
/// "<application.id>-<name>-repartition"; the application's id is the id of its group. Both parts may contain dashes.
namespace partita::insight {

/// The name of the assignor that members of a Streams application use.
inline constexpr std::string_view kStreamsAssignor = "stream";

[[nodiscard]] bool is_streams_internal_topic(std::string_view topic);

/// True if the topic belongs to this application.
[[nodiscard]] bool is_streams_internal_topic_of(std::string_view topic, std::string_view application_id);

/// The assignor of a group by its id; empty if the group has none, null if the group does not exist.
using ProtocolOfGroup = std::function<std::optional<std::string>(std::string_view group_id)>;

/// The application that owns an internal topic, as far as the topic's name tells. Candidates are the groups whose id is a prefix
/// of the name. A group that runs Kafka Streams comes first, else the group with the longest id (a stopped application has no
/// assignor). Null for other topics, and if no candidate exists. Calls `protocol_of` once for every dash in the name.
[[nodiscard]] std::optional<std::string> owning_application(std::string_view topic, const ProtocolOfGroup& protocol_of);

}  // namespace partita::insight
