#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/access/offer.h"
#include "protocol/api_keys.h"
#include "protocol/compression.h"

/// The view that clients get of a broker that stands in for a managed service with a Kafka endpoint: data, and rules on it.
/// Without a profile the pointer is null, and nothing of this applies.
namespace partita::profile {

/// The name of the only existing profile, as `partita.profile` has it.
inline constexpr std::string_view kEventHubs = "eventhubs";

/// The tiers that the service is sold in.
enum class Tier : std::uint8_t { basic, standard, premium, dedicated };

inline constexpr std::array<std::string_view, 4> kTierNames = {"basic", "standard", "premium", "dedicated"};

/// "standard".
[[nodiscard]] std::string_view tier_name(Tier tier);
[[nodiscard]] std::optional<Tier> parse_tier(std::string_view name);

/// The limits of a tier. If the service sells units, limits that grow with them are per unit.
struct TierLimits {
    /// False if no client may do anything with a topic by Kafka's protocol.
    bool has_kafka_endpoint = true;
    /// The codecs of batches that producers may send, as bits: 1 << codec. Plain batches are always accepted.
    std::uint8_t codecs = 0;
    bool has_transactions = false;
    /// True if a topic may get more partitions.
    bool adds_partitions = false;
    /// True if the broker may add units by itself (partita.capacity.units.max).
    bool auto_inflates = false;
    std::int32_t units_max = 0;
    /// True if a unit is a rate that clients wait for.
    bool throttles = false;
    std::int32_t partitions_of_topic = 0;
    /// 0 means no limit of its own.
    std::int32_t partitions_per_unit = 0;
    std::int32_t topics = 0;
    bool topics_are_per_unit = false;
    std::int32_t connections = 0;
    bool connections_are_per_unit = false;
    std::int64_t retention_ms = 0;
    std::int32_t message_bytes = 0;
};

[[nodiscard]] const TierLimits& limits_of(Tier tier);

/// An API key of the service, with the versions in which it was observed (for those of transactions see docs/eventhubs.md);
/// ascending by key.
struct OfferedApi {
    ApiKey key{};
    Versions versions;
    /// Offered only if there are transactions.
    bool is_of_transactions = false;
};
[[nodiscard]] std::span<const OfferedApi> offered_apis();

/// No setting changes these.
inline constexpr std::int32_t kRequestBytesMax = 1'046'528;  ///< Larger ones end the connection.
inline constexpr std::int64_t kIdleMsMax = 240'000;          ///< The broker drops a connection that is silent for longer.
inline constexpr std::int32_t kOffsetMetadataBytesMax = 1'024;
inline constexpr std::size_t kGroupIdBytesMax = 256;
inline constexpr std::int32_t kSessionTimeoutMsMin = 6'000;
inline constexpr std::int32_t kSessionTimeoutMsMax = 300'000;

/// A config with its value under a profile, unless the user sets another one.
struct Preset {
    std::string name;
    std::string value;
};
/// `units` is the requested number, 0 for the profile's choice.
[[nodiscard]] std::vector<Preset> presets(Tier tier, std::int32_t units);

/// The demands of other settings on a tier.
struct Wishes {
    std::int32_t units = 0;
    std::int32_t units_max = 0;
    /// -1 means forever.
    std::int64_t retention_ms = 0;
};
/// Why the tier cannot meet them: a sentence that names the config. Null if it can.
[[nodiscard]] std::optional<std::string> objection(Tier tier, const Wishes& wishes);

/// The limits of a namespace with this number of units.
struct NamespaceLimits {
    std::int32_t topics = 0;
    std::int32_t partitions_of_topic = 0;
    /// Most partitions of all topics together.
    std::int64_t partitions = 0;
    std::int64_t retention_ms = 0;
    bool adds_partitions = false;
};

/// One profile, as settings have chosen it. Immutable: all threads use it at once.
class Profile final : public access::Offer {
  public:
    struct Settings {
        Tier tier = Tier::standard;
        std::int32_t units = 1;
        /// True: answer an ApiVersions request that is newer than those offered, as Kafka does, so that newer clients come again
        /// with an older one. The service ends the connection.
        bool answers_newer_api_versions = false;
    };

    explicit Profile(Settings settings);

    [[nodiscard]] Tier tier() const { return settings_.tier; }
    /// For refusals: "the standard tier of the profile eventhubs".
    [[nodiscard]] const std::string& offer() const override { return offer_; }

    /// The offered versions: those of the service that this broker also has. Null if there are none; then the API is not
    /// advertised, and a request ends the connection.
    [[nodiscard]] std::optional<Versions> versions_of(ApiKey key) const override;
    /// Why a request ends the connection, for the log. Null if it is served, as an ApiVersions request from a newer version is if
    /// the broker answers it.
    [[nodiscard]] std::optional<std::string> objection_to(ApiKey key, std::int16_t version) const override;

    [[nodiscard]] bool accepts(Codec codec) const override {
        return codec == Codec::none || (limits_.codecs >> static_cast<int>(codec) & 1) != 0;
    }
    [[nodiscard]] bool accepts_group(std::string_view group_id) const override { return group_id.size() <= kGroupIdBytesMax; }
    [[nodiscard]] bool has_transactions() const override { return limits_.has_transactions; }
    /// The answer to a client that looks for a transaction coordinator where there are no transactions, in the service's words.
    [[nodiscard]] std::string_view transactions_refusal() const override;
    [[nodiscard]] bool has_kafka_endpoint() const { return limits_.has_kafka_endpoint; }
    [[nodiscard]] NamespaceLimits limits() const;

  private:
    /// No API of Kafka has a higher key.
    static constexpr std::size_t kKeysMax = 128;

    Settings settings_;
    const TierLimits& limits_;
    std::string offer_;
    std::array<Versions, kKeysMax> offered_;
};

}  // namespace partita::profile
