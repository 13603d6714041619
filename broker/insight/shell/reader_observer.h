#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
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

/// Notes what consumers of topics that have grown ask for, and settles the findings that follow on the broker's board, as
/// a worker of its own. Topics that never grew cost one look at their history and nothing else; without a topic that grew
/// it rests.
///
/// Requests are reported to `reports`, which makes notes of them; the observer takes these into what it remembers of each topic
/// (ReaderMemory), asks for the rest (ReaderInquiry) and settles findings, one topic after the other.
///
/// Thread-safe.
class ReaderObserver {
  public:
    /// The share of one core that rounds may use. After each round the observer rests so long that it stays below this.
    static constexpr double kShare = 0.01;
    /// Processor time after which a round ends, once its present topic is done: as much as `kShare` gives for the time between
    /// two rounds. The topics that are left wait for the next round. So the share holds over every few seconds, however many
    /// topics grew at once.
    static constexpr std::int64_t kRoundNs = 10'000'000;

    ReaderObserver(const PlanSources& sources, FindingsHub& findings, Executor& executor);
    ~ReaderObserver();

    void start();
    void stop();

    /// Where requests of readers are reported.
    [[nodiscard]] ReaderReports& reports() { return reports_; }
    /// Called when the cluster shows the topics in which this one has grown, and before the client that asked for it is told.
    void topic_grew(GrownTopic topic);
    /// Called when other topics changed: those that are joined with a watched one, or that an application made for itself, may
    /// have come, gone or grown.
    void topics_changed() { notes_.on_change(); }

    /// Settles the findings of all watched topics as of `topics`, which need not be the newest: the findings of topics that grew
    /// after it stay as they are. Any thread may call this.
    void settle(const ObservedTopics& topics, Now now);
    /// The same for those about which something may have changed, until so much processor time of the calling thread is spent; at
    /// least one. Those that readers asked for come first, but none waits for more than `ReaderMemory::kLookAgainMs` behind
    /// others of these. What the observer does in a round; from any thread. True when some are left that are due.
    bool settle_round(const ObservedTopics& topics, Now now, std::int64_t budget_ns = kRoundNs);
    /// How long the observer rests between two rounds, which it asks once before each; `least_ms`: for the share of a core.
    /// For its steps, and for tests that have stopped it.
    [[nodiscard]] RoundPacing::Pause next_pause(std::int64_t least_ms, Instant now) { return notes_.next_pause(least_ms, now); }
    /// How often the findings of a topic were worked out. For tests.
    [[nodiscard]] std::uint64_t looks() const { return looks_.load(std::memory_order_relaxed); }

  private:
    /// A watched topic; null when it was deleted.
    struct Subject {
        std::map<TopicId, ReaderMemory>::iterator entry;
        std::unique_ptr<ObservedTopic> topic;
        ReaderCircumstances circumstances;
    };

    [[nodiscard]] Instant step();
    /// Takes the notes; then all watched topics that `topics` knows as grown.
    [[nodiscard]] std::vector<Subject> subjects(const ObservedTopics& topics, Instant now) REQUIRES(settle_mutex_);
    /// Settles what holds about it.
    void look(const Subject& subject, Now now) REQUIRES(settle_mutex_);
    /// Says whether there is anything to come back for, and when.
    void note_looks(bool has_more) REQUIRES(settle_mutex_);

    const PlanSources sources_;
    FindingsHub& findings_;
    Executor& executor_;
    ReaderNotes notes_;
    ReaderReports reports_;
    std::atomic<std::uint64_t> looks_ = 0;

    /// Held through a round, so that one settles at a time.
    Mutex settle_mutex_{LockRank::reader_settle};
    ReaderMemories memories_ GUARDED_BY(settle_mutex_);
    ReaderInquiry inquiry_ GUARDED_BY(settle_mutex_);
};

}  // namespace partita::insight
