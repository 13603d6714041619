#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "protocol/error_code.h"

namespace partita::client {

/// Why a call of the client gave nothing.
struct Failure {
    enum class Kind : std::uint8_t {
        bad_setting,   ///< A setting or an address cannot be used; nothing was sent.
        unreachable,   ///< Nobody could be asked until the time was over.
        timed_out,     ///< Somebody was asked, and did not answer until the time was over.
        disconnected,  ///< A connection ended; the calls of `Cluster` try again and do not tell of it.
        malformed,     ///< What answered does not speak the protocol.
        damaged,       ///< Records that were read cannot be decoded; the connection is good.
        untrusted,     ///< TLS: one side does not believe the other, or they agree on nothing.
        unsupported,   ///< The broker does not have the request, or not in a version that says what was asked.
        interrupted,   ///< Somebody wanted no wait to go on (`Network::end_waits_by`).
        refused,       ///< The broker answered `code`.
    };

    Kind kind{};
    /// Of what is unreachable: its name has no address.
    bool is_nameless = false;
    ErrorCode code = ErrorCode::none;
    /// One line, in the words of Kafka's own clients where they have some.
    std::string message;
};

template <class T>
using Result = std::expected<T, Failure>;

/// What a broker answered. An empty text stands for Kafka's own of the code.
[[nodiscard]] Failure refusal(ErrorCode code, std::string_view text = {});

/// The name of Kafka's exception of a code, without its package: "UnknownTopicOrPartitionException". Its tools print it.
[[nodiscard]] std::string exception_name(ErrorCode code);

/// The same of a failure: those without a code have exceptions, too (TimeoutException, DisconnectException ...).
[[nodiscard]] std::string exception_name(const Failure& failure);

}  // namespace partita::client
