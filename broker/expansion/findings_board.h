#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
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
    /// Of `closed` alone: the condition still holds, but a worse finding took its place on a full board.
    bool is_displaced = false;
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
///
/// On a full board severity decides who has a place: a worse finding displaces a milder one, the newest of the mildest first.
/// While there are findings without a place, the board says so itself, by a finding of its own (H60, as bad as the worst of
/// them) that needs no place. They open when a place is free and their source is settled again.
class FindingsBoard {
  public:
    /// Open findings of all sources.
    static constexpr std::size_t kOpenMax = 2000;
    /// Events that nobody has taken yet. Whoever settles takes them soon: more are an error of the caller. One call makes at
    /// most one for each finding that closes, for each that is displaced, for each that opens, and one of the board itself.
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
    /// Those of the sources: without the board's own.
    [[nodiscard]] std::size_t open_count() const { return open_count_; }
    /// Findings that hold, as far as their sources said last, and have no place.
    [[nodiscard]] std::size_t refused() const;

  private:
    static constexpr std::size_t kSeverities = 3;
    using SeverityCounts = std::array<std::size_t, kSeverities>;

    struct Held {
        OpenFinding open;
        /// What the last event said.
        Finding told;
        TimestampMs told_at;
    };
    using Findings = std::map<std::string, Held>;
    struct Source {
        Findings findings;
        /// What it said and has no place, by severity.
        SeverityCounts refused{};
    };
    /// A finding of a settle that is not open yet.
    struct Newcomer {
        std::string key;
        const Finding* finding = nullptr;
    };
    /// Who may have to make room: the first to go stands last. Made for one settle, when it is needed.
    struct Place {
        Severity severity = Severity::info;
        TimestampMs opened;
        Source* source = nullptr;
        std::string key;
    };

    /// Closes what is over, updates what goes on, and gives back what is new.
    [[nodiscard]] std::vector<Newcomer> settle_known(Source& source, std::span<const Finding> current, TimestampMs now);
    void open_worst_first(Source& source, std::vector<Newcomer> newcomers, TimestampMs now);
    [[nodiscard]] std::vector<Place> places();
    /// True when a milder finding made room.
    [[nodiscard]] bool displace(std::vector<Place>& places, Severity severity, TimestampMs now);
    void update_finding(Held& held, const Finding& finding, TimestampMs now);
    /// The board's own finding follows what is refused.
    void settle_overflow(TimestampMs now);
    FindingEvent& emit(FindingEvent::Kind kind, const Finding& finding, TimestampMs opened, TimestampMs now);

    std::map<std::string, Source, std::less<>> sources_;
    std::size_t open_count_ = 0;
    std::optional<Held> overflow_;
    std::vector<FindingEvent> events_;
    std::uint64_t last_sequence_ = 0;
};

}  // namespace partita::expansion
