#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/record_batch.h"
#include "protocol/types.h"

/// Records as the Avro record that the managed service's capture writes, in Avro's object container format (its specification
/// 1.11), without compression, as that service does. Only what this one schema needs: no Avro library is worth its size here.
namespace partita::capture {

/// Of the record `EventData` in the namespace `Microsoft.ServiceBus.Messaging`, as JSON.
///
/// | field | from the record |
/// | SequenceNumber, Offset | its offset, as a number and as text |
/// | EnqueuedTimeUtc | its timestamp, as `EnqueuedTime` says |
/// | SystemProperties | x-opt-enqueued-time: the timestamp in milliseconds (long); x-opt-kafka-key: the key, if any (bytes) |
/// | Properties | its headers (bytes; null is written as no bytes) |
/// | Body | its value; null of a tombstone |
[[nodiscard]] std::string_view event_data_schema();

/// Stands between the blocks of a file.
using SyncMarker = std::array<std::byte, 16>;

/// The beginning of a file.
void append_file_header(const SyncMarker& sync, std::vector<std::byte>& out);

/// One record. Names of headers that are no UTF-8 have U+FFFD where they are none, since readers refuse text that is not; of
/// headers with one name the last one is written, as it is the one that counts in Kafka.
void append_event(const RecordView& record, std::vector<std::byte>& out);

/// What stands before the events of a block. Behind them stands the marker.
void append_block_header(std::int64_t events, std::size_t bytes, std::vector<std::byte>& out);

/// As the service spells times: "2/25/2026 7:03:09 PM".
[[nodiscard]] std::string enqueued_time_text(TimestampMs time);

/// `text` where it is valid UTF-8, with U+FFFD for each byte that belongs to no character.
[[nodiscard]] std::string valid_utf8(std::string_view text);

}  // namespace partita::capture
