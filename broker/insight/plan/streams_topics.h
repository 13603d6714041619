#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

/// Topics that a Kafka Streams application makes for itself. Streams names them "<application.id>-<store>-changelog" and
/// "<application.id>-<name>-repartition"; the application's id is the id of its group. Both parts may contain dashes.
namespace partita::insight {

/// The name of the assignor that members of a Streams application use.
inline constexpr std::string_view kStreamsAssignor = "stream";

[[nodiscard]] bool is_streams_internal_topic(std::string_view topic);

/// True when the topic belongs to this application.
[[nodiscard]] bool is_streams_internal_topic_of(std::string_view topic, std::string_view application_id);

/// The assignor of a group by its id; empty when it has none, null when there is no such group.
using ProtocolOfGroup = std::function<std::optional<std::string>(std::string_view group_id)>;

/// The application that an internal topic belongs to, as far as the name of the topic tells. Candidates are the groups
/// whose id the name begins with: the one that runs Kafka Streams, else the one with the longest id (a stopped
/// application has no assignor). Null for other topics, and when there is no such group. Calls `protocol_of` once for
/// every dash in the name.
[[nodiscard]] std::optional<std::string> owning_application(std::string_view topic, const ProtocolOfGroup& protocol_of);

}  // namespace partita::insight
