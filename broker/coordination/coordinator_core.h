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

/// What a core must offer so that the shards of the running broker (`runtime/coordinators/coordinator_shards.h`) can run it: all
/// state that lives in ONE partition of an internal topic, rebuilt from the records of that partition.
///
/// A core is pure: no clock, file, socket, thread, randomness. One caller at a time; calls run to their end and append to
/// `Effects`, see there. Each record is applied when it is made, by the function that replays it, and before it is durable: so
/// the next command waits for no disk. Nobody hears of it earlier; when it cannot be persisted, the core is rebuilt from the log.
///
/// - `Record` and `Result` are its values: what it persists, and a std::variant of all answers.
/// - `decode` reads a record of the log; empty for records that are not for this core, an error for bytes that are none. `encode`
///   adds a record to the batch that is to be appended, and leaves the batch as it was on an error.
/// - Start: `replay` of every record in order, then `loaded` once.
/// - `decide(command, now, effects)` is what is asked of it: one overload for each command. A command names its answer
///   (`Command::Result`, one of the variant) and has a `reply_to`, which the shards fill in. Each token is answered exactly once,
///   with the type of its command, by the same call or by a later one (of anybody, or `tick`).
/// - `tick` runs what is due, `next_deadline` says when it is needed next. Calling early or often is harmless.
/// - `fail_waiting` answers everybody who waits with the error and does nothing else; the replies depend on no record.
/// - `topic_deleted`: what it keeps of that topic goes.
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

/// A core whose log producers write to within transactions. Records that a call asks for with `Effects::transaction` are not
/// decided before the marker of that transaction stands in the log, and neither are those of the log that `in_transaction` makes
/// other records of, for `replay`; empty for those that mean nothing there. `transaction_ended` comes with the marker, in the
/// order of the log; what it returns is for the kind, which calls it (`CoordinatorShards::end_transaction`).
template <class C>
concept TakesPartInTransactions =
    CoordinatorCore<C> && requires(C& core, const typename C::Record& record, ProducerId producer_id) {
        { C::in_transaction(record, producer_id) } -> std::same_as<std::optional<typename C::Record>>;
        core.transaction_ended(producer_id, true);
    };

/// A core that also writes to partitions that are not its own. `written` tells it what became of all writes of one call, in their
/// order, and may ask for records and replies but for no more writes: what failed is tried again when a timer is due. What a core
/// owes others must follow from its records, so that it asks again after a rebuild: then nobody was told, and `written` does
/// not come.
template <class C>
concept WritesOutward = CoordinatorCore<C> && requires(C& core, std::span<const OutwardWriteOutcome> outcomes, Now now,
                                                       typename C::Effects& effects) { core.written(outcomes, now, effects); };

}  // namespace partita::coordination
