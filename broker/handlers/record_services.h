#pragma once

namespace partita::config {
class CurrentConfig;
}

namespace partita::logs {
class Appender;
class Placement;
class Reader;
class Turns;
}  // namespace partita::logs

namespace partita::runtime {

class ClientFetchSessions;

/// The parts of the broker that records pass on their way in and out: all parts that Produce and Fetch use.
struct RecordServices {
    logs::Appender& appender;
    logs::Reader& reader;
    logs::Turns& turns;
    const logs::Placement& placement;
    ClientFetchSessions& fetch_sessions;
    const config::CurrentConfig& config;
};

}  // namespace partita::runtime
