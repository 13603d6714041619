#pragma once

#include <string_view>

#include "protocol/error_code.h"
#include "protocol/messages/10_find_coordinator.h"
#include "tests/support/wire_client.h"

namespace partita::test {

/// What clients do before they ask for a group: there is no coordinator before somebody looked for it. `network_exception` when
/// there was no answer.
[[nodiscard]] inline ErrorCode find_coordinator(WireClient& client, std::string_view group) {
    const auto* response = client.call<FindCoordinatorResponse>(2, FindCoordinatorRequest{.key = group});
    return response == nullptr ? ErrorCode::network_exception : response->error_code;
}

}  // namespace partita::test
