// GET /metrics: the records that capture has written, and those that it has yet to write.

#include "broker/http/addition.h"

#include <atomic>

#include "broker/addons/capture/config/capture_config.h"
#include "broker/addons/capture/shell/capture_counters.h"
#include "broker/config/current_config.h"
#include "broker/handlers/extensions.h"
#include "broker/handlers/services.h"
#include "broker/http/metrics_text.h"

namespace partita::capture {
namespace {

void add_metrics(http::MetricsText& text, const runtime::Services& services, const runtime::NetworkStatistics& /*network*/,
                 bool /*with_names*/) {
    if (capture_directory(*services.config.get()).empty()) {
        return;
    }
    const CaptureCounters& counters = services.extensions.parts.get<CaptureCounters>();
    const auto load = [](const std::atomic<std::uint64_t>& counter) { return counter.load(std::memory_order_relaxed); };
    text.counter("partita_captured_messages_total", "Records that capture wrote to files.", load(counters.messages));
    text.counter("partita_captured_bytes_total", "Bytes of the files that capture wrote.", load(counters.bytes));
    text.counter("partita_captured_files_total", "Files that capture wrote.", load(counters.files));
    text.counter("partita_capture_lost_messages_total", "Offsets that were removed before they were captured.",
                 load(counters.lost_messages));
    text.counter("partita_capture_failures_total", "Attempts of capture that failed and will be repeated.",
                 load(counters.failures));
    text.gauge("partita_capture_backlog_messages", "Offsets that no capture file holds yet.", load(counters.backlog_messages));
    text.gauge("partita_capture_failing_partitions", "Partitions whose last attempt of capture failed.",
               load(counters.failing_partitions));
}

}  // namespace

extern const http::Addition kHttpAddition;
constinit const http::Addition kHttpAddition{.add_metrics = add_metrics};

}  // namespace partita::capture
