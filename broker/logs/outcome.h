#pragma once

#include <cstdint>
#include <string>

#include "storage/partition_log.h"

namespace partita::logs {

/// The result of a partition look-up, of one batch, of one read or of another operation on a partition. A front translates it
/// once, at its edge; Kafka's codes are in broker/handlers/outcome_codes.h.
enum class Outcome : std::uint8_t {
    ok,

    // Results of the look-up.
    unknown_topic,
    unknown_topic_id,
    /// The request means an earlier topic: it names the topic by an id, and another topic has that one's name now.
    inconsistent_topic_id,
    /// The client lacks the permission. It does not learn whether the topic exists.
    not_authorized,
    unknown_partition,
    /// Another node leads the partition, or the log was closed during the request because its topic was deleted.
    not_led_here,
    /// The request names an old leader epoch, or one that is not known yet (KIP-320).
    fenced_leader_epoch,
    unknown_leader_epoch,

    // Refusals before a batch reaches the log.
    transactional_id_not_authorized,
    /// The request has transactional batches of more than one producer.
    mixed_producers,
    /// The transaction's coordinator does not confirm it; see Append::coordinator_error.
    transaction_refused,
    /// The client asks for an unknown kind of acknowledgement.
    unknown_acknowledgement,
    /// Only the broker writes to this topic, or deletes its records.
    internal_topic,
    /// The topic's cleanup.policy does not let clients delete records.
    deletion_not_allowed,
    /// A rule of this broker does not accept the batch's codec.
    codec_not_accepted,
    /// Too few replicas are in sync for a client that waits for them.
    not_enough_replicas,
    /// The client would have to wait longer for capacity than it is willing to wait for an answer.
    over_capacity,
    /// The broker cannot do it now; the client may try again.
    try_again,
    /// The batch breaks the format's rules; see Append::invalid.
    invalid_batch,

    // Refusals by the log.
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

/// Why an operation on a partition failed.
struct [[nodiscard]] Failure {
    Outcome outcome = Outcome::internal_error;
    /// A sentence for people. Kafka's clients get only the outcome, as an error code.
    std::string message;
};

}  // namespace partita::logs
