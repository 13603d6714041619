#include "broker/insight/local/request_notes.h"

#include <memory>
#include <utility>
#include <vector>

#include "broker/groups/group_queries.h"
#include "broker/insight/local/local_topics.h"
#include "broker/insight/shell/key_samples.h"
#include "broker/insight/shell/reader_reports.h"
#include "broker/logs/partition.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/clients/client_connection.h"

namespace partita::insight {

static_assert(ReaderReports::kReactorsMax >= logs::Partition::kReactorsMax, "each reactor has a place");

void RequestNotes::on_produce(const logs::TopicState& topic, PartitionIndex partition, const runtime::ClientConnection& client,
                              std::string_view client_id, Bytes batch, TimestampMs now) {
    if (topic.topic->internal) {
        return;
    }
    const runtime::ClientSoftware* software = client.software.get();
    samples_.offer({.topic = ref_of(topic), .partition = partition, .batch = batch, .time = now},
                   {.connection = client.id,
                    .port = client.port,
                    .client_id = client_id,
                    .address = client.host,
                    .software_name = software == nullptr ? std::string_view() : software->name,
                    .software_version = software == nullptr ? std::string_view() : software->version,
                    .principal = client.session.is_known() ? client.session.principal->text() : std::string_view()});
}

void RequestNotes::on_producer_gone(ConnectionId connection) { samples_.connection_closed(connection); }

void RequestNotes::on_offset_fetch(const logs::TopicState& topic, std::string_view group, const ClientIdentity& client,
                                   const runtime::ClientConnection& connection, PartitionIndex partition, Offset committed,
                                   TimestampMs now) {
    const bool is_member = connection.noted_member != 0;
    reports_.on_offset_fetch(topic.topic->id, group, client, connection.id, is_member, partition, committed, now);
}

void RequestNotes::on_list_offsets(const logs::TopicState& topic, const ClientIdentity& client, ConnectionId connection,
                                   PartitionIndex partition, std::int64_t timestamp, Offset answered) {
    reports_.on_list_offsets(topic.topic->id, client, connection, partition, timestamp, answered);
}

void RequestNotes::on_fetch(std::uint32_t reactor, const logs::TopicState& topic, std::string_view client_id,
                            const runtime::ClientConnection& connection, PartitionIndex partition, Offset from, TimestampMs now) {
    reports_.on_fetch(reactor, topic.topic->id, client_id, connection.host, connection.id, partition, from, now);
}

void RequestNotes::on_answer(std::span<DeliveryNote> deliveries) { reports_.on_answer(deliveries); }

void RequestNotes::on_late_answer(std::span<DeliveryNote> deliveries) { reports_.on_late_answer(deliveries); }

bool RequestNotes::wants_positions(const logs::TopicState& topic, std::string_view group) const {
    return reports_.wants_positions(ref_of(topic), group);
}

void RequestNotes::on_commit(const logs::TopicState& topic, std::string_view group, const ClientIdentity& client,
                             ConnectionId connection, std::span<const ConsumerWatch::Commit> commits,
                             std::optional<Inversions::Positions> before, TimestampMs now) {
    reports_.on_commit(ref_of(topic), group, client, connection, commits, std::move(before), now);
}

void RequestNotes::on_leave(const logs::TopicTable& table, std::string_view group, std::string_view member_id,
                            ConnectionId connection, TimestampMs now) {
    const auto find = [&](std::string_view name) -> std::optional<ReaderReports::LeftTopic> {
        const logs::TopicState* topic = table.find(name);
        if (topic == nullptr || topic->topic->internal) {
            return std::nullopt;
        }
        return ReaderReports::LeftTopic{.id = topic->topic->id, .has_grown = watches(*topic)};
    };
    reports_.on_leave(find, group, member_id, connection, now);
}

void RequestNotes::on_group_deleted(std::string_view group) { reports_.on_group_deleted(group); }

void RequestNotes::on_transaction_commit(const groups::GroupCoordinator& coordinator, const groups::TransactionCommit& commit) {
    const std::shared_ptr<const logs::TopicTable> table = topics_.table();
    const logs::TopicState* topic = table->find(commit.topic);
    if (topic == nullptr || !watches(*topic)) {
        return;
    }
    std::vector<ConsumerWatch::Commit> commits;
    std::optional<Inversions::Positions> before;
    if (reports_.wants_positions(ref_of(*topic), commit.group_id)) {
        before = coordinator.queries().committed_in(commit.group_id, commit.topic, topic->topic->id);
    }
    for (const groups::TransactionCommit::Partition& moved : commit.partitions) {
        commits.push_back({moved.partition, moved.offset});
        if (!before) {
            continue;
        }
        if (moved.before) {
            before->insert_or_assign(moved.partition, *moved.before);
        } else {
            before->erase(moved.partition);
        }
    }
    reports_.on_transaction_commit(ref_of(*topic), commit.group_id, std::move(commits), std::move(before));
}

}  // namespace partita::insight
