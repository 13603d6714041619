#include "broker/fetch/fetch_sessions.h"

#include <algorithm>

#include "protocol/assert.h"

namespace partita::fetch {

std::size_t FetchSession::NameHash::operator()(const TopicPartitionName& name) const {
    const std::size_t topic =
        name.topic.empty() ? std::hash<Uuid>{}(name.topic_id) : std::hash<std::string>{}(name.topic);
    return topic * 31 + static_cast<std::size_t>(name.partition.value);
}

FetchSession::Partitions::iterator FetchSession::put(const SessionPartition& requested) {
    const auto found = by_name_.find(requested.name);
    if (found == by_name_.end()) {
        partitions_.push_back(requested);
        return by_name_.emplace(requested.name, std::prev(partitions_.end())).first->second;
    }
    SessionPartition& known = *found->second;
    known.current_leader_epoch = requested.current_leader_epoch;
    known.fetch_offset = requested.fetch_offset;
    known.last_fetched_epoch = requested.last_fetched_epoch;
    known.max_bytes = requested.max_bytes;
    return found->second;
}

void FetchSession::forget(const TopicPartitionName& partition) {
    if (const auto found = by_name_.find(partition); found != by_name_.end()) {
        partitions_.erase(found->second);
        by_name_.erase(found);
    }
}

std::shared_ptr<FetchSession> FetchSessions::create(std::int32_t id, bool uses_topic_ids,
                                                    std::size_t partition_count, Instant now) {
    PARTITA_ASSERT(id > 0, "session id 0 means that there is no session");
    if (sessions_.contains(id) || (sessions_.size() >= slots_ && !make_room(partition_count, now))) {
        return nullptr;
    }
    auto session = std::make_shared<FetchSession>(id, uses_topic_ids);
    sessions_.emplace(id, Entry{session, now, now});
    return session;
}

FetchSessions::Found FetchSessions::use(std::int32_t id, std::int32_t epoch, bool uses_topic_ids,
                                        Instant now) {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) {
        return {ErrorCode::fetch_session_id_not_found, nullptr};
    }
    Entry& entry = found->second;
    if (entry.session->next_epoch() != epoch) {
        return {ErrorCode::invalid_fetch_session_epoch, nullptr};
    }
    if (entry.session->uses_topic_ids() != uses_topic_ids) {
        return {ErrorCode::fetch_session_topic_id_error, nullptr};
    }
    entry.last_used = now;
    entry.session->advance_epoch();
    return {ErrorCode::none, entry.session};
}

void FetchSessions::remove(std::int32_t id) { sessions_.erase(id); }

std::size_t FetchSessions::partition_count() const {
    std::size_t count = 0;
    for (const auto& [id, entry] : sessions_) {
        count += entry.session->partition_count();
    }
    return count;
}

bool FetchSessions::make_room(std::size_t partition_count, Instant now) {
    // Slots are few and a full cache is rare, so a scan is cheaper than keeping two orders.
    auto victim = sessions_.end();
    for (auto candidate = sessions_.begin(); candidate != sessions_.end(); ++candidate) {
        const Entry& entry = candidate->second;
        const bool stale = now - entry.last_used > kEvictionAgeMs;
        const bool smaller_and_old =
            now - entry.created > kEvictionAgeMs && entry.session->partition_count() < partition_count;
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
