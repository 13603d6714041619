#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/topics/catalog.h"
#include "broker/topics/catalog_commands.h"

/// Feature levels (KIP-584, KIP-1022): which there are, and how UpdateFeatures moves them.
namespace partita::topics {

inline constexpr std::string_view kMetadataVersion = "metadata.version";
inline constexpr std::string_view kKraftVersion = "kraft.version";
inline constexpr std::string_view kGroupVersion = "group.version";
inline constexpr std::string_view kEligibleLeaderReplicasVersion = "eligible.leader.replicas.version";

/// A feature that this broker serves, with the levels of Kafka 4.3.1.
struct Feature {
    std::string_view name;
    std::int16_t minimum_level;
    std::int16_t maximum_level;
    /// What a new cluster starts with, and an old one whose broker learns the feature.
    std::int16_t initial_level;
};

/// Ascending by name. What is not in it is not served: clients switch behaviour on by these levels.
[[nodiscard]] std::span<const Feature> served_features();

/// The levels that a data directory starts with: those it has, and the initial ones of what is new to it. A level
/// that was brought down to 0 is kept as 0.
[[nodiscard]] FeatureLevels started_features(const FeatureLevels& stored);

/// 0 for a feature that is off or unknown.
[[nodiscard]] std::int16_t feature_level(const CatalogSnapshot& catalog, std::string_view name);

struct FeatureUpdate {
    std::string_view feature;
    std::int16_t level = 0;
    /// 1 upgrade, 2 safe downgrade, 3 unsafe downgrade; others are refused.
    std::int8_t upgrade_type = 1;
};

struct UpdateFeaturesCommand {
    /// The last of several for one feature counts.
    std::vector<FeatureUpdate> updates;
    bool validate_only = false;
};

struct UpdateFeaturesReply {
    /// One failure fails them all.
    CatalogError error;
    /// Ascending by name; empty on failure.
    std::vector<std::string> updated;
};

/// `node` is named in texts as the controller that judges.
[[nodiscard]] Decision<UpdateFeaturesReply> update_features(const CatalogPointer& catalog,
                                                            const UpdateFeaturesCommand& command, BrokerId node);

}  // namespace partita::topics
