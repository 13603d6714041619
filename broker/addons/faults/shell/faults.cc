#include "broker/addons/faults/shell/faults.h"

#include <algorithm>
#include <utility>

#include "broker/addons/faults/core/answer_change.h"
#include "broker/addons/faults/core/error_response.h"
#include "broker/addons/faults/core/request_names.h"
#include "broker/addons/faults/shell/decoded_request.h"
#include "broker/config/log_setup.h"
#include "broker/handlers/metadata_cluster.h"
#include "broker/handlers/request_context.h"
#include "broker/handlers/services.h"
#include "broker/handlers/shown_nodes.h"
#include "broker/logs/topic_table.h"
#include "protocol/messages/00_produce.h"
#include "protocol/messages/03_metadata.h"
#include "storage/partition_name.h"

namespace partita::faults {
namespace {

using handlers::Passage;

static_assert(Rule::kBytesPerSMax == runtime::SendPace::kBytesPerSMax);

std::string address_of(const runtime::ClientRequest& request) {
    return std::string(request.client.address()) + ":" + std::to_string(request.client.port);
}

/// The client waits for no answer.
bool expects_nothing(const runtime::ClientRequest& request, const void* message) {
    return request.api_key() == ApiKey::produce && message != nullptr && static_cast<const ProduceRequest*>(message)->acks == 0;
}

}  // namespace

std::expected<std::vector<std::string>, std::string> Faults::add(std::vector<Rule> rules, Now now) {
    const MutexLock lock(mutex_);
    auto ids = table_.add(std::move(rules), now);
    note_rules();
    return ids;
}

bool Faults::remove(std::string_view id) {
    const MutexLock lock(mutex_);
    if (!table_.remove(id)) {
        return false;
    }
    let_go(id);
    note_rules();
    return true;
}

void Faults::clear() {
    const MutexLock lock(mutex_);
    for (const FaultTable::Entry& entry : table_.entries()) {
        let_go(entry.rule.id);
    }
    table_.clear();
    note_rules();
}

void Faults::let_go(std::string_view rule) {
    for (auto& [connection, waiting] : waiting_) {
        if (waiting.rule.id == rule) {
            waiting.rule.action = {};
            waiting.until = Instant{};
            waiting.is_held = false;
            runtime::Reactor::end_rest(turns_.reactors(), waiting.target);
        }
    }
}

std::optional<std::size_t> Faults::release(std::string_view id) {
    const MutexLock lock(mutex_);
    if (table_.find(id) == nullptr) {
        return std::nullopt;
    }
    std::size_t released = 0;
    for (auto& [connection, waiting] : waiting_) {
        if (waiting.rule.id == id && waiting.is_held) {
            waiting.is_held = false;
            waiting.until = Instant{};
            runtime::Reactor::end_rest(turns_.reactors(), waiting.target);
            ++released;
        }
    }
    return released;
}

Faults::Status Faults::status_of(const FaultTable::Entry& entry, std::deque<MatchNote> notes) const {
    const auto waits = [&](const auto& waiting) { return waiting.second.rule.id == entry.rule.id; };
    return {.rule = entry.rule,
            .added = entry.added,
            .matched = entry.matched,
            .acted = entry.acted,
            .notes = std::move(notes),
            .waiting = static_cast<std::size_t>(std::ranges::count_if(waiting_, waits))};
}

std::vector<Faults::Status> Faults::list() const {
    const MutexLock lock(mutex_);
    std::vector<Status> all;
    for (const FaultTable::Entry& entry : table_.entries()) {
        all.push_back(status_of(entry, {}));
    }
    return all;
}

std::optional<Faults::Status> Faults::find(std::string_view id) const {
    const MutexLock lock(mutex_);
    const FaultTable::Entry* entry = table_.find(id);
    return entry == nullptr ? std::nullopt : std::optional(status_of(*entry, entry->notes));
}

const Rule* Faults::decide(runtime::RequestContext& request, Now now) {
    RequestNames names;
    std::vector<NamedPartition> partitions;
    bool is_incomplete = false;
    const auto topics = topics_.table();
    if (table_.needs_names(request.api_key(), request.version())) {
        if (const void* message = decoded(request)) {
            names = names_in(*request.api().request, request.version(), message);
            is_incomplete = names_incompletely(request.api_key(), request.version(), message);
        }
        for (const RequestNames::Partition& named : names.partitions) {
            const logs::TopicState* topic = named.topic.empty() ? topics->find(named.topic_id) : nullptr;
            partitions.push_back({topic == nullptr ? named.topic : std::string_view(topic->topic->name), named.partition});
        }
    }
    const std::string principal = request.client.principal_text();
    const std::string software = request.client.software_name();
    const std::string address = address_of(request);
    return table_.decide({.api = request.api_key(),
                          .version = request.version(),
                          .client_id = request.client_id,
                          .software = software,
                          .principal = principal,
                          .listener = request.listener().name,
                          .broker = handlers::asked_node(request).value,
                          .client_address = address,
                          .correlation_id = request.pending().correlation_id,
                          .groups = names.groups,
                          .partitions = partitions,
                          .names_incompletely = is_incomplete},
                         now);
}

Passage Faults::pass(runtime::RequestContext& request) {
    if (!has_rules_.load(std::memory_order_relaxed)) {
        return {};
    }
    Rule rule;
    {
        const MutexLock lock(mutex_);
        // Waits keep the machine's time, whatever people do to the clock.
        const Instant machine_now = request.turn.machine_now();
        auto waiting = waiting_.find(request.client.id);
        if (waiting == waiting_.end()) {
            const Rule* decided = table_.empty() ? nullptr : decide(request, request.now());
            if (decided == nullptr) {
                return {};
            }
            waiting = waiting_
                          .emplace(request.client.id, Waiting{.rule = *decided,
                                                              .until = machine_now + decided->action.delay_ms,
                                                              .target = request.pending().target})
                          .first;
        }
        Waiting& mine = waiting->second;
        // The connection may have moved to another reactor since.
        mine.target = request.pending().target;
        if (mine.until <= machine_now && std::exchange(mine.rule.action.hold, false)) {
            mine.is_held = true;
            mine.until = kNever;
        }
        if (mine.until > machine_now) {
            return {.way = Passage::Way::wait, .until = mine.until};
        }
        rule = std::move(mine.rule);
        waiting_.erase(waiting);
        note_rules();
    }
    return carry_out(rule, request);
}

Passage Faults::carry_out(const Rule& rule, runtime::RequestContext& request) {
    const Action& action = rule.action;
    if (action.drop_request) {
        return {.way = Passage::Way::drop_request};
    }
    if (action.drop_response) {
        return {.way = Passage::Way::drop_response};
    }
    if (action.disconnect) {
        return {.way = Passage::Way::disconnect, .reason = "the rule " + rule.id + " of the test bench ends it"};
    }
    if (action.error) {
        const void* message = decoded(request);
        if (message == nullptr) {
            return {};
        }
        if (expects_nothing(request, message)) {
            // As in Kafka, where the end of the connection is the only sign.
            return action.takes_effect
                       ? Passage{}
                       : Passage{.way = Passage::Way::disconnect,
                                 .reason = "the rule " + rule.id + " of the test bench fails a request that has no answer"};
        }
        void* const response = error_response(request.api(), request.version(), message, *action.error, request.arena());
        if (request.api_key() == ApiKey::metadata) {
            // A client takes an answer without brokers for none at all.
            handlers::tell_cluster(request, *static_cast<MetadataResponse*>(response));
        }
        if (!action.takes_effect) {
            request.reply_with(response);
            return {.way = Passage::Way::answered, .treatment = treatment_of(rule, request)};
        }
        auto treatment = treatment_of(rule, request);
        treatment->change = [refusal = std::make_shared<runtime::Reply>(runtime::encode_reply(
                                 request.pending(), *request.api().response, response))](runtime::Reply& reply) {
            reply.bytes = std::move(refusal->bytes);
            reply.pieces.clear();
            reply.notes = std::move(refusal->notes);
        };
        return {.treatment = std::move(treatment)};
    }
    if (action.throttle_ms > 0) {
        request.throttle(action.throttle_ms);
    }
    return {.treatment = treatment_of(rule, request)};
}

std::unique_ptr<runtime::ReplyTreatment> Faults::treatment_of(const Rule& rule, runtime::RequestContext& request) {
    const Action& action = rule.action;
    const bool is_changed = changes_answer(action);
    if (action.slow_bytes_per_s == 0 && !action.reset_after_bytes && !action.duplicate_response && !action.takes_effect &&
        !is_changed) {
        return nullptr;
    }
    auto treatment = std::make_unique<runtime::ReplyTreatment>();
    if (is_changed) {
        treatment->change = change_of(rule, request);
    }
    treatment->is_sent_twice = action.duplicate_response;
    if (action.slow_bytes_per_s > 0) {
        treatment->pace.emplace(action.slow_bytes_per_s);
    }
    if (action.reset_after_bytes) {
        treatment->reset_after_bytes = static_cast<std::size_t>(*action.reset_after_bytes);
    }
    return treatment;
}

std::function<void(runtime::Reply&)> Faults::change_of(const Rule& rule, runtime::RequestContext& request) {
    AnswerPart part{.topic = rule.match.topic, .topic_id = {}, .partition = rule.match.partition};
    if (const logs::TopicState* topic = part.topic.empty() ? nullptr : topics_.table()->find(part.topic)) {
        part.topic_id = topic->topic->id;
    }
    if (const void* message = decoded(request)) {
        part.is_of_all = names_incompletely(request.api_key(), request.version(), message);
        part.is_by_id = names_ids(request.api_key(), message);
    }
    return [this, rule, part = std::move(part), api = &request.api(), version = request.version(), address = address_of(request),
            correlation_id = request.pending().correlation_id](runtime::Reply& reply) {
        const bool is_whole = runtime::gather(reply, kChangedBytesMax);
        if (!is_whole) {
            log::warning("faults", "cannot change an answer: it is too large, or its log file cannot be read",
                         {{"rule", rule.id}, {"api", api->name}, {"bytes_max", static_cast<std::int64_t>(kChangedBytesMax)}});
        }
        if (!is_whole || !change_answer(*api, version, rule.action, part, reply.bytes)) {
            const MutexLock lock(mutex_);
            table_.take_back(rule.id, address, correlation_id);
        }
    };
}

bool Faults::fails(DiskOperation operation, const std::string& path) {
    if (!has_disk_rules_.load(std::memory_order_relaxed)) {
        return false;
    }
    // "/data/orders-0/00000000000000000000.log", "/data/orders-0" or "/data/recovery-point-offset-checkpoint".
    const auto name_at = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
    const auto folder_at = name_at < 2 ? std::string::npos : path.rfind('/', name_at - 2);
    const auto folder_begin = folder_at == std::string::npos ? 0 : folder_at + 1;
    const std::string_view name = std::string_view(path).substr(name_at);
    const std::string_view folder = std::string_view(path).substr(folder_begin, name_at < 1 ? 0 : name_at - 1 - folder_begin);
    auto partition = parse_directory_name(folder);
    const bool is_inside = partition.has_value();
    if (!is_inside) {
        partition = parse_directory_name(name);
    }
    DiskFacts facts{.operation = operation, .file = is_inside ? std::string_view(path).substr(folder_begin) : name};
    if (partition) {
        facts.topic = partition->first;
        facts.partition = partition->second;
    }
    const MutexLock lock(mutex_);
    return table_.fails(facts, clock_.now());
}

void Faults::closed(const runtime::ClientConnection& client) {
    if (!has_rules_.load(std::memory_order_relaxed)) {
        return;
    }
    const MutexLock lock(mutex_);
    waiting_.erase(client.id);
    note_rules();
}

}  // namespace partita::faults
