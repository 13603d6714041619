#include <cstdio>
#include <string>
#include <string_view>

#include "protocol/api_keys.h"
#include "protocol/codec_member.h"
#include "protocol/error_code.h"
#include "protocol/messages/consumer_protocol.h"
#include "protocol/schema.h"

/// Prints our message tables, the API registry and the names of error codes as one JSON document. With it, programs in other
/// languages can speak every version of every API without their own definitions.
///
///   {"apis": [{"key", "name", "first", "last", "unstable", "flexible", "request", "response"}],
///    "messages": {NAME: {"first", "last", "flexible", "fields": [FIELD]}},
///    "errors": {"0": "NONE", ...}}
///   FIELD: {"name", "kind", "array", "versions": [first, last], "nullable": [..], "tagged": [..], "tag", "classic",
///           "default", "fields"}; `fields` is there for structs. Ranges are inclusive, empty when last < first.
namespace partita {
namespace {

std::string_view kind_name(Kind kind) {
    switch (kind) {
        case Kind::boolean:
            return "boolean";
        case Kind::int8:
            return "int8";
        case Kind::int16:
            return "int16";
        case Kind::uint16:
            return "uint16";
        case Kind::int32:
            return "int32";
        case Kind::uint32:
            return "uint32";
        case Kind::int64:
            return "int64";
        case Kind::float64:
            return "float64";
        case Kind::uuid:
            return "uuid";
        case Kind::string:
        case Kind::nullable_string:
            return "string";
        case Kind::bytes:
        case Kind::nullable_bytes:
            return "bytes";
        case Kind::records:
            return "records";
        case Kind::structure:
        case Kind::nullable_structure:
            return "struct";
    }
    return "?";
}

std::string quoted(std::string_view text) {
    // Names and defaults of the protocol are plain ASCII without quotes or backslashes.
    return '"' + std::string(text) + '"';
}

std::string range(Versions versions) { return '[' + std::to_string(versions.first) + ',' + std::to_string(versions.last) + ']'; }

std::string default_value(const Schema& schema, const Field& field) {
    const void* value = codec_detail::member(schema.defaults, field);
    if (field.is_array) {
        return codec_detail::as<ArrayBase>(value).size < 0 ? "null" : "[]";
    }
    switch (field.kind) {
        case Kind::boolean:
            return codec_detail::as<bool>(value) ? "true" : "false";
        case Kind::int8:
            return std::to_string(codec_detail::as<std::int8_t>(value));
        case Kind::int16:
            return std::to_string(codec_detail::as<std::int16_t>(value));
        case Kind::uint16:
            return std::to_string(codec_detail::as<std::uint16_t>(value));
        case Kind::int32:
            return std::to_string(codec_detail::as<std::int32_t>(value));
        case Kind::uint32:
            return std::to_string(codec_detail::as<std::uint32_t>(value));
        case Kind::int64:
            return std::to_string(codec_detail::as<std::int64_t>(value));
        case Kind::float64:
            return std::to_string(codec_detail::as<double>(value));
        case Kind::uuid:
            return quoted(codec_detail::as<Uuid>(value).to_string());
        case Kind::string:
        case Kind::nullable_string: {
            const auto text = codec_detail::text_of(field.kind, value);
            return text ? quoted(*text) : "null";
        }
        case Kind::bytes:
        case Kind::nullable_bytes:
            return codec_detail::bytes_of(field.kind, value) ? "\"\"" : "null";
        case Kind::records:
            return codec_detail::as<Records>(value).is_null() ? "null" : "\"\"";
        case Kind::structure:
            return "{}";
        case Kind::nullable_structure:
            return codec_detail::as<const void*>(value) == nullptr ? "null" : "{}";
    }
    return "null";
}

std::string fields_of(const Schema& schema) {
    std::string text = "[";
    for (const Field& field : schema.fields) {
        if (text.size() > 1) {
            text += ',';
        }
        text += "{\"name\":" + quoted(field.name) + ",\"kind\":" + quoted(kind_name(field.kind)) +
                ",\"array\":" + (field.is_array ? "true" : "false") + ",\"versions\":" + range(field.versions) +
                ",\"nullable\":" + range(field.nullable) + ",\"tagged\":" + range(field.tagged) +
                ",\"tag\":" + std::to_string(field.tag) + ",\"classic\":" + (field.always_classic ? "true" : "false") +
                ",\"default\":" + default_value(schema, field);
        if (field.nested != nullptr) {
            text += ",\"fields\":" + fields_of(*field.nested);
        }
        text += '}';
    }
    return text + ']';
}

std::string message(const Schema& schema) {
    return quoted(schema.name) + ":{\"first\":" + std::to_string(schema.versions.first) +
           ",\"last\":" + std::to_string(schema.versions.last) + ",\"flexible\":" + std::to_string(schema.first_flexible) +
           ",\"fields\":" + fields_of(schema) + '}';
}

std::string document() {
    std::string apis;
    std::string messages = message(ConsumerProtocolSubscription::schema) + ",\n" + message(ConsumerProtocolAssignment::schema);
    for (const ApiInfo& api : all_apis()) {
        if (!apis.empty()) {
            apis += ",\n";
        }
        apis += "{\"key\":" + std::to_string(static_cast<int>(api.key)) + ",\"name\":" + quoted(api.name) +
                ",\"first\":" + std::to_string(api.versions.first) + ",\"last\":" + std::to_string(api.versions.last) +
                ",\"unstable\":" + (api.latest_unstable ? "true" : "false") +
                ",\"flexible\":" + std::to_string(api.first_flexible) + ",\"request\":" + quoted(api.request->name) +
                ",\"response\":" + quoted(api.response->name) + '}';
        messages += ",\n" + message(*api.request) + ",\n" + message(*api.response);
    }
    std::string errors;
    constexpr int kAboveAllCodes = 1000;
    for (int code = -1; code < kAboveAllCodes; ++code) {
        const std::string_view name = error_name(static_cast<ErrorCode>(code));
        if (name.empty() || (code != -1 && name == error_name(static_cast<ErrorCode>(kAboveAllCodes)))) {
            continue;
        }
        errors += (errors.empty() ? "\"" : ",\n\"") + std::to_string(code) + "\":" + quoted(name);
    }
    return "{\"apis\":[\n" + apis + "],\n\"messages\":{\n" + messages + "},\n\"errors\":{\n" + errors + "}}\n";
}

}  // namespace
}  // namespace partita

int main() {
    const std::string text = partita::document();
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0 ? 0 : 1;
}
