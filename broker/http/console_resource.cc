// GET / and /console/VERSION/FILE: the console's files (broker/console), which are the same for all callers and hold no data.

#include <algorithm>

#include "broker/console/console_files.h"
#include "broker/http/resources.h"

namespace partita::http {
namespace {

/// A page may load files of this broker and send requests to it, nothing else. Other pages cannot frame it. Pages have no inline
/// scripts or styles, so that a name cannot inject any.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

Headers headers(std::string_view caching) {
    return {{"Cache-Control", std::string(caching)},       {"Content-Security-Policy", std::string(kPolicy)},
            {"X-Content-Type-Options", "nosniff"},         {"Referrer-Policy", "no-referrer"},
            {"Cross-Origin-Opener-Policy", "same-origin"}, {"Cross-Origin-Resource-Policy", "same-origin"}};
}

}  // namespace

void serve_console(const Surroundings&, const ExchangePointer& exchange) {
    const console::File& page = console::first_page();
    const std::string tag = "\"" + std::string(console::version()) + "\"";
    Headers told = headers("no-cache");
    told.push_back({"ETag", tag});
    if (exchange->request().if_none_match == tag) {
        exchange->respond(Status::not_modified, page.content_type, "", std::move(told));
        return;
    }
    exchange->respond(Status::ok, page.content_type, std::string(page.content), std::move(told));
}

void serve_console_file(const Surroundings&, const ExchangePointer& exchange) {
    const std::vector<std::string>& path = exchange->request().path;
    const auto found = std::ranges::find(console::files(), path.at(2), &console::File::name);
    if (path.at(1) != console::version() || found == console::files().end()) {
        respond_error(*exchange, Status::not_found, "the console does not have this file; load / again");
        return;
    }
    exchange->respond(Status::ok, found->content_type, std::string(found->content),
                      headers("public, max-age=31536000, immutable"));
}

}  // namespace partita::http
