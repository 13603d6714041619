// `partita partitioner NAME --partitions N`: reads keys from standard input, one per line, and prints their partitions, one per
// line. `--list` shows the known names. Needs no broker.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "broker/cli/command.h"
#include "broker/partitioners/clients.h"
#include "broker/partitioners/key_lines.h"

namespace partita::cli {
namespace {

using partitioners::ClientPartitioner;
using partitioners::KeyLineMapper;

constexpr std::size_t kPieceBytes = 256 * 1024;

struct PlacingArguments {
    std::string name;
    std::int32_t partitions = 0;
    bool hexadecimal = false;
    bool list = false;
};

/// Returns false if the reader of our output is gone or the device is full.
bool write_all(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written < 0 && errno != EINTR) {
            std::fprintf(stderr, "partita: cannot write: %s\n", std::strerror(errno));
            return false;
        }
        text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
    return true;
}

std::string padded(std::string_view text, std::size_t width) {
    std::string cell(text);
    cell.resize(std::max(cell.size() + 2, width), ' ');
    return cell;
}

int list() {
    std::string text = "Families\n";
    for (const partitioners::FamilyDefinition& family : partitioners::families()) {
        text += "  " + padded(family.id, 30) + std::string(family.used_by) + "\n";
    }
    text += "\nClients (family; placement of null keys and of empty keys)\n";
    for (const ClientPartitioner& client : partitioners::client_partitioners()) {
        text += "  " + padded(client.name, 30);
        if (client.family) {
            text += padded(partitioners::definition(*client.family).id, 28);
            text += padded(partitioners::to_string(client.null_key), 14) + padded(partitioners::to_string(client.empty_key), 14);
        } else {
            text += padded("keys are ignored", 56);
        }
        text += std::string(client.description) + "\n";
        std::string aliases;
        for (const std::string_view alias : client.aliases) {
            aliases += (aliases.empty() ? "" : ", ") + std::string(alias);
        }
        if (!aliases.empty()) {
            text += "  " + padded("", 30) + "also: " + aliases + "\n";
        }
    }
    return write_all(text) ? kExitDone : kExitBroken;
}

int refuse_unknown(const std::string& name) {
    std::string suggestions;
    for (const std::string_view near : partitioners::similar_partitioners(name)) {
        suggestions += (suggestions.empty() ? "; did you mean " : ", ") + std::string(near);
    }
    return refuse("unknown partitioner " + name + (suggestions.empty() ? ";" : suggestions + "?") +
                  " `partita partitioner --list` lists all");
}

int refuse_line(const partitioners::KeyLineError& error) {
    return refuse("line " + std::to_string(error.line) + " " + std::string(error.fault));
}

int map_standard_input(KeyLineMapper mapper) {
    std::vector<char> piece(kPieceBytes);
    std::string output;
    while (true) {
        const ssize_t count = ::read(STDIN_FILENO, piece.data(), piece.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            std::fprintf(stderr, "partita: cannot read: %s\n", std::strerror(errno));
            return kExitBroken;
        }
        const auto mapped =
            count == 0 ? mapper.finish(output) : mapper.feed({piece.data(), static_cast<std::size_t>(count)}, output);
        // Print the valid results before a bad line.
        if (!write_all(output)) {
            return kExitBroken;
        }
        output.clear();
        if (!mapped) {
            return refuse_line(mapped.error());
        }
        if (count == 0) {
            return kExitDone;
        }
    }
}

int run(const PlacingArguments& arguments) {
    if (arguments.list) {
        return list();
    }
    if (arguments.name.empty()) {
        return refuse("a partitioner is missing; `partita partitioner --list` lists all");
    }
    const auto partitioner = partitioners::find_partitioner(arguments.name);
    if (!partitioner) {
        return refuse_unknown(arguments.name);
    }
    if (!partitioner->family) {
        return refuse(std::string(partitioner->name) + " ignores keys, so a key has no partition (" +
                      std::string(partitioner->description) + ")");
    }
    if (arguments.partitions < 1) {
        return refuse("--partitions N is missing: the topic's partition count, 1 or more");
    }
    return map_standard_input(
        KeyLineMapper(*partitioner, arguments.partitions,
                      arguments.hexadecimal ? KeyLineMapper::Notation::hexadecimal : KeyLineMapper::Notation::text));
}

constexpr tools::Option kPartitionerPositionals[] = {
    {.name = "NAME", .argument = "", .help = "a family (murmur2-pos) or a client (java, librdkafka, sarama ...)"},
};
constexpr tools::Option kPartitionerOptions[] = {
    {.name = "partitions",
     .argument = "count",
     .help = "place keys in this number of partitions",
     .alias = "n",
     .check = {is_between<1, std::numeric_limits<std::int32_t>::max()>, "a whole number from 1 to 2147483647"}},
    {.name = "hex", .argument = "", .help = "read keys as bytes, two hexadecimal digits each"},
    {.name = "list", .argument = "", .help = "list families and clients"},
    kHelp,
};

int run_partitioner(const CommandLine& line) {
    return run({.name = line.value("NAME"),
                .partitions = static_cast<std::int32_t>(line.integer("partitions").value_or(0)),
                .hexadecimal = line.has("hex"),
                .list = line.has("list")});
}

}  // namespace

constinit const Command kPartitionerCommand{.name = "partitioner",
                                            .summary = "read keys, one in each line, and print their partitions",
                                            .options = kPartitionerOptions,
                                            .positionals = kPartitionerPositionals,
                                            .run = run_partitioner};

}  // namespace partita::cli
