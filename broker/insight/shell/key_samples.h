#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "broker/insight/facts/topics.h"
#include "broker/insight/keys/batch_sample.h"
#include "broker/insight/keys/detection.h"
#include "broker/logs/step_switch.h"
#include "protocol/mutex.h"

namespace partita {
class Worker;
}

namespace partita::insight {

/// A batch that a producer sent. Reactors do not offer batches of Kafka's internal topics.
struct SentBatch {
    TopicRef topic;
    PartitionIndex partition;
    Bytes batch;
    TimestampMs time;
};

/// The sending client, as texts of the connection: nothing is copied unless the batch is taken.
struct SendingClient {
    ConnectionId connection;
    std::uint16_t port = 0;
    std::string_view client_id;
    std::string_view address;
    std::string_view software_name;
    std::string_view software_version;
    /// "User:alice"; empty if the client did not have to authenticate.
    std::string_view principal;
};

/// A produced batch with the facts about its producer.
struct KeySample {
    TopicRef topic;
    PartitionIndex partition;
    ProducerIdentity producer;
    ConnectionId connection;
    TimestampMs time;
    BatchSample batch;
    /// It is within its topic's assured share (see KeySamples), so the observer looks at it even without credit.
    bool is_assured = false;
};

/// The samples of produced batches that wait for the observer of keys. Reactors offer batches while its gate is open. The
/// observer takes the waiting samples, and opens and closes the gate.
///
/// Each topic has an assured share: the first `kAssuredBytes` of its batches in a round are taken although the observer has no
/// credit, as long as all topics together take no more than `kAssuredBytesAll`. So a busy topic does not hide quiet ones, which
/// cost nearly nothing.
///
/// Thread-safe; the observer's part is for one thread at a time.
class KeySamples {
  public:
    /// Larger batches are not taken.
    static constexpr std::size_t kBatchBytesMax = std::size_t{1} << 20;
    /// Most bytes that may wait. Beyond that no batch is taken, except one if nothing waits. `set_gate` also limits the records.
    static constexpr std::size_t kBytesMax = std::size_t{8} << 20;
    static constexpr std::size_t kBatchesMax = 4096;
    static constexpr std::uint32_t kAssuredBytes = std::uint32_t{32} << 10;
    static constexpr std::uint32_t kAssuredBytesAll = std::uint32_t{1} << 20;
    /// Most ends of connections that may wait. A further one is lost: its producer just seems to fall silent.
    static constexpr std::size_t kClosedMax = 16'384;

    // Any reactor ------------------------------------------------------------------------------------

    /// True if a batch may be offered now. Costs one load.
    [[nodiscard]] bool is_open() const { return gate_.is_on(); }
    [[nodiscard]] logs::StepSwitch& gate() { return gate_; }
    /// Copies the needed part of a staged batch (see BatchSample), or leaves it out. The write of the batch can still fail; that
    /// does not matter, because the producer did send it.
    void offer(const SentBatch& sent, const SendingClient& client);
    /// Notes the end of a connection that produced.
    void connection_closed(ConnectionId connection);

    /// Number of batches ever taken. A batch is taken before any client can read it.
    [[nodiscard]] std::uint64_t taken() const { return taken_.load(std::memory_order_acquire); }
    /// Batches that could not be copied because they are damaged.
    [[nodiscard]] std::uint64_t undecodable() const { return undecodable_.load(std::memory_order_relaxed); }

    // The observer -----------------------------------------------------------------------------------

    /// Sets the worker that a sample wakes while it sleeps. Call it before the gate opens; the worker must outlive the last
    /// offer.
    void set_observer(Worker& observer);
    /// Closes the gate for good.
    void end();

    struct Waiting {
        std::vector<KeySample> samples;
        std::vector<ConnectionId> closed;
        /// The sums over all samples.
        std::size_t bytes = 0;
        std::size_t records = 0;
    };
    /// Takes everything that waits.
    [[nodiscard]] Waiting take();
    /// Opens the gate if `may_open`, and closes it otherwise. Beyond the assured shares it takes batches only if `has_credit` and
    /// there is room. `records_max`: most records that may wait from now on. No batch is taken before the first call.
    void set_gate(bool may_open, bool has_credit, std::size_t records_max);
    /// Begins a round: each topic has its assured share again.
    void renew_assured_shares();
    /// The observer wants to sleep until the next sample. True if nothing waits; the next sample then wakes it.
    [[nodiscard]] bool may_sleep();

    /// Takes one in `interval` of a topic's batches until the topic grows; without this call, every batch. Topics share places in
    /// a table. The smallest interval that was set in a place since `clear_intervals` counts for all of them.
    void clear_intervals();
    void set_interval(const TopicRef& topic, std::uint8_t interval);

  private:
    static constexpr std::size_t kSlots = 256;
    /// Each growth has another place: the interval of a quiet topic must not hide the first records after it has grown.
    [[nodiscard]] static std::size_t slot_of(const TopicRef& topic) { return (topic.id.bytes[14] + topic.growths) % kSlots; }
    [[nodiscard]] bool is_left_out(const TopicRef& topic);
    /// Takes the batch's bytes from the assured share of its topic. False if that is used up.
    [[nodiscard]] bool take_assured(const SentBatch& sent);
    /// Reserves room. False if there is not enough; then only assured batches are taken until the next `set_gate`.
    [[nodiscard]] bool reserve(std::size_t bytes, std::size_t records, bool is_assured);
    void give_back(std::size_t bytes, std::size_t records);
    void enter(KeySample sample);

    logs::StepSwitch gate_;
    std::array<std::atomic<std::uint8_t>, kSlots> intervals_{};
    std::array<std::atomic<std::uint8_t>, kSlots> counters_{};
    std::array<std::atomic<std::uint32_t>, kSlots> assured_{};
    std::atomic<std::uint32_t> assured_all_ = 0;
    /// Only assured batches are taken.
    std::atomic<bool> takes_assured_only_ = false;

    /// Room is reserved before a batch is copied, for the size of the whole batch.
    std::atomic<std::size_t> bytes_ = 0;
    std::atomic<std::size_t> records_ = 0;
    std::atomic<std::size_t> records_max_ = 0;
    std::atomic<std::uint64_t> taken_ = 0;
    std::atomic<std::uint64_t> undecodable_ = 0;

    Mutex mutex_{LockRank::key_queue};
    Worker* observer_ GUARDED_BY(mutex_) = nullptr;
    std::vector<KeySample> samples_ GUARDED_BY(mutex_);
    std::vector<ConnectionId> closed_ GUARDED_BY(mutex_);
    bool has_ended_ GUARDED_BY(mutex_) = false;
    bool is_asleep_ GUARDED_BY(mutex_) = false;
};

}  // namespace partita::insight
