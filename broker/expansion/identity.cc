#include "broker/expansion/identity.h"

namespace partita::expansion {
namespace {

bool is_loopback(std::string_view address) {
    return address.starts_with("/127.") || address == "/::1" || address == "/0:0:0:0:0:0:0:1";
}

}  // namespace

std::string to_string(const ProcessIdentity& process) {
    return process.name + " (pid " + std::to_string(process.pid) + (process.program.empty() ? "" : ", " + process.program) + ")";
}

std::string to_string(const ConnectionFacts& connection) {
    std::string text = connection.client_id.empty() ? "a client without client.id" : connection.client_id;
    text += " (" + connection.address + ":" + std::to_string(connection.port);
    if (connection.process) {
        text += ", " + to_string(*connection.process);
    } else if (!connection.software_name.empty()) {
        text += ", " + connection.software_name + (connection.software_version.empty() ? "" : " " + connection.software_version);
    }
    return text + ")";
}

std::string_view host_of(std::string_view address) { return is_loopback(address) ? "/127.0.0.1" : address; }

}  // namespace partita::expansion
