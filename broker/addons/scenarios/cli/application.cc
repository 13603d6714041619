#include "broker/addons/scenarios/cli/application.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "protocol/try.h"

namespace partita::scenarios {
namespace {

using nlohmann::ordered_json;

/// Reads what a pipe has; closes it at its end.
void read_all(FileDescriptor& descriptor, std::string& text) {
    char piece[16 * 1024];
    while (descriptor.is_open()) {
        const ssize_t got = ::read(descriptor.get(), piece, sizeof piece);
        if (got > 0) {
            text.append(piece, static_cast<std::size_t>(got));
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            descriptor.reset();
        } else if (errno == EAGAIN) {
            return;
        }
    }
}

}  // namespace

std::optional<Report> report_of(std::string_view text, std::string_view topic) {
    if (text.empty() || text.front() != '{') {
        return std::nullopt;
    }
    const auto json = ordered_json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("partition") || !json.contains("offset")) {
        return std::nullopt;
    }
    const ordered_json& partition = json["partition"];
    const ordered_json& offset = json["offset"];
    const bool is_of_topic = !json.contains("topic") || json["topic"] == topic;
    if (!is_of_topic || !partition.is_number_integer() || !offset.is_number_integer()) {
        return std::nullopt;
    }
    return Report{.partition = partition.get<std::int32_t>(), .offset = offset.get<std::int64_t>()};
}

std::expected<Instance, std::string> Instance::start(const Application& application, const std::string& command,
                                                     std::int32_t number, const std::vector<std::string>& environment,
                                                     bool shows_output) {
    PARTITA_TRY_ASSIGN(auto output, make_pipe());
    PARTITA_TRY_ASSIGN(auto errors, make_pipe());
    // SIGTERM goes to the shell, too. It waits for the program that it runs, which may have to leave its group; a shell that died
    // at once would end the whole process group.
    PARTITA_TRY_ASSIGN(auto process, Process::start({.words = {"sh", "-c", "trap 'exit $?' TERM\n" + command},
                                                     .environment = environment,
                                                     .output = output.in.get(),
                                                     .errors = errors.in.get(),
                                                     .signal_of_death = SIGKILL}));
    // Only our ends: the program expects ends that wait.
    ::fcntl(output.out.get(), F_SETFL, O_NONBLOCK);
    ::fcntl(errors.out.get(), F_SETFL, O_NONBLOCK);
    const bool has_reports = application.reports == Reports::standard_output;
    return Instance(std::move(process), std::move(output.out), std::move(errors.out), number,
                    has_reports ? application.topic : std::string(), shows_output);
}

void Instance::keep(std::string_view text) {
    if (shows_output_) {
        std::fwrite(text.data(), 1, text.size(), stderr);
    }
    last_words_ += text;
    if (last_words_.size() > kLastWordsBytesMax) {
        last_words_.erase(0, last_words_.size() - kLastWordsBytesMax);
    }
}

std::vector<Report> Instance::read(std::int64_t round) {
    std::string text;
    read_all(errors_, text);
    keep(text);
    text.clear();
    read_all(output_, text);
    std::vector<Report> reports;
    for (const char letter : text) {
        line_ += letter;
        if (letter != '\n' && line_.size() < kLineBytesMax) {
            continue;
        }
        auto report = topic_.empty() ? std::nullopt : report_of(line_, topic_);
        if (report) {
            report->instance = number_;
            report->round = round;
            reports.push_back(*report);
        } else {
            keep(line_);
        }
        line_.clear();
    }
    return reports;
}

}  // namespace partita::scenarios
