#pragma once

#include "protocol/schema.h"

namespace partita {

/// DeleteAcls (key 31): versions 1 to 3, flexible from 2.
///
///   v2: Flexible encoding.
///   v3: No change of layout.
struct DeleteAclsRequest {
    struct DeleteAclsFilter {
        std::int8_t resource_type_filter = 0;
        std::optional<std::string_view> resource_name_filter = "";  ///< may be null
        std::int8_t pattern_type_filter = 3;
        std::optional<std::string_view> principal_filter = "";  ///< may be null
        std::optional<std::string_view> host_filter = "";       ///< may be null
        std::int8_t operation = 0;
        std::int8_t permission_type = 0;

        static const Schema schema;
    };

    Array<DeleteAclsFilter> filters;

    static const Schema schema;
};

struct DeleteAclsResponse {
    struct DeleteAclsMatchingAcl {
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message = "";  ///< may be null
        std::int8_t resource_type = 0;
        std::string_view resource_name;
        std::int8_t pattern_type = 3;
        std::string_view principal;
        std::string_view host;
        std::int8_t operation = 0;
        std::int8_t permission_type = 0;

        static const Schema schema;
    };

    struct DeleteAclsFilterResult {
        ErrorCode error_code = ErrorCode::none;
        std::optional<std::string_view> error_message = "";  ///< may be null
        Array<DeleteAclsMatchingAcl> matching_acls;

        static const Schema schema;
    };

    std::int32_t throttle_time_ms = 0;
    Array<DeleteAclsFilterResult> filter_results;

    static const Schema schema;
};

}  // namespace partita
