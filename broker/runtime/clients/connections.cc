#include "broker/runtime/clients/connections.h"

#include <algorithm>
#include <utility>

#include "broker/runtime/clients/client_connection.h"
#include "schedule/movable_time.h"

namespace partita::runtime {

using insight::ConnectionFacts;
using insight::ConnectionId;

Connections::Connections(const Schedule& schedule) : schedule_(machine_schedule(schedule)) {}

Connections::~Connections() { stop(); }

void Connections::stop() {
    std::unique_ptr<Worker> ended;
    {
        const MutexLock lock(mutex_);
        stopping_ = true;
        ended.swap(worker_);
    }
}

std::shared_ptr<const ClientSoftware> Connections::software(std::string_view name, std::string_view version) {
    const MutexLock lock(mutex_);
    std::erase_if(software_, [](const std::weak_ptr<const ClientSoftware>& known) { return known.expired(); });
    for (const std::weak_ptr<const ClientSoftware>& known : software_) {
        if (auto shared = known.lock(); shared && shared->name == name && shared->version == version) {
            return shared;
        }
    }
    auto fresh = std::make_shared<const ClientSoftware>(ClientSoftware{std::string(name), std::string(version)});
    if (software_.size() < kSoftwareMax) {
        software_.push_back(fresh);
    }
    return fresh;
}

void Connections::note_locked(const ClientConnection& client, std::string_view client_id) {
    if (client.id == insight::kNoConnection || known_.contains(client.id)) {
        return;
    }
    if (known_.size() == kKnownMax) {
        has_left_out_ = true;
        return;
    }
    Known known{.facts = {.id = client.id,
                          .client_id = std::string(client_id),
                          .address = client.host,
                          .port = client.port,
                          .software_name = client.software_name(),
                          .software_version = client.software_version(),
                          .principal = client.principal_text(),
                          .born = client.born,
                          .process = std::nullopt}};
    if (client.from_this_machine) {
        known.local = {.client_address = std::string(client.address()),
                       .client_port = client.port,
                       .broker_address = client.listener->local_address,
                       .broker_port = client.listener->local_port};
    }
    known_.emplace(client.id, std::move(known));
}

void Connections::note(const ClientConnection& client, std::string_view client_id) {
    const MutexLock lock(mutex_);
    note_locked(client, client_id);
}

void Connections::note_member(const ClientConnection& client, std::string_view client_id, std::string_view group,
                              std::string_view member_id) {
    const MutexLock lock(mutex_);
    note_locked(client, client_id);
    if (known_.contains(client.id)) {
        members_.note(group, member_id, client.id);
        has_left_out_ = has_left_out_ || !members_.find(group, member_id);
    }
}

void Connections::closed(ConnectionId connection) {
    const MutexLock lock(mutex_);
    if (known_.erase(connection) > 0) {
        members_.closed(connection);
    }
}

std::vector<ConnectionFacts> Connections::first(std::size_t most) const {
    std::vector<ConnectionFacts> facts;
    const MutexLock lock(mutex_);
    for (const auto& [id, known] : known_) {
        if (facts.size() == most) {
            break;
        }
        facts.push_back(known.facts);
    }
    return facts;
}

std::vector<insight::SpeakingConnection> Connections::called(std::string_view client_id, std::size_t most) const {
    std::vector<insight::SpeakingConnection> connections;
    const MutexLock lock(mutex_);
    for (const auto& [id, known] : known_) {
        if (connections.size() == most) {
            break;
        }
        if (known.facts.client_id == client_id) {
            connections.push_back({.facts = known.facts, .speaks_for = members_.spoken_for_by(id)});
        }
    }
    return connections;
}

bool Connections::knows_all() const {
    const MutexLock lock(mutex_);
    return !has_left_out_;
}

std::optional<ConnectionFacts> Connections::find(ConnectionId connection) const {
    const MutexLock lock(mutex_);
    const auto known = known_.find(connection);
    return known == known_.end() ? std::nullopt : std::optional(known->second.facts);
}

std::optional<ConnectionFacts> Connections::coordinator_of(std::string_view group, std::string_view member_id) const {
    const MutexLock lock(mutex_);
    const auto connection = members_.find(group, member_id);
    const auto known = connection ? known_.find(*connection) : known_.end();
    return known == known_.end() ? std::nullopt : std::optional(known->second.facts);
}

bool Connections::want_process(ConnectionId connection) {
    const MutexLock lock(mutex_);
    const auto known = known_.find(connection);
    if (known == known_.end() || !known->second.local || known->second.search == Search::done || stopping_) {
        return true;
    }
    if (known->second.search == Search::not_wanted && wanted_.size() < kWantedMax) {
        known->second.search = Search::wanted;
        wanted_.push_back(connection);
        if (worker_) {
            worker_->wake();
        } else {
            worker_ = schedule_.executor.start("processes", [this] { return step(); });
        }
    }
    return false;
}

void Connections::look_up_by(Lookup lookup) {
    const MutexLock lock(mutex_);
    lookup_ = std::move(lookup);
}

std::size_t Connections::size() const {
    const MutexLock lock(mutex_);
    return known_.size();
}

Connections::Wanted Connections::take_wanted() {
    const MutexLock lock(mutex_);
    Wanted taken;
    for (const ConnectionId id : std::exchange(wanted_, {})) {
        if (const auto known = known_.find(id); known != known_.end()) {
            taken.emplace_back(id, *known->second.local);
        }
    }
    return taken;
}

void Connections::note_found(const Wanted& wanted, const std::vector<std::optional<insight::ProcessIdentity>>& found) {
    const MutexLock lock(mutex_);
    for (std::size_t index = 0; index < wanted.size(); ++index) {
        // Mark it done, found or not: if the client has closed meanwhile, its port may belong to another one.
        if (const auto known = known_.find(wanted[index].first); known != known_.end()) {
            known->second.facts.process = found[index];
            known->second.search = Search::done;
        }
    }
}

Instant Connections::step() {
    if (schedule_.clock.now().monotonic < rests_until_) {
        return rests_until_;
    }
    const Wanted wanted = take_wanted();
    if (wanted.empty()) {
        return kNever;
    }
    const std::int64_t begin_ns = schedule_.clock.stopwatch_ns();
    std::vector<LocalConnection> sockets;
    for (const auto& [id, socket] : wanted) {
        sockets.push_back(socket);
    }
    const Lookup* lookup = nullptr;
    {
        // A test that replaces the lookup does so before the first `want_process`.
        const MutexLock lock(mutex_);
        lookup = &lookup_;
    }
    note_found(wanted, (*lookup)(sockets));
    if (listener_ != nullptr) {
        listener_->identities_changed();
    }
    const std::int64_t end_ns = schedule_.clock.stopwatch_ns();
    const std::int64_t saved_ns = (end_ns - counted_ns_.value_or(begin_ns)) / kRestFactor;
    credit_ns_ = std::min(credit_ns_ + saved_ns, kBurstNs) - (end_ns - begin_ns);
    counted_ns_ = end_ns;
    if (credit_ns_ < 0) {
        rests_until_ = schedule_.clock.now().monotonic + (-credit_ns_ * kRestFactor / 1'000'000 + 1);
        return rests_until_;
    }
    return kAtOnce;
}

}  // namespace partita::runtime
