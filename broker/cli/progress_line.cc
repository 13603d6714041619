#include "broker/cli/progress_line.h"

#include <unistd.h>

#include <cstdio>

#include "schedule/executor.h"

namespace partita::cli {

ProgressLine::ProgressLine(bool is_wanted) : is_shown_(is_wanted && ::isatty(STDERR_FILENO) == 1) {}

bool ProgressLine::is_due() const {
    constexpr std::int64_t kEveryMs = 100;
    return is_shown_ && real_schedule().clock.now().monotonic - last_ >= kEveryMs;
}

void ProgressLine::show(const std::string& text) {
    if (!is_due()) {
        return;
    }
    last_ = real_schedule().clock.now().monotonic;
    std::fprintf(stderr, "\r%s\033[K", text.c_str());
    std::fflush(stderr);
    is_drawn_ = true;
}

void ProgressLine::clear() {
    if (is_drawn_) {
        std::fprintf(stderr, "\r\033[K");
    }
    is_drawn_ = false;
}

std::string share_text(std::int64_t done, std::int64_t total) {
    constexpr int kWidth = 40;
    const double share = static_cast<double>(done) / static_cast<double>(total);
    std::string bar(static_cast<std::size_t>(kWidth * share), '#');
    bar.resize(kWidth, '.');
    char text[128];
    std::snprintf(text, sizeof text, "[%s] %3d %%  %lld of %lld records ", bar.c_str(), static_cast<int>(100 * share),
                  static_cast<long long>(done), static_cast<long long>(total));
    return text;
}

void show_share(ProgressLine& line, std::int64_t done, std::int64_t total) {
    if (done >= 0 && done <= total && total > 0 && line.is_due()) {
        line.show(share_text(done, total));
    }
}

}  // namespace partita::cli
