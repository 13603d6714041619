#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace partita::tools {

/// Formats times like java.text.SimpleDateFormat in English, in the time zone of the process. It knows the letters y M d D E a H
/// k K h m s S z Z X, and text in apostrophes.
class SimpleDateFormat {
  public:
    /// The error is Java's text ("Illegal pattern character 'q'"), or says that a letter of Java's is not served.
    [[nodiscard]] static std::expected<SimpleDateFormat, std::string> parse(const std::string& pattern);

    /// A time in milliseconds since 1970.
    [[nodiscard]] std::string format(std::int64_t time_ms) const;

  private:
    /// A letter and how often it stands there, or text (letter 0).
    struct Part {
        char letter = 0;
        int count = 0;
        std::string text;
    };
    std::vector<Part> parts_;
};

}  // namespace partita::tools
