#include "broker/cli/command_model.h"

#include <algorithm>
#include <utility>

#include "broker/tools/text.h"
#include "broker/tools/tool.h"

namespace partita::cli {
namespace {

/// Options of the tools whose argument is one of a list, whichever tool they belong to.
constexpr std::pair<std::string_view, std::string_view> kChoices[] = {
    {"entity-type", "topics clients users brokers broker-loggers ips client-metrics groups"},
    {"compression-codec", "none gzip snappy lz4 zstd"},
    {"request-required-acks", "all -1 0 1"},
    {"isolation-level", "read_uncommitted read_committed"},
    {"election-type", "preferred unclean"},
    {"group-type", "classic consumer share streams"},
    {"protocol", "consumer connect"},
    {"resource-pattern-type", "literal prefixed any match"},
    {"operation",
     "All Read Write Create Delete Alter Describe ClusterAction DescribeConfigs AlterConfigs IdempotentWrite CreateTokens "
     "DescribeTokens TwoPhaseCommit"},
};

std::vector<std::string> words_of(std::string_view text) {
    return text.empty() ? std::vector<std::string>() : tools::split(text, ' ');
}

OptionModel model_of(const tools::Option& option) {
    OptionModel model{.names = {"--" + std::string(option.name)}};
    if (!option.alias.empty()) {
        model.names.push_back((option.alias.size() == 1 ? "-" : "--") + std::string(option.alias));
    }
    model.argument = option.argument;
    model.help = option.help;
    model.default_value = option.default_value;
    const auto* choices = std::ranges::find(kChoices, option.name, [](const auto& one) { return one.first; });
    if (choices != std::end(kChoices) && !option.argument.empty()) {
        model.choices = words_of(choices->second);
    }
    return model;
}

CommandModel model_of(const tools::Tool& tool) {
    CommandModel model;
    model.name = tool.name;
    model.kafka_name = tool.kafka_name;
    model.summary = tool.summary;
    model.purpose = tool.purpose;
    model.words = words_of(tool.words);
    for (const tools::Option& option : tool.options) {
        model.options.push_back(model_of(option));
    }
    std::ranges::sort(model.options, {}, [](const OptionModel& one) { return one.names.front(); });
    return model;
}

/// Of CLI11's "TEXT:{auto,always,never}".
std::vector<std::string> choices_of(const std::string& type) {
    const std::size_t begin = type.find('{');
    const std::size_t end = type.find('}');
    if (begin == std::string::npos || end == std::string::npos || end < begin) {
        return {};
    }
    return tools::split(std::string_view(type).substr(begin + 1, end - begin - 1), ',');
}

OptionModel model_of(const CLI::Option& option) {
    OptionModel model;
    for (const std::string& name : option.get_lnames()) {
        model.names.push_back("--" + name);
    }
    for (const std::string& name : option.get_snames()) {
        model.names.push_back("-" + name);
    }
    model.help = option.get_description();
    if (option.get_items_expected_max() > 0) {
        model.choices = choices_of(option.get_type_name());
        model.argument = model.choices.empty() ? "VALUE" : tools::joined(model.choices, "|");
        model.default_value = option.get_default_str();
    }
    return model;
}

CommandModel model_of(const CLI::App& application) {
    CommandModel model;
    model.name = application.get_name();
    model.summary = model.purpose = application.get_description();
    for (const CLI::Option* option : application.get_options()) {
        if (option->get_positional()) {
            model.positionals.push_back(option->get_name());
        } else {
            model.options.push_back(model_of(*option));
        }
    }
    for (const CLI::App* below : application.get_subcommands([](const CLI::App*) { return true; })) {
        const tools::Tool* tool = tools::tool_of_command(below->get_name());
        // Without a group it is not for people.
        if (!below->get_group().empty()) {
            model.subcommands.push_back(tool == nullptr ? model_of(*below) : model_of(*tool));
        }
    }
    std::ranges::sort(model.subcommands, {}, &CommandModel::name);
    return model;
}

}  // namespace

CommandModel program_model(const CLI::App& application) {
    CommandModel program = model_of(application);
    program.name = "partita";
    return program;
}

const CommandModel* find_command(const CommandModel& program, std::string_view name) {
    if (name.ends_with(".sh")) {
        name.remove_suffix(3);
    }
    for (const CommandModel& command : program.subcommands) {
        if (command.name == name || (!command.kafka_name.empty() && command.kafka_name == name)) {
            return &command;
        }
    }
    return nullptr;
}

const OptionModel* find_option(const CommandModel& command, std::string_view word) {
    for (const OptionModel& option : command.options) {
        for (const std::string_view name : option.names) {
            if (word == name || (word.size() + 1 == name.size() && name.ends_with(word))) {
                return &option;
            }
        }
    }
    return nullptr;
}

}  // namespace partita::cli
