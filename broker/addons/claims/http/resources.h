#pragma once

#include "broker/http/resources.h"

namespace partita::claims {

// claims_resource.cc: claims and checkpoints of clients that share partitions out among themselves.
void serve_claims(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void change_claims(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void forget_claims(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void serve_checkpoints(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void write_checkpoints(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);

}  // namespace partita::claims
