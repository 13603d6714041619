#include "broker/share/share_sessions.h"

#include <algorithm>
#include <limits>

namespace partita::share {

ShareSessions::Session* ShareSessions::find(std::string_view group_id, std::string_view member_id) {
    const auto found = sessions_.find(Key(group_id, member_id));
    return found == sessions_.end() ? nullptr : &found->second;
}

const ShareSessions::Session* ShareSessions::find(std::string_view group_id, std::string_view member_id) const {
    const auto found = sessions_.find(Key(group_id, member_id));
    return found == sessions_.end() ? nullptr : &found->second;
}

std::int32_t ShareSessions::next_epoch(std::int32_t epoch) {
    return epoch == std::numeric_limits<std::int32_t>::max() ? 1 : epoch + 1;
}

bool ShareSessions::begin(std::string_view group_id, std::string_view member_id, std::uint64_t connection,
                          std::span<const FetchedPartition> partitions, std::size_t max) {
    const auto used = groups_.find(group_id);
    if (partitions.size() + (used == groups_.end() ? 0 : used->second.partitions.size()) > kPartitionsMax) {
        return false;
    }
    const Ended before = end(group_id, member_id);
    if (sessions_.size() >= max) {
        return false;
    }
    Session& session = sessions_[Key(group_id, member_id)];
    session.connection = connection;
    GroupUse& use = groups_[std::string(group_id)];
    ++use.sessions;
    use.partitions.insert(before.idle.begin(), before.idle.end());
    std::set<FetchedPartition> known;
    for (const FetchedPartition& partition : partitions) {
        if (known.insert(partition).second) {
            session.partitions.push_back({.name = partition});
            use.partitions.insert(partition);
        }
    }
    by_connection_[connection].insert(Key(group_id, member_id));
    return true;
}

std::expected<std::vector<SessionPartition>, ErrorCode> ShareSessions::go_on(std::string_view group_id,
                                                                             std::string_view member_id, std::int32_t epoch,
                                                                             std::span<const FetchedPartition> asked,
                                                                             std::span<const FetchedPartition> forgotten) {
    Session* session = find(group_id, member_id);
    if (session == nullptr) {
        return std::unexpected(ErrorCode::share_session_not_found);
    }
    if (session->epoch != epoch) {
        return std::unexpected(ErrorCode::invalid_share_session_epoch);
    }
    if (!asked.empty()) {
        const std::size_t used = groups_.find(group_id)->second.partitions.size();
        if (asked.size() + std::max(session->partitions.size(), used) > kPartitionsMax) {
            return std::unexpected(ErrorCode::share_session_limit_reached);
        }
        std::set<FetchedPartition> known;
        for (const SessionPartition& partition : session->partitions) {
            known.insert(partition.name);
        }
        GroupUse& use = groups_.find(group_id)->second;
        for (const FetchedPartition& partition : asked) {
            if (known.insert(partition).second) {
                session->partitions.push_back({.name = partition, .must_answer = true});
                use.partitions.insert(partition);
            }
        }
    }
    if (!forgotten.empty()) {
        const std::set<FetchedPartition> gone(forgotten.begin(), forgotten.end());
        std::erase_if(session->partitions, [&](const SessionPartition& partition) { return gone.contains(partition.name); });
    }
    session->epoch = next_epoch(session->epoch);
    return session->partitions;
}

ErrorCode ShareSessions::acknowledge(std::string_view group_id, std::string_view member_id, std::int32_t epoch) {
    if (epoch == kInitialShareEpoch) {
        return ErrorCode::invalid_share_session_epoch;
    }
    Session* session = find(group_id, member_id);
    if (session == nullptr) {
        return ErrorCode::share_session_not_found;
    }
    if (epoch == kFinalShareEpoch) {
        return ErrorCode::none;
    }
    if (session->epoch != epoch) {
        return ErrorCode::invalid_share_session_epoch;
    }
    session->epoch = next_epoch(session->epoch);
    return ErrorCode::none;
}

bool ShareSessions::has(std::string_view group_id, std::string_view member_id) const {
    return find(group_id, member_id) != nullptr;
}

bool ShareSessions::is_current(std::string_view group_id, std::string_view member_id, std::int32_t epoch) const {
    const Session* session = find(group_id, member_id);
    return session != nullptr && session->epoch == next_epoch(epoch);
}

void ShareSessions::answered(std::string_view group_id, std::string_view member_id,
                             std::span<const FetchedPartition> with_records, std::span<const FetchedPartition> with_errors) {
    Session* session = find(group_id, member_id);
    if (session == nullptr) {
        return;
    }
    const std::set<FetchedPartition> failed(with_errors.begin(), with_errors.end());
    const std::set<FetchedPartition> sent(with_records.begin(), with_records.end());
    for (SessionPartition& partition : session->partitions) {
        partition.must_answer = failed.contains(partition.name);
    }
    std::ranges::stable_partition(session->partitions,
                                  [&](const SessionPartition& partition) { return !sent.contains(partition.name); });
}

ShareSessions::Ended ShareSessions::end(std::string_view group_id, std::string_view member_id) {
    Ended ended{.group_id = std::string(group_id), .member_id = std::string(member_id), .partitions = {}};
    const auto found = sessions_.find(Key(group_id, member_id));
    if (found == sessions_.end()) {
        return ended;
    }
    for (const SessionPartition& partition : found->second.partitions) {
        ended.partitions.push_back(partition.name);
    }
    const auto use = groups_.find(group_id);
    if (--use->second.sessions == 0) {
        ended.idle.assign(use->second.partitions.begin(), use->second.partitions.end());
        groups_.erase(use);
    }
    const auto connection = by_connection_.find(found->second.connection);
    connection->second.erase(found->first);
    if (connection->second.empty()) {
        by_connection_.erase(connection);
    }
    sessions_.erase(found);
    return ended;
}

std::vector<ShareSessions::Ended> ShareSessions::connection_ended(std::uint64_t connection) {
    std::vector<Ended> result;
    const auto found = by_connection_.find(connection);
    if (found == by_connection_.end()) {
        return result;
    }
    const std::set<Key> members = found->second;
    for (const Key& key : members) {
        result.push_back(end(key.first, key.second));
    }
    return result;
}

}  // namespace partita::share
