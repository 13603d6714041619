#include "broker/net/read_ahead.h"

#include <algorithm>

#include "storage/file_system.h"

namespace partita::net {

void ReadAhead::before_sending(const FileSlice& slice, std::uint64_t position) {
    if (position == slice.position) {
        looked_at_end_ = 0;
    }
    if (position < looked_at_end_) {
        return;
    }
    const std::uint64_t end = std::min(slice.position + slice.size, position + kSendBytes);
    looked_at_end_ = end;
    // A reader that jumped back has no bytes read ahead of it.
    const bool follows = file_ == slice.file.get() && position <= end_ && end_ - position <= kBytes + kSendBytes;
    // The kernel has read far enough ahead. Asking for a little more each time would only cost more calls.
    if (follows && end_ >= end + kBytes / 2) {
        return;
    }
    const std::uint64_t from = follows ? std::max(position, end_) : position;
    const std::uint64_t to = follows ? std::min(end + kBytes, from + kStepBytes) : end;
    // The bytes before `from` were checked earlier.
    const bool is_cached = follows ? slice.file->is_cached(to - 1, 1) : slice.file->is_cached(from, to - from);
    file_ = slice.file.get();
    end_ = to;
    if (!is_cached) {
        end_ = std::min(end + kBytes, from + kStepBytes);
        slice.file->read_ahead(from, end_ - from);
    }
}

}  // namespace partita::net
