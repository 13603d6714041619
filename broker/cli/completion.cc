#include "broker/cli/completion.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace partita::cli {
namespace {

/// The parsed line up to the word being typed.
struct Line {
    const Command* command = nullptr;
    /// The option that expects its argument next; null if none does.
    const tools::Option* open_option = nullptr;
    std::size_t positionals = 0;
    WhomToAsk whom;
};

bool is_plain(std::string_view name) {
    return !name.empty() && std::ranges::all_of(name, [](unsigned char letter) {
        return std::isalnum(letter) != 0 || std::string_view("._-+@/").contains(static_cast<char>(letter));
    });
}

void note_value(Line& line, const tools::Option& option, const std::string& value) {
    if (option.name == "bootstrap-server" || option.name == "bootstrap") {
        line.whom.bootstrap = value;
    }
    if (option.name == "command-config") {
        line.whom.properties_file = value;
    }
    if (option.name == "http") {
        line.whom.http = value;
    }
}

Line read_line(const Command& program, const std::vector<std::string>& words) {
    Line line;
    const std::string_view path = words.front();
    const Command* own = find_command(program, path.substr(path.rfind('/') + 1));
    line.command = own == nullptr ? &program : own;
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
        const std::string& word = words[i];
        if (line.open_option != nullptr) {
            note_value(line, *line.open_option, word);
            line.open_option = nullptr;
        } else if (word.starts_with('-') && word != "-") {
            const std::size_t equals = std::min(word.find('='), word.size());
            const tools::Option* option = find_option(*line.command, std::string_view(word).substr(0, equals));
            if (option == nullptr) {
                continue;
            }
            if (option->argument.empty()) {
                continue;
            }
            if (equals < word.size()) {
                note_value(line, *option, word.substr(equals + 1));
            } else {
                line.open_option = option;
            }
        } else if (const Command* below = find_command(*line.command, word); below != nullptr && below->name == word) {
            line.command = below;
        } else {
            ++line.positionals;
        }
    }
    return line;
}

class Completer {
  public:
    Completer(const Line& line, const NameSource& names) : line_(line), names_(names) {}

    [[nodiscard]] Completion value_of(const tools::Option& option, const std::string& before, const std::string& typed) {
        if (!option.choices.empty()) {
            for (const std::string& choice : words_of(option.choices)) {
                offer(before, choice, {}, typed);
            }
        } else if (const auto kind = kind_of(option)) {
            offer_names(*kind, before, typed);
        } else {
            found_.takes_files = true;
        }
        return std::move(found_);
    }
    [[nodiscard]] Completion word(const std::string& typed) {
        const Command& command = *line_.command;
        if (typed.starts_with('-')) {
            for (const tools::Option* option : sorted_options(command)) {
                for (const std::string& name : tools::names_with_dashes(*option)) {
                    offer({}, name, std::string(option->help), typed);
                }
            }
            return std::move(found_);
        }
        for (const Command& below : command.subcommands) {
            offer({}, std::string(below.name), std::string(below.summary), typed);
        }
        for (const std::string& one : words_of(command.words)) {
            offer({}, one, {}, typed);
        }
        if (line_.positionals < command.positionals.size()) {
            const tools::Option& positional = command.positionals[line_.positionals];
            if (positional.name == "TOPIC") {
                offer_names(NameKind::topic, {}, typed);
            }
            for (const std::string& choice : words_of(positional.choices)) {
                offer({}, choice, {}, typed);
            }
        }
        // With nothing typed yet, offer the options.
        if (typed.empty() && found_.candidates.empty()) {
            return word("--");
        }
        return std::move(found_);
    }

  private:
    static std::optional<NameKind> kind_of(const tools::Option& option) {
        if (option.argument == "topic" || option.argument == "topic,..." || option.name == "topic" ||
            option.name == "topic-list") {
            return NameKind::topic;
        }
        if (option.argument == "group" || option.name == "group") {
            return NameKind::group;
        }
        return std::nullopt;
    }
    void offer(const std::string& before, const std::string& word, const std::string& help, const std::string& typed) {
        if (word.starts_with(typed)) {
            found_.candidates.push_back({before + word, help});
        }
    }
    void offer_names(NameKind kind, const std::string& before, const std::string& typed) {
        std::vector<std::string> names = names_(kind, line_.whom);
        std::erase_if(names, [&](const std::string& name) { return !is_plain(name) || !name.starts_with(typed); });
        std::ranges::sort(names);
        names.resize(std::min(names.size(), kNamesOfferedMax));
        for (const std::string& name : names) {
            found_.candidates.push_back({before + name, {}});
        }
    }

    const Line& line_;
    const NameSource& names_;
    Completion found_;
};

/// Where the present item begins in a list like "a,b" or a pattern like "topic:0".
std::size_t begin_of_item(const std::string& value) {
    return value.find_last_of(',') == std::string::npos ? 0 : value.find_last_of(',') + 1;
}

constexpr std::string_view kBash = R"(# bash completion of partita: the program itself lists the candidates.
_partita() {
    local line program=partita
    [[ ${COMP_WORDS[0]##*/} == partita ]] && program=${COMP_WORDS[0]}
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            compopt -o default 2>/dev/null
        else
            COMPREPLY+=("${line%%$'\t'*}")
        fi
    done < <("$program" complete bash -- "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
}
complete -F _partita)";

constexpr std::string_view kZsh = R"(
# zsh completion of partita: the program itself lists the candidates.
_partita() {
    local line program=partita found=1
    local -a described
    [[ ${words[1]:t} == partita ]] && program=${words[1]}
    for line in "${(@f)$("$program" complete zsh -- "${(@)words[1,CURRENT]}" 2>/dev/null)}"; do
        if [[ $line == :files ]]; then
            _files && found=0
        elif [[ -n $line ]]; then
            described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
        fi
    done
    (( $#described )) && _describe 'partita' described && found=0
    return found
}
if [[ $funcstack[1] == _partita ]]; then
    _partita "$@"
else
    compdef _partita)";

constexpr std::string_view kFish = R"(# fish completion of partita: the program itself lists the candidates.
function __partita_complete
    set -l words (commandline -opc)
    set -l program partita
    string match -q -r '(^|/)partita$' -- $words[1]; and set program $words[1]
    set -l found ($program complete fish -- $words (commandline -ct) 2>/dev/null)
    if contains -- :files $found
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $found
    end
end
)";

std::string names_of(const Command& program) {
    std::string names = " partita";
    for (const Command& command : program.subcommands) {
        if (!command.kafka_name.empty()) {
            names += " " + std::string(command.kafka_name) + " " + std::string(command.kafka_name) + ".sh";
        }
    }
    return names;
}

}  // namespace

Completion complete(const Command& program, std::vector<std::string> words, const NameSource& names) {
    if (words.size() < 2) {
        return {};
    }
    const Line line = read_line(program, words);
    const std::string& typed = words.back();
    Completer completer(line, names);
    if (line.open_option != nullptr) {
        const std::size_t item = begin_of_item(typed);
        return completer.value_of(*line.open_option, typed.substr(0, item), typed.substr(item));
    }
    const std::size_t equals = typed.find('=');
    if (typed.starts_with('-') && equals != std::string::npos) {
        const tools::Option* option = find_option(*line.command, std::string_view(typed).substr(0, equals));
        if (option == nullptr || option->argument.empty()) {
            return {};
        }
        const std::size_t item = equals + 1 + begin_of_item(typed.substr(equals + 1));
        return completer.value_of(*option, typed.substr(0, item), typed.substr(item));
    }
    return completer.word(typed);
}

JoinedWords joined_at_breaks(const std::vector<std::string>& words) {
    const auto is_break = [](const std::string& word) {
        return !word.empty() && word.find_first_not_of("=:") == std::string::npos;
    };
    JoinedWords joined;
    bool goes_on = false;
    for (const std::string& word : words) {
        const bool continues = !joined.words.empty() && (goes_on || is_break(word));
        if (continues) {
            joined.last_word_begins_at = joined.words.back().size() + (is_break(word) ? word.size() : 0);
            joined.words.back() += word;
        } else {
            joined.last_word_begins_at = 0;
            joined.words.push_back(word);
        }
        goes_on = is_break(word);
    }
    return joined;
}

std::string completion_script(Shell shell, const Command& program) {
    const std::string names = names_of(program);
    switch (shell) {
        case Shell::bash:
            return std::string(kBash) + names + "\n";
        case Shell::zsh:
            return "#compdef" + names + std::string(kZsh) + names + "\nfi\n";
        case Shell::fish:
            break;
    }
    std::string script(kFish);
    for (std::size_t at = 1; at < names.size();) {
        const std::size_t end = std::min(names.find(' ', at), names.size());
        script += "complete -c " + names.substr(at, end - at) + " -f -a '(__partita_complete)'\n";
        at = end + 1;
    }
    return script;
}

}  // namespace partita::cli
