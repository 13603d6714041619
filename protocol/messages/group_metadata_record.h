#pragma once

#include "protocol/schema.h"

namespace partita {

/// GroupMetadataKey (record type 2): version 0, never flexible.
struct GroupMetadataKey {
    std::string_view group;

    static const Schema schema;
};

/// GroupMetadataValue: versions 0 to 4, flexible from 4.
///
///   v1: It gains rebalanceTimeout.
///   v2: It gains currentStateTimestamp.
///   v3: It gains groupInstanceId.
///   v4: Flexible encoding.
struct GroupMetadataValue {
    struct MemberMetadata {
        std::string_view member_id;
        std::optional<std::string_view> group_instance_id;  ///< v3 and later, may be null
        std::string_view client_id;
        std::string_view client_host;
        std::int32_t rebalance_timeout = -1;  ///< v1 and later
        std::int32_t session_timeout = 0;
        Bytes subscription;
        Bytes assignment;

        static const Schema schema;
    };

    std::string_view protocol_type;
    std::int32_t generation = 0;
    std::optional<std::string_view> protocol = "";  ///< may be null
    std::optional<std::string_view> leader = "";    ///< may be null
    std::int64_t current_state_timestamp = -1;      ///< v2 and later
    Array<MemberMetadata> members;

    static const Schema schema;
};

}  // namespace partita
