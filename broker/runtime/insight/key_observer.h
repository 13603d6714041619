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

class Catalog;
class Connections;
class FailureLog;
class PublishedTopics;
class Turns;
struct ClientConnection;

/// Looks at what producers send, aside of the threads that serve them: the keys of produced batches (of compressed ones the
/// batch) are copied into a queue, a thread of its own looks at them (decompressing if need be), and settles the findings
/// that follow on the broker's board.
///
/// It has a budget of processor time, `partita.detection.processor.percent` of what the whole broker uses; what is saved may be spent at
/// once, up to `kBurstNs`. So with little traffic every record is seen, and with much a sample. A topic is settled when its producers
/// are all known, none of them is stale, and it is not compacted: then only a change could be news, and any sample shows
/// it. When all topics are settled, which is asked while samples are looked at, the budget is a `kSettledDivisor`-th of that and
/// `kSettledBurstNs`; when it gets short while others are not, one batch in `kQuietInterval` of a settled topic is enough. A
/// topic that is new or grew is not settled from its first batch on. A batch that is not looked at costs its producer's request one load and one branch.
class KeyObserver {
  public:
    static constexpr std::int64_t kBurstNs = 10'000'000;
    static constexpr double kSettledDivisor = 5;
    static constexpr std::int64_t kSettledBurstNs = 2'000'000;
    /// Larger batches are not looked at.
    static constexpr std::size_t kBatchBytesMax = std::size_t{1} << 20;
    /// What waits in the queue at most, more is not taken; and of records what the budget pays for, since a copy that is not
    /// looked at helps nobody.
    static constexpr std::size_t kQueueBytesMax = std::size_t{8} << 20;
    static constexpr std::size_t kQueueBatchesMax = 4096;
    static constexpr std::size_t kQueueRecordsMax = 100'000;
    /// Ends of connections that wait to be noted. Of one beyond it the producer falls silent instead.
    static constexpr std::size_t kClosedMax = 16'384;
    /// Producers of a topic whose processes are asked for at a time.
    static constexpr std::size_t kProcessesMax = 16;
    /// Before it is known what a record costs: more than it takes to know a topic's producers.
    static constexpr std::size_t kFirstQueueRecords = 10'000;
    /// Records between two questions whether all topics are settled.
    static constexpr std::size_t kRecordsPerLook = 2'000;
    static constexpr std::uint8_t kQuietInterval = 16;
    /// How often the queue is looked at while there is traffic, how often findings are settled, and how often
    /// without any traffic, for conditions that time brings about.
    static constexpr std::int64_t kCollectMs = 50;
    static constexpr std::int64_t kSettleMs = 1000;
    static constexpr std::int64_t kIdleMs = 5000;

    struct Surroundings {
        const config::CurrentConfig& config;
        const PublishedTopics& topics;
        Turns& turns;
        Catalog& catalog;
        Connections& connections;
        FailureLog& failures;
        Schedule schedule;
    };
    KeyObserver(const Surroundings& surroundings, FindingsHub& findings);
    ~KeyObserver();

    /// Begins when the settings allow it.
    void start();
    /// Ends the worker after its present batch. Nothing is offered any more.
    void stop();

    /// Whether a batch may be offered now. One load.
    [[nodiscard]] bool is_open() const { return is_open_.load(std::memory_order_relaxed); }
    /// A batch that was staged: takes a copy, or not. From any reactor. That its write can still fail does not matter: the
    /// producer did send it.
    void offer(const TopicState& topic, PartitionIndex partition, const ClientConnection& client, std::string_view client_id,
               Bytes batch, TimestampMs now);

    /// A connection that produced has ended. From any reactor.
    void connection_closed(expansion::ConnectionId connection);

    /// Batches that were ever taken, and of these the ones that were looked at or dropped, first come first served. A batch is taken before
    /// anybody can read it.
    [[nodiscard]] std::uint64_t batches_taken() const { return taken_.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint64_t batches_done() const { return done_.load(std::memory_order_acquire); }

    /// What is known of a topic's producers. Empty when nothing is.
    [[nodiscard]] std::vector<expansion::ProducerReport> producers(const TopicId& topic) const;
    /// Calls `look` with the watch of the topic, or with null. Nothing is observed meanwhile.
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
        /// Processor time spent.
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
    /// Looks at samples for as long as the budget lasts. The records that were seen.
    [[nodiscard]] std::size_t observe(const std::vector<Sample>& samples, TimestampMs now);
    [[nodiscard]] std::size_t observe(const Sample& sample);
    /// Asks every topic whether it is settled.
    void look_for_curiosity(const TopicTable& table, TimestampMs now);
    void note_closed(const std::vector<expansion::ConnectionId>& closed);
    /// Has the processes of producers found, of topics that grew, and tells those that are known.
    void note_processes(const topics::Topic& topic, expansion::TopicWatch& watch);
    void settle(Now now);
    void settle_topic(const TopicId& id, const TopicTable& table, Watched& watched, Now now);
    void record_switches(const TopicId& id, std::vector<expansion::CountSwitch> switches);
    void set_interval(const TopicState& topic, bool is_settled);
    void refill(std::int64_t now_ns);
    void update_gate();
    /// False when the queue has no room: the gate is closed then.
    [[nodiscard]] bool reserve(std::size_t bytes, std::size_t records);
    void give_back(std::size_t bytes, std::size_t records);
    [[nodiscard]] static std::size_t slot_of(const TopicId& topic) { return topic.bytes[14]; }

    const Surroundings around_;
    FindingsHub& findings_;
    std::unique_ptr<Worker> worker_;

    std::atomic<bool> is_open_ = false;
    /// Of topics that share a slot the most curious one decides.
    static constexpr std::size_t kSlots = 256;
    std::array<std::atomic<std::uint8_t>, kSlots> intervals_{};
    std::array<std::atomic<std::uint8_t>, kSlots> counters_{};

    /// Reserved before a batch is copied, as if all of it were.
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
    /// There is a topic that is not settled.
    bool is_curious_ = true;
    /// False: every record is looked at, whatever it costs.
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
