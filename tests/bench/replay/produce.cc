#include <poll.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/crc32c.h"
#include "protocol/messages/00_produce.h"
#include "tests/bench/replay/batches.h"
#include "tests/bench/replay/coordinator.h"
#include "tests/bench/replay/measure.h"
#include "tests/bench/replay/modes.h"
#include "tests/bench/replay/wire.h"

namespace partita::bench {
namespace {

constexpr std::uint64_t kBytesOfDifferentRequests = 64'000'000;  // More than any cache holds.
constexpr std::size_t kSmallBytes = 100;
constexpr std::size_t kAttributesPosition = 21;
constexpr std::size_t kCrcPosition = 17;
constexpr std::size_t kProducerIdPosition = 43;
constexpr std::size_t kEpochPosition = 51;
constexpr std::size_t kSequencePosition = 53;
constexpr std::int16_t kProduceVersion = 7;
constexpr int kMaxTransactionalProducers = 10;  // One letter tells them apart.
constexpr std::int16_t kTransactionalAttributes = 0x10;

/// Requests that take turns, with what is needed to number the batches of an idempotent producer.
struct Requests {
    struct BatchPlace {
        std::size_t position = 0;
        std::size_t bytes = 0;
        int partition = 0;
        std::int32_t records = 0;
    };
    struct Request {
        std::vector<std::byte> frame;
        std::vector<BatchPlace> batches;
    };
    std::vector<Request> all;
    std::int16_t version = kProduceVersion;
    /// Position of the last letter of the transactional id, which says whose request it is; 0 without such an id.
    std::size_t producer_position = 0;
    std::uint64_t bytes_each = 0;
    std::uint64_t records_each = 0;
};

std::size_t position_of(Bytes part, const std::vector<std::byte>& frame, std::size_t from) {
    const auto found = std::search(frame.begin() + static_cast<std::ptrdiff_t>(from), frame.end(), part.begin(), part.end());
    if (found == frame.end()) {
        give_up("a frame without what it was made of");
    }
    return static_cast<std::size_t>(found - frame.begin());
}

std::vector<std::byte> produce_frame(const Settings& settings, const std::optional<std::string_view>& transactional_id,
                                     std::int16_t version, Array<ProduceRequest::PartitionProduceData> data) {
    ProduceRequest::TopicProduceData topic{.name = settings.topic, .partition_data = data};
    ProduceRequest request;
    request.transactional_id = transactional_id;
    request.acks = -1;
    request.timeout_ms = 30'000;
    request.topic_data = Array<ProduceRequest::TopicProduceData>(&topic, 1);
    return request_frame(version, request);
}

Requests encode_requests(const Settings& settings, const std::optional<Transactions>& transactions) {
    Requests requests;
    if (transactions) {
        requests.version = transactions->produce_version();
    }
    int partition = 0;
    for (std::uint64_t held = 0; held < kBytesOfDifferentRequests || partition != 0; held += requests.bytes_each) {
        Requests::Request& request = requests.all.emplace_back();
        std::vector<EncodedBatch> batches;
        std::vector<ProduceRequest::PartitionProduceData> data;
        requests.bytes_each = requests.records_each = 0;
        for (int i = 0; i < settings.batches_per_request; ++i) {
            const EncodedBatch& batch =
                batches.emplace_back(make_batch(settings, requests.all.size() * 1000 + static_cast<std::uint64_t>(i)));
            request.batches.push_back({0, batch.bytes.size(), partition, batch.records});
            data.push_back({.index = partition, .records = Records(Bytes(batch.bytes))});
            partition = (partition + 1) % settings.partitions;
            requests.bytes_each += batch.bytes.size();
            requests.records_each += static_cast<std::uint64_t>(batch.records);
        }
        request.frame =
            produce_frame(settings, transactions ? std::optional(transactions->id()) : std::nullopt, requests.version, data);
        std::size_t from = 0;  // The batches are in the frame as they are, one behind the other.
        for (std::size_t i = 0; i < batches.size(); ++i) {
            request.batches[i].position = from = position_of(batches[i].bytes, request.frame, from);
        }
    }
    if (transactions) {
        requests.producer_position =
            position_of(std::as_bytes(std::span(transactions->id())), requests.all[0].frame, 0) + transactions->id().size() - 1;
    }
    return requests;
}

/// One small record.
std::vector<std::byte> encode_small_request(Settings settings) {
    settings.batches_per_request = 1;
    settings.record_bytes = settings.batch_bytes = kSmallBytes;
    const EncodedBatch batch = make_batch(settings, 0);
    ProduceRequest::PartitionProduceData data{.index = 0, .records = Records(Bytes(batch.bytes))};
    return produce_frame(settings, std::nullopt, kProduceVersion, Array<ProduceRequest::PartitionProduceData>(&data, 1));
}

void check(const ProduceResponse& answer, std::size_t batches) {
    if (answer.responses.size != 1) {
        give_up("Produce answered for another number of topics");
    }
    const auto& partitions = answer.responses[0].partition_responses;
    if (std::cmp_not_equal(partitions.size, batches)) {
        give_up("Produce answered for another number of partitions");
    }
    for (const auto& partition : partitions) {
        if (partition.error_code != ErrorCode::none) {
            give_up("Produce answered error " + std::to_string(static_cast<int>(partition.error_code)));
        }
    }
}

/// One producer: a connection, its pending requests, and its numbering when it is idempotent.
class Producer {
  public:
    Producer(const Settings& settings, int number)
        : connection_(settings.port), sequences_(static_cast<std::size_t>(settings.partitions)) {
        connection_.look_before_sleeping();
        if (settings.idempotent) {
            identity_ = new_producer(connection_);
        }
        if (settings.transaction_rhythm) {
            small_request_ = encode_small_request(settings);
        }
        if (!settings.transactional) {
            return;
        }
        if (settings.connections > kMaxTransactionalProducers) {
            give_up("too many producers with a transactional id");
        }
        transactions_.emplace(connection_, "replay-" + std::to_string(number));
        identity_ = transactions_->producer();
        transactions_->begin(connection_, settings.topic, settings.partitions);
    }

    [[nodiscard]] const std::optional<Transactions>& transactions() const { return transactions_; }
    void start_with(std::size_t request) { next_request_ = request; }
    [[nodiscard]] int descriptor() const { return connection_.descriptor(); }
    [[nodiscard]] std::size_t in_flight() const { return sent_at_ns_.size(); }
    [[nodiscard]] bool has_buffered() const { return connection_.has_buffered(); }

    /// False while the transaction is full and some of it is unanswered, and while it ends. Ends a full transaction. With the
    /// first protocol the call waits for the further requests, and all producers of the caller stand still meanwhile.
    [[nodiscard]] bool may_send(const Settings& settings) {
        if (!transactions_ && small_request_.empty()) {
            return true;
        }
        if (in_transaction_bytes_ < settings.transaction_bytes) {
            return true;
        }
        if (in_flight() > 0) {
            return false;
        }
        if (!transactions_ || transactions_->is_second_protocol()) {
            send_end();
            return false;
        }
        transactions_->commit(connection_);
        in_transaction_bytes_ = 0;
        transactions_->begin(connection_, settings.topic, settings.partitions);
        return true;
    }
    /// Call it when all records were answered.
    void finish() {
        if (is_ending_) {
            read_end();
        }
        if (transactions_ && in_transaction_bytes_ > 0) {
            transactions_->commit(connection_);
        }
    }

    void send_next(Requests& requests) {
        in_transaction_bytes_ += requests.bytes_each;
        Requests::Request& request = requests.all[next_request_ % requests.all.size()];
        ++next_request_;
        if (transactions_) {
            request.frame[requests.producer_position] = static_cast<std::byte>(transactions_->id().back());
        }
        if (identity_.id >= 0) {
            number(request);
        }
        set_correlation_id(request.frame, next_correlation_id_++);
        sent_at_ns_.push_back(now_ns());
        connection_.send(request.frame);
    }

    /// Reads one answer: to records, or to the end of a transaction.
    void read_answer(const Requests& requests, Latencies& latencies) {
        if (is_ending_) {
            return read_end();
        }
        const auto& answer = connection_.read<ProduceResponse, ProduceRequest>(requests.version, next_answer_id_++);
        latencies.add(now_ns() - sent_at_ns_.front());
        sent_at_ns_.pop_front();
        check(answer, requests.all.front().batches.size());
    }

  private:
    void send_end() {
        const std::int32_t id = next_correlation_id_++;
        if (transactions_) {
            transactions_->send_commit(connection_, id);
        } else {
            set_correlation_id(small_request_, id);
            connection_.send(small_request_);
        }
        sent_at_ns_.push_back(now_ns());
        is_ending_ = true;
    }
    void read_end() {
        sent_at_ns_.pop_front();
        is_ending_ = false;
        in_transaction_bytes_ = 0;
        const std::int32_t id = next_answer_id_++;
        if (!transactions_) {
            return check(connection_.read<ProduceResponse, ProduceRequest>(kProduceVersion, id), 1);
        }
        transactions_->read_commit(connection_, id);
        identity_ = transactions_->producer();
        std::ranges::fill(sequences_, 0);
    }

    void number(Requests::Request& request) {
        for (const Requests::BatchPlace& place : request.batches) {
            std::byte* batch = request.frame.data() + place.position;
            std::int32_t& sequence = sequences_[static_cast<std::size_t>(place.partition)];
            if (transactions_) {
                store_big_endian(batch + kAttributesPosition, kTransactionalAttributes);
            }
            store_big_endian(batch + kProducerIdPosition, identity_.id);
            store_big_endian(batch + kEpochPosition, identity_.epoch);
            store_big_endian(batch + kSequencePosition, sequence);
            sequence += place.records;
            store_big_endian(batch + kCrcPosition, crc32c(Bytes(batch + kAttributesPosition, place.bytes - kAttributesPosition)));
        }
    }

    Connection connection_;
    std::size_t next_request_ = 0;
    std::vector<std::int32_t> sequences_;
    ProducerIdentity identity_;
    std::optional<Transactions> transactions_;
    std::uint64_t in_transaction_bytes_ = 0;
    std::vector<std::byte> small_request_;  ///< Takes the place of the end of a transaction; empty: none.
    bool is_ending_ = false;
    std::int32_t next_correlation_id_ = 0;
    std::int32_t next_answer_id_ = 0;
    std::deque<std::int64_t> sent_at_ns_;
};

}  // namespace

void produce(const Settings& settings) {
    std::vector<Producer> producers;
    std::vector<pollfd> waits;
    for (int i = 0; i < settings.connections; ++i) {
        producers.emplace_back(settings, i);
        waits.push_back({producers.back().descriptor(), POLLIN, 0});
    }
    Requests requests = encode_requests(settings, producers.front().transactions());
    const std::uint64_t wanted =
        settings.requests > 0 ? settings.requests : settings.megabytes * 1'000'000 / requests.bytes_each + 1;
    for (std::size_t i = 0; i < producers.size(); ++i) {
        // Each producer starts at another request, so that they do not all write to the same partition at once.
        producers[i].start_with(requests.all.size() * i / producers.size());
    }
    Latencies latencies(wanted);
    touch_memory(settings.touch_megabytes);
    const Usage before = Usage::of(settings.pid);
    const auto began = SteadyClock::now();
    std::uint64_t sent = 0;
    const auto fill_window = [&](Producer& producer) {
        if (settings.bursts && producer.in_flight() > 0) {
            return;
        }
        while (sent < wanted && producer.in_flight() < static_cast<std::size_t>(settings.in_flight) &&
               producer.may_send(settings)) {
            producer.send_next(requests);
            ++sent;
        }
    };
    for (Producer& producer : producers) {
        fill_window(producer);
    }
    while (latencies.count() < wanted) {
        if (settings.connections > 1) {
            wait_for_answers(waits);
        }
        for (std::size_t i = 0; i < producers.size(); ++i) {
            const bool is_ready = settings.connections == 1 || (waits[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
            if (!is_ready || producers[i].in_flight() == 0) {
                continue;
            }
            do {
                producers[i].read_answer(requests, latencies);
                fill_window(producers[i]);
            } while (producers[i].has_buffered() && producers[i].in_flight() > 0);
        }
    }
    for (Producer& producer : producers) {
        producer.finish();
    }
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
