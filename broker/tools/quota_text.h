#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "broker/client/quotas.h"

/// How people write quotas, and which of several counts. Pure.
namespace partita::tools {

/// What a quota limits.
struct QuotaKind {
    enum class Unit { bytes_a_second, percent, a_second };

    /// As Kafka calls it: "producer_byte_rate".
    std::string_view name;
    Unit unit{};
    /// Of addresses; the others are of users and clients.
    bool is_of_addresses = false;
};

/// All that Kafka 4.3.1 has.
[[nodiscard]] const std::vector<QuotaKind>& quota_kinds();
/// Null when none is called so.
[[nodiscard]] const QuotaKind* find_quota_kind(std::string_view name);

/// "1048576", "10MB", "1.5MiB/s", "50%", "5/s": a number above 0, with its unit where one is given. The error says what could be
/// written instead.
[[nodiscard]] std::expected<double, std::string> parse_quota(const QuotaKind& kind, std::string_view text);

/// "1048576 (1 MiB/s)", "50 (50 % of a thread)", "5 (5 a second)". The number comes first and is exact.
[[nodiscard]] std::string quota_text(const QuotaKind& kind, double value);

/// "user alice, any other client": whom a quota is for. Names hold nothing that a terminal would obey.
[[nodiscard]] std::string entity_text(const client::QuotaEntity& entity);

/// Somebody who asks the broker.
struct Asker {
    /// Null: of no user, of no client, or from nowhere that anybody said.
    std::optional<std::string> user;
    std::optional<std::string> client;
    std::optional<std::string> ip;
};

struct QuotaInForce {
    std::string_view key;
    double value = 0;
    client::QuotaEntity from;
};

/// Of each kind that holds for somebody the one quota that counts: the most specific, in the order of Kafka's documentation (user
/// and client; user and any client; user; any user and client; any user and any client; any user; client; any client), ascending
/// by the order of `quota_kinds`. A kind without a quota is not there.
[[nodiscard]] std::vector<QuotaInForce> quotas_in_force(const std::vector<client::EntityQuotas>& all, const Asker& who);

}  // namespace partita::tools
