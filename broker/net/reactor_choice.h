#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/types.h"

namespace partita::net {

/// Decides which reactor serves a connection.
///
/// Connections with little to do share the first reactor: a record then goes from its producer to a waiting consumer within one
/// turn of one thread. On another reactor the consumer would have to be woken, and waking a sleeping core takes longer than
/// everything else on the way. A busy reactor hands connections to one that is not busy. It wakes a sleeping reactor only while
/// the machine has a processor to spare. Otherwise the woken reactor would take that processor from the clients, and all would
/// wait for them.
///
/// These are pure functions of measurements: they use no clock and no thread.
namespace reactor_choice {

/// How much of one processor a reactor's thread used in its last window of measurement, in thousandths.
struct Load {
    std::int32_t busy_permille = 0;
    Instant measured{};
};

/// The length of a window: long enough to tell load from a single large request, and too short for a person to notice.
inline constexpr std::int64_t kWindowMs = 50;
/// How long a measured load is valid. A reactor measures at the end of its turns, and a sleeping reactor has none: after this
/// time its load counts as 0.
inline constexpr std::int64_t kValidMs = 3 * kWindowMs;
/// How long a measured `Spare` is valid. Only busy reactors measure it, and less often than loads (see IdleProcessors).
inline constexpr std::int64_t kSpareValidMs = 500;
struct Limits {
    /// From this load on, a reactor is busy: new connections go to another one, and it hands over old ones.
    std::int32_t busy_permille = 800;
    /// A busy reactor hands over only to a reactor with a load that is lower by this much.
    std::int32_t gap_permille = 300;
    /// How long a reactor waits before it hands over again, until the loads show the effect.
    std::int64_t settle_ms = 4 * kWindowMs;
    /// A reactor with a lower load counts as asleep.
    std::int32_t awake_permille = 50;
    /// How much of one processor must be idle before a sleeping reactor gets work.
    std::int32_t spare_permille = 300;
};
/// The cost of a request in addition to its bytes, in units of bytes.
inline constexpr std::uint64_t kRequestWork = 16 * 1024;

/// The idle time of the machine's processors, in thousandths of one processor. 0 until a reactor has measured it.
struct Spare {
    std::int32_t permille = 0;
    Instant measured{};
};

/// The index of the first reactor that is not busy; if all are busy, of the one with the lowest load. Without a processor to
/// spare, only the first reactor and those that are awake are candidates.
[[nodiscard]] std::size_t for_new_connection(std::span<const Load> loads, const Spare& spare, const Limits& limits, Instant now);

struct Relief {
    std::size_t target = 0;
    /// The share of the busy reactor's work that it should hand over.
    std::int32_t share_permille = 0;
};
/// The work that the busy reactor with index `busy` should hand over, and its new reactor. Empty if that reactor is not busy.
/// Also empty if each other reactor has nearly as much to do, or sleeps while no processor is to spare.
[[nodiscard]] std::optional<Relief> relief_of(std::span<const Load> loads, const Spare& spare, std::size_t busy,
                                              const Limits& limits, Instant now);

/// The connections to hand over, as indices into `work` (the work of each connection). Takes the largest first if they fit, and
/// together at most `share_permille` of all work. A connection that makes up most of the load stays.
[[nodiscard]] std::vector<std::size_t> choose(std::span<const std::uint64_t> work, std::int32_t share_permille);

}  // namespace reactor_choice

/// The loads of all reactors: each reactor reports its own, and all read them. Thread-safe.
class ReactorLoads {
  public:
    explicit ReactorLoads(std::size_t reactors) : told_(reactors) {}

    void tell(std::size_t reactor, reactor_choice::Load load);
    void tell(reactor_choice::Spare spare);
    [[nodiscard]] std::vector<reactor_choice::Load> read() const;
    [[nodiscard]] reactor_choice::Spare spare() const;

  private:
    struct Told {
        std::atomic<std::int32_t> permille = 0;
        std::atomic<std::int64_t> measured_ms = 0;
    };
    std::vector<Told> told_;
    Told spare_;
};

}  // namespace partita::net
