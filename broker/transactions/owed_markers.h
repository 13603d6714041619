#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "broker/coordination/effects.h"
#include "broker/transactions/effects.h"
#include "broker/transactions/transaction_table.h"
#include "protocol/types.h"

namespace partita::transactions {

/// Which partitions still lack the marker of a transaction whose end was decided. Follows from the records alone: after a
/// rebuild everything is owed again, and a partition that has its marker already gets another one, which changes nothing there.
class OwedMarkers {
  public:
    /// Markers that could not be written are tried again after this.
    static constexpr std::int64_t kRetryMs = 100;

    /// Every partition of the transaction, which is ending, is owed its marker, from now on.
    void owe(std::string_view transactional_id, const Transaction& transaction, Instant now);
    [[nodiscard]] bool owes(std::string_view transactional_id) const { return owed_.contains(transactional_id); }

    /// Asks for everything that is due, up to `coordination::kOutwardWritesMax` writes in the effects; what is left stays due.
    /// What was asked for earlier and is not `written` yet is not asked for again.
    void ask(const TransactionTable& table, std::int32_t coordinator_epoch, Now now, Effects& effects);
    /// What became of all that was asked for. Returns the ids that owe nothing any more, ascending. A marker that can never be
    /// written, because its partition is gone or a later epoch of the producer has been there, is no longer owed.
    [[nodiscard]] std::vector<std::string> written(std::span<const coordination::OutwardWriteOutcome> outcomes, Now now);

    /// When `ask` is to be called again.
    [[nodiscard]] std::optional<Instant> next_deadline() const {
        return due_.empty() ? std::nullopt : std::optional(due_.begin()->first);
    }

  private:
    using TopicAndPartition = std::pair<std::string, PartitionIndex>;
    struct Asked {
        std::string transactional_id;
        TopicAndPartition partition;
    };

    struct Owed {
        std::set<TopicAndPartition> partitions;
        /// Its place in `due_`.
        std::optional<Instant> due;
    };

    using OwedById = std::map<std::string, Owed, std::less<>>;

    void make_due(OwedById::value_type& owed, Instant instant);
    void make_not_due(OwedById::value_type& owed);

    OwedById owed_;
    std::unordered_map<std::uint64_t, Asked> asked_;
    std::uint64_t next_token_ = 1;
    /// Ids that are to be asked for, each once, and when.
    std::set<std::pair<Instant, std::string_view>> due_;
};

}  // namespace partita::transactions
