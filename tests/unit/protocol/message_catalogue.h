#pragma once

#include <string>
#include <vector>

#include "protocol/schema.h"

namespace partita::testing {

/// Every message we have: requests and responses of the registry, coordinator records, and the
/// formats that clients put into opaque fields.
[[nodiscard]] std::vector<const Schema*> all_messages();

struct MessageVersion {
    const Schema* schema = nullptr;
    std::int16_t version = 0;

    [[nodiscard]] std::string label() const { return std::string(schema->name) + " v" + std::to_string(version); }
};

/// The same, once for each valid version.
[[nodiscard]] std::vector<MessageVersion> all_message_versions();

}  // namespace partita::testing
