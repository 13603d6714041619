#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <expected>
#include <functional>
#include <string>
#include <string_view>

/// How commands ask the HTTP side of a running broker. One request at a time, each over a connection of its own.
namespace partita::cli {

/// Adds `--http`. Every command that asks a broker takes the same: HOST or HOST:PORT, `[...]` around an IPv6 address; without
/// the option $PARTITA_HTTP, and without that localhost:8092.
void add_http_option(CLI::App& command, std::string& address);

/// A part of a path or a value of a query, with everything but letters, digits and "-._~" as %XX.
[[nodiscard]] std::string percent_encoded(std::string_view text);

enum class HttpMethod { get, post, delete_ };

struct HttpAnswer {
    int status = 0;
    std::string body;

    [[nodiscard]] bool is_good() const { return status == 200; }
    /// What was asked makes no sense, or not now: the body says why.
    [[nodiscard]] bool is_refusal() const { return status >= 400 && status < 500; }
    /// The sentence of {"error": "..."}, or the begin of whatever else the body is.
    [[nodiscard]] std::string error() const;
};

struct HttpFailure {
    /// The address itself is none: a mistake on the command line.
    bool is_usage = false;
    /// A sentence for people, with the address in it.
    std::string message;
};

/// Waits ten seconds at most.
[[nodiscard]] std::expected<HttpAnswer, HttpFailure> ask_http(const std::string& address, HttpMethod method,
                                                              const std::string& target);

/// Takes a line without its end. False: no more are wanted.
using LineTaker = std::function<bool(std::string_view line)>;

/// A GET whose answer comes in lines, for as long as it takes; a good answer's body is left empty. When `take` wants no
/// more, the answer so far is returned. A line longer than `line_bytes_max` is a failure, and so is an answer that ends
/// before it is complete.
[[nodiscard]] std::expected<HttpAnswer, HttpFailure> read_http_lines(const std::string& address, const std::string& target,
                                                                     std::size_t line_bytes_max, const LineTaker& take);

/// Prints the failure on standard error; returns the exit code it stands for.
[[nodiscard]] int report(const HttpFailure& failure);

}  // namespace partita::cli
