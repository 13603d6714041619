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
    /// What became of all that was asked for. Returns the ids that owe nothing any more, in the order in which they were asked
    /// for. A marker that can never be written, because its partition is gone or a later epoch of the producer has been there, is
    /// no longer owed.
    [[nodiscard]] std::vector<std::string> written(std::span<const coordination::OutwardWriteOutcome> outcomes, Now now);

    /// When `ask` is to be called again.
    [[nodiscard]] std::optional<Instant> next_deadline() const {
        return due_.empty() ? std::nullopt : std::optional(due_.begin()->first);
    }

  private:
    /// A partition that lacks its marker.
    struct Lacking {
        /// One of the topics of its Owed.
        std::string_view topic;
        PartitionIndex partition;
        bool is_done = false;
    };

    struct Owed {
        std::vector<std::string> topics;
        std::vector<Lacking> partitions;
        /// Its place in `due_`.
        std::optional<Instant> due;
    };

    using OwedById = std::map<std::string, Owed, std::less<>>;

    struct Asked {
        OwedById::value_type* owed;
        /// Among its partitions.
        std::size_t place;
    };

    void make_due(OwedById::value_type& owed, Instant instant);
    void make_not_due(OwedById::value_type& owed);
    /// Forgets what was asked for and is done. Returns the ids that owe nothing any more.
    [[nodiscard]] std::vector<std::string> settle(std::span<const Asked> asked);

    OwedById owed_;
    /// What was asked for and is not `written` yet, in the order of the tokens, which follow each other from `first_token_` on.
    /// Those of one id stand together.
    std::vector<Asked> asked_;
    std::uint64_t first_token_ = 1;
    /// Ids that are to be asked for, each once, and when.
    std::set<std::pair<Instant, std::string_view>> due_;
};

}  // namespace partita::transactions
