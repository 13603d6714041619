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

/// The partitions that still lack the marker of a transaction whose end is decided. It follows from the records alone. After a
/// rebuild every marker is owed again; a partition that already has its marker gets another one, which changes nothing there.
class OwedMarkers {
  public:
    /// After this time the coordinator tries again to write markers that failed.
    static constexpr std::int64_t kRetryMs = 100;

    /// From now on, every partition of the transaction, which is ending, is owed its marker.
    void owe(std::string_view transactional_id, const Transaction& transaction, Instant now);
    [[nodiscard]] bool owes(std::string_view transactional_id) const { return owed_.contains(transactional_id); }

    /// Asks for all markers that are due, up to `coordination::kOutwardWritesMax` writes in the effects; the rest stays due.
    /// Markers whose earlier request is not `written` yet are not asked for again.
    void ask(const TransactionTable& table, std::int32_t coordinator_epoch, Now now, Effects& effects);
    /// Takes the outcomes of all requested writes. Returns the ids that owe nothing any more, in the order of the requests. A
    /// marker that can never be written is no longer owed: its partition is gone, or a later epoch of the producer has been
    /// there.
    [[nodiscard]] std::vector<std::string> written(std::span<const coordination::OutwardWriteOutcome> outcomes, Now now);

    /// When the caller must call `ask` again.
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
        /// Its index among the partitions of its Owed.
        std::size_t place;
    };

    void make_due(OwedById::value_type& owed, Instant instant);
    void make_not_due(OwedById::value_type& owed);
    /// Forgets requests that are done. Returns the ids that owe nothing any more.
    [[nodiscard]] std::vector<std::string> settle(std::span<const Asked> asked);

    OwedById owed_;
    /// Requests that are not `written` yet, in the order of their tokens, which are consecutive from `first_token_` on. Those of
    /// one id stand together.
    std::vector<Asked> asked_;
    std::uint64_t first_token_ = 1;
    /// Ids for which `ask` must request markers, each once, with the time.
    std::set<std::pair<Instant, std::string_view>> due_;
};

}  // namespace partita::transactions
