#pragma once

#include <string>

#include "protocol/types.h"

namespace partita::runtime {

/// A new random UUID (version 4), for topics and clusters.
[[nodiscard]] TopicId fresh_uuid();
/// A new random UUID in its usual form of 36 characters, for member ids.
[[nodiscard]] std::string fresh_uuid_text();

}  // namespace partita::runtime
