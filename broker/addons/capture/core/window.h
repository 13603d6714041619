#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/types.h"

namespace partita::capture {

/// What is durable of the capture of one partition. It is written before a file gets its name, so that after a crash at any
/// moment everybody can tell whether the newest file still has to get it.
struct Progress {
    /// The first offset that is in no file.
    Offset next{0};
    /// How many files there were; the newest one has this number. 0: none yet.
    std::uint64_t files = 0;
    /// When the newest one was closed, and which second its name tells. The latter never falls, whatever clocks do.
    TimestampMs closed_at = kNoTimestamp;
    TimestampMs named_at = kNoTimestamp;
    /// The name of the newest one, below the capture directory.
    std::string path;

    friend bool operator==(const Progress&, const Progress&) = default;
};

[[nodiscard]] std::string progress_text(const Progress& progress);
/// Empty for anything that `progress_text` does not write, such as a torn file.
[[nodiscard]] std::optional<Progress> parse_progress(std::string_view text);

struct WindowSettings {
    std::int64_t interval_ms = 300'000;
    std::int64_t size_bytes = 314'572'800;
};

/// Decides when a partition's window ends, how much its file may hold, and what second it is named by. A pure core.
///
/// A window ends when its time is over or when what waits has reached its size, whichever is first. Files end with the record
/// that brings them to the size. What a window that ended by its time had besides goes into further files at once; who is more
/// than `kLateFiles` files behind writes larger ones, up to what the managed service allows at most. So no partition falls
/// behind its producers for lack of names: those have seconds, so a partition has one file a second, and none has two names.
class Window {
  public:
    static constexpr int kLateFiles = 4;
    static constexpr std::int64_t kLargestFileBytes = 524'288'000;
    static constexpr std::int64_t kNameMs = 1000;

    /// A window begins. After a restart it ends when the interrupted one would have: at once when that is over, and never later
    /// than one whole interval from now, should the wall clock have gone back.
    Window(const Progress& progress, const WindowSettings& settings, Now now);

    struct Due {
        /// Records below belong to the file, as far as there is room for them.
        Offset until;
        std::int64_t bytes_max = 0;
        bool by_time = false;
    };
    /// Whether the window ends now. `next`: the first record in no file; `end`: of what can be captured; `owed_bytes`: about how
    /// much lies between them.
    [[nodiscard]] std::optional<Due> due(const WindowSettings& settings, Offset next, Offset end, std::int64_t owed_bytes,
                                         Instant now) const;
    /// When it ends by its time.
    [[nodiscard]] Instant ends(const WindowSettings& settings) const { return begun_ + settings.interval_ms; }

    /// The second for the name of a file that is closed now; or from when on there will be one.
    [[nodiscard]] std::expected<TimestampMs, Instant> name_time(Now now) const;
    /// A file of that second exists, and is none of this partition's: the next one may be taken at once.
    void pass_over(TimestampMs second, Instant now);

    /// The file of `due` was written up to `next`; `named`: the second of its name, none when it was empty and left out.
    void close(const Due& due, Offset next, std::optional<TimestampMs> named, Instant now);

  private:
    Instant begun_;
    TimestampMs named_at_;
    Instant named_on_;
    /// Below this, records belong to windows that are over.
    Offset owed_until_{0};
    /// Files in a row after which there still were such records.
    int short_files_ = 0;
};

}  // namespace partita::capture
