// `partita plan` against a running Partita: GET /v1/topics/T/expansion, as JSON lines.

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cctype>
#include <nlohmann/json.hpp>

#include "broker/cli/command.h"
#include "broker/cli/plan_command.h"

namespace partita::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using nlohmann::ordered_json;

/// Keys come in lines of 64 KiB, plans of topics with many partitions are larger.
constexpr std::size_t kLineBytesMax = std::size_t{256} << 20;

std::string percent_encoded(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string encoded;
    for (const char letter : text) {
        const auto code = static_cast<unsigned char>(letter);
        if (std::isalnum(code) != 0 || letter == '-' || letter == '.' || letter == '_' || letter == '~') {
            encoded += letter;
        } else {
            encoded += {'%', kDigits[code >> 4], kDigits[code & 15]};
        }
    }
    return encoded;
}

std::string target(const PlanArguments& arguments) {
    std::string text = "/v1/topics/" + percent_encoded(arguments.topic) + "/expansion?to=" + std::to_string(arguments.to) + "&stream=1";
    if (arguments.records) text += "&records=" + std::to_string(*arguments.records);
    if (arguments.since_ms) text += "&since=" + std::to_string(*arguments.since_ms);
    if (!arguments.partitioner.empty()) text += "&partitioner=" + percent_encoded(arguments.partitioner);
    if (arguments.hashes_keys) text += "&hash_keys=1";
    if (arguments.lists_keys) text += "&keys=1";
    return text;
}

std::unexpected<PlanRefusal> broken(std::string message) { return std::unexpected(PlanRefusal{kExitBroken, std::move(message)}); }

std::string error_of(const std::string& body) {
    const auto json = ordered_json::parse(body, nullptr, false);
    if (json.is_object() && json.contains("error") && json["error"].is_string()) return json["error"];
    return body.substr(0, 200);
}

/// Takes lines as they come; the last one is the plan, or why there is none.
class Lines {
  public:
    explicit Lines(const PlanListener& listener) : listener_(listener) {}

    /// False when somebody does not want any more.
    [[nodiscard]] bool take(std::string_view part) {
        for (std::size_t end = part.find('\n'); end != std::string_view::npos; end = part.find('\n')) {
            line_ += part.substr(0, end);
            part.remove_prefix(end + 1);
            if (!use()) return false;
            line_.clear();
        }
        line_ += part;
        return line_.size() <= kLineBytesMax;
    }
    std::string plan;
    std::string error;

  private:
    bool use() {
        const auto json = ordered_json::parse(line_, nullptr, false);
        if (!json.is_object()) return true;
        if (json.contains("progress")) {
            listener_.progress(json["progress"].value("done", std::int64_t{0}), json["progress"].value("total", std::int64_t{0}));
        } else if (json.contains("keys") && json["keys"].is_string()) {
            return listener_.keys(json["keys"].get<std::string>());
        } else if (json.contains("plan")) {
            plan = json["plan"].dump();
        } else if (json.contains("error") && json["error"].is_string()) {
            error = json["error"];
        }
        return true;
    }

    const PlanListener& listener_;
    std::string line_;
};

}  // namespace

std::expected<std::string, PlanRefusal> plan_over_http(const PlanArguments& arguments, const PlanListener& listener) {
    const std::size_t colon = arguments.http.rfind(':');
    const std::string host = arguments.http.substr(0, colon);
    const std::string port = colon == std::string::npos ? "8092" : arguments.http.substr(colon + 1);

    asio::io_context context;
    asio::ip::tcp::socket socket(context);
    boost::system::error_code error;
    const auto addresses = asio::ip::tcp::resolver(context).resolve(host, port, error);
    if (!error) asio::connect(socket, addresses, error);
    if (error) {
        return broken("no broker answers at " + arguments.http + " (" + error.message() +
                      "): start one, name its HTTP address with --http, or another cluster with --bootstrap");
    }
    beast::http::request<beast::http::empty_body> request(beast::http::verb::get, target(arguments), 11);
    request.set(beast::http::field::host, arguments.http);
    request.set(beast::http::field::user_agent, "partita plan");
    request.keep_alive(false);
    beast::http::write(socket, request, error);
    if (error) return broken("the broker at " + arguments.http + " went away: " + error.message());

    beast::flat_buffer buffer;
    beast::http::response_parser<beast::http::buffer_body> parser;
    parser.body_limit(boost::none);
    beast::http::read_header(socket, buffer, parser, error);
    if (error) return broken("what listens at " + arguments.http + " does not speak HTTP: " + error.message());
    const bool is_good = parser.get().result() == beast::http::status::ok;
    Lines lines(listener);
    std::string body;
    std::array<char, 64 * 1024> piece;
    while (!parser.is_done()) {
        parser.get().body().data = piece.data();
        parser.get().body().size = piece.size();
        beast::http::read(socket, buffer, parser, error);
        if (error == beast::http::error::need_buffer) error = {};
        if (error) return broken("the broker ended before its answer did: " + error.message());
        const std::string_view read(piece.data(), piece.size() - parser.get().body().size);
        if (!is_good) {
            body += read;
        } else if (!lines.take(read)) {
            return broken("the answer is not wanted any more, or too long");
        }
    }
    if (!is_good) {
        const bool is_usage = parser.get().result() == beast::http::status::bad_request ||
                              parser.get().result() == beast::http::status::not_found;
        return std::unexpected(PlanRefusal{is_usage ? kExitUsage : kExitBroken, error_of(body)});
    }
    if (!lines.error.empty()) return broken(lines.error);
    return lines.plan;
}

}  // namespace partita::cli
