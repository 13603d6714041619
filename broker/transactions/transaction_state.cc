#include "broker/transactions/transaction_state.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace partita::transactions {
namespace {

constexpr std::uint8_t bit(TransactionState state) { return static_cast<std::uint8_t>(1U << static_cast<unsigned>(state)); }

template <class... States>
constexpr std::uint8_t any_of(States... states) {
    return static_cast<std::uint8_t>((bit(states) | ...));
}

struct Row {
    std::string_view name;
    std::uint8_t predecessors;
};

using enum TransactionState;

/// In the order of the states. Transactions of version 2 (KIP-890) allow an abort of a transaction that never began: such a
/// client aborts without knowing whether the broker had added a partition.
constexpr std::array<Row, 8> kRows{{
    {"Empty", any_of(empty, complete_commit, complete_abort)},
    {"Ongoing", any_of(ongoing, empty, complete_commit, complete_abort)},
    {"PrepareCommit", any_of(ongoing)},
    {"PrepareAbort", any_of(ongoing, prepare_epoch_fence, empty, complete_commit, complete_abort)},
    {"CompleteCommit", any_of(prepare_commit)},
    {"CompleteAbort", any_of(prepare_abort)},
    {"Dead", any_of(empty, complete_commit, complete_abort)},
    {"PrepareEpochFence", any_of(ongoing)},
}};

constexpr const Row& row_of(TransactionState state) { return kRows[static_cast<std::size_t>(state)]; }

}  // namespace

std::string_view state_name(TransactionState state) { return row_of(state).name; }

std::optional<TransactionState> state_named(std::string_view name) {
    const auto* const found = std::ranges::find(kRows, name, &Row::name);
    if (found == kRows.end()) {
        return std::nullopt;
    }
    return static_cast<TransactionState>(found - kRows.begin());
}

std::optional<TransactionState> state_numbered(std::int8_t number) {
    if (number < 0 || static_cast<std::size_t>(number) >= kRows.size()) {
        return std::nullopt;
    }
    return static_cast<TransactionState>(number);
}

bool may_follow(TransactionState state, TransactionState previous) { return (row_of(state).predecessors & bit(previous)) != 0; }

}  // namespace partita::transactions
