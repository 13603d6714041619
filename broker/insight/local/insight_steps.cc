#include "broker/insight/local/insight_steps.h"

#include <memory>
#include <span>
#include <vector>

#include "broker/insight/local/request_notes.h"
#include "broker/insight/shell/fenced_reads.h"
#include "broker/insight/shell/reader_note.h"
#include "broker/logs/read_request.h"
#include "broker/logs/topic_table.h"
#include "broker/logs/turn.h"
#include "broker/runtime/clients/client_connection.h"

namespace partita::insight {

void KeySampleStep::after_staging(const logs::AppendRequest& request, const logs::Append& append, logs::Turn& turn) {
    if (!append.staged.duplicate) {
        notes_.on_produce(*append.topic, append.index, *request.client.connection, request.client.client_id, append.batch,
                          turn.now().wall);
    }
}

void FencedReadStep::on_found(logs::ReadRequest& request, const logs::Read& read, logs::Turn& turn) {
    reads_.on_fetch(read.topic->topic->id, read.index.value, request.client().connection->id, read.from, turn.now().wall);
}

void ReaderReportStep::on_found(logs::ReadRequest& request, const logs::Read& read, logs::Turn& turn) {
    notes_.on_fetch(turn.reactor().index(), *read.topic, request.client().client_id, *request.client().connection, read.index,
                    read.from, turn.now().wall);
}

namespace {

/// The records in the answer to the reads for which `is_meant`. Valid until the next call.
template <class Meant>
std::span<DeliveryNote> deliveries_of(const logs::ReadRequest& request, logs::Turn& turn, const Meant& is_meant) {
    // Thread-local, so that the next answer allocates no memory.
    thread_local std::vector<DeliveryNote> deliveries;
    deliveries.clear();
    for (std::size_t index = 0; index < request.reads().size(); ++index) {
        const logs::Read& read = request.reads()[index];
        const logs::ReadResult& result = request.results()[index];
        if (read.topic == nullptr || result.slice.size == 0 || !is_meant(*read.topic)) {
            continue;
        }
        deliveries.push_back({.topic = read.topic->topic->id,
                              .delivery = {.connection = ConnectionId{request.client().connection_id},
                                           .partition = read.index,
                                           .from = read.from,
                                           .size_bytes = result.slice.size,
                                           .time = turn.now().wall,
                                           .asked = request.came()}});
    }
    return deliveries;
}

}  // namespace

void ReaderReportStep::tell_topic(const logs::ReadRequest& request, const logs::TopicState& topic, logs::Turn& turn) {
    notes_.on_answer(deliveries_of(request, turn, [&](const logs::TopicState& read) { return &read == &topic; }));
}

void ReaderReportStep::tell_changed_topic(const logs::ReadRequest& request, const logs::TopicState& topic, logs::Turn& turn) {
    // The topic grew for the first time while the reader waited. Its new records may already be in the old partitions.
    const auto is_meant = [&](const logs::TopicState& read) {
        return read.topic->id == topic.topic->id && !RequestNotes::watches(read);
    };
    if (const auto deliveries = deliveries_of(request, turn, is_meant); !deliveries.empty()) {
        notes_.on_late_answer(deliveries);
    }
}

void ReaderReportSteps::add_steps(const logs::TopicState& topic, logs::TopicSteps& steps) {
    if (RequestNotes::watches(topic)) {
        steps.reads.push_back(std::make_shared<ReaderReportStep>(notes_));
    }
}

}  // namespace partita::insight
