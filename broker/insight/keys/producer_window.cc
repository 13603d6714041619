#include "broker/insight/keys/producer_window.h"

#include <algorithm>

namespace partita::insight {

bool ProducerWindow::make_room(TimestampMs now) {
    if (producers_.size() < kProducersMax) {
        return true;
    }
    const std::size_t forgotten = std::erase_if(producers_, [&](const auto& entry) {
        return entry.second.writer.connection == kNoConnection && is_settled(entry.second, now);
    });
    has_forgotten_proven_ |= forgotten > 0;
    has_overflowed_ |= forgotten == 0;
    return forgotten > 0;
}

void ProducerWindow::know(const ProducerInstance& producer, Writer writer) {
    if (make_room(kNoTimestamp)) {
        producers_.try_emplace(producer, State{.writer = std::move(writer)});
    }
}

void ProducerWindow::on_produce(const ProducerInstance& producer, const Writer& writer, bool proves, TimestampMs now) {
    auto known = producers_.find(producer);
    if (known == producers_.end()) {
        if (!make_room(now)) {
            return;
        }
        known = producers_.emplace(producer, State{.writer = writer}).first;
    }
    State& state = known->second;
    if (state.writer.connection != writer.connection) {
        state.writer.connection = writer.connection;
        state.writer.process.reset();
    }
    if (proves && state.proven == kNoTimestamp) {
        state.proven = now;
    }
}

void ProducerWindow::on_closed(ConnectionId connection, const std::optional<ProcessIdentity>& process) {
    for (auto& [producer, state] : producers_) {
        if (state.writer.connection == connection) {
            state.writer.connection = kNoConnection;
            if (process) {
                state.writer.process = process;
            }
        }
    }
}

void ProducerWindow::on_process(ConnectionId connection, const ProcessIdentity& process) {
    for (auto& [producer, state] : producers_) {
        if (state.writer.connection == connection) {
            state.writer.process = process;
        }
    }
}

void ProducerWindow::on_ended(const ProcessIdentity& process) {
    std::erase_if(producers_, [&](const auto& entry) {
        const State& state = entry.second;
        return state.writer.connection == kNoConnection && state.proven == kNoTimestamp && state.writer.process == process;
    });
}

bool ProducerWindow::is_proven(TimestampMs now) const {
    return !has_overflowed_ && (has_forgotten_proven_ || !producers_.empty()) &&
           std::ranges::all_of(producers_, [&](const auto& entry) { return is_settled(entry.second, now); });
}

std::vector<ProducerWindow::Unproven> ProducerWindow::unproven(std::size_t most) const {
    std::vector<Unproven> result;
    for (const auto& [producer, state] : producers_) {
        if (state.proven == kNoTimestamp && result.size() < most) {
            result.push_back({producer, state.writer});
        }
    }
    return result;
}

std::size_t ProducerWindow::unproven_count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(producers_, [](const auto& entry) { return entry.second.proven == kNoTimestamp; }));
}

std::vector<ProcessIdentity> ProducerWindow::left_processes(std::size_t most) const {
    std::vector<ProcessIdentity> result;
    for (const auto& [producer, state] : producers_) {
        const bool has_left = state.writer.connection == kNoConnection && state.proven == kNoTimestamp && state.writer.process;
        if (has_left && result.size() < most && std::ranges::find(result, *state.writer.process) == result.end()) {
            result.push_back(*state.writer.process);
        }
    }
    return result;
}

}  // namespace partita::insight
