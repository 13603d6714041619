#include "broker/http/resources.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "broker/handlers/services.h"
#include "broker/http/addition.h"
#include "broker/http/authorize.h"
#include "broker/http/jobs.h"
#include "broker/logs/published_topics.h"
#include "protocol/assert.h"

namespace partita::http {
namespace {

constexpr std::array kOwnRoutes = {
    Route{{}, serve_console},
    Route{{"console", ":VERSION", ":FILE"}, serve_console_file},
    Route{{"health", "live"}, serve_live},
    Route{{"health", "ready"}, serve_ready},
    Route{{"metrics"}, serve_metrics, Method::get, access::kDescribeCluster},
    Route{{"v1", "findings"}, serve_findings},
    Route{{"v1", "findings", "seen"}, mark_findings_seen, Method::post},
    Route{{"v1", "findings", "keys"}, serve_wrong_keys},
    Route{{"v1", "events"}, serve_events},
    Route{{"v1", "broker"}, serve_broker, Method::get, access::kDescribeCluster},
    Route{{"v1", "broker", "configs"}, serve_broker_configs},
    Route{{"v1", "connections"}, serve_connections, Method::get, access::kDescribeCluster},
    Route{{"v1", "requests"}, serve_requests, Method::get, access::kDescribeCluster},
    Route{{"v1", "errors"}, serve_errors, Method::get, access::kAlterCluster},
    Route{{"v1", "quotas"}, serve_quotas, Method::get, access::kDescribeClusterConfigs},
    Route{{"v1", "topics"}, serve_topics},
    Route{{"v1", "topics"}, create_topic, Method::post},
    Route{{"v1", "topics", ":T"}, serve_topic, Method::get, access::kDescribeTopic},
    Route{{"v1", "topics", ":T"}, delete_topic, Method::delete_},
    Route{{"v1", "topics", ":T", "configs"}, serve_topic_configs},
    Route{{"v1", "topics", ":T", "configs"}, change_topic_configs, Method::post},
    Route{{"v1", "topics", ":T", "partitions"}, add_partitions, Method::post},
    Route{{"v1", "topics", ":T", "records"}, write_record, Method::post},
    Route{{"v1", "groups"}, serve_all_groups},
    Route{{"v1", "groups", ":G"}, serve_group},
    Route{{"v1", "groups", ":G"}, delete_group, Method::delete_},
    Route{{"v1", "groups", ":G", "offsets"}, reset_offsets, Method::post},
    Route{{"v1", "groups", ":G", "ownership"}, serve_ownership, Method::get, access::kDescribeGroup},
    Route{{"v1", "groups", ":G", "rebalances"}, serve_rebalances, Method::get, access::kDescribeGroup},
    Route{{"v1", "topics", ":T", "groups"}, serve_groups, Method::get, access::kDescribeTopic},
    Route{{"v1", "topics", ":T", "partitions", ":P", "records"}, serve_records, Method::get, access::kReadTopic},
    Route{{"v1", "topics", ":T", "expansion"}, serve_plan, Method::get, access::kReadTopic},
    Route{{"v1", "topics", ":T", "expansions"}, serve_expansions, Method::get, access::kDescribeTopic},
    Route{{"v1", "topics", ":T", "producers"}, serve_producers, Method::get, access::kReadTopic},
    Route{{"v1", "topics", ":T", "protection"}, serve_protection, Method::get, access::kDescribeTopic},
    Route{{"v1", "topics", ":T", "seeds"}, serve_seeds, Method::delete_, access::kAlterTopic},
    Route{{"v1", "topics", ":T", "nudge"}, serve_nudge, Method::post, access::kAlterTopic},
    Route{{"v1", "topics", ":T", "visibility"}, serve_visibility, Method::post, access::kAlterTopicConfigs},
};

/// The index of the name in paths below /v1/topics and /v1/groups.
constexpr std::size_t kTopicPart = 2;

bool matches(const Route& route, const std::vector<std::string>& path) {
    const auto length = static_cast<std::size_t>(std::ranges::find(route.path, "") - route.path.begin());
    if (length != path.size()) {
        return false;
    }
    for (std::size_t index = 0; index < length; ++index) {
        if (!route.path[index].starts_with(':') && route.path[index] != path[index]) {
            return false;
        }
    }
    return true;
}

std::string_view method_name(Method method) {
    return method == Method::post ? "POST" : method == Method::put ? "PUT" : method == Method::delete_ ? "DELETE" : "GET";
}

/// "POST /v1/topics/T/visibility"
std::string name_of(const Route& route) {
    std::string name = std::string(method_name(route.method)) + (route.path.front().empty() ? " /" : " ");
    for (auto part = route.path.begin(); part != route.path.end() && !part->empty(); ++part) {
        name += "/" + std::string(part->substr(part->starts_with(':') ? 1 : 0));
    }
    return name;
}

/// The broker's own routes. Those of an addon come after the route that they follow.
std::vector<Route> joined_routes() {
    std::vector<Route> routes(kOwnRoutes.begin(), kOwnRoutes.end());
    for (const Addition* addition : additions()) {
        if (addition->routes.empty()) {
            continue;
        }
        const auto place = std::ranges::find(routes, addition->follow, name_of);
        PARTITA_ASSERT(place != routes.end(), "an addon follows a route that there is");
        routes.insert(std::next(place), addition->routes.begin(), addition->routes.end());
    }
    return routes;
}

const std::vector<Route>& all_routes() {
    static const std::vector<Route> kRoutes = joined_routes();
    return kRoutes;
}

/// "GET /health/live, GET /health/ready, ..., POST /v1/topics/T/visibility".
std::string known_paths() {
    std::string paths;
    for (const Route& route : all_routes()) {
        paths += (paths.empty() ? "" : ", ") + name_of(route);
    }
    return paths;
}

}  // namespace

std::shared_ptr<const logs::TopicState> topic_of(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const std::string& name = exchange->request().path.at(kTopicPart);
    const auto table = surroundings.services.topics.table();
    const logs::TopicState* found = table->find(name);
    if (found == nullptr) {
        respond_error(*exchange, Status::not_found, "there is no topic " + name);
        return nullptr;
    }
    return table->share(found->topic->id);
}

void start_look(const Surroundings& surroundings, const ExchangePointer& exchange, std::function<void()> look) {
    if (!surroundings.looks.start(std::move(look))) {
        respond_error(*exchange, Status::unavailable, "too many requests are in progress; try again in a moment");
    }
}

void serve(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const Request& request = exchange->request();
    const Method method = request.method == Method::head ? Method::get : request.method;
    const Route* route = nullptr;
    std::string allowed;
    for (const Route& candidate : all_routes()) {
        if (matches(candidate, request.path)) {
            allowed += (allowed.empty() ? "" : ", ") +
                       std::string(candidate.method == Method::get ? "GET, HEAD" : method_name(candidate.method));
            route = candidate.method == method ? &candidate : route;
        }
    }
    if (allowed.empty()) {
        exchange->respond(Status::not_found, kPlainText, "unknown path; the paths are " + known_paths() + "\n");
        return;
    }
    if (route == nullptr) {
        exchange->refuse_method(allowed);
        return;
    }
    if (route->need) {
        const std::string_view name = route->need->permission.resource == access::ResourceType::cluster
                                          ? access::kClusterName
                                          : std::string_view(request.path.at(kTopicPart));
        if (!authorize(surroundings.services.authorizer, exchange->caller(), *route->need, name, name_of(*route))) {
            respond_error(*exchange, Status::forbidden, refusal_sentence(exchange->caller(), *route->need, name));
            return;
        }
    }
    route->serve(surroundings, exchange);
}

}  // namespace partita::http
