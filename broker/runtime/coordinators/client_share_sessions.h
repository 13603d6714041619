#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string_view>
#include <vector>

#include "broker/share/share_sessions.h"
#include "protocol/mutex.h"

namespace partita::runtime {

/// The share sessions of all connections. Thread-safe: each call holds the lock only for its own work.
class ClientShareSessions {
  public:
    /// Calls `use` with the sessions, under the lock.
    template <class Use>
    auto with(Use&& use) {
        const MutexLock lock(mutex_);
        return use(sessions_);
    }

  private:
    Mutex mutex_{LockRank::share_sessions};
    share::ShareSessions sessions_ GUARDED_BY(mutex_);
};

}  // namespace partita::runtime
