#pragma once

#include "broker/config/current_config.h"
#include "broker/logs/published_topics.h"
#include "broker/logs/turns.h"
#include "broker/runtime/coordinators/client_share_sessions.h"
#include "broker/runtime/coordinators/coordinator_host.h"
#include "broker/runtime/coordinators/coordinator_timers.h"
#include "broker/runtime/coordinators/group_cluster.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/coordinators/hanging_transactions.h"
#include "broker/runtime/coordinators/outward_writes.h"
#include "broker/runtime/coordinators/share_shards.h"
#include "broker/runtime/coordinators/transaction_shards.h"
#include "broker/runtime/loop/failure_log.h"
#include "broker/runtime/loop/upkeep_bell.h"
#include "broker/runtime/settings/group_settings.h"
#include "broker/runtime/settings/transaction_settings.h"
#include "storage/metadata_store.h"

namespace partita::assembly {

/// The coordinators of groups, of transactions and of share groups' records, with the parts that keep them up to date and that
/// write for them elsewhere. Each part uses only parts above it.
struct Coordination {
    Coordination(logs::Turns& turns, const logs::PublishedTopics& topics, MetadataStore& metadata_store,
                 config::CurrentConfig& config, runtime::UpkeepBell& upkeep, runtime::FailureLog& failures)
        : groups({turns, metadata_store, upkeep, failures}, runtime::group_settings(*config.get())),
          group_updates(groups, config),
          outward_writes(turns, topics, hosts),
          transactions({turns, metadata_store, upkeep, failures, &outward_writes},
                       runtime::transaction_settings(*config.get(), 0)),
          transaction_updates(transactions, config),
          orphaned_transactions(outward_writes),
          shares({turns, metadata_store, upkeep, failures}, topics),
          timers(hosts, turns.first()) {
        // Groups load first, because the markers of transactions end what is pending in groups.
        hosts.add(catalog::CoordinatorKind::groups, groups);
        hosts.add(catalog::CoordinatorKind::transactions, transactions);
        hosts.add(catalog::CoordinatorKind::share, shares);
    }

    runtime::GroupShards groups;
    runtime::GroupUpdates group_updates;
    runtime::CoordinatorHosts hosts;
    runtime::OutwardWrites outward_writes;
    runtime::TransactionShards transactions;
    runtime::TransactionUpdates transaction_updates;
    runtime::OrphanedTransactions orphaned_transactions;
    runtime::ShareShards shares;
    runtime::ClientShareSessions share_sessions;
    runtime::CoordinatorTimers timers;
};

}  // namespace partita::assembly
