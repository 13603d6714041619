#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "protocol/error_code.h"

namespace partita::client {

/// Why a call of the client failed.
struct Failure {
    enum class Kind : std::uint8_t {
        bad_setting,   ///< A setting or an address cannot be used; nothing was sent.
        unreachable,   ///< The client reached no broker in time.
        timed_out,     ///< A broker was reached, but did not answer in time.
        disconnected,  ///< A connection ended; the calls of `Cluster` retry and do not report it.
        malformed,     ///< The other side does not speak the protocol.
        damaged,       ///< The client cannot decode the records it read; the connection is good.
        untrusted,     ///< TLS: one side does not trust the other, or they share no version or cipher.
        unsupported,   ///< The broker lacks the request, or lacks a version that can express it.
        interrupted,   ///< The application stopped the wait (`Network::end_waits_by`).
        refused,       ///< The broker answered `code`.
    };

    Kind kind{};
    /// Only with `unreachable`: the host name has no address.
    bool is_nameless = false;
    ErrorCode code = ErrorCode::none;
    /// One line, worded like Kafka's own clients where they have a text.
    std::string message;
};

template <class T>
using Result = std::expected<T, Failure>;

/// A broker's refusal. An empty text stands for Kafka's own text of the code.
[[nodiscard]] Failure refusal(ErrorCode code, std::string_view text = {});

/// The name of Kafka's exception for a code, without its package: "UnknownTopicOrPartitionException". Kafka's tools print it.
[[nodiscard]] std::string exception_name(ErrorCode code);

/// The same for a failure; failures without a code have exceptions, too (TimeoutException, DisconnectException ...).
[[nodiscard]] std::string exception_name(const Failure& failure);

}  // namespace partita::client
