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
/// Thread-safe. A request leaves a note and goes on: what follows from it is worked out when findings are settled, one topic after the
/// other. The lock of the notes is the innermost: nothing is called, and nothing long is done, while it is held.
class ReaderObserver {
  public:
    /// Joins remembered of one topic.
    static constexpr std::size_t kJoinsMax = 1024;
    /// Of one core: after each round it rests so long that it stays below this.
    static constexpr double kShare = 0.015;
    /// Processor time after which a round ends, when the topic that it is at is done: as much as `kShare` gives it for the time between
    /// two rounds. Topics that are left go on waiting. So the share holds over every few seconds, however many topics grew at once.
    static constexpr std::int64_t kRoundNs = 15'000'000;
    /// A topic about which nothing changed is looked at again when something can come about, or end, by time alone
    /// (`ConsumerWatch::next_change`), and so often, for what nobody tells of.
    static constexpr std::int64_t kLookAgainMs = 60'000;
    /// Groups of which it is remembered that their positions were told; beyond it they are asked for again.
    static constexpr std::size_t kPositionedMax = 65'536;
    /// Notes that wait to be settled; more are not taken.
    static constexpr std::size_t kNotesMax = 100'000;

    ReaderObserver(const PlanSources& sources, Connections& connections, FindingsHub& findings, Executor& executor)
        : sources_(sources), connections_(connections), findings_(findings), executor_(executor) {}
    ~ReaderObserver();

    void start();
    void stop();

    [[nodiscard]] static bool watches(const TopicState& topic) {
        return !topic.topic->expansions.empty() && !topic.topic->internal;
    }
    /// After the table that says so was published, and before the client knows that asked for it. `joins`: groups and other
    /// topics whose partitions their members held one for one with the topic's, as gathered before it grew.
    void topic_grew(const TopicState& topic, std::span<const std::pair<std::string, std::string>> joins);

    // For topics that are watched, after the request was answered. See ConsumerWatch. Who is behind the connection is looked up.
    void on_offset_fetch(const TopicState& topic, std::string_view group, const expansion::ClientIdentity& client,
                         const ClientConnection& connection, PartitionIndex partition, Offset committed, TimestampMs now);
    /// `timestamp` is as it was asked, `answered` kNoOffset when no record is that young.
    void on_list_offsets(const TopicState& topic, const expansion::ClientIdentity& client, expansion::ConnectionId connection,
                         PartitionIndex partition, std::int64_t timestamp, Offset answered);
    /// On the thread of the reactor of that index. A fetch that says what the reader's last one said costs a hash and a
    /// comparison: no lock, no allocation.
    void on_fetch(std::uint32_t reactor, const TopicState& topic, std::string_view client_id, const ClientConnection& connection,
                  PartitionIndex partition, Offset from, TimestampMs now);
    /// The next commit of the group should come with what it had committed before: of what it committed before the topic grew nothing
    /// else tells.
    [[nodiscard]] bool wants_positions(const TopicState& topic, std::string_view group);
    /// `before`: see `Inversions::on_commit`.
    void on_commit(const TopicState& topic, std::string_view group, const expansion::ClientIdentity& client,
                   expansion::ConnectionId connection, std::span<const expansion::ConsumerWatch::Commit> commits,
                   std::optional<expansion::Inversions::Positions> before, TimestampMs now);
    /// A member is about to leave its group, on its own wish or an administrator's. What it holds is looked up: between two looks it may
    /// have come, read and gone. `connection`: the one that asks, which counts as the member's when that is not known.
    void on_leave(const TopicTable& table, std::string_view group, std::string_view member_id, expansion::ConnectionId connection,
                  TimestampMs now);
    void on_group_deleted(std::string_view group);

    /// Settles the findings of all watched topics by that table, which need not be the newest: it says nothing of topics
    /// that grew after it, and so their findings stay as they are. From any thread.
    void settle(const TopicTable& table, Now now);
    /// The same for those about which something may have changed, until so much processor time of the calling thread is spent; at least
    /// one. Those that readers asked for come first, but none waits for more than `kLookAgainMs` behind others of these. What the
    /// observer does in a round; from any thread. True when some are left that are due.
    bool settle_round(const TopicTable& table, Now now, std::int64_t budget_ns = kRoundNs);
    /// How long the observer rests between two rounds, which it asks once before each; `least_ms`: for the share of a core.
    /// For its steps, and for tests that have stopped it.
    [[nodiscard]] RoundPacing::Pause next_pause(std::int64_t least_ms, Instant now);
    /// How often the findings of a topic were worked out. For tests.
    [[nodiscard]] std::uint64_t looks() const { return looks_.load(std::memory_order_relaxed); }

  private:
    /// What findings are made of, as numbers that change with it.
    struct Circumstances {
        std::uintptr_t state = 0;
        std::uint64_t requests = 0;
        std::uint64_t memberships = 0;
        std::uint64_t fence = 0;
        std::uint64_t log_ends = 0;
        friend bool operator==(const Circumstances&, const Circumstances&) = default;
    };
    struct Watched {
        Watched(std::string topic, Instant now) : waits_since(now), readers(std::move(topic)) {}

        /// Requests that were noted, as a count.
        std::uint64_t requests = 0;
        /// Readers asked something since the last look.
        bool was_asked = false;
        /// The last look, or when it began to be watched.
        Instant waits_since;
        /// When it was looked at last, what was found then, and when that changes by time alone.
        Circumstances circumstances;
        std::optional<Instant> looked_at;
        std::optional<Instant> changes_at;
        /// A fence kept a group from being harmed at the last look; that ends by time, too.
        bool is_held_by_fence = false;

        expansion::ConsumerWatch readers;
        /// Groups and the other topics whose partitions their members held one for one with the topic's when it grew, or
        /// since. The assignment that follows looks otherwise, and the join is broken all the same.
        std::set<std::pair<std::string, std::string>> joins;
        /// `ExpansionEpoch::catalog_sequence` of the growth that is watched: older catalogs do not know it.
        std::int64_t grown_at = 0;
    };
    /// What a request, or the growth of a topic, leaves to be settled.
    struct Grown {
        std::vector<expansion::EarlierExpansion> growths;
        std::int64_t catalog_sequence = 0;
        std::vector<std::pair<std::string, std::string>> joins;
        /// Groups that read the topic at the newest one, when all of them are known.
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
        /// Of every topic, when a group was deleted.
        TopicId topic;
        std::variant<OffsetFetched, OffsetsListed, Fetched, Committed, Left, GroupDeleted, Grown> what;
        /// Of a topic that grew.
        std::string name;
    };

    [[nodiscard]] Instant step();
    void plan_round_locked(Instant now) REQUIRES(mutex_);
    [[nodiscard]] RoundPacing::Pause next_pause_locked(std::int64_t least_ms, Instant now) REQUIRES(mutex_);
    void leave(Note note);
    /// Of a topic that is already known to have grown so often it says nothing new.
    [[nodiscard]] static Note growth_note(const TopicState& topic, std::vector<std::pair<std::string, std::string>> joins);
    [[nodiscard]] static std::size_t position_key(const TopicState& topic, std::string_view group);
    [[nodiscard]] bool is_watching();

    /// A watched topic; in the table, or deleted.
    struct Subject {
        std::map<TopicId, Watched>::iterator entry;
        const TopicState* topic = nullptr;
        Circumstances circumstances;
        /// The least is looked at first.
        Instant order;
    };
    /// Takes the notes; then all watched topics that the table knows as grown.
    [[nodiscard]] std::vector<Subject> subjects(const TopicTable& table, Instant now) REQUIRES(settle_mutex_);
    /// The topic was deleted, or something may have changed about it since the last look.
    [[nodiscard]] static bool is_due(const Subject& subject, Instant now);
    /// Settles what holds about it.
    void look(const Subject& subject, Now now) REQUIRES(settle_mutex_);
    void take_notes(Instant now) REQUIRES(settle_mutex_);
    /// Whether there is anything to come back for, and when.
    void note_rest(bool is_news) REQUIRES(settle_mutex_);
    static void apply(Watched& watched, Note& note);
    /// Notes the joins that the facts show, puts those that were noted into the facts, and forgets those that ended.
    static void keep_joins(Watched& watched, std::vector<expansion::GroupFacts>& groups);
    [[nodiscard]] std::vector<expansion::Finding> findings_of(const TopicState& topic, Watched& watched, TimestampMs now);
    void forget_deleted_groups(const std::vector<expansion::GroupFacts>& groups, expansion::ConsumerWatch& readers);

    const PlanSources sources_;
    Connections& connections_;
    FindingsHub& findings_;
    Executor& executor_;

    /// By reactor, of whose thread each is; made when a topic that has grown is first read there.
    std::array<std::unique_ptr<expansion::FetchMemory>, Partition::kReactorsMax> memories_;
    /// Counts what makes every reader's next fetch worth noting.
    std::atomic<std::uint64_t> changes_ = 0;
    std::atomic<std::uint64_t> looks_ = 0;

    /// One settles at a time.
    Mutex settle_mutex_{LockRank::reader_settle};
    std::map<TopicId, Watched> watched_ GUARDED_BY(settle_mutex_);

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

    // Of the steps.
    Instant next_round_ = kNever;
    /// Until `next_round_`, or until there are news.
    bool rests_ = false;
    /// The next round is not sooner, so that `kShare` is kept.
    std::int64_t least_ms_ = 0;
};

}  // namespace partita::runtime
