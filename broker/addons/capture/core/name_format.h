#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/types.h"

namespace partita::capture {

/// The parts of a file's name.
struct NameParts {
    std::string_view name_space;
    std::string_view topic;
    PartitionIndex partition;
    /// The end of its window. The name has its seconds, in UTC; see CivilTime for years without four digits.
    TimestampMs time;
};

/// The format of capture's file names, in the managed service's notation: a text with `{Namespace}`, `{EventHub}` (the topic),
/// `{PartitionId}`, `{Year}`, `{Month}`, `{Day}`, `{Hour}`, `{Minute}` and `{Second}`, each at least once, in any order. Parts of
/// the time are padded with zeros (four digits of the year, two of the others).
///
/// A path from a format never leaves the directory below which it is put. It neither begins nor ends with a slash. No part
/// between two slashes is empty or begins with a dot. Outside of tokens there are only letters, digits and `._-=`. (No topic is
/// named ".." and no namespace begins with a dot.)
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

/// True if `{Namespace}` may be this: letters, digits, '.', '_' and '-', at most 50 of them, and not a dot first.
[[nodiscard]] bool is_namespace(std::string_view text);

}  // namespace partita::capture
