#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/types.h"

/// Computes how a change of a topic's partition count from N to M moves its keys: pure arithmetic.
///
/// It holds for every partitioner that takes a hash modulo the partition count (the default of all common clients), with hashes
/// spread evenly: a key's partition is h mod N before and h mod M after. With g = gcd(N, M), h mod N and h mod M agree for N of
/// the lcm(N, M) residues, hence the formulas. Records weigh as their keys do: with hot keys the share of records differs.
namespace partita::insight {

/// An exact share: numerator / denominator, in lowest terms.
struct Share {
    std::int64_t numerator = 0;
    std::int64_t denominator = 1;

    [[nodiscard]] double value() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
    friend bool operator==(const Share&, const Share&) = default;
};

/// "50 %", "33.3 %", "0.4 %": at most one decimal. The text never rounds another share to 0 or 100.
[[nodiscard]] std::string to_percent(const Share& share);

/// An expansion from N to M partitions. 1 <= N < M; other values are an error of the caller.
class Lineage {
  public:
    Lineage(std::int32_t old_count, std::int32_t new_count);

    [[nodiscard]] std::int32_t old_count() const { return old_count_; }
    [[nodiscard]] std::int32_t new_count() const { return new_count_; }
    /// The greatest common divisor g = gcd(N, M).
    [[nodiscard]] std::int32_t common_divisor() const { return common_divisor_; }
    /// N divides M: no key moves between old partitions, and each new one has one parent.
    [[nodiscard]] bool is_multiple() const { return common_divisor_ == old_count_; }

    /// Keys that keep their partition: g / M.
    [[nodiscard]] Share stay_share() const;
    /// Keys that change it: 1 - g / M.
    [[nodiscard]] Share moved_share() const;
    /// Keys that go to a new partition: (M - N) / M, which is the least that any even spread must move.
    [[nodiscard]] Share old_to_new_share() const;
    /// Keys that go from one old partition to another: (N - g) / M. These moves put order at risk and balance nothing.
    [[nodiscard]] Share old_to_old_share() const;

    /// Old partitions whose keys may be found in `partition` after the expansion, ascending: all p with p = partition
    /// mod g. There are N / g of them; an old partition is one of its own parents.
    [[nodiscard]] std::vector<PartitionIndex> parents(PartitionIndex partition) const;
    /// Partitions in which keys of the old `partition` may be found after the expansion, ascending. There are M / g of
    /// them.
    [[nodiscard]] std::vector<PartitionIndex> children(PartitionIndex partition) const;

  private:
    std::int32_t old_count_;
    std::int32_t new_count_;
    std::int32_t common_divisor_;
};

/// Better counts than M: the multiples of N next to M, ascending. These are the greatest one below M (if greater than N) and the
/// smallest one above it. Empty if N divides M. Multiples that do not fit into 32 bits are left out.
[[nodiscard]] std::vector<std::int32_t> better_targets(std::int32_t old_count, std::int32_t new_count);

/// The nearest of `better_targets`; of two equally near targets the greater, since a count never shrinks.
[[nodiscard]] std::optional<std::int32_t> nearest_better_target(std::int32_t old_count, std::int32_t new_count);

/// The document that warnings refer their readers to.
inline constexpr std::string_view kExpansionGuide = "docs/expansion.md";

/// A group that has not read everything from before a growth.
struct UnreadAtGrowth {
    std::string group;
    std::int64_t offsets = 0;
};
/// One line for the log at the expansion of a keyed topic: N, M, the share of keys that move, the avoidable part of it and the
/// count that would avoid it; what is in danger now; and where to read more.
[[nodiscard]] std::string expansion_warning(std::string_view topic, std::int32_t old_count, std::int32_t new_count,
                                            std::span<const UnreadAtGrowth> unread);

}  // namespace partita::insight
