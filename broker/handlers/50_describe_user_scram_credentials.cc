// DescribeUserScramCredentials: v0, flexible (KIP-554).

#include "protocol/messages/50_describe_user_scram_credentials.h"
#include "broker/catalog/scram_credentials.h"
#include "broker/handlers/admin_replies.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/logs/turn.h"

namespace partita::handlers {

PARTITA_SERVES(describe_user_scram_credentials, access::kDescribeCluster);

void describe_user_scram_credentials(runtime::RequestContext& context) {
    const DescribeUserScramCredentialsRequest* request = context.decode<DescribeUserScramCredentialsRequest>();
    if (request == nullptr) {
        return;
    }
    using Described = DescribeUserScramCredentialsResponse::DescribeUserScramCredentialsResult;
    Arena& arena = context.arena();
    if (!authorize_cluster(context, access::kDescribeCluster)) {
        // As in Kafka: one result without a name for each requested user, and no text.
        ArenaVector<Described> results(arena);
        for ([[maybe_unused]] const DescribeUserScramCredentialsRequest::UserName& user : request->users) {
            results.push_back({.error_code = ErrorCode::cluster_authorization_failed, .error_message = std::nullopt});
        }
        DescribeUserScramCredentialsResponse refused;
        refused.error_code = ErrorCode::cluster_authorization_failed;
        refused.error_message = std::nullopt;
        refused.results = results;
        context.reply(refused);
        return;
    }
    std::vector<std::string_view> users;
    for (const DescribeUserScramCredentialsRequest::UserName& user : request->users) {
        users.push_back(user.name);
    }
    const auto described = catalog::describe_scram_credentials(*context.turn.topics().catalog, users);
    ArenaVector<Described> results(arena, described.size());
    for (const catalog::DescribedScramUser& user : described) {
        auto& result = results.emplace_back();
        result.user = arena.copy(user.user);
        result.error_code = user.error.code;
        if (user.error.failed()) {
            result.error_message = message_of(user.error, arena);
        }
        ArenaVector<DescribeUserScramCredentialsResponse::CredentialInfo> infos(arena, user.iterations.size());
        for (const auto& [mechanism, iterations] : user.iterations) {
            infos.push_back({.mechanism = static_cast<std::int8_t>(mechanism), .iterations = iterations});
        }
        result.credential_infos = infos;
    }
    DescribeUserScramCredentialsResponse response;
    response.results = results;
    context.reply(response);
}

}  // namespace partita::handlers
