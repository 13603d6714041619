#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "broker/expansion/client_registry.h"
#include "protocol/types.h"

/// Which groups skipped the first records of which partitions (H20). Every fetch asks whether its client has read skipped
/// records after all, so they are found by client as well as by group. Pure and bounded.
namespace partita::expansion {

class SkipTable {
  public:
    using GroupPartition = std::pair<std::string, PartitionIndex>;
    /// The group began to read the partition at `from`.
    struct Skip {
        ClientIdentity client;
        Offset from;
    };

    explicit SkipTable(std::size_t most) : most_(most) {}

    /// Beyond the bound one of them makes room.
    void add(std::string_view group, PartitionIndex partition, Skip skip) {
        erase(skips_.find({std::string(group), partition}));
        by_client_.emplace(skip.client, partition, group);
        skips_.emplace(GroupPartition(group, partition), std::move(skip));
        if (skips_.size() > most_) erase(skips_.begin());
    }
    /// The client reads from there: what it skipped behind that it reads after all.
    void client_reads(const ClientIdentity& client, PartitionIndex partition, Offset from) {
        auto own = by_client_.lower_bound(std::tuple(std::cref(client), partition, std::string_view()));
        while (own != by_client_.end() && std::get<0>(*own) == client && std::get<1>(*own) == partition) {
            const auto skip = skips_.find({std::get<2>(*own), partition});
            ++own;
            if (from < skip->second.from) erase(skip);
        }
    }
    /// The group will read from there.
    void group_goes_to(const std::string& group, PartitionIndex partition, Offset offset) {
        const auto skip = skips_.find({group, partition});
        if (skip != skips_.end() && offset < skip->second.from) erase(skip);
    }
    template <class Condition>
    void erase_if(Condition condition) {
        for (auto skip = skips_.begin(); skip != skips_.end();) {
            const auto next = std::next(skip);
            if (condition(*skip)) erase(skip);
            skip = next;
        }
    }
    [[nodiscard]] const std::map<GroupPartition, Skip>& all() const { return skips_; }

  private:
    void erase(std::map<GroupPartition, Skip>::iterator skip) {
        if (skip == skips_.end()) return;
        by_client_.erase({skip->second.client, skip->first.second, skip->first.first});
        skips_.erase(skip);
    }

    const std::size_t most_;
    std::map<GroupPartition, Skip> skips_;
    std::set<std::tuple<ClientIdentity, PartitionIndex, std::string>, std::less<>> by_client_;
};

}  // namespace partita::expansion
