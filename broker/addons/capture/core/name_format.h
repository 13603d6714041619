#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/types.h"

namespace partita::capture {

/// What the name of a file says.
struct NameParts {
    std::string_view name_space;
    std::string_view topic;
    PartitionIndex partition;
    /// When its window ended. Its seconds are told, in UTC; see CivilTime for years that have no four digits.
    TimestampMs time;
};

/// How capture names its files, as the managed service writes it down: a text with `{Namespace}`, `{EventHub}` (the topic),
/// `{PartitionId}`, `{Year}`, `{Month}`, `{Day}`, `{Hour}`, `{Minute}` and `{Second}`, each at least once, in any order. Parts of
/// the time are padded with zeros (four digits of the year, two of the others).
///
/// What a format gives never leaves the directory that it is put below: it begins and ends with no slash, nothing between two
/// slashes is empty or begins with a dot, and what is no token is a letter, a digit or one of `._-=`. (No topic is named ".." and
/// no namespace begins with a dot.)
class NameFormat {
  public:
    static constexpr std::size_t kTextMax = 512;

    /// The error is a part of a sentence: "the token {Second} is missing".
    [[nodiscard]] static std::expected<NameFormat, std::string> parse(std::string_view text);

    /// The path of a file, with its ending `.avro`.
    [[nodiscard]] std::string path(const NameParts& parts) const;

  private:
    enum class Token : std::uint8_t { name_space, topic, partition, year, month, day, hour, minute, second, text };
    struct Piece {
        Token token = Token::text;
        std::string text;
    };
    static constexpr std::string_view kTokens[] = {"{Namespace}", "{EventHub}", "{PartitionId}", "{Year}",  "{Month}",
                                                   "{Day}",       "{Hour}",     "{Minute}",      "{Second}"};

    std::vector<Piece> pieces_;
};

/// Whether `{Namespace}` may be this: letters, digits, '.', '_' and '-', at most 50 of them, and no dot in front.
[[nodiscard]] bool is_namespace(std::string_view text);

}  // namespace partita::capture
