#pragma once

#include "protocol/schema.h"

namespace partita {

/// AlterClientQuotas (key 49): versions 0 to 1, flexible from 1.
///
///   v1: Flexible encoding.
struct AlterClientQuotasRequest {
    struct EntityData {
        std::string_view entity_type;
        std::optional<std::string_view> entity_name = "";  ///< may be null

        static const Schema schema;
    };

    struct OpData {
        std::string_view key;
        double value = 0.0;
        bool remove = false;

        static const Schema schema;
    };

    struct EntryData {
        Array<EntityData> entity;
        Array<OpData> ops;

        static const Schema schema;
    };

    Array<EntryData> entries;
    bool validate_only = false;

    static const Schema schema;
};

struct AlterClientQuotasResponse {
    struct EntityData {
        std::string_view entity_type;
        std::optional<std::string_view> entity_name = "";  ///< may be null

        static const Schema schema;
    };

    struct EntryData {
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message = "";  ///< may be null
        Array<EntityData> entity;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<EntryData> entries;

    static const Schema schema;
};

}  // namespace partita
