#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/error_code.h"
#include "protocol/types.h"

namespace partita::runtime {

/// An error that a client was given, with the facts needed to understand it.
struct GivenError {
    struct Client {
        std::uint64_t connection = 0;
        std::string client_id;
        std::string address;
        std::uint16_t port = 0;
        std::string principal;
        std::string listener;
        std::string software;
        std::string software_version;
    };

    TimestampMs first;
    TimestampMs last;
    /// How often the same error came over this connection; `request` is the first one's.
    std::uint64_t times = 1;
    /// Kafka's name of the API; empty if the connection was closed before the API was known.
    std::string_view api;
    std::int16_t version = 0;
    /// `none`: the connection was closed, and `message` says why.
    ErrorCode code = ErrorCode::none;
    std::string message;
    /// The subject of the error: {"Name", "orders"}, {"Index", "3"}.
    std::vector<std::pair<std::string_view, std::string>> about;
    /// How many errors of the same reply were dropped.
    std::size_t more_in_reply = 0;
    std::string request;
    Client client;
};

/// The most recent errors. A repeated error of the same connection is one entry with a count, so that a client that retries does
/// not hide the others. Pure; one caller at a time.
class ErrorRing {
  public:
    static constexpr std::size_t kKeptMax = 200;
    /// How much of a request's text is kept.
    static constexpr std::size_t kRequestBytesMax = 1000;

    void add(GivenError error);

    /// The oldest comes first. A repeated error moves to the position of its last occurrence.
    [[nodiscard]] const std::deque<GivenError>& errors() const { return errors_; }
    /// The number of errors ever given to clients.
    [[nodiscard]] std::uint64_t total() const { return total_; }

  private:
    std::deque<GivenError> errors_;
    std::uint64_t total_ = 0;
};

}  // namespace partita::runtime
