#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "broker/groups/committed_offset.h"
#include "broker/groups/records.h"
#include "protocol/text_map.h"
#include "protocol/types.h"

namespace partita::groups {

/// Offsets committed within transactions that are still open. The end of the transaction makes them offsets of the group, or
/// discards them. Durable: `GroupTable` changes them by records, and by markers of transactions in the same log.
class PendingOffsets {
  public:
    struct Place {
        std::string group_id;
        std::string topic;
        PartitionIndex partition;
        friend auto operator<=>(const Place&, const Place&) = default;
    };

    /// A later offset of the same transaction replaces it.
    void add(const PendingOffsetRecord& record);
    /// The order of the records. The latest record wins, whichever transaction ends first.
    using Order = std::uint64_t;
    /// Larger than the order of every pending offset.
    [[nodiscard]] Order next_order() const { return next_order_; }
    /// A record of this order committed an offset there: it stays the newer one, even when older pending offsets are committed
    /// later.
    void supersede(std::string_view group_id, std::string_view topic, PartitionIndex partition, Order order);
    /// Forgets a deleted offset and all pending ones for it.
    void remove(std::string_view group_id, std::string_view topic, PartitionIndex partition);

    struct Ended {
        Place place;
        CommittedOffset offset;
        Order order = 0;
    };
    /// Ends the producer's transaction: returns its offsets that no later record has superseded, ascending.
    [[nodiscard]] std::vector<Ended> take(ProducerId producer_id);

    [[nodiscard]] bool empty() const { return transactions_.empty(); }
    [[nodiscard]] bool has(std::string_view group_id) const { return producers_of_.contains(group_id); }
    [[nodiscard]] bool has(std::string_view group_id, std::string_view topic, PartitionIndex partition) const;
    /// All places of the group, ascending, each once.
    [[nodiscard]] std::vector<Place> places_of(std::string_view group_id) const;
    [[nodiscard]] std::string dump() const;

  private:
    struct Pending {
        CommittedOffset offset;
        Order order = 0;
        bool is_superseded = false;
    };
    using Transaction = std::map<Place, Pending>;

    template <class Change>
    void for_each_at(std::string_view group_id, std::string_view topic, PartitionIndex partition, Change change);
    void forget(const std::string& group_id, ProducerId producer_id);

    std::map<ProducerId, Transaction> transactions_;
    Order next_order_ = 1;
    /// The producers with pending offsets in a group.
    TextMap<std::set<ProducerId>> producers_of_;
};

}  // namespace partita::groups
