#include "broker/client/cluster.h"

#include <algorithm>

#include "protocol/assert.h"
#include "protocol/codec.h"
#include "protocol/messages/03_metadata.h"
#include "protocol/messages/10_find_coordinator.h"
#include "protocol/try.h"

namespace partita::client {
namespace {

/// `Settings::tell` gets at most this many lines.
constexpr std::size_t kToldMax = 16;
/// In version 0 an empty list means all topics, not none.
constexpr Versions kMembershipVersions{1};

/// The asked broker cannot answer, or cannot answer yet; another one may.
bool is_misdirected(ErrorCode code) {
    return code == ErrorCode::not_controller || code == ErrorCode::not_coordinator ||
           code == ErrorCode::coordinator_not_available || code == ErrorCode::coordinator_load_in_progress;
}

/// Another attempt may succeed.
bool is_passing(Failure::Kind kind) {
    return kind == Failure::Kind::unreachable || kind == Failure::Kind::timed_out || kind == Failure::Kind::disconnected;
}

/// Waiting times between attempts: doubled each time, up to a bound.
class Backoff {
  public:
    explicit Backoff(const Settings& settings) : next_ms_(settings.retry_backoff_ms), most_ms_(settings.retry_backoff_max_ms) {}
    [[nodiscard]] std::int64_t next() { return std::exchange(next_ms_, std::min(next_ms_ * 2, most_ms_)); }

  private:
    std::int64_t next_ms_;
    const std::int64_t most_ms_;
};

Membership membership_of(const MetadataResponse& reply) {
    Membership membership{.cluster_id = std::string(reply.cluster_id.value_or("")), .controller_id = reply.controller_id};
    for (const MetadataResponse::Broker& broker : reply.brokers) {
        membership.nodes.push_back({broker.node_id,
                                    {std::string(broker.host), static_cast<std::uint16_t>(broker.port)},
                                    broker.rack ? std::optional(std::string(*broker.rack)) : std::nullopt});
    }
    std::ranges::sort(membership.nodes, {}, &Node::id);
    return membership;
}

}  // namespace

Cluster::Cluster(Network& network, Settings settings) : network_(network), settings_(std::move(settings)) {}

const ApiInfo& Cluster::api_of(const Schema* request) {
    const auto apis = all_apis();
    const auto found = std::ranges::find(apis, request, &ApiInfo::request);
    PARTITA_ASSERT(found != apis.end(), "a request belongs to an API");
    return *found;
}

void Cluster::tell_once(const Failure& failure) {
    if (settings_.tell && told_.size() < kToldMax && told_.insert(failure.message).second) {
        settings_.tell(failure.message);
    }
}

Result<Connection*> Cluster::connect(const Endpoint& endpoint, Instant deadline) {
    const auto found = connections_.find(endpoint);
    if (found != connections_.end()) {
        return found->second.get();
    }
    auto opened = Connection::open(network_, endpoint, settings_, deadline);
    if (!opened) {
        // A name without an address may end the whole call; then any_connection reports it.
        const bool is_first_contact = !was_connected_ && opened.error().is_nameless;
        if (is_passing(opened.error().kind) && !is_first_contact) {
            tell_once(opened.error());
        }
        return std::unexpected(std::move(opened.error()));
    }
    was_connected_ = true;
    return connections_.emplace(endpoint, std::move(*opened)).first->second.get();
}

void Cluster::drop(const Connection& connection) { connections_.erase(Endpoint(connection.endpoint())); }

Result<Connection*> Cluster::any_connection(Instant deadline) {
    if (!connections_.empty()) {
        return connections_.begin()->second.get();
    }
    std::vector<Endpoint> candidates = settings_.bootstrap;
    if (membership_) {
        for (const Node& node : membership_->nodes) {
            candidates.push_back(node.endpoint);
        }
    }
    Failure last{.kind = Failure::Kind::unreachable};
    std::vector<Failure> nameless;
    for (const Endpoint& candidate : candidates) {
        auto connection = connect(candidate, deadline);
        if (connection || !is_passing(connection.error().kind)) {
            return connection;
        }
        last = std::move(connection.error());
        if (last.is_nameless) {
            nameless.push_back(last);
        }
    }
    // As in Kafka's clients: a misspelt name will not start to resolve, so fail at once.
    if (!was_connected_ && nameless.size() == candidates.size()) {
        last.kind = Failure::Kind::bad_setting;
    } else {
        for (const Failure& failure : nameless) {
            tell_once(failure);
        }
    }
    return std::unexpected(std::move(last));
}

Result<void> Cluster::refresh_membership(Instant deadline) {
    if (membership_) {
        return {};
    }
    PARTITA_TRY_ASSIGN(auto connection, any_connection(deadline));
    const ApiInfo& api = *find_api(ApiKey::metadata);
    PARTITA_TRY_ASSIGN(auto version, connection->version_for(api, kMembershipVersions));
    const MetadataRequest request;
    auto raw = connection->call(api, version, &request, deadline);
    if (!raw) {
        drop(*connection);
        return std::unexpected(std::move(raw.error()));
    }
    membership_ = membership_of(*static_cast<const MetadataResponse*>(raw->message));
    return {};
}

Result<Node> Cluster::find_coordinator(const Route& route, Instant deadline) {
    const auto known = coordinators_.find({route.of, route.key});
    if (known != coordinators_.end()) {
        return known->second;
    }
    PARTITA_TRY_ASSIGN(auto connection, any_connection(deadline));
    const ApiInfo& api = *find_api(ApiKey::find_coordinator);
    PARTITA_TRY_ASSIGN(auto version,
                       connection->version_for(api, {static_cast<std::int16_t>(route.of == CoordinatorOf::group ? 0 : 1)}));
    constexpr std::int16_t kManyKeys = 4;
    std::string_view key = route.key;
    FindCoordinatorRequest request;
    request.key_type = static_cast<std::int8_t>(route.of);
    if (version >= kManyKeys) {
        request.coordinator_keys = Array<std::string_view>(&key, 1);
    } else {
        request.key = key;
    }
    auto raw = connection->call(api, version, &request, deadline);
    if (!raw) {
        drop(*connection);
        return std::unexpected(std::move(raw.error()));
    }
    const auto& reply = *static_cast<const FindCoordinatorResponse*>(raw->message);
    ErrorCode code = reply.error_code;
    std::string_view text = reply.error_message.value_or("");
    Node node{reply.node_id, {std::string(reply.host), static_cast<std::uint16_t>(reply.port)}, std::nullopt};
    if (version >= kManyKeys) {
        if (reply.coordinators.empty()) {
            code = ErrorCode::coordinator_not_available;
        }
        for (const auto& coordinator : reply.coordinators) {
            code = coordinator.error_code;
            text = coordinator.error_message.value_or("");
            node = {
                coordinator.node_id, {std::string(coordinator.host), static_cast<std::uint16_t>(coordinator.port)}, std::nullopt};
        }
    }
    if (code != ErrorCode::none) {
        return std::unexpected(refusal(code, text));
    }
    return coordinators_[{route.of, route.key}] = std::move(node);
}

Result<Connection*> Cluster::connection_to(const Route& route, Instant deadline) {
    if (route.kind == Route::Kind::any) {
        return any_connection(deadline);
    }
    if (route.kind == Route::Kind::coordinator) {
        PARTITA_TRY_ASSIGN(auto node, find_coordinator(route, deadline));
        return connect(node.endpoint, deadline);
    }
    PARTITA_TRY(refresh_membership(deadline));
    const std::int32_t id = route.kind == Route::Kind::controller ? membership_->controller_id : route.node_id;
    const auto node = std::ranges::find(membership_->nodes, id, &Node::id);
    if (node == membership_->nodes.end()) {
        return std::unexpected(
            Failure{.kind = Failure::Kind::unreachable, .message = "no broker has the id " + std::to_string(id)});
    }
    return connect(Endpoint(node->endpoint), deadline);
}

Result<const Membership*> Cluster::membership(std::string_view call_name) {
    if (!membership_) {
        PARTITA_TRY_ASSIGN(auto reply, ask<MetadataResponse>(Route::any(), {.name = call_name, .versions = kMembershipVersions},
                                                             MetadataRequest{}));
        membership_ = membership_of(*reply);
    }
    return &*membership_;
}

const Node* Cluster::last_coordinator(CoordinatorOf of, const std::string& key) const {
    const auto found = coordinators_.find({of, key});
    return found == coordinators_.end() ? nullptr : &found->second;
}

void Cluster::forget(const Route& route) {
    membership_.reset();
    if (route.kind == Route::Kind::coordinator) {
        coordinators_.erase({route.of, route.key});
    }
}

Result<RawReply> Cluster::ask_once(const Route& route, const CallOptions& options, const Encoding& encoding, Instant deadline) {
    PARTITA_TRY_ASSIGN(auto connection, connection_to(route, deadline));
    PARTITA_TRY_ASSIGN(auto version, connection->version_for(encoding.api, options.versions));
    auto raw = connection->call(encoding.api, version, encoding.request(version), deadline);
    if (!raw && raw.error().kind != Failure::Kind::unsupported) {
        drop(*connection);
    }
    PARTITA_TRY(raw);
    if (const ErrorCode code = encoding.error_of(raw->message); is_misdirected(code)) {
        return std::unexpected(refusal(code));
    }
    return raw;
}

Result<RawReply> Cluster::ask_raw(const Route& route, const CallOptions& options, const Encoding& encoding) {
    Clock& clock = network_.clock();
    const Instant deadline = clock.now().monotonic + settings_.default_api_timeout_ms + options.waits_at_broker_ms;
    Backoff backoff(settings_);
    bool was_asked = false;
    for (std::int64_t tries = 1;; ++tries) {
        const Instant now = clock.now().monotonic;
        const Instant attempt_ends{
            std::min(deadline.value, now.value + settings_.request_timeout_ms + options.waits_at_broker_ms)};
        auto raw = ask_once(route, options, encoding, attempt_ends);
        if (raw) {
            return raw;
        }
        const Failure& failure = raw.error();
        const bool may_change = is_passing(failure.kind) || is_misdirected(failure.code);
        if (!may_change) {
            return raw;
        }
        was_asked = was_asked || failure.kind != Failure::Kind::unreachable;
        forget(route);
        const std::int64_t rest_ms = backoff.next();
        if (deadline - clock.now().monotonic <= rest_ms) {
            if (was_asked) {
                tell_once(failure);
            }
            const std::string call(options.name);
            if (!was_asked) {
                return std::unexpected(Failure{.kind = Failure::Kind::unreachable,
                                               .message = "Timed out waiting for a node assignment. Call: " + call});
            }
            const std::int64_t wall_ms = clock.now().wall.value;
            return std::unexpected(Failure{
                .kind = Failure::Kind::timed_out,
                .code = failure.code,
                .message = "Call(callName=" + call + ", deadlineMs=" + std::to_string(wall_ms) +
                           ", tries=" + std::to_string(tries) + ", nextAllowedTryMs=" + std::to_string(wall_ms + rest_ms) +
                           ") timed out at " + std::to_string(wall_ms) + " after " + std::to_string(tries) + " attempt(s)"});
        }
        network_.pause(rest_ms);
    }
}

}  // namespace partita::client
