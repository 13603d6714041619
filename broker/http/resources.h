#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "broker/http/exchange.h"

namespace partita::logs {
struct TopicState;
}  // namespace partita::logs

namespace partita::runtime {
class NetworkStatistics;
struct Services;
}  // namespace partita::runtime

namespace partita::http {

class BrokerIdentity;
class EventFeed;
class Jobs;
class LocalRequests;

/// What resources may use. Resources run on the first reactor and must not block it: work that takes long is a job. A job takes a
/// copy: the parts that it names outlive every job, it itself need not.
struct Surroundings {
    /// Plans read whole logs. Looks take moments: a few of them find a place beside any number of plans.
    static constexpr std::size_t kPlansMax = 2;
    static constexpr std::size_t kLooksMax = 4;

    runtime::Services& services;
    const runtime::NetworkStatistics& network;
    Jobs& plans;
    Jobs& looks;
    EventFeed& events;
    const BrokerIdentity& identity;
    LocalRequests& local_requests;
};

/// The topic that the path names, of routes below /v1/topics/T. Null when there is none; then the client was told so.
[[nodiscard]] std::shared_ptr<const logs::TopicState> topic_of(const Surroundings& surroundings, const ExchangePointer& exchange);

/// Has `look` run and answer on another thread. When too much is asked at once the client is told to ask again.
void start_look(const Surroundings& surroundings, const ExchangePointer& exchange, std::function<void()> look);

/// Finds the resource of the request's path and lets it answer.
void serve(const Surroundings& surroundings, const ExchangePointer& exchange);

// One file each: <name>_resource.cc.
void serve_live(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_ready(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_metrics(const Surroundings& surroundings, const ExchangePointer& exchange);
// topics_resource.cc: what there is, and how much of it.
void serve_topics(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_topic(const Surroundings& surroundings, const ExchangePointer& exchange);
// topic_changes_resource.cc
void create_topic(const Surroundings& surroundings, const ExchangePointer& exchange);
void delete_topic(const Surroundings& surroundings, const ExchangePointer& exchange);
void add_partitions(const Surroundings& surroundings, const ExchangePointer& exchange);
// record_writes_resource.cc
void write_record(const Surroundings& surroundings, const ExchangePointer& exchange);
// configs_resource.cc: what is set, where that comes from, and what it is.
void serve_topic_configs(const Surroundings& surroundings, const ExchangePointer& exchange);
void change_topic_configs(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_broker_configs(const Surroundings& surroundings, const ExchangePointer& exchange);
// broker_resource.cc
void serve_broker(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_connections(const Surroundings& surroundings, const ExchangePointer& exchange);
// requests_resource.cc: how clients fare.
void serve_requests(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_errors(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_quotas(const Surroundings& surroundings, const ExchangePointer& exchange);
// group_resource.cc: all groups, one of them, and what changes it.
void serve_all_groups(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_group(const Surroundings& surroundings, const ExchangePointer& exchange);
void delete_group(const Surroundings& surroundings, const ExchangePointer& exchange);
void reset_offsets(const Surroundings& surroundings, const ExchangePointer& exchange);
// group_history_resource.cc: who owned which partition, and what made the group share them out anew.
void serve_ownership(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_rebalances(const Surroundings& surroundings, const ExchangePointer& exchange);
// console_resource.cc: the pages for people.
void serve_console(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_console_file(const Surroundings& surroundings, const ExchangePointer& exchange);
/// /v1/topics/T/groups: who reads the topic, and how far.
void serve_groups(const Surroundings& surroundings, const ExchangePointer& exchange);
/// /v1/topics/T/partitions/P/records: some of them.
void serve_records(const Surroundings& surroundings, const ExchangePointer& exchange);
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
