#pragma once

#include "protocol/schema.h"

namespace partita {

/// SaslHandshake (key 17): versions 0 to 1, never flexible.
///
///   v1: No change of layout.
struct SaslHandshakeRequest {
    std::string_view mechanism;

    static const Schema schema;
};

struct SaslHandshakeResponse {
    ErrorCode error_code = ErrorCode::none;
    Array<std::string_view> mechanisms;

    static const Schema schema;
};

}  // namespace partita
