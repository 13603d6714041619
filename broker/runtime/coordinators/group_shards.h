#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "broker/groups/group_coordinator.h"
#include "broker/runtime/loop/reactor.h"
#include "broker/runtime/loop/reply.h"
#include "broker/runtime/partitions/partition.h"
#include "storage/storage_error.h"

namespace partita {
class MetadataStore;
}

namespace partita::runtime {

class FailureLog;
class Turn;
class Turns;
class UpkeepBell;

/// Hears of commits that became durable.
class CommitListener {
  public:
    virtual ~CommitListener() = default;
    /// A group's records of the topic are durable. From the thread of whoever committed, with the lock of the group's shard held.
    virtual void on_commit(std::string_view topic) = 0;
};

/// Where a group's state lives: Kafka's `abs(hashCode(group)) % partitions of __consumer_offsets`, with
/// Java's hash over UTF-16 units, so that tools which compute it agree.
[[nodiscard]] std::size_t group_shard_index(std::string_view group_id, std::size_t shards);

/// The group coordinators, one per partition of `__consumer_offsets`, each with the log that makes it
/// durable. A shard is a small mutex-guarded state, not the property of a thread: a client's group
/// requests are served on the thread of its connection.
///
/// The rule that everything here serves: records are in the log before a reply leaves. If they cannot
/// be written, the coordinator's memory is thrown away, and everybody who waited is told NOT_COORDINATOR, as
/// Kafka does when a coordinator fails to write. Maintenance rebuilds it from checkpoint and log, which needs the
/// disk; until then, a matter of milliseconds, its groups are told NOT_COORDINATOR too.
class GroupShards {
  public:
    GroupShards(Turns& turns, MetadataStore& store, UpkeepBell& upkeep, FailureLog& failures)
        : turns_(turns), store_(store), upkeep_(upkeep), failures_(failures) {}
    /// Set once, before requests come.
    void set_commit_listener(CommitListener& listener) { commits_ = &listener; }

    /// Sets up the shards for the partitions of `__consumer_offsets`, for `load` or `serve`; called when it exists, and
    /// again when it was deleted and created anew. False when it then has another number of partitions: that needs a
    /// restart.
    [[nodiscard]] bool attach(std::span<const std::shared_ptr<Partition>> partitions, const groups::GroupConfig& config);
    /// `__consumer_offsets` was deleted: everybody who waits is told NOT_COORDINATOR, and no group is known
    /// any more. Requests that come meanwhile find no log and fail.
    void forget_all(Now now);
    /// Lets go of everything, before the logs go.
    void detach() { attached_.store(false, std::memory_order_release); shards_.clear(); }
    [[nodiscard]] bool is_attached() const { return attached_.load(std::memory_order_acquire); }
    /// Rebuilds all shards from checkpoint and log. Blocks on the disk: at start.
    [[nodiscard]] StorageResult<void> load(Now now);
    /// Serves a topic that was made just now and has no checkpoint: shards whose logs are empty begin at once, others
    /// (a directory that somebody put there) when maintenance rebuilt them. Needs no disk.
    void serve(Now now);
    /// Rebuilds the shards that lost a write, or that `serve` left. Blocks on the disk: for maintenance. False when one
    /// could not be read and wants another try.
    [[nodiscard]] bool rebuild_lost();
    /// False while a shard waits to be rebuilt: what is said of groups may then lack some of them.
    [[nodiscard]] bool is_complete() const { return rebuilding_.load(std::memory_order_acquire) == 0; }
    void reconfigure(const groups::GroupConfig& config);
    /// Topics or settings of groups changed. Once before `load`, and then with every change of the catalog.
    void cluster_changed(groups::ClusterPointer cluster, bool has_new_topics);

    /// Turns the result of a join or sync that had to wait into a reply. Set once, before requests come.
    using ReplyEncoder = Reply (*)(const PendingReply& pending, const groups::Result& result);
    void set_reply_encoder(ReplyEncoder encoder) { encoder_ = encoder; }

    /// Runs a command in the shard of `group_id` whose reply may come later. The reply is encoded and
    /// delivered when it comes, maybe before this returns. Only while somebody coordinates (`is_attached`).
    void execute(Turn& turn, std::string_view group_id, const PendingReply& pending,
                 const std::function<void(groups::GroupCoordinator&, groups::ReplyToken, groups::Effects&)>& command);

    /// Runs a command that is answered by its own call, and returns the result once it is durable; empty
    /// when it could not be persisted, or nobody coordinates: whoever asked is told NOT_COORDINATOR.
    [[nodiscard]] std::optional<groups::Result> ask(
        Turn& turn, std::string_view group_id,
        const std::function<void(groups::GroupCoordinator&, groups::ReplyToken, groups::Effects&)>& command);
    /// The same for a shard by its number, for requests that go to all.
    [[nodiscard]] std::optional<groups::Result> ask_shard(
        Turn& turn, std::size_t shard,
        const std::function<void(groups::GroupCoordinator&, groups::ReplyToken, groups::Effects&)>& command);
    [[nodiscard]] std::size_t shard_count() const { return attached_.load(std::memory_order_acquire) ? shards_.size() : 0; }
    [[nodiscard]] std::size_t shard_of(std::string_view group_id) const { return group_shard_index(group_id, shards_.size()); }

    // What expansions need of groups; see broker/groups/topic_readers.h ----------------------------------

    /// All groups that read the topic, in no particular order.
    [[nodiscard]] std::vector<groups::TopicReader> readers_of(std::string_view topic, const TopicId& topic_id);
    /// The same for several topics, and what else the questions ask for: one answer for each. Takes one shard's lock after the
    /// other, for about as long as it takes to read what its groups said.
    [[nodiscard]] std::vector<std::vector<groups::TopicReader>> readers_of(std::span<groups::TopicQuestion> questions);
    /// The same, remembered by the caller: only shards that changed are asked again, and of one that is being rebuilt
    /// the last answer stands.
    struct KnownReaders {
        struct Shard {
            std::uint64_t version = 0;
            std::vector<groups::TopicReader> readers;
        };
        std::vector<Shard> shards;
    };
    void refresh_readers(KnownReaders& known, std::string_view topic, const TopicId& topic_id);
    /// As `GroupCoordinator::protocol_of`. Of a group whose shard is being rebuilt nothing is known.
    [[nodiscard]] std::optional<std::string> protocol_of(std::string_view group_id);
    /// As `GroupCoordinator::holdings_of`, likewise.
    [[nodiscard]] std::optional<groups::MemberHoldings> holdings_of(std::string_view group_id, std::string_view member_id);
    /// Seeds each of the groups; `seeds.group_id` is not looked at. Groups of a shard are seeded by one write, up to
    /// `kSeedRecordsMax` records. False when something could not be written: then the others may have been seeded.
    [[nodiscard]] bool seed_offsets(Turn* turn, std::span<const std::string> group_ids, groups::SeedOffsets seeds, Now now);
    /// Takes back the seeds that are still as they were given. Empty when something could not be written.
    [[nodiscard]] std::optional<std::size_t> remove_seeds(Turn* turn, std::span<const std::string> group_ids,
                                                          groups::SeedOffsets seeds, Now now);

    /// Offsets that are given or taken back by one write, before the shard serves others again.
    static constexpr std::size_t kSeedRecordsMax = 2000;
    /// Grows when members of any group come, go, or get another assignment, and when offsets are removed; not with commits.
    [[nodiscard]] std::uint64_t membership_version() const { return membership_version_.load(std::memory_order_acquire); }
    /// Groups that were looked at to answer who reads a topic, so far. For tests.
    [[nodiscard]] std::uint64_t groups_visited() const { return groups_visited_.load(std::memory_order_relaxed); }

    void topic_deleted(Turn* turn, const groups::TopicDeleted& event, Now now);
    /// Runs the timers that are due. On the first reactor.
    void tick(Turn& turn, Now now);
    [[nodiscard]] std::optional<Instant> next_deadline() const;
    /// Answers everything that waits with NOT_COORDINATOR, at shutdown.
    void fail_waiting(Turn& turn);

    [[nodiscard]] std::size_t group_count();

  private:
    enum class State : std::uint8_t {
        serving,
        /// A write failed. The coordinator is an empty one that never answers; maintenance makes another.
        rebuilding,
        /// Its log was deleted and there is no new one yet.
        gone,
    };
    struct Shard {
        std::mutex mutex;
        // All guarded by mutex.
        std::unique_ptr<groups::GroupCoordinator> coordinator;
        std::shared_ptr<Partition> partition;
        groups::Effects effects;
        std::unordered_map<std::uint64_t, PendingReply> waiting;
        State state = State::gone;
        /// Topics that were deleted while it was rebuilt.
        std::vector<std::pair<std::string, TopicId>> missed_deletions;
        /// Grows with everything that is persisted, so that readers see without the lock whether they are up to date.
        std::atomic<std::uint64_t> version = 1;
        /// For readers without the lock; the largest number when there is no deadline.
        std::atomic<std::int64_t> deadline_ms;
    };

    // With the shard's lock held, where not said otherwise.

    [[nodiscard]] std::unique_ptr<groups::GroupCoordinator> new_coordinator();
    /// A coordinator that knows what the log of the partition says. Reads the disk, and wants no lock.
    [[nodiscard]] StorageResult<std::unique_ptr<groups::GroupCoordinator>> rebuild(const Partition& partition);
    void begin_serving(Shard& shard, std::unique_ptr<groups::GroupCoordinator> coordinator, Now now);
    /// Nothing is known any more: of a log that is gone, or until it is rebuilt.
    void make_empty(Shard& shard, State state, Now now);
    void set_state(Shard& shard, State state);
    /// Persists the effects and sends the replies that wait for them. The result that belongs to `own`, if any, is
    /// returned instead of sent.
    std::optional<groups::Result> settle(Shard& shard, Turn* turn, Now now, std::optional<groups::ReplyToken> own);
    [[nodiscard]] bool persist(Shard& shard, Turn* turn, Now now);
    /// Runs `change` for each group, with its shard locked, and persists what came of it. False when that failed.
    template <class Change>
    [[nodiscard]] bool change_offsets(Turn* turn, std::span<const std::string> group_ids, Now now, Change change);
    /// For commands without replies: persists their effects, or throws the shard's memory away.
    [[nodiscard]] bool settle_records(Shard& shard, Turn* turn, Now now);
    void throw_away(Shard& shard, Now now);
    /// Answers everybody who waits with NOT_COORDINATOR.
    void turn_away(Shard& shard);
    void send(Shard& shard, groups::Reply& reply);
    void update_deadline(Shard& shard);

    Turns& turns_;
    MetadataStore& store_;
    UpkeepBell& upkeep_;
    FailureLog& failures_;
    CommitListener* commits_ = nullptr;
    ReplyEncoder encoder_ = nullptr;
    std::mutex settings_mutex_;
    // Guarded by settings_mutex_, as a coordinator that is rebuilt needs them on another thread.
    groups::GroupConfig config_;
    groups::ClusterPointer cluster_;
    std::vector<std::unique_ptr<Shard>> shards_;
    std::atomic<bool> attached_ = false;
    /// Shards in that state.
    std::atomic<int> rebuilding_ = 0;
    std::atomic<std::uint64_t> next_token_ = 1;
    std::atomic<std::uint64_t> membership_version_ = 1;
    std::atomic<std::uint64_t> groups_visited_ = 0;
};

}  // namespace partita::runtime
