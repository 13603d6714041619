#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "broker/share/commands.h"
#include "broker/share/records.h"
#include "broker/share/share_partition.h"
#include "protocol/arena.h"
#include "protocol/byte_buffer.h"
#include "protocol/codec.h"

namespace partita {
class BatchBuilder;
}

namespace partita::share {

/// All share partitions whose state lives in ONE partition of `__share_group_state`: what is persisted of them, and for those in
/// use also who holds which records until when. In Kafka the two belong to different brokers; here one core has both, so that an
/// acknowledgement and its record are one step.
///
/// It is a coordination::CoordinatorCore, which documents its life cycle. Every command is answered by its own call. If records
/// cannot be persisted, the shell rebuilds the core: locks are then lost and records delivered again, as after a Kafka broker's
/// loss of its leadership.
///
/// It persists every change as a whole snapshot, and reads Kafka's updates too (see UpdateRecord).
class ShareCoordinator {
  public:
    using Record = share::Record;
    using Result = share::Result;
    using Effects = share::Effects;

    [[nodiscard]] static std::expected<std::optional<Record>, DecodeError> decode(Bytes key, std::optional<Bytes> value,
                                                                                  Arena& arena);
    [[nodiscard]] static std::expected<void, EncodeError> encode(const Record& record, TimestampMs timestamp, ByteBuffer& scratch,
                                                                 BatchBuilder& batch);

    void replay(const Record& record);
    /// Writes a snapshot of each state that a Kafka broker left with updates.
    void loaded(Now now, Effects& effects);
    void tick(Now now, Effects& effects);
    [[nodiscard]] std::optional<Instant> next_deadline() const;
    /// Nothing waits here.
    void fail_waiting(ErrorCode, Effects&) {}
    void topic_deleted(const TopicDeleted& event, Now now, Effects& effects);

    void decide(const InitializeState& command, Now now, Effects& effects);
    void decide(const ReadState& command, Now now, Effects& effects);
    void decide(const WriteState& command, Now now, Effects& effects);
    void decide(const ReadSummary& command, Now now, Effects& effects);
    void decide(const DeleteState& command, Now now, Effects& effects);
    void decide(const PlanFetch& command, Now now, Effects& effects);
    void decide(const AcquireRecords& command, Now now, Effects& effects);
    void decide(const AcknowledgeRecords& command, Now now, Effects& effects);
    void decide(const ReleaseRecords& command, Now now, Effects& effects);
    void decide(const FollowLogStart& command, Now now, Effects& effects);
    void decide(const PutAside& command, Now now, Effects& effects);

    [[nodiscard]] std::size_t state_count() const { return states_.size(); }
    /// Null if the share partition is not in use.
    [[nodiscard]] const SharePartition* in_use(const SharePartitionKey& key) const;
    /// The durable part as text, in a defined order. It equals that of a coordinator that only replayed the same records.
    [[nodiscard]] std::string dump() const;

  private:
    using Key = std::tuple<std::string, TopicId, PartitionIndex>;

    using Deadline = std::pair<Instant, const Key*>;

    struct State {
        std::int32_t snapshot_epoch = 0;
        std::int32_t state_epoch = 0;
        std::int32_t leader_epoch = 0;
        Offset start = kUnsetStart;
        std::int32_t delivery_complete_count = -1;
        TimestampMs created;
        TimestampMs written;
        std::vector<StateBatch> batches;
        /// A Kafka broker's updates have followed the snapshot.
        bool has_updates = false;

        // Volatile

        std::unique_ptr<SharePartition> partition;
        ShareLimits limits;
        std::optional<Instant> deadline;
    };
    using States = std::map<Key, State>;

    void apply(const SnapshotRecord& record);
    void apply(const UpdateRecord& record);
    void apply(const StateTombstone& record);
    /// Applies the record and appends it to the effects, which own its text.
    template <class R>
    void change(R record, Effects& effects);

    [[nodiscard]] States::iterator find(const SharePartitionKey& key);
    [[nodiscard]] static SharePartitionKey key_of(const Key& key);
    /// The persisted state as a record to change.
    [[nodiscard]] static SnapshotRecord snapshot_of(const States::value_type& entry, Now now);
    /// Makes changes of a share partition in use durable, then moves its start.
    void persist(States::value_type& entry, std::vector<StateBatch> changes, Now now, Effects& effects);
    void raise_leader_epoch(const States::value_type& entry, std::int32_t leader_epoch, Now now, Effects& effects);
    [[nodiscard]] static std::optional<ErrorCode> fence(const State& state, std::int32_t state_epoch, std::int32_t leader_epoch);
    void watch_locks(States::value_type& entry);
    void put_aside(States::value_type& entry);

    States states_;
    /// The ends of locks, the earliest first.
    std::set<Deadline> deadlines_;
};

}  // namespace partita::share
