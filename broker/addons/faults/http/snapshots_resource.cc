// GET /v1/snapshots                  all snapshots
// GET /v1/snapshots/NAME             one
// PUT /v1/snapshots/NAME             takes a snapshot of everything, in place of an earlier one of that name
// POST /v1/snapshots/NAME/restore    makes everything what it was when the snapshot was taken
// DELETE /v1/snapshots/NAME          forgets it
//
// To take or restore one, the broker ends and begins anew in the same process; the answer comes when it serves clients again.
// Listeners and connections stay open meanwhile, except for those with a login. Clients see a broker that restarted: groups
// rebalance, fetch sessions end. A broker without a test bench answers 404.

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "broker/addons/faults/http/resources.h"
#include "broker/addons/faults/shell/snapshots.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/services.h"
#include "broker/http/broker_identity.h"
#include "broker/http/detached_caller.h"
#include "broker/http/jobs.h"
#include "broker/http/kafka_errors.h"

namespace partita::faults {
namespace {

using http::ExchangePointer;
using http::respond_error;
using http::respond_json;
using http::Status;
using http::Surroundings;
using nlohmann::ordered_json;

ordered_json json_of(const DataSnapshots::Snapshot& snapshot) {
    return {{"name", snapshot.name},
            {"taken_ms", snapshot.taken.value},
            {"files", snapshot.files},
            {"size_bytes", snapshot.size_bytes}};
}

Snapshots* snapshots_of(const Surroundings& surroundings, const ExchangePointer& exchange) {
    Snapshots* const snapshots = surroundings.services.extensions.parts.find<Snapshots>();
    if (snapshots == nullptr) {
        refuse_without_bench(*exchange);
    }
    return snapshots;
}

struct NamedSnapshot {
    Snapshots& snapshots;
    std::string name;
};

/// The snapshot that the path names, whether there is one or not. Empty after an answer.
std::optional<NamedSnapshot> named_snapshot(const Surroundings& surroundings, const ExchangePointer& exchange) {
    Snapshots* const snapshots = snapshots_of(surroundings, exchange);
    if (snapshots == nullptr) {
        return std::nullopt;
    }
    const std::string& name = exchange->request().path[2];
    if (!DataSnapshots::is_name(name)) {
        respond_error(*exchange, Status::bad_request,
                      "the name of a snapshot has 1 to 64 letters, digits, '.', '_' or '-', and begins with a letter or digit");
        return std::nullopt;
    }
    return NamedSnapshot{*snapshots, name};
}

void respond_storage_error(http::Exchange& exchange, const std::string& name, const StorageError& error) {
    if (error.is_not_found()) {
        respond_error(exchange, Status::not_found, "there is no snapshot " + name);
    } else {
        respond_error(exchange, Status::internal_error, error.message);
    }
}

void begin_change(const Surroundings& surroundings, const ExchangePointer& exchange, DataChange::Kind kind) {
    const auto named = named_snapshot(surroundings, exchange);
    if (!named) {
        return;
    }
    const auto& [snapshots, name] = *named;
    if (!snapshots.change) {
        respond_error(*exchange, Status::conflict, "this broker cannot begin anew in its process");
        return;
    }
    if (kind == DataChange::Kind::restore) {
        if (!snapshots.files.has(name)) {
            respond_error(*exchange, Status::not_found, "there is no snapshot " + name);
            return;
        }
    } else if (snapshots.files.count() >= DataSnapshots::kSnapshotsMax && !snapshots.files.has(name)) {
        respond_error(
            *exchange, Status::conflict,
            "there are " + std::to_string(DataSnapshots::kSnapshotsMax) + " snapshots, and no more are kept; remove some");
        return;
    }
    ordered_json answer = surroundings.identity.begin_answer();
    FileDescriptor socket = exchange->detach();
    if (!socket.is_open()) {
        respond_error(*exchange, Status::conflict, "the HTTP side uses TLS; snapshots are taken and restored without it only");
        return;
    }
    auto caller = std::make_shared<http::DetachedCaller>(std::move(socket), surroundings.identity.header());
    const bool has_begun = snapshots.change(
        {.kind = kind,
         .name = name,
         .done = [caller, answer = std::move(answer)](const StorageResult<DataSnapshots::Snapshot>& snapshot) mutable {
             if (!snapshot) {
                 caller->respond(Status::internal_error, http::kJson,
                                 ordered_json({{"error", snapshot.error().message}}).dump() + "\n");
                 return;
             }
             answer["snapshot"] = json_of(*snapshot);
             caller->respond(Status::ok, http::kJson, answer.dump() + "\n");
         }});
    if (!has_begun) {
        caller->respond(Status::conflict, http::kJson,
                        ordered_json({{"error", "another snapshot is being taken or restored"}}).dump() + "\n");
    }
}

}  // namespace

void serve_snapshots(const Surroundings& surroundings, const ExchangePointer& exchange) {
    Snapshots* const snapshots = snapshots_of(surroundings, exchange);
    if (snapshots == nullptr) {
        return;
    }
    http::start_look(surroundings, exchange, [snapshots, exchange, answer = surroundings.identity.begin_answer()]() mutable {
        const auto all = snapshots->files.list();
        if (!all) {
            respond_storage_error(*exchange, {}, all.error());
            return;
        }
        ordered_json& list = answer["snapshots"] = ordered_json::array();
        for (const DataSnapshots::Snapshot& snapshot : *all) {
            list.push_back(json_of(snapshot));
        }
        respond_json(*exchange, answer);
    });
}

void serve_snapshot(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const auto named = named_snapshot(surroundings, exchange);
    if (!named) {
        return;
    }
    http::start_look(surroundings, exchange, [named = *named, exchange, answer = surroundings.identity.begin_answer()]() mutable {
        const auto found = named.snapshots.files.find(named.name);
        if (!found) {
            respond_storage_error(*exchange, named.name, found.error());
            return;
        }
        answer["snapshot"] = json_of(*found);
        respond_json(*exchange, answer);
    });
}

void take_snapshot(const Surroundings& surroundings, const ExchangePointer& exchange) {
    begin_change(surroundings, exchange, DataChange::Kind::take);
}

void restore_snapshot(const Surroundings& surroundings, const ExchangePointer& exchange) {
    begin_change(surroundings, exchange, DataChange::Kind::restore);
}

void remove_snapshot(const Surroundings& surroundings, const ExchangePointer& exchange) {
    const auto named = named_snapshot(surroundings, exchange);
    if (!named) {
        return;
    }
    http::start_look(
        surroundings, exchange,
        [named = *named, exchange, &looks = surroundings.looks, answer = surroundings.identity.begin_answer()]() mutable {
            if (const auto removed = named.snapshots.files.remove(named.name); !removed) {
                respond_storage_error(*exchange, named.name, removed.error());
                return;
            }
            answer["removed"] = named.name;
            respond_json(*exchange, answer);
            named.snapshots.files.purge([&] { return looks.is_stopping(); });
        });
}

}  // namespace partita::faults
