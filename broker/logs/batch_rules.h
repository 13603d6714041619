#pragma once

#include <expected>

#include "broker/config/topic_config.h"
#include "protocol/arena.h"
#include "protocol/produce_validation.h"
#include "protocol/record_batch.h"

namespace partita::logs {

/// What a topic's settings say about batches.
[[nodiscard]] ProduceRules batch_rules(const config::TopicConfig& config, TimestampMs now, bool client_knows_zstd);

/// The bytes to store: those received, or, where the topic's compression.type is another codec, a new batch in `arena`.
[[nodiscard]] std::expected<MutableBytes, BatchError> bytes_to_store(MutableBytes received, const ProducedBatch& produced,
                                                                     const config::TopicConfig& config, Arena& arena);

/// True when a batch that is refused so did reach the log, by Kafka's order of checks: then the refusal says where the log
/// begins.
[[nodiscard]] bool reaches_the_log(ProduceError error);

}  // namespace partita::logs
