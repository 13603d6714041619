#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "broker/expansion/client_registry.h"
#include "broker/expansion/consumer_watch.h"
#include "broker/expansion/fetch_memory.h"
#include "broker/expansion/identity.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/findings/findings_hub.h"
#include "broker/runtime/insight/round_pacing.h"
#include "broker/runtime/insight/topic_plan.h"
#include "broker/runtime/partitions/published_topics.h"
#include "broker/runtime/partitions/topic_table.h"
#include "protocol/mutex.h"
#include "schedule/executor.h"

namespace partita::runtime {

class Connections;
struct ClientConnection;

/// Notes what consumers of topics that have grown ask for, and settles the findings that follow on the broker's board, as
/// a worker of its own. Topics that never grew cost one look at their history and nothing else; without a topic that grew
/// it rests.
///
/// Thread-safe. A request leaves a note and goes on; the observer works out what follows when it settles findings, one topic
/// after the other. The lock of the notes is the innermost: while it is held, nothing is called and nothing long is done.
class ReaderObserver final : public TopicsListener {
  public:
    /// Joins remembered of one topic.
    static constexpr std::size_t kJoinsMax = 1024;
    /// The share of one core that rounds may use. After each round the observer rests so long that it stays below this.
    static constexpr double kShare = 0.01;
    /// Processor time after which a round ends, once its present topic is done: as much as `kShare` gives for the time between
    /// two rounds. The topics that are left wait for the next round. So the share holds over every few seconds, however many
    /// topics grew at once.
    static constexpr std::int64_t kRoundNs = 10'000'000;
    /// A topic about which nothing changed is looked at again when something can come about, or end, by time alone
    /// (`ConsumerWatch::next_change`), and so often, for what nobody tells of.
    static constexpr std::int64_t kLookAgainMs = 60'000;
    /// For how many groups it is remembered that their positions were told. When there are more, all are asked for them again.
    static constexpr std::size_t kPositionedMax = 65'536;
    /// How many notes may wait to be settled. Further ones are not taken, except those about growths.
    static constexpr std::size_t kNotesMax = 100'000;

    ReaderObserver(const PlanSources& sources, Connections& connections, FindingsHub& findings, Executor& executor)
        : sources_(sources), connections_(connections), findings_(findings), executor_(executor) {}
    ~ReaderObserver() override;

    void start();
    void stop();

    [[nodiscard]] static bool watches(const TopicState& topic) {
        return !topic.topic->expansions.empty() && !topic.topic->internal;
    }
    /// Called after the table in which the topic has grown was published, and before the client that asked for it is told.
    /// `joins` are pairs of a group and another topic whose members held the same partitions of both, as gathered before the
    /// growth.
    void topic_grew(const TopicState& topic, std::span<const std::pair<std::string, std::string>> joins);

    // Called for topics that are watched, with what was answered; see ConsumerWatch. These also ask for the process behind the
    // connection.
    void on_offset_fetch(const TopicState& topic, std::string_view group, const expansion::ClientIdentity& client,
                         const ClientConnection& connection, PartitionIndex partition, Offset committed, TimestampMs now);
    /// `timestamp` is that of the request; `answered` is kNoOffset when no record is that young.
    void on_list_offsets(const TopicState& topic, const expansion::ClientIdentity& client, expansion::ConnectionId connection,
                         PartitionIndex partition, std::int64_t timestamp, Offset answered);
    /// Called on the thread of the reactor with the index `reactor`. A fetch that says the same as the reader's last one costs a
    /// hash and a comparison: no lock, no allocation.
    void on_fetch(std::uint32_t reactor, const TopicState& topic, std::string_view client_id, const ClientConnection& connection,
                  PartitionIndex partition, Offset from, TimestampMs now);
    /// True when the next `on_commit` of the group should come with the group's positions `before` that commit: nothing else
    /// tells what the group had committed before the topic grew.
    [[nodiscard]] bool wants_positions(const TopicState& topic, std::string_view group);
    /// `before`: see `Inversions::on_commit`.
    void on_commit(const TopicState& topic, std::string_view group, const expansion::ClientIdentity& client,
                   expansion::ConnectionId connection, std::span<const expansion::ConsumerWatch::Commit> commits,
                   std::optional<expansion::Inversions::Positions> before, TimestampMs now);
    /// Called when a member is about to leave its group, because it wants to or an administrator does. It looks up what the
    /// member holds, because the member may have come, read and gone between two rounds. `connection` is the one that asks; it
    /// counts as the member's when that is not known.
    void on_leave(const TopicTable& table, std::string_view group, std::string_view member_id, expansion::ConnectionId connection,
                  TimestampMs now);
    void on_group_deleted(std::string_view group);
    /// Called after another table of topics was published: topics that are joined with a watched one, or that an application
    /// made for itself, may have come, gone or grown.
    void on_topics_changed(const TopicsChange& change) override;

    /// Settles the findings of all watched topics as of `table`, which need not be the newest: the findings of topics that grew
    /// after it stay as they are. Any thread may call this.
    void settle(const TopicTable& table, Now now);
    /// The same for those about which something may have changed, until so much processor time of the calling thread is spent; at
    /// least one. Those that readers asked for come first, but none waits for more than `kLookAgainMs` behind others of these.
    /// What the observer does in a round; from any thread. True when some are left that are due.
    bool settle_round(const TopicTable& table, Now now, std::int64_t budget_ns = kRoundNs);
    /// How long the observer rests between two rounds, which it asks once before each; `least_ms`: for the share of a core.
    /// For its steps, and for tests that have stopped it.
    [[nodiscard]] RoundPacing::Pause next_pause(std::int64_t least_ms, Instant now);
    /// How often the findings of a topic were worked out. For tests.
    [[nodiscard]] std::uint64_t looks() const { return looks_.load(std::memory_order_relaxed); }

  private:
    /// Numbers that change whenever the findings of a topic may change.
    struct Circumstances {
        std::uintptr_t state = 0;
        std::uint64_t requests = 0;
        std::uint64_t memberships = 0;
        std::uint64_t fence = 0;
        std::uint64_t log_ends = 0;
        /// Other topics that matter to this one's readers.
        std::uint64_t others = 0;
        friend bool operator==(const Circumstances&, const Circumstances&) = default;
    };
    struct Watched {
        Watched(std::string topic, Instant now) : waits_since(now), readers(std::move(topic)) {}

        /// How many notes were taken about the topic.
        std::uint64_t requests = 0;
        /// True when readers asked something since the last look.
        bool was_asked = false;
        /// Since when the topic waits for a look: since the last one, or since it is watched.
        Instant waits_since;
        /// When it was looked at last, what was found then, and when that changes by time alone.
        Circumstances circumstances;
        std::optional<Instant> looked_at;
        std::optional<Instant> changes_at;
        /// A fence kept a group from being harmed at the last look; that ends by time, too.
        bool is_held_by_fence = false;

        expansion::ConsumerWatch readers;
        /// Pairs of a group and another topic whose members held the same partitions of both topics when this one grew, or since
        /// then. The next assignment may look different, but the join is broken nevertheless.
        std::set<std::pair<std::string, std::string>> joins;
        /// A Kafka Streams application read the topic at the last look: its internal topics matter.
        bool has_streams = false;
        /// `ExpansionEpoch::catalog_sequence` of the growth that is watched: older catalogs do not know it.
        std::int64_t grown_at = 0;
    };
    // What a request, or the growth of a topic, leaves to be settled.
    struct Grown {
        std::vector<expansion::EarlierExpansion> growths;
        std::int64_t catalog_sequence = 0;
        std::vector<std::pair<std::string, std::string>> joins;
        /// The groups that read the topic at its newest growth, when all of them are known.
        std::optional<std::set<std::string>> readers;
    };
    struct OffsetFetched {
        std::string group;
        expansion::ConnectionId connection;
        bool is_member = false;
        expansion::ClientIdentity client;
        PartitionIndex partition;
        Offset committed;
        TimestampMs time;
    };
    struct OffsetsListed {
        expansion::ClientIdentity client;
        PartitionIndex partition;
        std::int64_t timestamp = 0;
        Offset answered;
    };
    struct Fetched {
        expansion::ConnectionId connection;
        expansion::ClientIdentity client;
        PartitionIndex partition;
        Offset from;
        TimestampMs time;
    };
    struct Committed {
        std::string group;
        expansion::ConnectionId connection;
        expansion::ClientIdentity client;
        std::vector<expansion::ConsumerWatch::Commit> commits;
        std::optional<expansion::Inversions::Positions> before;
        TimestampMs time;
        std::uint64_t keys_sent = 0;
    };
    struct Left {
        std::string group;
        std::string member_id;
        expansion::ConnectionId connection;
        TimestampMs born;
        expansion::ClientIdentity client;
        std::vector<PartitionIndex> partitions;
        TimestampMs time;
    };
    struct GroupDeleted {
        std::string group;
    };
    struct Note {
        /// Unused in the note of a deleted group, which is about every topic.
        TopicId topic;
        std::variant<OffsetFetched, OffsetsListed, Fetched, Committed, Left, GroupDeleted, Grown> what;
        /// The name of a topic that grew; empty in other notes.
        std::string name;
    };

    [[nodiscard]] Instant step();
    void plan_round_locked(Instant now) REQUIRES(mutex_);
    [[nodiscard]] RoundPacing::Pause next_pause_locked(std::int64_t least_ms, Instant now) REQUIRES(mutex_);
    void leave(Note note);
    /// The note of a topic's growths. It says nothing new about growths that are known already.
    [[nodiscard]] static Note growth_note(const TopicState& topic, std::vector<std::pair<std::string, std::string>> joins);
    [[nodiscard]] static std::size_t position_key(const TopicState& topic, std::string_view group);
    [[nodiscard]] bool is_watching();

    /// A watched topic; in the table, or deleted.
    struct Subject {
        std::map<TopicId, Watched>::iterator entry;
        const TopicState* topic = nullptr;
        Circumstances circumstances;
        /// The topic with the least is looked at first.
        Instant order;
    };
    /// Takes the notes; then all watched topics that the table knows as grown.
    [[nodiscard]] std::vector<Subject> subjects(const TopicTable& table, Instant now) REQUIRES(settle_mutex_);
    /// The topic was deleted, or something may have changed about it since the last look.
    [[nodiscard]] static bool is_due(const Subject& subject, Instant now);
    /// Settles what holds about it.
    void look(const Subject& subject, Now now) REQUIRES(settle_mutex_);
    void take_notes(Instant now) REQUIRES(settle_mutex_);
    /// The counts of the topics that are joined with the watched one, and the internal topics of its Streams applications.
    [[nodiscard]] std::uint64_t others_of(const Watched& watched, const TopicTable& table) REQUIRES(settle_mutex_);
    /// Whether there is anything to come back for, and when.
    void note_rest(bool is_news) REQUIRES(settle_mutex_);
    static void apply(Watched& watched, Note& note);
    /// Notes the joins that the facts show, adds the noted ones to the facts, and forgets those that ended.
    static void keep_joins(Watched& watched, std::vector<expansion::GroupFacts>& groups);
    [[nodiscard]] std::vector<expansion::Finding> findings_of(const TopicState& topic, Watched& watched, TimestampMs now);
    void forget_deleted_groups(const std::vector<expansion::GroupFacts>& groups, expansion::ConsumerWatch& readers);

    const PlanSources sources_;
    Connections& connections_;
    FindingsHub& findings_;
    Executor& executor_;

    /// One memory per reactor, which only that reactor's thread uses. It is made when a grown topic is first read there.
    std::array<std::unique_ptr<expansion::FetchMemory>, Partition::kReactorsMax> memories_;
    /// Grows with every change after which the next fetch of every reader is worth noting.
    std::atomic<std::uint64_t> changes_ = 0;
    std::atomic<std::uint64_t> looks_ = 0;

    /// Held through a round, so that one settles at a time.
    Mutex settle_mutex_{LockRank::reader_settle};
    std::map<TopicId, Watched> watched_ GUARDED_BY(settle_mutex_);
    /// A hash of all internal topics of Streams applications, and the sequence of the catalog that it was made from.
    std::uint64_t streams_internal_ GUARDED_BY(settle_mutex_) = 0;
    std::optional<std::int64_t> streams_internal_at_ GUARDED_BY(settle_mutex_);

    Mutex mutex_{LockRank::reader_notes};
    std::deque<Note> notes_ GUARDED_BY(mutex_);
    /// Hashes of topic, number of growths and group.
    std::unordered_set<std::size_t> positioned_ GUARDED_BY(mutex_);
    bool is_watching_ GUARDED_BY(mutex_) = false;
    bool has_news_ GUARDED_BY(mutex_) = false;
    bool is_resting_ GUARDED_BY(mutex_) = false;
    RoundPacing pacing_ GUARDED_BY(mutex_);
    /// When the first of the watched topics changes by time alone.
    std::optional<Instant> changes_at_ GUARDED_BY(mutex_);
    std::unique_ptr<Worker> worker_ GUARDED_BY(mutex_);

    // Only steps of the worker use these.
    Instant next_round_ = kNever;
    /// True when news begin the next round before `next_round_`.
    bool rests_ = false;
    /// The shortest pause before the next round, so that `kShare` is kept.
    std::int64_t least_ms_ = 0;
};

}  // namespace partita::runtime
