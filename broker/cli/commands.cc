#include <cstdio>

#include "broker/cli/addition.h"
#include "broker/cli/command.h"
#include "broker/cli/tool_commands.h"

namespace partita::cli {

void add_commands(CLI::App& application, Action& chosen) {
    application.set_version_flag("--version", "partita " PARTITA_VERSION);
    add_serve_command(application, chosen);
    add_dev_security_command(application, chosen);
    add_partitioner_command(application, chosen);
    add_plan_command(application, chosen);
    add_control_command(application, chosen);
    for (const Addition* addition : additions()) {
        if (addition->add_commands != nullptr) {
            addition->add_commands(application, chosen);
        }
    }
    add_watch_command(application, chosen);
    add_top_command(application, chosen);
    add_completion_commands(application, chosen);
    add_tool_names(application);
}

int refuse(const std::string& message) {
    std::fprintf(stderr, "partita: %s\n", message.c_str());
    return kExitUsage;
}

}  // namespace partita::cli
