#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "broker/cli/command.h"
#include "broker/dev_security/dev_security.h"
#include "schedule/clock.h"

namespace partita::cli {
namespace {

struct Arguments {
    dev_security::Wishes wishes;
    bool may_replace = false;
};

int run(const Arguments& arguments) {
    dev_security::Wishes wishes = arguments.wishes;
    std::error_code error;
    wishes.directory = std::filesystem::absolute(wishes.directory, error).lexically_normal().string();
    if (error) {
        return refuse("cannot resolve the path " + arguments.wishes.directory + ": " + error.message());
    }
    while (wishes.directory.size() > 1 && wishes.directory.ends_with('/')) {
        wishes.directory.pop_back();
    }
    constexpr std::size_t kHostNameBytesMax = 256;
    std::array<char, kHostNameBytesMax> own{};
    // Without a host name, clients still reach the machine as localhost.
    if (::gethostname(own.data(), own.size() - 1) == 0) {
        wishes.hosts.emplace_back(own.data());
    }
    SystemClock clock;
    const auto files = dev_security::make_files(wishes, clock.now().wall.value / 1000);
    if (!files) {
        return refuse(files.error());
    }
    if (const auto written = dev_security::write_files(wishes.directory, *files, arguments.may_replace); !written) {
        return refuse(written.error());
    }
    std::fputs(dev_security::told(wishes).c_str(), stdout);
    return std::fflush(stdout) == 0 ? kExitDone : kExitBroken;
}

constexpr tools::Option kDevSecurityPositionals[] = {
    {.name = "DIR", .argument = "", .help = "write the files to this directory, created if missing", .is_required = true},
};
constexpr tools::Option kDevSecurityOptions[] = {
    {.name = "user", .argument = "name", .help = "create this user beside admin; repeatable (default: app)", .may_repeat = true},
    {.name = "host",
     .argument = "name|address",
     .help = "accept this name for the broker beside localhost and this machine's name; repeatable",
     .may_repeat = true},
    {.name = "port",
     .argument = "port",
     .help = "tell clients to find the broker at this port",
     .default_value = "9092",
     .check = {is_between<1, 65535>, "a port, from 1 to 65535"}},
    {.name = "mtls", .argument = "", .help = "add a listener for clients' certificates, on the next port"},
    {.name = "overwrite", .argument = "", .help = "replace all files of an earlier run"},
    kHelp,
};

int run_dev_security(const CommandLine& line) {
    Arguments arguments;
    arguments.wishes.directory = line.value("DIR");
    if (line.has("user")) {
        arguments.wishes.users = line.values("user");
    }
    for (const std::string& host : line.values("host")) {
        arguments.wishes.hosts.push_back(host);
    }
    arguments.wishes.port = static_cast<decltype(arguments.wishes.port)>(*line.integer("port"));
    arguments.wishes.has_mutual_tls = line.has("mtls");
    arguments.may_replace = line.has("overwrite");
    return run(arguments);
}

}  // namespace

constinit const Command kDevSecurityCommand{
    .name = "dev-security",
    .summary = "create certificates, users and settings for TLS, SASL and ACLs in development",
    .options = kDevSecurityOptions,
    .positionals = kDevSecurityPositionals,
    .run = run_dev_security};

}  // namespace partita::cli
