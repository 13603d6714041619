#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/api_keys.h"
#include "protocol/compression.h"

namespace partita::access {

/// What clients are offered by a broker that shows them less than Kafka does; one without an offer (a null pointer) shows all of
/// Kafka. Immutable: all threads ask it at once.
class Offer {
  public:
    virtual ~Offer() = default;

    /// Whose offer it is, for refusals and the log: "the standard tier of ...".
    [[nodiscard]] virtual const std::string& offer() const = 0;
    /// The versions that are offered. Null when there are none; then the API is not advertised, and a request ends the
    /// connection.
    [[nodiscard]] virtual std::optional<Versions> versions_of(ApiKey key) const = 0;
    /// Why a request ends the connection, for the log. Null when it is served.
    [[nodiscard]] virtual std::optional<std::string> objection_to(ApiKey key, std::int16_t version) const = 0;
    /// Whether producers may send batches of this codec.
    [[nodiscard]] virtual bool accepts(Codec codec) const = 0;
    /// Whether a group may have this name.
    [[nodiscard]] virtual bool accepts_group(std::string_view group_id) const = 0;
    [[nodiscard]] virtual bool has_transactions() const = 0;
    /// What a client is told that looks for the coordinator of a transaction where there are none.
    [[nodiscard]] virtual std::string_view transactions_refusal() const = 0;
};

}  // namespace partita::access
