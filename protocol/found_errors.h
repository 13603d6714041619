#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/api_keys.h"
#include "protocol/error_code.h"

/// Which errors a reply gives out, whatever API it is of: the tables of messages say where the fields named ErrorCode are.
namespace partita {

/// An error in a reply, with what it is about.
struct FoundError {
    ErrorCode code = ErrorCode::none;
    /// What the reply says beside it (ErrorMessage); mostly empty.
    std::string message;
    /// The names and numbers of the structs around it, as Kafka's definitions call them: {"Name", "orders"}, {"Index", "3"}.
    std::vector<std::pair<std::string_view, std::string>> about;

    friend bool operator==(const FoundError&, const FoundError&) = default;
};

struct FoundErrors {
    /// More of one reply are counted only.
    static constexpr std::size_t kKeptMax = 5;

    std::vector<FoundError> kept;
    std::size_t count = 0;
};

/// True when the reply has an error. A reply without one costs a look at each of its error codes. `response` is of the API's
/// response schema.
[[nodiscard]] bool has_error(const ApiInfo& api, const void* response, std::int16_t version);
/// The errors of a reply, in the order of the wire.
[[nodiscard]] FoundErrors find_errors(const ApiInfo& api, const void* response, std::int16_t version);

}  // namespace partita
