#pragma once

#include <concepts>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "broker/coordination/effects.h"
#include "protocol/byte_buffer.h"
#include "protocol/codec.h"
#include "protocol/record_batch_builder.h"
#include "protocol/types.h"

namespace partita::coordination {

/// The requirements for a core that the shards of the running broker (`runtime/coordinators/coordinator_shards.h`) can run. A
/// core is all state that lives in ONE partition of an internal topic, rebuilt from the records of that partition.
///
/// A core is pure: no clock, file, socket, thread, randomness. One caller at a time; calls run to their end and append to
/// `Effects`, see there. The core applies each record when it is made, before it is durable, by the function that replays it. So
/// the next command does not wait for a disk. No client hears of a record before it is durable. If a record cannot be persisted,
/// the core is rebuilt from the log.
///
/// - `Record` and `Result` are its values: its persisted records, and a std::variant of all answers.
/// - `decode` reads a record of the log. It returns null for records that are not for this core, and an error for bytes that are
///   not a record. `encode` adds a record to the batch that will be appended, and leaves the batch as it was on an error.
/// - Start: `replay` of every record in order, then `loaded` once.
/// - `decide(command, now, effects)` takes a command: one overload for each. A command names its answer (`Command::Result`, one
///   of the variant) and has a `reply_to`, which the shards fill in. Each token is answered exactly once, with the type of its
///   command, by the same call or by a later one (of any command, or `tick`).
/// - `tick` runs the work that is due, `next_deadline` says when it is needed next. Early or frequent calls are harmless.
/// - `fail_waiting` answers all waiting requests with the error and does nothing else; the replies depend on no record.
/// - `topic_deleted` removes the core's state of that topic.
template <class C>
concept CoordinatorCore = std::same_as<typename C::Effects, Effects<typename C::Record, typename C::Result>> &&
                          requires(C& core, const C& known, const typename C::Record& record, typename C::Effects& effects,
                                   Now now, Arena& arena, ByteBuffer& scratch, BatchBuilder& batch) {
                              {
                                  C::decode(Bytes(), std::optional<Bytes>(), arena)
                              } -> std::same_as<std::expected<std::optional<typename C::Record>, DecodeError>>;
                              { C::encode(record, now.wall, scratch, batch) } -> std::same_as<std::expected<void, EncodeError>>;
                              core.replay(record);
                              core.loaded(now, effects);
                              core.tick(now, effects);
                              { known.next_deadline() } -> std::same_as<std::optional<Instant>>;
                              core.fail_waiting(ErrorCode::not_coordinator, effects);
                              core.topic_deleted(TopicDeleted(), now, effects);
                          };

/// A core whose log producers write to within transactions.
///
/// Records that a call requests with `Effects::transaction` take effect only with the marker that commits this transaction. In a
/// replay, `in_transaction` turns a record of an open transaction into the record to replay; it returns null for a record that
/// means nothing in a transaction. `transaction_ended` comes with the marker, in the order of the log. Its result goes to the
/// shards of that kind of coordinator (`CoordinatorShards::end_transaction`).
template <class C>
concept TakesPartInTransactions =
    CoordinatorCore<C> && requires(C& core, const typename C::Record& record, ProducerId producer_id) {
        { C::in_transaction(record, producer_id) } -> std::same_as<std::optional<typename C::Record>>;
        core.transaction_ended(producer_id, true);
    };

/// A core that also writes to partitions that are not its own, for example the markers of a transaction. `written` tells it the
/// outcomes of all writes of one call, in their order. It may then ask for records and replies, but not for more writes: it tries
/// failed writes again when a timer is due.
///
/// If the core is rebuilt before `written` comes, no client has got an answer, and `written` never comes. So the records must
/// tell which writes the core still owes; the rebuilt core asks for them again.
template <class C>
concept WritesOutward = CoordinatorCore<C> && requires(C& core, std::span<const OutwardWriteOutcome> outcomes, Now now,
                                                       typename C::Effects& effects) { core.written(outcomes, now, effects); };

}  // namespace partita::coordination
