#pragma once

#include <concepts>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/groups/cluster_view.h"
#include "broker/groups/commands.h"
#include "broker/groups/committed_offset.h"
#include "broker/groups/effects.h"
#include "broker/groups/group_config.h"
#include "broker/groups/records.h"
#include "broker/groups/results.h"
#include "broker/groups/topic_readers.h"
#include "broker/groups/transaction_commit.h"
#include "protocol/arena.h"
#include "protocol/byte_buffer.h"
#include "protocol/codec.h"
#include "protocol/types.h"

namespace partita {
class BatchBuilder;
}

namespace partita::insight {
struct LateReading;
}  // namespace partita::insight

namespace partita::groups {

class GroupQueries;

/// All groups whose state lives in ONE partition of `__consumer_offsets`: membership of classic groups (JoinGroup
/// protocol) and of consumer groups (KIP-848), migration between them, committed offsets. It behaves as the group
/// coordinator of Apache Kafka 4.3.1.
///
/// A coordination::CoordinatorCore, see there for the rules of its life. JoinGroup and SyncGroup may be answered by a later call
/// (of anybody, or `tick`); everything else is answered by its own call.
///
/// What is durable changes by records alone: each is applied when it is made, before it is durable, by the code that replays it
/// (`group_table.h`). Nobody hears of it earlier: the shell must not let replies of later calls overtake the records of earlier
/// ones. When persisting fails, the shell calls `fail_waiting`, answers what was in the lost effects with an error, throws the
/// object away and builds another one from the log: nothing is ever taken back one by one.
///
/// A client that disconnects is no event here: as in Kafka, a member lives until it leaves or its session ends. The
/// shell drops a reply whose connection is gone.
class GroupCoordinator {
  public:
    using Record = groups::Record;
    using Result = groups::Result;
    using Effects = groups::Effects;

    explicit GroupCoordinator(const GroupConfig& config);
    ~GroupCoordinator();
    GroupCoordinator(GroupCoordinator&&) noexcept;
    GroupCoordinator& operator=(GroupCoordinator&&) noexcept;

    // How its records are written in the log; see `record_codec.h` and `record_appender.h`.

    [[nodiscard]] static std::expected<std::optional<Record>, DecodeError> decode(Bytes key, std::optional<Bytes> value,
                                                                                  Arena& arena);
    [[nodiscard]] static std::expected<void, EncodeError> encode(const Record& record, TimestampMs timestamp, ByteBuffer& scratch,
                                                                 BatchBuilder& batch);

    // Start: replay every record of the log in order, then call `loaded` once.

    /// Puts one record of the log into the state. Only before `loaded`.
    void replay(const Record& record);
    /// What a record is that stands in a transaction which is still open, for `replay`. Empty for records that nobody writes
    /// in transactions, which then mean nothing.
    [[nodiscard]] static std::optional<Record> in_transaction(const Record& record, ProducerId producer_id);
    /// The log has been replayed: sessions of the members begin now.
    void loaded(Now now, Effects& effects);

    /// Answers the command, or lets it wait; see `commands.h` for what can be asked and `results.h` for the answers.
    template <class Command>
        requires std::constructible_from<AnyCommand, const Command*>
    void decide(const Command& command, Now now, Effects& effects) {
        execute(&command, now, effects);
    }
    void topic_deleted(const TopicDeleted& event, Now now, Effects& effects);
    /// The marker that ends the producer's transaction stands in the log: what it committed here counts from now on, or goes. By
    /// group and topic, ascending; nothing of one that is aborted.
    std::vector<TransactionCommit> transaction_ended(ProducerId producer_id, bool is_commit);

    /// Questions about its groups, which change nothing (`group_queries.h`).
    [[nodiscard]] GroupQueries& queries();
    [[nodiscard]] const GroupQueries& queries() const;
    /// See GroupHistory::note_late_reading.
    void note_late_reading(std::string_view group_id, std::string_view member_id, std::string_view owner_id,
                           insight::LateReading seen);
    /// Commits offset 0 where the group has no offset under the topic's id. It overwrites nothing, so it may be
    /// repeated. Makes a group that is not known, as a commit from outside of a group does. No reply.
    void seed_offsets(const SeedOffsets& command, Now now, Effects& effects);
    /// Takes back the offsets that `seed_offsets` gave with the same command, where they are unchanged and no open transaction
    /// commits over them. Returns the number of offsets removed. No reply.
    std::size_t remove_seeds(const SeedOffsets& command, Effects& effects);

    /// Sets the cluster that consumer groups look at from now on; groups that the change concerns notice it at the next
    /// heartbeat of any member. Before the first call there are no topics. `has_new_topics`: topics were created since
    /// the last call.
    void cluster_changed(ClusterPointer cluster, bool has_new_topics);

    /// Runs every timer that is due. Calling early or often is harmless.
    void tick(Now now, Effects& effects);
    /// When the shell has to call `tick` next; unset when nothing waits.
    [[nodiscard]] std::optional<Instant> next_deadline() const;

    /// Answers every waiting join and sync with `error` and does nothing else; these replies depend on no record. The
    /// shell calls it at shutdown (NOT_COORDINATOR) and before it throws the object away.
    void fail_waiting(ErrorCode error, Effects& effects);

    /// Takes effect for later calls.
    void reconfigure(const GroupConfig& config);

    /// The durable part of the state as text, in a defined order: equal to that of a coordinator that replayed the same records
    /// and did nothing else. A classic group that rebalances says only that, and its offsets. For tests and for a debug page.
    [[nodiscard]] std::string dump() const;

    [[nodiscard]] std::size_t group_count() const;
    [[nodiscard]] std::size_t offset_count() const;

    class Core;

  private:
    void execute(AnyCommand command, Now now, Effects& effects);

    std::unique_ptr<Core> core_;
};

}  // namespace partita::groups
