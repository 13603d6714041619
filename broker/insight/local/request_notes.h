#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "broker/insight/identity/client_registry.h"
#include "broker/insight/readers/consumer_watch.h"
#include "broker/logs/topic_table.h"
#include "broker/runtime/coordinators/group_shards.h"
#include "protocol/types.h"

/// The one header by which parts that serve requests report to insight.

namespace partita::logs {
class PublishedTopics;
}  // namespace partita::logs

namespace partita::runtime {
struct ClientConnection;
}  // namespace partita::runtime

namespace partita::insight {

class KeySamples;
class ReaderReports;
struct DeliveryNote;

/// Reports requests to the observers of keys and readers: the broker's own topics and connections become facts here. Callers ask
/// `watches` first, which costs topics that never grew one load and one branch; fetches and appends are seen by steps
/// (insight_steps.h).
///
/// Thread-safe.
class RequestNotes final : public runtime::TransactionCommitListener {
  public:
    RequestNotes(const logs::PublishedTopics& topics, KeySamples& samples, ReaderReports& reports)
        : topics_(topics), samples_(samples), reports_(reports) {}

    /// True for topics about which requests are to be reported.
    [[nodiscard]] static bool watches(const logs::TopicState& topic) {
        return !topic.topic->expansions.empty() && !topic.topic->internal;
    }

    /// Notes a batch that the log accepted. Call it only while the gate of the samples is open.
    void on_produce(const logs::TopicState& topic, PartitionIndex partition, const runtime::ClientConnection& client,
                    std::string_view client_id, Bytes batch, TimestampMs now);
    /// Notes that a connection that produced has ended.
    void on_producer_gone(ConnectionId connection);

    // For topics that are watched.

    void on_offset_fetch(const logs::TopicState& topic, std::string_view group, const ClientIdentity& client,
                         const runtime::ClientConnection& connection, PartitionIndex partition, Offset committed,
                         TimestampMs now);
    /// `timestamp` is the one in the request; `answered` is kNoOffset if no record is that young.
    void on_list_offsets(const logs::TopicState& topic, const ClientIdentity& client, ConnectionId connection,
                         PartitionIndex partition, std::int64_t timestamp, Offset answered);
    /// Runs on the thread of the reactor with this index.
    void on_fetch(std::uint32_t reactor, const logs::TopicState& topic, std::string_view client_id,
                  const runtime::ClientConnection& connection, PartitionIndex partition, Offset from, TimestampMs now);
    /// See ReaderReports.
    void on_answer(std::span<DeliveryNote> deliveries);
    void on_late_answer(std::span<DeliveryNote> deliveries);
    /// True if the next `on_commit` of the group should come with the group's positions `before` that commit.
    [[nodiscard]] bool wants_positions(const logs::TopicState& topic, std::string_view group) const;
    void on_commit(const logs::TopicState& topic, std::string_view group, const ClientIdentity& client, ConnectionId connection,
                   std::span<const ConsumerWatch::Commit> commits, std::optional<Inversions::Positions> before, TimestampMs now);

    // For any topic.

    /// A member is about to leave its group. `table`: the topics as the request sees them.
    void on_leave(const logs::TopicTable& table, std::string_view group, std::string_view member_id, ConnectionId connection,
                  TimestampMs now);
    void on_group_deleted(std::string_view group);
    void on_transaction_commit(const groups::GroupCoordinator& coordinator, const groups::TransactionCommit& commit) override;

  private:
    const logs::PublishedTopics& topics_;
    KeySamples& samples_;
    ReaderReports& reports_;
};

}  // namespace partita::insight
