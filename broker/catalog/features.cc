#include "broker/catalog/features.h"

#include <algorithm>
#include <map>
#include <optional>

#include "broker/catalog/catalog_core.h"
#include "broker/catalog/change_builder.h"

namespace partita::catalog {
namespace {

constexpr Feature kServedFeatures[] = {
    {kEligibleLeaderReplicasVersion, 0, 1, 1},
    {kGroupVersion, 0, 1, 1},
    {kKraftVersion, 0, 1, 1},
    {kMetadataVersion, 7, 30, 30},
    {kShareVersion, 0, 1, 1},
    {kTransactionVersion, 0, 2, 2},
};

constexpr std::int8_t kUpgrade = 1;
constexpr std::int8_t kSafeDowngrade = 2;
constexpr std::int8_t kUnsafeDowngrade = 3;

const Feature* find_feature(std::string_view name) {
    const auto found = std::ranges::find(kServedFeatures, name, &Feature::name);
    return found == std::end(kServedFeatures) ? nullptr : found;
}

std::string invalid_version(const FeatureUpdate& update, const std::string& reason) {
    return "Invalid update version " + std::to_string(update.level) + " for feature " + std::string(update.feature) + ". " +
           reason;
}

std::string unsupported_downgrade(std::int16_t from, const FeatureUpdate& update) {
    return "Unsupported metadata.version downgrade from " + std::to_string(from) + " to " + std::to_string(update.level) +
           (update.upgrade_type == kSafeDowngrade
                ? ". Refusing to perform the requested downgrade because it might delete metadata information."
                : ". Unsafe metadata downgrade is not supported in this version.");
}

/// Kafka's refusal of one update, in the order of its checks.
std::optional<std::string> problem_of(const FeatureUpdate& update, std::int16_t current, BrokerId node) {
    if (update.upgrade_type < kUpgrade || update.upgrade_type > kUnsafeDowngrade) {
        return invalid_version(update, "The controller does not support the given upgrade type.");
    }
    if (update.level < 0) {
        return invalid_version(update, "A feature version cannot be less than 0.");
    }
    const std::string controller = "Local controller " + std::to_string(node.value);
    const Feature* feature = find_feature(update.feature);
    if (feature == nullptr) {
        // Every broker counts as supporting level 0, so the refusal says that the feature does not exist.
        return invalid_version(update, update.level == 0 ? "Feature " + std::string(update.feature) + " not found."
                                                         : controller + " does not support this feature.");
    }
    if (update.level < feature->minimum_level || update.level > feature->maximum_level) {
        return invalid_version(update, controller + " only supports versions " + std::to_string(feature->minimum_level) + "-" +
                                           std::to_string(feature->maximum_level));
    }
    if (update.level > current && update.upgrade_type != kUpgrade) {
        return invalid_version(update, "Can't downgrade to a newer version.");
    }
    if (update.level >= current) {
        return std::nullopt;
    }
    if (update.upgrade_type == kUpgrade) {
        return invalid_version(update,
                               "Can't downgrade the version of this feature without setting the upgrade type to either "
                               "safe or unsafe downgrade.");
    }
    // Each level of this feature added records that a lower one cannot read.
    if (update.feature == kMetadataVersion) {
        return unsupported_downgrade(current, update);
    }
    if (update.feature == kKraftVersion) {
        return invalid_version(update, "Can't downgrade the version of this feature.");
    }
    return std::nullopt;
}

}  // namespace

std::span<const Feature> served_features() { return kServedFeatures; }

FeatureLevels started_features(const FeatureLevels& stored) {
    FeatureLevels levels = stored;
    for (const Feature& feature : kServedFeatures) {
        levels.try_emplace(std::string(feature.name), feature.initial_level);
    }
    return levels;
}

std::int16_t feature_level(const CatalogSnapshot& catalog, std::string_view name) {
    const auto found = catalog.finalized_features().find(name);
    return found == catalog.finalized_features().end() ? std::int16_t{0} : found->second;
}

Decision<UpdateFeatures> CatalogCore::decide(const UpdateFeatures& command, const CatalogContext&) const {
    std::map<std::string_view, const FeatureUpdate*> updates;
    for (const FeatureUpdate& update : command.updates) {
        updates.insert_or_assign(update.feature, &update);
    }
    UpdateFeaturesResult answer;
    FeatureLevels levels = snapshot_->finalized_features();
    for (const auto& [name, update] : updates) {
        if (const auto problem = problem_of(*update, feature_level(*snapshot_, name), command.node)) {
            return {{.error = {ErrorCode::invalid_update_version,
                               "The update failed for all features since the following feature had an error: " + *problem}},
                    {}};
        }
        levels.insert_or_assign(std::string(name), update->level);
        answer.updated.emplace_back(name);
    }
    ChangeBuilder change(snapshot_);
    if (!command.validate_only && levels != snapshot_->finalized_features()) {
        change.set_identity(snapshot_->cluster_id(), levels);
    }
    return {std::move(answer), change.finish()};
}

}  // namespace partita::catalog
