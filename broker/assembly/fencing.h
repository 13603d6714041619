#pragma once

#include <cstdint>

#include "broker/assembly/storage.h"
#include "broker/insight/hub/findings_hub.h"
#include "broker/logs/published_topics.h"
#include "broker/logs/turns.h"
#include "broker/runtime/clients/connections.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "broker/runtime/fences/fence_upkeep.h"
#include "broker/runtime/fences/fence_wakes.h"
#include "broker/runtime/fences/fences.h"
#include "broker/runtime/fences/shown_partitions.h"
#include "broker/runtime/loop/upkeep_bell.h"

namespace partita::assembly {

/// The state of the growth of topics, with the parts that act on it. Each part uses only parts above it.
struct Fencing {
    Fencing(Storage& storage, runtime::GroupShards& groups, runtime::Connections& connections,
            const logs::PublishedTopics& topics, logs::Turns& turns, insight::FindingsHub& findings, runtime::UpkeepBell& bell,
            std::int64_t longest_transaction_ms)
        : files(storage.file_system, storage.directory),
          fences(files, {groups, connections}, bell, longest_transaction_ms),
          wakes(fences, topics, turns),
          upkeep(fences, topics, findings),
          shown_partitions(groups) {}

    runtime::FenceFiles files;
    runtime::Fences fences;
    runtime::FenceWakes wakes;
    runtime::FenceUpkeep upkeep;
    runtime::ShownPartitions shown_partitions;
};

}  // namespace partita::assembly
