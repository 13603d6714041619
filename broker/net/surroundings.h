#pragma once

#include <string_view>

#include "broker/runtime/clients/client_connection.h"

namespace partita {
class Clock;
class OpenFiles;
}  // namespace partita

namespace partita::config {
class CurrentConfig;
}

namespace partita::logs {
class Turns;
}

namespace partita::runtime {
class ClientThrottles;
class Connections;
class FailureLog;
class RequestWatch;
struct Counters;
}  // namespace partita::runtime

namespace partita::net {

/// The parts of the running broker that listeners and connections use, in any protocol. All outlive the server.
struct Surroundings {
    config::CurrentConfig& config;
    logs::Turns& turns;
    runtime::Connections& connections;
    runtime::ClientThrottles& throttles;
    runtime::RequestWatch& requests;
    OpenFiles& open_files;
    Clock& clock;
    runtime::Counters& counters;
    runtime::FailureLog& failures;
};

/// Counts a connection that the broker closes because of its client's behaviour, and writes a log line (FailureLog).
void log_closed_connection(const Surroundings& surroundings, const runtime::ClientConnection& client, std::string_view reason);

}  // namespace partita::net
