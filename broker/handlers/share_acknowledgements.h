#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "broker/access/permission.h"
#include "broker/handlers/outcome_codes.h"
#include "broker/handlers/share_groups.h"
#include "broker/handlers/topic_lookup.h"
#include "broker/logs/turn.h"
#include "broker/runtime/coordinators/share_shards.h"

namespace partita::handlers {

/// The outcome of a member's acknowledgements of one partition.
struct Acknowledged {
    TopicId topic_id;
    std::int32_t partition = 0;
    ErrorCode error = ErrorCode::none;
    std::string message;
};

/// Acknowledgements of one partition as a request has them.
struct AcknowledgedBatch {
    std::int64_t first = 0;
    std::int64_t last = 0;
    Array<std::int8_t> types;
};

/// The terms of a request with acknowledgements.
struct AcknowledgeTerms {
    std::string_view group_id;
    std::string_view member_id;
    share::ShareLimits limits;
    /// From version 2 on.
    bool knows_renewal = false;
    bool is_renewal = false;
};

/// False for batches that overlap or go backwards, and for types that the request may not have.
[[nodiscard]] bool are_valid(std::span<const AcknowledgedBatch> batches, const AcknowledgeTerms& terms);

/// Passes the acknowledgements of one partition, which the caller has looked up, to the share coordinator.
[[nodiscard]] Acknowledged acknowledge_partition(logs::Turn& turn, const runtime::ShareServices& services,
                                                 const AcknowledgeTerms& terms, const TopicId& topic_id, std::int32_t partition,
                                                 std::span<const AcknowledgedBatch> batches);

/// Carries out the acknowledgements of a request. `Topics` has the same fields in ShareFetch and ShareAcknowledge.
template <class Topics>
[[nodiscard]] std::vector<Acknowledged> acknowledge(runtime::RequestContext& context, const runtime::ShareServices& services,
                                                    const AcknowledgeTerms& terms, const Topics& topics) {
    std::vector<Acknowledged> results;
    std::vector<AcknowledgedBatch> batches;
    for (const auto& topic : topics) {
        const TopicLookup found = find_topic(context, {}, topic.topic_id, true, access::kReadTopic);
        for (const auto& partition : topic.partitions) {
            batches.clear();
            for (const auto& batch : partition.acknowledgement_batches) {
                batches.push_back({batch.first_offset, batch.last_offset, batch.acknowledge_types});
            }
            ErrorCode error = found.error;
            if (error != ErrorCode::unknown_topic_id && !are_valid(batches, terms)) {
                error = ErrorCode::invalid_request;
            } else if (error == ErrorCode::none) {
                error = error_code(find_partition(context, found.state, partition.partition_index).outcome);
            }
            if (error != ErrorCode::none) {
                results.push_back({topic.topic_id, partition.partition_index, error, {}});
            } else if (batches.empty()) {
                results.push_back({topic.topic_id, partition.partition_index, ErrorCode::none, {}});
            } else {
                results.push_back(
                    acknowledge_partition(context.turn, services, terms, topic.topic_id, partition.partition_index, batches));
            }
        }
    }
    return results;
}

}  // namespace partita::handlers
