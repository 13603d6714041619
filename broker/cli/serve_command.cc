#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <expected>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "broker/cli/addition.h"
#include "broker/cli/command.h"
#include "broker/config/broker_config.h"
#include "broker/config/log_setup.h"
#include "broker/config/properties.h"
#include "broker/dev_security/dev_security.h"
#include "broker/serve.h"

extern char** environ;

namespace partita::cli {
namespace {

struct ServeArguments {
    std::string config_file;
    std::string image_file;
    std::vector<std::string> overrides;
    std::string data_directory;
    std::string port;
    std::string http_port;
    std::string port_file;
    std::string security_directory;
    std::string log_level;
    bool ephemeral = false;
    std::string from_snapshot;
    std::vector<std::shared_ptr<ServeOptionsOfAddon>> of_addons;
};

constexpr tools::Option kServeOptions[] = {
    {.name = "config",
     .argument = "file",
     .help = "read settings from this server.properties of Kafka",
     .alias = "c",
     .check = kExistingFile},
    {.name = "image",
     .argument = "file",
     .help = "read a container image's own settings from this file; every other source overrides them",
     .check = kExistingFile},
    {.name = "override",
     .argument = "KEY=VALUE",
     .help = "set this config; overrides the file and the environment; repeatable",
     .may_repeat = true},
    {.name = "data-dir", .argument = "directory", .help = "keep data here (default: ./partita-data, or log.dirs)", .alias = "d"},
    {.name = "ephemeral", .argument = "", .help = "keep data in memory and discard it on exit"},
    {.name = "from-snapshot",
     .argument = "directory",
     .help = "begin with a copy of this snapshot, or of this data directory; the own one has to be empty"},
    {.name = "port",
     .argument = "port",
     .help = "listen for Kafka's clients on loopback; 0 for any free port (default: 9092)",
     .alias = "p"},
    {.name = "http-port", .argument = "port|off", .help = "listen for HTTP on loopback; 0 for any free port (default: 8092)"},
    {.name = "security",
     .argument = "directory",
     .help = "use the TLS, user and ACL settings in this directory of `partita dev-security`",
     .check = kExistingDirectory},
    {.name = "port-file", .argument = "file", .help = "write the Kafka port to this file when clients can connect"},
    {.name = "log-level", .argument = "level", .help = "log debug, info, warning, error or off", .default_value = "info"},
    kHelp,
};

std::vector<std::string> process_environment() {
    std::vector<std::string> environment;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        environment.emplace_back(*variable);
    }
    return environment;
}

/// Accepts a port, or one of the words that the option also takes.
bool is_port(const std::string& text) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    return error == std::errc() && end == text.data() + text.size();
}

std::optional<std::string> text_of_file(const std::string& path) {
    std::ifstream file(path);
    std::stringstream content;
    content << file.rdbuf();
    return file ? std::optional(content.str()) : std::nullopt;
}

/// The settings in a directory of `partita dev-security`, as overrides. The error is for people.
std::expected<std::vector<std::string>, std::string> security_overrides(const std::string& directory, const std::string& port) {
    const std::string path = directory + "/" + std::string(dev_security::kBrokerFile);
    const auto text = text_of_file(path);
    if (!text) {
        return std::unexpected("--security: cannot read " + path + "; partita dev-security " + directory + " creates it");
    }
    auto properties = config::parse_properties(*text);
    if (!properties) {
        return std::unexpected(path + ": " + properties.error().message);
    }
    auto settings = dev_security::broker_settings(directory, std::move(*properties), port);
    if (!settings) {
        return std::unexpected("--security: " + settings.error());
    }
    std::vector<std::string> overrides;
    for (const auto& [name, value] : *settings) {
        overrides.push_back(name + "=" + value);
    }
    return overrides;
}

/// The security protocol of the listener for `--port`.
std::string protocol_of_port(const ServeArguments& arguments, config::ConfigInputs inputs) {
    inputs.overrides.insert(inputs.overrides.end(), arguments.overrides.begin(), arguments.overrides.end());
    for (const auto& addon : arguments.of_addons) {
        if (const std::string_view protocol = addon->protocol_of_port(inputs); !protocol.empty()) {
            return std::string(protocol);
        }
    }
    return "PLAINTEXT";
}

int run(const ServeArguments& arguments) {
    if (!arguments.port.empty() && !is_port(arguments.port)) {
        return refuse("--port is " + arguments.port + "; use a number from 0 (any free port) to 65535");
    }
    if (!arguments.http_port.empty() && arguments.http_port != "off" && !is_port(arguments.http_port)) {
        return refuse("--http-port is " + arguments.http_port + "; use a number from 0 (any free port) to 65535, or off");
    }
    config::ConfigInputs inputs;
    if (!arguments.config_file.empty()) {
        inputs.properties = text_of_file(arguments.config_file);
        if (!inputs.properties) {
            return refuse("cannot read " + arguments.config_file);
        }
    }
    if (!arguments.image_file.empty()) {
        inputs.image = text_of_file(arguments.image_file);
        if (!inputs.image) {
            return refuse("cannot read " + arguments.image_file);
        }
    }
    inputs.environment = process_environment();
    if (!arguments.security_directory.empty()) {
        auto settings = security_overrides(arguments.security_directory, arguments.port);
        if (!settings) {
            return refuse(settings.error());
        }
        inputs.overrides = std::move(*settings);
    } else if (!arguments.port.empty()) {
        const std::string protocol = protocol_of_port(arguments, inputs);
        inputs.overrides.push_back("listeners=" + protocol + "://localhost:" + arguments.port);
        if (protocol != "PLAINTEXT") {
            inputs.overrides.push_back("security.inter.broker.protocol=" + protocol);
        }
    }
    for (const auto& addon : arguments.of_addons) {
        const std::vector<std::string> overrides = addon->overrides();
        inputs.overrides.insert(inputs.overrides.end(), overrides.begin(), overrides.end());
    }
    inputs.overrides.insert(inputs.overrides.end(), arguments.overrides.begin(), arguments.overrides.end());
    if (!arguments.data_directory.empty()) {
        inputs.overrides.push_back("log.dirs=" + arguments.data_directory);
    }
    auto loaded = config::load_broker_config(inputs);
    if (!loaded) {
        return refuse(loaded.error().message);
    }
    Greeting greeting;
    for (const auto& addon : arguments.of_addons) {
        auto completion = addon->complete(loaded->config);
        if (!completion) {
            continue;
        }
        inputs.overrides.insert(inputs.overrides.end(), completion->overrides.begin(), completion->overrides.end());
        greeting = std::move(completion->greeting);
        loaded = config::load_broker_config(inputs);
        if (!loaded) {
            return refuse(loaded.error().message);
        }
    }
    const auto level = log::parse_level(arguments.log_level);
    if (!level) {
        return refuse("--log-level is " + arguments.log_level + "; use debug, info, warning, error or off");
    }
    log::open(*level);
    if (!loaded->unknown_names.empty()) {
        std::string names;
        for (const std::string& name : loaded->unknown_names) {
            names += (names.empty() ? "" : ", ") + name;
        }
        log::warning("config", "settings that neither Kafka nor this broker knows are ignored", {{"names", names}});
    }
    for (const config::StartNote& note : loaded->notes) {
        log::write(note.level, "config", note.message, {{note.key, note.value}});
    }
    ServeOptions options;
    options.config = std::make_shared<const config::BrokerConfig>(std::move(loaded->config));
    options.ephemeral = arguments.ephemeral;
    options.from_snapshot = arguments.from_snapshot;
    options.port_file = arguments.port_file;
    options.http_port = arguments.http_port;
    options.greeting = std::move(greeting);
    return partita::serve(options);
}

int run_serve(const CommandLine& line) {
    std::vector<std::shared_ptr<ServeOptionsOfAddon>> of_addons;
    for (const Addition* addition : additions()) {
        if (addition->make_serve_options != nullptr) {
            of_addons.push_back(addition->make_serve_options(line));
        }
    }
    return run({.config_file = line.value("config"),
                .image_file = line.value("image"),
                .overrides = line.values("override"),
                .data_directory = line.value("data-dir"),
                .port = line.value("port"),
                .http_port = line.value("http-port"),
                .port_file = line.value("port-file"),
                .security_directory = line.value("security"),
                .log_level = line.value("log-level"),
                .ephemeral = line.has("ephemeral"),
                .from_snapshot = line.value("from-snapshot"),
                .of_addons = std::move(of_addons)});
}

}  // namespace

const Command& serve_command() {
    static const std::vector<tools::Option> kOptions = [] {
        std::vector<tools::Option> options(std::begin(kServeOptions), std::end(kServeOptions));
        for (const Addition* addition : additions()) {
            options.insert(options.end(), addition->serve_options.begin(), addition->serve_options.end());
        }
        return options;
    }();
    static const Command kCommand{.name = "serve", .summary = "run the broker", .options = kOptions, .run = run_serve};
    return kCommand;
}

}  // namespace partita::cli
