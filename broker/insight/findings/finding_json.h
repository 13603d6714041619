#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "broker/insight/findings/finding.h"

/// Findings as JSON: the same object on every channel (plan, HTTP, the events topic, WebSocket).
///
///     {"id": "H03", "title": "newer records will overtake a backlog", "severity": "block",
///      "kind": "danger",                                       or "harm": see hazards.h
///      "subject": {"topic": "orders", "group": "billing"},     only what it is about
///      "condition": "...", "count": 1200,
///      "numbers": {"backlog_records": 1200},                   names are constant for one id
///      "examples": [{"key": "user-42", "from": 3, "to": 9}],   up to ten
///      "evidence": [{"partition": 3, "offset": 811}],          only if it decides how long a harm lasts
///      "advice": "...",
///      "restored": true}                                       only if it is from before the broker's last start
///
/// Later versions may add members; those above keep name, type and meaning.
namespace partita::insight {

/// How keys are shown. Keys can be personal data.
enum class KeyStyle : std::uint8_t {
    /// {"key": "user-42"}; a key that is not UTF-8 appears as {"key_hex": "00ff"}.
    text,
    /// {"key_hash": "9f86d081884c7d65"}: the first 8 bytes of the key's SHA-256, in hex. Equal keys have equal hashes. A reader
    /// who can guess a key can also find it by its hash.
    hashed,
};

[[nodiscard]] nlohmann::ordered_json finding_json(const Finding& finding, KeyStyle style);

/// Adds the key to `object` in the given style.
void add_key(nlohmann::ordered_json& object, std::string_view key, KeyStyle style);

/// 16 hex digits; see `KeyStyle::hashed`.
[[nodiscard]] std::string key_hash(std::string_view key);
/// Two hex digits for each byte.
[[nodiscard]] std::string to_hex(std::string_view bytes);
[[nodiscard]] bool is_valid_utf8(std::string_view text);
/// A name that a client chose, in a form that JSON can carry: the name itself, or its bytes in hex if it is not UTF-8.
[[nodiscard]] std::string name_text(const std::string& name);

}  // namespace partita::insight
