#include "broker/runtime/catalog/own_changes.h"

#include <utility>

#include "broker/logs/turns.h"
#include "broker/runtime/catalog/catalog.h"
#include "broker/runtime/loop/failure_log.h"
#include "broker/runtime/loop/upkeep_bell.h"

namespace partita::runtime {

void OwnChanges::post(std::string_view failure, Change change) {
    turns_.first_reactor().post([this, failure, change = std::move(change)] {
        if (!change(turns_.first(), catalog_)) {
            failures_.append_failed(failure);
        }
        // Also after a change that failed half-way.
        upkeep_.data_written();
    });
}

}  // namespace partita::runtime
