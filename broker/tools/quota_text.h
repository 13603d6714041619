#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "broker/client/quotas.h"

/// Parses and formats quotas, and finds the quota in force. Pure.
namespace partita::tools {

/// A kind of quota.
struct QuotaKind {
    enum class Unit { bytes_a_second, percent, a_second };

    /// Kafka's name: "producer_byte_rate".
    std::string_view name;
    Unit unit{};
    /// True for addresses; other kinds are for users and clients.
    bool is_of_addresses = false;
};

/// All kinds of Kafka 4.3.1.
[[nodiscard]] const std::vector<QuotaKind>& quota_kinds();
/// Null if the name is unknown.
[[nodiscard]] const QuotaKind* find_quota_kind(std::string_view name);

/// Parses "1048576", "10MB", "1.5MiB/s", "50%", "5/s": a number above 0 with an optional unit. The error lists what is allowed.
[[nodiscard]] std::expected<double, std::string> parse_quota(const QuotaKind& kind, std::string_view text);

/// "1048576 (1 MiB/s)", "50 (50 % of a thread)", "5 (5 a second)". The number comes first and is exact.
[[nodiscard]] std::string quota_text(const QuotaKind& kind, double value);

/// "user alice, any other client": the entity of a quota. The text contains no terminal control characters.
[[nodiscard]] std::string entity_text(const client::QuotaEntity& entity);

/// A client that uses the broker.
struct Asker {
    /// Null: no user, no client or an unknown address.
    std::optional<std::string> user;
    std::optional<std::string> client;
    std::optional<std::string> ip;
};

struct QuotaInForce {
    std::string_view key;
    double value = 0;
    client::QuotaEntity from;
};

/// The quotas in force for a client: of each kind the most specific one, in the order of Kafka's documentation (user and client;
/// user and any client; user; any user and client; any user and any client; any user; client; any client). Ascending by the order
/// of `quota_kinds`. A kind without a quota is absent.
[[nodiscard]] std::vector<QuotaInForce> quotas_in_force(const std::vector<client::EntityQuotas>& all, const Asker& who);

}  // namespace partita::tools
