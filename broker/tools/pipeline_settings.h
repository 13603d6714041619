#pragma once

#include "broker/client/pipelined_producer.h"
#include "broker/tools/record_text.h"
#include "broker/tools/tool.h"

namespace partita::tools {

/// A producer's settings from its properties, with Kafka's names, defaults and error texts (refused). Ignores others.
[[nodiscard]] Outcome<client::PipelineSettings> pipeline_settings_of(const Properties& properties);

/// max.block.ms: how long a record may wait for its topic.
[[nodiscard]] Outcome<std::int64_t> max_block_ms_of(const Properties& properties);

}  // namespace partita::tools
