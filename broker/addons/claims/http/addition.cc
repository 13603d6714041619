#include "broker/http/addition.h"

#include "broker/addons/claims/http/resources.h"

namespace partita::claims {
namespace {

using http::Method;
using http::Route;

constexpr Route kRoutes[] = {
    Route{{"v1", "groups", ":G", "claims"}, serve_claims, Method::get, access::kDescribeGroup},
    Route{{"v1", "groups", ":G", "claims"}, change_claims, Method::post, access::kReadGroup},
    Route{{"v1", "groups", ":G", "claims"}, forget_claims, Method::delete_, access::kDeleteGroup},
    Route{{"v1", "groups", ":G", "checkpoints"}, serve_checkpoints, Method::get, access::kDescribeGroup},
    Route{{"v1", "groups", ":G", "checkpoints"}, write_checkpoints, Method::post, access::kReadGroup},
};

}  // namespace

extern const http::Addition kHttpAddition;
constinit const http::Addition kHttpAddition{.routes = kRoutes, .follow = "GET /v1/groups/G/rebalances"};

}  // namespace partita::claims
