#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/cli/command_line.h"

/// What can follow on a line that somebody is typing. Pure: who knows the broker's topics and groups is asked.
namespace partita::cli {

struct Candidate {
    /// The whole word.
    std::string word;
    std::string help;

    friend bool operator==(const Candidate&, const Candidate&) = default;
};

struct Completion {
    /// Ascending where they are names; in the order of the help where they are options.
    std::vector<Candidate> candidates;
    /// Names of files can stand there, too.
    bool takes_files = false;
};

enum class NameKind { topic, group };
/// The line as far as it says whom to ask: the option that names the broker and, for a client of Kafka, its properties.
struct WhomToAsk {
    std::string bootstrap;
    std::string properties_file;
    /// The HTTP side, for commands that ask that.
    std::string http;
};
/// Names that a broker knows, or none when it does not answer at once.
using NameSource = std::function<std::vector<std::string>(NameKind kind, const WhomToAsk& whom)>;

/// Names are offered up to so many.
inline constexpr std::size_t kNamesOfferedMax = 1000;

/// `words` begin with the name of the program ("partita", ".../kafka-topics.sh") and end with the word that is being typed, which
/// may be empty. A name that a shell would have to quote is not offered.
[[nodiscard]] Completion complete(const Command& program, std::vector<std::string> words, const NameSource& names);

/// Words as bash has them, which breaks them at '=' and ':', put together again; and how much of the last one bash does not
/// count.
struct JoinedWords {
    std::vector<std::string> words;
    std::size_t last_word_begins_at = 0;
};
[[nodiscard]] JoinedWords joined_at_breaks(const std::vector<std::string>& words);

enum class Shell { bash, zsh, fish };
/// The file for a shell, which asks the program (`partita complete`).
[[nodiscard]] std::string completion_script(Shell shell, const Command& program);

}  // namespace partita::cli
