// DescribeUserScramCredentials: v0, flexible (KIP-554).

#include "protocol/messages/50_describe_user_scram_credentials.h"
#include "broker/handlers/admin_replies.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/runtime/partitions/turn.h"
#include "broker/topics/scram_credentials.h"

namespace partita::handlers {

void describe_user_scram_credentials(runtime::RequestContext& context) {
    const DescribeUserScramCredentialsRequest* request = context.decode<DescribeUserScramCredentialsRequest>();
    if (request == nullptr) {
        return;
    }
    if (!authorize_cluster(context, access::kDescribeCluster)) {
        DescribeUserScramCredentialsResponse refused;
        refused.error_code = ErrorCode::cluster_authorization_failed;
        refused.error_message = error_message(refused.error_code);
        context.reply(refused);
        return;
    }
    Arena& arena = context.arena();
    std::vector<std::string_view> users;
    for (const DescribeUserScramCredentialsRequest::UserName& user : request->users) {
        users.push_back(user.name);
    }
    const auto described = topics::describe_scram_credentials(*context.turn.topics().catalog, users);
    ArenaVector<DescribeUserScramCredentialsResponse::DescribeUserScramCredentialsResult> results(arena, described.size());
    for (const topics::DescribedScramUser& user : described) {
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
