#pragma once

#include <vector>

#include "broker/config/current_config.h"
#include "broker/insight/hub/findings_hub.h"
#include "broker/insight/local/catalog_switches.h"
#include "broker/insight/local/findings_topic.h"
#include "broker/insight/local/local_cluster.h"
#include "broker/insight/local/request_notes.h"
#include "broker/insight/local/watched_topics.h"
#include "broker/insight/shell/key_observer.h"
#include "broker/insight/shell/ownership_observer.h"
#include "broker/insight/shell/past_harm.h"
#include "broker/insight/shell/reader_observer.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/catalog/own_changes.h"
#include "schedule/executor.h"

namespace partita::assembly {

/// The observers of insight, with the parts that inform them about this broker and that carry out their changes. Each part uses
/// only parts above it.
struct Watching {
    Watching(const logs::PublishedTopics& topics, runtime::GroupShards& groups, runtime::TransactionShards& transactions,
             runtime::Connections& connections, config::CurrentConfig& config, insight::FindingsHub& findings,
             runtime::OwnChanges& own_changes, const std::vector<runtime::OwnershipSource*>& other_owners,
             const Schedule& schedule)
        : cluster({topics, groups, transactions, connections}),
          producer_switches(own_changes),
          keys(config, cluster, findings, producer_switches, schedule),
          plan_sources{cluster, keys, schedule.clock},
          readers(plan_sources.facts(), findings, schedule.executor),
          watched_topics(readers),
          request_notes(topics, keys.samples(), readers.reports()),
          histories(groups, other_owners),
          findings_topic(config, topics, findings, own_changes),
          ownership_observer(cluster, histories, readers.reports().fenced_reads(), findings),
          past_harm(cluster, findings, schedule) {}

    void start() {
        // The history ends where this run's events begin.
        past_harm.start(findings_topic.history());
        findings_topic.start();
        keys.start();
        readers.start();
    }
    void stop() {
        readers.stop();
        keys.stop();
        past_harm.stop();
        findings_topic.stop();
    }

    const insight::LocalCluster cluster;
    insight::CatalogSwitches producer_switches;
    insight::KeyObserver keys;
    const insight::LocalPlanSources plan_sources;
    insight::ReaderObserver readers;
    insight::WatchedTopicsChange watched_topics;
    insight::RequestNotes request_notes;
    insight::LocalHistories histories;
    insight::FindingsTopic findings_topic;
    insight::OwnershipObserver ownership_observer;
    insight::PastHarm past_harm;
};

}  // namespace partita::assembly
