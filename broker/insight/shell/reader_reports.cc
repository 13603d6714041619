#include "broker/insight/shell/reader_reports.h"
#include "broker/groups/group_queries.h"

#include <string>
#include <utility>

#include "broker/insight/shell/key_samples.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/clients/client_connection.h"
#include "broker/runtime/clients/connections.h"

namespace partita::runtime {

void ReaderReports::on_offset_fetch(const TopicState& topic, std::string_view group, const insight::ClientIdentity& client,
                                    const ClientConnection& connection, PartitionIndex partition, Offset committed,
                                    TimestampMs now) {
    connections_.want_process(connection.id);
    const bool is_member = connection.noted_member != 0;
    notes_.leave(
        {.topic = topic.topic->id,
         .what = ReaderNote::OffsetFetched{std::string(group), connection.id, is_member, client, partition, committed, now},
         .name = {}});
    // What the client fetches next tells what it does without an offset.
    if (committed == kNoOffset) {
        ask_all_again();
    }
}

void ReaderReports::on_list_offsets(const TopicState& topic, const insight::ClientIdentity& client,
                                    insight::ConnectionId connection, PartitionIndex partition, std::int64_t timestamp,
                                    Offset answered) {
    connections_.want_process(connection);
    notes_.leave(
        {.topic = topic.topic->id, .what = ReaderNote::OffsetsListed{client, partition, timestamp, answered}, .name = {}});
}

void ReaderReports::on_fetch(std::uint32_t reactor, const TopicState& topic, std::string_view client_id,
                             const ClientConnection& connection, PartitionIndex partition, Offset from, TimestampMs now) {
    std::unique_ptr<insight::FetchMemory>& memory = memories_[reactor];
    if (!memory) {
        memory = std::make_unique<insight::FetchMemory>();
    }
    const std::uint64_t reader = insight::FetchMemory::reader_of(connection.id, topic.topic->id, partition);
    if (!memory->is_news(reader, from, changes_.load(std::memory_order_acquire), now)) {
        return;
    }
    connections_.want_process(connection.id);
    notes_.leave({.topic = topic.topic->id,
                  .what = ReaderNote::Fetched{connection.id, {std::string(client_id), connection.host}, partition, from, now},
                  .name = {}});
}

void ReaderReports::on_commit(const TopicState& topic, std::string_view group, const insight::ClientIdentity& client,
                              insight::ConnectionId connection, std::span<const insight::ConsumerWatch::Commit> commits,
                              std::optional<insight::Inversions::Positions> before, TimestampMs now) {
    connections_.want_process(connection);
    if (before) {
        notes_.note_positions(*topic.topic, group);
    }
    notes_.leave({.topic = topic.topic->id,
                  .what = ReaderNote::Committed{std::string(group),
                                                connection,
                                                client,
                                                {commits.begin(), commits.end()},
                                                std::move(before),
                                                now,
                                                samples_.taken()},
                  .name = {}});
}

void ReaderReports::on_transaction_commit(const groups::GroupCoordinator& coordinator, const groups::TransactionCommit& commit) {
    const std::shared_ptr<const TopicTable> table = topics_.table();
    const TopicState* topic = table->find(commit.topic);
    if (topic == nullptr || !watches(*topic)) {
        return;
    }
    ReaderNote::CommittedInTransaction note{
        .group = commit.group_id, .commits = {}, .before = std::nullopt, .keys_sent = samples_.taken()};
    if (wants_positions(*topic, commit.group_id)) {
        notes_.note_positions(*topic->topic, commit.group_id);
        note.before = coordinator.queries().committed_in(commit.group_id, commit.topic, topic->topic->id);
    }
    for (const groups::TransactionCommit::Partition& moved : commit.partitions) {
        note.commits.push_back({moved.partition, moved.offset});
        if (!note.before) {
            continue;
        }
        if (moved.before) {
            note.before->insert_or_assign(moved.partition, *moved.before);
        } else {
            note.before->erase(moved.partition);
        }
    }
    notes_.leave({.topic = topic->topic->id, .what = std::move(note), .name = {}});
}

void ReaderReports::on_leave(const TopicTable& table, std::string_view group, std::string_view member_id,
                             insight::ConnectionId connection, TimestampMs now) {
    if (!notes_.is_watching()) {
        return;
    }
    const std::optional<groups::MemberHoldings> member = groups_.holdings_of(group, member_id);
    if (!member) {
        return;
    }
    TimestampMs born = kNoTimestamp;
    if (const auto own = connections_.coordinator_of(group, member_id)) {
        connection = own->id;
        born = own->born;
    }
    for (const groups::MemberHoldings::Topic& held : member->topics) {
        const TopicState* topic = table.find(held.name);
        if (topic == nullptr || !watches(*topic)) {
            continue;
        }
        notes_.leave({.topic = topic->topic->id,
                      .what = ReaderNote::Left{std::string(group),
                                               std::string(member_id),
                                               connection,
                                               born,
                                               {member->client_id, member->client_host},
                                               held.partitions,
                                               now},
                      .name = {}});
    }
}

void ReaderReports::on_group_deleted(std::string_view group) {
    if (!notes_.is_watching()) {
        return;
    }
    // One that comes by the name begins anew.
    notes_.forget_positions();
    notes_.leave({.topic = {}, .what = ReaderNote::GroupDeleted{std::string(group)}, .name = {}});
}

}  // namespace partita::runtime
