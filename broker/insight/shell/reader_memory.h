#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/insight/readers/consumer_watch.h"
#include "broker/insight/shell/reader_note.h"
#include "broker/insight/shell/reader_notes.h"
#include "schedule/clock.h"

namespace partita::insight {

// The memory of the observer of readers. Pure: notes, facts and times come in as values. Not thread-safe.

/// Joins, each a pair of a group and another topic: when the watched topic grew, or since then, members held the same partitions
/// of it and of the other topic. The next assignment may look different, but the join is broken nevertheless.
class RememberedJoins {
  public:
    /// Most joins that it remembers.
    static constexpr std::size_t kJoinsMax = 1024;

    void add(std::pair<std::string, std::string> join);
    /// Forgets the joins that ended, remembers those that the facts show, and adds the remembered ones to the facts. Groups are
    /// ascending, and so are the topics of each.
    void keep(std::vector<GroupFacts>& groups);
    [[nodiscard]] const std::set<std::pair<std::string, std::string>>& all() const { return joins_; }

  private:
    std::set<std::pair<std::string, std::string>> joins_;
};

/// Numbers that change if the findings of a topic may change.
struct ReaderCircumstances {
    std::uint64_t state = 0;
    std::uint64_t requests = 0;
    std::uint64_t memberships = 0;
    std::uint64_t fence = 0;
    std::uint64_t logs = 0;
    /// Other topics that matter to this one's readers.
    std::uint64_t others = 0;

    /// Adds the next log to `logs`. When a transaction ends, `end` moves first (its marker), and `stable_end` later.
    void add_log(Offset start, Offset stable_end, Offset end) {
        for (const Offset offset : {end, stable_end, start}) {
            logs = logs * 31 + static_cast<std::uint64_t>(offset.value);
        }
    }
    friend bool operator==(const ReaderCircumstances&, const ReaderCircumstances&) = default;
};

/// The memory of the readers of one topic that has grown, and of the time of its next look.
class ReaderMemory {
  public:
    /// An unchanged topic is looked at again when a condition may begin or end by time alone (`ConsumerWatch::next_change`). It
    /// is also looked at again after this time, for changes that no event reports.
    static constexpr std::int64_t kLookAgainMs = 60'000;

    /// Results of a look that decide whether another one is due.
    struct Found {
        /// A Kafka Streams application reads the topic: its internal topics matter.
        bool has_streams = false;
        /// A fence protects a group from harm. The fence may time out, so time alone can change this.
        bool is_held_by_fence = false;
    };

    ReaderMemory(std::string topic, Instant now) : waits_since_(now), readers_(std::move(topic)) {}

    void take(const ReaderNote& note);
    void take(const Delivery& delivery);
    /// Deliveries of some topic were lost before they came here.
    void lose_deliveries() { readers_.lose_deliveries(); }

    /// True if the view of the topics with this `sequence` has the noted growth. An older view has not: there the topic has fewer
    /// partitions, or seems to be deleted.
    [[nodiscard]] bool is_in(std::int64_t sequence) const { return grown_at_ <= sequence; }
    /// True if something may have changed since the last look.
    [[nodiscard]] bool is_due(const ReaderCircumstances& present, Instant now) const;
    /// The topic with the lowest value is looked at first. Topics for which readers sent requests come first, but none of the
    /// others waits for more than `kLookAgainMs` behind them.
    [[nodiscard]] Instant order() const { return was_asked_ ? waits_since_ : waits_since_ + kLookAgainMs; }
    /// Notes that the findings were worked out as of `now`, in these circumstances.
    void note_look(const ReaderCircumstances& circumstances, Found found, Now now);
    /// The results of the last look.
    [[nodiscard]] Found found() const { return found_; }
    /// When the findings next change by time alone.
    [[nodiscard]] std::optional<Instant> changes_at() const { return changes_at_; }

    /// Number of notes taken.
    [[nodiscard]] std::uint64_t requests() const { return requests_; }
    [[nodiscard]] ConsumerWatch& readers() { return readers_; }
    [[nodiscard]] const ConsumerWatch& readers() const { return readers_; }
    [[nodiscard]] RememberedJoins& joins() { return joins_; }
    [[nodiscard]] const RememberedJoins& joins() const { return joins_; }

  private:
    std::uint64_t requests_ = 0;
    /// True if readers sent requests since the last look.
    bool was_asked_ = false;
    /// When the topic began to wait for a look: at the last look, or when the watch began.
    Instant waits_since_;
    /// The circumstances of the last look, if there was one.
    std::optional<ReaderCircumstances> circumstances_;
    std::optional<Instant> changes_at_;
    Found found_;
    ConsumerWatch readers_;
    RememberedJoins joins_;
    /// The catalog sequence of the newest noted growth.
    std::int64_t grown_at_ = 0;
};

/// The memories of all watched topics. Each topic is watched from the first note of its growth on.
class ReaderMemories {
  public:
    /// Takes the notes and the deliveries in their order. A note about a topic that is not watched and did not grow has no
    /// effect: the topic was deleted.
    void take(const ReaderNotes::Taken& taken, Instant now);
    [[nodiscard]] std::map<TopicId, ReaderMemory>& topics() { return topics_; }
    /// True if something that was noted waits for time or evidence.
    [[nodiscard]] bool is_undecided() const;
    /// True if the last look at some topic ended with records that it has yet to read.
    [[nodiscard]] bool is_reading() const;
    /// When the first of the topics changes by time alone.
    [[nodiscard]] std::optional<Instant> changes_at() const;

  private:
    void take(const ReaderNote& note, Instant now);

    std::map<TopicId, ReaderMemory> topics_;
};

}  // namespace partita::insight
