#include <deque>
#include <string>

#include "protocol/messages/08_offset_commit.h"
#include "tests/bench/replay/coordinator.h"
#include "tests/bench/replay/measure.h"
#include "tests/bench/replay/modes.h"
#include "tests/bench/replay/wire.h"

namespace partita::bench {
namespace {

constexpr std::int16_t kVersion = 6;

std::string group_id_of(int group) { return "bench-group-" + std::to_string(group); }

std::vector<std::byte> commit_frame(const Settings& settings, int group, std::int64_t offset) {
    const std::string group_id = group_id_of(group);
    std::vector<OffsetCommitRequest::Partition> partitions(static_cast<std::size_t>(settings.partitions));
    for (int i = 0; i < settings.partitions; ++i) {
        partitions[static_cast<std::size_t>(i)] = {.partition_index = i, .committed_offset = offset};
    }
    OffsetCommitRequest::Topic topic{.name = settings.topic, .partitions = partitions};
    OffsetCommitRequest request{.group_id = group_id, .topics = {&topic, 1}};
    return request_frame(kVersion, request);
}

}  // namespace

void offset_commits(const Settings& settings) {
    std::vector<std::vector<std::byte>> frames;
    for (int group = 0; group < settings.groups; ++group) {
        frames.push_back(commit_frame(settings, group, 1000 + group));
    }
    Connection connection(settings.port);
    for (int group = 0; group < settings.groups; ++group) {
        wait_for_coordinator(connection, group_id_of(group));
    }
    // The first commit of a group creates it; the measurement needs a group that exists.
    std::uint64_t wanted = settings.requests > 0 ? settings.requests : 20 * frames.size();
    Latencies latencies(wanted);
    std::deque<std::int64_t> sent_at_ns;
    std::int32_t sent = 0;
    std::int32_t answered = 0;
    const auto read_answer = [&] {
        const std::vector<std::byte>& body = connection.receive_answer(answered++);
        latencies.add(now_ns() - sent_at_ns.front());
        sent_at_ns.pop_front();
        // Throttle time, one topic with its name, then the partitions with their errors.
        const std::size_t partitions_at = 4 + 4 + 2 + settings.topic.size() + 4;
        if (body.size() != partitions_at + 6 * static_cast<std::size_t>(settings.partitions)) {
            give_up("a wrong answer");
        }
        for (std::size_t at = partitions_at; at < body.size(); at += 6) {
            if (const auto error = load_big_endian<std::int16_t>(body.data() + at + 4); error != 0) {
                give_up("OffsetCommit answered error " + std::to_string(error));
            }
        }
    };
    const auto commit_all = [&](std::uint64_t count) {
        const std::int32_t end = sent + static_cast<std::int32_t>(count);
        while (answered < end) {
            while (sent < end && sent - answered < settings.in_flight) {
                std::vector<std::byte>& frame = frames[static_cast<std::size_t>(sent) % frames.size()];
                set_correlation_id(frame, sent++);
                sent_at_ns.push_back(now_ns());
                connection.send(frame);
            }
            read_answer();
        }
    };
    commit_all(frames.size());
    latencies = Latencies(wanted);
    touch_memory(settings.touch_megabytes);
    const Usage before = Usage::of(settings.pid);
    const auto began = SteadyClock::now();
    commit_all(wanted);
    const double seconds = seconds_since(began);
    Report report("offset_commits");
    report.add("commits_per_s", static_cast<double>(wanted) / seconds);
    report.add("offsets_per_s", static_cast<double>(wanted) * settings.partitions / seconds);
    report.add_percentiles("commit", latencies);
    report.add_usage(before, settings.pid, 0);
    report.print();
}

}  // namespace partita::bench
