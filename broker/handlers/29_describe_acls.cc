// DescribeAcls: v1-3, flexible from 2. Answered as by a Kafka without authorizer.

#include "protocol/messages/29_describe_acls.h"
#include "broker/handlers/authorize.h"
#include "broker/handlers/registry.h"
#include "broker/handlers/security_disabled.h"

namespace partita::handlers {

void describe_acls(runtime::RequestContext& context) {
    if (context.decode<DescribeAclsRequest>() == nullptr) {
        return;
    }
    if (!authorize_cluster(context, access::kDescribeCluster)) {
        DescribeAclsResponse refused;
        refused.error_code = ErrorCode::cluster_authorization_failed;
        refused.error_message = error_message(refused.error_code);
        context.reply(refused);
        return;
    }
    DescribeAclsResponse response;
    response.error_code = ErrorCode::security_disabled;
    response.error_message = kNoAuthorizerToDescribe;
    context.reply(response);
}

}  // namespace partita::handlers
