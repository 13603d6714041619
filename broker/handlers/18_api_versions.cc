// ApiVersions: v0-4.
//
//   v3: flexible body, client software name and version, features; v4: may list features that start at level 0 (older clients
//   cannot parse them, KAFKA-17011).
//
// The broker answers an unknown newer version in version 0, with UNSUPPORTED_VERSION and our range for this API alone. The client
// can then ask again (KIP-511).

#include <algorithm>

#include "broker/access/offer.h"
#include "broker/catalog/features.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"
#include "broker/runtime/clients/connections.h"
#include "protocol/messages/18_api_versions.h"

namespace partita::handlers {

PARTITA_SERVES(api_versions);

namespace {

bool is_alphanumeric(char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9');
}

/// Kafka's pattern for software names and versions: alphanumeric ends, '-' and '.' allowed between.
bool is_software_text(std::string_view text) {
    return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
           std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || c == '-' || c == '.'; });
}

/// Null for an API that the profile does not offer.
std::optional<ApiVersionsResponse::ApiVersion> advertised(const runtime::RequestContext& context, const ApiInfo& api) {
    if (const access::Offer* const offer = context.services.extensions.offer) {
        const auto offered = offer->versions_of(api.key);
        if (!offered) {
            return std::nullopt;
        }
        return ApiVersionsResponse::ApiVersion{
            .api_key = static_cast<std::int16_t>(api.key), .min_version = offered->first, .max_version = offered->last};
    }
    return ApiVersionsResponse::ApiVersion{
        .api_key = static_cast<std::int16_t>(api.key),
        .min_version = api.key == ApiKey::produce ? kAdvertisedProduceMinVersion : api.versions.first,
        .max_version = api.latest_version(context.listener().unstable_versions)};
}

void reply_unsupported_version(runtime::RequestContext& context) {
    ApiVersionsResponse response;
    response.error_code = ErrorCode::unsupported_version;
    ArenaVector<ApiVersionsResponse::ApiVersion> apis(context.arena());
    if (const auto own = advertised(context, context.api())) {
        apis.push_back(*own);
    }
    response.api_keys = apis;
    context.reply_in_version(0, response);
}

void add_features(runtime::RequestContext& context, ApiVersionsResponse& response) {
    const catalog::CatalogSnapshot& catalog = *context.turn.topics().catalog;
    ArenaVector<ApiVersionsResponse::SupportedFeatureKey> supported(context.arena());
    for (const catalog::Feature& feature : catalog::served_features()) {
        if (feature.minimum_level > 0 || context.version() >= 4) {
            supported.push_back(
                {.name = feature.name, .min_version = feature.minimum_level, .max_version = feature.maximum_level});
        }
    }
    ArenaVector<ApiVersionsResponse::FinalizedFeatureKey> finalized(context.arena());
    for (const auto& [name, level] : catalog.finalized_features()) {
        if (level > 0) {
            finalized.push_back({.name = context.arena().copy(name), .max_version_level = level, .min_version_level = level});
        }
    }
    response.supported_features = supported;
    response.finalized_features = finalized;
    response.finalized_features_epoch = catalog.finalized_features_epoch();
}

}  // namespace

void api_versions(runtime::RequestContext& context) {
    if (!context.version_supported) {
        reply_unsupported_version(context);
        return;
    }
    const ApiVersionsRequest* request = context.decode<ApiVersionsRequest>();
    if (request == nullptr) {
        return;
    }
    ApiVersionsResponse response;
    if (context.version() >= 3) {
        if (!is_software_text(request->client_software_name) || !is_software_text(request->client_software_version)) {
            response.error_code = ErrorCode::invalid_request;
            context.reply(response);
            return;
        }
        context.client.software =
            context.services.connections.software(request->client_software_name, request->client_software_version);
        // By observation, the imitated service lists no features.
        if (context.services.extensions.offer == nullptr) {
            add_features(context, response);
        }
    }
    ArenaVector<ApiVersionsResponse::ApiVersion> apis(context.arena(), served_apis().size());
    for (const ServedApi* served : served_apis()) {
        if (const auto api = advertised(context, served->api())) {
            apis.push_back(*api);
        }
    }
    response.api_keys = apis;
    context.reply(response);
}

}  // namespace partita::handlers
