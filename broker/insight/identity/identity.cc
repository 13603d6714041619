#include "broker/insight/identity/identity.h"

namespace partita::insight {
namespace {

constexpr std::string_view kLocalhost = "/127.0.0.1";

bool is_loopback(std::string_view host) { return host.starts_with("/127."); }

}  // namespace

std::string to_string(const ProcessIdentity& process) {
    return process.name + " (pid " + std::to_string(process.pid) + (process.program.empty() ? "" : ", " + process.program) + ")";
}

std::string to_string(const ConnectionFacts& connection) {
    std::string text = connection.client_id.empty() ? "a client without client.id" : connection.client_id;
    text += " (" + (connection.principal.empty() ? "" : connection.principal + ", ") + connection.address + ":" +
            std::to_string(connection.port);
    if (connection.process) {
        text += ", " + to_string(*connection.process);
    } else if (!connection.software_name.empty()) {
        text += ", " + connection.software_name + (connection.software_version.empty() ? "" : " " + connection.software_version);
    }
    return text + ")";
}

std::string_view host_of(std::string_view address) {
    return address == "/::1" || address == "/0:0:0:0:0:0:0:1" ? kLocalhost : address;
}

bool may_be_one_host(std::string_view one, std::string_view other) {
    return host_of(one) == host_of(other) || (is_loopback(host_of(one)) && is_loopback(host_of(other)));
}

}  // namespace partita::insight
