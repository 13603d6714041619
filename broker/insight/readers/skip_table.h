#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "broker/insight/identity/client_registry.h"
#include "broker/insight/identity/identity.h"
#include "protocol/types.h"

/// The groups that skipped the first records of partitions (H20). Every fetch asks whether a group skipped the fetched records,
/// so that question is cheap. Pure and bounded.
namespace partita::insight {

/// How a client without a committed offset found where to begin.
enum class ResetWay : std::uint8_t {
    /// The client asked for the end: auto.offset.reset=latest.
    latest,
    /// The client asked for a time, as auto.offset.reset=by_duration does.
    by_time,
};

class SkipTable {
  public:
    using PartitionGroup = std::pair<PartitionIndex, std::string>;
    /// The group began to read the partition at `from`.
    struct Skip {
        ClientIdentity client;
        ConnectionId connection;
        Offset from;
        ResetWay way = ResetWay::latest;
    };

    explicit SkipTable(std::size_t most) : most_(most) {}

    /// Notes that the group skipped everything below `skip.from`. If an earlier skip is noted, the lower `from` stays, because
    /// the group may have read on from there: only the records before it were certainly skipped. An entry beyond the bound
    /// replaces another one.
    void add(const std::string& group, PartitionIndex partition, Skip skip) {
        if (const auto known = skips_.find({partition, group}); known != skips_.end()) {
            if (known->second.from < skip.from) {
                skip.from = known->second.from;
                skip.way = known->second.way;
            }
        } else if (skips_.size() == most_) {
            skips_.erase(skips_.begin());
        }
        highest_[partition] = std::max(highest_[partition], skip.from);
        skips_.insert_or_assign({partition, group}, std::move(skip));
    }
    /// True if some group may have skipped records that a reader at `from` gets. Costs one look at a map.
    [[nodiscard]] bool may_be_skipped(PartitionIndex partition, Offset from) const {
        const auto highest = highest_.find(partition);
        return highest != highest_.end() && from < highest->second;
    }
    /// The connection reads at `from`: it now reads what it had skipped above that.
    void connection_reads(ConnectionId connection, PartitionIndex partition, Offset from) {
        for (auto skip = skips_.lower_bound({partition, {}}); skip != skips_.end() && skip->first.first == partition;) {
            skip = skip->second.connection == connection && from < skip->second.from ? skips_.erase(skip) : std::next(skip);
        }
    }
    /// The group reads, or will read, from `offset`: it no longer skips what lies above that.
    void group_goes_to(const std::string& group, PartitionIndex partition, Offset offset) {
        const auto skip = skips_.find({partition, group});
        if (skip != skips_.end() && offset < skip->second.from) {
            skips_.erase(skip);
        }
    }
    /// Looks at every entry.
    template <class Condition>
    void erase_if(Condition condition) {
        std::erase_if(skips_, condition);
        highest_.clear();
        for (const auto& [where, skip] : skips_) {
            highest_[where.first] = std::max(highest_[where.first], skip.from);
        }
    }
    [[nodiscard]] const std::map<PartitionGroup, Skip>& all() const { return skips_; }

  private:
    const std::size_t most_;
    std::map<PartitionGroup, Skip> skips_;
    /// For each partition, at least the highest `from` of its entries.
    std::map<PartitionIndex, Offset> highest_;
};

}  // namespace partita::insight
