#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "broker/http/exchange.h"
#include "broker/http/parameters.h"
#include "protocol/function_ref.h"
#include "protocol/types.h"

namespace partita::http {

/// Reads the JSON object in the body of a request that changes something, member by member. It keeps the first error as a
/// sentence; later reads return defaults. Call `refuse_unless_good` last:
///
///     JsonBody body(*exchange);
///     const std::string topic = body.text("topic");
///     const auto count = body.number("partitions", {.least = 1});
///     if (body.refuse_unless_good()) return;
class JsonBody {
  public:
    /// The content type must be `application/json` (objection_to_type).
    explicit JsonBody(Exchange& exchange);

    [[nodiscard]] bool has(std::string_view name);
    /// Reads a required member.
    [[nodiscard]] std::string text(std::string_view name);
    /// Unset if the member is missing or null.
    [[nodiscard]] std::optional<std::string> text_or_null(std::string_view name);
    [[nodiscard]] std::optional<std::int64_t> number(std::string_view name, NumberRange range);
    /// False if the member is missing.
    [[nodiscard]] bool flag(std::string_view name);
    /// A time as milliseconds since 1970 or as UTC text (utc_time.h), at most in the year 9999; unset if the member is missing.
    [[nodiscard]] std::optional<TimestampMs> time(std::string_view name);
    /// An object whose values are texts or null; empty if the member is missing.
    [[nodiscard]] std::map<std::string, std::optional<std::string>> texts(std::string_view name);
    /// An array of partition numbers; unset if the member is missing.
    [[nodiscard]] std::optional<std::vector<std::int32_t>> partitions(std::string_view name);

    /// An array of at least one and at most `most` objects. `read` reads each of them as a body of its own.
    void objects(std::string_view name, std::size_t most, FunctionRef<void(JsonBody& object)> read);

    /// Reports an error that the caller found.
    void complain(std::string sentence, Status status = Status::bad_request);
    /// Answers with the first error; an unknown member is an error, too. False if the body has no error.
    [[nodiscard]] bool refuse_unless_good();

  private:
    JsonBody(Exchange& exchange, nlohmann::json object) : exchange_(exchange), object_(std::move(object)) {}
    void complain_of_unknown();
    /// Null if the member is missing, or if it is JSON's null.
    [[nodiscard]] const nlohmann::json* find(std::string_view name);

    Exchange& exchange_;
    nlohmann::json object_;
    std::set<std::string, std::less<>> known_;
    Status status_ = Status::ok;
    std::string problem_;
};

/// Null if the body has the type `application/json`, else a sentence for the status unsupported_media_type. Before a browser
/// sends a request of this type for a page of another origin, it asks this broker, which refuses. Another port of this machine is
/// another origin, too.
[[nodiscard]] std::optional<std::string_view> objection_to_type(const Request& request);

/// Answers with the object. Names in it come from clients and need not be UTF-8.
void respond_json(Exchange& exchange, const nlohmann::ordered_json& object);

}  // namespace partita::http
