#pragma once

#include <cstdint>
#include <map>

#include "storage/partition_name.h"

namespace partita {

/// The partition names under which checkpoint files may describe a partition that is gone. A write of these files settles the
/// names that were noted before it began.
///
/// Pure. Not thread-safe.
class StaleNames {
  public:
    /// The stale names at the moment when a write of the checkpoint files begins.
    struct Moment {
        std::uint64_t count = 0;
        /// cleaner-offset-checkpoint may describe one of the names, so that file has to be written too.
        bool has_cleaned = false;
    };

    /// Notes that the partition of that name is gone. `is_cleaned`: cleaner-offset-checkpoint may describe it too. A name that is
    /// noted again is settled by the next write that begins after that.
    void note(const PartitionName& name, bool is_cleaned);
    [[nodiscard]] bool contains(const PartitionName& name) const { return names_.contains(name); }

    [[nodiscard]] Moment now() const;
    /// Forgets the names noted until `moment`, because the files were written whole since then. It asks `settle` for each name; a
    /// name for which `settle` returns false stays for the next write.
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
