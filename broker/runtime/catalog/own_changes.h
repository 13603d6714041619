#pragma once

#include <functional>
#include <string_view>

namespace partita::logs {
class Turn;
class Turns;
}  // namespace partita::logs

namespace partita::runtime {

class Catalog;
class FailureLog;
class UpkeepBell;

/// Changes that the broker makes on its own, without a client's request. They always run in a turn of the first reactor, where
/// topics are created and waiting fetches are woken.
class OwnChanges {
  public:
    OwnChanges(logs::Turns& turns, Catalog& catalog, UpkeepBell& upkeep, FailureLog& failures)
        : turns_(turns), catalog_(catalog), upkeep_(upkeep), failures_(failures) {}

    /// Runs in a turn of the first reactor. False if something could not be written.
    using Change = std::function<bool(logs::Turn& turn, Catalog& catalog)>;
    /// Runs `change` in the next turn; any thread may call this. If the change fails, the log says `failure`, a literal. A posted
    /// change is dropped if the reactor no longer runs.
    void post(std::string_view failure, Change change);

  private:
    logs::Turns& turns_;
    Catalog& catalog_;
    UpkeepBell& upkeep_;
    FailureLog& failures_;
};

}  // namespace partita::runtime
