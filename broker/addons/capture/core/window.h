#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/types.h"

namespace partita::capture {

/// The durable state of the capture of one partition. Capture writes it before a file gets its name. So after a crash at any
/// moment it can tell whether the newest file still needs its name.
struct Progress {
    /// The first offset that is not in a file.
    Offset next{0};
    /// Number of files so far, which is the number of the newest one; 0 before the first.
    std::uint64_t files = 0;
    /// The time at which the newest file was closed, and the second in its name. The latter never decreases, even if clocks go
    /// back.
    TimestampMs closed_at = kNoTimestamp;
    TimestampMs named_at = kNoTimestamp;
    /// The name of the newest one, below the capture directory.
    std::string path;

    friend bool operator==(const Progress&, const Progress&) = default;
};

[[nodiscard]] std::string progress_text(const Progress& progress);
/// Null for any text that `progress_text` does not write, such as a torn file.
[[nodiscard]] std::optional<Progress> parse_progress(std::string_view text);

struct WindowSettings {
    std::int64_t interval_ms = 300'000;
    std::int64_t size_bytes = 314'572'800;
};

/// Decides when a partition's window ends, how much its file may hold, and the second in its name. A pure core.
///
/// A window ends when its time is over or when the waiting records have reached its size, whichever is first. Files end with the
/// record that brings them to the size. The remaining records of a window that ended by its time go into further files at once. A
/// partition that is at least `kLateFiles` files behind writes larger files, up to the managed service's maximum.
///
/// File names have a resolution of one second, so a partition writes at most one file a second. Larger files let it keep up all
/// the same.
class Window {
  public:
    static constexpr int kLateFiles = 4;
    static constexpr std::int64_t kLargestFileBytes = 524'288'000;
    static constexpr std::int64_t kNameMs = 1000;

    /// Begins a window. After a restart it ends when the interrupted one would have: at once if that time is over. If the wall
    /// clock went back, it ends at most one whole interval from now.
    Window(const Progress& progress, const WindowSettings& settings, Now now);

    struct Due {
        /// Records below this offset belong to the file, as far as they fit.
        Offset until;
        std::int64_t bytes_max = 0;
        bool by_time = false;
    };
    /// Tells whether the window ends now; null if not. `next`: the first record that is not in a file; `end`: the end of what can
    /// be captured; `owed_bytes`: about how many bytes lie between them.
    [[nodiscard]] std::optional<Due> due(const WindowSettings& settings, Offset next, Offset end, std::int64_t owed_bytes,
                                         Instant now) const;
    /// When the window ends by its time.
    [[nodiscard]] Instant ends(const WindowSettings& settings) const { return begun_ + settings.interval_ms; }

    /// Returns the second for the name of a file that is closed now. If that second is taken: the time at which the next one is
    /// free.
    [[nodiscard]] std::expected<TimestampMs, Instant> name_time(Now now) const;
    /// Skips a second whose file belongs to another writer. The next second may be used at once.
    void pass_over(TimestampMs second, Instant now);

    /// The file of `due` was written up to `next`. `named`: the second of its name, null if it was empty and left out.
    void close(const Due& due, Offset next, std::optional<TimestampMs> named, Instant now);

  private:
    Instant begun_;
    TimestampMs named_at_;
    Instant named_on_;
    /// Records below this belong to windows that are over.
    Offset owed_until_{0};
    /// Number of files in a row that left such records.
    int short_files_ = 0;
};

}  // namespace partita::capture
