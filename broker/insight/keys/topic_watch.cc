#include "broker/insight/keys/topic_watch.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "broker/insight/keys/key_table.h"
#include "protocol/assert.h"

namespace partita::insight {
std::weak_ordering operator<=>(const ProducerIdentity& one, const ProducerIdentity& other) {
    const auto values = [](const ProducerIdentity& producer) {
        return std::make_tuple(producer.connection, std::string_view(producer.client_id), host_of(producer.address),
                               std::string_view(producer.software_name), std::string_view(producer.software_version),
                               std::string_view(producer.principal), producer.producer_id, producer.port);
    };
    return values(one) <=> values(other);
}

std::string to_string(const ProducerIdentity& producer) {
    std::string text = producer.client_id.empty() ? "a producer without client.id" : producer.client_id;
    text += " (" + (producer.principal.empty() ? "" : producer.principal + ", ") + producer.address;
    if (!producer.software_name.empty()) {
        text += ", " + producer.software_name + (producer.software_version.empty() ? "" : " " + producer.software_version);
    }
    return text + ")";
}

TopicWatch::TopicWatch(std::string name, std::span<const TopicEpoch> epochs, std::size_t keys_max)
    : name_(std::move(name)), epochs_(epochs.begin(), epochs.end()), all_producers_(counts_newest_first()), keys_(keys_max) {}

std::vector<std::int32_t> TopicWatch::counts_newest_first() const {
    PARTITA_ASSERT(!epochs_.empty(), "a topic has a partition count");
    std::vector<std::int32_t> counts;
    for (auto epoch = epochs_.rbegin(); epoch != epochs_.rend(); ++epoch) {
        counts.push_back(epoch->partition_count);
    }
    return counts;
}

void TopicWatch::set_epochs(std::span<const TopicEpoch> epochs) {
    if (std::ranges::equal(epochs, epochs_)) {
        return;
    }
    epochs_.assign(epochs.begin(), epochs.end());
    records_since_growth_ = 0;
    const std::vector<std::int32_t> counts = counts_newest_first();
    all_producers_.expand(counts);
    for (auto& [identity, producer] : producers_) {
        Producer fresh(counts);
        fresh.evidence = std::move(producer.evidence);
        fresh.evidence.expand(counts);
        fresh.last_seen = producer.last_seen;
        fresh.connection = producer.connection;
        fresh.is_disconnected = producer.is_disconnected;
        fresh.program = std::move(producer.program);
        fresh.is_closed = producer.is_closed;
        fresh.closed_connections = producer.closed_connections;
        producer = std::move(fresh);
    }
}

TopicWatch::Producer& TopicWatch::producer(const ProducerIdentity& identity, TimestampMs now) {
    auto place = producers_.find(identity);
    if (place == producers_.end()) {
        if (producers_.size() >= kProducersMax) {
            forget_a_producer();
        }
        place = producers_.emplace(identity, Producer(counts_newest_first())).first;
        place->second.connection = identity.connection;
    }
    place->second.last_seen = now;
    return place->second;
}

void TopicWatch::forget_a_producer() {
    PARTITA_ASSERT(!producers_.empty(), "there is a producer to forget");
    producers_.erase(std::ranges::min_element(producers_, {}, [](const auto& entry) { return entry.second.last_seen; }));
}

void TopicWatch::on_closed(ConnectionId connection) {
    if (connection == kNoConnection) {
        return;
    }
    for (auto place = producers_.lower_bound(ProducerIdentity{.connection = connection});
         place != producers_.end() && place->first.connection == connection;) {
        if (place->second.stale_records > 0) {
            place->second.is_closed = true;
            ++place;
            continue;
        }
        auto node = producers_.extract(place++);
        keep_as_past(std::move(node.key()), std::move(node.mapped()));
    }
}

void TopicWatch::keep_as_past(ProducerIdentity identity, Producer&& producer) {
    identity.connection = kNoConnection;
    identity.port = 0;
    producer.connection = kNoConnection;
    const TimestampMs last_seen = producer.last_seen;
    const auto [place, is_first] = producers_.try_emplace(std::move(identity), std::move(producer));
    Producer& past = place->second;
    if (!is_first) {
        past.evidence.absorb(producer.evidence);
        past.records += producer.records;
        past.used_new_partition |= producer.used_new_partition;
        past.partitions.insert(producer.partitions.begin(), producer.partitions.end());
        past.last_seen = std::max(past.last_seen, last_seen);
    }
    ++past.closed_connections;
    past.is_closed = true;
    past.program.clear();
    past.switched = past.last_new = kNoTimestamp;
}

void TopicWatch::on_connection(const ProducerIdentity& producer, ConnectionId connection) {
    if (const auto known = producers_.find(producer); known != producers_.end()) {
        known->second.connection = connection;
        known->second.is_disconnected = false;
    }
}

void TopicWatch::on_disconnected(std::span<const ConnectionId> connections) {
    for (auto& [identity, producer] : producers_) {
        if (identity.connection == kNoConnection && producer.connection != kNoConnection &&
            std::ranges::binary_search(connections, producer.connection)) {
            producer.connection = kNoConnection;
            producer.is_disconnected = true;
        }
    }
}

void TopicWatch::on_process(ConnectionId connection, const ProcessIdentity& process) {
    for (auto& [identity, producer] : producers_) {
        if (producer.connection == connection) {
            producer.program = to_string(process);
        }
    }
}

std::vector<ConnectionId> TopicWatch::unknown_processes(std::size_t most) const {
    std::vector<ConnectionId> connections;
    for (const auto& [identity, producer] : producers_) {
        if (producer.connection != kNoConnection && !producer.is_closed && producer.program.empty() &&
            connections.size() < most) {
            connections.push_back(producer.connection);
        }
    }
    return connections;
}

std::string TopicWatch::name_of(const ProducerIdentity& identity, const Producer& producer) const {
    std::string text = to_string(identity) + (producer.program.empty() ? "" : ", " + producer.program);
    // A program may have several producers of one name.
    const bool is_shared = std::ranges::any_of(producers_, [&](const auto& entry) {
        return entry.first != identity && entry.first.client_id == identity.client_id &&
               may_be_one_host(entry.first.address, identity.address) &&
               (producer.program.empty() || entry.second.program == producer.program);
    });
    if (!is_shared) {
        return text;
    }
    if (producer.closed_connections > 0) {
        return text + ", closed connections";
    }
    return text + (identity.producer_id != kNoProducerId ? ", producer id " + std::to_string(identity.producer_id.value)
                                                         : ", port " + std::to_string(identity.port));
}

void TopicWatch::observe(const ProducerIdentity& identity, const SentRecord& record, TimestampMs now) {
    Producer& sender = producer(identity, now);
    if (sender.records == 0 || sender.partition != record.partition) {
        sender.partition = record.partition;
        sender.visit = ++visits_;
    }
    ++sender.records;
    ++records_;
    ++records_since_growth_;
    sender.used_new_partition |= epoch() > 0 && record.partition.value >= old_count();
    if (sender.partitions.size() < kPartitionsPerProducerMax) {
        sender.partitions.insert(record.partition);
    }
    if (!record.key || record.key->empty()) {
        sender.evidence.observe_keyless(record.partition, record.size_bytes);
        return;
    }
    const std::uint64_t hash = KeyTable::hash_of(*record.key);
    const ProducerEvidence::Record seen{.key = *record.key,
                                        .key_hash = hash,
                                        .partition = record.partition,
                                        .size_bytes = record.size_bytes,
                                        .visit = sender.visit};
    note_proof(sender.evidence.observe(seen), identity, sender, record, now);
    all_producers_.observe(seen);
    keys_.add({.key = *record.key,
               .key_hash = hash,
               .partition = record.partition,
               .epoch = epoch(),
               .offset = record.offset,
               .size_bytes = record.size_bytes,
               .is_tombstone = !record.has_value,
               .transactional_batch = record.transactional_batch});
}

void TopicWatch::note_proof(CountProof proof, const ProducerIdentity& identity, Producer& producer, const SentRecord& record,
                            TimestampMs now) {
    if (proof == CountProof::new_count) {
        producer.last_new = now;
        producer.is_stale = false;
        if (producer.switched == kNoTimestamp) {
            producer.switched = now;
            if (switches_.size() < kSwitchesMax) {
                switches_.push_back({.epoch = epoch(),
                                     .producer = identity,
                                     .time = now,
                                     .partition = record.partition,
                                     .offset = record.offset,
                                     .stale_records = producer.stale_records});
            }
        }
    }
    if (proof == CountProof::old_count) {
        ++producer.stale_records;
        producer.last_stale = now;
        producer.is_stale |= producer.last_new == kNoTimestamp || now.value - producer.last_new.value > kSettleMs;
        if (producer.is_stale) {
            stale_writes_.note({identity.client_id, identity.address}, old_count(), count(), record.partition, record.offset,
                               now.value - epochs_.back().time.value);
        }
        if (producer.stale_keys.size() < Finding::kExamplesMax) {
            const partitioners::FamilySet known = producer.evidence.known_families();
            const std::string key(as_text(record.key->first(std::min(record.key->size(), Finding::kExampleKeyBytesMax))));
            const bool is_known =
                std::ranges::any_of(producer.stale_keys, [&](const ExampleKey& example) { return example.key == key; });
            if (!is_known) {
                producer.stale_keys.push_back({.key = key,
                                               .from = record.partition,
                                               .to = partitioners::partition_of(known.first(), *record.key, count())});
            }
        }
    }
}

std::vector<StaleWrites::Writer> TopicWatch::stale_writers(TimestampMs now, std::int64_t written) const {
    std::vector<StaleWrites::Writer> writers(stale_writes_.writers().begin(), stale_writes_.writers().end());
    for (StaleWrites::Writer& writer : writers) {
        // Whether everything was looked at after an earlier expansion is not remembered.
        writer.is_exact = writer.new_count == count() && records_since_growth_ == written;
        if (writer.new_count != count()) {
            continue;
        }
        for (const auto& [identity, producer] : producers_) {
            const bool is_own = writer.client == ClientIdentity{identity.client_id, identity.address};
            if (!is_own || !producer.is_stale || !is_active(producer, now)) {
                continue;
            }
            writer.is_writing = true;
            writer.silent_from.value = std::max(writer.silent_from.value, producer.last_seen.value + kSilentMs);
        }
    }
    return writers;
}

bool TopicWatch::is_active(const Producer& producer, TimestampMs now) const {
    return now.value - producer.last_seen.value < kSilentMs;
}

bool TopicWatch::is_curious(std::int64_t window_ms, TimestampMs now) const {
    const bool is_in_window = epoch() > 0 && now.value - epochs_.back().time.value < std::max(window_ms, kNeverMs);
    return std::ranges::any_of(producers_, [&](const auto& entry) {
        const Producer& producer = entry.second;
        if (!is_active(producer, now) || producer.evidence.keyed_records() == 0 || producer.is_closed) {
            return false;
        }
        const bool is_unknown = producer.evidence.known_families().is_empty() &&
                                producer.evidence.keyed_records() < static_cast<std::int64_t>(ProducerEvidence::kKeysMax) * 4;
        return is_unknown || producer.is_stale || (is_in_window && producer.switched == kNoTimestamp);
    });
}

std::vector<ProducerReport> TopicWatch::producers() const {
    std::vector<ProducerReport> reports;
    reports.reserve(producers_.size());
    for (const auto& [identity, producer] : producers_) {
        reports.push_back({.identity = identity,
                           .program = producer.program,
                           .is_closed = producer.is_closed || producer.is_disconnected,
                           .closed_connections = producer.closed_connections,
                           .verdict = producer.evidence.verdict(),
                           .known_families = producer.evidence.known_families(),
                           .expected_family = partitioners::expected_family(identity.software_name),
                           .keyed_records = producer.evidence.keyed_records(),
                           .keyless_records = producer.evidence.keyless_records(),
                           .stale_records = producer.stale_records,
                           .is_stale = producer.is_stale,
                           .switched = producer.switched,
                           .last_seen = producer.last_seen});
    }
    return reports;
}

std::vector<CountSwitch> TopicWatch::take_switches() { return std::exchange(switches_, {}); }

std::optional<PartitionIndex> TopicWatch::place(std::string_view key, std::int32_t partition_count) const {
    std::optional<PartitionIndex> place;
    bool is_sure = true;
    all_producers_.known_families().for_each([&](partitioners::Family family) {
        const PartitionIndex partition = partitioners::partition_of(family, as_bytes(key), partition_count);
        is_sure &= !place || *place == partition;
        place = partition;
    });
    return is_sure ? place : std::nullopt;
}

std::vector<Finding> TopicWatch::findings(const TopicFacts& facts, TimestampMs now) const {
    std::vector<Finding> all;
    find_stale(all, facts, now);
    find_never_learning(all, facts, now);
    find_mixed(all, now);
    find_ignored_keys(all, now);
    find_scattered_keys(all, facts);
    find_unused_partitions(all, facts, now);
    find_orphans(all, facts, now);
    find_missed_tombstones(all, facts);
    return all;
}

}  // namespace partita::insight
