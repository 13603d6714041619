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

/// The parts that resources may use. Resources run on the first reactor and must not block it, so long work is a job. A job takes
/// a copy of this struct: the referenced parts outlive every job, the struct need not.
struct Surroundings {
    /// A job is a plan, which reads whole logs, or a look, which takes moments. Each kind has its own limit, so a few looks can
    /// run beside the maximum number of plans.
    static constexpr std::size_t kPlansMax = 2;
    static constexpr std::size_t kLooksMax = 4;

    const runtime::Services& services;
    const runtime::NetworkStatistics& network;
    Jobs& plans;
    Jobs& looks;
    EventFeed& events;
    const BrokerIdentity& identity;
    LocalRequests& local_requests;
};

/// The topic that the path names, for routes below /v1/topics/T. Null if it does not exist; the client has then been answered.
[[nodiscard]] std::shared_ptr<const logs::TopicState> topic_of(const Surroundings& surroundings, const ExchangePointer& exchange);

/// Runs `look`, which answers, on another thread. If too many looks run already, it tells the client to ask again.
void start_look(const Surroundings& surroundings, const ExchangePointer& exchange, std::function<void()> look);

/// Finds the resource of the request's path and lets it answer.
void serve(const Surroundings& surroundings, const ExchangePointer& exchange);

// Each in a file of its own: <name>_resource.cc.
void serve_live(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_ready(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_metrics(const Surroundings& surroundings, const ExchangePointer& exchange);
// topics_resource.cc: the topics and their sizes.
void serve_topics(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_topic(const Surroundings& surroundings, const ExchangePointer& exchange);
// topic_changes_resource.cc
void create_topic(const Surroundings& surroundings, const ExchangePointer& exchange);
void delete_topic(const Surroundings& surroundings, const ExchangePointer& exchange);
void add_partitions(const Surroundings& surroundings, const ExchangePointer& exchange);
// record_writes_resource.cc
void write_record(const Surroundings& surroundings, const ExchangePointer& exchange);
// configs_resource.cc: the configs with values, sources and descriptions.
void serve_topic_configs(const Surroundings& surroundings, const ExchangePointer& exchange);
void change_topic_configs(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_broker_configs(const Surroundings& surroundings, const ExchangePointer& exchange);
// broker_resource.cc
void serve_broker(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_connections(const Surroundings& surroundings, const ExchangePointer& exchange);
// requests_resource.cc: latencies, errors and quotas of clients.
void serve_requests(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_errors(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_quotas(const Surroundings& surroundings, const ExchangePointer& exchange);
// group_resource.cc: all groups, one group, and changes of groups.
void serve_all_groups(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_group(const Surroundings& surroundings, const ExchangePointer& exchange);
void delete_group(const Surroundings& surroundings, const ExchangePointer& exchange);
void reset_offsets(const Surroundings& surroundings, const ExchangePointer& exchange);
// group_history_resource.cc: past owners of partitions, and the causes of rebalances.
void serve_ownership(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_rebalances(const Surroundings& surroundings, const ExchangePointer& exchange);
// console_resource.cc: the pages for people.
void serve_console(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_console_file(const Surroundings& surroundings, const ExchangePointer& exchange);
/// /v1/topics/T/groups: the groups that read the topic, and how far they have read.
void serve_groups(const Surroundings& surroundings, const ExchangePointer& exchange);
/// /v1/topics/T/partitions/P/records: a page of records.
void serve_records(const Surroundings& surroundings, const ExchangePointer& exchange);
/// /v1/topics/T/expansion?to=M: the plan.
void serve_plan(const Surroundings& surroundings, const ExchangePointer& exchange);
/// /v1/topics/T/expansions: the epoch log.
void serve_expansions(const Surroundings& surroundings, const ExchangePointer& exchange);
/// /v1/topics/T/producers: the writers with their partitioners, and the known facts about the keys.
void serve_producers(const Surroundings& surroundings, const ExchangePointer& exchange);
// findings_resource.cc: the findings about expansions, and every change of them.
void serve_findings(const Surroundings& surroundings, const ExchangePointer& exchange);
void mark_findings_seen(const Surroundings& surroundings, const ExchangePointer& exchange);
// wrong_keys_resource.cc
void serve_wrong_keys(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_events(const Surroundings& surroundings, const ExchangePointer& exchange);
// protection_resource.cc: the protection of a topic's growth, and the test controls.
void serve_protection(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_seeds(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_nudge(const Surroundings& surroundings, const ExchangePointer& exchange);
void serve_visibility(const Surroundings& surroundings, const ExchangePointer& exchange);

}  // namespace partita::http
