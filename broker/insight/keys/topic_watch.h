#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/insight/findings/finding.h"
#include "broker/insight/identity/identity.h"
#include "broker/insight/keys/key_index.h"
#include "broker/insight/keys/producer_evidence.h"
#include "broker/insight/keys/stale_writes.h"
#include "broker/partitioners/clients.h"
#include "protocol/types.h"

/// Follows the producers and keys of one topic, by the records they send, and finds the resulting hazards. Pure: the caller
/// passes records, time and facts of the broker as arguments. One caller at a time.
namespace partita::insight {

/// The sender of records, as far as a broker can tell. An id identifies an idempotent producer, a connection any other: two
/// producers of the same name are two.
struct ProducerIdentity {
    /// The connection of a producer that is not idempotent. kNoConnection also stands for all producers of one name whose
    /// connections have closed. The watch keeps their use of keys together, and little else.
    ConnectionId connection;
    std::string client_id;
    /// The address as Kafka prints it: "/127.0.0.1".
    std::string address;
    /// The name from the client's ApiVersions request; empty if it sent none.
    std::string software_name;
    std::string software_version;
    /// The authenticated principal: "User:alice". Empty if the client did not have to authenticate.
    std::string principal = {};
    /// -1 for producers that are not idempotent.
    ProducerId producer_id = kNoProducerId;
    /// The client's port; 0 if it does not identify the producer.
    std::uint16_t port = 0;

    friend bool operator==(const ProducerIdentity& one, const ProducerIdentity& other) { return (one <=> other) == 0; }
    /// Compares the host, not the address: a client may come back over IPv4 or IPv6.
    friend std::weak_ordering operator<=>(const ProducerIdentity& one, const ProducerIdentity& other);
};
/// "billing (/10.0.0.7, librdkafka 2.3.0)"; after a login "billing (User:alice, /10.0.0.7, librdkafka 2.3.0)". Producers of one
/// name look the same here: see TopicWatch::name_of.
[[nodiscard]] std::string to_string(const ProducerIdentity& producer);

/// A present or former partition count of the topic. Lists of them are indexed by epoch.
struct TopicEpoch {
    std::int32_t partition_count = 0;
    TimestampMs time = kNoTimestamp;

    friend bool operator==(const TopicEpoch&, const TopicEpoch&) = default;
};

struct SentRecord {
    /// Null for a record without a key.
    std::optional<Bytes> key;
    bool has_value = true;
    PartitionIndex partition;
    Offset offset;
    std::size_t size_bytes = 0;
    /// Where its batch begins if that is transactional; kNoOffset otherwise.
    Offset transactional_batch = kNoOffset;
};

/// The facts that the broker knows about the topic besides its records, at one moment.
struct TopicFacts {
    bool is_compacted = false;
    /// By partition index.
    std::span<const Offset> log_starts;
    std::span<const Offset> log_ends;
    /// Records that were appended to old partitions since the last expansion.
    std::int64_t old_partition_records = 0;
    /// How long producers may take to learn a new count (partita.expansion.window.ms).
    std::int64_t window_ms = 600'000;
};

/// The facts about one producer, for people and the API.
struct ProducerReport {
    ProducerIdentity identity;
    /// The process behind the producer, if it runs on the broker's machine and is known: "java (pid 4711, shop.jar)".
    std::string program;
    /// The producer's connection has closed; an idempotent one may go on over another. `closed_connections`: how many closed
    /// connections of one name this report covers, 0 for a single producer.
    bool is_closed = false;
    std::int64_t closed_connections = 0;
    ProducerVerdict verdict;
    partitioners::FamilySet known_families;
    /// The family that its software uses by default; this is not a proof.
    std::optional<partitioners::Family> expected_family;
    std::int64_t keyed_records = 0;
    std::int64_t keyless_records = 0;
    /// Records since the last expansion that only an old count explains, and whether the producer still sends such
    /// records.
    std::int64_t stale_records = 0;
    bool is_stale = false;
    /// Time of the first record since the last expansion that only the new count explains.
    TimestampMs switched = kNoTimestamp;
    TimestampMs last_seen = kNoTimestamp;
};

/// The first proof since an expansion that a producer uses the new count, for the topic's history.
struct CountSwitch {
    std::int32_t epoch = 0;
    ProducerIdentity producer;
    TimestampMs time = kNoTimestamp;
    PartitionIndex partition;
    Offset offset;
    std::int64_t stale_records = 0;
};

class TopicWatch {
  public:
    /// Most producers that are told apart; a further one replaces the one that was silent for longest.
    static constexpr std::size_t kProducersMax = 256;
    /// A producer that sent nothing for this long no longer counts as active.
    static constexpr std::int64_t kSilentMs = 600'000;
    /// A topic counts as active for this long after its last record.
    static constexpr std::int64_t kWritingMs = 60'000;
    /// Proofs of the old count within this time after a proof of the new one come from batches that were under way: they open no
    /// finding.
    static constexpr std::int64_t kSettleMs = 5'000;
    /// Twice the longest usual metadata age (sarama: 10 minutes): a producer that has not learned of the growth by then
    /// never will.
    static constexpr std::int64_t kNeverMs = 1'200'000;
    /// Most switches that wait for `take_switches`; further ones are dropped.
    static constexpr std::size_t kSwitchesMax = 1000;

    TopicWatch(std::string name, std::span<const TopicEpoch> epochs, std::size_t keys_max);

    /// Takes the topic's present counts; does nothing if they have not changed.
    void set_epochs(std::span<const TopicEpoch> epochs);
    void observe(const ProducerIdentity& producer, const SentRecord& record, TimestampMs now);
    /// A connection has closed, and with it ends a producer that it identified. The watch adds its use of keys to that of others
    /// of its name. A producer that sent stale records since the last expansion stays, closed, until it counts as silent.
    void on_closed(ConnectionId connection);
    /// An idempotent producer whose records were observed sends over this connection.
    void on_connection(const ProducerIdentity& producer, ConnectionId connection);
    /// Connections have closed, ascending. Idempotent producers that used them have no connection until they send again.
    void on_disconnected(std::span<const ConnectionId> connections);
    /// The process behind a producer's connection has become known.
    void on_process(ConnectionId connection, const ProcessIdentity& process);
    /// Open connections of producers whose process is not known, at most `most`.
    [[nodiscard]] std::vector<ConnectionId> unknown_processes(std::size_t most) const;

    /// All findings that hold now: H04, H05, H08, H09, H11, H12, H40, H41.
    [[nodiscard]] std::vector<Finding> findings(const TopicFacts& facts, TimestampMs now) const;
    /// True if every record is worth a look: some producer is not known yet, or the topic grew and some producer has not
    /// switched.
    [[nodiscard]] bool is_curious(std::int64_t window_ms, TimestampMs now) const;

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] std::vector<ProducerReport> producers() const;
    [[nodiscard]] std::size_t producer_count() const { return producers_.size(); }
    [[nodiscard]] std::size_t epoch_count() const { return epochs_.size(); }
    [[nodiscard]] const KeyIndex& keys() const { return keys_; }
    /// Halves the key index; Detection calls this when all indexes together are too large.
    void halve_keys() { keys_.halve(); }
    /// The verdict on all producers together, by the topic's keys.
    [[nodiscard]] ProducerVerdict verdict() const { return all_producers_.verdict(); }
    [[nodiscard]] partitioners::FamilySet known_families() const { return all_producers_.known_families(); }
    /// Forgets the producer that was silent for longest. At least one must exist.
    void forget_a_producer();

    [[nodiscard]] std::vector<CountSwitch> take_switches();
    /// The clients that placed records by an earlier count since the topic first grew. Includes earlier expansions, and producers
    /// that are gone. `written`: records that were appended since the last expansion.
    [[nodiscard]] std::vector<StaleWrites::Writer> stale_writers(TimestampMs now, std::int64_t written) const;

  private:
    struct Producer {
        explicit Producer(std::span<const std::int32_t> counts) : evidence(counts) {}

        ProducerEvidence evidence;
        TimestampMs last_seen = kNoTimestamp;
        /// The connection over which it sends, if that is open and was noted.
        ConnectionId connection;
        std::string program;
        bool is_closed = false;
        /// For an idempotent producer, which stays the same producer over any connection.
        bool is_disconnected = false;
        std::int64_t closed_connections = 0;
        // The following members count since the last expansion.
        std::int64_t stale_records = 0;
        TimestampMs last_stale = kNoTimestamp;
        std::vector<ExampleKey> stale_keys;
        TimestampMs switched = kNoTimestamp;
        TimestampMs last_new = kNoTimestamp;
        /// The producer sends by the old count, and not only batches that were under way when it switched.
        bool is_stale = false;
        std::int64_t records = 0;
        bool used_new_partition = false;
        std::set<PartitionIndex> partitions;
        /// The partition of its last record, and the number of that visit among the visits of all producers.
        PartitionIndex partition;
        std::uint32_t visit = 0;
    };
    using Producers = std::map<ProducerIdentity, Producer>;

    static constexpr std::size_t kPartitionsPerProducerMax = 64;

    [[nodiscard]] std::int32_t epoch() const { return static_cast<std::int32_t>(epochs_.size()) - 1; }
    [[nodiscard]] std::int32_t count() const { return epochs_.back().partition_count; }
    [[nodiscard]] std::int32_t old_count() const { return epochs_[epochs_.size() - 2].partition_count; }
    [[nodiscard]] std::vector<std::int32_t> counts_newest_first() const;
    Producer& producer(const ProducerIdentity& identity, TimestampMs now);
    void note_proof(CountProof proof, const ProducerIdentity& identity, Producer& producer, const SentRecord& record,
                    TimestampMs now);
    [[nodiscard]] bool is_active(const Producer& producer, TimestampMs now) const;
    /// The partition that the topic's partitioner gives the key at this count; null if the partitioner is not known well enough.
    [[nodiscard]] std::optional<PartitionIndex> place(std::string_view key, std::int32_t partition_count) const;
    [[nodiscard]] bool is_move_explained(const IndexedKey& key, std::span<const PastPlacement> past) const;

    void find_stale(std::vector<Finding>& findings, const TopicFacts& facts, TimestampMs now) const;
    void find_never_learning(std::vector<Finding>& findings, const TopicFacts& facts, TimestampMs now) const;
    void find_mixed(std::vector<Finding>& findings, TimestampMs now) const;
    void find_ignored_keys(std::vector<Finding>& findings, TimestampMs now) const;
    void find_scattered_keys(std::vector<Finding>& findings, const TopicFacts& facts) const;
    void find_unused_partitions(std::vector<Finding>& findings, const TopicFacts& facts, TimestampMs now) const;
    [[nodiscard]] bool have_all_switched(TimestampMs now) const;
    void find_orphans(std::vector<Finding>& findings, const TopicFacts& facts, TimestampMs now) const;
    void find_missed_tombstones(std::vector<Finding>& findings, const TopicFacts& facts) const;
    [[nodiscard]] std::string choosing_producers(TimestampMs now) const;
    [[nodiscard]] Subject subject_of(const ProducerIdentity& identity, const Producer& producer) const;
    /// The text of `to_string`, plus what distinguishes the producer from others of its name: its program, its port or its
    /// producer id.
    [[nodiscard]] std::string name_of(const ProducerIdentity& identity, const Producer& producer) const;
    void keep_as_past(ProducerIdentity identity, Producer&& producer);
    /// " (of a sample of one in 8 keys)", or nothing.
    [[nodiscard]] std::string sampling_note() const;
    /// True if counts are complete: every record of the topic's life was looked at, and every key is kept.
    [[nodiscard]] bool has_seen_everything(const TopicFacts& facts) const;
    /// True if every record since the last expansion was looked at.
    [[nodiscard]] bool has_seen_growth(const TopicFacts& facts) const;
    /// Sets count and numbers of a finding about `found` keys of the index.
    void count_keys(Finding& finding, const char* name, std::int64_t found, bool is_exact) const;

    std::string name_;
    std::vector<TopicEpoch> epochs_;
    Producers producers_;
    ProducerEvidence all_producers_;
    KeyIndex keys_;
    std::vector<CountSwitch> switches_;
    StaleWrites stale_writes_;
    std::uint32_t visits_ = 0;
    /// Records that were looked at, with and without keys.
    std::int64_t records_ = 0;
    /// Those of them since the last expansion.
    std::int64_t records_since_growth_ = 0;
};

}  // namespace partita::insight
