#include "broker/cli/manual.h"

#include <algorithm>
#include <cctype>

#include "broker/tools/text.h"

namespace partita::cli {
namespace {

/// Text that means nothing to roff, on lines that it does not take for requests.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char letter : text) {
        if (letter == '\\') {
            out += "\\e";
        } else if (letter == '-') {
            out += "\\-";
        } else if (letter == '\n') {
            out += ' ';
        } else {
            if (out.empty() && (letter == '.' || letter == '\'')) {
                out += "\\&";
            }
            out += letter;
        }
    }
    return out;
}

std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
    return text;
}

void add_options(const std::vector<OptionModel>& options, std::string& page) {
    for (const OptionModel& option : options) {
        page += ".TP\n";
        for (std::size_t i = 0; i < option.names.size(); ++i) {
            page += (i == 0 ? "\\fB" : ", \\fB") + escaped(option.names[i]) + "\\fR";
        }
        if (!option.argument.empty()) {
            page += " \\fI" + escaped(option.argument) + "\\fR";
        }
        std::string help = option.help;
        if (!option.choices.empty()) {
            help += (help.empty() ? "One of: " : " One of: ") + tools::joined(option.choices, ", ") + ".";
        }
        if (!option.default_value.empty()) {
            help += " Default: " + option.default_value + ".";
        }
        page += "\n" + (help.empty() ? std::string("\\&") : escaped(help)) + "\n";
    }
}

std::string synopsis_of(const CommandModel& command, const std::string& name) {
    std::string line = ".B " + escaped(name) + "\n";
    if (!command.subcommands.empty() || !command.words.empty()) {
        line += "\\fIWORD\\fR ";
    }
    for (const std::string& positional : command.positionals) {
        line += "\\fI" + escaped(positional) + "\\fR ";
    }
    return line + "[\\fIOPTION\\fR]...\n";
}

}  // namespace

std::string manual_page(const CommandModel& command, const std::string& version) {
    const std::string title = "partita-" + command.name;
    // One line without a full stop, for whatis.
    const std::string summary = command.summary.substr(0, command.summary.find_first_of(".:"));
    std::string page = ".TH " + upper(title) + " 1 \"\" \"partita " + version + "\" \"User Commands\"\n.SH NAME\n" + title +
                       " \\- " + escaped(summary) + "\n.SH SYNOPSIS\n" + synopsis_of(command, "partita " + command.name);
    if (!command.kafka_name.empty()) {
        page += ".br\n" + synopsis_of(command, command.kafka_name);
    }
    page += ".SH DESCRIPTION\n" + escaped(command.purpose) + "\n";
    if (!command.kafka_name.empty()) {
        page += ".PP\nOptions, output and exit codes are those of Apache Kafka's\n.BR " + escaped(command.kafka_name) +
                " ,\nunder whose name, with or without \\fB.sh\\fR, it can be called.\n";
    }
    if (!command.words.empty()) {
        page += ".PP\nWORD is one of: \\fB" + escaped(tools::joined(command.words, ", ")) + "\\fR.\n";
    }
    if (!command.options.empty()) {
        page += ".SH OPTIONS\n";
    }
    add_options(command.options, page);
    for (const CommandModel& below : command.subcommands) {
        page += ".SH " + upper(escaped(below.name)) + "\n" + escaped(below.purpose) + ".\n";
        add_options(below.options, page);
    }
    return page + ".SH SEE ALSO\n.BR partita (1)\n";
}

}  // namespace partita::cli
