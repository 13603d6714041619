// kafka-metadata-quorum: shows the state of a cluster's controllers.

#include <algorithm>
#include <string>

#include "broker/client/quorum.h"
#include "broker/tools/text.h"
#include "broker/tools/tools.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

constexpr Option kQuorumOptions[] = {
    kBootstrapServer,
    {"bootstrap-controller", "HOST:PORT,...", "not served: ask a broker"},
    kCommandConfig,
    {"help", "", "print this help", {}, "h"},
    {"status", "", "with describe: show leader, epoch, lag and members, in a few lines"},
    {"replication", "", "with describe: show how far each controller and broker has read the metadata log"},
    {"human-readable", "", "with --replication: show ages instead of times"},
};

/// `[{"id": 1, "endpoints": ["CONTROLLER://h:9093"]}]`
std::string members(const client::Quorum& quorum, const std::vector<client::QuorumReplica>& replicas) {
    std::vector<std::string> all;
    for (const auto& replica : replicas) {
        std::string text = "{\"id\": " + std::to_string(replica.id);
        if (!replica.directory.is_zero()) {
            text += ", \"directoryId\": \"" + replica.directory.to_string() + "\"";
        }
        if (const auto found = quorum.endpoints.find(replica.id); found != quorum.endpoints.end()) {
            text += ", \"endpoints\": [\"" + joined(found->second, "\", \"") + "\"]";
        }
        all.push_back(text + "}");
    }
    return "[" + joined(all, ", ") + "]";
}

Outcome<int> show_status(client::Cluster& cluster, const Surroundings& surroundings) {
    const auto membership = cluster.membership("describeCluster");
    if (!membership) {
        return failed(java_text(membership.error()));
    }
    const std::string id = (*membership)->cluster_id;
    const auto quorum = client::describe_quorum(cluster);
    if (!quorum) {
        return failed(java_text(quorum.error()));
    }
    const auto leader = std::ranges::find(quorum->voters, quorum->leader, &client::QuorumReplica::id);
    const auto last = std::ranges::min_element(quorum->voters, {}, &client::QuorumReplica::log_end_offset);
    std::int64_t lag_ms = -1;
    if (leader == last) {
        lag_ms = 0;
    } else if (leader->last_caught_up_ms >= 0 && last->last_caught_up_ms >= 0) {
        lag_ms = leader->last_caught_up_ms - last->last_caught_up_ms;
    }
    surroundings.print("ClusterId:              " + id + "\nLeaderId:               " + std::to_string(quorum->leader) +
                       "\nLeaderEpoch:            " + std::to_string(quorum->leader_epoch) +
                       "\nHighWatermark:          " + std::to_string(quorum->high_watermark) +
                       "\nMaxFollowerLag:         " + std::to_string(leader->log_end_offset - last->log_end_offset) +
                       "\nMaxFollowerLagTimeMs:   " + std::to_string(lag_ms) +
                       "\nCurrentVoters:          " + members(*quorum, quorum->voters) +
                       "\nCurrentObservers:       " + members(*quorum, quorum->observers) + "\n");
    return 0;
}

Outcome<int> show_replication(client::Cluster& cluster, bool is_for_people, const Surroundings& surroundings) {
    const auto quorum = client::describe_quorum(cluster);
    if (!quorum) {
        return failed(java_text(quorum.error()));
    }
    const std::int64_t now_ms = surroundings.network.clock().now().wall.value;
    const auto leader = std::ranges::find(quorum->voters, quorum->leader, &client::QuorumReplica::id);
    std::vector<std::vector<std::string>> rows;
    const auto time = [&](std::int64_t at_ms) {
        return is_for_people && at_ms >= 0 ? std::to_string(std::max<std::int64_t>(0, now_ms - at_ms)) + " ms ago"
                                           : std::to_string(at_ms);
    };
    const auto add = [&](const client::QuorumReplica& replica, const char* status) {
        rows.push_back({std::to_string(replica.id), replica.directory.to_string(), std::to_string(replica.log_end_offset),
                        std::to_string(leader->log_end_offset - replica.log_end_offset), time(replica.last_fetch_ms),
                        time(replica.last_caught_up_ms), status});
    };
    add(*leader, "Leader");
    for (const auto& voter : quorum->voters) {
        if (voter.id != quorum->leader) {
            add(voter, "Follower");
        }
    }
    for (const auto& observer : quorum->observers) {
        add(observer, "Observer");
    }
    surroundings.print(
        table({"NodeId", "DirectoryId", "LogEndOffset", "Lag", "LastFetchTimestamp", "LastCaughtUpTimestamp", "Status"}, rows));
    return 0;
}

Outcome<int> run_quorum(const Options& options, const Surroundings& surroundings) {
    const std::string action = options.rest().empty() ? "" : options.rest().front();
    if (action == "add-controller" || action == "remove-controller") {
        return refused(action + " is not served: only controllers answer it");
    }
    if (options.rest().size() != 1 || action != "describe") {
        return usage("use describe");
    }
    if (options.has("bootstrap-controller")) {
        return refused("--bootstrap-controller is not served: give a broker's address");
    }
    if (!options.has("bootstrap-server")) {
        return usage("--bootstrap-server is required");
    }
    const bool shows_status = options.has("status");
    const bool shows_replication = options.has("replication");
    if (shows_status && shows_replication) {
        return refused("Only one of --status or --replication should be specified with describe sub-command");
    }
    if (shows_status && options.has("human-readable")) {
        return refused("The option --human-readable is only supported along with --replication");
    }
    if (!shows_status && !shows_replication) {
        return refused("One of --status or --replication must be specified with describe sub-command");
    }
    PARTITA_TRY_ASSIGN(auto cluster, open_cluster(options, surroundings));
    return shows_status ? show_status(cluster, surroundings)
                        : show_replication(cluster, options.has("human-readable"), surroundings);
}

}  // namespace

const Tool kQuorumTool{.name = "quorum",
                       .kafka_name = "kafka-metadata-quorum",
                       .summary = "show the state of the metadata quorum",
                       .purpose = "This tool describes kraft metadata quorum status: describe --status or --replication.",
                       .options = kQuorumOptions,
                       .repeated = Repeated::last_counts,
                       .run = run_quorum,
                       .words = "describe"};

}  // namespace partita::tools
