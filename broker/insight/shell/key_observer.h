#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "broker/config/current_config.h"
#include "broker/insight/facts/cluster.h"
#include "broker/insight/keys/detection.h"
#include "broker/insight/shell/key_budget.h"
#include "broker/insight/shell/key_samples.h"
#include "protocol/mutex.h"
#include "schedule/executor.h"

namespace partita::insight {

class FindingsHub;
class SwitchRecorder;

/// Looks at what producers send, apart from the threads that serve them. Reactors offer produced batches (`samples`). Copies of
/// the keys wait there; a compressed batch waits as a whole. A worker of its own looks at them, decompresses if necessary, and
/// reports findings and producers that have switched to a new count.
///
/// The worker has a budget of processor time (KeyBudget): `partita.detection.processor.percent` of what the whole broker uses.
///
/// A topic is settled if all its producers are known, none of them is stale, and it is not compacted. Then only a change would be
/// news, and any sample shows a change. A topic that is new or has grown is not settled, from its first batch on. While some
/// topics are not settled and the budget is short, the observer takes one batch in `kQuietInterval` of a settled topic. A batch
/// that it does not take costs the producer's request one load and one branch.
class KeyObserver {
  public:
    /// Most producers of a topic whose processes it looks up at a time.
    static constexpr std::size_t kProcessesMax = 16;
    /// Number of records after which the worker checks again whether all topics are settled.
    static constexpr std::size_t kRecordsPerLook = 2'000;
    static constexpr std::uint8_t kQuietInterval = 16;
    /// Periods of the worker: it looks at waiting samples while there is traffic, settles findings, and settles them without any
    /// traffic, for conditions that arise with time.
    static constexpr std::int64_t kCollectMs = 50;
    static constexpr std::int64_t kSettleMs = 1000;
    static constexpr std::int64_t kIdleMs = 5000;

    /// `cluster`: the watched cluster. Findings go to `findings`, switches of producers to `switches`.
    KeyObserver(const config::CurrentConfig& config, const ObservedCluster& cluster, FindingsHub& findings,
                SwitchRecorder& switches, const Schedule& schedule);
    ~KeyObserver();

    /// Starts the worker. It takes batches while `partita.detection.enable` is true.
    void start();
    /// Ends the worker after its present batch. Callers offer no batches after that.
    void stop();

    /// The place where reactors offer produced batches.
    [[nodiscard]] KeySamples& samples() { return samples_; }
    /// Number of batches from `samples` that it has looked at or dropped, in the order in which they were taken.
    [[nodiscard]] std::uint64_t batches_done() const { return done_.load(std::memory_order_acquire); }
    /// How long it has watched producers without a break; 0 while `partita.detection.enable` is false.
    [[nodiscard]] std::int64_t watched_for_ms(Instant now) const;

    /// Reports on a topic's producers; empty if none is known.
    [[nodiscard]] std::vector<ProducerReport> producers(const TopicId& topic) const;
    /// Calls `look` with the watch of the topic, or with null if it has none. The observer waits meanwhile.
    template <class Look>
    auto with_watch(const TopicId& topic, Look look) const {
        const MutexLock lock(detection_mutex_);
        return look(detection_.find(topic));
    }

    struct Statistics {
        std::uint64_t batches = 0;
        std::uint64_t records = 0;
        std::uint64_t bytes = 0;
        /// Batches that could not be read to the end.
        std::uint64_t undecodable = 0;
        /// The worker's processor time.
        std::uint64_t busy_ns = 0;
        std::size_t topics = 0;
        std::size_t producers = 0;
        std::size_t keys = 0;
    };
    [[nodiscard]] Statistics statistics() const;

  private:
    struct Watched {
        bool changed = false;
        bool has_findings = false;
    };

    [[nodiscard]] Instant step();
    /// When the next step is due, unless a sample wakes it before.
    [[nodiscard]] Instant rest(Instant now);
    void work(Now now);
    /// Looks at samples as long as the budget lasts. Returns how many records it saw.
    [[nodiscard]] std::size_t observe(const std::vector<KeySample>& samples, TimestampMs now);
    [[nodiscard]] std::size_t observe(const KeySample& sample, const ObservedTopics& topics);
    /// Finds out which topics are settled. Tells the budget, and sets the intervals for the reactors that offer batches.
    void find_settled(const ObservedTopics& topics, TimestampMs now);
    void note_closed(std::vector<ConnectionId> closed);
    /// For a topic that has grown: asks for the processes of its producers, and tells the watch the known ones.
    void note_processes(TopicWatch& watch);
    void settle(Now now);
    void settle_topic(const TopicId& id, const ObservedTopics& topics, Watched& watched, Now now);
    /// The watch of the topic, updated to the topic's counts.
    [[nodiscard]] TopicWatch& watch_of(const ObservedTopic& topic) REQUIRES(detection_mutex_);
    void update_gate();
    void note_watching();

    const config::CurrentConfig& config_;
    const ObservedCluster& cluster_;
    FindingsHub& findings_;
    SwitchRecorder& switches_;
    const Schedule schedule_;
    std::unique_ptr<Worker> worker_;

    KeySamples samples_;
    static constexpr Instant kNotWatching{-1};
    std::atomic<Instant> watching_since_ = kNotWatching;
    std::atomic<std::uint64_t> done_ = 0;

    // Steps of the worker change the watches; other threads read them.
    mutable Mutex detection_mutex_{LockRank::key_detection};
    Detection detection_ GUARDED_BY(detection_mutex_);

    // Only steps of the worker use these.
    std::map<TopicId, Watched> watched_;
    KeyBudget budget_;
    Instant next_settle_{};
    int quiet_rounds_ = 0;

    std::atomic<std::uint64_t> batches_ = 0;
    std::atomic<std::uint64_t> records_ = 0;
    std::atomic<std::uint64_t> bytes_ = 0;
    std::atomic<std::uint64_t> undecodable_ = 0;
    std::atomic<std::uint64_t> busy_ns_ = 0;
};

}  // namespace partita::insight
