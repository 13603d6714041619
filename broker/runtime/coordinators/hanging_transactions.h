#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_set>

#include "broker/logs/topics_listener.h"
#include "protocol/types.h"

namespace partita::logs {
class TopicTable;
}  // namespace partita::logs

namespace partita::runtime {

class OutwardWrites;
class TransactionShards;

/// Ends transactions that are open in a partition but unknown to their coordinator. A power failure took a marker, or a record of
/// the coordinator, that was not synced yet. Or a Kafka left them so in the directory. No other part would ever end them, and
/// readers of committed records would wait forever.
///
/// A transaction ends as its coordinator decided if the epochs prove that the decision meant it (KIP-890). Otherwise it is
/// aborted: readers must not see records without a known commit.
///
/// Call it once at a start, after the coordinators are loaded and before requests come. Does nothing if there are no
/// coordinators, or if one of them could not be loaded. Returns how many transactions it ended, counting each partition.
std::size_t end_hanging_transactions(const logs::TopicTable& table, TransactionShards& transactions, OutwardWrites& writes,
                                     Now now);

/// Aborts the open transactions in partitions when the coordinators' topic was deleted, because their state is gone and nothing
/// else would end them. It is the last listener, so that no coordinator decides anything after it.
class OrphanedTransactions final : public logs::TopicsListener {
  public:
    explicit OrphanedTransactions(OutwardWrites& writes) : writes_(writes) {}
    void on_topics_changed(const logs::TopicsChange& change) override;

  private:
    OutwardWrites& writes_;
};

/// The highest epoch of each of these producers in any log. Clients wrote these epochs and may have made them up. For a start
/// without a clean stop: a power failure may have taken the record that an epoch was given out, but left batches written with
/// that epoch.
[[nodiscard]] std::map<ProducerId, ProducerEpoch> epochs_in_logs(const logs::TopicTable& table,
                                                                 const std::unordered_set<std::int64_t>& producers);

}  // namespace partita::runtime
