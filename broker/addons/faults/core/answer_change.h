#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "broker/addons/faults/core/fault_rule.h"
#include "protocol/api_keys.h"
#include "protocol/byte_buffer.h"
#include "protocol/types.h"

namespace partita::faults {

/// The topics and partitions whose part of an answer is changed.
struct AnswerPart {
    /// All topics if empty.
    std::string topic;
    /// The id of `topic`, for answers that name topics by their ids; zero if no such topic exists.
    Uuid topic_id;
    /// All partitions if empty.
    std::optional<std::int32_t> partition;
    /// The request asked for all topics: an unknown one is not in the answer.
    bool is_of_all = false;
    /// The request named topics by their ids.
    bool is_by_id = false;
};

/// Changes an answer as the action says: `frame` is the whole answer, with its size. Returns false and leaves `frame` as it is if
/// the answer has nothing to change: no records, or already so few partitions.
[[nodiscard]] bool change_answer(const ApiInfo& api, std::int16_t version, const Action& action, const AnswerPart& part,
                                 ByteBuffer& frame);

}  // namespace partita::faults
