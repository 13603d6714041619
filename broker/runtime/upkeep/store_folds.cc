#include "broker/runtime/upkeep/store_folds.h"

#include "broker/config/log_setup.h"
#include "broker/runtime/loop/fail_stop.h"
#include "broker/runtime/upkeep/keyed_logs.h"

namespace partita::runtime {

void StoreFolds::note_writes(Instant now) {
    fold_.note(now, kFoldMs);
    purge_.note(now, kPurgeMs);
}

void StoreFolds::run_due(Now now) {
    if (purge_.is_due(now.monotonic)) {
        purge(now.monotonic);
    }
    if (fold_.is_due(now.monotonic)) {
        fold(now.monotonic);
    }
}

void StoreFolds::purge(Instant now) {
    auto purged = logs_.purge_removed();
    if (purged && bell_.take_deletion()) {
        purged = keyed_logs_.forget_deleted();
        if (!purged) {
            bell_.topic_deleted();
        }
    }
    purge_ = {.pending = !purged, .due = now + kFoldMs};
    if (!purged) {
        if (purged.error().kind == StorageError::Kind::sync_failed) {
            fail_stop(purged.error());
        }
        log::warning("storage", "could not free the space of deleted topics; trying again", {{"reason", purged.error().message}});
    }
}

void StoreFolds::fold(Instant now) {
    const auto folded = keyed_logs_.fold();
    fold_ = {.pending = !folded, .due = now + kFoldMs};
    if (!folded) {
        if (folded.error().kind == StorageError::Kind::sync_failed) {
            fail_stop(folded.error());
        }
        log::warning("storage", "could not write the checkpoint of the internal logs; trying again",
                     {{"reason", folded.error().message}});
    }
}

}  // namespace partita::runtime
