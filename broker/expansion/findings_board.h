#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/expansion/finding.h"
#include "protocol/types.h"

/// The findings that hold at this moment, and the events of their lives. Every channel (log, topic, HTTP, WebSocket,
/// metrics) shows what this board says. Pure; one caller at a time.
namespace partita::expansion {

struct FindingEvent {
    enum class Kind : std::uint8_t {
        opened,
        /// Numbers, examples or words changed.
        updated,
        /// The condition has ended; the finding is as it was last known.
        closed,
    };
    /// 1, 2, 3 ... without gaps in the life of a board.
    std::uint64_t sequence = 0;
    Kind kind = Kind::opened;
    TimestampMs time;
    /// When the finding opened. A finding that comes back after it was closed opens again.
    TimestampMs opened;
    Finding finding;
};
/// "opened", "updated", "closed".
[[nodiscard]] std::string_view to_string(FindingEvent::Kind kind);

struct OpenFinding {
    Finding finding;
    TimestampMs opened;
    /// When it last changed.
    TimestampMs changed;
};

/// Observers say what holds now, completely and as often as they like; the board finds out what is new, what changed
/// and what is over. A finding is the same as before when its id and its subject are.
class FindingsBoard {
  public:
    /// Open findings; beyond it new ones are not opened, and counted as refused.
    static constexpr std::size_t kOpenMax = 2000;
    /// Events that nobody has taken yet. Whoever settles takes them soon: more are an error of the caller.
    static constexpr std::size_t kEventsMax = 4 * kOpenMax;
    /// The least time between two `updated` events of a finding. A change in between is told at the first `settle`
    /// after it; one for the worse at once.
    static constexpr std::int64_t kUpdateIntervalMs = 5000;

    /// All findings that hold now as far as `source` can tell ("producers of orders"). What it said before and does not
    /// say now closes. Sources that are never settled again keep their findings open.
    /// If the same finding is in `current` twice, the first one counts.
    void settle(std::string_view source, std::span<const Finding> current, TimestampMs now);

    /// The events since the last call, in order.
    [[nodiscard]] std::vector<FindingEvent> take_events();
    /// Everything open: the worst first, then by id, then by topic.
    [[nodiscard]] std::vector<OpenFinding> open() const;
    [[nodiscard]] std::size_t open_count() const { return open_count_; }
    /// Findings that were not opened because `kOpenMax` were open. Counts each settle anew.
    [[nodiscard]] std::uint64_t refused() const { return refused_; }

  private:
    struct Held {
        OpenFinding open;
        /// What the last event said.
        Finding told;
        TimestampMs told_at;
    };
    using Findings = std::map<std::string, Held>;

    void open_finding(Findings& findings, std::string key, const Finding& finding, TimestampMs now);
    void update_finding(Held& held, const Finding& finding, TimestampMs now);
    void emit(FindingEvent::Kind kind, const Finding& finding, TimestampMs opened, TimestampMs now);

    std::map<std::string, Findings, std::less<>> sources_;
    std::size_t open_count_ = 0;
    std::vector<FindingEvent> events_;
    std::uint64_t last_sequence_ = 0;
    std::uint64_t refused_ = 0;
};

}  // namespace partita::expansion
