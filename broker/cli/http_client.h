#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "broker/cli/command_line.h"
#include "broker/client/tcp_network.h"

/// HTTP requests of commands to a running broker. One request at a time, each over a connection of its own.
namespace partita::cli {

/// The name of the other side in messages to people.
struct HttpPeer {
    std::string_view what;
    /// The subject of "does not answer": "no broker's HTTP side".
    std::string_view nobody;
    std::string_view advice;
    std::string_view address_option;
    /// The form of its address: "HOST or HOST:PORT, such as ...".
    std::string_view address_form;
    std::string_view ca_option;
    /// Null: the standard port of HTTP or HTTPS.
    std::optional<std::uint16_t> default_port = std::nullopt;
};
extern const HttpPeer kBrokerPeer;

/// The address of a broker, and how to connect.
struct HttpPlace {
    HttpPlace(std::string its_address = {}) : address(std::move(its_address)) {}

    /// If it is not a broker, `login` applies, and no token is sent.
    const HttpPeer* peer = &kBrokerPeer;
    /// USER:PASSWORD; empty: no login.
    std::string login;

    /// HOST or HOST:PORT, with `[...]` around an IPv6 address; https:// before it means TLS.
    std::string address;
    /// A file with the broker's token in its first line. Empty: use $PARTITA_HTTP_TOKEN if it is set.
    std::string token_file;
    /// Trusted certificates of authorities, as PEM. Empty: those that the machine trusts.
    std::string ca_file;
    /// The network of this place and its copies.
    std::shared_ptr<client::Network> network = std::make_shared<client::TcpNetwork>();
};

/// The options of every command that contacts a broker.
inline constexpr tools::Option kHttp{.name = "http",
                                     .argument = "HOST[:PORT]",
                                     .help = "ask the broker's HTTP side at this address, with https:// for TLS",
                                     .default_value = "localhost:8092",
                                     .environment = "PARTITA_HTTP"};
inline constexpr tools::Option kHttpTokenFile{
    .name = "http-token-file",
    .argument = "file",
    .help = "read the broker's HTTP token from this file (default: $PARTITA_HTTP_TOKEN)"};
inline constexpr tools::Option kHttpCa{.name = "http-ca",
                                       .argument = "file",
                                       .help = "check the broker's certificate with the authorities in this PEM file",
                                       .environment = "PARTITA_HTTP_CA"};
/// Reads these options.
[[nodiscard]] HttpPlace http_place_of(const CommandLine& line);

enum class HttpMethod { get, post, put, delete_ };

struct HttpAnswer {
    int status = 0;
    std::string body;

    [[nodiscard]] bool is_good() const { return status == 200; }
    /// True if the broker refused the request, in general or for now: the body has the reason.
    [[nodiscard]] bool is_refusal() const { return status >= 400 && status < 500; }
    /// The sentence of {"error": "..."}, or the beginning of any other body.
    [[nodiscard]] std::string error() const;
};

struct HttpFailure {
    /// True if the address is malformed or a file cannot be read: an error on the command line.
    bool is_usage = false;
    /// A sentence for people, with the address.
    std::string message;
};

inline constexpr std::chrono::milliseconds kHttpTimeout{10'000};

/// Sends one request and reads the whole answer. The timeout applies to each step (name, connection, head, piece of the body).
[[nodiscard]] std::expected<HttpAnswer, HttpFailure> ask_http(const HttpPlace& place, HttpMethod method,
                                                              const std::string& target,
                                                              std::chrono::milliseconds timeout = kHttpTimeout);

/// The same with a JSON object as the request's body.
[[nodiscard]] std::expected<HttpAnswer, HttpFailure> tell_http(const HttpPlace& place, HttpMethod method,
                                                               const std::string& target, const std::string& json,
                                                               std::chrono::milliseconds timeout = kHttpTimeout);

/// Takes a line without its line end. Returns false if it wants no more lines.
using LineTaker = std::function<bool(std::string_view line)>;

/// Takes a broker's description of itself: "node=1; cluster=MkU3OEVBNTcwNTJENDM2Qk; kafka=localhost:9092; data=/var/lib/partita".
using BrokerTaker = std::function<void(std::string_view broker)>;

/// Sends a GET and passes the lines of the answer to `take` as they arrive; the returned body of a good answer is empty. It
/// returns when the answer ends or `take` wants no more. A line longer than `line_bytes_max` is a failure, and so is an
/// incomplete answer. Before the first line of a good answer, `named` gets the broker's description, if the broker sends one.
[[nodiscard]] std::expected<HttpAnswer, HttpFailure> read_http_lines(const HttpPlace& place, const std::string& target,
                                                                     std::size_t line_bytes_max, const LineTaker& take,
                                                                     const BrokerTaker& named = {});

/// Prints the failure on standard error; returns its exit code.
[[nodiscard]] int report(const HttpFailure& failure);
/// The same for an answer that is not good, with the broker's reason.
[[nodiscard]] int report_refusal(const HttpPlace& place, const HttpAnswer& answer);
/// The same for an answer that does not have the expected form; `problem` says what is wrong with it.
[[nodiscard]] int report_unknown_answer(const HttpPlace& place, std::string_view problem);

}  // namespace partita::cli
