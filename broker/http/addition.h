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

/// A resource: which requests it serves.
struct Route {
    /// Parts of the path; ":T" stands for any one, which people are told of as "T".
    std::array<std::string_view, 6> path;
    void (*serve)(const Surroundings&, const ExchangePointer&);
    /// GET stands for HEAD, too, and changes nothing.
    Method method = Method::get;
    /// The permission that the caller needs; for a topic or a group, on the one that the path names. Unset where nothing is told
    /// of anybody's data, and where the resource, or the handler that it asks (local_requests.h), asks for each thing that it
    /// would tell of.
    std::optional<access::Need> need = std::nullopt;
};

/// An addon's part of the HTTP side. Each addon that has something here defines one constant of this type,
/// `partita::NAME::kHttpAddition` in broker/addons/NAME/http/addition.cc; the build makes the list of them.
struct Addition {
    std::span<const Route> routes = {};
    /// Behind which route of the broker's own they are listed where an unknown path is answered: "GET /v1/broker/configs".
    std::string_view follow = {};
    /// Adds metrics. `with_names`: also metrics that name topics.
    void (*add_metrics)(MetricsText& text, runtime::Services& services, const runtime::NetworkStatistics& network,
                        bool with_names) = nullptr;
};

/// Those of this build, in the order in which their metrics are told; none in a build without addons.
[[nodiscard]] std::span<const Addition* const> additions();

}  // namespace partita::http
