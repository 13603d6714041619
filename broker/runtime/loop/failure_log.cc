#include "broker/runtime/loop/failure_log.h"

namespace partita::runtime {

void FailureLog::append_failed(std::string_view reason) {
    if (const auto left_out = limiter_.admit("append failed", clock_.now().monotonic)) {
        log::error("storage", "an append failed; the producer gets KAFKA_STORAGE_ERROR and may retry",
                   {{"reason", reason}, {"lines_left_out", *left_out}});
    }
}

void FailureLog::coordinator_append_failed(std::string_view log_name, std::string_view reason) {
    if (const auto left_out = limiter_.admit("coordinator append failed", clock_.now().monotonic)) {
        log::error("coordinators", "cannot write records; the coordinator restarts from its log",
                   {{"log", log_name}, {"reason", reason}, {"lines_left_out", *left_out}});
    }
}

void FailureLog::accept_failed(std::string_view reason) {
    if (const auto left_out = limiter_.admit("accept failed", clock_.now().monotonic)) {
        log::warning("net", "cannot accept connections for a moment", {{"reason", reason}, {"lines_left_out", *left_out}});
    }
}

void FailureLog::connection_closed(std::string_view client, std::string_view listener, std::string_view reason) {
    const std::string_view kind = reason.substr(0, reason.find_first_of("0123456789"));
    if (const auto left_out = limiter_.admit(kind, clock_.now().monotonic)) {
        log::warning("net", "connection closed",
                     {{"client", client}, {"listener", listener}, {"reason", reason}, {"lines_left_out", *left_out}});
    }
}

void FailureLog::wrong_http_token(std::string_view address) {
    if (const auto left_out = limiter_.admit("wrong HTTP token", clock_.now().monotonic)) {
        log::warning("http", "a client sent a wrong token", {{"client", address}, {"lines_left_out", *left_out}});
    }
}

}  // namespace partita::runtime
