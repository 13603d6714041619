#include "broker/handlers/share_acknowledgements.h"

#include <algorithm>

namespace partita::handlers {
namespace {

constexpr auto kRenewal = static_cast<std::int8_t>(share::AcknowledgeType::renew);
constexpr auto kRejection = static_cast<std::int8_t>(share::AcknowledgeType::reject);

}  // namespace

bool are_valid(std::span<const AcknowledgedBatch> batches, const AcknowledgeTerms& terms) {
    const std::int8_t highest = terms.knows_renewal ? kRenewal : kRejection;
    std::int64_t previous = -1;
    for (const AcknowledgedBatch& batch : batches) {
        const std::size_t count = batch.types.count();
        // As in Kafka, a batch may begin at the last offset of the one before. But each goes on: renewals of one offset by the
        // thousand would keep the coordinator busy.
        if (batch.first > batch.last || batch.first < previous || batch.last <= previous || count == 0) {
            return false;
        }
        if (count > 1 && static_cast<std::uint64_t>(batch.last) - static_cast<std::uint64_t>(batch.first) != count - 1) {
            return false;
        }
        const bool are_known = std::ranges::all_of(batch.types, [&](std::int8_t type) {
            return type >= 0 && type <= highest && (type != kRenewal || terms.is_renewal);
        });
        if (!are_known) {
            return false;
        }
        previous = batch.last;
    }
    return true;
}

Acknowledged acknowledge_partition(logs::Turn& turn, const runtime::ShareServices& services, const AcknowledgeTerms& terms,
                                   const TopicId& topic_id, std::int32_t partition, std::span<const AcknowledgedBatch> batches) {
    std::vector<std::vector<share::AcknowledgeType>> types;
    std::vector<share::Acknowledgement> given;
    types.reserve(batches.size());
    for (const AcknowledgedBatch& batch : batches) {
        auto& of_batch = types.emplace_back();
        for (const std::int8_t type : batch.types) {
            of_batch.push_back(static_cast<share::AcknowledgeType>(type));
        }
        given.push_back({{batch.first}, {batch.last}, of_batch});
    }
    const auto result =
        services.shares.ask_partition(turn, share::AcknowledgeRecords{.key = {terms.group_id, topic_id, {partition}},
                                                                      .member = terms.member_id,
                                                                      .given = given,
                                                                      .limits = terms.limits,
                                                                      .reply_to = {}});
    if (!result) {
        return {topic_id, partition, ErrorCode::coordinator_not_available,
                std::string(error_message(ErrorCode::coordinator_not_available))};
    }
    const bool has_own_text = result->error == ErrorCode::none || !result->message.empty();
    return {topic_id, partition, result->error, has_own_text ? result->message : std::string(error_message(result->error))};
}

}  // namespace partita::handlers
