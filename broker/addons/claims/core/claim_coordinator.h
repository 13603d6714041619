#pragma once

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "broker/addons/claims/core/claims.h"
#include "broker/groups/committed_offset.h"
#include "broker/insight/history/group_history.h"
#include "protocol/byte_buffer.h"
#include "protocol/codec.h"
#include "protocol/function_ref.h"
#include "protocol/record_batch_builder.h"

namespace partita::claims {

/// Decides which client may read which partition, for clients that share partitions out among themselves. Each client claims
/// partitions, renews its claims, and takes over claims that expired or of which others have too many. A core of coordinators
/// (coordination/coordinator_core.h): pure.
///
/// A partition of a topic has at most one claim in a group. A claim is *valid* from when it was made or renewed until its
/// lifetime is over or it is released. Time is that of the monotonic clock, so a wall clock that jumps changes nothing. After a
/// start every claim has its whole lifetime again. Each change gives it another tag. These clients may change it:
///
/// | the client gives             | it gets the partition if                                                           |
/// |------------------------------|------------------------------------------------------------------------------------|
/// | a tag                        | it is the claim's tag: nothing happened since the client saw it, valid or not       |
/// | no tag, no owner level       | no valid claim exists                                                              |
/// | no tag, an owner level       | no valid claim exists, or one of a lower level, or of none, which it takes         |
///
/// If a valid claim has an owner level, other clients with a lower level or none cannot take it, not even by its tag. The
/// previous owner learns of a takeover by its next request: the coordinator refuses its renewal and its checkpoints, and answers
/// with the claim as it is now.
///
/// The coordinator keeps checkpoints beside claims: the last one of each partition counts. While a claim is valid, only its owner
/// may write checkpoints.
///
/// Each takeover is in the group's history (insight/history/group_history.h), which is volatile. It is *lost* if the claim had
/// expired, and *left* if it was released. It is *normal* if the previous owner had at least two valid claims of the topic more
/// than the new one. Otherwise it is *stolen*.
class ClaimCoordinator {
  public:
    using Record = ClaimsRecord;
    using Result = ClaimsAnswer;
    using Effects = ClaimsEffects;

    /// The claims and checkpoints of one group. A partition may have either or both.
    struct Group {
        std::map<ClaimPlace, Claim> claims;
        std::map<ClaimPlace, ClaimCheckpoint> checkpoints;
    };

    [[nodiscard]] static std::expected<std::optional<Record>, DecodeError> decode(Bytes key, std::optional<Bytes> value,
                                                                                  Arena& arena);
    [[nodiscard]] static std::expected<void, EncodeError> encode(const Record& record, TimestampMs timestamp, ByteBuffer& scratch,
                                                                 BatchBuilder& batch);

    void replay(const Record& record) { apply(record); }
    void loaded(Now now, Effects& effects);

    void decide(const ClaimPartitions& command, Now now, Effects& effects);
    void decide(const ReleasePartitions& command, Now now, Effects& effects);
    void decide(const WriteCheckpoints& command, Now now, Effects& effects);
    void decide(const ForgetClaims& command, Now now, Effects& effects);

    void topic_deleted(const coordination::TopicDeleted& event, Now now, Effects& effects);
    /// Does nothing: a claim that expires changes nothing before the next request.
    void tick(Now /*now*/, Effects& /*effects*/) {}
    [[nodiscard]] std::optional<Instant> next_deadline() const { return std::nullopt; }
    /// Does nothing: no request waits, because each call answers its own command.
    void fail_waiting(ErrorCode /*error*/, Effects& /*effects*/) {}

    /// Null if the group has nothing here.
    [[nodiscard]] const Group* find(std::string_view group) const;
    /// The history of the owners. For a group without a history, it is made from its claims. Partitions with expired claims are
    /// free in it.
    [[nodiscard]] std::optional<insight::GroupHistory> history_of(std::string_view group, Now now) const;
    [[nodiscard]] groups::Checkpoints checkpoints_of(std::string_view group) const;
    void visit_histories(FunctionRef<void(std::string_view group, const insight::GroupHistory& history)> visit) const;

  private:
    using Groups = std::map<std::string, Group, std::less<>>;

    /// Applies a record: the only way in which durable state changes.
    void apply(const Record& record);
    void change(Record record, Effects& effects);
    [[nodiscard]] ClaimRefusal refusal_of(const ClaimPartitions& command, const ClaimPartitions::Wish& wish, const Claim* claim,
                                          Instant now) const;
    [[nodiscard]] bool has_room(std::string_view group, const ClaimPlace& place) const;
    [[nodiscard]] const Claim* find_claim(std::string_view group, const ClaimPlace& place, const TopicId& topic_id) const;
    [[nodiscard]] bool took_it_from(std::string_view group, const ClaimPlace& place, std::string_view owner) const;
    void note_takeover(const ClaimPartitions& command, const ClaimPartitions::Wish& wish, const Claim* before,
                       std::int32_t number, Now now);
    [[nodiscard]] bool evens_out(std::string_view group, std::string_view topic, std::string_view from, std::string_view to,
                                 Instant now) const;
    /// Tells the history that the owner is gone, if it has nothing any more.
    void note_idle(std::string_view group, const std::string& owner, TimestampMs now);
    [[nodiscard]] insight::GroupHistory& history(std::string_view group);
    /// Drops the histories' news since the last command: nothing here reads it, and it must not grow.
    void forget_news();

    Groups groups_;
    std::size_t row_count_ = 0;
    ClaimTag last_tag_;
    insight::GroupHistories histories_;
};

}  // namespace partita::claims
