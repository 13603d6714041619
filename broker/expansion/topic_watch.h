#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker/expansion/finding.h"
#include "broker/expansion/identity.h"
#include "broker/expansion/key_index.h"
#include "broker/expansion/producer_evidence.h"
#include "broker/expansion/stale_writes.h"
#include "broker/partitioners/clients.h"
#include "protocol/types.h"

/// What is known of one topic's producers and keys from the records they send, and the hazards that follow. Pure:
/// records, time and facts of the broker come in as arguments. One caller at a time.
namespace partita::expansion {

/// Who sends records, as far as a broker can tell. An idempotent producer is its id, any other one its connection: two that call themselves
/// the same are two.
struct ProducerIdentity {
    /// Of a producer that is not idempotent. kNoConnection also stands for all those of a name whose connections have closed: what they did
    /// with keys is kept together, and nothing else of them.
    ConnectionId connection;
    std::string client_id;
    /// As Kafka prints it: "/127.0.0.1".
    std::string address;
    /// From ApiVersions; empty for clients that do not say.
    std::string software_name;
    std::string software_version;
    /// -1 for producers that are not idempotent.
    ProducerId producer_id = kNoProducerId;
    /// The client's end of the connection; 0 where that does not stand for the producer.
    std::uint16_t port = 0;

    friend auto operator<=>(const ProducerIdentity&, const ProducerIdentity&) = default;
};
/// "billing (/10.0.0.7, librdkafka 2.3.0)". Producers of one name look the same here: see TopicWatch::name_of.
[[nodiscard]] std::string to_string(const ProducerIdentity& producer);

/// One count that the topic has or had; epoch e is element e of a list.
struct TopicEpoch {
    std::int32_t partition_count = 0;
    TimestampMs time = kNoTimestamp;

    friend bool operator==(const TopicEpoch&, const TopicEpoch&) = default;
};

struct SentRecord {
    /// Null without key.
    std::optional<Bytes> key;
    bool has_value = true;
    PartitionIndex partition;
    Offset offset;
    std::size_t size_bytes = 0;
};

/// What the broker knows of the topic besides its records, at one moment.
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

/// What is known of one producer, for people and the API.
struct ProducerReport {
    ProducerIdentity identity;
    /// The process behind it, when it is on the broker's machine and known: "java (pid 4711, shop.jar)".
    std::string program;
    /// Its connection has closed; and for how many closed ones of a name it stands, 0 for a single producer.
    bool is_closed = false;
    std::int64_t closed_connections = 0;
    ProducerVerdict verdict;
    partitioners::FamilySet known_families;
    /// What its software does by default; no proof.
    std::optional<partitioners::Family> expected_family;
    std::int64_t keyed_records = 0;
    std::int64_t keyless_records = 0;
    /// Since the last expansion: records that only an old count explains, and whether that still goes on.
    std::int64_t stale_records = 0;
    bool is_stale = false;
    /// The first record since the last expansion that only the new count explains.
    TimestampMs switched = kNoTimestamp;
    TimestampMs last_seen = kNoTimestamp;
};

/// A producer's first proof of the count in force, for the topic's history.
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
    /// Producers that are told apart; the one that was silent for longest makes room.
    static constexpr std::size_t kProducersMax = 256;
    /// A producer that sent nothing for so long no longer counts as one.
    static constexpr std::int64_t kSilentMs = 600'000;
    /// A topic to which somebody wrote within that time is written to; after it, it was.
    static constexpr std::int64_t kWritingMs = 60'000;
    /// Proofs of the old count so soon after one of the new are batches that were under way; they open nothing.
    static constexpr std::int64_t kSettleMs = 5'000;
    /// Twice the longest usual metadata age (sarama: 10 minutes): whoever has not learned by then never will.
    static constexpr std::int64_t kNeverMs = 1'200'000;
    /// Switches that wait to be taken.
    static constexpr std::size_t kSwitchesMax = 1000;

    TopicWatch(std::string name, std::span<const TopicEpoch> epochs, std::size_t keys_max);

    /// The topic's counts now; does nothing when they are as before.
    void set_epochs(std::span<const TopicEpoch> epochs);
    void observe(const ProducerIdentity& producer, const SentRecord& record, TimestampMs now);
    /// A connection has closed. A producer that was known by it is over: what it did with keys joins that of others of its name, unless it is
    /// stale, which is told until it would have fallen silent.
    void on_closed(ConnectionId connection);
    /// The process behind a producer's connection is known.
    void on_process(ConnectionId connection, const ProcessIdentity& process);
    /// Open connections of producers whose process nobody told, at most `most`.
    [[nodiscard]] std::vector<ConnectionId> unknown_processes(std::size_t most) const;

    /// Everything that holds now: H04, H05, H08, H09, H11, H12, H40, H41.
    [[nodiscard]] std::vector<Finding> findings(const TopicFacts& facts, TimestampMs now) const;
    /// Every record is worth a look: somebody is not known yet, or the topic grew and somebody has not switched.
    [[nodiscard]] bool is_curious(std::int64_t window_ms, TimestampMs now) const;

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] std::vector<ProducerReport> producers() const;
    [[nodiscard]] std::size_t producer_count() const { return producers_.size(); }
    [[nodiscard]] std::size_t epoch_count() const { return epochs_.size(); }
    [[nodiscard]] const KeyIndex& keys() const { return keys_; }
    /// The key index must get smaller.
    void halve_keys() { keys_.halve(); }
    /// All producers taken together: what the topic's keys say.
    [[nodiscard]] ProducerVerdict verdict() const { return everybody_.verdict(); }
    [[nodiscard]] partitioners::FamilySet known_families() const { return everybody_.known_families(); }
    /// Drops the producer that was silent for longest. There is one.
    void forget_a_producer();

    [[nodiscard]] std::vector<CountSwitch> take_switches();
    /// Who placed records by an earlier count since the topic first grew, also of earlier expansions and of producers that are gone.
    [[nodiscard]] std::vector<StaleWrites::Writer> stale_writers(TimestampMs now) const;

  private:
    struct Producer {
        explicit Producer(std::span<const std::int32_t> counts) : evidence(counts) {}

        ProducerEvidence evidence;
        TimestampMs last_seen = kNoTimestamp;
        std::string program;
        bool is_closed = false;
        std::int64_t closed_connections = 0;
        // Since the last expansion:
        std::int64_t stale_records = 0;
        TimestampMs last_stale = kNoTimestamp;
        std::vector<ExampleKey> stale_keys;
        TimestampMs switched = kNoTimestamp;
        TimestampMs last_new = kNoTimestamp;
        /// The proofs of the old count are not a rest of batches under way.
        bool is_stale = false;
        std::int64_t records = 0;
        bool used_new_partition = false;
        std::set<PartitionIndex> partitions;
        /// Where its last record went, and the number of that visit among those of all producers.
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
    /// Where the topic's partitioner puts the key at a count; empty when it is not known or not sure.
    [[nodiscard]] std::optional<PartitionIndex> place(std::string_view key, std::int32_t partition_count) const;
    [[nodiscard]] bool is_move_explained(const IndexedKey& key, std::span<const PastPlacement> past) const;

    void find_stale(std::vector<Finding>& findings, TimestampMs now) const;
    void find_never_learning(std::vector<Finding>& findings, TimestampMs now) const;
    void find_mixed(std::vector<Finding>& findings, TimestampMs now) const;
    void find_ignored_keys(std::vector<Finding>& findings, TimestampMs now) const;
    void find_scattered_keys(std::vector<Finding>& findings, const TopicFacts& facts) const;
    void find_unused_partitions(std::vector<Finding>& findings, const TopicFacts& facts, TimestampMs now) const;
    [[nodiscard]] bool have_all_switched(TimestampMs now) const;
    void find_orphans(std::vector<Finding>& findings, const TopicFacts& facts, TimestampMs now) const;
    void find_missed_tombstones(std::vector<Finding>& findings, const TopicFacts& facts) const;
    [[nodiscard]] std::string choosing_producers(TimestampMs now) const;
    [[nodiscard]] Subject subject_of(const ProducerIdentity& identity, const Producer& producer) const;
    /// As `to_string`, with what tells the producer from others of its name: its program, its port or its producer id.
    [[nodiscard]] std::string name_of(const ProducerIdentity& identity, const Producer& producer) const;
    void keep_as_past(ProducerIdentity identity, Producer&& producer);
    /// " (of a sample of one in 8 keys)", or nothing.
    [[nodiscard]] std::string sampling_note() const;
    /// Every record that the topic was ever given was looked at, and every key is kept: what is counted is all there is.
    [[nodiscard]] bool has_seen_everything(const TopicFacts& facts) const;
    /// Sets count and numbers of a finding about `found` keys of the index.
    void count_keys(Finding& finding, std::string_view name, std::int64_t found, bool is_exact) const;

    std::string name_;
    std::vector<TopicEpoch> epochs_;
    Producers producers_;
    ProducerEvidence everybody_;
    KeyIndex keys_;
    std::vector<CountSwitch> switches_;
    StaleWrites stale_writes_;
    std::uint32_t visits_ = 0;
    /// Looked at, with keys and without.
    std::int64_t records_ = 0;
};

}  // namespace partita::expansion
