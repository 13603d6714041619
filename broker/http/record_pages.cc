#include "broker/http/record_pages.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "broker/http/parameters.h"
#include "broker/insight/findings/finding_json.h"
#include "protocol/hexadecimal.h"
#include "protocol/try.h"

namespace partita::http {
namespace {

using nlohmann::ordered_json;

/// The key that records must have; unset for any key.
std::expected<std::optional<std::string>, std::string> wished_key(const Request& request) {
    const auto text = request.parameter("key");
    const auto hex = request.parameter("key_hex");
    if (text && hex) {
        return std::unexpected("\"key\" and \"key_hex\" are both given: use one of them");
    }
    if (!hex) {
        return text ? std::optional(std::string(*text)) : std::nullopt;
    }
    std::string bytes;
    if (!decode_hexadecimal(*hex, bytes)) {
        return std::unexpected("\"key_hex\" is not two hex digits for each byte");
    }
    return bytes;
}

/// Adds the bytes as `name`, or as `name`_hex if they are not UTF-8.
void add_bytes(ordered_json& object, const std::string& name, const std::optional<std::string>& bytes) {
    if (!bytes) {
        object[name] = nullptr;
    } else if (insight::is_valid_utf8(*bytes)) {
        object[name] = *bytes;
    } else {
        object[name + "_hex"] = insight::to_hex(*bytes);
    }
}

ordered_json record_json(const logs::FoundRecord& record) {
    ordered_json object;
    object["offset"] = record.offset.value;
    object["timestamp_ms"] = record.timestamp.value;
    add_bytes(object, "key", record.key);
    add_bytes(object, "value", record.value);
    object["headers"] = ordered_json::array();
    for (const auto& [name, value] : record.headers) {
        ordered_json header;
        add_bytes(header, "name", name);
        add_bytes(header, "value", value);
        object["headers"].push_back(std::move(header));
    }
    return object;
}

}  // namespace

std::expected<RecordsWish, std::string> parse_records_wish(const Request& request) {
    PARTITA_TRY_ASSIGN(const auto from, number_parameter(request, "from", {}));
    PARTITA_TRY_ASSIGN(const auto time, number_parameter(request, "time_ms", {}));
    PARTITA_TRY_ASSIGN(const auto limit, number_parameter(request, "limit", {.least = 1, .most = kRecordsMax}));
    if (from && time) {
        return std::unexpected("\"from\" and \"time_ms\" are both given: use one of them");
    }
    RecordsWish wish;
    PARTITA_TRY_ASSIGN(wish.limits.key, wished_key(request));
    if (from) {
        wish.start = Offset{*from};
    } else if (time) {
        wish.start = TimestampMs{*time};
    }
    if (limit) {
        wish.limits.records = static_cast<std::size_t>(*limit);
    }
    return wish;
}

Status status_without_page(logs::Outcome outcome) {
    return outcome == logs::Outcome::storage_failed ? Status::internal_error : Status::not_found;
}

void add_page(ordered_json& object, const logs::RecordPage& page) {
    object["start"] = page.log_start.value;
    object["end"] = page.end.value;
    object["from"] = page.from.value;
    object["next"] = page.next.value;
    object["looked_at"] = page.looked_at;
    object["records"] = ordered_json::array();
    for (const logs::FoundRecord& record : page.records) {
        object["records"].push_back(record_json(record));
    }
    object["damage"] = ordered_json::array();
    for (const auto& [offset, reason] : page.damage) {
        object["damage"].push_back({{"offset", offset.value}, {"reason", reason}});
    }
}

}  // namespace partita::http
