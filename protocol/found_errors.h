#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/api_keys.h"
#include "protocol/error_code.h"

/// Finds the errors in a reply of any API: the tables of messages tell where the fields named ErrorCode are.
namespace partita {

/// An error in a reply, and the objects that it concerns.
struct FoundError {
    ErrorCode code = ErrorCode::none;
    /// The text beside it in the reply (ErrorMessage); mostly empty.
    std::string message;
    /// The names and numbers of the structs around it, as Kafka's definitions call them: {"Name", "orders"}, {"Index", "3"}.
    std::vector<std::pair<std::string_view, std::string>> about;

    friend bool operator==(const FoundError&, const FoundError&) = default;
};

struct FoundErrors {
    /// Further errors of one reply are only counted.
    static constexpr std::size_t kKeptMax = 5;

    std::vector<FoundError> kept;
    std::size_t count = 0;
};

/// True if the reply has an error. A reply without one costs a look at each of its error codes. `response` has the API's response
/// schema.
[[nodiscard]] bool has_error(const ApiInfo& api, const void* response, std::int16_t version);
/// The errors of a reply, in the order of the wire.
[[nodiscard]] FoundErrors find_errors(const ApiInfo& api, const void* response, std::int16_t version);

}  // namespace partita
