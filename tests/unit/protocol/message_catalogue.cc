#include "tests/unit/protocol/message_catalogue.h"

#include "protocol/api_keys.h"
#include "protocol/messages/consumer_group_records.h"
#include "protocol/messages/consumer_protocol.h"
#include "protocol/messages/end_txn_marker.h"
#include "protocol/messages/group_metadata_record.h"
#include "protocol/messages/offset_commit_record.h"
#include "protocol/messages/share_group_records.h"
#include "protocol/messages/share_state_records.h"
#include "protocol/messages/streams_group_records.h"
#include "protocol/messages/transaction_log_record.h"

namespace partita::testing {

std::vector<const Schema*> all_messages() {
    std::vector<const Schema*> messages;
    for (const ApiInfo& api : all_apis()) {
        messages.push_back(api.request);
        messages.push_back(api.response);
    }
    for (const Schema* record : {
             &ConsumerGroupMetadataKey::schema,
             &ConsumerGroupMetadataValue::schema,
             &ConsumerGroupPartitionMetadataKey::schema,
             &ConsumerGroupPartitionMetadataValue::schema,
             &ConsumerGroupMemberMetadataKey::schema,
             &ConsumerGroupMemberMetadataValue::schema,
             &ConsumerGroupTargetAssignmentMetadataKey::schema,
             &ConsumerGroupTargetAssignmentMetadataValue::schema,
             &ConsumerGroupTargetAssignmentMemberKey::schema,
             &ConsumerGroupTargetAssignmentMemberValue::schema,
             &ConsumerGroupCurrentMemberAssignmentKey::schema,
             &ConsumerGroupCurrentMemberAssignmentValue::schema,
             &ConsumerGroupRegularExpressionKey::schema,
             &ConsumerGroupRegularExpressionValue::schema,
             &ConsumerProtocolSubscription::schema,
             &ConsumerProtocolAssignment::schema,
             &EndTxnMarker::schema,
             &GroupMetadataKey::schema,
             &GroupMetadataValue::schema,
             &LegacyOffsetCommitKey::schema,
             &LegacyOffsetCommitValue::schema,
             &OffsetCommitKey::schema,
             &OffsetCommitValue::schema,
             &ShareGroupMemberMetadataKey::schema,
             &ShareGroupMemberMetadataValue::schema,
             &ShareGroupMetadataKey::schema,
             &ShareGroupMetadataValue::schema,
             &ShareGroupTargetAssignmentMetadataKey::schema,
             &ShareGroupTargetAssignmentMetadataValue::schema,
             &ShareGroupTargetAssignmentMemberKey::schema,
             &ShareGroupTargetAssignmentMemberValue::schema,
             &ShareGroupCurrentMemberAssignmentKey::schema,
             &ShareGroupCurrentMemberAssignmentValue::schema,
             &ShareGroupStatePartitionMetadataKey::schema,
             &ShareGroupStatePartitionMetadataValue::schema,
             &ShareSnapshotKey::schema,
             &ShareSnapshotValue::schema,
             &ShareUpdateKey::schema,
             &ShareUpdateValue::schema,
             &StreamsGroupMetadataKey::schema,
             &StreamsGroupMetadataValue::schema,
             &StreamsGroupMemberMetadataKey::schema,
             &StreamsGroupMemberMetadataValue::schema,
             &StreamsGroupTargetAssignmentMetadataKey::schema,
             &StreamsGroupTargetAssignmentMetadataValue::schema,
             &StreamsGroupTargetAssignmentMemberKey::schema,
             &StreamsGroupTargetAssignmentMemberValue::schema,
             &StreamsGroupCurrentMemberAssignmentKey::schema,
             &StreamsGroupCurrentMemberAssignmentValue::schema,
             &StreamsGroupTopologyKey::schema,
             &StreamsGroupTopologyValue::schema,
             &TransactionLogKey::schema,
             &TransactionLogValue::schema,
         }) {
        messages.push_back(record);
    }
    return messages;
}

std::vector<MessageVersion> all_message_versions() {
    std::vector<MessageVersion> all;
    for (const Schema* schema : all_messages()) {
        for (std::int16_t version = schema->versions.first; version <= schema->versions.last; ++version) {
            all.push_back({schema, version});
        }
    }
    return all;
}

}  // namespace partita::testing
