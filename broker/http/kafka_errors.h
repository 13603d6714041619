#pragma once

#include <string_view>

#include "broker/http/exchange.h"
#include "protocol/error_code.h"

namespace partita::http {

/// Answers with what Kafka's error means over HTTP: {"error": "a sentence", "code": "TOPIC_ALREADY_EXISTS"}. `message` is what
/// the broker said of it; where that is empty, what Kafka says of the code.
void respond_kafka_error(Exchange& exchange, ErrorCode code, std::string_view message);

}  // namespace partita::http
