#include "broker/insight/fence/fence.h"

#include <algorithm>

#include "protocol/assert.h"
#include "protocol/byte_buffer.h"
#include "protocol/cursor.h"

namespace partita::insight {
namespace {

constexpr std::int32_t kFormatVersion = 1;

/// Reads marks that `encode` wrote. It does not trust the count: each turn consumes bytes, and the loop ends when none are left.
bool read_marks(Cursor& cursor, FenceMarks& marks) {
    std::int32_t count = 0;
    if (!cursor.read(count)) {
        return false;
    }
    std::vector<FenceMarks::Mark> read;
    for (std::int32_t index = 0; index < count; ++index) {
        FenceMarks::Mark mark;
        if (!cursor.read(mark.first.value) || !cursor.read(mark.parent_end.value)) {
            return false;
        }
        read.push_back(mark);
    }
    return marks.restore(std::move(read));
}

}  // namespace

void Fence::open(std::int32_t epoch, std::int32_t old_count, std::int32_t new_count, TimestampMs now,
                 std::vector<ProducerWindow::Unproven> known_producers, TimestampMs producers_known_since) {
    PARTITA_ASSERT(!is_open(), "one window at a time: a second one would have two parents for a partition");
    PARTITA_ASSERT(old_count > 0 && new_count > old_count && new_count % old_count == 0, "every new partition has one parent");
    window_ = {.state = WindowState::open,
               .epoch = epoch,
               .old_count = old_count,
               .new_count = new_count,
               .opened = now,
               .producers_known_since = producers_known_since,
               .producers = {}};
    for (ProducerWindow::Unproven& known : known_producers) {
        window_.producers.know(known.producer, std::move(known.writer));
    }
    for (std::int32_t index = old_count; index < new_count; ++index) {
        children_[PartitionIndex{index}] = {.epoch = epoch, .parent = PartitionIndex{index % old_count}, .marks = {}};
    }
}

void Fence::on_produce(const ProducerInstance& producer, const Writer& writer, PartitionIndex partition, TimestampMs now) {
    if (is_open()) {
        window_.producers.on_produce(producer, writer, partition.value >= window_.old_count, now);
    }
}

bool Fence::mark(PartitionIndex partition, Offset end, Offset parent_end) {
    if (!is_open()) {
        return false;
    }
    const auto child = children_.find(partition);
    return child != children_.end() && child->second.epoch == window_.epoch && child->second.marks.add(end, parent_end);
}

std::optional<Fence::WindowState> Fence::due_to_close(const FenceSettings& settings, TimestampMs now) const {
    if (!is_open()) {
        return std::nullopt;
    }
    if (now.value - window_.opened.value >= settings.window_ms) {
        return WindowState::closed_by_time;
    }
    // Half of the window is the longest time until a client refreshes its metadata. A producer that the notes do not show must
    // have been silent since before they began. By then it has refreshed as well.
    const std::int64_t refresh_ms = settings.window_ms / 2;
    const bool all_are_noted = window_.producers_known_since.value <= window_.opened.value - refresh_ms ||
                               now.value - window_.opened.value >= refresh_ms;
    return all_are_noted && window_.producers.is_proven(now) ? std::optional(WindowState::closed_by_proof) : std::nullopt;
}

void Fence::end_window(WindowState how) {
    PARTITA_ASSERT(is_open() && how != WindowState::open && how != WindowState::none, "an open window is closed");
    window_.state = how;
    window_.producers.clear();
}

std::optional<PartitionIndex> Fence::parent_of(PartitionIndex partition) const {
    const auto child = children_.find(partition);
    return child == children_.end() ? std::nullopt : std::optional(child->second.parent);
}

bool Fence::is_parent(PartitionIndex partition) const {
    return std::ranges::any_of(children_, [&](const auto& child) { return child.second.parent == partition; });
}

std::vector<PartitionIndex> Fence::children_of(PartitionIndex parent) const {
    std::vector<PartitionIndex> children;
    for (const auto& [partition, child] : children_) {
        if (child.parent == parent) {
            children.push_back(partition);
        }
    }
    return children;
}

Fence::Hold& Fence::hold_of(HoldKey key, Offset drained, Instant now) {
    const auto known = holds_.find(key);
    if (known != holds_.end()) {
        return known->second;
    }
    if (holds_.size() == kHoldsMax) {
        holds_.erase(std::ranges::min_element(holds_, {}, [](const auto& hold) { return hold.second.asked; }));
    }
    return holds_
        .emplace(std::move(key), Hold{.drained = drained, .limit = {}, .since = now, .asked = now, .transaction_since = {}})
        .first->second;
}

Fence::Verdict Fence::judge(std::string_view group, PartitionIndex partition, const Progress& progress, Offset end,
                            const FenceSettings& settings, Instant now) {
    const Offset drained = progress.drained;
    const auto child = children_.find(partition);
    const std::optional<Offset> first_held = child == children_.end() ? std::nullopt : child->second.marks.first_held(drained);
    HoldKey key{std::string(group), partition, progress.read_committed};
    if (!first_held || *first_held >= end) {
        if (const auto known = holds_.find(key); known != holds_.end()) {
            known->second.held = false;
        }
        return {.limit = end};
    }
    Hold& hold = hold_of(std::move(key), drained, now);
    hold.asked = now;
    const bool moves = hold.drained != drained;
    if (moves || !progress.waits_for_transaction) {
        hold.transaction_since.reset();
    }
    if (progress.waits_for_transaction && !hold.transaction_since) {
        hold.transaction_since = now;
    }
    const bool waits_for_transaction = hold.transaction_since && now - *hold.transaction_since < settings.longest_transaction_ms;
    if (!hold.held || moves || waits_for_transaction) {
        // The group begins to wait, or moves, or cannot move: a group that works gets all the time it needs.
        hold.since = now;
        hold.drained = drained;
    }
    hold.limit = std::max(*first_held, hold.released);
    hold.held = hold.limit < end;
    if (!hold.held) {
        return {.limit = end};
    }
    if (now - hold.since >= settings.timeout_ms) {
        ++timeouts_;
        hold.released = end;
        hold.limit = end;
        hold.held = false;
        return {.limit = end, .timed_out = true};
    }
    ++held_fetches_;
    return {.limit = hold.limit, .held = true};
}

void Fence::note_unattributed(Outsider outsider) {
    if (!outsider.program.empty()) {
        // The client was noted before its process was known.
        unattributed_.erase({outsider.client, "", outsider.partition});
    }
    if (unattributed_.size() < kUnattributedMax) {
        unattributed_.insert(std::move(outsider));
    }
}

void Fence::note_fetched(std::string_view group, PartitionIndex parent, Offset offset, Instant now) {
    std::pair key{std::string(group), parent};
    if (const auto known = fetched_.find(key); known != fetched_.end()) {
        // A group that goes back has to do its work again, and begins anew.
        const bool goes_back = offset < known->second.offset;
        known->second = {offset, goes_back ? now : known->second.since};
    } else if (fetched_.size() < kHoldsMax) {
        fetched_.emplace(std::move(key), Fetched{offset, now});
    }
}

std::optional<Offset> Fence::fetched(std::string_view group, PartitionIndex parent, Instant now) const {
    const auto known = fetched_.find({std::string(group), parent});
    const bool counts = known != fetched_.end() && now - known->second.since >= kCommitGraceMs;
    return counts ? std::optional(known->second.offset) : std::nullopt;
}

std::vector<Fence::Waiting> Fence::waiting() const {
    std::vector<Waiting> result;
    for (const auto& [key, hold] : holds_) {
        const auto& [group, partition, read_committed] = key;
        if (!hold.held) {
            continue;
        }
        if (!result.empty() && result.back().group == group && result.back().partition == partition) {
            // Readers of both kinds wait; readers of committed records come second.
            result.back().since = std::min(result.back().since, hold.since);
            continue;
        }
        result.push_back({group, partition, hold.limit, hold.drained, hold.since});
    }
    return result;
}

void Fence::forget_partitions_from(std::int32_t partition_count) {
    children_.erase(children_.lower_bound(PartitionIndex{partition_count}), children_.end());
    if (window_.new_count > partition_count) {
        window_ = {};
    }
}

std::set<std::string> Fence::released_groups() const {
    std::set<std::string> groups;
    for (const auto& [key, hold] : holds_) {
        if (hold.released > Offset{0}) {
            groups.insert(std::get<std::string>(key));
        }
    }
    return groups;
}

void tell_of_fence(Finding& backlog) {
    backlog.severity = Severity::info;
    backlog.title = "the fence waits for a backlog";
    backlog.condition +=
        "; mode fenced withholds records of new partitions from the group until it has committed the records before them";
    backlog.advice =
        "Nothing to do: the group gets them as it commits, or after partita.expansion.fence.timeout.ms without a commit.";
}

std::string Fence::encode() const {
    ByteBuffer bytes;
    bytes.append_big_endian(kFormatVersion);
    bytes.append_big_endian(static_cast<std::int32_t>(window_.state));
    bytes.append_big_endian(window_.epoch);
    bytes.append_big_endian(window_.old_count);
    bytes.append_big_endian(window_.new_count);
    bytes.append_big_endian(window_.opened.value);
    bytes.append_big_endian(static_cast<std::int64_t>(timeouts_));
    bytes.append_big_endian(static_cast<std::int32_t>(children_.size()));
    for (const auto& [partition, child] : children_) {
        bytes.append_big_endian(partition.value);
        bytes.append_big_endian(child.epoch);
        bytes.append_big_endian(child.parent.value);
        bytes.append_big_endian(static_cast<std::int32_t>(child.marks.marks().size()));
        for (const FenceMarks::Mark& mark : child.marks.marks()) {
            bytes.append_big_endian(mark.first.value);
            bytes.append_big_endian(mark.parent_end.value);
        }
    }
    return std::string(as_text(bytes.bytes()));
}

std::expected<Fence, std::string> Fence::decode(std::string_view bytes, TimestampMs now) {
    Cursor cursor(as_bytes(bytes));
    std::int32_t version = 0;
    if (!cursor.read(version) || version != kFormatVersion) {
        return std::unexpected("unknown format " + std::to_string(version));
    }
    const auto cut_off = [] { return std::unexpected(std::string("it is truncated or too long")); };
    Fence fence;
    Window& window = fence.window_;
    std::int32_t state = 0;
    std::int64_t timeouts = 0;
    std::int32_t children = 0;
    const bool has_window = cursor.read(state) && cursor.read(window.epoch) && cursor.read(window.old_count) &&
                            cursor.read(window.new_count) && cursor.read(window.opened.value) && cursor.read(timeouts) &&
                            cursor.read(children);
    if (!has_window || state < 0 || state > static_cast<std::int32_t>(WindowState::closed_by_time)) {
        return cut_off();
    }
    window.state = static_cast<WindowState>(state);
    window.producers_known_since = now;
    fence.timeouts_ = static_cast<std::uint64_t>(timeouts);
    for (std::int32_t index = 0; index < children; ++index) {
        PartitionIndex partition;
        Child child;
        if (!cursor.read(partition.value) || !cursor.read(child.epoch) || !cursor.read(child.parent.value)) {
            return cut_off();
        }
        if (child.parent >= partition || child.parent < PartitionIndex{0} || !read_marks(cursor, child.marks)) {
            return std::unexpected("it contradicts itself at partition " + std::to_string(partition.value));
        }
        fence.children_.emplace(partition, std::move(child));
    }
    return cursor.remaining() == 0 ? std::expected<Fence, std::string>(std::move(fence)) : cut_off();
}

}  // namespace partita::insight
