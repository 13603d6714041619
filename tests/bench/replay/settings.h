#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace partita::bench {

/// The options of the command line, in one struct for all modes. Each mode reads what it needs; an option that no mode knows is
/// refused.
struct Settings {
    std::string mode;
    std::string topic = "replay";
    int port = 9092;
    int pid = 0;  ///< The process whose processor time is read; 0 for none.
    int partitions = 1;
    int batches_per_request = 1;
    int in_flight = 5;
    int connections = 1;
    int groups = 1000;
    int members = 10;
    int rounds = 10;
    std::size_t record_bytes = 1024;
    std::size_t batch_bytes = 65536;
    std::size_t fetch_bytes = 1 << 20;
    std::uint64_t megabytes = 1000;
    std::uint64_t requests = 0;  ///< Takes the place of megabytes when above 0.
    std::uint64_t touch_megabytes = 0;
    std::uint64_t rate_per_s = 1000;
    double seconds = 10;
    double warmup_seconds = 2;
    bool keyed = false;
    bool idempotent = false;
    bool transactional = false;
    std::uint64_t transaction_bytes = 1'000'000;  ///< Bytes of records in each transaction.
    /// Sends plain records in the rhythm of transactions: after each `transaction_bytes` it waits for all answers, then sends one
    /// small request and waits for its answer. This measures the cost of transactions in any broker.
    bool transaction_rhythm = false;
    bool read_committed = false;
    bool bursts = false;  ///< Nothing is sent before all that is in flight was answered.
};

/// Ends the process with 1 and a line that says why.
[[noreturn]] void give_up(const std::string& message);

[[nodiscard]] Settings parse_settings(int count, char** values);

}  // namespace partita::bench
