#include "broker/insight/keys/key_census.h"

#include <algorithm>
#include <array>
#include <utility>

#include "protocol/assert.h"

namespace partita::insight {
namespace {

std::vector<const KeyEntry*> heaviest_entries(std::span<const KeyEntry> all, std::size_t count) {
    std::vector<const KeyEntry*> entries;
    entries.reserve(all.size());
    for (const KeyEntry& entry : all) {
        entries.push_back(&entry);
    }
    const std::size_t kept = std::min(count, entries.size());
    std::ranges::partial_sort(entries, entries.begin() + static_cast<std::ptrdiff_t>(kept),
                              [](const KeyEntry* one, const KeyEntry* other) {
                                  return one->bytes != other->bytes ? one->bytes > other->bytes : one->key < other->key;
                              });
    entries.resize(kept);
    return entries;
}

/// Number of positions, which ascend, that lie at or below the offset.
std::size_t behind(const std::vector<ReadingPosition>& positions, Offset offset) {
    const auto first_above = std::ranges::upper_bound(positions, offset, {}, &ReadingPosition::offset);
    return static_cast<std::size_t>(first_above - positions.begin());
}

}  // namespace

KeyCensus::KeyCensus(CensusOptions options) : options_(std::move(options)), keys_(options_.limits), heavy_(kHeavyHitters) {
    PARTITA_ASSERT(options_.old_count >= 1 && options_.new_count > options_.old_count, "an expansion makes a topic larger");
    if (options_.epoch_counts.empty()) {
        options_.epoch_counts.push_back(options_.old_count);
    }
    keys_.before_sampling([this] { start_sketch(); });
    partitions_.resize(static_cast<std::size_t>(options_.new_count));
    backlogs_.resize(static_cast<std::size_t>(options_.old_count));
    options_.positions.resize(backlogs_.size());
    for (std::size_t index = 0; index < backlogs_.size(); ++index) {
        backlogs_[index].positions = options_.positions[index];
        std::ranges::sort(backlogs_[index].positions, {}, &ReadingPosition::offset);
        backlogs_[index].records.assign(backlogs_[index].positions.size() + 1, 0);
        backlogs_[index].moved = backlogs_[index].records;
    }
}

std::optional<KeyCensus::Move> KeyCensus::move_of(Bytes key) const {
    if (!options_.family) {
        return std::nullopt;
    }
    if (key.empty() && options_.empty_key_is_none) {
        return std::nullopt;
    }
    const partitioners::FamilyDefinition& family = partitioners::definition(*options_.family);
    if (!partitioners::is_applicable(family.hash, key.size())) {
        return std::nullopt;
    }
    const std::uint32_t hash = partitioners::hash_of(family.hash, key);
    return Move{partitioners::apply(family.rule, hash, options_.old_count),
                partitioners::apply(family.rule, hash, options_.new_count)};
}

void KeyCensus::add(std::span<const CensusRecord> records) {
    Hashes hashes{};
    for (; !records.empty(); records = records.subspan(std::min(kTogether, records.size()))) {
        const auto some = records.first(std::min(kTogether, records.size()));
        for (std::size_t index = 0; index < some.size(); ++index) {
            if (!some[index].key) {
                continue;
            }
            hashes[index] = KeyTable::hash_of(*some[index].key);
            keys_.prefetch_slot(hashes[index]);
        }
        if (some.size() > 1) {
            prefetch(some, hashes);
        }
        for (std::size_t index = 0; index < some.size(); ++index) {
            add_hashed(some[index], hashes[index]);
        }
    }
}

void KeyCensus::prefetch(std::span<const CensusRecord> records, const Hashes& hashes) const {
    std::array<const KeyEntry*, kTogether> entries;
    for (std::size_t index = 0; index < records.size(); ++index) {
        entries[index] = records[index].key ? keys_.prefetch_entry(hashes[index]) : nullptr;
    }
    for (std::size_t index = 0; index < records.size(); ++index) {
        if (entries[index] != nullptr) {
            KeyTable::prefetch_key(*entries[index]);
        }
    }
}

void KeyCensus::add_hashed(const CensusRecord& record, std::uint64_t hash) {
    PARTITA_ASSERT(record.partition.value >= 0 && record.partition.value < options_.old_count, "a partition of the topic");
    const auto size = static_cast<std::int64_t>(record.size_bytes);
    ++records_;
    bytes_ += size;
    PartitionCensus& partition = partitions_[static_cast<std::size_t>(record.partition.value)];
    ++partition.records;
    partition.bytes += size;
    Backlog& backlog = backlogs_[static_cast<std::size_t>(record.partition.value)];
    ++backlog.records[behind(backlog.positions, record.offset)];
    if (!record.key) {
        return;
    }
    ++keyed_records_;
    keyed_bytes_ += size;
    keys_.add(*record.key, hash, record.partition, record.epoch, record.size_bytes, !record.has_value);
    if (keys_.halvings() > 0) {
        heavy_.add(hash, as_text(*record.key), size);
    }
    if (const std::optional<Move> move = move_of(*record.key)) {
        if (move->from != move->to) {
            count_move(record, *move);
        }
        if (move->from != record.partition && static_cast<std::size_t>(record.epoch) + 1 < options_.epoch_counts.size()) {
            ++older_epoch_records_;
        }
    }
}

void KeyCensus::count_move(const CensusRecord& record, const Move& move) {
    ++moved_.records;
    moved_.bytes += static_cast<std::int64_t>(record.size_bytes);
    if (move.to.value < options_.old_count) {
        ++moved_.records_among_old;
    }
    ++partitions_[static_cast<std::size_t>(move.from.value)].records_out;
    ++partitions_[static_cast<std::size_t>(move.to.value)].records_in;
    Backlog& backlog = backlogs_[static_cast<std::size_t>(record.partition.value)];
    ++backlog.moved[behind(backlog.positions, record.offset)];
}

void KeyCensus::start_sketch() {
    std::vector<const KeyEntry*> entries = heaviest_entries(keys_.entries(), kHeavyHitters);
    for (const KeyEntry* entry : entries) {
        heavy_.add(entry->hash, entry->key, entry->bytes);
    }
}

std::vector<std::int64_t> KeyCensus::backlog(std::vector<std::int64_t> Backlog::* counts) const {
    std::vector<std::int64_t> of_groups(options_.group_count, 0);
    for (const Backlog& backlog : backlogs_) {
        // A record behind k positions belongs to the backlog of the first k of them.
        std::int64_t behind = 0;
        for (std::size_t index = backlog.positions.size(); index-- > 0;) {
            behind += (backlog.*counts)[index + 1];
            of_groups[backlog.positions[index].group] += behind;
        }
    }
    return of_groups;
}

std::vector<HeavyHitters::Item> KeyCensus::heaviest_keys(std::size_t count) const {
    if (keys_.halvings() > 0) {
        std::vector<HeavyHitters::Item> items = heavy_.items();
        if (items.size() > count) {
            items.resize(count);
        }
        return items;
    }
    std::vector<HeavyHitters::Item> items;
    for (const KeyEntry* entry : heaviest_entries(keys_.entries(), count)) {
        items.push_back({std::string(entry->key.substr(0, HeavyHitters::kKeyBytesMax)), entry->bytes, 0});
    }
    return items;
}

}  // namespace partita::insight
