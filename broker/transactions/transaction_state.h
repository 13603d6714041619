#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace partita::transactions {

/// The states of a transactional id. The numbers are those in the records of `__transaction_state`.
///
/// No client ever sees the last two. An id that expires goes at once (`dead`). Fencing an epoch and aborting its open transaction
/// are one step here (`prepare_epoch_fence`), because a core never waits for its log. They have names because clients may ask for
/// them.
enum class TransactionState : std::int8_t {
    empty = 0,
    ongoing = 1,
    prepare_commit = 2,
    prepare_abort = 3,
    complete_commit = 4,
    complete_abort = 5,
    dead = 6,
    prepare_epoch_fence = 7,
};

/// Kafka's name, for example "PrepareCommit".
[[nodiscard]] std::string_view state_name(TransactionState state);
/// Null if no state has the name. Case matters.
[[nodiscard]] std::optional<TransactionState> state_named(std::string_view name);
/// Null if no state has the number.
[[nodiscard]] std::optional<TransactionState> state_numbered(std::int8_t number);

/// The table of valid predecessors: true if an id may change from `previous` to `state`.
[[nodiscard]] bool may_follow(TransactionState state, TransactionState previous);

/// The end of the transaction is decided, and markers may still be owed.
[[nodiscard]] constexpr bool is_ending(TransactionState state) {
    return state == TransactionState::prepare_commit || state == TransactionState::prepare_abort;
}

}  // namespace partita::transactions
