#include "broker/insight/findings/event_json.h"

#include <nlohmann/json.hpp>

namespace partita::insight {

std::string event_json(const FindingEvent& event, KeyStyle style) {
    nlohmann::ordered_json object;
    object["schema"] = kEventSchemaVersion;
    object["sequence"] = event.sequence;
    object["event"] = to_string(event.kind);
    if (event.is_displaced) {
        object["displaced"] = true;
    }
    if (event.is_seen) {
        object["seen"] = true;
    }
    object["time_ms"] = event.time.value;
    object["opened_ms"] = event.opened.value;
    object["finding"] = finding_json(event.finding, style);
    // Clients choose names, which need not be UTF-8.
    return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

nlohmann::ordered_json open_finding_json(const OpenFinding& open, KeyStyle style) {
    nlohmann::ordered_json object = finding_json(open.finding, style);
    object["state"] = "open";
    object["opened_ms"] = open.opened.value;
    object["changed_ms"] = open.changed.value;
    object["largest_count"] = open.largest_count;
    return object;
}

nlohmann::ordered_json ended_finding_json(const EndedFinding& ended, KeyStyle style) {
    nlohmann::ordered_json object = finding_json(ended.finding, style);
    object["state"] = "over";
    object["opened_ms"] = ended.opened.value;
    object["closed_ms"] = ended.closed.value;
    object["largest_count"] = ended.largest_count;
    object["ended"] = to_string(ended.how);
    return object;
}

}  // namespace partita::insight
