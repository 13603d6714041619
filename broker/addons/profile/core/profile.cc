#include "broker/addons/profile/core/profile.h"

#include <algorithm>
#include <limits>

namespace partita::profile {
namespace {

std::string number_text(std::int64_t number) { return std::to_string(number); }

std::string sentence_about(Tier tier) {
    return "the " + std::string(tier_name(tier)) + " tier of the profile " + std::string(kEventHubs);
}

std::int32_t units_or_one(std::int32_t units) { return std::max(units, 1); }

}  // namespace

std::string_view tier_name(Tier tier) { return kTierNames[static_cast<std::size_t>(tier)]; }

std::optional<Tier> parse_tier(std::string_view name) {
    const auto found = std::ranges::find(kTierNames, name);
    return found == kTierNames.end() ? std::nullopt : std::optional(static_cast<Tier>(found - kTierNames.begin()));
}

std::vector<Preset> presets(Tier tier, std::int32_t units) {
    const TierLimits& limits = limits_of(tier);
    const std::int64_t connections =
        std::int64_t{limits.connections} * (limits.connections_are_per_unit ? units_or_one(units) : 1);
    std::vector<Preset> presets{
        {"connections.max.idle.ms", number_text(kIdleMsMax)},
        {"group.max.session.timeout.ms", number_text(kSessionTimeoutMsMax)},
        {"group.min.session.timeout.ms", number_text(kSessionTimeoutMsMin)},
        {"listeners", "SASL_PLAINTEXT://localhost:9093"},
        {"max.connections", number_text(std::min<std::int64_t>(connections, std::numeric_limits<std::int32_t>::max()))},
        {"message.max.bytes", number_text(limits.message_bytes)},
        {"offset.metadata.max.bytes", number_text(kOffsetMetadataBytesMax)},
        {"partita.capacity.units", "1"},
        // The topic does not exist in the service, and would take one of the few topics that are allowed.
        {"partita.events.topic.enable", "false"},
        {"sasl.enabled.mechanisms", "PLAIN"},
        {"sasl.mechanism.inter.broker.protocol", "PLAIN"},
        {"socket.request.max.bytes", number_text(kRequestBytesMax)},
    };
    constexpr std::int64_t kHourMs = 3'600'000;
    constexpr std::int64_t kDefaultRetentionHours = 168;
    presets.push_back({"log.retention.hours", number_text(std::min(limits.retention_ms / kHourMs, kDefaultRetentionHours))});
    if (!limits.throttles) {
        for (const std::string_view rate : {"ingress.bytes", "ingress.events", "egress.bytes", "egress.events"}) {
            presets.push_back({"partita.capacity.unit." + std::string(rate), "0"});
        }
    }
    return presets;
}

std::optional<std::string> objection(Tier tier, const Wishes& wishes) {
    const TierLimits& limits = limits_of(tier);
    const std::string offer = sentence_about(tier);
    if (wishes.units < 1 || wishes.units > limits.units_max) {
        return "partita.capacity.units is " + number_text(wishes.units) + ": " + offer + " has 1 to " +
               number_text(limits.units_max) + " units";
    }
    if (wishes.units_max != 0 && !limits.auto_inflates) {
        return "partita.capacity.units.max is " + number_text(wishes.units_max) + ": " + offer +
               " does not add units by itself; only the standard tier does";
    }
    if (wishes.units_max > limits.units_max) {
        return "partita.capacity.units.max is " + number_text(wishes.units_max) + ": " + offer + " has at most " +
               number_text(limits.units_max) + " units";
    }
    if (wishes.retention_ms < 0 || wishes.retention_ms > limits.retention_ms) {
        return "log.retention.ms is " + number_text(wishes.retention_ms) + ": " + offer + " keeps records for at most " +
               number_text(limits.retention_ms) + " ms";
    }
    return std::nullopt;
}

Profile::Profile(Settings settings)
    : settings_(settings), limits_(limits_of(settings.tier)), offer_(sentence_about(settings.tier)) {
    offered_.fill(kNoVersions);
    for (const OfferedApi& offered : offered_apis()) {
        const ApiInfo* const api = find_api(offered.key);
        if (api == nullptr || (offered.is_of_transactions && !limits_.has_transactions)) {
            continue;
        }
        const Versions both{std::max(offered.versions.first, api->versions.first),
                            std::min(offered.versions.last, api->latest_version(false))};
        offered_[static_cast<std::size_t>(offered.key)] = both.empty() ? kNoVersions : both;
    }
}

std::optional<Versions> Profile::versions_of(ApiKey key) const {
    const auto index = static_cast<std::size_t>(key);
    if (index >= offered_.size() || offered_[index].empty()) {
        return std::nullopt;
    }
    return offered_[index];
}

std::optional<std::string> Profile::objection_to(ApiKey key, std::int16_t version) const {
    const std::optional<Versions> offered = versions_of(key);
    if (offered && offered->contains(version)) {
        return std::nullopt;
    }
    if (offered && key == ApiKey::api_versions && version > offered->last && settings_.answers_newer_api_versions) {
        return std::nullopt;
    }
    return std::string(api_name(key)) + " version " + std::to_string(version) + " is not offered by " + offer_;
}

NamespaceLimits Profile::limits() const {
    const std::int64_t units = units_or_one(settings_.units);
    const std::int64_t topics = limits_.topics_are_per_unit ? limits_.topics * units : limits_.topics;
    return {.topics = static_cast<std::int32_t>(topics),
            .partitions_of_topic = limits_.partitions_of_topic,
            .partitions =
                limits_.partitions_per_unit == 0 ? topics * limits_.partitions_of_topic : limits_.partitions_per_unit * units,
            .retention_ms = limits_.retention_ms,
            .adds_partitions = limits_.adds_partitions};
}

}  // namespace partita::profile
