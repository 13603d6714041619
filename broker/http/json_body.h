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

namespace partita::http {

/// Reads the JSON object that a request which changes something has as its body, member by member. The first thing that is wrong
/// is kept as a sentence; what is read after it has its default. `refuse_unless_good` comes last:
///
///     JsonBody body(*exchange);
///     const std::string topic = body.text("topic");
///     const auto count = body.number("partitions", {.least = 1});
///     if (body.refuse_unless_good()) return;
class JsonBody {
  public:
    /// The content type must be `application/json`: a browser asks this broker first before it sends such a request for a page of
    /// another origin, also of another port of this machine, and is refused.
    explicit JsonBody(Exchange& exchange);

    [[nodiscard]] bool has(std::string_view name);
    /// A member that must be there.
    [[nodiscard]] std::string text(std::string_view name);
    /// Unset when the member is missing or null.
    [[nodiscard]] std::optional<std::string> text_or_null(std::string_view name);
    [[nodiscard]] std::optional<std::int64_t> number(std::string_view name, NumberRange range);
    /// False when the member is missing.
    [[nodiscard]] bool flag(std::string_view name);
    /// An object of texts, null where a value is; empty when the member is missing.
    [[nodiscard]] std::map<std::string, std::optional<std::string>> texts(std::string_view name);
    /// An array of numbers of partitions; unset when the member is missing.
    [[nodiscard]] std::optional<std::vector<std::int32_t>> partitions(std::string_view name);

    /// An array of objects, `most` at most and at least one, each of which `read` reads as a body of its own.
    void objects(std::string_view name, std::size_t most, FunctionRef<void(JsonBody& object)> read);

    /// Says what is wrong, from outside.
    void complain(std::string sentence, Status status = Status::bad_request);
    /// Answers with what is wrong, also with a member that nobody asked for. False when nothing is.
    [[nodiscard]] bool refuse_unless_good();

  private:
    JsonBody(Exchange& exchange, nlohmann::json object) : exchange_(exchange), object_(std::move(object)) {}
    void complain_of_unknown();
    /// Null when it is missing, or JSON's null.
    [[nodiscard]] const nlohmann::json* find(std::string_view name);

    Exchange& exchange_;
    nlohmann::json object_;
    std::set<std::string, std::less<>> known_;
    Status status_ = Status::ok;
    std::string problem_;
};

/// Answers with the object. Names in it come from clients and need not be UTF-8.
void respond_json(Exchange& exchange, const nlohmann::ordered_json& object);

}  // namespace partita::http
