#include "broker/cli/web_service.h"

#include <algorithm>
#include <utility>

#include "broker/cli/http_client.h"

namespace partita::cli {

std::expected<tools::WebAnswer, std::string> ask_web_service(const tools::WebService& service, const tools::WebRequest& request) {
    const HttpPeer peer{.what = service.peer.what,
                        .nobody = service.peer.nobody,
                        .advice = service.peer.advice,
                        .address_option = service.peer.address_option,
                        .address_form = service.peer.address_form,
                        .ca_option = service.peer.ca_option};
    const std::size_t scheme_end = service.url.find("://");
    const std::size_t path_begin =
        std::min(service.url.find('/', scheme_end == std::string::npos ? 0 : scheme_end + 3), service.url.size());
    std::string path = service.url.substr(path_begin);
    while (path.ends_with('/')) {
        path.pop_back();
    }
    HttpPlace server(service.url.substr(0, path_begin));
    server.peer = &peer;
    server.login = service.login;
    server.ca_file = service.ca_file;
    const std::string target = path + request.target;
    auto answer = request.json.empty() ? ask_http(server, HttpMethod::get, target)
                                       : tell_http(server, HttpMethod::post, target, request.json);
    if (!answer) {
        return std::unexpected(answer.error().message);
    }
    return tools::WebAnswer{.status = answer->status, .body = std::move(answer->body)};
}

}  // namespace partita::cli
