#include <poll.h>

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/crc32c.h"
#include "tests/bench/replay/batches.h"
#include "tests/bench/replay/coordinator.h"
#include "tests/bench/replay/measure.h"
#include "tests/bench/replay/modes.h"
#include "tests/bench/replay/wire.h"

namespace partita::bench {
namespace {

constexpr std::uint64_t kBytesOfDifferentRequests = 64'000'000;  // More than any cache holds.
constexpr std::size_t kAttributesPosition = 21;
constexpr std::size_t kCrcPosition = 17;
constexpr std::size_t kProducerIdPosition = 43;
constexpr std::size_t kEpochPosition = 51;
constexpr std::size_t kSequencePosition = 53;
constexpr std::string_view kTransactionalId = "replay";
constexpr std::int16_t kTransactionalAttributes = 0x10;

/// Requests that take turns, with what is needed to check answers and to number the batches of an idempotent producer.
struct Requests {
    struct BatchPlace {
        std::size_t position = 0;
        std::size_t bytes = 0;
        int partition = 0;
        std::int32_t records = 0;
    };
    struct Request {
        Frame frame{0, 7};
        std::vector<BatchPlace> batches;
    };
    std::vector<Request> all;
    std::uint64_t bytes_each = 0;
    std::uint64_t records_each = 0;
};

Requests encode_requests(const Settings& settings) {
    Requests requests;
    int partition = 0;
    for (std::uint64_t held = 0; held < kBytesOfDifferentRequests || partition != 0; held += requests.bytes_each) {
        Requests::Request& request = requests.all.emplace_back();
        Frame& frame = request.frame;
        if (settings.transactional) {
            frame.put_string(kTransactionalId);
        } else {
            frame.put(std::int16_t{-1});
        }
        frame.put(std::int16_t{-1});
        frame.put(std::int32_t{30000});
        frame.put(std::int32_t{1});
        frame.put_string(settings.topic);
        frame.put(static_cast<std::int32_t>(settings.batches_per_request));
        requests.bytes_each = requests.records_each = 0;
        for (int i = 0; i < settings.batches_per_request; ++i) {
            const EncodedBatch batch = make_batch(settings, requests.all.size() * 1000 + static_cast<std::uint64_t>(i));
            frame.put(static_cast<std::int32_t>(partition));
            frame.put(static_cast<std::int32_t>(batch.bytes.size()));
            request.batches.push_back({frame.size(), batch.bytes.size(), partition, batch.records});
            frame.put_raw(batch.bytes);
            partition = (partition + 1) % settings.partitions;
            requests.bytes_each += batch.bytes.size();
            requests.records_each += static_cast<std::uint64_t>(batch.records);
        }
    }
    return requests;
}

/// One producer: a connection, what is under way on it, and its numbering when it is idempotent.
class Producer {
  public:
    Producer(const Settings& settings, std::size_t first_request)
        : connection_(settings.port), next_request_(first_request), sequences_(static_cast<std::size_t>(settings.partitions)) {
        if (settings.idempotent) identity_ = new_producer(connection_);
        if (!settings.transactional) return;
        if (settings.connections > 1) give_up("there is one producer with a transactional id");
        transactions_.emplace(connection_, std::string(kTransactionalId));
        identity_ = transactions_->producer();
        transactions_->begin(connection_, settings.topic, settings.partitions);
    }

    [[nodiscard]] int descriptor() const { return connection_.descriptor(); }
    [[nodiscard]] std::size_t in_flight() const { return sent_at_ns_.size(); }
    [[nodiscard]] bool has_buffered() const { return connection_.has_buffered(); }

    /// False while the transaction is full and not all of it was answered. Ends a full one.
    [[nodiscard]] bool may_send(const Settings& settings) {
        if (!transactions_ || in_transaction_bytes_ < settings.transaction_bytes) return true;
        if (in_flight() > 0) return false;
        end_transaction();
        transactions_->begin(connection_, settings.topic, settings.partitions);
        return true;
    }
    void end_transaction() {
        if (transactions_) transactions_->commit(connection_);
        in_transaction_bytes_ = 0;
    }

    void send_next(Requests& requests) {
        in_transaction_bytes_ += requests.bytes_each;
        Requests::Request& request = requests.all[next_request_ % requests.all.size()];
        ++next_request_;
        if (identity_.id >= 0) number(request);
        const Bytes frame = request.frame.finish(next_correlation_id_++);
        sent_at_ns_.push_back(now_ns());
        connection_.send(frame);
    }

    void read_answer(int batches, Latencies& latencies) {
        const std::vector<std::byte>& body = connection_.receive_answer(next_answer_id_++);
        latencies.add(now_ns() - sent_at_ns_.front());
        sent_at_ns_.pop_front();
        const std::byte* at = body.data();
        if (load_big_endian<std::int32_t>(at) != 1) give_up("Produce answered for another number of topics");
        at += 4;
        at += 2 + load_big_endian<std::int16_t>(at);
        if (load_big_endian<std::int32_t>(at) != batches) give_up("Produce answered for another number of partitions");
        at += 4;
        constexpr std::size_t kPartitionBytes = 4 + 2 + 8 + 8 + 8;
        for (int i = 0; i < batches; ++i, at += kPartitionBytes) {
            if (const auto error = load_big_endian<std::int16_t>(at + 4); error != 0) {
                give_up("Produce answered error " + std::to_string(error));
            }
        }
    }

  private:
    void number(Requests::Request& request) {
        for (const Requests::BatchPlace& place : request.batches) {
            std::byte* batch = request.frame.data() + place.position;
            std::int32_t& sequence = sequences_[static_cast<std::size_t>(place.partition)];
            if (transactions_) store_big_endian(batch + kAttributesPosition, kTransactionalAttributes);
            store_big_endian(batch + kProducerIdPosition, identity_.id);
            store_big_endian(batch + kEpochPosition, identity_.epoch);
            store_big_endian(batch + kSequencePosition, sequence);
            sequence += place.records;
            store_big_endian(batch + kCrcPosition, crc32c(Bytes(batch + kAttributesPosition, place.bytes - kAttributesPosition)));
        }
    }

    Connection connection_;
    std::size_t next_request_;
    std::vector<std::int32_t> sequences_;
    ProducerIdentity identity_;
    std::optional<Transactions> transactions_;
    std::uint64_t in_transaction_bytes_ = 0;
    std::int32_t next_correlation_id_ = 0;
    std::int32_t next_answer_id_ = 0;
    std::deque<std::int64_t> sent_at_ns_;
};

}  // namespace

void produce(const Settings& settings) {
    Requests requests = encode_requests(settings);
    const std::uint64_t wanted =
        settings.requests > 0 ? settings.requests : settings.megabytes * 1'000'000 / requests.bytes_each + 1;
    std::vector<Producer> producers;
    std::vector<pollfd> waits;
    for (int i = 0; i < settings.connections; ++i) {
        // Each producer starts elsewhere, so that they do not all write to the same partition at once.
        producers.emplace_back(
            settings, requests.all.size() * static_cast<std::size_t>(i) / static_cast<std::size_t>(settings.connections));
        waits.push_back({producers.back().descriptor(), POLLIN, 0});
    }
    Latencies latencies(wanted);
    touch_memory(settings.touch_megabytes);
    const Usage before = Usage::of(settings.pid);
    const auto began = SteadyClock::now();
    std::uint64_t sent = 0;
    const auto fill_window = [&](Producer& producer) {
        if (settings.bursts && producer.in_flight() > 0) return;
        while (sent < wanted && producer.in_flight() < static_cast<std::size_t>(settings.in_flight) &&
               producer.may_send(settings)) {
            producer.send_next(requests);
            ++sent;
        }
    };
    for (Producer& producer : producers) fill_window(producer);
    while (latencies.count() < wanted) {
        if (settings.connections > 1 && ::poll(waits.data(), waits.size(), -1) < 0) give_up("poll failed");
        for (std::size_t i = 0; i < producers.size(); ++i) {
            const bool is_ready = settings.connections == 1 || (waits[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
            if (!is_ready || producers[i].in_flight() == 0) continue;
            do {
                producers[i].read_answer(settings.batches_per_request, latencies);
                fill_window(producers[i]);
            } while (producers[i].has_buffered() && producers[i].in_flight() > 0);
        }
    }
    for (Producer& producer : producers) producer.end_transaction();
    const double seconds = seconds_since(began);
    const auto bytes = static_cast<double>(wanted * requests.bytes_each);
    const auto records = static_cast<double>(wanted * requests.records_each);
    Report report("produce");
    report.add("bytes", bytes);
    report.add("seconds", seconds);
    report.add("mb_per_s", bytes / 1e6 / seconds);
    report.add("records_per_s", records / seconds);
    report.add("acks_per_s", static_cast<double>(wanted) / seconds);
    report.add_percentiles("ack", latencies);
    report.add_usage(before, settings.pid, bytes / 1e9);
    report.print();
}

}  // namespace partita::bench
