#pragma once

#include "protocol/schema.h"

namespace partita {

/// DescribeClientQuotas (key 48): versions 0 to 1, flexible from 1.
///
///   v1: Flexible encoding.
struct DescribeClientQuotasRequest {
    struct ComponentData {
        std::string_view entity_type;
        std::int8_t match_type = 0;
        std::optional<std::string_view> match = "";  ///< may be null

        static const Schema schema;
    };

    Array<ComponentData> components;
    bool strict = false;

    static const Schema schema;
};

struct DescribeClientQuotasResponse {
    struct EntityData {
        std::string_view entity_type;
        std::optional<std::string_view> entity_name = "";  ///< may be null

        static const Schema schema;
    };

    struct ValueData {
        std::string_view key;
        double value = 0.0;

        static const Schema schema;
    };

    struct EntryData {
        Array<EntityData> entity;
        Array<ValueData> values;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::none;
    std::optional<std::string_view> error_message = "";  ///< may be null
    Array<EntryData> entries;                            ///< may be null

    static const Schema schema;
};

}  // namespace partita
