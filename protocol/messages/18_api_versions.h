#pragma once

#include "protocol/schema.h"

namespace partita {

/// ApiVersions (key 18): versions 0 to 4, flexible from 3.
///
///   v1: The response gains ThrottleTimeMs.
///   v2: No change of layout.
///   v3: Flexible encoding; the request gains ClientSoftwareName, ClientSoftwareVersion; the response gains
///     SupportedFeatures, FinalizedFeaturesEpoch, FinalizedFeatures, ZkMigrationReady.
///   v4: No change of layout.
struct ApiVersionsRequest {
    std::string_view client_software_name;     ///< v3 and later
    std::string_view client_software_version;  ///< v3 and later

    static const Schema schema;
};

struct ApiVersionsResponse {
    struct ApiVersion {
        std::int16_t api_key = 0;
        std::int16_t min_version = 0;
        std::int16_t max_version = 0;

        static const Schema schema;
    };

    struct SupportedFeatureKey {
        std::string_view name;         ///< v3 and later
        std::int16_t min_version = 0;  ///< v3 and later
        std::int16_t max_version = 0;  ///< v3 and later

        static const Schema schema;
    };

    struct FinalizedFeatureKey {
        std::string_view name;               ///< v3 and later
        std::int16_t max_version_level = 0;  ///< v3 and later
        std::int16_t min_version_level = 0;  ///< v3 and later

        static const Schema schema;
    };

    ErrorCode error_code = ErrorCode::none;
    Array<ApiVersion> api_keys;
    std::int32_t throttle_time_ms = 0;              ///< v1 and later
    Array<SupportedFeatureKey> supported_features;  ///< v3 and later
    std::int64_t finalized_features_epoch = -1;     ///< v3 and later
    Array<FinalizedFeatureKey> finalized_features;  ///< v3 and later
    bool zk_migration_ready = false;                ///< v3 and later

    static const Schema schema;
};

}  // namespace partita
