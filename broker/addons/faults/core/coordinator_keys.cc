#include "broker/addons/faults/core/coordinator_keys.h"

#include <algorithm>
#include <array>

#include "broker/addons/faults/core/request_names.h"
#include "protocol/messages/24_add_partitions_to_txn.h"
#include "protocol/messages/25_add_offsets_to_txn.h"
#include "protocol/messages/28_txn_offset_commit.h"

namespace partita::faults {
namespace {

using catalog::CoordinatorKind;

constexpr std::int16_t kAddsForSeveralSince = 4;

constexpr std::array kOfGroups{ApiKey::offset_commit,
                               ApiKey::offset_fetch,
                               ApiKey::join_group,
                               ApiKey::heartbeat,
                               ApiKey::leave_group,
                               ApiKey::sync_group,
                               ApiKey::describe_groups,
                               ApiKey::txn_offset_commit,
                               ApiKey::delete_groups,
                               ApiKey::offset_delete,
                               ApiKey::consumer_group_heartbeat,
                               ApiKey::consumer_group_describe,
                               ApiKey::share_group_heartbeat,
                               ApiKey::share_group_describe,
                               ApiKey::describe_share_group_offsets,
                               ApiKey::alter_share_group_offsets,
                               ApiKey::delete_share_group_offsets};
constexpr std::array kOfTransactions{ApiKey::init_producer_id, ApiKey::add_partitions_to_txn, ApiKey::add_offsets_to_txn,
                                     ApiKey::end_txn, ApiKey::describe_transactions};

bool is_of_groups(ApiKey api) { return std::ranges::find(kOfGroups, api) != kOfGroups.end(); }

std::vector<std::string_view> keys_of(ApiKey api, std::int16_t version, const void* request) {
    // These name both a group and a transaction, or have the id under a name of its own.
    if (api == ApiKey::txn_offset_commit) {
        return {static_cast<const TxnOffsetCommitRequest*>(request)->group_id};
    }
    if (api == ApiKey::add_offsets_to_txn) {
        return {static_cast<const AddOffsetsToTxnRequest*>(request)->transactional_id};
    }
    if (api != ApiKey::add_partitions_to_txn) {
        return names_in(*find_api(api)->request, version, request).groups;
    }
    const auto& adds = *static_cast<const AddPartitionsToTxnRequest*>(request);
    std::vector<std::string_view> ids;
    if (version < kAddsForSeveralSince) {
        ids.push_back(adds.v3_and_below_transactional_id);
    }
    for (const auto& transaction : adds.transactions) {
        ids.push_back(transaction.transactional_id);
    }
    return ids;
}

}  // namespace

bool needs_coordinator(ApiKey api) {
    return is_of_groups(api) || std::ranges::find(kOfTransactions, api) != kOfTransactions.end();
}

std::optional<CoordinatorKeys> coordinator_keys(ApiKey api, std::int16_t version, const void* request) {
    if (!needs_coordinator(api)) {
        return std::nullopt;
    }
    CoordinatorKeys found{.kind = is_of_groups(api) ? CoordinatorKind::groups : CoordinatorKind::transactions,
                          .keys = keys_of(api, version, request)};
    // An idempotent producer without transactions asks any broker for its id.
    return found.keys.empty() ? std::nullopt : std::optional(std::move(found));
}

}  // namespace partita::faults
