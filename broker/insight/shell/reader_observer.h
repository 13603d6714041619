#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/insight/facts/topics.h"
#include "broker/insight/hub/findings_hub.h"
#include "broker/insight/shell/reader_inquiry.h"
#include "broker/insight/shell/reader_memory.h"
#include "broker/insight/shell/reader_notes.h"
#include "broker/insight/shell/reader_reports.h"
#include "broker/insight/shell/topic_plan.h"
#include "protocol/mutex.h"
#include "schedule/executor.h"

namespace partita::insight {

/// Notes what consumers of topics that have grown ask for, and settles the resulting findings on the broker's board. It runs as a
/// worker of its own. Topics that never grew cost one look at their history, and a remembered note of each member that leaves;
/// without a topic that grew it rests.
///
/// Requests go to `reports`, which makes notes of them. The observer takes the notes into its memory of each topic
/// (ReaderMemory), asks for the other facts (ReaderInquiry) and settles findings, one topic after the other.
///
/// Thread-safe.
class ReaderObserver {
  public:
    /// The share of one core that rounds may use. After each round the observer rests long enough to stay below this.
    static constexpr double kShare = 0.01;
    /// The share while it reads records that it needs to tell what readers were handed in wrong order.
    static constexpr double kReadShare = 0.04;
    /// Bytes of records that it reads for one topic in a round: some ten milliseconds of work.
    static constexpr std::size_t kReadBytes = std::size_t{4} << 20;
    /// Processor time after which a round ends, once its present topic is done: as much as `kShare` gives for the time between
    /// two rounds. The remaining topics wait for the next round. So the share holds over every few seconds, however many topics
    /// grew at once.
    static constexpr std::int64_t kRoundNs = 10'000'000;

    ReaderObserver(const PlanSources& sources, FindingsHub& findings, Executor& executor);
    ~ReaderObserver();

    void start();
    void stop();

    /// The place where requests of readers are reported.
    [[nodiscard]] ReaderReports& reports() { return reports_; }
    /// Called when the cluster shows the topics in which this one has grown, and before the broker answers the client that asked
    /// for it.
    void topic_grew(GrownTopic topic);
    /// Called when other topics changed. Topics that are joined with a watched one, and internal topics of an application, may
    /// have come, gone or grown.
    void topics_changed() { notes_.on_change(); }

    /// Settles the findings of all watched topics as of `topics`, which need not be the newest. The findings of topics that grew
    /// after it stay as they are. Callable from any thread.
    void settle(const ObservedTopics& topics, Now now);
    /// One round: settles the findings of topics in which something may have changed, at least of one. Stops when the calling
    /// thread has spent `budget_ns` of processor time; returns true if some due topics are left. Topics for which readers sent
    /// requests come first, but none of the others waits for more than `ReaderMemory::kLookAgainMs` behind them. The observer
    /// calls this; so may any other thread.
    bool settle_round(const ObservedTopics& topics, Now now, std::int64_t budget_ns = kRoundNs);
    /// A key that a reader was handed in wrong order, as far as its older record still exists.
    struct WrongKeyRecord {
        std::optional<std::string> key;
        WrongKey wrong;
    };
    struct WrongKeyPage {
        std::vector<WrongKeyRecord> keys;
        /// Number of all of them; a key counts for each pair of partitions.
        std::size_t total = 0;
    };
    /// The keys behind H06 of the reader, `most` of them from place `from` on, in an order that stays. Reads the log for each;
    /// waits for a round of the observer. Empty if the topic has not grown. Callable from any thread, but not from a reactor.
    [[nodiscard]] WrongKeyPage wrong_keys(const ObservedTopic& topic, const OrderWatch::Reader& reader, std::size_t from,
                                          std::size_t most);

    /// The rest before the next round; the observer asks once for each. `least_ms` keeps it within its share of a core. For its
    /// steps, and for tests that have stopped it.
    [[nodiscard]] RoundPacing::Pause next_pause(std::int64_t least_ms, Instant now) { return notes_.next_pause(least_ms, now); }
    /// How often the observer worked out the findings of a topic. For tests.
    [[nodiscard]] std::uint64_t looks() const { return looks_.load(std::memory_order_relaxed); }

  private:
    /// A watched topic; null if it was deleted.
    struct Subject {
        std::map<TopicId, ReaderMemory>::iterator entry;
        std::unique_ptr<ObservedTopic> topic;
        ReaderCircumstances circumstances;
    };

    [[nodiscard]] Instant step();
    /// Takes the notes. Returns all watched topics that have grown according to `topics`.
    [[nodiscard]] std::vector<Subject> subjects(const ObservedTopics& topics, Instant now) REQUIRES(settle_mutex_);
    /// Settles the findings about the topic.
    void look(const Subject& subject, std::size_t read_bytes_max, Now now) REQUIRES(settle_mutex_);
    /// Tells the schedule whether to come back, and when.
    void note_looks(bool has_more) REQUIRES(settle_mutex_);

    const PlanSources sources_;
    FindingsHub& findings_;
    Executor& executor_;
    ReaderNotes notes_;
    ReaderReports reports_;
    std::atomic<std::uint64_t> looks_ = 0;
    /// Some topic has records that it has yet to read.
    std::atomic<bool> is_reading_ = false;

    /// Held through a round, so that only one thread settles at a time.
    Mutex settle_mutex_{LockRank::reader_settle};
    ReaderMemories memories_ GUARDED_BY(settle_mutex_);
    ReaderInquiry inquiry_ GUARDED_BY(settle_mutex_);
};

}  // namespace partita::insight
