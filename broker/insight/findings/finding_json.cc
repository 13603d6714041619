#include "broker/insight/findings/finding_json.h"

#include <openssl/sha.h>

#include <array>
#include <nlohmann/json.hpp>

namespace partita::insight {
namespace {

using nlohmann::ordered_json;

ordered_json subject_json(const Subject& subject) {
    ordered_json object = ordered_json::object();
    const auto add = [&object](const char* name, const std::string& text) {
        if (!text.empty()) {
            object[name] = name_text(text);
        }
    };
    add("topic", subject.topic);
    if (subject.partition) {
        object["partition"] = subject.partition->value;
    }
    add("group", subject.group);
    add("client_id", subject.client_id);
    add("client_address", subject.client_address);
    if (subject.client_port) {
        object["client_port"] = *subject.client_port;
    }
    if (subject.producer_id) {
        object["producer_id"] = subject.producer_id->value;
    }
    add("program", subject.program);
    add("principal", subject.principal);
    return object;
}

ordered_json example_json(const ExampleKey& example, KeyStyle style) {
    ordered_json object = ordered_json::object();
    add_key(object, example.key, style);
    if (example.from) {
        object["from"] = example.from->value;
    }
    if (example.to) {
        object["to"] = example.to->value;
    }
    return object;
}

}  // namespace

std::string to_hex(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const char byte : bytes) {
        text += kDigits[static_cast<unsigned char>(byte) >> 4];
        text += kDigits[static_cast<unsigned char>(byte) & 15];
    }
    return text;
}

std::string name_text(const std::string& name) { return is_valid_utf8(name) ? name : to_hex(name); }

bool is_valid_utf8(std::string_view text) {
    std::size_t position = 0;
    while (position < text.size()) {
        const auto first = static_cast<unsigned char>(text[position]);
        const std::size_t length = first < 0x80 ? 1 : first >> 5 == 0x6 ? 2 : first >> 4 == 0xe ? 3 : first >> 3 == 0x1e ? 4 : 0;
        if (length == 0 || text.size() - position < length) {
            return false;
        }
        char32_t code = length == 1 ? first : first & (0x7fu >> length);
        for (std::size_t index = 1; index < length; ++index) {
            const auto byte = static_cast<unsigned char>(text[position + index]);
            if (byte >> 6 != 2) {
                return false;
            }
            code = code << 6 | (byte & 0x3f);
        }
        constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
        if (code < kLeast[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
            return false;
        }
        position += length;
    }
    return true;
}

std::string key_hash(std::string_view key) {
    constexpr std::size_t kShownBytes = 8;
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
    ::SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), digest.data());
    return to_hex({reinterpret_cast<const char*>(digest.data()), kShownBytes});
}

void add_key(ordered_json& object, std::string_view key, KeyStyle style) {
    if (style == KeyStyle::hashed) {
        object["key_hash"] = key_hash(key);
    } else if (is_valid_utf8(key)) {
        object["key"] = key;
    } else {
        object["key_hex"] = to_hex(key);
    }
}

ordered_json finding_json(const Finding& finding, KeyStyle style) {
    ordered_json object;
    object["id"] = to_string(finding.id);
    object["title"] = title_of(finding);
    object["severity"] = to_string(finding.severity);
    object["kind"] = to_string(finding.kind);
    object["subject"] = subject_json(finding.subject);
    object["condition"] = finding.condition;
    object["count"] = finding.count;
    object["numbers"] = ordered_json::object();
    for (const FindingNumber& number : finding.numbers) {
        object["numbers"][number.name] = number.value;
    }
    object["examples"] = ordered_json::array();
    for (const ExampleKey& example : finding.examples) {
        object["examples"].push_back(example_json(example, style));
    }
    for (const RecordPlace& place : finding.evidence) {
        object["evidence"].push_back({{"partition", place.partition.value}, {"offset", place.offset.value}});
    }
    object["advice"] = finding.advice;
    if (finding.is_restored) {
        object["restored"] = true;
    }
    return object;
}

}  // namespace partita::insight
