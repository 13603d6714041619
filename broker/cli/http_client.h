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

/// How commands ask the HTTP side of a running broker. One request at a time, each over a connection of its own.
namespace partita::cli {

/// Who is asked, as messages to people call it.
struct HttpPeer {
    std::string_view what;
    /// Of whom nobody answers: "no broker's HTTP side".
    std::string_view nobody;
    std::string_view advice;
    std::string_view address_option;
    /// What a person is to say there: "HOST or HOST:PORT, such as ...".
    std::string_view address_form;
    std::string_view ca_option;
    /// Null: that of HTTP, or of HTTP with TLS.
    std::optional<std::uint16_t> default_port = std::nullopt;
};
extern const HttpPeer kBrokerPeer;

/// Which broker is asked, and how.
struct HttpPlace {
    HttpPlace(std::string its_address = {}) : address(std::move(its_address)) {}

    /// Not a broker: then `login` counts, and no token is sent.
    const HttpPeer* peer = &kBrokerPeer;
    /// USER:PASSWORD; empty: nobody logs in.
    std::string login;

    /// HOST or HOST:PORT, with `[...]` around an IPv6 address; behind https:// TLS is spoken.
    std::string address;
    /// A file with the broker's token in its first line. Empty: $PARTITA_HTTP_TOKEN is the token, if there is such a variable.
    std::string token_file;
    /// Certificates of authorities that are believed, as PEM. Empty: those that the machine trusts.
    std::string ca_file;
    /// By which this place and its copies are reached.
    std::shared_ptr<client::Network> network = std::make_shared<client::TcpNetwork>();
};

/// The options of every command that asks a broker.
inline constexpr tools::Option kHttp{.name = "http",
                                     .argument = "HOST[:PORT]",
                                     .help = "ask the broker's HTTP side here, behind https:// where it has TLS",
                                     .default_value = "localhost:8092",
                                     .environment = "PARTITA_HTTP"};
inline constexpr tools::Option kHttpTokenFile{.name = "http-token-file",
                                              .argument = "file",
                                              .help = "read the broker's token from this file (default: $PARTITA_HTTP_TOKEN)"};
inline constexpr tools::Option kHttpCa{.name = "http-ca",
                                       .argument = "file",
                                       .help = "trust the authorities in this PEM file to vouch for the broker's certificate",
                                       .environment = "PARTITA_HTTP_CA"};
/// What these options say.
[[nodiscard]] HttpPlace http_place_of(const CommandLine& line);

enum class HttpMethod { get, post, put, delete_ };

struct HttpAnswer {
    int status = 0;
    std::string body;

    [[nodiscard]] bool is_good() const { return status == 200; }
    /// True when the broker refused the request, in general or now: the body says why.
    [[nodiscard]] bool is_refusal() const { return status >= 400 && status < 500; }
    /// The sentence of {"error": "..."}, or the beginning of any other body.
    [[nodiscard]] std::string error() const;
};

struct HttpFailure {
    /// True when the address is malformed or a file cannot be read, which is a mistake on the command line.
    bool is_usage = false;
    /// A sentence for the user, with the address in it.
    std::string message;
};

inline constexpr std::chrono::milliseconds kHttpTimeout{10'000};

/// Sends one request and reads the whole answer. Waits so long at most for each step (name, connection, head, piece of
/// the body).
[[nodiscard]] std::expected<HttpAnswer, HttpFailure> ask_http(const HttpPlace& place, HttpMethod method,
                                                              const std::string& target,
                                                              std::chrono::milliseconds timeout = kHttpTimeout);

/// The same with an object of JSON as the request's body.
[[nodiscard]] std::expected<HttpAnswer, HttpFailure> tell_http(const HttpPlace& place, HttpMethod method,
                                                               const std::string& target, const std::string& json);

/// Takes a line without its line end. Returns false when it wants no more lines.
using LineTaker = std::function<bool(std::string_view line)>;

/// Takes what a broker says of itself: "node=1; cluster=MkU3OEVBNTcwNTJENDM2Qk; kafka=localhost:9092; data=/var/lib/partita".
using BrokerTaker = std::function<void(std::string_view broker)>;

/// Sends a GET and hands the lines of the answer to `take`, for as long as they come; the returned body of a good answer is
/// empty. It returns when the answer ends or `take` wants no more. A line longer than `line_bytes_max` is a failure, and so is
/// an answer that ends before it is complete. `named` is told before the first line which broker gives a good answer, where the
/// broker says so.
[[nodiscard]] std::expected<HttpAnswer, HttpFailure> read_http_lines(const HttpPlace& place, const std::string& target,
                                                                     std::size_t line_bytes_max, const LineTaker& take,
                                                                     const BrokerTaker& named = {});

/// Prints the failure on standard error; returns its exit code.
[[nodiscard]] int report(const HttpFailure& failure);

}  // namespace partita::cli
