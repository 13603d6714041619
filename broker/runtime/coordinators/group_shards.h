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
    /// A group's records of the topic are durable. From the thread of whoever committed, with the lock of the group's shard held.
    virtual void on_commit(std::string_view topic) = 0;
};

/// Hears of offsets that were committed within transactions, once they count: when the transaction is committed, and never of
/// those of one that is aborted.
class TransactionCommitListener {
  public:
    virtual ~TransactionCommitListener() = default;
    /// `coordinator` has them already. From the thread that writes the marker, with the lock of the group's shard held; whoever
    /// ended the transaction was not told yet. Those of one group come in the order in which they count.
    virtual void on_transaction_commit(const groups::GroupCoordinator& coordinator, const groups::TransactionCommit& commit) = 0;
};

extern template class CoordinatorShards<groups::GroupCoordinator>;

struct OwnershipRecord;

/// The group coordinators. A shard is found by the group's id.
class GroupShards final : public CoordinatorShards<groups::GroupCoordinator> {
  public:
    GroupShards(const Surroundings& surroundings, groups::GroupConfig config)
        : CoordinatorShards(surroundings, LockRank::group_shard), config_(std::move(config)) {}
    /// Set once, before requests come.
    void set_commit_listener(CommitListener& listener) { commits_ = &listener; }
    void set_transaction_commit_listener(TransactionCommitListener& listener) { transaction_commits_ = &listener; }

    /// The settings from now on. Once before the shards are attached, and then with every change.
    void reconfigure(const groups::GroupConfig& config);
    /// Topics or settings of groups changed. Once before `load`, and then with every change of the catalog.
    void cluster_changed(groups::ClusterPointer cluster, bool has_new_topics);

    // Offsets within transactions ------------------------------------------------------------------------

    /// To be called before the coordinator of the transaction is asked on behalf of such a commit, for `commit_in_transaction`,
    /// as PartitionLog::begin_verification. Empty when nobody has to be asked: the producer has a transaction open here, or is
    /// fenced, and then the commit is refused.
    [[nodiscard]] std::optional<TransactionVerification> begin_verification(std::string_view group_id, ProducerId producer_id,
                                                                            ProducerEpoch producer_epoch, bool bumps_epoch,
                                                                            Now now);
    /// As `ask`. What the log refuses (a fenced epoch, a verification that was overtaken) is the error of the whole answer, and
    /// nothing has happened then. `verification` as in AppendContext.
    [[nodiscard]] std::optional<groups::OffsetCommitResult> commit_in_transaction(
        Turn& turn, const groups::TransactionalOffsetCommit& command, std::optional<TransactionVerification> verification);

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
    /// As `GroupQueries::protocol_of`. Of a group whose shard is being rebuilt nothing is known.
    [[nodiscard]] std::optional<std::string> protocol_of(std::string_view group_id);
    /// As `GroupQueries::holdings_of`, likewise.
    [[nodiscard]] std::optional<groups::MemberHoldings> holdings_of(std::string_view group_id, std::string_view member_id);
    /// As `GroupQueries::history_of`, likewise: a copy, for which the shard's lock is held as long as it takes to make it.
    [[nodiscard]] std::optional<insight::GroupHistory> history_of(std::string_view group_id);
    /// See ownership_record.h; likewise.
    [[nodiscard]] std::optional<OwnershipRecord> ownership_of(std::string_view group_id);
    /// As `GroupQueries::visit_histories`, of one shard after the other, with its lock held.
    void visit_histories(FunctionRef<void(std::string_view group_id, const insight::GroupHistory& history)> visit);
    /// As `GroupCoordinator::note_late_reading`. Nothing happens while the group's shard is being rebuilt.
    void note_late_reading(std::string_view group_id, std::string_view member_id, std::string_view owner_id,
                           insight::LateReading seen);
    /// Seeds each of the groups; `seeds.group_id` is not looked at. Groups of a shard are seeded by one write, up to
    /// `kSeedRecordsMax` records. False when something could not be written: then the others may have been seeded.
    [[nodiscard]] bool seed_offsets(Turn* turn, std::span<const std::string> group_ids, groups::SeedOffsets seeds, Now now);
    /// Takes back the seeds that are still as they were given. Empty when something could not be written.
    [[nodiscard]] std::optional<std::size_t> remove_seeds(Turn* turn, std::span<const std::string> group_ids,
                                                          groups::SeedOffsets seeds, Now now);

    /// Has the device take what is committed in these groups so far, one log after the other; blocks, without a lock. Errors are
    /// the logs' own (`closed` when the topic was deleted meanwhile).
    [[nodiscard]] StorageResult<void> sync(std::span<const std::string> group_ids);

    /// Offsets that are given or taken back by one write, before the shard serves others again.
    static constexpr std::size_t kSeedRecordsMax = 2000;
    /// Grows when members of any group come, go, or get another assignment, and when offsets are removed; not with commits.
    [[nodiscard]] std::uint64_t membership_version() const { return membership_version_.load(std::memory_order_acquire); }
    /// Groups that were looked at to answer who reads a topic, so far. For tests.
    [[nodiscard]] std::uint64_t groups_visited() const { return groups_visited_.load(std::memory_order_relaxed); }

    [[nodiscard]] std::size_t group_count();

  private:
    [[nodiscard]] std::unique_ptr<groups::GroupCoordinator> make_core(const Partition& partition) override;
    void bring_up_to_date(groups::GroupCoordinator& core) override;
    void on_persisted(std::span<const groups::Record> records) override;
    void end_transaction(groups::GroupCoordinator& core, ProducerId producer_id, bool is_commit) override;
    void on_replaced() override { membership_version_.fetch_add(1, std::memory_order_release); }

    /// Runs `change` for each group, with its shard locked, and persists what came of it. False when that failed.
    template <class Change>
    [[nodiscard]] bool change_offsets(Turn* turn, std::span<const std::string> group_ids, Now now, Change change);
    [[nodiscard]] std::vector<std::vector<groups::TopicReader>> readers_in(Shard& shard,
                                                                           std::span<groups::TopicQuestion> questions)
        REQUIRES(shard.mutex);

    CommitListener* commits_ = nullptr;
    TransactionCommitListener* transaction_commits_ = nullptr;
    /// Apart from the shards' locks, as a core that is rebuilt needs these on another thread.
    Mutex settings_mutex_{LockRank::group_settings};
    groups::GroupConfig config_ GUARDED_BY(settings_mutex_);
    groups::ClusterPointer cluster_ GUARDED_BY(settings_mutex_);
    std::atomic<std::uint64_t> membership_version_ = 1;
    std::atomic<std::uint64_t> groups_visited_ = 0;
};

}  // namespace partita::runtime
