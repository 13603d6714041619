// `partita watch`: the findings of a running broker as they open, change and close. Reads /v1/events of its HTTP side, one
// JSON line for each event, until the broker ends or nobody reads the output any more.

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cstdio>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "broker/cli/command.h"

namespace partita::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using nlohmann::ordered_json;

/// A line longer than this is none of a broker's.
constexpr std::size_t kLineBytesMax = 1 << 20;

struct Arguments {
    std::string http = "localhost:8092";
    std::string topic;
    bool as_json = false;
};

std::string clock_time(std::int64_t time_ms) {
    const std::time_t seconds = time_ms / 1000;
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    std::array<char, 16> text{};
    std::strftime(text.data(), text.size(), "%H:%M:%S", &parts);
    return text.data();
}

/// "14:02:11 opened  block H03 orders: group billing ... | Drain first ..."
std::string readable(const ordered_json& event) {
    const ordered_json& finding = event.at("finding");
    const std::string kind = event.at("event");
    std::string text = clock_time(event.at("time_ms")) + " " + kind + std::string(kind.size() < 8 ? 8 - kind.size() : 0, ' ') +
                       finding.at("severity").get<std::string>() + " " + finding.at("id").get<std::string>() + " " +
                       finding.at("subject").value("topic", "") + ": " + finding.at("condition").get<std::string>();
    if (kind == "opened") text += "\n                  " + finding.at("advice").get<std::string>();
    return text;
}

/// Prints what comes line by line. False when nobody reads the output any more.
class Printer {
  public:
    explicit Printer(const Arguments& arguments) : arguments_(arguments) {}

    [[nodiscard]] bool take(std::string_view part) {
        for (std::size_t end = part.find('\n'); end != std::string_view::npos; end = part.find('\n')) {
            line_ += part.substr(0, end);
            part.remove_prefix(end + 1);
            if (!line_.empty() && !print()) return false;
            line_.clear();
        }
        line_ += part;
        return line_.size() <= kLineBytesMax;
    }

  private:
    bool print() {
        const auto event = ordered_json::parse(line_, nullptr, false);
        if (!event.is_object() || !event.contains("finding")) return true;
        if (!arguments_.topic.empty() && event["finding"]["subject"].value("topic", "") != arguments_.topic) return true;
        std::printf("%s\n", arguments_.as_json ? line_.c_str() : readable(event).c_str());
        return std::fflush(stdout) == 0;
    }

    const Arguments& arguments_;
    std::string line_;
};

int broken(const std::string& message) {
    std::fprintf(stderr, "partita: %s\n", message.c_str());
    return kExitBroken;
}

int watch(const Arguments& arguments) {
    const std::size_t colon = arguments.http.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == arguments.http.size()) {
        return refuse("--http must be host:port, not " + arguments.http);
    }
    asio::io_context context;
    asio::ip::tcp::socket socket(context);
    boost::system::error_code error;
    const auto addresses =
        asio::ip::tcp::resolver(context).resolve(arguments.http.substr(0, colon), arguments.http.substr(colon + 1), error);
    if (!error) asio::connect(socket, addresses, error);
    if (error) return broken("no broker's HTTP side at " + arguments.http + ": " + error.message());
    beast::http::request<beast::http::empty_body> request(beast::http::verb::get, "/v1/events", 11);
    request.set(beast::http::field::host, arguments.http);
    beast::http::write(socket, request, error);
    beast::flat_buffer buffer;
    beast::http::response_parser<beast::http::buffer_body> parser;
    parser.body_limit(boost::none);
    if (!error) beast::http::read_header(socket, buffer, parser, error);
    if (error) return broken("what listens at " + arguments.http + " does not answer: " + error.message());
    if (parser.get().result() != beast::http::status::ok) return broken("the broker at " + arguments.http + " has no events");
    Printer printer(arguments);
    std::array<char, 16 * 1024> piece;
    while (!parser.is_done()) {
        parser.get().body().data = piece.data();
        parser.get().body().size = piece.size();
        beast::http::read_some(socket, buffer, parser, error);
        if (error == beast::http::error::need_buffer) error = {};
        if (error) return broken("the broker ended: " + error.message());
        if (!printer.take({piece.data(), piece.size() - parser.get().body().size})) return kExitDone;
    }
    return broken("the broker ends the events, because it stops, has too many readers, or this one was too slow");
}

}  // namespace

void add_watch_command(CLI::App& application, Action& chosen) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = application.add_subcommand("watch", "show findings about expansions of a running broker as they happen");
    command->add_option("--http", arguments->http, "the broker's HTTP side (default localhost:8092)");
    command->add_option("--topic", arguments->topic, "only findings about this topic");
    command->add_flag("--json", arguments->as_json, "one JSON object for each event, as on /v1/events");
    command->callback([arguments, &chosen] { chosen = [arguments] { return watch(*arguments); }; });
}

}  // namespace partita::cli
