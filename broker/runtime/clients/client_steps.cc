#include "broker/runtime/clients/client_steps.h"

#include <algorithm>

#include "broker/logs/turn.h"
#include "broker/runtime/clients/client_connection.h"
#include "broker/runtime/clients/client_throttles.h"

namespace partita::runtime {
namespace {

/// The bytes that an answer counts against quotas: its records, and about the size of the fields around them.
std::int64_t answer_bytes(const logs::ReadRequest& request) {
    constexpr std::int64_t kAroundTheAnswer = 20;
    constexpr std::int64_t kAroundAPartition = 60;
    const auto with_records =
        std::ranges::count_if(request.results(), [](const logs::ReadResult& result) { return result.slice.size > 0; });
    return request.total_bytes() + kAroundTheAnswer + kAroundAPartition * with_records;
}

}  // namespace

void keep_client(logs::ReadRequest& request) {
    const logs::Client& client = request.client();
    if (!request.kept_client) {
        request.kept_client = {.principal = client.connection->session.principal,
                               .client_id = std::string(client.client_id),
                               .address = client.connection->host,
                               .connection = client.connection->id.value};
    }
}

void ProducerQuota::settle(logs::AppendRequest& request, logs::Turn& turn) {
    const logs::Client& client = request.client;
    request.wait(throttles_.use(Throttled::produced_bytes,
                                {.user = client.connection->session.principal->name(), .client_id = client.client_id},
                                static_cast<double>(request.request_bytes), turn.now()));
}

void ConsumerQuota::admit(logs::ReadRequest& request, logs::Turn&) {
    keep_client(request);
    // A larger answer would certainly make the client wait.
    request.lower_max_bytes(throttles_.most_bytes_at_once(
        Throttled::fetched_bytes, {.user = request.kept_client->principal->name(), .client_id = request.kept_client->client_id}));
}

bool ConsumerQuota::settle(logs::ReadRequest& request, logs::Turn& turn) {
    // A quota that was set while the client waited applies from its next request on.
    if (!request.kept_client) {
        return true;
    }
    request.wait(throttles_.use_or_leave(
        Throttled::fetched_bytes, {.user = request.kept_client->principal->name(), .client_id = request.kept_client->client_id},
        static_cast<double>(answer_bytes(request)), turn.now()));
    return request.wait_ms() == 0;
}

void AppendUsage::tell(const logs::AppendRequest& request, logs::Turn&) {
    request.client.usage->produced_bytes.fetch_add(request.written_bytes, std::memory_order_relaxed);
}

void ReadUsage::tell(const logs::ReadRequest& request, logs::Turn&) {
    request.client().usage->fetched_bytes.fetch_add(static_cast<std::uint64_t>(request.total_bytes()), std::memory_order_relaxed);
}

}  // namespace partita::runtime
