#include "broker/http/json_body.h"

#include <limits>
#include <utility>

#include "broker/config/utc_time.h"

namespace partita::http {

JsonBody::JsonBody(Exchange& exchange) : exchange_(exchange), object_(nlohmann::json::object()) {
    if (const auto objection = objection_to_type(exchange.request())) {
        complain(std::string(*objection), Status::unsupported_media_type);
        return;
    }
    nlohmann::json parsed = nlohmann::json::parse(exchange.request().body, nullptr, false);
    if (!parsed.is_object()) {
        complain("the body is not a JSON object");
        return;
    }
    object_ = std::move(parsed);
}

void JsonBody::complain(std::string sentence, Status status) {
    if (status_ == Status::ok) {
        status_ = status;
        problem_ = std::move(sentence);
    }
}

const nlohmann::json* JsonBody::find(std::string_view name) {
    known_.emplace(name);
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
}

bool JsonBody::has(std::string_view name) { return find(name) != nullptr; }

std::string JsonBody::text(std::string_view name) {
    std::optional<std::string> value = text_or_null(name);
    if (!value) {
        complain("the body has no \"" + std::string(name) + "\"");
        return {};
    }
    return std::move(*value);
}

std::optional<std::string> JsonBody::text_or_null(std::string_view name) {
    const nlohmann::json* member = find(name);
    if (member == nullptr) {
        return std::nullopt;
    }
    if (!member->is_string()) {
        complain("\"" + std::string(name) + "\" is not a string");
        return std::nullopt;
    }
    return member->get<std::string>();
}

std::optional<std::int64_t> JsonBody::number(std::string_view name, NumberRange range) {
    const nlohmann::json* member = find(name);
    if (member == nullptr) {
        return std::nullopt;
    }
    const bool fits = member->is_number_integer() &&
                      (!member->is_number_unsigned() || std::in_range<std::int64_t>(member->get<std::uint64_t>()));
    if (!fits || member->get<std::int64_t>() < range.least || member->get<std::int64_t>() > range.most) {
        complain("\"" + std::string(name) + "\" is not a number of at least " + std::to_string(range.least) +
                 (range.most < NumberRange().most ? " and at most " + std::to_string(range.most) : ""));
        return std::nullopt;
    }
    return member->get<std::int64_t>();
}

bool JsonBody::flag(std::string_view name) {
    const nlohmann::json* member = find(name);
    if (member != nullptr && !member->is_boolean()) {
        complain("\"" + std::string(name) + "\" is neither true nor false");
        return false;
    }
    return member != nullptr && member->get<bool>();
}

std::optional<TimestampMs> JsonBody::time(std::string_view name) {
    const nlohmann::json* member = find(name);
    if (member == nullptr) {
        return std::nullopt;
    }
    std::optional<TimestampMs> time;
    if (member->is_string()) {
        time = config::parse_utc_time(member->get_ref<const std::string&>());
    } else if (member->is_number_integer()) {
        // A number beyond 64 bits signed becomes a negative one.
        time = TimestampMs{member->get<std::int64_t>()};
    }
    if (!time || time->value < 0 || time->value > config::kLastTime.value) {
        complain("\"" + std::string(name) + "\" is neither a time such as \"2026-11-21T10:00:00Z\" nor milliseconds since 1970");
        return std::nullopt;
    }
    return time;
}

std::map<std::string, std::optional<std::string>> JsonBody::texts(std::string_view name) {
    std::map<std::string, std::optional<std::string>> values;
    const nlohmann::json* member = find(name);
    if (member == nullptr) {
        return values;
    }
    if (!member->is_object()) {
        complain("\"" + std::string(name) + "\" is not an object");
        return values;
    }
    for (const auto& [key, value] : member->items()) {
        if (!value.is_string() && !value.is_null()) {
            complain("\"" + std::string(name) + "\" has a value that is not a string");
            return values;
        }
        values.emplace(key, value.is_null() ? std::nullopt : std::optional(value.get<std::string>()));
    }
    return values;
}

std::optional<std::vector<std::int32_t>> JsonBody::partitions(std::string_view name) {
    const nlohmann::json* member = find(name);
    if (member == nullptr) {
        return std::nullopt;
    }
    std::vector<std::int32_t> numbers;
    if (member->is_array()) {
        for (const nlohmann::json& item : *member) {
            if (item.is_number_unsigned() && std::in_range<std::int32_t>(item.get<std::uint64_t>())) {
                numbers.push_back(item.get<std::int32_t>());
            }
        }
    }
    if (!member->is_array() || numbers.size() != member->size()) {
        complain("\"" + std::string(name) + "\" is not an array of partitions");
    }
    return numbers;
}

void JsonBody::objects(std::string_view name, std::size_t most, FunctionRef<void(JsonBody& object)> read) {
    const nlohmann::json* member = find(name);
    if (member == nullptr || !member->is_array() || member->empty() || member->size() > most) {
        complain("\"" + std::string(name) + "\" is not an array of 1 to " + std::to_string(most) + " objects");
        return;
    }
    for (std::size_t index = 0; index < member->size() && status_ == Status::ok; ++index) {
        const std::string place = std::string(name) + "[" + std::to_string(index) + "]";
        if (!member->at(index).is_object()) {
            complain(place + " is not an object");
            return;
        }
        JsonBody object(exchange_, member->at(index));
        read(object);
        object.complain_of_unknown();
        if (object.status_ != Status::ok) {
            complain(place + ": " + object.problem_, object.status_);
        }
    }
}

void JsonBody::complain_of_unknown() {
    for (const auto& [name, value] : object_.items()) {
        if (!known_.contains(name)) {
            complain("the body has the unknown member \"" + name + "\"");
        }
    }
}

bool JsonBody::refuse_unless_good() {
    complain_of_unknown();
    if (status_ == Status::ok) {
        return false;
    }
    respond_error(exchange_, status_, problem_);
    return true;
}

std::optional<std::string_view> objection_to_type(const Request& request) {
    const std::string_view type = request.content_type;
    return type.substr(0, type.find(';')) == kJson
               ? std::nullopt
               : std::optional<std::string_view>("the body must be JSON, and its Content-Type application/json");
}

void respond_json(Exchange& exchange, const nlohmann::ordered_json& object) {
    exchange.respond(Status::ok, kJson, object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace partita::http
