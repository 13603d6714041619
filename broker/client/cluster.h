#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "broker/client/connection.h"
#include "broker/client/failure.h"
#include "broker/client/network.h"
#include "broker/client/settings.h"
#include "protocol/api_keys.h"
#include "protocol/try.h"

/// A small synchronous client of any Kafka cluster, for commands and other occasional callers. It knows the brokers, the
/// controller and the coordinators, uses the versions that both sides support, and repeats a call until its time is over. It
/// keeps one connection per broker and has one request under way at a time. One thread.
namespace partita::client {

struct Node {
    std::int32_t id = -1;
    Endpoint endpoint;
    std::optional<std::string> rack;
};

/// The cluster's brokers and controller, by Metadata.
struct Membership {
    std::string cluster_id;
    std::int32_t controller_id = -1;
    /// Ascending by id.
    std::vector<Node> nodes;
};

enum class CoordinatorOf : std::int8_t { group = 0, transaction = 1 };

/// The broker to ask.
class Route {
  public:
    enum class Kind : std::uint8_t { any, controller, node, coordinator };

    [[nodiscard]] static Route any() { return Route(Kind::any); }
    [[nodiscard]] static Route controller() { return Route(Kind::controller); }
    [[nodiscard]] static Route node(std::int32_t id) {
        Route route(Kind::node);
        route.node_id = id;
        return route;
    }
    [[nodiscard]] static Route coordinator(CoordinatorOf of, std::string key) {
        Route route(Kind::coordinator);
        route.of = of;
        route.key = std::move(key);
        return route;
    }

    Kind kind;
    std::int32_t node_id = -1;
    CoordinatorOf of{};
    std::string key;

  private:
    explicit Route(Kind what) : kind(what) {}
};

/// Options of a call besides its request.
struct CallOptions {
    /// The name that Kafka's Admin client gives the call ("listTopics"); messages contain it.
    std::string_view name;
    Versions versions{};
    /// Added to the request timeout: for requests that wait at the broker.
    std::int64_t waits_at_broker_ms = 0;
};

class Cluster {
  public:
    /// Sends nothing before the first call. The network outlives the cluster.
    Cluster(Network& network, Settings settings);

    [[nodiscard]] const Settings& settings() const { return settings_; }
    [[nodiscard]] Network& network() { return network_; }

    /// The cluster's brokers. Asks once, and again after `forget_membership`; until then the pointer stays valid.
    [[nodiscard]] Result<const Membership*> membership(std::string_view call_name);
    void forget_membership() { membership_.reset(); }

    /// Sends `make(version)`, a request, and returns its reply. `error_of(reply)` is the error of the reply as a whole. The call
    /// repeats with a backoff until default.api.timeout.ms is over if a connection fails, or if the error asks for another broker
    /// or a later moment (NOT_CONTROLLER, NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE). The caller
    /// handles any other code. Failures: unreachable, timed_out, malformed, unsupported, interrupted; refused if the client may
    /// not look up the coordinator.
    template <class Response, class Make, class ErrorOf>
    [[nodiscard]] Result<Reply<Response>> ask(const Route& route, const CallOptions& options, Make make, ErrorOf error_of) {
        using Request = std::remove_cvref_t<std::invoke_result_t<Make, std::int16_t>>;
        Request request;
        const Encoding encoding{api_of(&Request::schema),
                                [&](std::int16_t version) -> const void* {
                                    request = make(version);
                                    return &request;
                                },
                                [&](const void* reply) { return error_of(*static_cast<const Response*>(reply)); }};
        PARTITA_TRY_ASSIGN(auto raw, ask_raw(route, options, encoding));
        return Reply<Response>(std::move(raw));
    }
    /// As above, but with the same request in every version, and without a repetition because of an error in the reply.
    template <class Response, class Request>
    [[nodiscard]] Result<Reply<Response>> ask(const Route& route, const CallOptions& options, const Request& request) {
        return ask<Response>(
            route, options, [&](std::int16_t) { return request; }, [](const Response&) { return ErrorCode::none; });
    }

    /// The coordinator that the last lookup found; null before the first lookup.
    [[nodiscard]] const Node* last_coordinator(CoordinatorOf of, const std::string& key) const;

    /// The connection to a broker, opened if necessary; for requests that do not fit the calls above. Valid until the next call.
    [[nodiscard]] Result<Connection*> connection_to(const Route& route, Instant deadline);
    /// Closes a connection after a failure; the next call opens a new one.
    void drop(const Connection& connection);

  private:
    struct Encoding {
        const ApiInfo& api;
        std::function<const void*(std::int16_t)> request;
        std::function<ErrorCode(const void*)> error_of;
    };

    [[nodiscard]] static const ApiInfo& api_of(const Schema* request);
    [[nodiscard]] Result<RawReply> ask_raw(const Route& route, const CallOptions& options, const Encoding& encoding);
    [[nodiscard]] Result<RawReply> ask_once(const Route& route, const CallOptions& options, const Encoding& encoding,
                                            Instant deadline);
    [[nodiscard]] Result<Connection*> any_connection(Instant deadline);
    [[nodiscard]] Result<Connection*> connect(const Endpoint& endpoint, Instant deadline);
    [[nodiscard]] Result<void> refresh_membership(Instant deadline);
    [[nodiscard]] Result<Node> find_coordinator(const Route& route, Instant deadline);
    void forget(const Route& route);
    void tell_once(const Failure& failure);

    Network& network_;
    const Settings settings_;
    std::map<Endpoint, std::unique_ptr<Connection>> connections_;
    /// A broker has answered since this object was made.
    bool was_connected_ = false;
    std::optional<Membership> membership_;
    std::map<std::pair<CoordinatorOf, std::string>, Node> coordinators_;
    std::set<std::string> told_;
};

}  // namespace partita::client
