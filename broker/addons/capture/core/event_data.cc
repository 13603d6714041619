#include "broker/addons/capture/core/event_data.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <utility>

#include "broker/addons/capture/core/civil_time.h"
#include "protocol/varint.h"

namespace partita::capture {
namespace {

constexpr std::string_view kSchema =
    R"({"type":"record","name":"EventData","namespace":"Microsoft.ServiceBus.Messaging","fields":[)"
    R"({"name":"SequenceNumber","type":"long"},)"
    R"({"name":"Offset","type":"string"},)"
    R"({"name":"EnqueuedTimeUtc","type":"string"},)"
    R"({"name":"SystemProperties","type":{"type":"map","values":["long","double","string","bytes"]}},)"
    R"({"name":"Properties","type":{"type":"map","values":["long","double","string","bytes"]}},)"
    R"({"name":"Body","type":["null","bytes"]}]})";

// Branches of the schema's unions.
constexpr std::int64_t kLong = 0;
constexpr std::int64_t kBytes = 3;
constexpr std::int64_t kNoBody = 0;
constexpr std::int64_t kBody = 1;

void append_bytes(Bytes bytes, std::vector<std::byte>& out) {
    append_varlong(out, static_cast<std::int64_t>(bytes.size()));
    out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_text(std::string_view text, std::vector<std::byte>& out) { append_bytes(as_bytes(text), out); }

/// The length of the character at the front; 0 if the bytes form no character.
std::size_t character_size(std::string_view text) {
    const auto byte = [&](std::size_t index) { return static_cast<std::uint8_t>(text[index]); };
    const std::uint8_t lead = byte(0);
    if (lead < 0x80) {
        return 1;
    }
    const std::size_t size = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (size == 0 || size > text.size()) {
        return 0;
    }
    for (std::size_t index = 1; index < size; ++index) {
        if ((byte(index) & 0xc0) != 0x80) {
            return 0;
        }
    }
    // An overlong encoding, a half of a surrogate pair, or a value beyond the last character.
    const bool is_none = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) >= 0xa0) ||
                         (lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) >= 0x90);
    return is_none ? 0 : size;
}

void append_system_properties(const RecordView& record, std::vector<std::byte>& out) {
    append_varlong(out, record.key ? 2 : 1);
    append_text("x-opt-enqueued-time", out);
    append_varlong(out, kLong);
    append_varlong(out, record.timestamp.value);
    if (record.key) {
        append_text("x-opt-kafka-key", out);
        append_varlong(out, kBytes);
        append_bytes(*record.key, out);
    }
    append_varlong(out, 0);
}

void append_properties(const RecordView& record, std::vector<std::byte>& out) {
    std::vector<std::pair<std::string, Bytes>> properties;
    RecordHeaderRange headers = record.headers();
    for (RecordHeader header; headers.next(header);) {
        properties.emplace_back(valid_utf8(header.key), header.value.value_or(Bytes()));
    }
    // The last header of a name comes first among its equals.
    std::ranges::reverse(properties);
    std::ranges::stable_sort(properties, {}, &std::pair<std::string, Bytes>::first);
    const auto repeated = std::ranges::unique(properties, {}, &std::pair<std::string, Bytes>::first);
    properties.erase(repeated.begin(), repeated.end());
    if (!properties.empty()) {
        append_varlong(out, static_cast<std::int64_t>(properties.size()));
    }
    for (const auto& [name, value] : properties) {
        append_text(name, out);
        append_varlong(out, kBytes);
        append_bytes(value, out);
    }
    append_varlong(out, 0);
}

}  // namespace

std::string_view event_data_schema() { return kSchema; }

void append_file_header(const SyncMarker& sync, std::vector<std::byte>& out) {
    constexpr std::byte kMagic[] = {std::byte{'O'}, std::byte{'b'}, std::byte{'j'}, std::byte{1}};
    out.insert(out.end(), std::begin(kMagic), std::end(kMagic));
    append_varlong(out, 2);
    append_text("avro.codec", out);
    append_text("null", out);
    append_text("avro.schema", out);
    append_text(kSchema, out);
    append_varlong(out, 0);
    out.insert(out.end(), sync.begin(), sync.end());
}

void append_event(const RecordView& record, std::vector<std::byte>& out) {
    append_varlong(out, record.offset.value);
    append_text(std::to_string(record.offset.value), out);
    append_text(enqueued_time_text(record.timestamp), out);
    append_system_properties(record, out);
    append_properties(record, out);
    append_varlong(out, record.value ? kBody : kNoBody);
    if (record.value) {
        append_bytes(*record.value, out);
    }
}

void append_block_header(std::int64_t events, std::size_t bytes, std::vector<std::byte>& out) {
    append_varlong(out, events);
    append_varlong(out, static_cast<std::int64_t>(bytes));
}

std::string enqueued_time_text(TimestampMs time) {
    const CivilTime civil = civil_time(time);
    const auto hours = civil.clock.hours();
    std::array<char, 64> text;
    std::snprintf(text.data(), text.size(), "%u/%u/%d %d:%02d:%02d %s", static_cast<unsigned>(civil.date.month()),
                  static_cast<unsigned>(civil.date.day()), static_cast<int>(civil.date.year()),
                  static_cast<int>(std::chrono::make12(hours).count()), static_cast<int>(civil.clock.minutes().count()),
                  static_cast<int>(civil.clock.seconds().count()), std::chrono::is_am(hours) ? "AM" : "PM");
    return text.data();
}

std::string valid_utf8(std::string_view text) {
    constexpr std::string_view kReplacement = "\xef\xbf\xbd";
    std::string valid;
    valid.reserve(text.size());
    while (!text.empty()) {
        const std::size_t size = character_size(text);
        valid += size == 0 ? kReplacement : text.substr(0, size);
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return valid;
}

}  // namespace partita::capture
