#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/producer_state.h"

namespace partita {

// Kafka's `<offset>.snapshot`: version int16 = 1, CRC-32C uint32 of what follows it, number of entries
// int32, then per producer: id int64, epoch int16, last sequence int32, last offset int64, offset delta
// int32, timestamp int64, coordinator epoch int32, start of the open transaction int64 (-1: none).
// The file stores only the newest batch of each producer. So after a clean restart the broker recognises only a repetition of
// that batch, as Kafka does. After a crash it also knows the batches behind the snapshot again, because recovery reads them.

[[nodiscard]] std::vector<std::byte> encode_producer_snapshot(const std::vector<ProducerEntry>& entries);

/// Empty when the version is unknown, the CRC is wrong or the length does not fit.
[[nodiscard]] std::optional<std::vector<ProducerEntry>> decode_producer_snapshot(Bytes bytes);

}  // namespace partita
