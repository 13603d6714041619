#include "broker/fetch/fetch_sessions.h"

#include <algorithm>

#include "protocol/assert.h"

namespace partita::fetch {

std::size_t FetchSession::NameHash::operator()(const TopicPartitionName& name) const {
    const std::size_t topic = name.topic.empty() ? std::hash<Uuid>{}(name.topic_id) : std::hash<std::string>{}(name.topic);
    return topic * 31 + static_cast<std::size_t>(name.partition.value);
}

SessionSlot FetchSession::put(const SessionPartition& requested) {
    const auto found = by_name_.find(requested.name);
    if (found == by_name_.end()) {
        SessionSlot slot{static_cast<std::uint32_t>(by_slot_.size())};
        if (free_slots_.empty()) {
            by_slot_.emplace_back();
        } else {
            slot = free_slots_.back();
            free_slots_.pop_back();
        }
        const auto placed = order_.insert(order_.end(), {.slot = slot, .partition = requested, .topic_name = nullptr});
        by_slot_[slot.index] = placed;
        by_name_.emplace(requested.name, placed);
        return slot;
    }
    SessionPartition& known = found->second->partition;
    known.current_leader_epoch = requested.current_leader_epoch;
    known.fetch_offset = requested.fetch_offset;
    known.last_fetched_epoch = requested.last_fetched_epoch;
    known.max_bytes = requested.max_bytes;
    return found->second->slot;
}

void FetchSession::forget(const TopicPartitionName& partition) {
    if (const auto found = by_name_.find(partition); found != by_name_.end()) {
        const SessionSlot slot = found->second->slot;
        order_.erase(found->second);
        by_name_.erase(found);
        by_slot_[slot.index] = order_.end();
        free_slots_.push_back(slot);
    }
}

FetchSession::Order::iterator FetchSession::at(SessionSlot slot) const {
    PARTITA_ASSERT(slot.index < by_slot_.size() && by_slot_[slot.index] != order_.end(),
                   "a partition of a fetch is in the session until a later fetch forgets it");
    return by_slot_[slot.index];
}

void FetchSession::name_topics(std::span<const SessionTopicName> names) {
    for (const SessionTopicName& named : names) {
        if (TopicName& known = at(named.slot)->topic_name; known == nullptr) {
            known = named.name;
        }
    }
}

TopicName FetchSession::topic_name(SessionSlot slot) const { return at(slot)->topic_name; }

void FetchSession::note_answer(std::span<const SessionNews> news) {
    for (const SessionNews& told : news) {
        const Order::iterator placed = at(told.slot);
        placed->partition.sent_high_watermark = told.high_watermark;
        placed->partition.sent_log_start_offset = told.log_start_offset;
        if (told.has_records) {
            order_.splice(order_.end(), order_, placed);
        }
    }
}

FetchSession* FetchSessions::create(std::int32_t id, bool uses_topic_ids, std::size_t partition_count, Instant now) {
    PARTITA_ASSERT(id > 0, "session id 0 means that there is no session");
    if (sessions_.contains(id) || (sessions_.size() >= slots_ && !make_room(partition_count, now))) {
        return nullptr;
    }
    return &sessions_.try_emplace(id, uses_topic_ids, now).first->second.session;
}

std::expected<FetchSession*, ErrorCode> FetchSessions::use(std::int32_t id, std::int32_t epoch, bool uses_topic_ids,
                                                           Instant now) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) {
        return std::unexpected(ErrorCode::fetch_session_id_not_found);
    }
    Entry& entry = found->second;
    if (entry.session.next_epoch() != epoch) {
        return std::unexpected(ErrorCode::invalid_fetch_session_epoch);
    }
    if (entry.session.uses_topic_ids() != uses_topic_ids) {
        return std::unexpected(ErrorCode::fetch_session_topic_id_error);
    }
    entry.last_used = now;
    entry.session.advance_epoch();
    return &entry.session;
}

bool FetchSessions::answer(SessionTurn turn, std::span<const SessionNews> news) {
    const auto found = sessions_.find(turn.session_id);
    if (found == sessions_.end()) {
        return true;
    }
    FetchSession& session = found->second.session;
    if (session.next_epoch() != turn.next_epoch) {
        return false;
    }
    session.note_answer(news);
    return true;
}

void FetchSessions::name_topics(SessionTurn turn, std::span<const SessionTopicName> names) {
    const auto found = sessions_.find(turn.session_id);
    if (found != sessions_.end() && found->second.session.next_epoch() == turn.next_epoch) {
        found->second.session.name_topics(names);
    }
}

TopicName FetchSessions::topic_name(SessionTurn turn, SessionSlot slot) const {
    const auto found = sessions_.find(turn.session_id);
    const bool is_current = found != sessions_.end() && found->second.session.next_epoch() == turn.next_epoch;
    return is_current ? found->second.session.topic_name(slot) : nullptr;
}

void FetchSessions::remove(std::int32_t id) { sessions_.erase(id); }

bool FetchSessions::make_room(std::size_t partition_count, Instant now) {
    // Slots are few and a full cache is rare, so a scan is cheaper than keeping two orders.
    auto victim = sessions_.end();
    for (auto candidate = sessions_.begin(); candidate != sessions_.end(); ++candidate) {
        const Entry& entry = candidate->second;
        const bool stale = now - entry.last_used > kEvictionAgeMs;
        const bool smaller_and_old = now - entry.created > kEvictionAgeMs && entry.session.partition_count() < partition_count;
        if (!stale && !smaller_and_old) {
            continue;
        }
        if (victim == sessions_.end() || entry.last_used < victim->second.last_used) {
            victim = candidate;
        }
    }
    if (victim == sessions_.end()) {
        return false;
    }
    sessions_.erase(victim);
    ++evictions_;
    return true;
}

}  // namespace partita::fetch
