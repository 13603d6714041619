#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/types.h"

namespace partita::net {

/// Which reactor serves a connection.
///
/// Connections that have little to do share the first reactor: a record then goes from its producer to a consumer that waits
/// for it within one turn of one thread. On another reactor the consumer would have to be woken, and waking a core that
/// sleeps takes longer than everything else on the way. A reactor that is busy hands connections to one that is not. One that
/// sleeps is only woken for them while the machine has a processor to spare: else it would take one from the clients, who are
/// what everybody waits for then.
///
/// Pure functions of what was measured: no clock, no thread.
namespace placement {

/// What a reactor's thread used of one processor in its last window of measurement.
struct Load {
    std::int32_t busy_permille = 0;
    Instant measured{};
};

/// Long enough to tell load from a single large request, short against what a person notices.
inline constexpr std::int64_t kWindowMs = 50;
/// A reactor measures at the end of its turns, and one that sleeps has none: what it said longer ago is no longer true.
inline constexpr std::int64_t kValidMs = 3 * kWindowMs;
/// Spare processors are measured by reactors that are busy, and less often (IdleProcessors).
inline constexpr std::int64_t kSpareValidMs = 500;
struct Limits {
    /// With so much, new connections go elsewhere, and old ones are handed over.
    std::int32_t busy_permille = 800;
    /// Handing over pays only to a reactor that has so much less to do.
    std::int32_t gap_permille = 300;
    /// After handing over, the loads have to show what it did.
    std::int64_t settle_ms = 4 * kWindowMs;
    /// A reactor with less to do sleeps.
    std::int32_t awake_permille = 50;
    /// What has to be idle of one processor before a reactor that sleeps gets work.
    std::int32_t spare_permille = 300;
};
/// What serving a request costs beside its bytes, as bytes.
inline constexpr std::uint64_t kRequestWork = 16 * 1024;

/// What the processors of the machine did not use, in thousandths of one. Nothing was to spare while nobody has measured.
struct Spare {
    std::int32_t permille = 0;
    Instant measured{};
};

/// The first reactor that is not busy; if all are, the one with the least to do. Without a processor to spare of those only
/// that are awake; the first one when none is.
[[nodiscard]] std::size_t for_new_connection(std::span<const Load> loads, const Spare& spare, const Limits& limits, Instant now);

struct Relief {
    std::size_t target = 0;
    /// Of the work of the reactor that hands over.
    std::int32_t share_permille = 0;
};
/// Empty when `busy` is not, when all others have nearly as much to do, or sleep and no processor is to spare.
[[nodiscard]] std::optional<Relief> relief_of(std::span<const Load> loads, const Spare& spare, std::size_t busy, const Limits& limits,
                                              Instant now);

/// Of connections with so much work each, which to hand over (by index): together at most `share_permille` of all work,
/// with the largest that fit. A connection that is most of the load by itself stays where it is.
[[nodiscard]] std::vector<std::size_t> choose(std::span<const std::uint64_t> work, std::int32_t share_permille);

}  // namespace placement

/// The loads of all reactors, told by each and read by all. Thread-safe.
class ReactorLoads {
  public:
    explicit ReactorLoads(std::size_t reactors) : told_(reactors) {}

    void tell(std::size_t reactor, placement::Load load);
    void tell(placement::Spare spare);
    [[nodiscard]] std::vector<placement::Load> read() const;
    [[nodiscard]] placement::Spare spare() const;

  private:
    struct Told {
        std::atomic<std::int32_t> permille = 0;
        std::atomic<std::int64_t> measured_ms = 0;
    };
    std::vector<Told> told_;
    Told spare_;
};

}  // namespace partita::net
