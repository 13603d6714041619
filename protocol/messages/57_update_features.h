#pragma once

#include "protocol/schema.h"

namespace partita {

/// UpdateFeatures (key 57): versions 0 to 2, always flexible.
///
///   v1: The request gains UpgradeType, ValidateOnly and loses AllowDowngrade.
///   v2: The response loses Results.
struct UpdateFeaturesRequest {
    struct FeatureUpdateKey {
        std::string_view feature;
        std::int16_t max_version_level = 0;
        bool allow_downgrade = false;  ///< v0 only
        std::int8_t upgrade_type = 1;  ///< v1 and later

        static const Schema schema;
    };

    std::int32_t timeout_ms = 60000;
    Array<FeatureUpdateKey> feature_updates;
    bool validate_only = false;  ///< v1 and later

    static const Schema schema;
};

struct UpdateFeaturesResponse {
    struct UpdatableFeatureResult {
        std::string_view feature;
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message = "";  ///< may be null

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;
    std::optional<std::string_view> error_message = "";  ///< may be null
    Array<UpdatableFeatureResult> results;               ///< up to v1

    static const Schema schema;
};

}  // namespace partita
