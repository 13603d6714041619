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

#include "broker/insight/findings/finding.h"
#include "protocol/types.h"

/// The findings that hold at this moment, and the events of their lives. Every channel (log, topic, HTTP, WebSocket,
/// metrics) shows what this board holds. Pure; one caller at a time.
namespace partita::insight {

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
    /// When the finding opened. A finding that comes back after it was closed opens again, with a new time.
    TimestampMs opened;
    /// Only for `closed`: the condition still holds, but a worse finding took its place on a full board.
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

/// Observers (sources) tell the board what holds now, completely and as often as they like. The board works out what is
/// new, what changed and what is over. Two findings are the same when their ids and their subjects are.
///
/// On a full board severity decides who has a place: a worse finding displaces a milder one, and of the mildest the
/// newest goes first. While some findings have no place, the board opens a finding of its own (H60, as bad as the worst
/// of them), which needs no place. A finding without a place opens when a place is free and its source calls `settle`
/// again.
class FindingsBoard {
  public:
    /// Open findings of all sources.
    static constexpr std::size_t kOpenMax = 2000;
    /// Events that nobody has taken yet. Whoever calls `settle` must call `take_events` soon: more events than this are
    /// an error of the caller. One `settle` makes at most one event for each finding that closes, is displaced or
    /// opens, and one for the board's own finding.
    static constexpr std::size_t kEventsMax = 4 * kOpenMax;
    /// The least time between two `updated` events of one finding. A change in between is told by the first `settle`
    /// after that time; a change for the worse at once.
    static constexpr std::int64_t kUpdateIntervalMs = 5000;

    /// Takes all findings that hold now according to `source` ("producers of orders"). Closes those that the source
    /// told before and does not tell now; a source that never calls again keeps its findings open. If `current` has the
    /// same finding twice, the first one counts.
    void settle(std::string_view source, std::span<const Finding> current, TimestampMs now);

    /// The events since the last call, in order.
    [[nodiscard]] std::vector<FindingEvent> take_events();
    /// Everything open: the worst first, then by id, then by topic.
    [[nodiscard]] std::vector<OpenFinding> open() const;
    /// Open findings of all sources, without the board's own.
    [[nodiscard]] std::size_t open_count() const { return open_count_; }
    /// Findings that hold, according to what their sources told last, and have no place.
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
        /// How many of its findings have no place, by severity.
        SeverityCounts refused{};
    };
    /// A finding in the `current` of a settle that is not open yet.
    struct Newcomer {
        std::string key;
        const Finding* finding = nullptr;
    };
    /// An open finding that may have to make room; the first to go stands last. Made at most once per settle, when it
    /// is needed.
    struct Place {
        Severity severity = Severity::info;
        TimestampMs opened;
        Source* source = nullptr;
        std::string key;
    };

    /// Closes what is over, updates what goes on, and returns what is new.
    [[nodiscard]] std::vector<Newcomer> settle_known(Source& source, std::span<const Finding> current, TimestampMs now);
    void open_worst_first(Source& source, std::vector<Newcomer> newcomers, TimestampMs now);
    [[nodiscard]] std::vector<Place> places();
    /// True when a milder finding made room.
    [[nodiscard]] bool displace(std::vector<Place>& places, Severity severity, TimestampMs now);
    void update_finding(Held& held, const Finding& finding, TimestampMs now);
    /// Opens, updates or closes the board's own finding, by how many findings have no place.
    void settle_overflow(TimestampMs now);
    FindingEvent& emit(FindingEvent::Kind kind, const Finding& finding, TimestampMs opened, TimestampMs now);

    std::map<std::string, Source, std::less<>> sources_;
    std::size_t open_count_ = 0;
    std::optional<Held> overflow_;
    std::vector<FindingEvent> events_;
    std::uint64_t last_sequence_ = 0;
};

}  // namespace partita::insight
