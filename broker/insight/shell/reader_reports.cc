#include "broker/insight/shell/reader_reports.h"

#include <string>
#include <utility>

#include "broker/insight/shell/key_samples.h"

namespace partita::insight {

void ReaderReports::on_offset_fetch(const TopicId& topic, std::string_view group, const ClientIdentity& client,
                                    ConnectionId connection, bool is_member, PartitionIndex partition, Offset committed,
                                    TimestampMs now) {
    clients_.want_process(connection);
    notes_.leave({.topic = topic,
                  .what = ReaderNote::OffsetFetched{std::string(group), connection, is_member, client, partition, committed, now},
                  .name = {}});
    // The client's next fetch shows what it does without an offset.
    if (committed == kNoOffset) {
        ask_all_again();
    }
}

void ReaderReports::on_list_offsets(const TopicId& topic, const ClientIdentity& client, ConnectionId connection,
                                    PartitionIndex partition, std::int64_t timestamp, Offset answered) {
    clients_.want_process(connection);
    notes_.leave({.topic = topic, .what = ReaderNote::OffsetsListed{client, partition, timestamp, answered}, .name = {}});
}

void ReaderReports::on_late_answer(std::span<DeliveryNote> deliveries) {
    for (const DeliveryNote& note : deliveries) {
        const Delivery& delivery = note.delivery;
        if (const auto client = clients_.find(delivery.connection)) {
            clients_.want_process(delivery.connection);
            notes_.leave({.topic = note.topic,
                          .what = ReaderNote::Fetched{delivery.connection,
                                                      {client->client_id, client->address},
                                                      delivery.partition,
                                                      delivery.from,
                                                      delivery.asked},
                          .name = {}});
        }
    }
    notes_.leave_answer(deliveries);
}

void ReaderReports::on_fetch(std::uint32_t reactor, const TopicId& topic, std::string_view client_id, std::string_view address,
                             ConnectionId connection, PartitionIndex partition, Offset from, TimestampMs now) {
    std::unique_ptr<FetchNews>& memory = memories_[reactor];
    if (!memory) {
        memory = std::make_unique<FetchNews>();
    }
    const std::uint64_t reader = FetchNews::reader_of(connection, topic, partition);
    if (!memory->is_news(reader, from, changes_.load(std::memory_order_acquire), now)) {
        return;
    }
    clients_.want_process(connection);
    notes_.leave({.topic = topic,
                  .what = ReaderNote::Fetched{connection, {std::string(client_id), std::string(address)}, partition, from, now},
                  .name = {}});
}

void ReaderReports::on_commit(const TopicRef& topic, std::string_view group, const ClientIdentity& client,
                              ConnectionId connection, std::span<const ConsumerWatch::Commit> commits,
                              std::optional<Inversions::Positions> before, TimestampMs now) {
    clients_.want_process(connection);
    if (before) {
        notes_.note_positions(topic, group);
    }
    notes_.leave({.topic = topic.id,
                  .what = ReaderNote::Committed{std::string(group),
                                                connection,
                                                client,
                                                {commits.begin(), commits.end()},
                                                std::move(before),
                                                now,
                                                samples_.taken()},
                  .name = {}});
}

void ReaderReports::on_transaction_commit(const TopicRef& topic, std::string_view group,
                                          std::vector<ConsumerWatch::Commit> commits,
                                          std::optional<Inversions::Positions> before) {
    if (before) {
        notes_.note_positions(topic, group);
    }
    notes_.leave({.topic = topic.id,
                  .what = ReaderNote::CommittedInTransaction{.group = std::string(group),
                                                             .commits = std::move(commits),
                                                             .before = std::move(before),
                                                             .keys_sent = samples_.taken()},
                  .name = {}});
}

void ReaderReports::on_leave(const FindTopic& find_topic, std::string_view group, std::string_view member_id,
                             ConnectionId connection, TimestampMs now) {
    const std::optional<MemberFacts> member = groups_.member(group, member_id);
    if (!member) {
        return;
    }
    TimestampMs born = kNoTimestamp;
    if (const auto own = clients_.coordinator_of(group, member_id)) {
        connection = own->id;
        born = own->born;
    }
    std::size_t not_grown = 0;
    for (const MemberFacts::Topic& held : member->topics) {
        const std::optional<LeftTopic> topic = find_topic(held.name);
        if (!topic) {
            continue;
        }
        ReaderNote note{.topic = topic->id,
                        .what = ReaderNote::Left{std::string(group),
                                                 std::string(member_id),
                                                 connection,
                                                 born,
                                                 {member->client_id, member->client_host},
                                                 held.partitions,
                                                 now},
                        .name = {}};
        if (topic->has_grown) {
            notes_.leave(std::move(note));
        } else if (++not_grown <= kLeftTopicsMax) {
            notes_.note_departure(std::move(note));
        }
    }
}

void ReaderReports::on_group_deleted(std::string_view group) {
    if (!notes_.is_watching()) {
        return;
    }
    // A later group of that name begins anew.
    notes_.forget_positions();
    notes_.leave({.topic = {}, .what = ReaderNote::GroupDeleted{std::string(group)}, .name = {}});
}

}  // namespace partita::insight
