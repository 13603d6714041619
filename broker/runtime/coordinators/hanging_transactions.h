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

/// Ends transactions that are open in a partition but not for their coordinator: a power failure took a marker, or a record of
/// the coordinator, that was not synced yet; or the directory is of a Kafka that left them so. Nobody else would ever end them,
/// and readers of committed records would wait for good.
///
/// They end as it was decided, where epochs leave no doubt that this transaction was meant (KIP-890), and else are aborted: what
/// nobody is known to have committed is not shown.
///
/// Called once at a start, when the coordinators are loaded and before requests come. Does nothing when there are none, or when
/// one of them could not be loaded. Returns how many transactions it ended, each partition counted.
std::size_t end_hanging_transactions(const logs::TopicTable& table, TransactionShards& transactions, OutwardWrites& writes,
                                     Now now);

/// Aborts what is open in partitions when the topic of the coordinators was deleted, and with it all that they knew: nobody is
/// left who would end it. Last among the listeners, so that no coordinator decides anything any more.
class OrphanedTransactions final : public TopicsListener {
  public:
    explicit OrphanedTransactions(OutwardWrites& writes) : writes_(writes) {}
    void on_topics_changed(const TopicsChange& change) override;

  private:
    OutwardWrites& writes_;
};

/// The highest epoch that each of these producers has in any log, as clients say: somebody may have made it up. For a start that
/// no stop preceded: a power failure may have taken the record that an epoch was given out, and left what was written with it.
[[nodiscard]] std::map<ProducerId, ProducerEpoch> epochs_in_logs(const logs::TopicTable& table,
                                                                 const std::unordered_set<std::int64_t>& producers);

}  // namespace partita::runtime
