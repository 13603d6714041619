#include "broker/tools/progress.h"

#include <unistd.h>

#include <algorithm>

#include "protocol/printable.h"

namespace partita::tools {

std::string progress_text(std::int64_t records, std::uint64_t bytes, std::int64_t milliseconds) {
    const double seconds = static_cast<double>(std::max<std::int64_t>(milliseconds, 1)) / 1000;
    const auto size = static_cast<double>(bytes);
    return std::to_string(records) + (records == 1 ? " record, " : " records, ") + size_text(size) + ", " +
           size_text(size / seconds) + "/s";
}

Progress::Progress(const Surroundings& surroundings, std::FILE* records)
    : surroundings_(surroundings),
      is_shown_(::isatty(::fileno(surroundings.errors)) == 1 && ::isatty(::fileno(records)) != 1),
      began_(surroundings.network.clock().now().monotonic),
      last_(began_) {}

void Progress::show(std::int64_t records, std::uint64_t bytes) {
    constexpr std::int64_t kEveryMs = 100;
    if (!is_shown_) {
        return;
    }
    const Instant now = surroundings_.network.clock().now().monotonic;
    if (now - last_ < kEveryMs) {
        return;
    }
    last_ = now;
    is_drawn_ = true;
    std::fprintf(surroundings_.errors, "\r%s\033[K", progress_text(records, bytes, now - began_).c_str());
    std::fflush(surroundings_.errors);
}

void Progress::clear() {
    if (is_drawn_) {
        std::fprintf(surroundings_.errors, "\r\033[K");
    }
    is_drawn_ = false;
}

}  // namespace partita::tools
