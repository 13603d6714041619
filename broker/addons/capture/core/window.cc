#include "broker/addons/capture/core/window.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace partita::capture {
namespace {

constexpr std::string_view kFirstLine = "partita capture 1";

/// Takes "NAME VALUE\n" from the front.
std::optional<std::string_view> take_line(std::string_view& text, std::string_view name) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos || !text.starts_with(name) || text.size() <= name.size() || text[name.size()] != ' ') {
        return std::nullopt;
    }
    const std::string_view value = text.substr(name.size() + 1, end - name.size() - 1);
    text.remove_prefix(end + 1);
    return value;
}

template <class Integer>
bool take_number(std::string_view& text, std::string_view name, Integer& number) {
    const auto value = take_line(text, name);
    if (!value) {
        return false;
    }
    const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
    return error == std::errc() && end == value->data() + value->size();
}

}  // namespace

std::string progress_text(const Progress& progress) {
    return std::string(kFirstLine) + "\nnext " + std::to_string(progress.next.value) + "\nfiles " +
           std::to_string(progress.files) + "\nclosed " + std::to_string(progress.closed_at.value) + "\nnamed " +
           std::to_string(progress.named_at.value) + "\npath " + progress.path + "\n";
}

std::optional<Progress> parse_progress(std::string_view text) {
    Progress progress;
    const std::string first = std::string(kFirstLine) + "\n";
    if (!text.starts_with(first)) {
        return std::nullopt;
    }
    text.remove_prefix(first.size());
    if (!take_number(text, "next", progress.next.value) || !take_number(text, "files", progress.files) ||
        !take_number(text, "closed", progress.closed_at.value) || !take_number(text, "named", progress.named_at.value)) {
        return std::nullopt;
    }
    const auto path = take_line(text, "path");
    if (!path || path->empty() || !text.empty() || progress.next.value < 0 || progress.files == 0 ||
        progress.closed_at.value < 0 || progress.named_at < kNoTimestamp) {
        return std::nullopt;
    }
    progress.path = *path;
    return progress;
}

Window::Window(const Progress& progress, const WindowSettings& settings, Now now)
    : begun_(now.monotonic), named_at_(progress.named_at), named_on_(now.monotonic) {
    if (progress.files > 0) {
        const std::int64_t age_ms = std::clamp<std::int64_t>(now.wall.value - progress.closed_at.value, 0, settings.interval_ms);
        begun_ = now.monotonic + -age_ms;
    }
}

std::optional<Window::Due> Window::due(const WindowSettings& settings, Offset next, Offset end, std::int64_t owed_bytes,
                                       Instant now) const {
    const bool is_late = short_files_ >= kLateFiles || owed_bytes / kLateFiles >= settings.size_bytes;
    Due due{.until = end, .bytes_max = is_late ? kLargestFileBytes : settings.size_bytes};
    if (next < owed_until_) {
        due.until = std::min(owed_until_, end);
        due.by_time = true;
        return due;
    }
    due.by_time = ends(settings) <= now;
    return due.by_time || owed_bytes >= settings.size_bytes ? std::optional(due) : std::nullopt;
}

std::expected<TimestampMs, Instant> Window::name_time(Now now) const {
    // Rounds down before 1970, too.
    const std::int64_t part_ms = ((now.wall.value % kNameMs) + kNameMs) % kNameMs;
    const TimestampMs second{now.wall.value - part_ms};
    if (named_at_ == kNoTimestamp || second > named_at_) {
        return second;
    }
    if (now.monotonic - named_on_ >= kNameMs) {
        return TimestampMs{named_at_.value + kNameMs};
    }
    return std::unexpected(named_on_ + kNameMs);
}

void Window::pass_over(TimestampMs second, Instant now) {
    named_at_ = second;
    named_on_ = now + -kNameMs;
}

void Window::close(const Due& due, Offset next, std::optional<TimestampMs> named, Instant now) {
    begun_ = now;
    owed_until_ = due.by_time ? due.until : owed_until_;
    short_files_ = next < owed_until_ ? short_files_ + 1 : 0;
    if (named) {
        named_at_ = *named;
        named_on_ = now;
    }
}

}  // namespace partita::capture
