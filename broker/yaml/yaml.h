#pragma once

#include <cstddef>
#include <expected>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Files that people write, as JSON values: YAML 1.2 with its core schema, or JSON. Plain `true`, `null`, `7` and `1.5` are no
/// texts; quoted scalars are. Aliases stand for copies of what their anchor names. Not taken: tags of a program's own types, keys
/// that are lists or mappings, two equal keys in one mapping, and numbers that JSON does not have. `<<` is a key like any other.
namespace partita::yaml {

/// A place in a text, counted from 1. Columns count bytes.
struct Place {
    std::size_t line = 1;
    std::size_t column = 1;

    friend bool operator==(const Place&, const Place&) = default;
};

/// Why a text cannot be used.
struct Problem {
    /// Unset if the text is JSON, which keeps no places of its values.
    std::optional<Place> place;
    std::string message;

    /// "line 3, column 5: ..." for people.
    [[nodiscard]] std::string text() const;
};

/// Bounds of what a text may hold: a small file can stand for a huge value by its aliases.
struct Limits {
    std::size_t bytes_max = std::size_t{1} << 20;
    /// Lists and mappings within each other.
    std::size_t depth_max = 64;
    /// Values in all documents, those of aliases too.
    std::size_t values_max = 200'000;
    /// Keys of one mapping.
    std::size_t keys_max = 10'000;
    std::size_t documents_max = 10'000;
};

/// A value with the places of its parts.
class Document {
  public:
    explicit Document(nlohmann::ordered_json value, std::map<std::string, Place> places = {})
        : value_(std::move(value)), places_(std::move(places)) {}

    [[nodiscard]] const nlohmann::ordered_json& value() const { return value_; }
    /// The place of the value behind a JSON pointer ("/topics/0/name"), or that of the nearest value around it. Unset if the
    /// document was JSON.
    [[nodiscard]] std::optional<Place> place_of(std::string pointer) const;

  private:
    nlohmann::ordered_json value_;
    std::map<std::string, Place> places_;
};

/// A pointer to a member or an item.
[[nodiscard]] std::string below(const std::string& pointer, std::string_view name);
[[nodiscard]] std::string below(const std::string& pointer, std::size_t index);

/// All documents of a text; a JSON text is one. An empty text has none.
[[nodiscard]] std::expected<std::vector<Document>, Problem> parse_all(std::string_view text, const Limits& limits = {});
/// The only document of a text.
[[nodiscard]] std::expected<Document, Problem> parse(std::string_view text, const Limits& limits = {});

}  // namespace partita::yaml
