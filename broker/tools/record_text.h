#pragma once

#include <expected>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "broker/client/fetch.h"
#include "broker/client/produce.h"

/// Records as text: as Kafka's console tools write and read them, by a format string, and as JSON lines.
namespace partita::tools {

using Properties = std::map<std::string, std::string>;

/// What the bytes of a record stand for, where a schema says it.
struct Decoded {
    std::optional<nlohmann::ordered_json> key;
    std::optional<nlohmann::ordered_json> value;
};

/// Makes text of records.
class RecordWriter {
  public:
    virtual ~RecordWriter() = default;
    /// Appends the record to `out`, with its end. What is decoded is shown as JSON instead of its bytes.
    virtual void write(const client::FetchedRecord& record, const Decoded& decoded, std::string& out) const = 0;
};

/// As Kafka's DefaultMessageFormatter, by its properties: print.key, key.separator ... The error names a deserializer that is not
/// served.
[[nodiscard]] std::expected<std::unique_ptr<RecordWriter>, std::string> default_writer(const Properties& properties);
/// By a format: %t topic, %p partition, %o offset, %T timestamp, %k key, %s value, %K and %S their sizes (-1 for null), %h
/// headers,
/// %% a percent sign; \n, \t, \r, \0, \x1f, \\ as usual. `is_hex`: keys and values in hexadecimal. The error names what it does
/// not know.
[[nodiscard]] std::expected<std::unique_ptr<RecordWriter>, std::string> format_writer(std::string_view format, bool is_hex);
/// A JSON object in a line: topic, partition, offset, timestamp, headers, key, value. What is no UTF-8 is in hexadecimal, in
/// key_hex and value_hex.
[[nodiscard]] std::unique_ptr<RecordWriter> json_writer();

/// Makes records of lines.
class RecordParser {
  public:
    virtual ~RecordParser() = default;
    /// `line` has no end; `number` counts from 1. The error is for people.
    [[nodiscard]] virtual std::expected<client::OwnedRecord, std::string> read(std::string_view line,
                                                                               std::int64_t number) const = 0;
};

/// As Kafka's LineMessageReader, by its properties: parse.key, key.separator ...
[[nodiscard]] std::expected<std::unique_ptr<RecordParser>, std::string> line_reader(const Properties& properties);
/// What a member of a JSON line stands for.
struct JsonMembers {
    /// JSON for a schema, so that even a string keeps its quotes. Otherwise a string is the text itself.
    bool key_is_json = false;
    bool value_is_json = false;
};
/// A JSON object in a line, as `json_writer` writes it; topic and offset are not looked at. Strings, or any other JSON, which is
/// then written as text.
[[nodiscard]] std::unique_ptr<RecordParser> json_reader(const JsonMembers& members = {});

}  // namespace partita::tools
