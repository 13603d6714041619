#pragma once

#include "protocol/schema.h"

namespace partita {

/// EndTxnMarker: version 0, never flexible.
///
/// The value of a control record that ends a transaction, after an int16 with the version.
struct EndTxnMarker {
    std::int32_t coordinator_epoch = 0;

    static const Schema schema;
};

}  // namespace partita
