#include "broker/runtime/clients/client_fetch_sessions.h"

#include "protocol/random_bytes.h"
#include "protocol/try.h"

namespace partita::runtime {
namespace {

std::int32_t random_session_id() {
    std::int32_t id = 0;
    while (id <= 0) {
        id = random_value<std::int32_t>() & 0x7fffffff;
    }
    return id;
}

}  // namespace

std::optional<ClientFetchSessions::Begun> ClientFetchSessions::begin(std::int32_t replaced_id, bool uses_topic_ids,
                                                                     std::span<const fetch::SessionPartition> partitions,
                                                                     Instant now) {
    const std::int32_t id = random_session_id();
    Begun begun;
    begun.slots.reserve(partitions.size());
    const MutexLock lock(mutex_);
    if (replaced_id != 0) {
        sessions_.remove(replaced_id);
    }
    fetch::FetchSession* session = sessions_.create(id, uses_topic_ids, partitions.size(), now);
    if (session == nullptr) {
        return std::nullopt;
    }
    for (const fetch::SessionPartition& partition : partitions) {
        begun.slots.push_back(session->put(partition));
    }
    begun.turn = {.session_id = id, .next_epoch = session->next_epoch()};
    return begun;
}

void ClientFetchSessions::end(std::int32_t id) {
    const MutexLock lock(mutex_);
    sessions_.remove(id);
}

std::expected<fetch::SessionTurn, ErrorCode> ClientFetchSessions::go_on(std::int32_t id, std::int32_t epoch, bool uses_topic_ids,
                                                                        const SessionChanges& changes, Instant now,
                                                                        std::vector<SessionRead>& reads) {
    const MutexLock lock(mutex_);
    PARTITA_TRY_ASSIGN(const auto session, sessions_.use(id, epoch, uses_topic_ids, now));
    for (const fetch::SessionPartition& partition : changes.asked) {
        session->put(partition);
    }
    // In this order, as in Kafka: a partition that a request asks for and forgets is forgotten.
    for (const fetch::TopicPartitionName& name : changes.forgotten) {
        session->forget(name);
    }
    if (session->partition_count() == 0) {
        sessions_.remove(id);
        for (const fetch::SessionPartition& partition : changes.asked) {
            reads.push_back({.slot = {}, .partition = partition});
        }
        return fetch::SessionTurn{};
    }
    reads.reserve(session->partition_count());
    session->visit([&](fetch::SessionSlot slot, const fetch::SessionPartition& partition, bool has_topic_name) {
        reads.push_back({slot, partition, has_topic_name});
    });
    return fetch::SessionTurn{.session_id = id, .next_epoch = session->next_epoch()};
}

void ClientFetchSessions::name_topics(fetch::SessionTurn turn, std::span<const fetch::SessionTopicName> names) {
    const MutexLock lock(mutex_);
    sessions_.name_topics(turn, names);
}

fetch::TopicName ClientFetchSessions::topic_name(fetch::SessionTurn turn, fetch::SessionSlot slot) const {
    const MutexLock lock(mutex_);
    return sessions_.topic_name(turn, slot);
}

bool ClientFetchSessions::answer(fetch::SessionTurn turn, std::span<const fetch::SessionNews> news) {
    const MutexLock lock(mutex_);
    return sessions_.answer(turn, news);
}

}  // namespace partita::runtime
