#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "broker/access/permission.h"
#include "broker/http/exchange.h"

namespace partita::runtime {
class NetworkStatistics;
struct Services;
}  // namespace partita::runtime

namespace partita::http {

class MetricsText;
struct Surroundings;

/// A resource: the requests that it serves, and how.
struct Route {
    /// Parts of the path; ":T" stands for any part. Messages show it as "T".
    std::array<std::string_view, 6> path;
    void (*serve)(const Surroundings&, const ExchangePointer&);
    /// GET stands for HEAD, too, and changes nothing.
    Method method = Method::get;
    /// The permission that the caller needs; for a topic or a group, on the one that the path names. Unset in two cases. Either
    /// the resource shows nothing of the users' data. Or it checks each thing that it would show, itself or through the handler
    /// that it asks (local_requests.h).
    std::optional<access::Need> need = std::nullopt;
};

/// An addon's part of the HTTP side. Each addon that has something here defines one constant of this type,
/// `partita::NAME::kHttpAddition` in broker/addons/NAME/http/addition.cc; the build makes the list of them.
struct Addition {
    std::span<const Route> routes = {};
    /// The broker's own route that these routes follow in the list for unknown paths: "GET /v1/broker/configs".
    std::string_view follow = {};
    /// Adds metrics. `with_names`: also metrics that name topics.
    void (*add_metrics)(MetricsText& text, const runtime::Services& services, const runtime::NetworkStatistics& network,
                        bool with_names) = nullptr;
};

/// The additions of this build, in the order of their metrics; none in a build without addons.
[[nodiscard]] std::span<const Addition* const> additions();

}  // namespace partita::http
