#pragma once

#include <cstdint>
#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "broker/http/exchange.h"
#include "broker/logs/record_page.h"

/// Pages of records over HTTP, as plain values: the query of a request, and the answer as JSON.

namespace partita::http {

/// The most records that a client may ask for at once.
inline constexpr std::int64_t kRecordsMax = 1000;

/// The page that a request asks for, of a partition that its path names.
struct RecordsWish {
    logs::PageStart start;
    logs::PageLimits limits;
};
/// Reads `from`, `time_ms`, `limit`, `key` and `key_hex`; records_resource.cc describes them. The error is a sentence for the
/// client.
[[nodiscard]] std::expected<RecordsWish, std::string> parse_records_wish(const Request& request);

/// The status of an answer that has no page.
[[nodiscard]] Status status_without_page(logs::Outcome outcome);

/// Adds the page to `object`. Names and values that are not UTF-8 appear as hex digits.
void add_page(nlohmann::ordered_json& object, const logs::RecordPage& page);

}  // namespace partita::http
