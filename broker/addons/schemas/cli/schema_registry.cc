#include "broker/addons/schemas/cli/schema_registry.h"

#include <algorithm>

#include "broker/cli/http_client.h"

namespace partita::cli {
namespace {

constexpr HttpPeer kRegistryPeer{
    .what = "schema registry",
    .nobody = "no schema registry",
    .advice = "name its address with --schema-registry",
    .address_option = "--schema-registry",
    .address_form = "http://HOST:PORT or https://HOST:PORT, with a path behind it where the registry has one",
    .ca_option = "--schema-registry-ca"};

}  // namespace

std::expected<schemas::RegistryAnswer, std::string> ask_schema_registry(const schemas::RegistryPlace& place,
                                                                        const schemas::RegistryRequest& request) {
    const std::size_t scheme_end = place.url.find("://");
    const std::size_t path_begin =
        std::min(place.url.find('/', scheme_end == std::string::npos ? 0 : scheme_end + 3), place.url.size());
    std::string path = place.url.substr(path_begin);
    while (path.ends_with('/')) {
        path.pop_back();
    }
    HttpPlace server(place.url.substr(0, path_begin));
    server.peer = &kRegistryPeer;
    server.login = place.login;
    server.ca_file = place.ca_file;
    const std::string target = path + request.target;
    auto answer = request.json.empty() ? ask_http(server, HttpMethod::get, target)
                                       : tell_http(server, HttpMethod::post, target, request.json);
    if (!answer) {
        return std::unexpected(answer.error().message);
    }
    return schemas::RegistryAnswer{.status = answer->status, .body = std::move(answer->body)};
}

}  // namespace partita::cli
