#pragma once

#include <cstdint>

#include "protocol/api_keys.h"
#include "protocol/arena.h"
#include "protocol/error_code.h"

namespace partita::faults {

/// True for errors that concern a whole group or session: clients look for them beside the group, not beside its partitions.
[[nodiscard]] bool is_of_whole(ErrorCode error);

/// The response that refuses a request with this error, as Kafka's `getErrorResponse` of each request does: one entry for each
/// topic, partition, group or resource that the request names, with its name. `request` and the result have the types of the API;
/// the result comes from `arena` and may borrow from the request.
///
/// Where several levels of the response have room for an error, an error of a whole takes the outermost one, others the innermost
/// one that has entries. Beside an error, offsets and ids that Kafka does not know are -1, whatever the default of the message.
/// A response without any room for an error stays as it is when nothing was found.
[[nodiscard]] void* error_response(const ApiInfo& api, std::int16_t version, const void* request, ErrorCode error, Arena& arena);

}  // namespace partita::faults
