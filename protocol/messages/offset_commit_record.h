#pragma once

#include "protocol/schema.h"

namespace partita {

/// LegacyOffsetCommitKey (record type 0): version 0, never flexible.
struct LegacyOffsetCommitKey {
    std::string_view group;
    std::string_view topic;
    std::int32_t partition = 0;

    static const Schema schema;
};

/// LegacyOffsetCommitValue: version 0, never flexible.
struct LegacyOffsetCommitValue {
    std::int64_t offset = 0;
    std::string_view metadata;
    std::int64_t commit_timestamp = 0;

    static const Schema schema;
};

/// OffsetCommitKey (record type 1): version 0, never flexible.
struct OffsetCommitKey {
    std::string_view group;
    std::string_view topic;
    std::int32_t partition = 0;

    static const Schema schema;
};

/// OffsetCommitValue: versions 0 to 4, flexible from 4.
///
///   v1: It gains expireTimestamp.
///   v2: It loses expireTimestamp.
///   v3: It gains leaderEpoch.
///   v4: Flexible encoding; it gains topicId.
struct OffsetCommitValue {
    std::int64_t offset = 0;
    std::int32_t leader_epoch = -1;  ///< v3 and later
    std::string_view metadata;
    std::int64_t commit_timestamp = 0;
    std::int64_t expire_timestamp = -1;  ///< v1 only
    Uuid topic_id;                       ///< v4

    static const Schema schema;
};

}  // namespace partita
