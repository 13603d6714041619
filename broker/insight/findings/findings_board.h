#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/insight/findings/finding.h"
#include "protocol/function_ref.h"
#include "protocol/types.h"

/// The findings that hold at this moment, those that are over, and the events of their lives. Every channel (log, topic, HTTP,
/// WebSocket, metrics) shows what this board holds. Pure; one caller at a time.
namespace partita::insight {

struct FindingEvent {
    enum class Kind : std::uint8_t {
        opened,
        /// Numbers, examples or words changed.
        updated,
        /// The condition has ended; the event carries the finding as it was last known.
        closed,
    };
    /// 1, 2, 3 ... without gaps during the life of a board.
    std::uint64_t sequence = 0;
    Kind kind = Kind::opened;
    TimestampMs time;
    /// When the finding opened. A finding that comes back after it was closed opens again with a new time.
    TimestampMs opened;
    /// Only for `closed`: the condition still holds, but a worse finding took its place on a full board.
    bool is_displaced = false;
    /// Only for `closed`: the harm is as it was, but a person marked it as seen.
    bool is_seen = false;
    Finding finding;
};
/// "opened", "updated", "closed".
[[nodiscard]] std::string_view to_string(FindingEvent::Kind kind);

struct OpenFinding {
    Finding finding;
    TimestampMs opened;
    /// When the finding last changed.
    TimestampMs changed;
    /// The largest count since it opened.
    std::int64_t largest_count = 0;
};

/// A finding that is over.
struct EndedFinding {
    enum class How : std::uint8_t {
        /// The condition ended; for a harm, its records, its group or its topic are gone.
        over,
        /// A person marked the harm as seen.
        seen,
        /// The broker stopped while the danger was open. It opens again if it is still there.
        stopped,
    };
    /// As it was last known.
    Finding finding;
    TimestampMs opened;
    /// For `stopped`, the time of its last event.
    TimestampMs closed;
    std::int64_t largest_count = 0;
    How how = How::over;
};
/// "over", "seen", "stopped".
[[nodiscard]] std::string_view to_string(EndedFinding::How how);

/// The findings that an earlier run of the broker left.
struct PastFindings {
    /// Harm that was still open; `Finding::is_restored`.
    std::vector<OpenFinding> harm;
    /// In the order in which they ended.
    std::vector<EndedFinding> ended;
};

/// Observers (sources) tell the board what holds now, completely and as often as they like. The board works out which findings
/// are new, which changed and which are over. Two findings are the same if their ids and their subjects are. So a source decides
/// how long its harm lasts, too: it reports harm until the records are gone, the group or the topic.
///
/// Harm that is marked as seen is over for the board, even while its source still reports it. It opens again, as a new finding,
/// if its count grows.
///
/// On a full board severity decides which findings have a place: a worse finding displaces a milder one, and among the mildest
/// the newest goes first. While some findings have no place, the board opens a finding of its own (H60). H60 is as bad as the
/// worst of them and needs no place. A finding without a place opens when a place is free and its source calls `settle` again.
class FindingsBoard {
  public:
    /// Open findings of all sources.
    static constexpr std::size_t kOpenMax = 2000;
    /// Most events that can wait for `take_events`. After `settle` a caller must call `take_events` soon: more events than this
    /// are an error of the caller. One `settle` makes at most one event for each finding that closes, is displaced or opens, and
    /// one for the board's own finding.
    static constexpr std::size_t kEventsMax = 4 * kOpenMax;
    /// Most findings that are over and still kept. Beyond that the mildest go first, and among these the oldest.
    static constexpr std::size_t kEndedMax = 500;
    /// The least time between two `updated` events of one finding. The first `settle` after that time reports a change in
    /// between. A change for the worse is reported at once.
    static constexpr std::int64_t kUpdateIntervalMs = 5000;
    /// The same if only the evidence changed, which most readers of events do not look at.
    static constexpr std::int64_t kEvidenceIntervalMs = 600'000;
    /// Open harm is reported again after this time, although nothing changed. So the newest events hold all open harm.
    static constexpr std::int64_t kHarmRepeatMs = 86'400'000;
    /// The same after this many events of all findings, because a start reads back a limited number of events.
    static constexpr std::uint64_t kHarmRepeatEvents = 25'000;
    /// The source of harm from before the broker's start that opened at this time: see `restore`. The same harm may have opened
    /// in several earlier runs.
    [[nodiscard]] static std::string past_source(TimestampMs opened) { return "past/" + std::to_string(opened.value); }

    /// Takes all findings that hold now according to `source` ("producers of orders"). Closes those that the source reported
    /// before and does not report now. A source that never calls again keeps its findings open. If `current` has the same finding
    /// twice, the first one counts.
    void settle(std::string_view source, std::span<const Finding> current, TimestampMs now);
    /// Marks the harm that `which` selects as seen. Returns how many findings that were.
    std::size_t mark_seen(FunctionRef<bool(const OpenFinding&)> which, TimestampMs now);
    /// Takes what an earlier run of the broker left. Harm opens again, each with the time of its first opening. From then on its
    /// `past_source` reports whether it is over. Call this once.
    void restore(PastFindings past, TimestampMs now);
    /// Closes all open findings, and forgets those and the ones that are over. Returns how many they were. Sources that still
    /// report a finding open it anew.
    std::size_t forget(TimestampMs now);

    /// The events since the last call, in order.
    [[nodiscard]] std::vector<FindingEvent> take_events();
    /// All open findings: the worst first, then by id, then by topic.
    [[nodiscard]] std::vector<OpenFinding> open() const;
    /// The findings that are over, the last one first.
    [[nodiscard]] std::vector<EndedFinding> ended() const { return {ended_.rbegin(), ended_.rend()}; }
    /// Open findings of all sources, without the board's own.
    [[nodiscard]] std::size_t open_count() const { return open_count_; }
    /// Number of findings that have no place although they hold, according to the last report of their sources.
    [[nodiscard]] std::size_t refused() const;

  private:
    static constexpr std::size_t kSeverities = 3;
    using SeverityCounts = std::array<std::size_t, kSeverities>;

    struct Held {
        OpenFinding open;
        /// The finding as the last event reported it.
        Finding told;
        TimestampMs told_at;
        /// The sequence of that event, or an earlier one.
        std::uint64_t told_sequence = 0;
    };
    using Findings = std::map<std::string, Held>;
    struct Source {
        Findings findings;
        /// How many of the source's findings have no place, by severity.
        SeverityCounts refused{};
        /// Harm that was seen and that the source still reports, with its least count since then.
        std::map<std::string, std::int64_t> seen = {};

        [[nodiscard]] bool is_empty() const { return findings.empty() && refused == SeverityCounts{} && seen.empty(); }
    };
    /// A finding in the `current` of a settle that is not open yet.
    struct Newcomer {
        std::string key;
        const Finding* finding = nullptr;
    };
    /// An open finding that may have to make room. The first to go stands last. Made at most once per `settle`, only if needed.
    struct Place {
        Severity severity = Severity::info;
        TimestampMs opened;
        Source* source = nullptr;
        std::string key;
    };

    /// Closes findings that are over, updates those that go on, and returns those that are new.
    [[nodiscard]] std::vector<Newcomer> settle_known(Source& source, std::span<const Finding> current, TimestampMs now);
    /// True if the harm was seen and its count has not grown since.
    [[nodiscard]] static bool is_still_seen(Source& source, const std::string& key, const Finding& finding);
    void open_worst_first(Source& source, std::vector<Newcomer> newcomers, TimestampMs now);
    [[nodiscard]] std::vector<Place> places();
    /// True if a milder finding made room.
    [[nodiscard]] bool displace(std::vector<Place>& places, Severity severity, TimestampMs now);
    void update_finding(Held& held, const Finding& finding, TimestampMs now);
    /// Opens, updates or closes the board's own finding, depending on how many findings have no place.
    void settle_overflow(TimestampMs now);
    FindingEvent& emit(FindingEvent::Kind kind, const Finding& finding, TimestampMs opened, TimestampMs now);
    /// Closes the finding and keeps it as one that is over.
    void end(const OpenFinding& open, EndedFinding::How how, TimestampMs now);
    void keep_ended(EndedFinding ended);

    std::map<std::string, Source, std::less<>> sources_;
    std::size_t open_count_ = 0;
    std::optional<Held> overflow_;
    /// In the order in which they ended.
    std::deque<EndedFinding> ended_;
    std::vector<FindingEvent> events_;
    std::uint64_t last_sequence_ = 0;
};

}  // namespace partita::insight
