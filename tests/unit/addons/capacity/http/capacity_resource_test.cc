// Capacity over HTTP, in a whole broker with rules in force.

#include "tests/unit/http/resources_fixture.h"

namespace partita::http {
namespace {

TEST_F(NeedfulResources, OfCapacityAreToldToWhoMayKnowTheConfigsOfTheCluster) {
    const NeedfulRequest kAsked[] = {
        {Method::get, "/v1/capacity", access::kDescribeClusterConfigs, access::kClusterName},
    };
    expect_needs(kAsked);
    rules_.allows_all = true;
    EXPECT_EQ(ask(Method::get, "/v1/capacity")->status, Status::ok);
}

}  // namespace
}  // namespace partita::http
