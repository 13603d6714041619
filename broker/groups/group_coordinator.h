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

/// All groups whose state lives in ONE partition of `__consumer_offsets`: membership of classic groups (JoinGroup protocol) and
/// of consumer groups (KIP-848), migration between them, committed offsets. It behaves like the group coordinator of Apache Kafka
/// 4.3.1.
///
/// It is a coordination::CoordinatorCore, which documents its life cycle. A later call (from any client, or `tick`) may answer
/// JoinGroup and SyncGroup; every other command is answered by its own call.
///
/// Only records change the durable state. The coordinator applies each record when it creates it, before the record is durable,
/// with the code that also replays it (`group_table.h`). No client sees the change earlier: the shell must not let replies of
/// later calls overtake the records of earlier ones. If persisting fails, the shell calls `fail_waiting`, answers the replies of
/// the lost effects with an error, discards the object and builds another one from the log: no change is ever undone by itself.
///
/// A disconnecting client is not an event here: as in Kafka, a member lives until it leaves or its session ends. The shell drops
/// a reply whose connection is gone.
class GroupCoordinator {
  public:
    using Record = groups::Record;
    using Result = groups::Result;
    using Effects = groups::Effects;

    explicit GroupCoordinator(const GroupConfig& config);
    ~GroupCoordinator();
    GroupCoordinator(GroupCoordinator&&) noexcept;
    GroupCoordinator& operator=(GroupCoordinator&&) noexcept;

    // The form of its records in the log; see `record_codec.h` and `record_appender.h`.

    [[nodiscard]] static std::expected<std::optional<Record>, DecodeError> decode(Bytes key, std::optional<Bytes> value,
                                                                                  Arena& arena);
    [[nodiscard]] static std::expected<void, EncodeError> encode(const Record& record, TimestampMs timestamp, ByteBuffer& scratch,
                                                                 BatchBuilder& batch);

    // Start: replay every record of the log in order, then call `loaded` once.

    /// Applies one record of the log. Only before `loaded`.
    void replay(const Record& record);
    /// Converts a record of a transaction that is still open, for `replay`. Empty for records that no program writes in
    /// transactions; these mean nothing.
    [[nodiscard]] static std::optional<Record> in_transaction(const Record& record, ProducerId producer_id);
    /// Ends the replay: sessions of the members begin now.
    void loaded(Now now, Effects& effects);

    /// Answers the command, or makes it wait; `commands.h` has the commands and `results.h` the answers.
    template <class Command>
        requires std::constructible_from<AnyCommand, const Command*>
    void decide(const Command& command, Now now, Effects& effects) {
        execute(&command, now, effects);
    }
    void topic_deleted(const TopicDeleted& event, Now now, Effects& effects);
    /// The log has the marker that ends the producer's transaction: its offsets become valid, or vanish. Returns the committed
    /// ones, ascending by group and topic; nothing for an abort.
    std::vector<TransactionCommit> transaction_ended(ProducerId producer_id, bool is_commit);

    /// Queries about its groups, which change nothing (`group_queries.h`).
    [[nodiscard]] GroupQueries& queries();
    [[nodiscard]] const GroupQueries& queries() const;
    /// See GroupHistory::note_late_reading.
    void note_late_reading(std::string_view group_id, std::string_view member_id, std::string_view owner_id,
                           insight::LateReading seen);
    /// Commits offset 0 where the group has no offset under the topic's id. It overwrites nothing, so it may be repeated. Creates
    /// an unknown group, like a commit from outside of a group. No reply.
    void seed_offsets(const SeedOffsets& command, Now now, Effects& effects);
    /// Removes the offsets of an earlier `seed_offsets` with the same command, if they are unchanged and no open transaction
    /// commits over them. Returns the number of offsets removed. No reply.
    std::size_t remove_seeds(const SeedOffsets& command, Effects& effects);

    /// Replaces the cluster view of consumer groups; affected groups notice the change at the next heartbeat of any member.
    /// Before the first call there are no topics. `has_new_topics`: topics were created since the last call.
    void cluster_changed(ClusterPointer cluster, bool has_new_topics);

    /// Runs every due timer. Calling early or often is harmless.
    void tick(Now now, Effects& effects);
    /// When the shell has to call `tick` next; unset if no timer runs.
    [[nodiscard]] std::optional<Instant> next_deadline() const;

    /// Answers every waiting join and sync with `error` and does nothing else; these replies depend on no record. The shell calls
    /// it at shutdown (NOT_COORDINATOR) and before it discards the object.
    void fail_waiting(ErrorCode error, Effects& effects);

    /// Takes effect for later calls.
    void reconfigure(const GroupConfig& config);

    /// The durable state as text, in a defined order. It equals that of a coordinator that only replayed the same records. For a
    /// rebalancing classic group it shows only this fact and its offsets. For tests and for a debug page.
    [[nodiscard]] std::string dump() const;

    [[nodiscard]] std::size_t group_count() const;
    [[nodiscard]] std::size_t offset_count() const;

    class Core;

  private:
    void execute(AnyCommand command, Now now, Effects& effects);

    std::unique_ptr<Core> core_;
};

}  // namespace partita::groups
