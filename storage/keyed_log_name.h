#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/types.h"

namespace partita {

class PartitionLog;

/// The name of a keyed log in the metadata store: its directory and the id of its topic. A topic that was deleted and made anew
/// therefore begins without rows, and need not wait until the old rows are gone.
[[nodiscard]] std::string keyed_log_name(const PartitionLog& log);
[[nodiscard]] std::string keyed_log_name(std::string_view directory_name, const TopicId& topic);

/// The topic that such a name belongs to; empty for other names.
[[nodiscard]] std::optional<TopicId> topic_of_keyed_log(std::string_view name);

}  // namespace partita
