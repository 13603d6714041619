#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/cli/command_line.h"

/// Completion of a line that a person is typing. Pure: the caller provides the broker's topics and groups.
namespace partita::cli {

struct Candidate {
    /// The whole word.
    std::string word;
    std::string help;

    friend bool operator==(const Candidate&, const Candidate&) = default;
};

struct Completion {
    /// Ascending if they are names; in the order of the help if they are options.
    std::vector<Candidate> candidates;
    /// File names may follow, too.
    bool takes_files = false;
};

enum class NameKind { topic, group };
/// The line's part that selects the broker: the option with its address and, for a Kafka client, its properties.
struct WhomToAsk {
    std::string bootstrap;
    std::string properties_file;
    /// The HTTP side, for commands that use it.
    std::string http;
};
/// Returns the broker's names; empty if the broker does not answer at once.
using NameSource = std::function<std::vector<std::string>(NameKind kind, const WhomToAsk& whom)>;

/// Limit of offered names.
inline constexpr std::size_t kNamesOfferedMax = 1000;

/// Completes a line. `words` begin with the name of the program ("partita", ".../kafka-topics.sh") and end with the word being
/// typed, which may be empty. Leaves out names that a shell would have to quote.
[[nodiscard]] Completion complete(const Command& program, std::vector<std::string> words, const NameSource& names);

/// bash's words, which it splits at '=' and ':', joined again; and where bash's own last word begins in the last one.
struct JoinedWords {
    std::vector<std::string> words;
    std::size_t last_word_begins_at = 0;
};
[[nodiscard]] JoinedWords joined_at_breaks(const std::vector<std::string>& words);

enum class Shell { bash, zsh, fish };
/// The completion script for a shell; it calls the program (`partita complete`).
[[nodiscard]] std::string completion_script(Shell shell, const Command& program);

}  // namespace partita::cli
