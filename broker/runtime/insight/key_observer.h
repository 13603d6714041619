#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "broker/config/current_config.h"
#include "broker/expansion/batch_sample.h"
#include "broker/expansion/detection.h"
#include "broker/runtime/findings/findings_hub.h"
#include "broker/runtime/partitions/topic_table.h"
#include "protocol/mutex.h"
#include "schedule/executor.h"

namespace partita::runtime {

class Connections;
class OwnChanges;
class PublishedTopics;
struct ClientConnection;

/// Looks at what producers send, beside the threads that serve them. Reactors copy the keys of produced batches (of a
/// compressed batch all of it) into a queue. A thread of its own looks at them, decompressing if need be, and settles the
/// findings that follow on the broker's board.
///
/// The thread has a budget of processor time: `partita.detection.processor.percent` of what the whole broker uses. It may save
/// up to `kBurstNs` and spend that at once, so that with little traffic it sees every record, and with much traffic a sample.
///
/// A topic is settled when all its producers are known, none of them is stale, and it is not compacted: then only a change
/// would be news, and any sample shows a change. A topic that is new or has grown is not settled, from its first batch on. When
/// all topics are settled, the budget is divided by `kSettledDivisor` and the savings are limited to `kSettledBurstNs`. While
/// some are not settled and the budget is short, one batch in `kQuietInterval` of a settled topic is taken. A batch that is not
/// looked at costs the producer's request one load and one branch.
class KeyObserver {
  public:
    static constexpr std::int64_t kBurstNs = 10'000'000;
    static constexpr double kSettledDivisor = 5;
    static constexpr std::int64_t kSettledBurstNs = 2'000'000;
    /// Larger batches are not looked at.
    static constexpr std::size_t kBatchBytesMax = std::size_t{1} << 20;
    /// What may wait in the queue; more is not taken, except one batch into an empty queue. The number of records is also limited
    /// to what the budget pays for, because a copy that nobody looks at is of no use.
    static constexpr std::size_t kQueueBytesMax = std::size_t{8} << 20;
    static constexpr std::size_t kQueueBatchesMax = 4096;
    static constexpr std::size_t kQueueRecordsMax = 100'000;
    /// How many ends of connections may wait to be noted. A further one is not noted: its producer just falls silent.
    static constexpr std::size_t kClosedMax = 16'384;
    /// For how many producers of a topic the processes are asked at a time.
    static constexpr std::size_t kProcessesMax = 16;
    /// How many records may wait before the thread knows what one costs. It is more than it takes to know a topic's producers.
    static constexpr std::size_t kFirstQueueRecords = 10'000;
    /// After how many records the thread looks again whether all topics are settled.
    static constexpr std::size_t kRecordsPerLook = 2'000;
    static constexpr std::uint8_t kQuietInterval = 16;
    /// How often the thread looks at the queue while there is traffic, how often it settles findings, and how often it does so
    /// without any traffic, for conditions that come about with time.
    static constexpr std::int64_t kCollectMs = 50;
    static constexpr std::int64_t kSettleMs = 1000;
    static constexpr std::int64_t kIdleMs = 5000;

    /// What it finds goes to two places: findings to the hub, and switches of producers to a new count to the epoch log of their
    /// topic, which is a change of the catalog.
    struct Outlets {
        FindingsHub& findings;
        OwnChanges& changes;
    };
    KeyObserver(const config::CurrentConfig& config, const PublishedTopics& topics, Connections& connections,
                const Outlets& outlets, const Schedule& schedule);
    ~KeyObserver();

    /// Starts the thread. Batches are taken while `partita.detection.enable` is true.
    void start();
    /// Ends the worker after its present batch. Nothing is offered any more.
    void stop();

    /// True when a batch may be offered now. Costs one load.
    [[nodiscard]] bool is_open() const { return is_open_.load(std::memory_order_relaxed); }
    /// Takes a copy of a staged batch, or not. Any reactor may call this. It does not matter that the write of the batch can
    /// still fail, because the producer did send it.
    void offer(const TopicState& topic, PartitionIndex partition, const ClientConnection& client, std::string_view client_id,
               Bytes batch, TimestampMs now);

    /// Notes that a connection which produced has ended. Any reactor may call this.
    void connection_closed(expansion::ConnectionId connection);

    /// Batches that were ever taken, and of these the ones that were looked at or dropped, first come first served. A batch is
    /// taken before anybody can read it.
    [[nodiscard]] std::uint64_t batches_taken() const { return taken_.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint64_t batches_done() const { return done_.load(std::memory_order_acquire); }

    /// What is known of a topic's producers. Empty when nothing is.
    [[nodiscard]] std::vector<expansion::ProducerReport> producers(const TopicId& topic) const;
    /// Calls `look` with the watch of the topic, or with null if it has none. The thread observes nothing meanwhile.
    template <class Look>
    auto with_watch(const TopicId& topic, Look look) const {
        const MutexLock lock(detection_mutex_);
        return look(detection_.find(topic));
    }

    struct Statistics {
        std::uint64_t batches = 0;
        std::uint64_t records = 0;
        std::uint64_t bytes = 0;
        /// Batches that could not be read to their end.
        std::uint64_t undecodable = 0;
        /// The thread's processor time.
        std::uint64_t busy_ns = 0;
        std::size_t topics = 0;
        std::size_t producers = 0;
        std::size_t keys = 0;
    };
    [[nodiscard]] Statistics statistics() const;

  private:
    struct Sample {
        topics::TopicPointer topic;
        PartitionIndex partition;
        expansion::ProducerIdentity producer;
        TimestampMs time;
        expansion::BatchSample batch;
    };
    struct Watched {
        bool changed = false;
        bool has_findings = false;
    };

    [[nodiscard]] Instant step();
    /// When the next step is due, unless a sample wakes it before.
    [[nodiscard]] Instant rest(Instant now);
    void work(Now now);
    /// Looks at samples as long as the budget lasts. Returns how many records it saw.
    [[nodiscard]] std::size_t observe(const std::vector<Sample>& samples, TimestampMs now);
    [[nodiscard]] std::size_t observe(const Sample& sample);
    /// Finds out which topics are settled, and sets `is_curious_` and the intervals accordingly.
    void look_for_curiosity(const TopicTable& table, TimestampMs now);
    void note_closed(const std::vector<expansion::ConnectionId>& closed);
    /// For a topic that has grown: asks for the processes of its producers, and tells the watch those that are known.
    void note_processes(const topics::Topic& topic, expansion::TopicWatch& watch);
    void settle(Now now);
    void settle_topic(const TopicId& id, const TopicTable& table, Watched& watched, Now now);
    void record_switches(const TopicId& id, const std::vector<expansion::CountSwitch>& switches);
    void set_interval(const TopicState& topic, bool is_settled);
    void refill(std::int64_t now_ns);
    void update_gate();
    /// Reserves room in the queue. False when there is none; then it has closed the gate.
    [[nodiscard]] bool reserve(std::size_t bytes, std::size_t records);
    void give_back(std::size_t bytes, std::size_t records);
    [[nodiscard]] static std::size_t slot_of(const TopicId& topic) { return topic.bytes[14]; }

    const config::CurrentConfig& config_;
    const PublishedTopics& topics_;
    Connections& connections_;
    const Outlets outlets_;
    const Schedule schedule_;
    std::unique_ptr<Worker> worker_;

    std::atomic<bool> is_open_ = false;
    /// One batch in so many is taken, by a topic's slot. Of topics that share a slot, one that is not settled decides.
    static constexpr std::size_t kSlots = 256;
    std::array<std::atomic<std::uint8_t>, kSlots> intervals_{};
    std::array<std::atomic<std::uint8_t>, kSlots> counters_{};

    /// Room is reserved before a batch is copied, as if all of it were copied.
    std::atomic<std::size_t> queue_bytes_ = 0;
    std::atomic<std::size_t> queue_records_ = 0;
    std::atomic<std::size_t> queue_records_max_ = kFirstQueueRecords;

    std::atomic<std::uint64_t> taken_ = 0;
    std::atomic<std::uint64_t> done_ = 0;

    Mutex queue_mutex_{LockRank::key_queue};
    std::vector<Sample> queue_ GUARDED_BY(queue_mutex_);
    std::vector<expansion::ConnectionId> closed_ GUARDED_BY(queue_mutex_);
    bool stopping_ GUARDED_BY(queue_mutex_) = false;
    bool is_asleep_ GUARDED_BY(queue_mutex_) = false;

    // Of the steps; the watches are looked at by others.
    mutable Mutex detection_mutex_{LockRank::key_detection};
    expansion::Detection detection_ GUARDED_BY(detection_mutex_);

    // Of the steps alone.
    std::map<TopicId, Watched> watched_;
    std::int64_t credit_ns_ = kBurstNs;
    /// Some topic is not settled, or none is known yet.
    bool is_curious_ = true;
    /// When false, the thread looks at every record, whatever it costs.
    bool has_budget_ = true;
    /// What looking at a record has cost lately.
    double record_cost_ns_ = 300;
    std::int64_t refilled_ns_ = 0;
    std::int64_t process_ns_ = 0;
    Instant next_settle_{};
    int quiet_rounds_ = 0;

    std::atomic<std::uint64_t> batches_ = 0;
    std::atomic<std::uint64_t> records_ = 0;
    std::atomic<std::uint64_t> bytes_ = 0;
    std::atomic<std::uint64_t> undecodable_ = 0;
    std::atomic<std::uint64_t> busy_ns_ = 0;
};

}  // namespace partita::runtime
