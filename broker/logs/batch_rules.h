#pragma once

#include <expected>

#include "broker/config/topic_config.h"
#include "protocol/arena.h"
#include "protocol/produce_validation.h"
#include "protocol/record_batch.h"

namespace partita::logs {

/// The rules for batches that follow from a topic's settings.
[[nodiscard]] ProduceRules batch_rules(const config::TopicConfig& config, TimestampMs now, bool client_knows_zstd);

/// The bytes to store: the received batch, or a recompressed one in `arena` if the topic's compression.type names another codec.
[[nodiscard]] std::expected<MutableBytes, BatchError> bytes_to_store(MutableBytes received, const ProducedBatch& produced,
                                                                     const config::TopicConfig& config, Arena& arena);

/// True if, in Kafka's order of checks, a batch with this error has already reached the log. Such a refusal reports the log start
/// offset.
[[nodiscard]] bool reaches_the_log(ProduceError error);

}  // namespace partita::logs
