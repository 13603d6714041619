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

/// Offsets that were committed within transactions which are still open. They are nobody's offsets yet: the end of the
/// transaction makes them so, or makes them go. Durable: `GroupTable` changes it by records, and by the markers of transactions,
/// which stand in the same log.
class PendingOffsets {
  public:
    struct Place {
        std::string group_id;
        std::string topic;
        PartitionIndex partition;
        friend auto operator<=>(const Place&, const Place&) = default;
    };

    /// A later one of the same transaction replaces it.
    void add(const PendingOffsetRecord& record);
    /// Which came first. Offsets count in the order of their records, whichever transaction ends first.
    using Order = std::uint64_t;
    /// Larger than that of everything that is pending.
    [[nodiscard]] Order next_order() const { return next_order_; }
    /// Somebody committed there, by a record of this order: it stays the newer one of what came before it, also once that is
    /// committed.
    void supersede(std::string_view group_id, std::string_view topic, PartitionIndex partition, Order order);
    /// The offset was deleted, with all that may become one.
    void remove(std::string_view group_id, std::string_view topic, PartitionIndex partition);

    struct Ended {
        Place place;
        CommittedOffset offset;
        Order order = 0;
    };
    /// The producer's transaction has ended: what it committed and nobody superseded, ascending.
    [[nodiscard]] std::vector<Ended> take(ProducerId producer_id);

    [[nodiscard]] bool empty() const { return transactions_.empty(); }
    [[nodiscard]] bool has(std::string_view group_id) const { return producers_of_.contains(group_id); }
    [[nodiscard]] bool has(std::string_view group_id, std::string_view topic, PartitionIndex partition) const;
    /// All of the group, ascending, each once.
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
    /// Who has something pending in a group.
    TextMap<std::set<ProducerId>> producers_of_;
};

}  // namespace partita::groups
