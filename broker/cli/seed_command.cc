// `partita seed FILE`: topics, records and committed offsets from a file, into any cluster, through Kafka's protocol.
// Exit code 0: done; 2: a bad file, or a topic that exists; 1: something broke.

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include "broker/cli/command.h"
#include "broker/cli/kafka_place.h"
#include "broker/cli/progress_line.h"
#include "broker/cli/seed_writer.h"
#include "broker/cli/text_file.h"
#include "broker/client/tcp_network.h"
#include "broker/seed/seed.h"
#include "broker/tools/progress.h"
#include "protocol/try.h"

namespace partita::cli {
namespace {

/// Topics and offsets of JSON lines, which wait for the end of the file.
constexpr std::size_t kWaitingMax = 100'000;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open_file(const std::string& path) {
    return path == "-" ? File(stdin, [](std::FILE*) { return 0; })
                       : File(std::fopen(path.c_str(), "rb"), [](std::FILE* file) { return std::fclose(file); });
}

std::unexpected<SeedFailure> unread(const std::string& path) {
    return std::unexpected(SeedFailure{kExitUsage, "cannot read " + path + ": " + std::generic_category().message(errno)});
}
std::unexpected<SeedFailure> wrong(const std::string& where, const std::string& message) {
    return std::unexpected(SeedFailure{kExitUsage, where + ": " + message});
}

/// Reads a file piece by piece. Returns false at its end.
class Lines {
  public:
    Lines(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}

    [[nodiscard]] SeedWriter::Outcome<bool> next(std::string& line) {
        line.clear();
        for (int letter = std::getc(file_); letter != EOF; letter = std::getc(file_)) {
            if (letter == '\n') {
                ++number_;
                return true;
            }
            if (line.size() == seed::kSeedLineBytesMax) {
                return wrong(path_ + ": line " + std::to_string(number_ + 1),
                             "longer than " + std::to_string(seed::kSeedLineBytesMax) + " bytes");
            }
            line += static_cast<char>(letter);
        }
        if (std::ferror(file_) != 0) {
            return unread(path_);
        }
        number_ += line.empty() ? 0 : 1;
        return !line.empty();
    }
    /// "FILE: line 3".
    [[nodiscard]] std::string where() const { return path_ + ": line " + std::to_string(number_); }

  private:
    std::FILE* file_;
    const std::string path_;
    std::int64_t number_ = 0;
};

bool is_blank(const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; }

SeedWriter::Outcome<seed::Seed> seed_of_line(const Lines& lines, const std::string& line) {
    auto seed = seed::read_seed_line(line);
    if (!seed) {
        return wrong(lines.where(), seed.error().text());
    }
    return std::move(*seed);
}

/// Reads JSON lines once without an effect, so that a mistake in the last line, or a topic that exists, leaves the cluster as it
/// is.
SeedWriter::Outcome<void> check_lines(const std::string& path, SeedWriter& writer) {
    const File file = open_file(path);
    if (!file) {
        return unread(path);
    }
    Lines lines(file.get(), path);
    std::vector<seed::SeedTopic> topics;
    std::string line;
    while (true) {
        PARTITA_TRY_ASSIGN(const bool has_line, lines.next(line));
        if (!has_line) {
            return writer.check(topics);
        }
        if (is_blank(line)) {
            continue;
        }
        PARTITA_TRY_ASSIGN(auto seed, seed_of_line(lines, line));
        if (topics.size() + seed.topics.size() > kWaitingMax) {
            return wrong(lines.where(), "more than " + std::to_string(kWaitingMax) + " topics");
        }
        std::ranges::move(seed.topics, std::back_inserter(topics));
    }
}

SeedWriter::Outcome<void> write_records(const seed::Seed& seed, SeedWriter& writer) {
    for (const auto& record : seed.records) {
        PARTITA_TRY(std::visit([&](const auto& one) { return writer.write(one); }, record));
    }
    return {};
}

SeedWriter::Outcome<void> write_lines(const std::string& path, SeedWriter& writer) {
    if (path != "-") {
        PARTITA_TRY(check_lines(path, writer));
    }
    const File file = open_file(path);
    if (!file) {
        return unread(path);
    }
    Lines lines(file.get(), path == "-" ? "the standard input" : path);
    std::vector<seed::SeedCommit> commits;
    std::string line;
    while (true) {
        PARTITA_TRY_ASSIGN(const bool has_line, lines.next(line));
        if (!has_line) {
            break;
        }
        if (is_blank(line)) {
            continue;
        }
        PARTITA_TRY_ASSIGN(auto seed, seed_of_line(lines, line));
        auto written = writer.create(seed.topics);
        if (written) {
            written = write_records(seed, writer);
        }
        if (!written) {
            return std::unexpected(SeedFailure{written.error().exit_code, lines.where() + ": " + written.error().message});
        }
        if (commits.size() + seed.commits.size() > kWaitingMax) {
            return wrong(lines.where(), "more than " + std::to_string(kWaitingMax) + " offsets of groups");
        }
        std::ranges::move(seed.commits, std::back_inserter(commits));
    }
    PARTITA_TRY(writer.flush());
    return writer.commit(commits);
}

SeedWriter::Outcome<seed::Seed> whole_seed(const std::string& path) {
    const auto text = read_text_file(path, seed::kSeedLimits.bytes_max);
    if (!text) {
        return std::unexpected(SeedFailure{kExitUsage, text.error() + "; JSON lines (--format json-lines) may be longer"});
    }
    auto seed = seed::read_seed(*text);
    if (!seed) {
        return wrong(path, seed.error().text());
    }
    return std::move(*seed);
}

std::int64_t records_of(const seed::Seed& seed) {
    std::int64_t count = 0;
    for (const auto& record : seed.records) {
        const auto* generator = std::get_if<seed::SeedGenerator>(&record);
        count += generator == nullptr ? 1 : generator->count;
    }
    return count;
}

bool is_json_lines(const CommandLine& line) {
    const std::string path = line.value("FILE");
    const std::string format = line.value("format");
    return format == "json-lines" || (format == "auto" && (path.ends_with(".jsonl") || path.ends_with(".ndjson")));
}

int report(const SeedFailure& failure) {
    std::fprintf(stderr, "partita: %s\n", failure.message.c_str());
    return failure.exit_code;
}

int run_seed_command(const CommandLine& line) {
    const std::string path = line.value("FILE");
    const bool has_lines = is_json_lines(line);
    seed::Seed whole;
    if (!has_lines) {
        auto read = whole_seed(path);
        if (!read) {
            return report(read.error());
        }
        whole = std::move(*read);
    }
    auto settings = client_settings_of(kafka_place_of(line), "partita-seed");
    if (!settings) {
        return refuse(settings.error());
    }
    ProgressLine progress(!line.has("quiet"));
    settings->tell = [&](const std::string& text) {
        progress.clear();
        std::fprintf(stderr, "partita: %s; trying again\n", text.c_str());
    };
    client::TcpNetwork network;
    client::Cluster cluster(network, std::move(*settings));
    const std::string existing = line.value("existing");
    const std::int64_t total = records_of(whole);
    const Instant began = network.clock().now().monotonic;
    SeedWriter writer(cluster,
                      existing == "skip"     ? ExistingTopics::skip
                      : existing == "append" ? ExistingTopics::append
                                             : ExistingTopics::refuse,
                      [&](std::int64_t records, std::uint64_t bytes) {
                          if (!has_lines) {
                              show_share(progress, records, total);
                          } else if (progress.is_due()) {
                              progress.show(tools::progress_text(records, bytes, network.clock().now().monotonic - began));
                          }
                      });
    const auto done = has_lines ? write_lines(path, writer) : write_seed(writer, whole);
    progress.clear();
    if (!done) {
        return report(done.error());
    }
    std::printf("%s\n", writer.summary().c_str());
    return std::fflush(stdout) == 0 ? kExitDone : kExitBroken;
}

constexpr tools::Option kSeedPositionals[] = {
    {.name = "FILE", .argument = "", .help = "the file; - for standard input", .is_required = true},
};
constexpr tools::Option kSeedOptions[] = {
    kBootstrapServer,
    kClientConfig,
    kClientProperty,
    {.name = "format",
     .argument = "format",
     .help = "read YAML (JSON is YAML), or JSON lines; auto: JSON lines from a file named *.jsonl or *.ndjson",
     .default_value = "auto",
     .choices = "auto yaml json-lines"},
    {.name = "existing",
     .argument = "action",
     .help = "refuse a seed with a topic that exists, skip that topic, or append to it",
     .default_value = "refuse",
     .choices = "refuse skip append"},
    {.name = "quiet", .argument = "", .help = "show no progress"},
    kHelp,
};

}  // namespace

constinit const Command kSeedCommand{
    .name = "seed",
    .summary = "fill a cluster with topics, records and offsets of groups from a file",
    .purpose = "Create topics, write records and commit offsets of groups, as a file says, in any cluster. See docs/seed.md.",
    .options = kSeedOptions,
    .positionals = kSeedPositionals,
    .run = run_seed_command};

}  // namespace partita::cli
