#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "broker/insight/keys/key_table.h"
#include "broker/insight/keys/placement_evidence.h"
#include "broker/insight/order/key_cuts.h"
#include "broker/insight/order/keyed_records.h"
#include "broker/insight/order/moved_records.h"
#include "protocol/types.h"

namespace partita::insight {

/// The counts of a topic at a growth, and where its logs ended then.
struct GrowthCut {
    std::int32_t old_count = 0;
    std::int32_t new_count = 0;
    /// By old partition.
    std::vector<Offset> ends;

    [[nodiscard]] Offset end_of(PartitionIndex partition) const {
        const auto index = static_cast<std::size_t>(partition.value);
        return index < ends.size() ? ends[index] : Offset{0};
    }
    /// True for a record from before the growth.
    [[nodiscard]] bool is_before(PartitionIndex partition, Offset offset) const {
        return partition.value < old_count && offset < end_of(partition);
    }
};

/// Reads the records of a topic that has grown, as far as a caller needs them, and keeps what they tell: the cuts of keys, and
/// which records from before the growth have keys that move. Pure: records come in through `KeyedRecords`, part by part.
///
/// It finds the partitioner by itself, from the keys of the records from before the growth. Records with an empty key count as
/// records without a key, because clients place them by rules of their own.
class GrowthScan {
  public:
    /// Keys by which it finds the partitioner.
    static constexpr std::size_t kEvidenceKeysMax = 4096;
    /// Most offsets of all partitions for which it keeps whether their records move: 32 MiB.
    static constexpr std::int64_t kMovedOffsetsMax = std::int64_t{256} << 20;
    /// It judges for the first time after this many records with keys, then after twice as many, and so on.
    static constexpr std::int64_t kFirstJudgement = 1000;

    /// `growths`: this growth and all before it, ascending. `from`: where it begins to read, by old partition. `families`: the
    /// partitioners that producers are known to use; the records decide if they can.
    GrowthScan(std::span<const GrowthCut> growths, std::vector<Offset> from, partitioners::FamilySet families,
               std::size_t keys_max = KeyCuts::kKeysMax);

    /// Where it began to read.
    [[nodiscard]] Offset from(PartitionIndex partition) const;
    /// Reads all records from before the growth that it has not read. False: the budget is used up, or a record is not decided.
    bool read_before(KeyedRecords& records);
    /// Reads the records after the growth up to `to`, likewise. Call it only after `read_before` has returned true.
    bool read_after(KeyedRecords& records, PartitionIndex partition, Offset to);
    [[nodiscard]] bool has_read_before() const { return has_read_before_; }

    /// True if keys decide partitions, as far as it has read: neither are there no keys, nor do producers ignore them.
    [[nodiscard]] bool do_keys_count() const;
    /// Records from before the growth, from this offset on, whose keys move to another partition. Null while that is not known:
    /// it has not read everything, or cannot tell the partitioner.
    [[nodiscard]] std::optional<std::int64_t> moved_from(PartitionIndex partition, Offset offset) const;
    /// False: a number from `moved_from` may be too low.
    [[nodiscard]] bool has_all_moved() const;
    /// Empty if keys do not decide partitions.
    [[nodiscard]] const KeyCuts& cuts() const { return cuts_; }
    /// The partitioner by which it judges; null if it knows none.
    [[nodiscard]] std::optional<partitioners::Family> family() const { return family_; }
    /// After the growth, a producer placed a record by an earlier count, among those that it has read.
    [[nodiscard]] bool has_late() const { return has_late_ || cuts_.has_late(); }
    /// Some records could not be read.
    [[nodiscard]] bool is_complete() const { return is_complete_; }

  private:
    static constexpr KeyTable::Limits kEvidenceLimits{.keys_max = kEvidenceKeysMax, .more_placements_max = kEvidenceKeysMax};

    void add_before(PartitionIndex partition, Offset offset, Bytes key);
    /// Judges the keys that it has seen. A partitioner that was not known before makes it read from the beginning.
    void judge();
    /// The partitioner that explains the keys if producers may have placed each by the count of its time or by an earlier one.
    /// Null without such a partitioner. A producer uses an earlier count while it has not learned of a growth.
    [[nodiscard]] std::optional<partitioners::Family> family_by_any_count(std::span<const std::int32_t> counts) const;
    /// The epoch in which the record was written.
    [[nodiscard]] std::int32_t epoch_of(PartitionIndex partition, Offset offset) const;
    /// The epoch with the count by which the partitioner, if it is known, puts the key into the partition.
    [[nodiscard]] std::int32_t explained_epoch(PartitionIndex partition, Bytes key, std::int32_t written) const;
    void note_if_late(PartitionIndex partition, Bytes key);
    void begin();

    std::vector<GrowthCut> growths_;
    std::vector<Offset> from_;
    const std::size_t keys_max_;
    KeyTable keys_{kEvidenceLimits};
    PlacementEvidence evidence_;
    partitioners::FamilySet known_families_;
    std::optional<partitioners::Family> family_;
    std::int64_t keyed_records_ = 0;
    std::int64_t next_judgement_ = kFirstJudgement;
    /// The keys of all records were added to `keys_`: a second reading adds none.
    bool has_evidence_ = false;
    bool is_judged_ = false;
    bool restarts_ = false;
    bool has_read_before_ = false;
    bool has_late_ = false;
    bool is_complete_ = true;
    /// By partition: where it goes on, before and after the growth.
    std::vector<Offset> next_before_;
    std::vector<Offset> next_after_;
    std::vector<MovedRecords> moved_;
    KeyCuts cuts_;
};

}  // namespace partita::insight
