#pragma once

#include <string_view>

#include "protocol/error_code.h"
#include "protocol/messages/10_find_coordinator.h"
#include "tests/support/wire_client.h"

namespace partita::test {

/// Looks for the group's coordinator, as clients do before they ask for a group: the broker makes a coordinator only when a
/// client looks for it. Returns `network_exception` when there was no answer.
[[nodiscard]] inline ErrorCode find_coordinator(WireClient& client, std::string_view group) {
    const auto* response = client.call<FindCoordinatorResponse>(2, FindCoordinatorRequest{.key = group});
    return response == nullptr ? ErrorCode::network_exception : response->error_code;
}

}  // namespace partita::test
