#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/api_keys.h"
#include "protocol/compression.h"

namespace partita::access {

/// The APIs and features that a broker offers if it shows clients less than Kafka does; without an offer (a null pointer) it
/// shows all of Kafka. Immutable: all threads call it at once.
class Offer {
  public:
    virtual ~Offer() = default;

    /// The name of the offer, for refusals and the log: "the standard tier of ...".
    [[nodiscard]] virtual const std::string& offer() const = 0;
    /// The offered versions. Null if there are none; then the broker does not advertise the API, and a request ends the
    /// connection.
    [[nodiscard]] virtual std::optional<Versions> versions_of(ApiKey key) const = 0;
    /// Why a request ends the connection, for the log. Null if it is allowed.
    [[nodiscard]] virtual std::optional<std::string> objection_to(ApiKey key, std::int16_t version) const = 0;
    /// Whether producers may send batches of this codec.
    [[nodiscard]] virtual bool accepts(Codec codec) const = 0;
    /// Whether a group may have this name.
    [[nodiscard]] virtual bool accepts_group(std::string_view group_id) const = 0;
    [[nodiscard]] virtual bool has_transactions() const = 0;
    /// The error text for a client that looks for a transaction coordinator, if the offer has no transactions.
    [[nodiscard]] virtual std::string_view transactions_refusal() const = 0;
};

}  // namespace partita::access
