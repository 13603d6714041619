#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/groups/group_coordinator.h"
#include "broker/runtime/coordinators/coordinator_shards.h"
#include "protocol/function_ref.h"

namespace partita::insight {
class GroupHistory;
struct LateReading;
}  // namespace partita::insight

namespace partita::runtime {

/// Hears of commits that became durable.
class CommitListener {
  public:
    virtual ~CommitListener() = default;
    /// A group's records of the topic are durable. Called on the thread that commits, with the lock of the group's shard held.
    virtual void on_commit(std::string_view topic) = 0;
};

/// Hears of offsets that were committed within transactions, once they count. That is when the transaction is committed; offsets
/// of aborted transactions are never reported.
class TransactionCommitListener {
  public:
    virtual ~TransactionCommitListener() = default;
    /// `coordinator` already has the offsets. Called on the thread that writes the marker, with the lock of the group's shard
    /// held; the client that ended the transaction has no answer yet. The commits of one group come in the order in which they
    /// count.
    virtual void on_transaction_commit(const groups::GroupCoordinator& coordinator, const groups::TransactionCommit& commit) = 0;
};

extern template class CoordinatorShards<groups::GroupCoordinator>;

struct OwnershipRecord;

/// The group coordinators. A group's id determines its shard.
class GroupShards final : public CoordinatorShards<groups::GroupCoordinator> {
  public:
    GroupShards(const Surroundings& surroundings, groups::GroupConfig config)
        : CoordinatorShards(surroundings, LockRank::group_shard), config_(std::move(config)) {}
    /// Set these once, before requests come.
    void set_commit_listener(CommitListener& listener) { commits_ = &listener; }
    void set_transaction_commit_listener(TransactionCommitListener& listener) { transaction_commits_ = &listener; }

    /// Sets the settings: once before the shards are attached, and then after every change.
    void reconfigure(const groups::GroupConfig& config);
    /// Tells the groups about changed topics or group settings: once before `load`, and then after every change of the catalog.
    void cluster_changed(groups::ClusterPointer cluster, bool has_new_topics);

    // Offsets within transactions ------------------------------------------------------------------------

    /// Call this before asking the transaction's coordinator about such a commit; `commit_in_transaction` takes the result. See
    /// PartitionLog::begin_verification. Empty if the coordinator need not be asked: the producer has a transaction open here, or
    /// it is fenced and the commit is refused.
    [[nodiscard]] std::optional<TransactionVerification> begin_verification(std::string_view group_id, ProducerId producer_id,
                                                                            ProducerEpoch producer_epoch, bool bumps_epoch,
                                                                            Now now);
    /// Like `ask`. If the log refuses the commit (a fenced epoch, an outdated verification), that error applies to the whole
    /// answer, and nothing has happened. For `verification` see AppendContext.
    [[nodiscard]] std::optional<groups::OffsetCommitResult> commit_in_transaction(
        logs::Turn& turn, const groups::TransactionalOffsetCommit& command, std::optional<TransactionVerification> verification);

    // Queries and seeds for expansions; see broker/groups/topic_readers.h --------------------------------

    /// All groups that read the topic, in no particular order.
    [[nodiscard]] std::vector<groups::TopicReader> readers_of(std::string_view topic, const TopicId& topic_id);
    /// The same for several topics, with the further facts that the questions ask for: one answer for each. Takes one shard's
    /// lock after the other, each for about the time it takes to read the reports of its groups.
    [[nodiscard]] std::vector<std::vector<groups::TopicReader>> readers_of(std::span<groups::TopicQuestion> questions);
    /// The same, with a memory that the caller keeps: only changed shards are asked again. For a shard that is being rebuilt, the
    /// last answer remains.
    struct KnownReaders {
        struct Shard {
            std::uint64_t version = 0;
            std::vector<groups::TopicReader> readers;
        };
        std::vector<Shard> shards;
    };
    void refresh_readers(KnownReaders& known, std::string_view topic, const TopicId& topic_id);
    /// See `GroupQueries::protocol_of`. Empty while the group's shard is being rebuilt.
    [[nodiscard]] std::optional<std::string> protocol_of(std::string_view group_id);
    /// See `GroupQueries::holdings_of`. Empty while the group's shard is being rebuilt.
    [[nodiscard]] std::optional<groups::MemberHoldings> holdings_of(std::string_view group_id, std::string_view member_id);
    /// See `GroupQueries::history_of`. Returns a copy, made with the shard's lock held. Empty while the group's shard is being
    /// rebuilt.
    [[nodiscard]] std::optional<insight::GroupHistory> history_of(std::string_view group_id);
    /// See ownership_record.h. Empty while the group's shard is being rebuilt.
    [[nodiscard]] std::optional<OwnershipRecord> ownership_of(std::string_view group_id);
    /// See `GroupQueries::visit_histories`. Visits one shard after the other, with the shard's lock held.
    void visit_histories(FunctionRef<void(std::string_view group_id, const insight::GroupHistory& history)> visit);
    /// See `GroupCoordinator::note_late_reading`. Does nothing while the group's shard is being rebuilt.
    void note_late_reading(std::string_view group_id, std::string_view member_id, std::string_view owner_id,
                           insight::LateReading seen);
    /// Seeds each of the groups and ignores `seeds.group_id`. One write seeds the groups of a shard, up to `kSeedRecordsMax`
    /// records. False if a write failed; other groups may then have been seeded.
    [[nodiscard]] bool seed_offsets(logs::Turn* turn, std::span<const std::string> group_ids, groups::SeedOffsets seeds, Now now);
    /// Removes the seeds that have not changed since. Empty if a write failed.
    [[nodiscard]] std::optional<std::size_t> remove_seeds(logs::Turn* turn, std::span<const std::string> group_ids,
                                                          groups::SeedOffsets seeds, Now now);

    /// Makes the commits of these groups so far durable, one log after the other. Blocks on the device, without a lock. Errors
    /// come from the logs (`closed` if the topic was deleted meanwhile).
    [[nodiscard]] StorageResult<void> sync(std::span<const std::string> group_ids);

    /// How many offsets one write seeds or removes before the shard serves others again.
    static constexpr std::size_t kSeedRecordsMax = 2000;
    /// Grows when members of any group come, go, or get another assignment, and when offsets are removed. Commits do not change
    /// it.
    [[nodiscard]] std::uint64_t membership_version() const { return membership_version_.load(std::memory_order_acquire); }
    /// How many groups were examined so far to answer who reads a topic. For tests.
    [[nodiscard]] std::uint64_t groups_visited() const { return groups_visited_.load(std::memory_order_relaxed); }

    [[nodiscard]] std::size_t group_count();

  private:
    [[nodiscard]] std::unique_ptr<groups::GroupCoordinator> make_core(const logs::Partition& partition) override;
    void bring_up_to_date(groups::GroupCoordinator& core) override;
    void on_persisted(std::span<const groups::Record> records) override;
    void on_timer(std::span<const groups::Record> records) override;
    void end_transaction(groups::GroupCoordinator& core, ProducerId producer_id, bool is_commit) override;
    void on_replaced() override { membership_version_.fetch_add(1, std::memory_order_release); }

    /// Runs `change` for each group, with its shard locked, and persists the effects. False if that failed.
    template <class Change>
    [[nodiscard]] bool change_offsets(logs::Turn* turn, std::span<const std::string> group_ids, Now now, Change change);
    [[nodiscard]] std::vector<std::vector<groups::TopicReader>> readers_in(Shard& shard,
                                                                           std::span<groups::TopicQuestion> questions)
        REQUIRES(shard.mutex);

    CommitListener* commits_ = nullptr;
    TransactionCommitListener* transaction_commits_ = nullptr;
    /// Separate from the shards' locks, because another thread that rebuilds a core needs these.
    Mutex settings_mutex_{LockRank::group_settings};
    groups::GroupConfig config_ GUARDED_BY(settings_mutex_);
    groups::ClusterPointer cluster_ GUARDED_BY(settings_mutex_);
    std::atomic<std::uint64_t> membership_version_ = 1;
    std::atomic<std::uint64_t> groups_visited_ = 0;
};

}  // namespace partita::runtime
