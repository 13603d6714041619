#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "broker/insight/order/cut_table.h"
#include "broker/insight/order/growth_scan.h"
#include "broker/insight/order/key_cuts.h"
#include "broker/insight/order/keyed_records.h"
#include "broker/partitioners/families.h"
#include "protocol/types.h"

namespace partita::insight {

/// The cuts between records from after a growth, of keys that a producer still placed by an earlier count. Such a *late* record
/// lies in another partition than the key's records by the new count, written before it or after it. Pure: records come in
/// through `KeyedRecords`, part by part, in any order of partitions.
///
/// Two partitions do not tell which of two records was written first. So timestamps decide, and two records with one timestamp
/// are in no order. A producer sets the time when a record is handed to it, unless the application gives another. A timestamp
/// that is older than its record can be, or lies in the future, is such a time, and tells nothing.
///
/// Records that no count explains are left out: a producer that gives partitions itself knows what it does. So are pairs of
/// records that are both placed by the new count: producers that disagree about a key did so without the growth.
///
/// Few keys do not tell the partitioner. Then a record is late if it lies where the key was before the growth, and keys that came
/// after it are left out.
class LateScan {
  public:
    /// Most keys from after the growth.
    static constexpr std::size_t kKeysMax = 65'536;
    /// Most records of a key in a partition that are remembered: the first ones, the last, and the last with an earlier
    /// timestamp. Only one of the first ones while the key has no late record.
    static constexpr std::size_t kRecordsMax = 32;
    static constexpr std::size_t kFewRecordsMax = 3;
    /// Most records of all keys; further ones as if their key had no late record.
    static constexpr std::size_t kAllRecordsMax = 1'000'000;
    static constexpr std::size_t kCutsOfKeyMax = 64;
    /// A producer may keep a record for so long before it is written: Kafka's default delivery.timeout.ms. A timestamp that is
    /// further behind the growth, or behind another one in front of it in the partition, does not count.
    static constexpr std::int64_t kOnTheWayMs = 120'000;

    struct Limits {
        std::size_t keys_max = kKeysMax;
        std::size_t records_max = kAllRecordsMax;
    };

    /// `growths`: this growth and all before it, ascending. `grown`: when this growth was. `ends`: the log ends of the next
    /// growth, where this one's records end; empty without a next growth. `families`: the partitioners that producers are known
    /// to use; empty if nobody knows them.
    LateScan(std::span<const GrowthCut> growths, TimestampMs grown, std::vector<Offset> ends, partitioners::FamilySet families)
        : LateScan(growths, grown, std::move(ends), families, Limits{}) {}
    LateScan(std::span<const GrowthCut> growths, TimestampMs grown, std::vector<Offset> ends, partitioners::FamilySet families,
             Limits limits);

    /// True for a record after this growth, and before the next one.
    [[nodiscard]] bool is_within(PartitionIndex partition, Offset offset) const {
        return offset >= begin_of(partition) && offset < end_of(partition);
    }
    /// Reads the partition's records up to `to`. False: the budget is used up, or a record is not decided.
    /// `now`: after the last of these records was written. `homes`: the keys from before the growth; null only if the
    /// partitioners are known.
    bool read(KeyedRecords& records, PartitionIndex partition, Offset to, TimestampMs now, const KeyCuts* homes = nullptr);
    /// Finds the cuts of what was read since the last call.
    void join();

    /// The cuts that `join` has found until now.
    [[nodiscard]] const CutTable& table() const { return table_; }
    /// By partition: behind the last record that is late, or not newer than the last one that is. Partitions without such
    /// records are missing at the end, or 0.
    [[nodiscard]] std::span<const Offset> late_ends() const { return late_ends_; }
    /// False: cuts may be missing, because there was no room, or because records have no timestamp that counts or could not be
    /// read.
    [[nodiscard]] bool is_exact() const { return is_exact_; }

  private:
    struct Record {
        Offset offset;
        TimestampMs time;
    };
    struct Place {
        PartitionIndex partition;
        bool is_late = false;
        /// Records in front of the last two are missing.
        bool has_gap = false;
        std::vector<Record> records;
    };
    struct Key {
        bool has_late = false;
        bool is_dirty = false;
        std::vector<Place> places;
        std::vector<KeyCut> cuts;
    };
    enum class Placed : std::uint8_t { unexplained, late, new_count };

    [[nodiscard]] Offset begin_of(PartitionIndex partition) const { return growths_.back().end_of(partition); }
    [[nodiscard]] Offset end_of(PartitionIndex partition) const;
    [[nodiscard]] Placed placed(PartitionIndex partition, Bytes key, const KeyCuts* homes) const;
    void add(PartitionIndex partition, Offset offset, Bytes key, TimestampMs time, TimestampMs now, Placed by);
    void join(std::uint64_t hash, Key& key);
    void join(std::uint64_t hash, Key& key, const Place& from, const Place& to);
    /// True if records that are missing between those of the places may be part of a cut.
    [[nodiscard]] static bool may_miss(const Place& from, const Place& to);
    void note_late_end(PartitionIndex partition, Offset end);

    std::vector<GrowthCut> growths_;
    TimestampMs grown_;
    std::vector<Offset> ends_;
    partitioners::FamilySet families_;
    Limits limits_;
    /// By partition: where it goes on, and the newest timestamp until there, or `grown_`.
    std::vector<Offset> next_;
    std::vector<TimestampMs> newest_;
    std::unordered_map<std::uint64_t, Key> keys_;
    std::size_t records_ = 0;
    /// Keys with records since the last `join`.
    std::vector<std::uint64_t> dirty_;
    CutTable table_;
    std::vector<Offset> late_ends_;
    TimestampMs last_late_ = kNoTimestamp;
    /// There was no room for some key.
    bool is_full_ = false;
    bool is_exact_ = true;
};

}  // namespace partita::insight
