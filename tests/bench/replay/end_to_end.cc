#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "protocol/record_batch.h"
#include "protocol/record_batch_builder.h"
#include "tests/bench/replay/measure.h"
#include "tests/bench/replay/modes.h"
#include "tests/bench/replay/wire.h"

namespace partita::bench {
namespace {

constexpr std::size_t kMaxRecordsPerBatch = 5000;
constexpr std::int32_t kMaxWaitMs = 500;
constexpr std::size_t kDueTimeBytes = 8;
constexpr std::int16_t kUnknownTopicOrPartition = 3;
constexpr std::int16_t kNotLeaderOrFollower = 6;

/// The times at which records are due, from `start_ns` on.
struct Schedule {
    std::int64_t start_ns = 0;
    double interval_ns = 0;
    std::uint64_t warmup_records = 0;
    std::uint64_t records = 0;

    [[nodiscard]] std::int64_t due_ns(std::uint64_t record) const {
        return start_ns + static_cast<std::int64_t>(interval_ns * static_cast<double>(record));
    }
};

/// Sends every record as soon as it is due. Records that became due in the meantime go together, as from a client with
/// linger.ms=0. At most `in_flight` requests are unanswered.
void send_on_schedule(const Settings& settings, const Schedule& schedule) {
    Connection connection(settings.port);
    std::string value(std::max(settings.record_bytes, kDueTimeBytes), 'v');
    BatchBuilder builder;
    std::vector<std::byte> batch;
    std::int32_t sent = 0;
    std::int32_t answered = 0;
    const auto read_answer = [&] {
        const std::vector<std::byte>& body = connection.receive_answer(answered++);
        const std::size_t error_at = 4 + 2 + settings.topic.size() + 4 + 4;
        if (body.size() < error_at + 2 || load_big_endian<std::int16_t>(body.data() + error_at) != 0) {
            give_up("Produce answered an error");
        }
    };
    for (std::uint64_t next = 0; next < schedule.records;) {
        // Sleeps until shortly before the time and spins the rest: a timer alone is late by its slack of 50 us.
        const std::int64_t wait_ns = schedule.due_ns(next) - now_ns();
        if (wait_ns > 80'000) {
            std::this_thread::sleep_for(std::chrono::nanoseconds(wait_ns - 60'000));
        }
        while (now_ns() < schedule.due_ns(next)) {
        }
        while (sent - answered >= settings.in_flight || connection.has_buffered()) {
            read_answer();
        }
        const std::int64_t now = now_ns();
        const auto wall =
            std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
        do {
            const std::int64_t due = schedule.due_ns(next);
            std::memcpy(value.data(), &due, sizeof due);
            builder.append({wall.count()}, std::nullopt, std::as_bytes(std::span(value)));
            ++next;
        } while (next < schedule.records && schedule.due_ns(next) <= now &&
                 static_cast<std::size_t>(builder.record_count()) < kMaxRecordsPerBatch);
        batch.clear();
        builder.build(batch);
        Frame frame(0, 7);
        frame.put(std::int16_t{-1});
        frame.put(std::int16_t{-1});
        frame.put(std::int32_t{30000});
        frame.put(std::int32_t{1});
        frame.put_string(settings.topic);
        frame.put(std::int32_t{1});
        frame.put(std::int32_t{0});
        frame.put(static_cast<std::int32_t>(batch.size()));
        frame.put_raw(batch);
        connection.send(frame.finish(sent++));
    }
    while (answered < sent) {
        read_answer();
    }
}

void receive_all(const Settings& settings, const Schedule& schedule, Latencies& latencies) {
    Connection connection(settings.port);
    std::int64_t offset = 0;
    // No transaction is aborted, and null takes the same room as an empty array.
    const std::size_t head_bytes = 4 + 4 + 2 + settings.topic.size() + 4 + 4 + 2 + 8 + 8 + 4 + 4;
    for (std::int32_t requests = 0; static_cast<std::uint64_t>(offset) < schedule.records; ++requests) {
        Frame frame(1, 4);
        frame.put(std::int32_t{-1});
        frame.put(kMaxWaitMs);
        frame.put(std::int32_t{1});
        frame.put(static_cast<std::int32_t>(settings.fetch_bytes));
        frame.put(std::int8_t{settings.read_committed});
        frame.put(std::int32_t{1});
        frame.put_string(settings.topic);
        frame.put(std::int32_t{1});
        frame.put(std::int32_t{0});
        frame.put(offset);
        frame.put(static_cast<std::int32_t>(settings.fetch_bytes));
        connection.send(frame.finish(requests));
        const std::vector<std::byte>& body = connection.receive_answer(requests);
        const std::int64_t arrived_ns = now_ns();
        if (body.size() < head_bytes) {
            give_up("Fetch answered something else");
        }
        const auto error = load_big_endian<std::int16_t>(body.data() + head_bytes - 26);
        // A broker that applies its metadata in the background may not lead the partition yet.
        if (offset == 0 && (error == kUnknownTopicOrPartition || error == kNotLeaderOrFollower)) {
            continue;
        }
        if (error != 0) {
            give_up("Fetch answered error " + std::to_string(error));
        }
        BatchCursor cursor(Bytes(body).subspan(head_bytes));
        while (cursor.next()) {
            const auto read = for_each_record(cursor.batch(), RecordReaderOptions{}, [&](const RecordView& record) {
                std::int64_t due_ns = 0;
                if (!record.value || record.value->size() < sizeof due_ns) {
                    give_up("a record that was not sent");
                }
                std::memcpy(&due_ns, record.value->data(), sizeof due_ns);
                if (static_cast<std::uint64_t>(offset++) >= schedule.warmup_records) {
                    latencies.add(arrived_ns - due_ns);
                }
            });
            if (!read) {
                give_up("a batch that cannot be read");
            }
        }
    }
}

}  // namespace

void end_to_end(const Settings& settings) {
    if (settings.rate_per_s == 0) {
        give_up("--rate must be above 0");
    }
    const double rate = static_cast<double>(settings.rate_per_s);
    Schedule schedule;
    schedule.interval_ns = 1e9 / rate;
    schedule.warmup_records = static_cast<std::uint64_t>(rate * settings.warmup_seconds);
    schedule.records = schedule.warmup_records + static_cast<std::uint64_t>(rate * settings.seconds);
    schedule.start_ns = now_ns() + 50'000'000;  // Both threads are connected by then.
    Latencies latencies(schedule.records);
    touch_memory(settings.touch_megabytes);
    const Usage before = Usage::of(settings.pid);
    std::thread receiver([&] { receive_all(settings, schedule, latencies); });
    send_on_schedule(settings, schedule);
    receiver.join();
    Report report("end_to_end");
    report.add("rate_per_s", rate);
    report.add("records", static_cast<double>(latencies.count()));
    report.add_percentiles("latency", latencies);
    report.add_usage(before, settings.pid, static_cast<double>(schedule.records * settings.record_bytes) / 1e9);
    report.print();
}

}  // namespace partita::bench
