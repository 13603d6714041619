#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "broker/insight/identity/fetch_memory.h"
#include "broker/insight/identity/identity.h"
#include "broker/insight/readers/consumer_watch.h"
#include "broker/insight/shell/fenced_reads.h"
#include "broker/insight/shell/reader_notes.h"
#include "broker/logs/topic_table.h"
#include "broker/runtime/coordinators/group_shards.h"

namespace partita::logs {
class PublishedTopics;
}  // namespace partita::logs

namespace partita::runtime {

class Connections;
class KeySamples;
struct ClientConnection;

/// Where requests of readers are reported, with what was answered: each becomes a note for the observer of readers. Topics that
/// never grew cost one look at their history (`watches`) and nothing else.
///
/// Thread-safe. A request leaves a note and goes on; what follows is worked out by the observer. A report also asks for the
/// process behind its connection.
class ReaderReports final : public TransactionCommitListener {
  public:
    ReaderReports(const logs::PublishedTopics& topics, Connections& connections, GroupShards& groups, const KeySamples& samples,
                  ReaderNotes& notes)
        : topics_(topics), connections_(connections), groups_(groups), samples_(samples), notes_(notes) {}

    /// True for topics about which requests are to be reported.
    [[nodiscard]] static bool watches(const TopicState& topic) {
        return !topic.topic->expansions.empty() && !topic.topic->internal;
    }

    // Called for topics that are watched; see ConsumerWatch.
    void on_offset_fetch(const TopicState& topic, std::string_view group, const insight::ClientIdentity& client,
                         const ClientConnection& connection, PartitionIndex partition, Offset committed, TimestampMs now);
    /// `timestamp` is that of the request; `answered` is kNoOffset when no record is that young.
    void on_list_offsets(const TopicState& topic, const insight::ClientIdentity& client, insight::ConnectionId connection,
                         PartitionIndex partition, std::int64_t timestamp, Offset answered);
    /// Called on the thread of the reactor with the index `reactor`. A fetch that says the same as the reader's last one costs a
    /// hash and a comparison: no lock, no allocation.
    void on_fetch(std::uint32_t reactor, const TopicState& topic, std::string_view client_id, const ClientConnection& connection,
                  PartitionIndex partition, Offset from, TimestampMs now);
    /// True when the next `on_commit` of the group should come with the group's positions `before` that commit: nothing else
    /// tells what the group had committed before the topic grew.
    [[nodiscard]] bool wants_positions(const TopicState& topic, std::string_view group) {
        return !notes_.has_positions(*topic.topic, group);
    }
    /// `before`: see `Inversions::on_commit`.
    void on_commit(const TopicState& topic, std::string_view group, const insight::ClientIdentity& client,
                   insight::ConnectionId connection, std::span<const insight::ConsumerWatch::Commit> commits,
                   std::optional<insight::Inversions::Positions> before, TimestampMs now);

    /// Offsets that were committed within a transaction (TxnOffsetCommit) are reported here, when the transaction is committed,
    /// and not when they are sent: until then they are nobody's position, and one that is aborted is no progress. Its topic need
    /// not be watched.
    void on_transaction_commit(const groups::GroupCoordinator& coordinator, const groups::TransactionCommit& commit) override;

    /// Called when a member is about to leave its group, because it wants to or an administrator does. It looks up what the
    /// member holds, because the member may have come, read and gone between two rounds. `connection` is the one that asks; it
    /// counts as the member's when that is not known.
    void on_leave(const TopicTable& table, std::string_view group, std::string_view member_id, insight::ConnectionId connection,
                  TimestampMs now);
    void on_group_deleted(std::string_view group);

    /// Where fetches of any topic, grown or not, are reported while somebody is suspected there.
    [[nodiscard]] FencedReads& fenced_reads() { return fenced_reads_; }

    /// From now on the next fetch of every reader is worth noting. Called when a topic has grown.
    void ask_all_again() { changes_.fetch_add(1, std::memory_order_release); }

  private:
    const logs::PublishedTopics& topics_;
    Connections& connections_;
    GroupShards& groups_;
    const KeySamples& samples_;
    ReaderNotes& notes_;
    FencedReads fenced_reads_{notes_};
    /// One memory per reactor, which only that reactor's thread uses. It is made when a grown topic is first read there.
    std::array<std::unique_ptr<insight::FetchMemory>, Partition::kReactorsMax> memories_;
    /// See `ask_all_again`.
    std::atomic<std::uint64_t> changes_ = 0;
};

}  // namespace partita::runtime
