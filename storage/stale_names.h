#pragma once

#include <cstdint>
#include <map>

#include "storage/partition_name.h"

namespace partita {

/// The names under which checkpoint files may tell of a partition that is gone, and which of them a writing of these files
/// settles: those that were noted before it began.
///
/// Pure. Not thread-safe.
class StaleNames {
  public:
    /// What was noted when a writing of the checkpoint files began.
    struct Moment {
        std::uint64_t count = 0;
        /// Of one of them cleaner-offset-checkpoint may tell, so that file has to be written too.
        bool has_cleaned = false;
    };

    /// The partition of that name is gone. `is_cleaned`: cleaner-offset-checkpoint may tell of it too. A name that is noted again
    /// is settled by a writing that begins after that.
    void note(const PartitionName& name, bool is_cleaned);
    [[nodiscard]] bool contains(const PartitionName& name) const { return names_.contains(name); }

    [[nodiscard]] Moment now() const;
    /// The files were written whole since `moment`: forgets what was noted until then, if `settle` returns true for it. What
    /// it refuses stays for the next writing.
    template <class Settle>
    void settle(const Moment& moment, const Settle& settle) {
        std::erase_if(names_, [&](const auto& name) { return name.second.since <= moment.count && settle(name.first); });
    }

  private:
    struct Stale {
        /// The value of `count_` when the name was noted last.
        std::uint64_t since = 0;
        bool is_cleaned = false;
    };
    std::map<PartitionName, Stale> names_;
    std::uint64_t count_ = 0;
};

}  // namespace partita
