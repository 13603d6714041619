#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace partita::transactions {

/// The states of a transactional id. The numbers are those in the records of `__transaction_state`.
///
/// Nobody is ever seen in the last two: an id that expires goes at once (`dead`), and fencing an epoch and aborting what was
/// open under it are one step here (`prepare_epoch_fence`), because a core never waits for its log. They are named since clients
/// may ask for them.
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
/// Empty when no state has the name. Letters count as they are.
[[nodiscard]] std::optional<TransactionState> state_named(std::string_view name);
/// Empty when no state has the number.
[[nodiscard]] std::optional<TransactionState> state_numbered(std::int8_t number);

/// The table of valid predecessors: whether an id may come to be in `state` out of `previous`.
[[nodiscard]] bool may_follow(TransactionState state, TransactionState previous);

/// It was decided how the transaction ends, and markers may still be owed.
[[nodiscard]] constexpr bool is_ending(TransactionState state) {
    return state == TransactionState::prepare_commit || state == TransactionState::prepare_abort;
}

}  // namespace partita::transactions
