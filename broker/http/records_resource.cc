// GET /v1/topics/T/partitions/P/records: some records of a partition, of all transactions, without transaction markers.
//
//   from=OFFSET   the first offset; default: the partition's start
//   time_ms=MS    instead of from: the first record from this time on, or the end
//   limit=K       how many records at most, 100 by default; see kRecordsMax
//   key=TEXT      only records with this key (key_hex=BYTES for any bytes); the answer then also ends at a search limit
//
// An answer ends early once its keys, values and headers reach a megabyte; the next page has from=<next>.

#include <expected>
#include <nlohmann/json.hpp>
#include <utility>

#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/parameters.h"
#include "broker/http/resources.h"
#include "broker/insight/findings/finding_json.h"
#include "broker/logs/record_page.h"
#include "broker/logs/topic_table.h"
#include "protocol/hexadecimal.h"

namespace partita::http {
namespace {

using nlohmann::ordered_json;

constexpr std::int64_t kRecordsMax = 1000;

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

/// A request for records of a partition that exists.
struct RecordsWish {
    std::shared_ptr<const runtime::TopicState> topic;
    std::int32_t partition = 0;
    /// Unset for the partition's start.
    std::optional<Offset> from;
    std::optional<TimestampMs> time;
    logs::PageLimits limits;
};

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

void answer(const RecordsWish& wish, const BrokerIdentity& identity, Exchange& exchange) {
    const PartitionLog& log = *wish.topic->partition(wish.partition)->log;
    Offset from = wish.from.value_or(log.log_start_offset());
    if (wish.time) {
        const Offset end = log.high_watermark();
        const auto found = log.offset_for_timestamp(*wish.time, end);
        if (!found) {
            respond_error(exchange, Status::internal_error, found.error().message);
            return;
        }
        from = *found ? (*found)->offset : end;
    }
    const auto page = logs::read_records(log, from, wish.limits);
    if (!page) {
        const bool is_known = page.error().error == ReadError::storage_error;
        respond_error(exchange, is_known ? Status::internal_error : Status::not_found, page.error().message);
        return;
    }
    ordered_json object;
    object["schema"] = 1;
    object["broker"] = identity.json();
    object["topic"] = wish.topic->topic->name;
    object["partition"] = wish.partition;
    object["start"] = page->log_start.value;
    object["end"] = page->end.value;
    object["from"] = from.value;
    object["next"] = page->next.value;
    object["looked_at"] = page->looked_at;
    object["records"] = ordered_json::array();
    for (const logs::FoundRecord& record : page->records) {
        object["records"].push_back(record_json(record));
    }
    object["damage"] = ordered_json::array();
    for (const auto& [offset, reason] : page->damage) {
        object["damage"].push_back({{"offset", offset.value}, {"reason", reason}});
    }
    exchange.respond(Status::ok, kJson, object.dump() + "\n");
}

}  // namespace

void serve_records(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const Request& request = exchange->request();
    RecordsWish wish;
    const auto from = number_parameter(request, "from", {});
    const auto time = number_parameter(request, "time_ms", {});
    const auto limit = number_parameter(request, "limit", {.least = 1, .most = kRecordsMax});
    if (!from || !time || !limit) {
        respond_error(*exchange, Status::bad_request, !from ? from.error() : !time ? time.error() : limit.error());
        return;
    }
    if (*from && *time) {
        respond_error(*exchange, Status::bad_request, "\"from\" and \"time_ms\" are both given: use one of them");
        return;
    }
    if (*time) {
        wish.time = TimestampMs{**time};
    }
    const auto key = wished_key(request);
    if (!key) {
        respond_error(*exchange, Status::bad_request, key.error());
        return;
    }
    wish.limits.key = *key;
    if (*from) {
        wish.from = Offset{**from};
    }
    if (*limit) {
        wish.limits.records = static_cast<std::size_t>(**limit);
    }
    wish.topic = topic_of(surroundings, exchange);
    if (wish.topic == nullptr) {
        return;
    }
    const std::string& index = request.path.at(4);
    const auto number = parse_number(index);
    if (!number || *number < 0 || std::cmp_greater_equal(*number, wish.topic->partitions.size())) {
        respond_error(*exchange, Status::not_found, wish.topic->topic->name + " has no partition " + index);
        return;
    }
    wish.partition = static_cast<std::int32_t>(*number);
    start_look(surroundings, exchange,
               [wish = std::move(wish), &identity = surroundings.identity, exchange] { answer(wish, identity, *exchange); });
}

}  // namespace partita::http
