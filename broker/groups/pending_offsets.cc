#include "broker/groups/pending_offsets.h"

#include <algorithm>
#include <utility>

#include "protocol/assert.h"

namespace partita::groups {
namespace {

template <class Transactions>
auto& known(Transactions& transactions, ProducerId producer_id) {
    const auto found = transactions.find(producer_id);
    PARTITA_ASSERT(found != transactions.end(), "a producer of a group has a transaction");
    return found->second;
}

}  // namespace

void PendingOffsets::add(const PendingOffsetRecord& record) {
    const OffsetCommitRecord& offset = record.offset;
    const Place place{std::string(offset.group_id), std::string(offset.topic), offset.partition};
    producers_of_[place.group_id].insert(record.producer_id);
    transactions_[record.producer_id].insert_or_assign(place, Pending{.offset = {.offset = offset.offset,
                                                                                 .commit_timestamp = offset.commit_timestamp,
                                                                                 .expire_timestamp = offset.expire_timestamp,
                                                                                 .topic_id = offset.topic_id,
                                                                                 .leader_epoch = offset.leader_epoch,
                                                                                 .metadata = std::string(offset.metadata)},
                                                                      .order = next_order_++});
}

template <class Change>
void PendingOffsets::for_each_at(std::string_view group_id, std::string_view topic, PartitionIndex partition, Change change) {
    const auto producers = producers_of_.find(group_id);
    if (producers == producers_of_.end()) {
        return;
    }
    const Place place{std::string(group_id), std::string(topic), partition};
    // Copy the ids: the change may remove a producer's last offset.
    const std::vector<ProducerId> ids(producers->second.begin(), producers->second.end());
    for (const ProducerId id : ids) {
        Transaction& transaction = known(transactions_, id);
        if (const auto found = transaction.find(place); found != transaction.end()) {
            change(id, transaction, found);
        }
    }
}

void PendingOffsets::supersede(std::string_view group_id, std::string_view topic, PartitionIndex partition, Order order) {
    for_each_at(group_id, topic, partition, [order](ProducerId, Transaction&, Transaction::iterator found) {
        found->second.is_superseded = found->second.is_superseded || found->second.order < order;
    });
}

void PendingOffsets::remove(std::string_view group_id, std::string_view topic, PartitionIndex partition) {
    for_each_at(group_id, topic, partition, [&](ProducerId id, Transaction& transaction, Transaction::iterator found) {
        transaction.erase(found);
        const auto is_of_group = [&](const auto& pending) { return pending.first.group_id == group_id; };
        if (std::ranges::none_of(transaction, is_of_group)) {
            forget(std::string(group_id), id);
        }
        if (transaction.empty()) {
            transactions_.erase(id);
        }
    });
}

void PendingOffsets::forget(const std::string& group_id, ProducerId producer_id) {
    const auto producers = producers_of_.find(group_id);
    PARTITA_ASSERT(producers != producers_of_.end(), "a group with pending offsets has producers");
    producers->second.erase(producer_id);
    if (producers->second.empty()) {
        producers_of_.erase(producers);
    }
}

std::vector<PendingOffsets::Ended> PendingOffsets::take(ProducerId producer_id) {
    std::vector<Ended> ended;
    auto transaction = transactions_.extract(producer_id);
    if (transaction.empty()) {
        return ended;
    }
    const std::string* forgotten = nullptr;
    for (auto& [place, pending] : transaction.mapped()) {
        if (forgotten == nullptr || *forgotten != place.group_id) {
            forget(place.group_id, producer_id);
            forgotten = &place.group_id;
        }
        if (!pending.is_superseded) {
            ended.push_back({place, std::move(pending.offset), pending.order});
        }
    }
    return ended;
}

bool PendingOffsets::has(std::string_view group_id, std::string_view topic, PartitionIndex partition) const {
    const auto producers = producers_of_.find(group_id);
    if (producers == producers_of_.end()) {
        return false;
    }
    const Place place{std::string(group_id), std::string(topic), partition};
    return std::ranges::any_of(producers->second, [&](ProducerId id) { return known(transactions_, id).contains(place); });
}

std::vector<PendingOffsets::Place> PendingOffsets::places_of(std::string_view group_id) const {
    std::set<Place> places;
    if (const auto producers = producers_of_.find(group_id); producers != producers_of_.end()) {
        for (const ProducerId id : producers->second) {
            const Transaction& transaction = known(transactions_, id);
            for (auto next = transaction.lower_bound({std::string(group_id), {}, {-1}});
                 next != transaction.end() && next->first.group_id == group_id; ++next) {
                places.insert(next->first);
            }
        }
    }
    return {places.begin(), places.end()};
}

std::string PendingOffsets::dump() const {
    std::string text;
    for (const auto& [id, transaction] : transactions_) {
        for (const auto& [place, pending] : transaction) {
            text += "  offset pending of " + std::to_string(id.value) + ": " + place.group_id + " " + place.topic + "-" +
                    std::to_string(place.partition.value) + " = " + std::to_string(pending.offset.offset.value) +
                    (pending.is_superseded ? " superseded" : "") + "\n";
        }
    }
    return text;
}

}  // namespace partita::groups
