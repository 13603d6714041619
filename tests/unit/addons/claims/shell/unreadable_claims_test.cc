// Records that no coordinator wrote, in the topic of claims.

#include <gmock/gmock.h>

#include "broker/addons/claims/shell/claim_shards.h"
#include "broker/handlers/extensions.h"
#include "tests/unit/assembly/unreadable_records_fixture.h"

namespace partita::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kClaimsTopic = "__partita_claims";

TEST_F(UnreadableRecords, OfClientsAreTakenByNobodyWhereClaimsAre) {
    ASSERT_EQ(client_->create_topic(std::string(kClaimsTopic), 1).error, ErrorCode::none);
    EXPECT_EQ(produce_as("somebody", kClaimsTopic), ErrorCode::invalid_topic_exception);
    EXPECT_EQ(produce_as("__admin_client", kClaimsTopic), ErrorCode::invalid_topic_exception);
    put_into_the_log_of(kClaimsTopic);
    EXPECT_THAT(log_of_restart(), AllOf(HasSubstr("records that cannot be read"), HasSubstr("__partita_claims-0")));
    EXPECT_TRUE(broker_->services().extensions.parts.get<claims::ClaimShards>().is_attached());
}

}  // namespace
}  // namespace partita::test
