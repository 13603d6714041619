#include "broker/cli/manual.h"

#include <algorithm>
#include <cctype>

#include "broker/tools/text.h"

namespace partita::cli {
namespace {

/// Escapes a text so that roff prints it literally and takes no line for a request.
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

void add_option(const tools::Option& option, bool is_positional, std::string& page) {
    page += ".TP\n";
    if (is_positional) {
        page += "\\fI" + escaped(option.name) + "\\fR";
    } else {
        const std::vector<std::string> names = tools::names_with_dashes(option);
        for (std::size_t i = 0; i < names.size(); ++i) {
            page += (i == 0 ? "\\fB" : ", \\fB") + escaped(names[i]) + "\\fR";
        }
    }
    if (!option.argument.empty()) {
        page += " \\fI" + escaped(option.argument) + "\\fR";
    }
    std::string help(option.help);
    if (!option.choices.empty()) {
        help += "; one of: " + tools::joined(words_of(option.choices), ", ");
    }
    if (!option.default_value.empty()) {
        help += " (default: " + std::string(option.default_value) + ")";
    }
    if (!option.environment.empty()) {
        help += " ($" + std::string(option.environment) + ")";
    }
    page += "\n" + (help.empty() ? std::string("\\&") : escaped(help)) + "\n";
}

void add_options(const Command& command, std::string& page) {
    for (const tools::Option& positional : command.positionals) {
        add_option(positional, true, page);
    }
    for (const tools::Option* option : sorted_options(command)) {
        add_option(*option, false, page);
    }
}

std::string synopsis_of(const Command& command, const std::string& name) {
    std::string line = ".B " + escaped(name) + "\n";
    if (!command.subcommands.empty() || !command.words.empty()) {
        line += command.positionals.empty() ? "\\fIWORD\\fR " : "\\fIWORD\\fR | ";
    }
    for (const tools::Option& positional : command.positionals) {
        line += "\\fI" + escaped(positional.name) + "\\fR ";
    }
    return line + "[\\fIOPTION\\fR]...\n";
}

/// The title, and a summary on one line without a full stop, for whatis.
std::string head_of(const std::string& title, std::string_view summary, const std::string& version) {
    return ".TH " + upper(title) + " 1 \"\" \"partita " + version + "\" \"User Commands\"\n.SH NAME\n" + title + " \\- " +
           escaped(summary.substr(0, summary.find_first_of(".:"))) + "\n.SH SYNOPSIS\n";
}

// Parts of the program's page that no table contains.
constexpr std::string_view kProgramsSynopsis = R"(.B partita
[\fBserve\fR] [\fIOPTION\fR]...
.br
.B partita
\fICOMMAND\fR [\fIOPTION\fR]...
.SH DESCRIPTION
Without a command, partita serves: it listens on localhost:9092 for clients of Apache Kafka, keeps its data in Kafka's on\-disk
format, and serves health, metrics and facts about topics and groups on localhost:8092.
.PP
.B partita \-\-help
lists the commands, and
.B partita
.I COMMAND
.B \-\-help
lists the options of a command. Each command has its own page, such as
.BR partita\-topics (1).
)";
constexpr std::string_view kProgramsEnd = R"(.SH ENVIRONMENT
KAFKA_* variables are settings: KAFKA_LOG_RETENTION_MS is log.retention.ms. CLUSTER_ID names a new cluster.
.SH EXIT STATUS
0 after a stop by SIGTERM or SIGINT, 1 if the broker failed or could not stop cleanly, 2 if a setting or the command line is invalid.
.SH FILES
.TP
/etc/partita/server.properties
Settings of the service that the Debian package installs; its data are in /var/lib/partita.
.SH SEE ALSO
/usr/share/doc/partita
)";

std::string page_of_program(const Command& program, const std::string& version) {
    std::string page = head_of("partita", "broker that speaks Apache Kafka's protocol", version) + std::string(kProgramsSynopsis);
    page += ".SH OPTIONS OF SERVE\n";
    add_options(program, page);
    page += ".SH COMMANDS\n";
    for (const Command& command : program.subcommands) {
        page += ".TP\n\\fB" + escaped(command.name) + "\\fR\n" + escaped(command.summary) + "\n";
    }
    return page + std::string(kProgramsEnd);
}

}  // namespace

std::string manual_page(const Command& command, const std::string& version) {
    const std::string name(command.name);
    if (name == "partita") {
        return page_of_program(command, version);
    }
    const std::string kafka_name(command.kafka_name);
    std::string page = head_of("partita-" + name, command.summary, version) + synopsis_of(command, "partita " + name);
    if (!kafka_name.empty()) {
        page += ".br\n" + synopsis_of(command, kafka_name);
    }
    page += ".SH DESCRIPTION\n" + escaped(command.purpose.empty() ? command.summary : command.purpose) + "\n";
    if (!kafka_name.empty()) {
        page += ".PP\nThe command supports the options, output and exit codes of Apache Kafka's\n.BR " + escaped(kafka_name) +
                " .\nFurther options are Partita's own. The command also runs under that name, with or without \\fB.sh\\fR.\n";
    }
    if (!command.words.empty()) {
        page += ".PP\nWORD is one of: \\fB" + escaped(tools::joined(words_of(command.words), ", ")) + "\\fR.\n";
    }
    if (!command.options.empty()) {
        page += ".SH OPTIONS\n";
    }
    add_options(command, page);
    for (const Command& below : command.subcommands) {
        page += ".SH " + upper(escaped(below.name)) + "\n" + escaped(below.summary) + ".\n";
        add_options(below, page);
    }
    return page + ".SH SEE ALSO\n.BR partita (1)\n";
}

}  // namespace partita::cli
