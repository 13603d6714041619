#pragma once

#include <expected>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/client/fetch.h"
#include "broker/client/produce.h"

/// Records as text: in the forms of Kafka's console tools, by a format string, and as JSON lines.
namespace partita::tools {

using Properties = std::map<std::string, std::string>;

/// The decoded content of a record, if a schema describes it.
struct Decoded {
    std::optional<nlohmann::ordered_json> key;
    std::optional<nlohmann::ordered_json> value;
};

/// Formats records as text.
class RecordWriter {
  public:
    virtual ~RecordWriter() = default;
    /// Appends the record with its line end to `out`. Decoded parts appear as JSON instead of their bytes. The error is a Java
    /// exception, class and message, of bytes that the writer cannot show; the parts before them are in `out`.
    [[nodiscard]] virtual std::expected<void, std::string> write(const client::FetchedRecord& record, const Decoded& decoded,
                                                                 std::string& out) const = 0;
};

/// Like Kafka's DefaultMessageFormatter, by its properties: print.key, key.separator ... Without a deserializer, it writes
/// bytes as they are. It does the same for a class that is not one of Kafka's deserializers, and appends the name to `unknown`.
[[nodiscard]] std::unique_ptr<RecordWriter> default_writer(const Properties& properties, std::vector<std::string>& unknown);
/// Like Kafka's NoOpMessageFormatter: writes nothing.
[[nodiscard]] std::unique_ptr<RecordWriter> silent_writer();
/// By a format: %t topic, %p partition, %o offset, %T timestamp, %k key, %s value, %K and %S their sizes (-1 for null), %h
/// headers, %% a percent sign; \n, \t, \r, \0, \x1f, \\ as usual. `is_hex`: keys and values in hexadecimal. The error names the
/// unknown part.
[[nodiscard]] std::expected<std::unique_ptr<RecordWriter>, std::string> format_writer(std::string_view format, bool is_hex);
/// One JSON object per line: topic, partition, offset, timestamp, headers, key, value. Bytes that are not UTF-8 appear in
/// hexadecimal, in key_hex and value_hex.
[[nodiscard]] std::unique_ptr<RecordWriter> json_writer();

/// Parses lines into records.
class RecordParser {
  public:
    virtual ~RecordParser() = default;
    /// `line` has no line end; `number` counts from 1. The error is for people.
    [[nodiscard]] virtual std::expected<client::OwnedRecord, std::string> read(std::string_view line,
                                                                               std::int64_t number) const = 0;
};

/// Like Kafka's LineMessageReader, by its properties: parse.key, key.separator ...
[[nodiscard]] std::expected<std::unique_ptr<RecordParser>, std::string> line_reader(const Properties& properties);
/// How to interpret the members of a JSON line.
struct JsonMembers {
    /// JSON for a schema: even a string keeps its quotes. Otherwise a string is the text itself.
    bool key_is_json = false;
    bool value_is_json = false;
};
/// One JSON object per line, as `json_writer` writes it; topic and offset are ignored. Strings are the text itself; any other
/// JSON is written as text.
[[nodiscard]] std::unique_ptr<RecordParser> json_reader(const JsonMembers& members = {});

}  // namespace partita::tools
