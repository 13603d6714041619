#include "broker/http/kafka_errors.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace partita::http {
namespace {

/// The statuses of codes that are not the fault of the request's form. All other codes mean 400.
constexpr std::array<std::pair<ErrorCode, Status>, 14> kStatuses = {{
    {ErrorCode::unknown_topic_or_partition, Status::not_found},
    {ErrorCode::group_id_not_found, Status::not_found},
    {ErrorCode::topic_authorization_failed, Status::forbidden},
    {ErrorCode::group_authorization_failed, Status::forbidden},
    {ErrorCode::cluster_authorization_failed, Status::forbidden},
    {ErrorCode::topic_already_exists, Status::conflict},
    {ErrorCode::non_empty_group, Status::conflict},
    {ErrorCode::unknown_member_id, Status::conflict},
    {ErrorCode::coordinator_load_in_progress, Status::unavailable},
    {ErrorCode::coordinator_not_available, Status::unavailable},
    {ErrorCode::not_coordinator, Status::unavailable},
    {ErrorCode::request_timed_out, Status::unavailable},
    {ErrorCode::unknown_server_error, Status::internal_error},
    {ErrorCode::kafka_storage_error, Status::internal_error},
}};

Status status_of(ErrorCode code) {
    const auto* const found = std::ranges::find(kStatuses, code, &std::pair<ErrorCode, Status>::first);
    return found == kStatuses.end() ? Status::bad_request : found->second;
}

}  // namespace

void respond_kafka_error(Exchange& exchange, ErrorCode code, std::string_view message) {
    const nlohmann::ordered_json body{{"error", message.empty() ? error_message(code) : message}, {"code", error_name(code)}};
    exchange.respond(status_of(code), kJson, body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace partita::http
