#include "tests/bench/replay/coordinator.h"

#include <poll.h>

#include "protocol/messages/09_offset_fetch.h"
#include "protocol/messages/10_find_coordinator.h"
#include "tests/bench/replay/settings.h"

namespace partita::bench {
namespace {

constexpr std::int16_t kFindVersion = 2;
constexpr std::int16_t kFetchVersion = 5;
constexpr int kTries = 500;
constexpr int kRetryMs = 20;

bool is_found(Connection& connection, std::string_view group_id) {
    FindCoordinatorRequest request;
    request.key = group_id;
    const ErrorCode error = connection.call<FindCoordinatorResponse>(kFindVersion, request).error_code;
    if (error != ErrorCode::none && error != ErrorCode::coordinator_not_available) give_up("FindCoordinator answered an error");
    return error == ErrorCode::none;
}

/// A coordinator that was just found may still have its log to read. Whatever else it says, it is there to say it: for a group
/// that nobody ever was in some answer that there is no such group.
bool is_loaded(Connection& connection, std::string_view group_id) {
    OffsetFetchRequest request;
    request.group_id = group_id;
    request.topics = nullptr;
    const ErrorCode error = connection.call<OffsetFetchResponse>(kFetchVersion, request).error_code;
    return error != ErrorCode::coordinator_load_in_progress && error != ErrorCode::not_coordinator &&
           error != ErrorCode::coordinator_not_available;
}

}  // namespace

void wait_for_coordinator(Connection& connection, std::string_view group_id) {
    for (int tries = 0; tries < kTries; ++tries) {
        if (is_found(connection, group_id) && is_loaded(connection, group_id)) return;
        ::poll(nullptr, 0, kRetryMs);
    }
    give_up("no coordinator");
}

}  // namespace partita::bench
