// kafka-broker-api-versions: shows the requests and versions of each broker, and which of them this program supports.

#include <algorithm>
#include <map>
#include <string>

#include "broker/tools/text.h"
#include "broker/tools/tools.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

constexpr Option kApiVersionsOptions[] = {kBootstrapServer, kCommandConfig, kHelp, kVersion};
constexpr Rule kApiVersionsRules[] = {{Requires::all_of, "", {"bootstrap-server"}}};

std::string range_text(std::int16_t first, std::int16_t last) {
    return first == last ? std::to_string(first) : std::to_string(first) + " to " + std::to_string(last);
}

std::string line_of(const ApiVersionsResponse::ApiVersion& theirs) {
    const ApiInfo* api = find_api(theirs.api_key);
    const std::string key = "(" + std::to_string(theirs.api_key) + "): ";
    const std::string range = range_text(theirs.min_version, theirs.max_version);
    if (api == nullptr) {
        return "UNKNOWN" + key + range;
    }
    const std::int16_t latest = api->latest_version(false);
    const std::string usable = latest < theirs.min_version ? "unusable: node too new"
                               : theirs.max_version < api->versions.first
                                   ? "unusable: node too old"
                                   : "usable: " + std::to_string(std::min(latest, theirs.max_version));
    return std::string(api->name) + key + range + " [" + usable + "]";
}

/// Ascending by key; includes requests that the broker lacks.
std::string text_of_versions(const ApiVersionsResponse& response) {
    std::map<std::int16_t, std::string> lines;
    for (const ApiInfo& api : all_apis()) {
        const auto key = static_cast<std::int16_t>(api.key);
        lines[key] = std::string(api.name) + "(" + std::to_string(key) + "): UNSUPPORTED";
    }
    for (const auto& theirs : response.api_keys) {
        lines[theirs.api_key] = line_of(theirs);
    }
    std::vector<std::string> parts;
    for (const auto& [key, line] : lines) {
        parts.push_back(line);
    }
    return "(\n\t" + joined(parts, ",\n\t") + "\n)";
}

Outcome<int> run_api_versions(const Options& options, const Surroundings& surroundings) {
    PARTITA_TRY_ASSIGN(auto cluster, open_cluster(options, surroundings, "admin-1"));
    const auto membership = cluster.membership("listNodes");
    if (!membership) {
        return failed(membership.error());
    }
    for (const client::Node& node : (*membership)->nodes) {
        const Instant deadline = surroundings.network.clock().now().monotonic + cluster.settings().request_timeout_ms;
        const auto connection = cluster.connection_to(client::Route::node(node.id), deadline);
        surroundings.print(
            node.endpoint.host + ":" + std::to_string(node.endpoint.port) + " (id: " + std::to_string(node.id) +
            " rack: " + node.rack.value_or("null") + " isFenced: false) -> " +
            (connection ? text_of_versions((*connection)->api_versions()) : "ERROR: " + connection.error().message) + "\n");
    }
    return 0;
}

}  // namespace

const Tool kApiVersionsTool{.name = "api-versions",
                            .kafka_name = "kafka-broker-api-versions",
                            .summary = "show the requests that each broker accepts, with their versions",
                            .purpose = "This tool helps to retrieve broker version information.",
                            .options = kApiVersionsOptions,
                            .rules = kApiVersionsRules,
                            .run = run_api_versions};

}  // namespace partita::tools
