#pragma once

#include "broker/http/resources.h"

namespace partita::faults {

/// The answer of a broker without a test bench.
inline void refuse_without_bench(http::Exchange& exchange) {
    http::respond_error(exchange, http::Status::not_found, "this broker has no test bench; start it with --test-bench");
}

// faults_resource.cc: rules that make the broker fail on purpose.
void serve_faults(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void add_faults(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void remove_faults(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void serve_fault(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void remove_fault(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void serve_matches(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void release_fault(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);

// brokers_resource.cc: the brokers of a process that is several.
void serve_brokers(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void kill_broker(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void restart_broker(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void pause_broker(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void resume_broker(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void isolate_broker(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void join_broker(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);

// clock_resource.cc: the clock of the broker, which people move.
void serve_clock(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void move_clock(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);

// everything_resource.cc: the cluster as it was at the first start.
void remove_everything(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);

// snapshots_resource.cc: everything under a name.
void serve_snapshots(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void serve_snapshot(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void take_snapshot(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void restore_snapshot(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);
void remove_snapshot(const http::Surroundings& surroundings, const http::ExchangePointer& exchange);

}  // namespace partita::faults
