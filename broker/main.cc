#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "broker/config/broker_config.h"
#include "broker/config/log_setup.h"
#include "broker/serve.h"

extern char** environ;

namespace {

// What scripts can rely on: 0 after an orderly stop, 2 when the start was refused (usage, settings, port,
// directory), 1 when something broke on the way.
constexpr int kExitUsage = 2;

struct Arguments {
    std::string config_file;
    std::vector<std::string> overrides;
    std::string data_directory;
    std::string port;
    std::string http_port;
    std::string port_file;
    std::string log_level = "info";
    bool ephemeral = false;
};

int refuse(const std::string& message) {
    std::fprintf(stderr, "partita: %s\n", message.c_str());
    return kExitUsage;
}

void add_serve_options(CLI::App& app, Arguments& arguments) {
    app.add_option("-c,--config", arguments.config_file, "server.properties of Kafka")->check(CLI::ExistingFile);
    app.add_option("--override", arguments.overrides, "one setting as KEY=VALUE, above file and environment")
        ->take_all();
    app.add_option("-d,--data-dir", arguments.data_directory, "where data is kept (default ./partita-data, or log.dirs)");
    app.add_flag("--ephemeral", arguments.ephemeral, "keep data in memory and forget it at the end");
    app.add_option("-p,--port", arguments.port, "Kafka port on loopback; 0 lets the system choose (default 9092)");
    app.add_option("--http-port", arguments.http_port, "HTTP port on loopback; 0 lets the system choose, 'off' for none (default 8092)");
    app.add_option("--port-file", arguments.port_file, "write the Kafka port to this file when clients can connect");
    app.add_option("--log-level", arguments.log_level, "debug, info, warning, error or off (default info)");
}

std::vector<std::string> process_environment() {
    std::vector<std::string> environment;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        environment.emplace_back(*variable);
    }
    return environment;
}

int serve(const Arguments& arguments) {
    partita::config::ConfigInputs inputs;
    if (!arguments.config_file.empty()) {
        std::ifstream file(arguments.config_file);
        std::stringstream content;
        content << file.rdbuf();
        if (!file) {
            return refuse("cannot read " + arguments.config_file);
        }
        inputs.properties = content.str();
    }
    inputs.environment = process_environment();
    inputs.overrides = arguments.overrides;
    if (!arguments.data_directory.empty()) {
        inputs.overrides.push_back("log.dirs=" + arguments.data_directory);
    }
    if (!arguments.port.empty()) {
        inputs.overrides.push_back("listeners=PLAINTEXT://localhost:" + arguments.port);
    }
    auto loaded = partita::config::load_broker_config(inputs);
    if (!loaded) {
        return refuse(loaded.error().message);
    }
    const auto level = partita::log::parse_level(arguments.log_level);
    if (!level) {
        return refuse("--log-level is " + arguments.log_level + "; it can be debug, info, warning, error or off");
    }
    partita::log::open(*level);
    if (!loaded->unknown_names.empty()) {
        std::string names;
        for (const std::string& name : loaded->unknown_names) {
            names += (names.empty() ? "" : ", ") + name;
        }
        partita::log::warning("config", "settings that neither Kafka nor this broker knows are ignored", {{"names", names}});
    }
    partita::ServeOptions options;
    options.config = std::make_shared<const partita::config::BrokerConfig>(std::move(loaded->config));
    options.ephemeral = arguments.ephemeral;
    options.port_file = arguments.port_file;
    options.http_port = arguments.http_port;
    options.port_given = !arguments.port.empty();
    return partita::serve(options);
}

}  // namespace

int main(int argument_count, char** argument_values) {
    CLI::App app{"Partita: the local Kafka. Without a command it serves."};
    app.set_version_flag("--version", "partita " PARTITA_VERSION);
    Arguments arguments;
    add_serve_options(app, arguments);
    CLI::App* serve_command = app.add_subcommand("serve", "run the broker");
    add_serve_options(*serve_command, arguments);
    app.require_subcommand(0, 1);
    try {
        app.parse(argument_count, argument_values);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : kExitUsage;
    }
    return serve(arguments);
}
