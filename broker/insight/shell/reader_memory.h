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
#include "schedule/clock.h"

namespace partita::insight {

// What the observer of readers remembers. Pure: notes, facts and times come in as values. Not thread-safe.

/// Pairs of a group and another topic whose members held the same partitions of both topics when the watched one grew, or since
/// then. The next assignment may look different, but the join is broken nevertheless.
class RememberedJoins {
  public:
    /// Further ones are not remembered.
    static constexpr std::size_t kJoinsMax = 1024;

    void add(std::pair<std::string, std::string> join);
    /// Forgets the joins that ended, remembers those that the facts show, and adds the remembered ones to the facts. Groups, and
    /// the topics of each, are ascending.
    void keep(std::vector<GroupFacts>& groups);
    [[nodiscard]] const std::set<std::pair<std::string, std::string>>& all() const { return joins_; }

  private:
    std::set<std::pair<std::string, std::string>> joins_;
};

/// Numbers that change whenever the findings of a topic may change.
struct ReaderCircumstances {
    std::uint64_t state = 0;
    std::uint64_t requests = 0;
    std::uint64_t memberships = 0;
    std::uint64_t fence = 0;
    std::uint64_t logs = 0;
    /// Other topics that matter to this one's readers.
    std::uint64_t others = 0;

    /// Adds the next log to `logs`. When a transaction ends its marker is seen first, and then that records are decided.
    void add_log(Offset start, Offset stable_end, Offset end) {
        for (const Offset offset : {end, stable_end, start}) {
            logs = logs * 31 + static_cast<std::uint64_t>(offset.value);
        }
    }
    friend bool operator==(const ReaderCircumstances&, const ReaderCircumstances&) = default;
};

/// What is remembered of the readers of one topic that has grown, and when the topic is to be looked at again.
class ReaderMemory {
  public:
    /// A topic about which nothing changed is looked at again when something can come about, or end, by time alone
    /// (`ConsumerWatch::next_change`), and so often, for what nobody tells of.
    static constexpr std::int64_t kLookAgainMs = 60'000;

    /// What a look found that matters to whether another one is due.
    struct Found {
        /// A Kafka Streams application reads the topic: its internal topics matter.
        bool has_streams = false;
        /// A fence keeps a group from being harmed; that ends by time, too.
        bool is_held_by_fence = false;
    };

    ReaderMemory(std::string topic, Instant now) : waits_since_(now), readers_(std::move(topic)) {}

    void take(const ReaderNote& note);

    /// False for an older view of the topics: there this one has not grown as noted here, or is missing as if it had been
    /// deleted.
    [[nodiscard]] bool is_in(std::int64_t sequence) const { return grown_at_ <= sequence; }
    /// Something may have changed since the last look.
    [[nodiscard]] bool is_due(const ReaderCircumstances& present, Instant now) const;
    /// The topic with the least is looked at first: those that readers asked for, but none waits for more than `kLookAgainMs`
    /// behind others of these.
    [[nodiscard]] Instant order() const { return was_asked_ ? waits_since_ : waits_since_ + kLookAgainMs; }
    /// The findings were worked out as of `now`, in these circumstances.
    void note_look(const ReaderCircumstances& circumstances, Found found, Now now);
    /// As the last look found it.
    [[nodiscard]] Found found() const { return found_; }
    /// When the findings change by time alone.
    [[nodiscard]] std::optional<Instant> changes_at() const { return changes_at_; }

    /// How many notes were taken.
    [[nodiscard]] std::uint64_t requests() const { return requests_; }
    [[nodiscard]] ConsumerWatch& readers() { return readers_; }
    [[nodiscard]] const ConsumerWatch& readers() const { return readers_; }
    [[nodiscard]] RememberedJoins& joins() { return joins_; }
    [[nodiscard]] const RememberedJoins& joins() const { return joins_; }

  private:
    std::uint64_t requests_ = 0;
    /// True when readers asked something since the last look.
    bool was_asked_ = false;
    /// Since when the topic waits for a look: since the last one, or since it is watched.
    Instant waits_since_;
    /// Those of the last look, if there was one.
    std::optional<ReaderCircumstances> circumstances_;
    std::optional<Instant> changes_at_;
    Found found_;
    ConsumerWatch readers_;
    RememberedJoins joins_;
    /// Of the newest growth that was noted.
    std::int64_t grown_at_ = 0;
};

/// The memories of all watched topics: each is watched from the first note of its growth on.
class ReaderMemories {
  public:
    /// Takes the notes, in their order. One about a topic that is not watched, and did not grow, is about nothing: it was
    /// deleted.
    void take(const std::deque<ReaderNote>& notes, Instant now);
    [[nodiscard]] std::map<TopicId, ReaderMemory>& topics() { return topics_; }
    /// Something that was noted waits for time or evidence.
    [[nodiscard]] bool is_undecided() const;
    /// When the first of the topics changes by time alone.
    [[nodiscard]] std::optional<Instant> changes_at() const;

  private:
    std::map<TopicId, ReaderMemory> topics_;
};

}  // namespace partita::insight
