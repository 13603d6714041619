#include "broker/tools/record_text.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "broker/tools/deserializers.h"
#include "broker/tools/text.h"
#include "protocol/hexadecimal.h"
#include "protocol/try.h"

namespace partita::tools {
namespace {

using client::FetchedRecord;
using nlohmann::ordered_json;

std::string hex_of(Bytes bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : bytes) {
        text += kDigits[std::to_integer<std::size_t>(byte) >> 4];
        text += kDigits[std::to_integer<std::size_t>(byte) & 15];
    }
    return text;
}

std::expected<std::string, std::string> bytes_of_hex(const std::string& text) {
    std::string bytes;
    if (!decode_hexadecimal(text, bytes)) {
        return std::unexpected("not hexadecimal: " + text);
    }
    return bytes;
}

bool is_true(const Properties& properties, const std::string& name, bool otherwise) {
    const auto found = properties.find(name);
    if (found == properties.end()) {
        return otherwise;
    }
    std::string text = trimmed(found->second);
    std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return text == "true";
}
std::string text_or(const Properties& properties, const std::string& name, std::string_view otherwise) {
    const auto found = properties.find(name);
    return found == properties.end() ? std::string(otherwise) : found->second;
}

/// Null for bytes that are shown as they are.
Deserializer deserializer_of(const Properties& properties, const std::string& name, std::vector<std::string>& unknown) {
    const auto found = properties.find(name);
    if (found == properties.end() || found->second.empty()) {
        return nullptr;
    }
    const Deserializer deserializer = find_deserializer(found->second);
    if (deserializer == nullptr) {
        unknown.push_back(found->second);
    }
    return deserializer;
}

std::string text_of(const ordered_json& json) { return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace); }

class DefaultWriter final : public RecordWriter {
  public:
    DefaultWriter(const Properties& properties, Deserializer key, Deserializer value, Deserializer header)
        : key_(key),
          value_(value),
          header_(header),
          prints_timestamp_(is_true(properties, "print.timestamp", false)),
          prints_partition_(is_true(properties, "print.partition", false)),
          prints_offset_(is_true(properties, "print.offset", false)),
          prints_delivery_(is_true(properties, "print.delivery", false)),
          prints_epoch_(is_true(properties, "print.epoch", false)),
          prints_headers_(is_true(properties, "print.headers", false)),
          prints_key_(is_true(properties, "print.key", false)),
          prints_value_(is_true(properties, "print.value", true)),
          key_separator_(text_or(properties, "key.separator", "\t")),
          line_separator_(text_or(properties, "line.separator", "\n")),
          headers_separator_(text_or(properties, "headers.separator", ",")),
          null_(text_or(properties, "null.literal", "null")) {}

    std::expected<void, std::string> write(const FetchedRecord& record, const Decoded& decoded, std::string& out) const override {
        // Like Kafka's, which has written the columns before the one that it cannot show.
        bool is_first = true;
        const auto next_column = [&] {
            out += is_first ? "" : key_separator_;
            is_first = false;
        };
        if (prints_timestamp_ && !record.timestamp_type) {
            next_column();
            out += "NO_TIMESTAMP";
        } else if (prints_timestamp_) {
            next_column();
            const bool is_append = record.timestamp_type == TimestampType::log_append_time;
            out += (is_append ? "LogAppendTime:" : "CreateTime:") + std::to_string(record.timestamp_ms);
        }
        if (prints_partition_) {
            next_column();
            out += "Partition:" + std::to_string(record.partition);
        }
        if (prints_offset_) {
            next_column();
            out += "Offset:" + std::to_string(record.offset);
        }
        if (prints_delivery_) {
            next_column();
            out += "Delivery:NOT_PRESENT";
        }
        // Kafka's tool does not pass the epoch on.
        if (prints_epoch_) {
            next_column();
            out += "Epoch:NOT_PRESENT";
        }
        if (prints_headers_) {
            next_column();
            PARTITA_TRY(add_headers(record, out));
        }
        if (prints_key_) {
            next_column();
            PARTITA_TRY(add_part(record.key, decoded.key, key_, out));
        }
        if (prints_value_) {
            next_column();
            PARTITA_TRY(add_part(record.value, decoded.value, value_, out));
        }
        out += is_first ? "" : line_separator_;
        return {};
    }

  private:
    /// A deserializer gets the text for null, as in Kafka.
    [[nodiscard]] std::expected<void, std::string> add_bytes(const std::optional<Bytes>& bytes, Deserializer deserializer,
                                                             std::string& out) const {
        const Bytes shown = bytes ? *bytes : as_bytes(null_);
        if (deserializer == nullptr) {
            out += as_text(shown);
            return {};
        }
        PARTITA_TRY_ASSIGN(const auto text, deserializer(shown));
        out += text;
        return {};
    }
    [[nodiscard]] std::expected<void, std::string> add_part(const std::optional<Bytes>& bytes,
                                                            const std::optional<ordered_json>& decoded, Deserializer deserializer,
                                                            std::string& out) const {
        if (decoded) {
            out += text_of(*decoded);
            return {};
        }
        return add_bytes(bytes, deserializer, out);
    }
    [[nodiscard]] std::expected<void, std::string> add_headers(const FetchedRecord& record, std::string& out) const {
        RecordHeaderRange headers = record.headers;
        if (headers.count() == 0) {
            out += "NO_HEADERS";
            return {};
        }
        RecordHeader header;
        for (bool is_first = true; headers.next(header); is_first = false) {
            out += is_first ? "" : headers_separator_;
            out += header.key;
            out += ":";
            PARTITA_TRY(add_bytes(header.value, header_, out));
        }
        return {};
    }

    const Deserializer key_;
    const Deserializer value_;
    const Deserializer header_;
    const bool prints_timestamp_;
    const bool prints_partition_;
    const bool prints_offset_;
    const bool prints_delivery_;
    const bool prints_epoch_;
    const bool prints_headers_;
    const bool prints_key_;
    const bool prints_value_;
    const std::string key_separator_;
    const std::string line_separator_;
    const std::string headers_separator_;
    const std::string null_;
};

/// A format: literal texts, and letters for parts of a record between them.
class FormatWriter final : public RecordWriter {
  public:
    struct Part {
        char letter = 0;
        std::string text;
    };
    FormatWriter(std::vector<Part> parts, bool is_hex) : parts_(std::move(parts)), is_hex_(is_hex) {}

    std::expected<void, std::string> write(const FetchedRecord& record, const Decoded& decoded, std::string& out) const override {
        for (const Part& part : parts_) {
            if (part.letter == 'k' && decoded.key) {
                out += text_of(*decoded.key);
            } else if (part.letter == 's' && decoded.value) {
                out += text_of(*decoded.value);
            } else {
                out += part.letter == 0 ? part.text : value_of(part.letter, record);
            }
        }
        return {};
    }

  private:
    [[nodiscard]] std::string shown(const std::optional<Bytes>& bytes) const {
        if (!bytes) {
            return "";
        }
        return is_hex_ ? hex_of(*bytes) : std::string(as_text(*bytes));
    }
    static std::string size_of(const std::optional<Bytes>& bytes) { return bytes ? std::to_string(bytes->size()) : "-1"; }

    [[nodiscard]] std::string value_of(char letter, const FetchedRecord& record) const {
        switch (letter) {
            case 't':
                return std::string(record.topic);
            case 'p':
                return std::to_string(record.partition);
            case 'o':
                return std::to_string(record.offset);
            case 'T':
                return std::to_string(record.timestamp_ms);
            case 'k':
                return shown(record.key);
            case 's':
                return shown(record.value);
            case 'K':
                return size_of(record.key);
            case 'S':
                return size_of(record.value);
            default:
                break;
        }
        std::vector<std::string> headers;
        RecordHeaderRange range = record.headers;
        RecordHeader header;
        while (range.next(header)) {
            headers.push_back(std::string(header.key) + "=" + (header.value ? shown(header.value) : "NULL"));
        }
        return joined(headers, ",");
    }

    const std::vector<Part> parts_;
    const bool is_hex_;
};

bool is_utf8(std::string_view text) {
    try {
        return !ordered_json(std::string(text)).dump().empty();
    } catch (const ordered_json::exception&) {
        return false;
    }
}

void add_bytes(ordered_json& object, const std::string& name, const std::optional<Bytes>& bytes) {
    if (!bytes) {
        object[name] = nullptr;
    } else if (is_utf8(as_text(*bytes))) {
        object[name] = std::string(as_text(*bytes));
    } else {
        object[name + "_hex"] = hex_of(*bytes);
    }
}

void add(ordered_json& object, const char* name, const std::optional<Bytes>& bytes, const std::optional<ordered_json>& decoded) {
    if (decoded) {
        object[name] = *decoded;
    } else {
        add_bytes(object, name, bytes);
    }
}

class JsonWriter final : public RecordWriter {
  public:
    std::expected<void, std::string> write(const FetchedRecord& record, const Decoded& decoded, std::string& out) const override {
        ordered_json object{{"topic", record.topic},
                            {"partition", record.partition},
                            {"offset", record.offset},
                            {"timestamp", record.timestamp_ms}};
        ordered_json headers = ordered_json::array();
        RecordHeaderRange range = record.headers;
        RecordHeader header;
        while (range.next(header)) {
            ordered_json one{{"key", header.key}};
            add_bytes(one, "value", header.value);
            headers.push_back(std::move(one));
        }
        object["headers"] = std::move(headers);
        add(object, "key", record.key, decoded.key);
        add(object, "value", record.value, decoded.value);
        out += text_of(object) + "\n";
        return {};
    }
};

class SilentWriter final : public RecordWriter {
  public:
    std::expected<void, std::string> write(const FetchedRecord&, const Decoded&, std::string&) const override { return {}; }
};

class LineReader final : public RecordParser {
  public:
    explicit LineReader(const Properties& properties)
        : parses_key_(is_true(properties, "parse.key", false)),
          parses_headers_(is_true(properties, "parse.headers", false)),
          ignores_errors_(is_true(properties, "ignore.error", false)),
          key_separator_(text_or(properties, "key.separator", "\t")),
          headers_delimiter_(text_or(properties, "headers.delimiter", "\t")),
          headers_separator_(text_or(properties, "headers.separator", ",")),
          headers_key_separator_(text_or(properties, "headers.key.separator", ":")) {
        if (const auto found = properties.find("null.marker"); found != properties.end()) {
            null_marker_ = found->second;
        }
    }

    /// An error if two texts could be confused with each other.
    [[nodiscard]] std::optional<std::string> complaint() const {
        const std::pair<std::string_view, const std::string*> named[] = {{"headers.delimiter", &headers_delimiter_},
                                                                         {"headers.separator", &headers_separator_},
                                                                         {"headers.key.separator", &headers_key_separator_}};
        for (std::size_t i = 0; i < 3; ++i) {
            for (std::size_t j = i + 1; j < 3; ++j) {
                if (*named[i].second == *named[j].second) {
                    return std::string(named[i].first) + " and " + std::string(named[j].first) + " may not be equal";
                }
            }
        }
        if (!null_marker_) {
            return std::nullopt;
        }
        if (key_separator_ == *null_marker_) {
            return "null.marker and key.separator may not be equal";
        }
        for (const auto& [name, text] : {named[1], named[0], named[2]}) {
            if (*text == *null_marker_) {
                return "null.marker and " + std::string(name) + " may not be equal";
            }
        }
        return std::nullopt;
    }

    std::expected<client::OwnedRecord, std::string> read(std::string_view line, std::int64_t number) const override {
        client::OwnedRecord record;
        std::string_view rest = line;
        PARTITA_TRY_ASSIGN(const auto headers,
                           take(parses_headers_, rest, headers_delimiter_, "headers delimiter", line, number));
        PARTITA_TRY_ASSIGN(const auto key, take(parses_key_, rest, key_separator_, "key separator", line, number));
        record.key = key ? unless_null(*key) : std::nullopt;
        record.value = unless_null(rest);
        if (headers && *headers != null_marker_) {
            PARTITA_TRY(add_headers(*headers, number, record));
        }
        return record;
    }

  private:
    [[nodiscard]] std::optional<std::string> unless_null(std::string_view text) const {
        return null_marker_ && text == *null_marker_ ? std::nullopt : std::optional(std::string(text));
    }

    /// Takes the text before the separator, and removes the separator.
    [[nodiscard]] std::expected<std::optional<std::string_view>, std::string> take(bool is_wanted, std::string_view& rest,
                                                                                   const std::string& separator,
                                                                                   std::string_view name, std::string_view line,
                                                                                   std::int64_t number) const {
        if (!is_wanted) {
            return std::nullopt;
        }
        const std::size_t end = rest.find(separator);
        if (end == std::string_view::npos) {
            if (ignores_errors_) {
                return std::nullopt;
            }
            return std::unexpected("No " + std::string(name) + " found on line number " + std::to_string(number) + ": '" +
                                   std::string(line) + "'");
        }
        const std::string_view part = rest.substr(0, end);
        rest.remove_prefix(end + separator.size());
        return part;
    }

    [[nodiscard]] std::expected<void, std::string> add_headers(std::string_view text, std::int64_t number,
                                                               client::OwnedRecord& record) const {
        while (true) {
            const std::size_t end = std::min(text.find(headers_separator_), text.size());
            const std::string_view pair = text.substr(0, end);
            const std::size_t middle = pair.find(headers_key_separator_);
            if (middle == std::string_view::npos) {
                if (!ignores_errors_) {
                    return std::unexpected("No header key separator found in pair '" + std::string(pair) + "' on line number " +
                                           std::to_string(number));
                }
                record.headers.emplace_back(pair, std::nullopt);
            } else if (pair.substr(0, middle) == null_marker_) {
                return std::unexpected("Header keys should not be equal to the null marker '" + *null_marker_ +
                                       "' as they can't be null");
            } else {
                record.headers.emplace_back(pair.substr(0, middle),
                                            unless_null(pair.substr(middle + headers_key_separator_.size())));
            }
            if (end == text.size()) {
                return {};
            }
            text.remove_prefix(end + headers_separator_.size());
        }
    }

    const bool parses_key_;
    const bool parses_headers_;
    const bool ignores_errors_;
    const std::string key_separator_;
    const std::string headers_delimiter_;
    const std::string headers_separator_;
    const std::string headers_key_separator_;
    std::optional<std::string> null_marker_;
};

/// A member as bytes: NAME_hex, or NAME as a string or any other JSON. Null if it is null or absent.
std::expected<std::optional<std::string>, std::string> bytes_member(const ordered_json& object, const std::string& name,
                                                                    bool is_json = false) {
    if (const auto hex = object.find(name + "_hex"); hex != object.end()) {
        if (!hex->is_string()) {
            return std::unexpected(name + "_hex is not a string");
        }
        PARTITA_TRY_ASSIGN(auto bytes, bytes_of_hex(hex->get<std::string>()));
        return std::optional(std::move(bytes));
    }
    const auto found = object.find(name);
    if (found == object.end() || found->is_null()) {
        return std::nullopt;
    }
    return found->is_string() && !is_json ? found->get<std::string>() : text_of(*found);
}

class JsonReader final : public RecordParser {
  public:
    explicit JsonReader(const JsonMembers& members) : members_(members) {}

    std::expected<client::OwnedRecord, std::string> read(std::string_view line, std::int64_t number) const override {
        const auto wrong = [&](const std::string& what) {
            return std::unexpected("line " + std::to_string(number) + ": " + what);
        };
        const ordered_json object = ordered_json::parse(line, nullptr, false);
        if (!object.is_object()) {
            return wrong("not a JSON object");
        }
        client::OwnedRecord record;
        auto key = bytes_member(object, "key", members_.key_is_json);
        if (!key) {
            return wrong(key.error());
        }
        record.key = std::move(*key);
        auto value = bytes_member(object, "value", members_.value_is_json);
        if (!value) {
            return wrong(value.error());
        }
        record.value = std::move(*value);
        if (const auto partition = object.find("partition"); partition != object.end() && !partition->is_null()) {
            if (!partition->is_number_integer()) {
                return wrong("partition is not a number");
            }
            record.partition = partition->get<std::int32_t>();
        }
        if (const auto time = object.find("timestamp"); time != object.end() && !time->is_null()) {
            if (!time->is_number_integer()) {
                return wrong("timestamp is not a number");
            }
            record.timestamp_ms = time->get<std::int64_t>();
        }
        for (const auto& header : object.value("headers", ordered_json::array())) {
            if (!header.is_object() || !header.contains("key") || !header["key"].is_string()) {
                return wrong("a header without a key");
            }
            auto content = bytes_member(header, "value");
            if (!content) {
                return wrong(content.error());
            }
            record.headers.emplace_back(header["key"].get<std::string>(), std::move(*content));
        }
        return record;
    }

  private:
    const JsonMembers members_;
};

}  // namespace

std::unique_ptr<RecordWriter> default_writer(const Properties& properties, std::vector<std::string>& unknown) {
    const Deserializer key = deserializer_of(properties, "key.deserializer", unknown);
    const Deserializer value = deserializer_of(properties, "value.deserializer", unknown);
    const Deserializer header = deserializer_of(properties, "headers.deserializer", unknown);
    return std::make_unique<DefaultWriter>(properties, key, value, header);
}

std::unique_ptr<RecordWriter> silent_writer() { return std::make_unique<SilentWriter>(); }

std::expected<std::unique_ptr<RecordWriter>, std::string> format_writer(std::string_view format, bool is_hex) {
    std::vector<FormatWriter::Part> parts;
    std::string text;
    for (std::size_t i = 0; i < format.size(); ++i) {
        const bool is_last = i + 1 == format.size();
        if (format[i] != '%' && format[i] != '\\') {
            text += format[i];
            continue;
        }
        if (is_last) {
            return std::unexpected("the format ends with " + std::string(1, format[i]));
        }
        const char letter = format[++i];
        if (format[i - 1] == '\\') {
            constexpr std::string_view kEscapes = "ntr0\\%";
            constexpr std::string_view kStandFor{"\n\t\r\0\\%", 6};
            if (letter == 'x') {
                const auto byte = bytes_of_hex(std::string(format.substr(i + 1, 2)));
                if (!byte || byte->empty()) {
                    return std::unexpected("the format has \\x without two hexadecimal digits");
                }
                text += *byte;
                i += 2;
                continue;
            }
            const std::size_t at = kEscapes.find(letter);
            if (at == std::string_view::npos) {
                return std::unexpected("the format has the unknown escape \\" + std::string(1, letter));
            }
            text += kStandFor[at];
        } else if (letter == '%') {
            text += '%';
        } else if (std::string_view("tpoTksKSh").contains(letter)) {
            parts.push_back({0, std::exchange(text, {})});
            parts.push_back({letter, {}});
        } else {
            return std::unexpected("the format has the unknown field %" + std::string(1, letter) +
                                   "; use %t %p %o %T %k %s %K %S %h");
        }
    }
    parts.push_back({0, std::move(text)});
    return std::make_unique<FormatWriter>(std::move(parts), is_hex);
}

std::unique_ptr<RecordWriter> json_writer() { return std::make_unique<JsonWriter>(); }
std::unique_ptr<RecordParser> json_reader(const JsonMembers& members) { return std::make_unique<JsonReader>(members); }

std::expected<std::unique_ptr<RecordParser>, std::string> line_reader(const Properties& properties) {
    auto reader = std::make_unique<LineReader>(properties);
    if (const auto complaint = reader->complaint()) {
        return std::unexpected(*complaint);
    }
    return reader;
}

}  // namespace partita::tools
