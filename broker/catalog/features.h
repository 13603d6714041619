#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/catalog/catalog.h"
#include "broker/catalog/commands.h"

/// The existing feature levels (KIP-584, KIP-1022), and the way UpdateFeatures changes them.
namespace partita::catalog {

inline constexpr std::string_view kMetadataVersion = "metadata.version";
inline constexpr std::string_view kKraftVersion = "kraft.version";
inline constexpr std::string_view kGroupVersion = "group.version";
inline constexpr std::string_view kShareVersion = "share.version";
inline constexpr std::string_view kTransactionVersion = "transaction.version";
inline constexpr std::string_view kEligibleLeaderReplicasVersion = "eligible.leader.replicas.version";

/// A feature that this broker serves, with the levels of Kafka 4.3.1.
struct Feature {
    std::string_view name;
    std::int16_t minimum_level;
    std::int16_t maximum_level;
    /// The level in a new cluster, and in an old one whose broker first knows the feature.
    std::int16_t initial_level;
};

/// Ascending by name. The broker does not serve a feature that is missing here; clients enable behaviour by these levels.
[[nodiscard]] std::span<const Feature> served_features();

/// The levels that a data directory starts with: its stored levels, and the initial level of each feature that is new
/// to it. A stored level 0 stays 0.
[[nodiscard]] FeatureLevels started_features(const FeatureLevels& stored);

/// 0 for a feature that is off or unknown.
[[nodiscard]] std::int16_t feature_level(const CatalogSnapshot& catalog, std::string_view name);

struct FeatureUpdate {
    std::string_view feature;
    std::int16_t level = 0;
    /// 1 upgrade, 2 safe downgrade, 3 unsafe downgrade; others are refused.
    std::int8_t upgrade_type = 1;
};

struct UpdateFeaturesResult {
    /// One failure fails all updates.
    CatalogError error;
    /// Ascending by name; empty on failure.
    std::vector<std::string> updated;
};

struct UpdateFeatures {
    using Result = UpdateFeaturesResult;
    /// If a feature comes more than once, its last update counts.
    std::vector<FeatureUpdate> updates;
    bool validate_only = false;
    /// The controller that the texts name.
    BrokerId node;
};

}  // namespace partita::catalog
