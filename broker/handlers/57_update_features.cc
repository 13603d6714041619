// UpdateFeatures: v0-2, flexible (KIP-584).
//
//   v1: upgrade types and validate_only; v2: no results of single features.
//
// Kafka's controller ignores AllowDowngrade of v0, so that version can only upgrade (measured on 4.3.1). The default upgrade type
// has the same effect here.

#include "protocol/messages/57_update_features.h"
#include "broker/catalog/features.h"
#include "broker/handlers/admin_replies.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/cluster_refusal.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/logs/placement.h"
#include "broker/logs/turn.h"
#include "broker/runtime/catalog/catalog.h"

namespace partita::handlers {

PARTITA_SERVES_WITH(update_features, catalog, access::kAlterCluster);

void update_features(runtime::RequestContext& context, runtime::Catalog& catalog) {
    const UpdateFeaturesRequest* request = context.decode<UpdateFeaturesRequest>();
    if (request == nullptr) {
        return;
    }
    if (!authorize_cluster(context, access::kAlterCluster)) {
        UpdateFeaturesResponse refused;
        refused.error_code = ErrorCode::cluster_authorization_failed;
        refused.error_message = cluster_refusal(context, access::kAlterCluster);
        context.reply(refused);
        return;
    }
    Arena& arena = context.arena();
    catalog::UpdateFeatures command;
    command.validate_only = request->validate_only;
    command.node = context.services.placement.own();
    for (const UpdateFeaturesRequest::FeatureUpdateKey& update : request->feature_updates) {
        command.updates.push_back(
            {.feature = update.feature, .level = update.max_version_level, .upgrade_type = update.upgrade_type});
    }
    const auto reply = catalog.change(context.turn, command);
    UpdateFeaturesResponse response;
    response.error_code = reply ? reply->error.code : ErrorCode::kafka_storage_error;
    response.error_message = reply ? message_of(reply->error, arena) : kCatalogNotWritten;
    ArenaVector<UpdateFeaturesResponse::UpdatableFeatureResult> results(arena);
    if (reply && context.version() <= 1) {
        for (const std::string& feature : reply->updated) {
            // Kafka puts the name of the error here, even on success.
            results.push_back({.feature = arena.copy(feature), .error_message = error_name(ErrorCode::none)});
        }
    }
    response.results = results;
    context.reply(response);
}

}  // namespace partita::handlers
