#include "broker/http/addition.h"

#include "broker/addons/capacity/http/resources.h"

namespace partita::capacity {
namespace {

using http::Method;
using http::Route;

constexpr Route kRoutes[] = {
    Route{{"v1", "capacity"}, serve_capacity, Method::get, access::kDescribeClusterConfigs},
    Route{{"v1", "capacity"}, set_capacity, Method::put},
};

}  // namespace

extern const http::Addition kHttpAddition;
constinit const http::Addition kHttpAddition{.routes = kRoutes, .follow = "GET /v1/broker/configs", .add_metrics = add_metrics};

}  // namespace partita::capacity
