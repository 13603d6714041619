#include "broker/http/addition.h"

#include "broker/addons/faults/http/resources.h"

namespace partita::faults {
namespace {

using http::Method;
using http::Route;

constexpr Route kRoutes[] = {
    Route{{"v1", "brokers"}, serve_brokers, Method::get, access::kDescribeCluster},
    Route{{"v1", "brokers", ":ID", "isolate"}, isolate_broker, Method::post, access::kAlterCluster},
    Route{{"v1", "brokers", ":ID", "join"}, join_broker, Method::post, access::kAlterCluster},
    Route{{"v1", "brokers", ":ID", "kill"}, kill_broker, Method::post, access::kAlterCluster},
    Route{{"v1", "brokers", ":ID", "pause"}, pause_broker, Method::post, access::kAlterCluster},
    Route{{"v1", "brokers", ":ID", "restart"}, restart_broker, Method::post, access::kAlterCluster},
    Route{{"v1", "brokers", ":ID", "resume"}, resume_broker, Method::post, access::kAlterCluster},
    Route{{"v1", "clock"}, serve_clock, Method::get, access::kDescribeCluster},
    Route{{"v1", "clock"}, move_clock, Method::post, access::kAlterCluster},
    Route{{"v1", "everything"}, remove_everything, Method::delete_, access::kAlterCluster},
    Route{{"v1", "faults"}, serve_faults, Method::get, access::kDescribeCluster},
    Route{{"v1", "faults"}, add_faults, Method::post, access::kAlterCluster},
    Route{{"v1", "faults"}, remove_faults, Method::delete_, access::kAlterCluster},
    Route{{"v1", "faults", ":ID"}, serve_fault, Method::get, access::kDescribeCluster},
    Route{{"v1", "faults", ":ID"}, remove_fault, Method::delete_, access::kAlterCluster},
    Route{{"v1", "faults", ":ID", "matches"}, serve_matches, Method::get, access::kDescribeCluster},
    Route{{"v1", "faults", ":ID", "release"}, release_fault, Method::post, access::kAlterCluster},
    Route{{"v1", "snapshots"}, serve_snapshots, Method::get, access::kDescribeCluster},
    Route{{"v1", "snapshots", ":NAME"}, serve_snapshot, Method::get, access::kDescribeCluster},
    Route{{"v1", "snapshots", ":NAME"}, take_snapshot, Method::put, access::kAlterCluster},
    Route{{"v1", "snapshots", ":NAME"}, remove_snapshot, Method::delete_, access::kAlterCluster},
    Route{{"v1", "snapshots", ":NAME", "restore"}, restore_snapshot, Method::post, access::kAlterCluster},
};

}  // namespace

extern const http::Addition kHttpAddition;
constinit const http::Addition kHttpAddition{.routes = kRoutes, .follow = "POST /v1/topics/T/visibility"};

}  // namespace partita::faults
