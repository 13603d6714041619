#pragma once

#include <string>

#include "protocol/types.h"

namespace partita::runtime {

/// A UUID that nobody had before (version 4): for topics and clusters.
[[nodiscard]] TopicId fresh_uuid();
/// The same in its usual form of 36 characters: for member ids.
[[nodiscard]] std::string fresh_uuid_text();

}  // namespace partita::runtime
