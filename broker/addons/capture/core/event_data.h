#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/record_batch.h"
#include "protocol/types.h"

/// Encodes records as the Avro record that the managed service's capture writes, in Avro's object container format (its
/// specification 1.11), without compression, as that service does. It supports only this one schema: no Avro library is worth its
/// size here.
namespace partita::capture {

/// The schema of the record `EventData` in the namespace `Microsoft.ServiceBus.Messaging`, as JSON.
///
/// | field | from the record |
/// | SequenceNumber, Offset | its offset, as a number and as text |
/// | EnqueuedTimeUtc | its timestamp, as `EnqueuedTime` says |
/// | SystemProperties | x-opt-enqueued-time: the timestamp in milliseconds (long); x-opt-kafka-key: the key, if any (bytes) |
/// | Properties | its headers (bytes; null is written as no bytes) |
/// | Body | its value; null for a tombstone |
[[nodiscard]] std::string_view event_data_schema();

/// The marker between the blocks of a file.
using SyncMarker = std::array<std::byte, 16>;

/// The beginning of a file.
void append_file_header(const SyncMarker& sync, std::vector<std::byte>& out);

/// Appends one record. Readers refuse text that is not UTF-8, so names of headers get U+FFFD for each invalid byte. If several
/// headers have one name, only the last one is written, because it is the one that counts in Kafka.
void append_event(const RecordView& record, std::vector<std::byte>& out);

/// Appends the bytes before the events of a block. The marker follows the events.
void append_block_header(std::int64_t events, std::size_t bytes, std::vector<std::byte>& out);

/// A time in the service's spelling: "2/25/2026 7:03:09 PM".
[[nodiscard]] std::string enqueued_time_text(TimestampMs time);

/// `text` itself if it is valid UTF-8; otherwise with U+FFFD for each byte that belongs to no character.
[[nodiscard]] std::string valid_utf8(std::string_view text);

}  // namespace partita::capture
