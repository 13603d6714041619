#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "broker/insight/facts/clients.h"
#include "broker/insight/facts/groups.h"
#include "broker/insight/facts/topics.h"
#include "broker/insight/identity/identity.h"
#include "broker/insight/readers/consumer_watch.h"
#include "broker/insight/readers/fetch_news.h"
#include "broker/insight/shell/fenced_reads.h"
#include "broker/insight/shell/reader_notes.h"

namespace partita::insight {

class KeySamples;

/// Receives reports of readers' requests, with their answers, and makes each a note for the observer of readers. Callers report
/// about topics that have grown and are not internal. Other topics cost them one look at their history.
///
/// Thread-safe. A request leaves a note and goes on; the observer works out the consequences. A report also asks for the process
/// behind its connection.
class ReaderReports {
  public:
    /// Most threads that may call `on_fetch`, each with an index of its own below this.
    static constexpr std::size_t kReactorsMax = 64;

    ReaderReports(ObservedClients& clients, const ObservedGroups& groups, const KeySamples& samples, ReaderNotes& notes)
        : clients_(clients), groups_(groups), samples_(samples), notes_(notes) {}

    // See ConsumerWatch.

    /// `is_member`: the connection speaks for a member of a group.
    void on_offset_fetch(const TopicId& topic, std::string_view group, const ClientIdentity& client, ConnectionId connection,
                         bool is_member, PartitionIndex partition, Offset committed, TimestampMs now);
    /// `timestamp` is the one in the request; `answered` is kNoOffset if no record is that young.
    void on_list_offsets(const TopicId& topic, const ClientIdentity& client, ConnectionId connection, PartitionIndex partition,
                         std::int64_t timestamp, Offset answered);
    /// A fetch that tells the same as the reader's last one costs a hash and a comparison: no lock, no allocation. `reactor`: the
    /// index of the calling thread.
    void on_fetch(std::uint32_t reactor, const TopicId& topic, std::string_view client_id, std::string_view address,
                  ConnectionId connection, PartitionIndex partition, Offset from, TimestampMs now);
    /// The broker sent these records in one answer, in this order; see DeliveryNote. The reader's fetches were reported before.
    void on_answer(std::span<DeliveryNote> deliveries) { notes_.leave_answer(deliveries); }
    /// The same for an answer to a reader that waited while the topic grew: its fetch was not reported.
    void on_late_answer(std::span<DeliveryNote> deliveries);
    /// True if the next `on_commit` of the group should come with the group's positions `before` that commit. Nothing else shows
    /// what the group had committed before the topic grew.
    [[nodiscard]] bool wants_positions(const TopicRef& topic, std::string_view group) {
        return !notes_.has_positions(topic, group);
    }
    /// `before`: see `Inversions::on_commit`.
    void on_commit(const TopicRef& topic, std::string_view group, const ClientIdentity& client, ConnectionId connection,
                   std::span<const ConsumerWatch::Commit> commits, std::optional<Inversions::Positions> before, TimestampMs now);
    /// Reports offsets that were committed within a transaction. Callers report them when the transaction is committed, not when
    /// the offsets are sent. Until then they are no position, and an aborted transaction is no progress.
    void on_transaction_commit(const TopicRef& topic, std::string_view group, std::vector<ConsumerWatch::Commit> commits,
                               std::optional<Inversions::Positions> before);

    /// A topic that a member leaves, as a FindTopic finds it.
    struct LeftTopic {
        TopicId id;
        bool has_grown = false;
    };
    /// Finds the topics about which `on_leave` is to report.
    using FindTopic = std::function<std::optional<LeftTopic>(std::string_view name)>;
    /// Topics that have not grown, of which the departure of one member is remembered.
    static constexpr std::size_t kLeftTopicsMax = 64;
    /// Called when a member is about to leave its group, by its own request or an administrator's. It looks up the member's
    /// partitions, because the member may have come, read and gone between two rounds. `connection` sent the request; it counts
    /// as the member's if that is not known.
    void on_leave(const FindTopic& find_topic, std::string_view group, std::string_view member_id, ConnectionId connection,
                  TimestampMs now);
    void on_group_deleted(std::string_view group);

    /// Receives fetches of any topic, grown or not, while there are suspects.
    [[nodiscard]] FencedReads& fenced_reads() { return fenced_reads_; }

    /// From now on the next fetch of every reader is worth a note. Called when a topic has grown.
    void ask_all_again() { changes_.fetch_add(1, std::memory_order_release); }

  private:
    ObservedClients& clients_;
    const ObservedGroups& groups_;
    const KeySamples& samples_;
    ReaderNotes& notes_;
    FencedReads fenced_reads_{notes_};
    /// One memory per reactor; only that reactor's thread uses it. It is created at the reactor's first fetch of a grown topic.
    std::array<std::unique_ptr<FetchNews>, kReactorsMax> memories_;
    /// See `ask_all_again`.
    std::atomic<std::uint64_t> changes_ = 0;
};

}  // namespace partita::insight
