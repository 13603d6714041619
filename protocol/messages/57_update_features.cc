#include "protocol/messages/57_update_features.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(UpdateFeaturesRequest::FeatureUpdateKey,
    FIELD(feature, "Feature"),
    FIELD(max_version_level, "MaxVersionLevel"),
    FIELD(allow_downgrade, "AllowDowngrade", versions(0, 0)),
    FIELD(upgrade_type, "UpgradeType", since(1)))

PARTITA_MESSAGE(UpdateFeaturesRequest, versions(0, 2), flexible_since(0),
    FIELD(timeout_ms, "timeoutMs"),
    FIELD(feature_updates, "FeatureUpdates"),
    FIELD(validate_only, "ValidateOnly", since(1)))

PARTITA_STRUCT(UpdateFeaturesResponse::UpdatableFeatureResult,
    FIELD(feature, "Feature"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()))

PARTITA_MESSAGE(UpdateFeaturesResponse, versions(0, 2), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(results, "Results", versions(0, 1), ignorable))

PARTITA_API(update_features, UpdateFeatures)
// clang-format on

}  // namespace partita
