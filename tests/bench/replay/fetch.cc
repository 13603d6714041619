#include "tests/bench/replay/batches.h"
#include "tests/bench/replay/measure.h"
#include "tests/bench/replay/modes.h"
#include "tests/bench/replay/wire.h"

namespace partita::bench {
namespace {

constexpr std::int32_t kMaxWaitMs = 500;

/// Reads partition 0 from offset 0 on, one request at a time. The partition must hold whole batches of one size, as `produce`
/// makes them, so that the next offset follows from the number of bytes.
class Reader {
  public:
    Reader(const Settings& settings, const EncodedBatch& batch)
        : settings_(settings),
          batch_bytes_(batch.bytes.size()),
          batch_records_(batch.records),
          connection_(settings.port),
          // The head of an answer for one topic and partition; the kernel throws the records away.
          head_(4 + 4 + 4 + 2 + settings.topic.size() + 4 + 4 + 2 + 8 + 8 + 4 + 4) {
        connection_.set_fill_bytes(head_.size() + 4);
    }

    [[nodiscard]] bool is_at_end() const { return is_at_end_; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    [[nodiscard]] std::uint64_t requests() const { return static_cast<std::uint64_t>(requests_); }

    void ask() {
        Frame frame(1, 4);
        frame.put(std::int32_t{-1});
        frame.put(kMaxWaitMs);
        frame.put(std::int32_t{1});
        frame.put(static_cast<std::int32_t>(settings_.fetch_bytes));
        frame.put(std::int8_t{0});
        frame.put(std::int32_t{1});
        frame.put_string(settings_.topic);
        frame.put(std::int32_t{1});
        frame.put(std::int32_t{0});
        frame.put(offset_);
        frame.put(static_cast<std::int32_t>(settings_.fetch_bytes));
        connection_.send(frame.finish(requests_));
    }

    void read() {
        const auto size = static_cast<std::size_t>(connection_.receive_number<std::int32_t>());
        connection_.receive(head_.data(), head_.size());
        if (load_big_endian<std::int32_t>(head_.data()) != requests_) {
            give_up("an answer belongs to another request");
        }
        const std::byte* end = head_.data() + head_.size();
        const auto error = load_big_endian<std::int16_t>(end - 26);
        const auto record_bytes = load_big_endian<std::int32_t>(end - 4);
        if (error != 0) {
            give_up("Fetch answered error " + std::to_string(error));
        }
        if (load_big_endian<std::int32_t>(end - 8) > 0 || record_bytes < 0 ||
            size != head_.size() + static_cast<std::size_t>(record_bytes)) {
            give_up("an answer of a shape that was not asked for");
        }
        connection_.discard(static_cast<std::size_t>(record_bytes));
        offset_ += static_cast<std::int64_t>(static_cast<std::size_t>(record_bytes) / batch_bytes_) * batch_records_;
        bytes_ += static_cast<std::uint64_t>(record_bytes);
        ++requests_;
        is_at_end_ = record_bytes == 0;
    }

  private:
    const Settings& settings_;
    std::size_t batch_bytes_;
    std::int32_t batch_records_;
    Connection connection_;
    std::vector<std::byte> head_;
    std::int64_t offset_ = 0;
    std::uint64_t bytes_ = 0;
    std::int32_t requests_ = 0;
    bool is_at_end_ = false;
};

}  // namespace

void fetch(const Settings& settings) {
    const EncodedBatch batch = make_batch(settings, 0);
    std::vector<Reader> readers;
    readers.reserve(static_cast<std::size_t>(settings.connections));
    for (int i = 0; i < settings.connections; ++i) {
        readers.emplace_back(settings, batch);
    }
    const std::uint64_t enough = settings.megabytes * 1'000'000;
    const auto is_done = [&](const Reader& reader) { return reader.is_at_end() || reader.bytes() >= enough; };
    const Usage before = Usage::of(settings.pid);
    const auto began = SteadyClock::now();
    for (Reader& reader : readers) {
        reader.ask();
    }
    for (bool any = true; any;) {
        any = false;
        for (Reader& reader : readers) {
            if (is_done(reader)) {
                continue;
            }
            reader.read();
            if (is_done(reader)) {
                continue;
            }
            reader.ask();
            any = true;
        }
    }
    const double seconds = seconds_since(began);
    double bytes = 0;
    double requests = 0;
    for (const Reader& reader : readers) {
        bytes += static_cast<double>(reader.bytes());
        requests += static_cast<double>(reader.requests());
    }
    if (bytes < static_cast<double>(enough) * settings.connections) {
        give_up("the topic has less than was to be read");
    }
    Report report("fetch");
    report.add("bytes", bytes);
    report.add("requests", requests);
    report.add("seconds", seconds);
    report.add("mb_per_s", bytes / 1e6 / seconds);
    report.add_usage(before, settings.pid, bytes / 1e9);
    report.print();
}

}  // namespace partita::bench
