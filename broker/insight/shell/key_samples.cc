#include "broker/insight/shell/key_samples.h"

#include <algorithm>
#include <string>
#include <utility>

#include "protocol/record_batch.h"
#include "schedule/executor.h"

namespace partita::insight {

void KeySamples::offer(const SentBatch& sent, const SendingClient& client) {
    if (sent.batch.size() > kBatchBytesMax) {
        return;
    }
    const bool is_assured = take_assured(sent);
    if (!is_assured && (takes_assured_only_.load(std::memory_order_relaxed) || is_left_out(sent.topic))) {
        return;
    }
    const auto parsed = parse_batch(sent.batch);
    if (!parsed || parsed->header.attributes.is_control()) {
        return;
    }
    // Reserve first: without room, nothing is copied.
    const auto records = static_cast<std::size_t>(std::max(0, parsed->header.record_count));
    if (!reserve(sent.batch.size(), records, is_assured)) {
        return;
    }
    auto taken = BatchSample::take(*parsed);
    if (!taken) {
        give_back(sent.batch.size(), records);
        undecodable_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    // From here on the real size counts. With very small records it exceeds the size of their batch.
    bytes_.fetch_add(taken->size_bytes(), std::memory_order_relaxed);
    records_.fetch_add(taken->record_count(), std::memory_order_relaxed);
    give_back(sent.batch.size(), records);
    const bool is_idempotent = parsed->header.producer_id.value >= 0;
    enter({.topic = sent.topic,
           .partition = sent.partition,
           .producer = {.connection = is_idempotent ? kNoConnection : client.connection,
                        .client_id = std::string(client.client_id),
                        .address = std::string(client.address),
                        .software_name = std::string(client.software_name),
                        .software_version = std::string(client.software_version),
                        .principal = std::string(client.principal),
                        .producer_id = is_idempotent ? parsed->header.producer_id : kNoProducerId,
                        .port = is_idempotent ? std::uint16_t{0} : client.port},
           .connection = client.connection,
           .time = sent.time,
           .batch = std::move(*taken),
           .is_assured = is_assured});
}

bool KeySamples::take_assured(const SentBatch& sent) {
    // Reactors that take at the same time may take a little more, which does no harm.
    const auto bytes = static_cast<std::uint32_t>(sent.batch.size());
    std::atomic<std::uint32_t>& share = assured_[slot_of(sent.topic)];
    const std::uint32_t taken = share.load(std::memory_order_relaxed);
    const std::uint32_t taken_by_all = assured_all_.load(std::memory_order_relaxed);
    if (taken + bytes > kAssuredBytes || taken_by_all + bytes > kAssuredBytesAll) {
        return false;
    }
    share.store(taken + bytes, std::memory_order_relaxed);
    assured_all_.store(taken_by_all + bytes, std::memory_order_relaxed);
    return true;
}

void KeySamples::renew_assured_shares() {
    for (auto& share : assured_) {
        share.store(0, std::memory_order_relaxed);
    }
    assured_all_.store(0, std::memory_order_relaxed);
}

void KeySamples::enter(KeySample sample) {
    Worker* to_wake = nullptr;
    {
        const MutexLock lock(mutex_);
        if (samples_.size() >= kBatchesMax) {
            give_back(sample.batch.size_bytes(), sample.batch.record_count());
            gate_.set(false);
            return;
        }
        samples_.push_back(std::move(sample));
        taken_.fetch_add(1, std::memory_order_release);
        if (std::exchange(is_asleep_, false)) {
            to_wake = observer_;
        }
    }
    if (to_wake != nullptr) {
        to_wake->wake();
    }
}

void KeySamples::connection_closed(ConnectionId connection) {
    const MutexLock lock(mutex_);
    if (closed_.size() < kClosedMax) {
        closed_.push_back(connection);
    }
}

void KeySamples::set_observer(Worker& observer) {
    const MutexLock lock(mutex_);
    observer_ = &observer;
}

void KeySamples::end() {
    const MutexLock lock(mutex_);
    has_ended_ = true;
    is_asleep_ = false;
    // Close the gate within the lock, because `set_gate` opens it under the same lock and could otherwise reopen it.
    gate_.set(false);
}

KeySamples::Waiting KeySamples::take() {
    Waiting waiting;
    {
        const MutexLock lock(mutex_);
        waiting.samples.swap(samples_);
        waiting.closed.swap(closed_);
    }
    for (const KeySample& sample : waiting.samples) {
        waiting.bytes += sample.batch.size_bytes();
        waiting.records += sample.batch.record_count();
    }
    give_back(waiting.bytes, waiting.records);
    return waiting;
}

void KeySamples::set_gate(bool may_open, bool has_credit, std::size_t records_max) {
    records_max_.store(records_max, std::memory_order_relaxed);
    const MutexLock lock(mutex_);
    const bool has_room = records_.load(std::memory_order_relaxed) < records_max / 2 &&
                          bytes_.load(std::memory_order_relaxed) < kBytesMax / 2 && samples_.size() < kBatchesMax / 2;
    takes_assured_only_.store(!has_credit || !has_room, std::memory_order_relaxed);
    gate_.set(may_open && !has_ended_ && samples_.size() < kBatchesMax);
}

bool KeySamples::may_sleep() {
    const MutexLock lock(mutex_);
    is_asleep_ = samples_.empty() && !has_ended_ && observer_ != nullptr;
    return samples_.empty();
}

void KeySamples::clear_intervals() {
    for (auto& interval : intervals_) {
        interval.store(0, std::memory_order_relaxed);
    }
}

void KeySamples::set_interval(const TopicRef& topic, std::uint8_t interval) {
    std::atomic<std::uint8_t>& slot = intervals_[slot_of(topic)];
    const std::uint8_t present = slot.load(std::memory_order_relaxed);
    slot.store(present == 0 ? interval : std::min(present, interval), std::memory_order_relaxed);
}

bool KeySamples::is_left_out(const TopicRef& topic) {
    const std::size_t slot = slot_of(topic);
    const std::uint8_t interval = intervals_[slot].load(std::memory_order_relaxed);
    if (interval <= 1) {
        return false;
    }
    // Reactors that count at the same time sometimes lose a count, which does no harm.
    const auto count = static_cast<std::uint8_t>(counters_[slot].load(std::memory_order_relaxed) + 1);
    counters_[slot].store(count, std::memory_order_relaxed);
    return count % interval != 0;
}

bool KeySamples::reserve(std::size_t bytes, std::size_t records, bool is_assured) {
    const std::size_t bytes_before = bytes_.fetch_add(bytes, std::memory_order_relaxed);
    const std::size_t records_before = records_.fetch_add(records, std::memory_order_relaxed);
    // One batch always finds room if nothing waits, and so do the assured shares, which are bounded.
    if (records_before == 0 || is_assured ||
        (bytes_before + bytes <= kBytesMax && records_before + records <= records_max_.load(std::memory_order_relaxed))) {
        return true;
    }
    give_back(bytes, records);
    takes_assured_only_.store(true, std::memory_order_relaxed);
    return false;
}

void KeySamples::give_back(std::size_t bytes, std::size_t records) {
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    records_.fetch_sub(records, std::memory_order_relaxed);
}

}  // namespace partita::insight
