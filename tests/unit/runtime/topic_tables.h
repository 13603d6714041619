#pragma once

#include <memory>
#include <utility>

#include "broker/logs/topic_table.h"
#include "tests/unit/catalog/catalog_fixture.h"

namespace partita::runtime {

/// The table that the running broker would publish for this catalog, with partitions that have no logs: for listeners, which look
/// at topics and not at records.
inline std::shared_ptr<const logs::TopicTable> table_without_logs(catalog::TestCatalog& catalog) {
    auto table = std::make_shared<logs::TopicTable>();
    table->catalog = catalog.core().snapshot();
    std::uint64_t key = 0;
    for (const catalog::Topic& topic : table->catalog->topics()) {
        auto state = std::make_shared<logs::TopicState>();
        state->topic = table->catalog->share_topic(topic.id);
        state->config = std::make_shared<const config::TopicConfig>();
        for (std::int32_t index = 0; index < topic.partition_count; ++index) {
            state->partitions.push_back(std::make_shared<logs::Partition>(nullptr, fetch::PartitionKey{++key}));
        }
        table->put(std::move(state));
    }
    return table;
}

}  // namespace partita::runtime
