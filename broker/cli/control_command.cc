// `partita control ACTION TOPIC`: what protects a topic's growth, and the test controls, of a running broker. Asks
// its HTTP side and prints the JSON that it answers.

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "broker/cli/command.h"

namespace partita::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

constexpr int kTimeoutSeconds = 10;

struct Arguments {
    std::string http = "localhost:8092";
    std::string topic;
    std::string producers;
    std::string consumers;
    int epoch = 0;
};

std::string percent_encoded(std::string_view text) {
    std::string encoded;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
                           byte == '-' || byte == '.' || byte == '_' || byte == '~';
        if (plain) {
            encoded += c;
        } else {
            char buffer[4];
            std::snprintf(buffer, sizeof buffer, "%%%02X", byte);
            encoded += buffer;
        }
    }
    return encoded;
}

/// Sends one request and prints the answer. kExitUsage when the broker refuses it.
int ask(const std::string& http, beast::http::verb method, const std::string& target) {
    const std::size_t colon = http.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == http.size()) {
        return refuse("--http must be host:port, not " + http);
    }
    asio::io_context context;
    beast::tcp_stream stream(context);
    stream.expires_after(std::chrono::seconds(kTimeoutSeconds));
    beast::error_code error;
    asio::ip::tcp::resolver resolver(context);
    const auto endpoints = resolver.resolve(http.substr(0, colon), http.substr(colon + 1), error);
    if (!error) {
        stream.connect(endpoints, error);
    }
    if (error) {
        std::fprintf(stderr, "partita: no broker's HTTP side at %s: %s\n", http.c_str(), error.message().c_str());
        return kExitBroken;
    }
    beast::http::request<beast::http::empty_body> request(method, target, 11);
    request.set(beast::http::field::host, http);
    request.prepare_payload();
    beast::http::write(stream, request, error);
    beast::flat_buffer buffer;
    beast::http::response<beast::http::string_body> response;
    if (!error) {
        beast::http::read(stream, buffer, response, error);
    }
    if (error) {
        std::fprintf(stderr, "partita: the broker at %s did not answer: %s\n", http.c_str(), error.message().c_str());
        return kExitBroken;
    }
    const bool done = response.result() == beast::http::status::ok;
    std::fputs(response.body().c_str(), done ? stdout : stderr);
    return done ? kExitDone : kExitUsage;
}

std::string path_of(const Arguments& arguments, std::string_view resource) {
    return "/v1/topics/" + percent_encoded(arguments.topic) + "/" + std::string(resource);
}

}  // namespace

void add_control_command(CLI::App& application, Action& chosen) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = application.add_subcommand("control", "Protection of a topic's growth, and test controls");
    command->require_subcommand(1);
    const auto add = [&](const std::string& name, const std::string& text, std::function<int()> run) {
        CLI::App* action = command->add_subcommand(name, text);
        action->add_option("TOPIC", arguments->topic, "The topic")->required();
        action->add_option("--http", arguments->http, "The broker's HTTP side, host:port")->capture_default_str();
        action->final_callback([&chosen, run = std::move(run)] { chosen = run; });
        return action;
    };
    add("show", "Shows mode, seeded offsets, fence and visibility", [arguments] {
        return ask(arguments->http, beast::http::verb::get, path_of(*arguments, "protection"));
    });
    add("nudge", "Makes the topic's consumers refresh their metadata now", [arguments] {
        return ask(arguments->http, beast::http::verb::post, path_of(*arguments, "nudge"));
    });
    CLI::App* visibility = add("visibility", "Hides new partitions from clients of a role, or shows them", [arguments] {
        std::string target = path_of(*arguments, "visibility") + "?";
        target += arguments->producers.empty() ? "" : "producers=" + percent_encoded(arguments->producers) + "&";
        target += arguments->consumers.empty() ? "" : "consumers=" + percent_encoded(arguments->consumers);
        return ask(arguments->http, beast::http::verb::post, target);
    });
    visibility->add_option("--producers", arguments->producers, "Milliseconds, until-released or released");
    visibility->add_option("--consumers", arguments->consumers, "Milliseconds, until-released or released");
    CLI::App* unseed = add("unseed", "Takes back offsets that an expansion gave and nobody committed over", [arguments] {
        return ask(arguments->http, beast::http::verb::delete_,
                   path_of(*arguments, "seeds") + "?epoch=" + std::to_string(arguments->epoch));
    });
    unseed->add_option("--epoch", arguments->epoch, "The expansion: 1 for the topic's first")->required();
}

}  // namespace partita::cli
