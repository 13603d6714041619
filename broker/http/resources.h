#pragma once

#include "broker/http/exchange.h"

namespace partita::runtime {
class NetworkStatistics;
struct Services;
}  // namespace partita::runtime

namespace partita::http {

class BrokerIdentity;
class EventFeed;
class Jobs;

/// What resources may use. Resources run on the first reactor and must not block it: work that takes long is a job.
struct Surroundings {
    runtime::Services& services;
    const runtime::NetworkStatistics& network;
    Jobs& jobs;
    EventFeed& events;
    const BrokerIdentity& identity;
};

/// Finds the resource of the request's path and lets it answer.
void serve(const Surroundings& surroundings, const ExchangePointer& exchange);

// One file each: <name>_resource.cc.
void serve_live(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_ready(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_metrics(const Surroundings& surroundings, const ExchangePointer& exchange);
/// /v1/topics/T/expansion?to=M: the plan.
void serve_plan(const Surroundings& surroundings, const ExchangePointer& exchange);
/// /v1/topics/T/expansions: the epoch log.
void serve_expansions(const Surroundings& surroundings, const ExchangePointer& exchange);
/// /v1/topics/T/producers: who writes by which partitioner, and what is known of the keys.
void serve_producers(const Surroundings& surroundings, const ExchangePointer& exchange);
// findings_resource.cc: what holds now about expansions, and every change.
void serve_findings(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_events(const Surroundings& surroundings, const ExchangePointer& exchange);
// protection_resource.cc: what protects a topic's growth, and the test controls.
void serve_protection(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_seeds(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_nudge(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_visibility(const Surroundings& surroundings, const ExchangePointer& exchange);

}  // namespace partita::http
