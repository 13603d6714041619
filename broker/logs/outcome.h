#pragma once

#include <cstdint>

#include "storage/partition_log.h"

namespace partita::logs {

/// What became of the look-up of a partition, of one batch or of one read. A front translates it once, at its edge: Kafka's codes
/// are in broker/handlers/outcome_codes.h.
enum class Outcome : std::uint8_t {
    ok,

    // The look-up.
    unknown_topic,
    unknown_topic_id,
    /// The client lacks the permission. It does not learn whether the topic exists.
    not_authorized,
    unknown_partition,
    /// Another node leads the partition, or the log was closed under the request because its topic was deleted.
    not_led_here,
    /// The request names a leader epoch that is over, or one that is not known yet (KIP-320).
    fenced_leader_epoch,
    unknown_leader_epoch,

    // Before a batch reaches the log.
    transactional_id_not_authorized,
    /// The transactional batches of one request are of more than one producer.
    mixed_producers,
    /// The coordinator of the transaction does not confirm it: Append::coordinator_error.
    transaction_refused,
    /// The client asks for an acknowledgement that does not exist.
    unknown_acknowledgement,
    /// Only the broker writes to this topic.
    internal_topic,
    /// A rule of this broker does not accept the batch's codec.
    codec_not_accepted,
    /// The client would have to wait longer for capacity than it is ready to wait for an answer.
    over_capacity,
    /// The broker cannot do it now; the client may try again.
    try_again,
    /// The batch breaks the format's rules: Append::invalid.
    invalid_batch,

    // The log.
    out_of_order_sequence,
    invalid_producer_epoch,
    invalid_transaction_state,
    coordinator_fenced,
    malformed_batch,
    storage_failed,
    offset_out_of_range,
    internal_error,
};

[[nodiscard]] Outcome outcome_of(AppendFailure failure);
[[nodiscard]] Outcome outcome_of(ReadError error);

}  // namespace partita::logs
