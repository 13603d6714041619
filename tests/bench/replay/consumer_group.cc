#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "protocol/messages/68_consumer_group_heartbeat.h"
#include "tests/bench/replay/coordinator.h"
#include "tests/bench/replay/measure.h"
#include "tests/bench/replay/modes.h"
#include "tests/bench/replay/wire.h"

namespace partita::bench {
namespace {

constexpr std::int16_t kHeartbeatVersion = 1;
constexpr std::int32_t kRebalanceTimeoutMs = 60'000;
constexpr std::int32_t kJoiningEpoch = 0;
constexpr std::int32_t kLeavingEpoch = -1;

struct Reader {
    Connection connection;
    std::string id;
    std::int32_t epoch = kJoiningEpoch;
    Uuid topic_id{};
    std::vector<std::int32_t> partitions;
    /// The latest assignment differs from the partitions that the reader last reported.
    bool owes_answer = false;
    bool in_group = false;
    bool waits = false;
};

/// A group whose members have separate connections. A member sends its next heartbeat when the last one is answered, until the
/// group is settled: all members are in one epoch, and each partition has one owner. This shows the limit of the coordinator;
/// real members come as often as heartbeat.interval.ms says.
class Readers {
  public:
    Readers(const Settings& settings, std::string id)
        : id_(std::move(id)), topic_(settings.topic), partitions_(static_cast<std::size_t>(settings.partitions)) {
        for (int i = 0; i < settings.members; ++i) {
            readers_.push_back({.connection = Connection(settings.port), .id = member_id(i), .partitions = {}});
            waits_.push_back({readers_.back().connection.descriptor(), POLLIN, 0});
        }
    }

    [[nodiscard]] std::size_t size() const { return readers_.size(); }

    void join(std::size_t first, std::size_t count) {
        for (std::size_t i = first; i < first + count; ++i) {
            readers_[i].in_group = true;
            readers_[i].epoch = kJoiningEpoch;
            readers_[i].partitions.clear();
            send_heartbeat(readers_[i]);
        }
        settle();
    }

    void leave(std::size_t first, std::size_t count) {
        for (std::size_t i = first; i < first + count; ++i) {
            readers_[i].in_group = false;
            readers_[i].epoch = kLeavingEpoch;
            readers_[i].partitions.clear();
            send_heartbeat(readers_[i]);
        }
        settle();
    }

  private:
    static std::string member_id(int number) {
        char text[40];
        std::snprintf(text, sizeof text, "00000000-0000-4000-8000-%012d", number);
        return text;
    }

    void send_heartbeat(Reader& reader) {
        ConsumerGroupHeartbeatRequest request{.group_id = id_, .member_id = reader.id, .member_epoch = reader.epoch};
        std::string_view topic = topic_;
        ConsumerGroupHeartbeatRequest::TopicPartitions owned{.topic_id = reader.topic_id, .partitions = reader.partitions};
        if (reader.epoch == kJoiningEpoch) {
            request.rebalance_timeout_ms = kRebalanceTimeoutMs;
            request.subscribed_topic_names = {&topic, 1};
        }
        if (reader.epoch != kLeavingEpoch && (reader.owes_answer || reader.epoch == kJoiningEpoch)) {
            request.topic_partitions = {&owned, std::size_t{reader.partitions.empty() ? 0u : 1u}};
            reader.owes_answer = false;
        }
        reader.connection.send(request_frame(kHeartbeatVersion, request));
        reader.waits = true;
    }

    void read_answer(Reader& reader) {
        const auto& answer =
            reader.connection.read<ConsumerGroupHeartbeatResponse, ConsumerGroupHeartbeatRequest>(kHeartbeatVersion);
        reader.waits = false;
        if (answer.error_code != ErrorCode::none) {
            give_up("ConsumerGroupHeartbeat answered error " + std::to_string(static_cast<int>(answer.error_code)));
        }
        if (!reader.in_group) {
            return;
        }
        reader.epoch = answer.member_epoch;
        newest_epoch_ = std::max(newest_epoch_, answer.member_epoch);
        if (answer.assignment == nullptr) {
            return;
        }
        reader.partitions.clear();
        for (const auto& topic : answer.assignment->topic_partitions) {
            reader.topic_id = topic.topic_id;
            reader.partitions.assign(topic.partitions.begin(), topic.partitions.end());
        }
        reader.owes_answer = true;
    }

    [[nodiscard]] bool is_settled() const {
        std::size_t owned = 0;
        std::size_t members = 0;
        for (const Reader& reader : readers_) {
            if (reader.waits) {
                return false;
            }
            if (!reader.in_group) {
                continue;
            }
            if (reader.epoch != newest_epoch_ || reader.owes_answer) {
                return false;
            }
            owned += reader.partitions.size();
            ++members;
        }
        return members == 0 || owned == partitions_;
    }

    void settle() {
        while (true) {
            for (Reader& reader : readers_) {
                if (reader.in_group && !reader.waits && reader.epoch != kJoiningEpoch) {
                    send_heartbeat(reader);
                }
            }
            while (std::any_of(readers_.begin(), readers_.end(), [](const Reader& reader) { return reader.waits; })) {
                if (::poll(waits_.data(), waits_.size(), -1) < 0) {
                    give_up("poll failed");
                }
                for (std::size_t i = 0; i < readers_.size(); ++i) {
                    if ((waits_[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
                        read_answer(readers_[i]);
                    }
                }
            }
            if (is_settled()) {
                return;
            }
        }
    }

    std::string id_;
    std::string topic_;
    std::size_t partitions_;
    std::vector<Reader> readers_;
    std::vector<pollfd> waits_;
    std::int32_t newest_epoch_ = 0;
};

double timed_ms(const auto& action) {
    const std::int64_t began_ns = now_ns();
    action();
    return static_cast<double>(now_ns() - began_ns) / 1e6;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

}  // namespace

void consumer_group(const Settings& settings) {
    if (settings.members < 2) {
        give_up("a group of at least 2 members is needed");
    }
    const std::string id = "bench-consumers-" + std::to_string(now_ns());
    Connection asking(settings.port);
    wait_for_coordinator(asking, id);
    Readers readers(settings, id);
    std::vector<double> form_ms;
    std::vector<double> join_ms;
    std::vector<double> leave_ms;
    const Usage before = Usage::of(settings.pid);
    for (int round = 0; round < settings.rounds; ++round) {
        form_ms.push_back(timed_ms([&] { readers.join(0, readers.size()); }));
        leave_ms.push_back(timed_ms([&] { readers.leave(readers.size() - 1, 1); }));
        join_ms.push_back(timed_ms([&] { readers.join(readers.size() - 1, 1); }));
        readers.leave(0, readers.size());
    }
    Report report("consumer_group");
    report.add("members", settings.members);
    report.add("form_ms", median(form_ms));
    report.add("join_ms", median(join_ms));
    report.add("leave_ms", median(leave_ms));
    report.add_usage(before, settings.pid, 0);
    report.print();
}

}  // namespace partita::bench
