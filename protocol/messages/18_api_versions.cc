#include "protocol/messages/18_api_versions.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_MESSAGE(ApiVersionsRequest, versions(0, 4), flexible_since(3),
    FIELD(client_software_name, "ClientSoftwareName", since(3), ignorable),
    FIELD(client_software_version, "ClientSoftwareVersion", since(3), ignorable))

PARTITA_STRUCT(ApiVersionsResponse::ApiVersion,
    FIELD(api_key, "ApiKey"),
    FIELD(min_version, "MinVersion"),
    FIELD(max_version, "MaxVersion"))

PARTITA_STRUCT(ApiVersionsResponse::SupportedFeatureKey,
    FIELD(name, "Name", since(3)),
    FIELD(min_version, "MinVersion", since(3)),
    FIELD(max_version, "MaxVersion", since(3)))

PARTITA_STRUCT(ApiVersionsResponse::FinalizedFeatureKey,
    FIELD(name, "Name", since(3)),
    FIELD(max_version_level, "MaxVersionLevel", since(3)),
    FIELD(min_version_level, "MinVersionLevel", since(3)))

PARTITA_MESSAGE(ApiVersionsResponse, versions(0, 4), flexible_since(3),
    FIELD(error_code, "ErrorCode"),
    FIELD(api_keys, "ApiKeys"),
    FIELD(throttle_time_ms, "ThrottleTimeMs", since(1), ignorable),
    FIELD(supported_features, "SupportedFeatures", since(3), tagged(0, since(3)), ignorable),
    FIELD(finalized_features_epoch, "FinalizedFeaturesEpoch", since(3), tagged(1, since(3)), ignorable),
    FIELD(finalized_features, "FinalizedFeatures", since(3), tagged(2, since(3)), ignorable),
    FIELD(zk_migration_ready, "ZkMigrationReady", since(3), tagged(3, since(3)), ignorable))

PARTITA_API(api_versions, ApiVersions)
// clang-format on

}  // namespace partita
