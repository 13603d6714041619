#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "protocol/types.h"

namespace partita::capacity {

/// Holds callers to a number of calls per second for each key. A key that was quiet for a second allows that many calls at once.
class CallPacer {
  public:
    /// Most known keys. A further one replaces the key that was called least recently, which then begins anew.
    static constexpr std::size_t kKeysMax = 10'000;
    /// The longest wait. A call that would have to wait longer is not counted: it comes again.
    static constexpr std::int64_t kWaitMsMax = 5'000;

    /// Counts a call. Returns how many milliseconds the caller must wait; 0 if there is no limit (0).
    [[nodiscard]] std::int64_t call(std::string_view key, std::int32_t calls_per_second, Instant now);

    [[nodiscard]] std::size_t key_count() const { return by_name_.size(); }

  private:
    struct Key {
        std::string name;
        // In thousandths of calls, as of `advanced`; below 0 they are owed.
        std::int64_t left = 0;
        Instant advanced;
    };
    // Ordered by last call, the latest first.
    using Keys = std::list<Key>;

    [[nodiscard]] Key& key_of(std::string_view name, std::int32_t calls_per_second, Instant now);

    Keys keys_;
    // By the keys' own names.
    std::unordered_map<std::string_view, Keys::iterator> by_name_;
};

}  // namespace partita::capacity
