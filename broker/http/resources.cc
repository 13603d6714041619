#include "broker/http/resources.h"

#include <algorithm>
#include <array>

namespace partita::http {
namespace {

struct Route {
    /// Parts of the path; "*" stands for any one.
    std::array<std::string_view, 4> path;
    void (*serve)(const Surroundings&, const ExchangePointer&);
};

constexpr std::array kRoutes = {
    Route{{"health", "live"}, serve_live},
    Route{{"health", "ready"}, serve_ready},
    Route{{"metrics"}, serve_metrics},
    Route{{"v1", "topics", "*", "expansion"}, serve_plan},
    Route{{"v1", "topics", "*", "expansions"}, serve_expansions},
    Route{{"v1", "topics", "*", "producers"}, serve_producers},
};

bool matches(const Route& route, const std::vector<std::string>& path) {
    const auto length = static_cast<std::size_t>(std::ranges::find(route.path, "") - route.path.begin());
    if (length != path.size()) {
        return false;
    }
    for (std::size_t index = 0; index < length; ++index) {
        if (route.path[index] != "*" && route.path[index] != path[index]) {
            return false;
        }
    }
    return true;
}

}  // namespace

void serve(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const Request& request = exchange->request();
    const auto route = std::ranges::find_if(kRoutes, [&](const Route& candidate) { return matches(candidate, request.path); });
    if (route == kRoutes.end()) {
        exchange->respond(Status::not_found, kPlainText,
                          "there are /health/live, /health/ready, /metrics, /v1/topics/T/expansion?to=M and "
                          "/v1/topics/T/expansions\n");
        return;
    }
    if (request.method != Method::get && request.method != Method::head) {
        exchange->respond(Status::method_not_allowed, kPlainText, "only GET is served\n");
        return;
    }
    route->serve(surroundings, exchange);
}

}  // namespace partita::http
