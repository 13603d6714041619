#include "broker/runtime/clients/request_watch.h"

#include <algorithm>
#include <limits>

#include "broker/runtime/clients/client_connection.h"
#include "broker/runtime/loop/reply_notes.h"

namespace partita::runtime {
namespace {

GivenError::Client describe(const ClientConnection& client, std::string_view client_id) {
    return {.connection = client.id.value,
            .client_id = std::string(client_id),
            .address = std::string(client.address()),
            .port = client.port,
            .principal = client.session.principal->text(),
            .listener = client.listener->name,
            .software = client.software_name(),
            .software_version = client.software_version()};
}

}  // namespace

void RequestWatch::note(const ReplyNotes& notes, const ClientConnection& client, std::string_view client_id, TimestampMs now,
                        std::int64_t now_ns) {
    Api& api = of(notes.api->key);
    Latencies* latencies = latencies_.load(std::memory_order_acquire);
    if (notes.started_ns != 0 && latencies != nullptr) {
        (*latencies)[static_cast<std::size_t>(notes.api->key) % kApis].add(now_ns - notes.started_ns);
    }
    if (notes.errors.count == 0) {
        return;
    }
    api.with_errors.fetch_add(1, std::memory_order_relaxed);
    const MutexLock lock(mutex_);
    for (FoundError found : notes.errors.kept) {
        if (!notes.subject.empty()) {
            found.about.emplace_back("Subject", notes.subject);
        }
        errors_.add({.first = now,
                     .last = now,
                     .api = notes.api->name,
                     .version = notes.version,
                     .code = found.code,
                     .message = found.message,
                     .about = found.about,
                     .more_in_reply = notes.errors.count - notes.errors.kept.size(),
                     .request = notes.request,
                     .client = describe(client, notes.client_id.empty() ? client_id : notes.client_id)});
    }
}

void RequestWatch::note_closed(const ClientConnection& client, std::string_view reason, TimestampMs now) {
    const MutexLock lock(mutex_);
    errors_.add({.first = now, .last = now, .message = std::string(reason), .client = describe(client, {})});
}

void RequestWatch::note_throttled(const ClientConnection& client, std::string_view client_id, std::int64_t duration_ms,
                                  TimestampMs now) {
    if (access::Usage* const usage = client.session.principal->usage()) {
        usage->throttled_ms.fetch_add(static_cast<std::uint64_t>(duration_ms), std::memory_order_relaxed);
    }
    const GivenError::Client who = describe(client, client_id);
    const MutexLock lock(mutex_);
    const auto same = std::ranges::find_if(throttled_, [&](const Throttled& known) {
        return known.client_id == who.client_id && known.principal == who.principal && known.address == who.address;
    });
    Throttled entry{.client_id = who.client_id, .principal = who.principal, .address = who.address};
    if (same != throttled_.end()) {
        entry = std::move(*same);
        throttled_.erase(same);
    } else if (throttled_.size() == kThrottledMax) {
        throttled_.pop_front();
    }
    ++entry.times;
    entry.total_ms += duration_ms;
    entry.last_ms = duration_ms;
    entry.last = now;
    throttled_.push_back(std::move(entry));
}

void RequestWatch::watch(Now now) {
    const MutexLock lock(mutex_);
    if (!own_latencies_) {
        own_latencies_ = std::make_unique<Latencies>();
        latencies_.store(own_latencies_.get(), std::memory_order_release);
    }
    if (!is_watched(now.monotonic)) {
        for (LatencyHistogram& latency : *own_latencies_) {
            latency.clear();
        }
        watched_since_ms_.store(now.wall.value, std::memory_order_relaxed);
    }
    watched_until_ms_.store(now.monotonic.value + kWatchMs, std::memory_order_relaxed);
}

std::vector<RequestWatch::ApiReport> RequestWatch::reports() const {
    std::vector<ApiReport> reports;
    const Latencies* latencies = latencies_.load(std::memory_order_acquire);
    for (const ApiInfo& info : all_apis()) {
        const Api& api = apis_[static_cast<std::size_t>(info.key) % kApis];
        ApiReport report{.api = &info,
                         .requests = api.requests.load(std::memory_order_relaxed),
                         .with_errors = api.with_errors.load(std::memory_order_relaxed),
                         .latency = std::nullopt};
        if (latencies != nullptr) {
            const LatencyHistogram& latency = (*latencies)[static_cast<std::size_t>(info.key) % kApis];
            if (const std::uint64_t measured = latency.count(); measured > 0) {
                report.latency = {.count = measured,
                                  .p50_ns = latency.percentile_ns(50),
                                  .p95_ns = latency.percentile_ns(95),
                                  .p99_ns = latency.percentile_ns(99),
                                  .most_ns = latency.most_ns()};
            }
        }
        if (report.requests > 0) {
            reports.push_back(report);
        }
    }
    return reports;
}

std::uint64_t RequestWatch::requests() const {
    std::uint64_t sum = 0;
    for (const Api& api : apis_) {
        sum += api.requests.load(std::memory_order_relaxed);
    }
    return sum;
}

ErrorRing RequestWatch::errors() const {
    const MutexLock lock(mutex_);
    return errors_;
}

access::PrincipalPointer RequestWatch::counted(const access::Principal& proven) {
    const MutexLock lock(mutex_);
    return principals_.counted(proven);
}

std::vector<PrincipalUsages::Report> RequestWatch::principals() const {
    const MutexLock lock(mutex_);
    return principals_.reports();
}

std::deque<RequestWatch::Throttled> RequestWatch::throttled() const {
    const MutexLock lock(mutex_);
    return throttled_;
}

}  // namespace partita::runtime
