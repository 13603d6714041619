#include <boost/asio/ip/host_name.hpp>
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
        return refuse("cannot find out where " + arguments.wishes.directory + " is: " + error.message());
    }
    while (wishes.directory.size() > 1 && wishes.directory.ends_with('/')) {
        wishes.directory.pop_back();
    }
    boost::system::error_code nameless;
    // A machine without a name is reached as localhost all the same.
    if (const std::string own = boost::asio::ip::host_name(nameless); !nameless) {
        wishes.hosts.push_back(own);
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

}  // namespace

void add_dev_security_command(CLI::App& application, Action& chosen) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App& command = *application.add_subcommand(
        "dev-security", "make certificates, users and settings for TLS, SASL and ACLs in development");
    command.add_option("DIR", arguments->wishes.directory, "where they are written; made where it is missing")->required();
    command.add_option("--user", arguments->wishes.users, "a user beside admin, as often as needed (default app)")->take_all();
    command.add_option("--host", arguments->wishes.hosts, "a name or address of the broker beside localhost and this machine's")
        ->take_all();
    command.add_option("--port", arguments->wishes.port, "where clients will find the broker (default 9092)")
        ->check(CLI::Range(1, 65535));
    command.add_flag("--mtls", arguments->wishes.has_mutual_tls,
                     "a second listener, on the next port, for clients' certificates");
    command.add_flag("--overwrite", arguments->may_replace, "make everything anew in a directory that has such files");
    command.callback([&chosen, arguments] { chosen = [arguments] { return run(*arguments); }; });
}

}  // namespace partita::cli
