#include "broker/addons/schemas/core/json_schema.h"

namespace partita::schemas {

using nlohmann::ordered_json;

bool JsonSchema::is_meant(std::string_view text) {
    const ordered_json schema = ordered_json::parse(text, nullptr, false);
    if (!schema.is_object()) {
        return false;
    }
    if (schema.contains("$schema")) {
        return true;
    }
    const auto type = schema.find("type");
    if (type == schema.end()) {
        return true;
    }
    return *type == "object" || *type == "integer" || *type == "number";
}

std::expected<ordered_json, std::string> JsonSchema::decode(Bytes bytes) {
    // The library writes nested values by recursion, so their depth is bounded here; reading does not recurse.
    bool is_too_deep = false;
    const auto watch = [&](int depth, ordered_json::parse_event_t, ordered_json&) {
        is_too_deep = is_too_deep || depth > kDepthMax;
        return !is_too_deep;
    };
    ordered_json value = ordered_json::parse(as_text(bytes), watch, false);
    if (is_too_deep) {
        return std::unexpected("the value is nested too deep");
    }
    if (value.is_discarded()) {
        return std::unexpected("it is not JSON");
    }
    return value;
}

}  // namespace partita::schemas
