#include "protocol/messages/50_describe_user_scram_credentials.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(DescribeUserScramCredentialsRequest::UserName,
    FIELD(name, "Name"))

PARTITA_MESSAGE(DescribeUserScramCredentialsRequest, versions(0, 0), flexible_since(0),
    FIELD(users, "Users", nullable()))

PARTITA_STRUCT(DescribeUserScramCredentialsResponse::CredentialInfo,
    FIELD(mechanism, "Mechanism"),
    FIELD(iterations, "Iterations"))

PARTITA_STRUCT(DescribeUserScramCredentialsResponse::DescribeUserScramCredentialsResult,
    FIELD(user, "User"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(credential_infos, "CredentialInfos"))

PARTITA_MESSAGE(DescribeUserScramCredentialsResponse, versions(0, 0), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()),
    FIELD(results, "Results"))

PARTITA_API(describe_user_scram_credentials, DescribeUserScramCredentials)
// clang-format on

}  // namespace partita
