// kafka-cluster: shows the cluster's id and its brokers, and unregisters a broker.

#include <algorithm>
#include <limits>
#include <string>

#include "broker/tools/text.h"
#include "broker/tools/tools.h"
#include "protocol/messages/60_describe_cluster.h"
#include "protocol/messages/64_unregister_broker.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

constexpr Option kClusterOptions[] = {
    {"bootstrap-server", "HOST:PORT,...", "ask these brokers first", {}, "b"},
    {"bootstrap-controller", "HOST:PORT,...", "not served: ask a broker", {}, "C"},
    {"command-config", "file", "read settings of the client from this file", {}, "c"},
    {"config", "file", "old name of --command-config"},
    {"id", "id", "with unregister: forget this broker", {}, "i"},
    {"include-fenced-brokers", "", "with list-endpoints: list fenced brokers, too"},
    {"help", "", "print this help", {}, "h"},
};

constexpr std::string_view kActions = "cluster-id, list-endpoints or unregister";

Outcome<int> show_id(client::Cluster& cluster, const Surroundings& surroundings) {
    const auto membership = cluster.membership("describeCluster");
    if (!membership) {
        return failed(java_text(membership.error()));
    }
    const std::string& id = (*membership)->cluster_id;
    surroundings.print(id.empty() ? "No cluster ID found. The Kafka version is probably too old.\n" : "Cluster ID: " + id + "\n");
    return 0;
}

Outcome<int> unregister(client::Cluster& cluster, std::int32_t id, const Surroundings& surroundings) {
    const auto reply = cluster.ask<UnregisterBrokerResponse>(client::Route::any(), {.name = "unregisterBroker"},
                                                             UnregisterBrokerRequest{.broker_id = id});
    if (!reply && reply.error().kind == client::Failure::Kind::unsupported) {
        surroundings.print("The target cluster does not support the broker unregistration API.\n");
        return 0;
    }
    if (!reply) {
        return failed(java_text(reply.error()));
    }
    if ((*reply)->error_code != ErrorCode::none) {
        return failed(java_text(client::refusal((*reply)->error_code, (*reply)->error_message.value_or(""))));
    }
    surroundings.print("Broker " + std::to_string(id) + " is no longer registered.\n");
    return 0;
}

Outcome<int> list_endpoints(client::Cluster& cluster, bool includes_fenced, const Surroundings& surroundings) {
    const DescribeClusterRequest request{.include_fenced_brokers = includes_fenced};
    const auto reply = cluster.ask<DescribeClusterResponse>(client::Route::any(), {.name = "listNodes"}, request);
    if (!reply) {
        return failed(java_text(reply.error()));
    }
    if ((*reply)->error_code != ErrorCode::none) {
        return failed(java_text(client::refusal((*reply)->error_code, (*reply)->error_message.value_or(""))));
    }
    std::size_t host_width = (*reply)->brokers.empty() ? 100 : 0;
    std::size_t rack_width = 0;
    for (const auto& broker : (*reply)->brokers) {
        host_width = std::max(host_width, broker.host.size());
        rack_width = std::max(rack_width, broker.rack ? broker.rack->size() : 0);
    }
    if (rack_width == 0) {
        rack_width = 10;
    }
    const auto show = [&](std::string_view id, std::string_view host, std::string_view port, std::string_view rack,
                          std::string_view state, std::string_view type) {
        surroundings.print(padded(id, 10) + " " + padded(host, host_width) + " " + padded(port, 10) + " " +
                           padded(rack, rack_width) + " " + padded(state, 10) + " " + padded(type, 15) + "\n");
    };
    show("ID", "HOST", "PORT", "RACK", "STATE", "ENDPOINT_TYPE");
    for (const auto& broker : (*reply)->brokers) {
        show(std::to_string(broker.broker_id), broker.host, std::to_string(broker.port), broker.rack.value_or("null"),
             broker.is_fenced ? "fenced" : "unfenced", "broker");
    }
    return 0;
}

Outcome<int> run_cluster(const Options& options, const Surroundings& surroundings) {
    const std::string action = options.rest().empty() ? "" : options.rest().front();
    if (options.rest().size() != 1 || (action != "cluster-id" && action != "list-endpoints" && action != "unregister")) {
        return usage("use " + std::string(kActions));
    }
    if (options.has("bootstrap-controller")) {
        return refused("--bootstrap-controller is not served: give a broker's address");
    }
    if (!options.has("bootstrap-server")) {
        return usage("--bootstrap-server is required");
    }
    if (options.has("config") && options.has("command-config")) {
        return refused("--config and --command-config cannot be specified together.");
    }
    PARTITA_TRY_ASSIGN(auto properties,
                       options.has("config") ? read_properties(options.value("config")) : client_properties(options));
    if (options.has("config")) {
        surroundings.print(
            "Option --config has been deprecated and will be removed in a future version. Use --command-config instead.\n");
    }
    properties["bootstrap.servers"] = options.value("bootstrap-server");
    const auto id = options.integer("id");
    if (!id) {
        return usage(id.error());
    }
    if (action == "unregister" && !*id) {
        return usage("argument --id/-i is required");
    }
    PARTITA_TRY_ASSIGN(auto cluster, open_cluster(std::move(properties), surroundings));
    if (action == "cluster-id") {
        return show_id(cluster, surroundings);
    }
    if (action == "unregister") {
        return unregister(cluster, **id, surroundings);
    }
    return list_endpoints(cluster, options.has("include-fenced-brokers"), surroundings);
}

}  // namespace

const Tool kClusterTool{.name = "cluster",
                        .kafka_name = "kafka-cluster",
                        .summary = "show the cluster's id and its brokers",
                        .purpose = "The Kafka cluster tool: cluster-id, list-endpoints, unregister.",
                        .options = kClusterOptions,
                        .repeated = Repeated::last_counts,
                        .run = run_cluster,
                        .words = "cluster-id list-endpoints unregister"};

}  // namespace partita::tools
