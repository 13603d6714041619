#include "broker/tools/quota_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "broker/tools/text.h"
#include "protocol/printable.h"

namespace partita::tools {
namespace {

using Unit = QuotaKind::Unit;

constexpr std::pair<std::string_view, double> kMultiples[] = {{"", 1},        {"k", 1e3},        {"M", 1e6},          {"G", 1e9},
                                                              {"Ki", 1024.0}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}};

std::string_view example_of(Unit unit) {
    switch (unit) {
        case Unit::bytes_a_second:
            return "bytes per second, such as 1048576, 10MB or 1.5MiB";
        case Unit::percent:
            return "percent of a thread, such as 50 or 50%";
        case Unit::a_second:
            return "a number per second, such as 5 or 0.5";
    }
    return {};
}

/// The factor of the unit behind a number; null if the quota has no such unit.
std::optional<double> factor_of(Unit unit, std::string_view text) {
    if (unit != Unit::percent && text.ends_with("/s")) {
        text.remove_suffix(2);
    }
    if (unit == Unit::percent) {
        return text.empty() || text == "%" ? std::optional(1.0) : std::nullopt;
    }
    if (unit == Unit::a_second) {
        return text.empty() ? std::optional(1.0) : std::nullopt;
    }
    if (text.ends_with('B')) {
        text.remove_suffix(1);
    }
    if (text == "K") {
        text = "k";
    }
    const auto* found = std::ranges::find(kMultiples, text, [](const auto& one) { return one.first; });
    return found == std::end(kMultiples) ? std::nullopt : std::optional(found->second);
}

std::string plain(double value) {
    std::array<char, 400> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed);
    return error == std::errc() ? std::string(digits.data(), end) : std::to_string(value);
}

/// How specifically an entity matches: null if it does not match; lower is more specific.
std::optional<int> distance(const client::QuotaEntity& entity, const Asker& who) {
    constexpr int kOfNoUser = 6;
    int of_user = kOfNoUser;
    int of_client = 2;
    for (const auto& [type, name] : entity) {
        const std::optional<std::string>& own = type == "user" ? who.user : type == "client-id" ? who.client : who.ip;
        if (!own || (name && *name != *own)) {
            return std::nullopt;
        }
        const bool is_any = !name;
        if (type == "user") {
            of_user = is_any ? 3 : 0;
        }
        if (type == "client-id") {
            of_client = is_any ? 1 : 0;
        }
        if (type == "ip") {
            return is_any ? 1 : 0;
        }
    }
    return of_user + of_client;
}

}  // namespace

const std::vector<QuotaKind>& quota_kinds() {
    static const std::vector<QuotaKind> kKinds{{"producer_byte_rate", Unit::bytes_a_second},
                                               {"consumer_byte_rate", Unit::bytes_a_second},
                                               {"request_percentage", Unit::percent},
                                               {"controller_mutation_rate", Unit::a_second},
                                               {"connection_creation_rate", Unit::a_second, true}};
    return kKinds;
}

const QuotaKind* find_quota_kind(std::string_view name) {
    const auto found = std::ranges::find(quota_kinds(), name, &QuotaKind::name);
    return found == quota_kinds().end() ? nullptr : &*found;
}

std::expected<double, std::string> parse_quota(const QuotaKind& kind, std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const auto factor = factor_of(kind.unit, std::string_view(end, text.data() + text.size()));
    if (error != std::errc() || !factor || !std::isfinite(value) || value <= 0) {
        return std::unexpected(std::string(kind.name) + " is '" + std::string(text) + "'; use " +
                               std::string(example_of(kind.unit)));
    }
    return value * *factor;
}

std::string quota_text(const QuotaKind& kind, double value) {
    switch (kind.unit) {
        case Unit::bytes_a_second:
            return plain(value) + " (" + size_text(value) + "/s)";
        case Unit::percent:
            return plain(value) + " (" + plain(value) + " % of a thread)";
        case Unit::a_second:
            return plain(value) + " (" + plain(value) + " a second)";
    }
    return plain(value);
}

std::string entity_text(const client::QuotaEntity& entity) {
    std::vector<std::string> parts;
    for (const std::string_view type : {"user", "client-id", "ip"}) {
        for (const auto& [own, name] : entity) {
            if (own != type) {
                continue;
            }
            const std::string word = type == "client-id" ? "client" : std::string(type);
            parts.push_back(name ? word + " " + printable(*name) : "any other " + word);
        }
    }
    return joined(parts, ", ");
}

std::vector<QuotaInForce> quotas_in_force(const std::vector<client::EntityQuotas>& all, const Asker& who) {
    std::vector<QuotaInForce> in_force;
    for (const QuotaKind& kind : quota_kinds()) {
        std::optional<int> least;
        QuotaInForce nearest{.key = kind.name};
        for (const client::EntityQuotas& one : all) {
            const auto value = std::ranges::find(one.values, kind.name, [](const auto& pair) { return pair.first; });
            const auto far = distance(one.entity, who);
            if (value == one.values.end() || !far || (least && *least <= *far)) {
                continue;
            }
            least = far;
            nearest.value = value->second;
            nearest.from = one.entity;
        }
        if (least) {
            in_force.push_back(std::move(nearest));
        }
    }
    return in_force;
}

}  // namespace partita::tools
