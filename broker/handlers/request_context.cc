#include "broker/handlers/request_context.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>

#include "broker/config/log_setup.h"
#include "broker/handlers/access_audit.h"
#include "broker/handlers/services.h"
#include "broker/logs/turn.h"
#include "broker/runtime/clients/client_throttles.h"
#include "broker/runtime/clients/error_ring.h"
#include "broker/runtime/loop/reply_memory.h"
#include "broker/runtime/loop/reply_notes.h"
#include "protocol/assert.h"
#include "protocol/codec.h"
#include "protocol/found_errors.h"
#include "protocol/message_line.h"
#include "protocol/request_header.h"
#include "schedule/clock.h"

namespace partita::runtime {

RequestContext::RequestContext(const Services& services, logs::Turn& turn, ClientConnection& client, KafkaCall pending,
                               std::string_view client_id, MutableBytes body)
    : ClientRequest({services.clock, services.throttles, services.authorizer}, turn, client, std::move(pending), client_id, body),
      services(services),
      all_services_(services) {}

Arena& ClientRequest::arena() { return turn.arena(); }

Now ClientRequest::now() const { return turn.now(); }

QuotaClient ClientRequest::quota_client() const { return {.user = principal().name(), .client_id = client_id}; }

namespace {

/// False for requests whose text would show a secret: passwords, tokens, and configs that may contain either.
bool may_be_shown(ApiKey key) {
    constexpr ApiKey kSecret[] = {ApiKey::sasl_authenticate,           ApiKey::alter_configs,
                                  ApiKey::incremental_alter_configs,   ApiKey::create_delegation_token,
                                  ApiKey::renew_delegation_token,      ApiKey::expire_delegation_token,
                                  ApiKey::alter_user_scram_credentials};
    return std::ranges::find(kSecret, key) == std::end(kSecret);
}

/// The name of the group or transaction in the request. Later replies do not contain it.
std::string_view subject_of(const Schema& schema, const void* request) {
    for (const Field& field : schema.fields) {
        if (field.kind == Kind::string && !field.is_array && (field.name == "GroupId" || field.name == "TransactionalId")) {
            std::string_view subject;
            std::memcpy(&subject, static_cast<const std::byte*>(request) + field.offset, sizeof subject);
            return subject;
        }
    }
    return {};
}

}  // namespace

void* ClientRequest::decode_as(const Schema& schema) {
    void* message = arena().allocate_unlimited(schema.size, schema.alignment);
    if (local_request_ != nullptr) {
        std::memcpy(message, local_request_, schema.size);
        return message;
    }
    const auto consumed = partita::decode(schema, body, version(), arena(), message);
    if (!consumed) {
        close_connection("malformed " + std::string(schema.name) + " v" + std::to_string(version()) + ": " +
                         std::string(to_string(consumed.error().failure)) + " at byte " +
                         std::to_string(consumed.error().position) + " " + std::string(consumed.error().field));
        return nullptr;
    }
    decoded_schema_ = &schema;
    decoded_ = message;
    return message;
}

void ClientRequest::measure_latency() { pending_.started_ns = parts.clock.stopwatch_ns(); }

void ClientRequest::reply_as(const Schema& schema, const void* response) {
    PARTITA_ASSERT(outcome_ == Outcome::none, "a request is answered once");
    outcome_ = Outcome::replied;
    charge_time();
    if (local_answer_) {
        // Write the audit first: the receiver of the answer may serve another request, which has its own audit.
        handlers::write_access_audit(*this);
        local_answer_(response);
        return;
    }
    reply_ = encode_reply(pending_, schema, response);
    if (reply_.notes && reply_.notes->errors.count > 0) {
        reply_.notes->client_id = client_id;
        if (decoded_ != nullptr && may_be_shown(api_key())) {
            reply_.notes->request = to_short_line(*decoded_schema_, decoded_, pending_.api_version, ErrorRing::kRequestBytesMax);
        }
    }
}

void ClientRequest::throttle(std::int64_t duration_ms) {
    const std::int64_t most = std::max<std::int64_t>(pending_.throttle_ms, duration_ms);
    pending_.throttle_ms = static_cast<std::int32_t>(std::min<std::int64_t>(most, std::numeric_limits<std::int32_t>::max()));
}

void ClientRequest::measure_time() { started_ns_ = parts.clock.stopwatch_ns(); }

void ClientRequest::charge_time() {
    if (!started_ns_) {
        return;
    }
    const double percent_of_a_second = static_cast<double>(parts.clock.stopwatch_ns() - *started_ns_) / 1e7;
    throttle(parts.throttles.use(Throttled::request_time, quota_client(), percent_of_a_second, now()));
}

void ClientRequest::close_connection(std::string_view reason) {
    PARTITA_ASSERT(outcome_ == Outcome::none, "a request is answered once");
    outcome_ = Outcome::closed;
    close_reason_ = reason;
}

/// Produce and Fetch need no subject: their replies name the topics of an error.
void ClientRequest::remember_subject() {
    if (api_key() != ApiKey::produce && api_key() != ApiKey::fetch && decoded_ != nullptr) {
        if (const std::string_view subject = subject_of(*decoded_schema_, decoded_); !subject.empty()) {
            pending_.subject = std::make_shared<const std::string>(subject);
        }
    }
}

KafkaCall ClientRequest::defer() {
    PARTITA_ASSERT(outcome_ == Outcome::none, "a request is answered once");
    outcome_ = Outcome::deferred;
    remember_subject();
    charge_time();
    return pending_;
}

KafkaCall ClientRequest::park() {
    PARTITA_ASSERT(outcome_ == Outcome::none, "a request is answered once");
    outcome_ = Outcome::parked;
    remember_subject();
    charge_time();
    return pending_;
}

namespace {

/// A copy of `response` that tells the client to wait, if its version has the field.
const void* throttled_copy(const KafkaCall& pending, const Schema& schema, const void* response) {
    const auto field = std::ranges::find(schema.fields, std::string_view("ThrottleTimeMs"), &Field::name);
    if (field == schema.fields.end() || !field->versions.contains(pending.api_version)) {
        return response;
    }
    // Messages are trivially copyable views.
    thread_local std::vector<std::max_align_t> copy;
    copy.resize(schema.size / sizeof(std::max_align_t) + 1);
    std::memcpy(copy.data(), response, schema.size);
    std::memcpy(reinterpret_cast<std::byte*>(copy.data()) + field->offset, &pending.throttle_ms, sizeof pending.throttle_ms);
    return copy.data();
}

}  // namespace

Reply encode_reply(const KafkaCall& pending, const Schema& schema, const void* response, std::span<FileSlice> slices) {
    if (pending.throttle_ms > 0) {
        response = throttled_copy(pending, schema, response);
    }
    Reply reply;
    reply.rest_ms = pending.throttle_ms;
    if (pending.started_ns != 0 || has_error(*pending.api, response, pending.api_version)) {
        reply.notes.reset(new ReplyNotes{.api = pending.api,
                                         .version = pending.api_version,
                                         .errors = find_errors(*pending.api, response, pending.api_version),
                                         .request = {},
                                         .client_id = {},
                                         .subject = pending.subject ? *pending.subject : std::string(),
                                         .started_ns = pending.started_ns});
    }
    reply.bytes = take_reply_buffer();
    reply.bytes.append_big_endian(std::int32_t{0});
    append_response_header(*pending.api, pending.api_version, pending.correlation_id, reply.bytes);
    thread_local std::vector<SplitPoint> splits;
    splits.clear();
    const std::size_t header_bytes = reply.bytes.size();
    const auto size = encode(schema, response, pending.api_version, reply.bytes, slices.empty() ? nullptr : &splits);
    if (!size) {
        // A handler set a field that this version cannot carry. This is our bug, but no reason to disconnect other clients.
        log::error("net", "cannot encode a reply; the connection is closed",
                   {{"message", schema.name},
                    {"version", pending.api_version},
                    {"field", size.error().field},
                    {"reason", to_string(size.error().failure)}});
        recycle_reply_buffer(std::move(reply.bytes));
        Reply failed;
        failed.close = true;
        return failed;
    }
    reply.bytes.patch_big_endian(0, static_cast<std::int32_t>(header_bytes - 4 + size->total()));
    if (!splits.empty()) {
        reply.pieces = take_reply_pieces();
    }
    for (const SplitPoint& split : splits) {
        FileSlice& slice = slices[static_cast<std::size_t>(split.external_index)];
        reply.pieces.push_back({.position = split.position, .slice = std::move(slice)});
    }
    return reply;
}

}  // namespace partita::runtime
