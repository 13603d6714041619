#pragma once

#include <string_view>

#include "broker/http/exchange.h"
#include "protocol/error_code.h"

namespace partita::http {

/// Answers with the HTTP form of a Kafka error: {"error": "a sentence", "code": "TOPIC_ALREADY_EXISTS"}. `message` is the
/// broker's own text; if it is empty, the sentence is Kafka's text for the code.
void respond_kafka_error(Exchange& exchange, ErrorCode code, std::string_view message);

}  // namespace partita::http
