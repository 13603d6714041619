#include "broker/insight/shell/reader_memory.h"

#include <algorithm>

namespace partita::insight {

void RememberedJoins::add(std::pair<std::string, std::string> join) {
    if (joins_.size() < kJoinsMax) {
        joins_.insert(std::move(join));
    }
}

void RememberedJoins::keep(std::vector<GroupFacts>& groups) {
    std::erase_if(joins_, [&](const auto& join) {
        const auto group = std::ranges::lower_bound(groups, join.first, {}, &GroupFacts::group_id);
        if (group == groups.end() || group->group_id != join.first) {
            return true;
        }
        // A group without topics restarts or rebalances, and its next topics are not known.
        return group->reads_others &&
               !std::ranges::binary_search(group->other_topics, join.second, {}, &GroupFacts::OtherTopic::name);
    });
    for (GroupFacts& group : groups) {
        for (GroupFacts::OtherTopic& other : group.other_topics) {
            std::pair join(group.group_id, other.name);
            if (other.is_aligned) {
                add(std::move(join));
            } else {
                other.is_aligned = joins_.contains(join);
            }
        }
    }
}

void ReaderMemory::take(const ReaderNote& note) {
    struct Visitor {
        ReaderMemory& memory;
        ConsumerWatch& readers;
        void operator()(const ReaderNote::OffsetFetched& seen) const {
            readers.on_offset_fetch(seen.group, seen.connection, seen.is_member, seen.client, seen.partition, seen.committed,
                                    seen.time);
        }
        void operator()(const ReaderNote::OffsetsListed& seen) const {
            readers.on_list_offsets(seen.client, seen.partition, seen.timestamp, seen.answered);
        }
        void operator()(const ReaderNote::Fetched& seen) const {
            readers.on_fetch(seen.connection, seen.client, seen.partition, seen.from, seen.time);
        }
        void operator()(const ReaderNote::Committed& seen) const {
            readers.on_commit(seen.group, seen.connection, seen.client, seen.commits, seen.before ? &*seen.before : nullptr,
                              seen.time, seen.keys_sent);
        }
        void operator()(const ReaderNote::CommittedInTransaction& seen) const {
            readers.on_transaction_commit(seen.group, seen.commits, seen.before ? &*seen.before : nullptr, seen.keys_sent);
        }
        void operator()(const ReaderNote::Left& seen) const {
            readers.on_leave(seen.group, seen.member_id, seen.connection, seen.born, seen.client, seen.partitions, seen.time);
        }
        void operator()(const ReaderNote::GroupDeleted& seen) const { readers.forget_group(seen.group); }
        void operator()(const ReaderNote::Grown& grown) const {
            readers.set_growths(grown.growths, grown.readers ? &*grown.readers : nullptr);
            memory.grown_at_ = std::max(memory.grown_at_, grown.sequence);
            for (const auto& join : grown.joins) {
                memory.joins_.add(join);
            }
        }
    };
    ++requests_;
    const bool is_about_all = std::holds_alternative<ReaderNote::GroupDeleted>(note.what);
    was_asked_ = was_asked_ || !(note.is_growth() || is_about_all);
    std::visit(Visitor{*this, readers_}, note.what);
}

void ReaderMemory::take(const Delivery& delivery) {
    ++requests_;
    was_asked_ = true;
    readers_.on_delivery(delivery);
}

bool ReaderMemory::is_due(const ReaderCircumstances& present, Instant now) const {
    if (circumstances_ != present || readers_.is_undecided()) {
        return true;
    }
    const bool is_time = changes_at_ && now >= *changes_at_;
    return is_time || now - waits_since_ >= kLookAgainMs;
}

void ReaderMemory::note_look(const ReaderCircumstances& circumstances, Found found, Now now) {
    circumstances_ = circumstances;
    found_ = found;
    waits_since_ = now.monotonic;
    was_asked_ = false;
    const std::optional<TimestampMs> next = readers_.next_change();
    changes_at_ = next ? std::optional(now.monotonic + (next->value - now.wall.value)) : std::nullopt;
    if (readers_.is_reading()) {
        // The observer goes on as soon as its share of a core allows.
        changes_at_ = now.monotonic;
    }
}

void ReaderMemories::take(const ReaderNotes::Taken& taken, Instant now) {
    auto delivery = taken.deliveries.begin();
    const auto take_deliveries = [&](std::uint64_t notes_before) {
        for (; delivery != taken.deliveries.end() && delivery->notes_before <= notes_before; ++delivery) {
            if (const auto memory = topics_.find(delivery->topic); memory != topics_.end()) {
                memory->second.take(delivery->delivery);
            }
        }
    };
    std::uint64_t taken_notes = taken.notes_before;
    for (const ReaderNote& note : taken.notes) {
        take_deliveries(taken_notes++);
        take(note, now);
    }
    take_deliveries(taken_notes);
    if (taken.has_lost_deliveries) {
        for (auto& [id, memory] : topics_) {
            memory.lose_deliveries();
        }
    }
}

void ReaderMemories::take(const ReaderNote& note, Instant now) {
    if (std::holds_alternative<ReaderNote::GroupDeleted>(note.what)) {
        for (auto& [id, memory] : topics_) {
            memory.take(note);
        }
        return;
    }
    auto memory = topics_.find(note.topic);
    if (memory == topics_.end()) {
        if (!note.is_growth()) {
            return;
        }
        memory = topics_.try_emplace(note.topic, note.name, now).first;
    }
    memory->second.take(note);
}

bool ReaderMemories::is_undecided() const {
    return std::ranges::any_of(topics_, [](const auto& entry) { return entry.second.readers().is_undecided(); });
}

bool ReaderMemories::is_reading() const {
    return std::ranges::any_of(topics_, [](const auto& entry) { return entry.second.readers().is_reading(); });
}

std::optional<Instant> ReaderMemories::changes_at() const {
    std::optional<Instant> first;
    for (const auto& [id, memory] : topics_) {
        if (const auto at = memory.changes_at()) {
            first = std::min(first.value_or(*at), *at);
        }
    }
    return first;
}

}  // namespace partita::insight
