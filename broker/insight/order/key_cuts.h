#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "broker/insight/order/cut_table.h"
#include "protocol/types.h"

/// Which keys a growth took from one partition to another, and where exactly. Pure; one caller at a time.
namespace partita::insight {

/// The cuts of one growth. A key that it took to another partition has a cut from its last record there from before the growth to
/// its first record here from after it, because records within a partition are read in their order. The caller first passes the
/// records from before the growth, then those from after it, for as long as they come: each partition's in the order of their
/// offsets; the order between partitions does not matter.
///
/// A key that producers scatter over partitions has no cuts: its records were in no order before the growth either.
///
/// A key from before the growth costs about 160 bytes, a key that only came after it costs nothing. Beyond `kKeysMax` keys the
/// table keeps a sample, uniform over keys: facts about a kept key stay exact, and `sampling` says of how many keys one was kept.
class KeyCuts {
  public:
    static constexpr std::size_t kKeysMax = 250'000;
    /// Most partitions that one key is known to have been in before the growth. The newest ones count.
    static constexpr std::size_t kPlacesMax = 4;
    /// The epoch of a record that no count explains.
    static constexpr std::int32_t kUnexplained = -1;

    /// `keys_max` is at least 2.
    explicit KeyCuts(std::size_t keys_max = kKeysMax);

    /// A record with a key from before the growth. `epoch` stands for the partition count by which the producer placed it: a key
    /// may be in two partitions because of an earlier growth, but with one count it is in one. Not allowed after the first
    /// `add_after`.
    void add_before(PartitionIndex partition, Offset offset, std::uint64_t key_hash, std::int32_t epoch = 0);
    /// A record with a key from after the growth.
    void add_after(PartitionIndex partition, Offset offset, std::uint64_t key_hash);

    /// A key has several cuts if producers scatter it after the growth.
    [[nodiscard]] const CutTable& table() const { return table_; }

    /// Where a key was before the growth, as far as it is known.
    enum class Home : std::uint8_t { unknown, here, elsewhere };
    [[nodiscard]] Home home(PartitionIndex partition, std::uint64_t key_hash) const;
    /// After the growth some key had records in a partition from before it, and in another one.
    [[nodiscard]] bool has_late() const { return has_late_; }

    /// False: there was no room for some cuts.
    [[nodiscard]] bool has_all_cuts() const { return !has_no_room_; }
    /// Distinct keys from before the growth that the table keeps.
    [[nodiscard]] std::size_t kept_keys() const { return keys_.size(); }
    /// The table keeps about one of this many keys; 1 while it has all of them.
    [[nodiscard]] std::int64_t sampling() const { return std::int64_t{1} << halvings_; }

  private:
    struct Place {
        PartitionIndex partition;
        Offset last;
        std::int32_t epoch = 0;
    };
    struct Key {
        bool is_scattered = false;
        /// The newest place last.
        std::vector<Place> places;
        /// Partitions in which a record from after the growth was seen.
        std::vector<PartitionIndex> after;
    };

    [[nodiscard]] bool is_sampled(std::uint64_t hash) const { return halvings_ == 0 || hash >> (64 - halvings_) == 0; }
    void halve();

    std::size_t keys_max_;
    std::unordered_map<std::uint64_t, Key> keys_;
    int halvings_ = 0;
    bool is_after_ = false;
    bool has_no_room_ = false;
    bool has_late_ = false;
    CutTable table_;
};

}  // namespace partita::insight
