#include "protocol/messages/51_alter_user_scram_credentials.h"

#include "protocol/api_table.h"
#include "protocol/schema_table.h"

namespace partita {

using namespace table;

// clang-format off
PARTITA_STRUCT(AlterUserScramCredentialsRequest::ScramCredentialDeletion,
    FIELD(name, "Name"),
    FIELD(mechanism, "Mechanism"))

PARTITA_STRUCT(AlterUserScramCredentialsRequest::ScramCredentialUpsertion,
    FIELD(name, "Name"),
    FIELD(mechanism, "Mechanism"),
    FIELD(iterations, "Iterations"),
    FIELD(salt, "Salt"),
    FIELD(salted_password, "SaltedPassword"))

PARTITA_MESSAGE(AlterUserScramCredentialsRequest, versions(0, 0), flexible_since(0),
    FIELD(deletions, "Deletions"),
    FIELD(upsertions, "Upsertions"))

PARTITA_STRUCT(AlterUserScramCredentialsResponse::AlterUserScramCredentialsResult,
    FIELD(user, "User"),
    FIELD(error_code, "ErrorCode"),
    FIELD(error_message, "ErrorMessage", nullable()))

PARTITA_MESSAGE(AlterUserScramCredentialsResponse, versions(0, 0), flexible_since(0),
    FIELD(throttle_time_ms, "ThrottleTimeMs"),
    FIELD(results, "Results"))

PARTITA_API(alter_user_scram_credentials, AlterUserScramCredentials)
// clang-format on

}  // namespace partita
