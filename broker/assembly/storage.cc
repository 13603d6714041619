#include "broker/assembly/storage.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "broker/config/log_setup.h"
#include "broker/logs/internal_logs.h"
#include "broker/runtime/catalog/repair_hints.h"
#include "broker/runtime/settings/log_settings.h"
#include "protocol/try.h"
#include "storage/keyed_log_name.h"

namespace partita::assembly {
namespace {

std::size_t descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return 1024;
    }
    if (limit.rlim_cur < limit.rlim_max) {
        rlimit raised = limit;
        raised.rlim_cur = limit.rlim_max;
        if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) {
            limit = raised;
        }
    }
    return static_cast<std::size_t>(limit.rlim_cur);
}

/// The kernel doubles a process's descriptor table as it fills. In a process with threads, every doubling (the 64th descriptor,
/// the 128th, ...) delays the thread that opens the file or accepts the connection. It waits for a grace period of RCU: 7 to 13
/// ms. So the table gets its size while one thread exists, at 8 bytes of kernel memory per place.
void grow_descriptor_table() {
    constexpr std::size_t kPlaces = 4096;
    const auto last = static_cast<int>(std::min(descriptor_limit(), kPlaces)) - 1;
    const int any = ::open("/", O_PATH | O_CLOEXEC);
    if (const int placed = ::fcntl(any, F_DUPFD_CLOEXEC, last); placed >= 0) {
        ::close(placed);
    }
    if (any >= 0) {
        ::close(any);
    }
}

/// Three of eight descriptors are for log files, the rest for connections and other uses.
std::size_t open_file_limit() {
    constexpr std::size_t kFewest = 16;
    constexpr std::size_t kMost = 100'000;
    return std::clamp(descriptor_limit() * 3 / 8, kFewest, kMost);
}

}  // namespace

std::expected<std::unique_ptr<Storage>, runtime::StartError> Storage::open(const config::BrokerConfig& config,
                                                                           const Options& options, const Schedule& schedule) {
    auto storage = std::make_unique<Storage>(options.file_system);
    PARTITA_TRY(storage->choose_directory(config, options));
    PARTITA_TRY(storage->open_logs(config, schedule.clock.now().wall));
    storage->report_recovery();
    MetadataStoreOptions store_options = options.metadata_store;
    store_options.upgraded_name = [&storage = *storage](std::string_view directory) {
        return storage.keyed_log_name_of(directory);
    };
    auto store = MetadataStore::open(storage->directory + "/partita-metadata", store_options);
    if (!store) {
        return std::unexpected(runtime::StartError{runtime::with_repair_hint(store.error())});
    }
    storage->metadata_store = std::move(*store);
    storage->flusher = std::make_unique<LogFlusher>(schedule.executor);
    return storage;
}

std::expected<void, runtime::StartError> Storage::choose_directory(const config::BrokerConfig& config, const Options& options) {
    directory = config.log_dirs.front();
    if (options.kept != nullptr && *options.kept) {
        ephemeral_directory.emplace(std::move(**options.kept));
        options.kept->reset();
        directory = ephemeral_directory->path();
    } else if (options.ephemeral) {
        const std::string parents[] = {"/dev/shm", "/tmp"};
        auto created = EphemeralDirectory::create(parents);
        if (!created) {
            return std::unexpected(
                runtime::StartError{"no memory-backed directory for --ephemeral: neither /dev/shm nor /tmp is writable"});
        }
        if (created->swept > 0) {
            log::info("storage", "removed directories left behind by ephemeral brokers that were killed",
                      {{"directories", created->swept}});
        }
        ephemeral_directory.emplace(std::move(created->directory));
        directory = ephemeral_directory->path();
    }
    if (config.log_dirs.size() > 1) {
        log::warning("storage", "only the first of several log.dirs is used", {{"directory", directory}});
    }
    return options.prepare ? options.prepare(directory) : std::expected<void, runtime::StartError>();
}

std::expected<void, runtime::StartError> Storage::open_logs(const config::BrokerConfig& config, TimestampMs now) {
    grow_descriptor_table();
    open_files = std::make_unique<OpenFiles>(file_system, open_file_limit());
    const LogDirectory::Options directory_options{
        .recovery_threads = static_cast<std::size_t>(std::max(1, config.num_recovery_threads_per_data_dir)),
        .default_config = std::make_shared<const LogConfig>(runtime::log_settings(config::TopicConfig(), config)),
        .now = now};
    auto opened = LogDirectory::open(file_system, *open_files, directory, directory_options);
    if (!opened) {
        return std::unexpected(runtime::StartError{runtime::with_repair_hint(opened.error())});
    }
    logs = std::move(*opened);
    std::error_code unknown;
    absolute_directory = std::filesystem::absolute(directory, unknown).lexically_normal().string();
    while (absolute_directory.size() > 1 && absolute_directory.ends_with('/')) {
        absolute_directory.pop_back();
    }
    return {};
}

void Storage::report_recovery() const {
    const LogDirectory::OpenReport& report = logs->open_report();
    for (const RecoveryReport& partition : report.partitions) {
        if (partition.cut_bytes > 0 && partition.set_aside.empty() && partition.cut_kind == CutKind::zeros) {
            // As a rule, these are zeros prepared behind a log that is synced often.
            log::info("recovery", "zeros behind the records were cut off",
                      {{"partition", partition.directory},
                       {"segment", partition.cut_segment},
                       {"position", partition.cut_position},
                       {"bytes", partition.cut_bytes}});
        } else if (partition.cut_bytes > 0) {
            log::warning("recovery", "a damaged tail was cut off",
                         {{"partition", partition.directory},
                          {"segment", partition.cut_segment},
                          {"position", partition.cut_position},
                          {"bytes", partition.cut_bytes},
                          {"reason", partition.cut_reason},
                          {"set_aside", partition.set_aside.empty() ? "nothing" : partition.set_aside.front()}});
        }
    }
    for (const auto& [directory, error] : report.failed) {
        log::error("recovery", "cannot open a partition's directory; the partition is not served",
                   {{"directory", directory}, {"reason", error.message}});
    }
    if (!report.was_clean && !report.partitions.empty()) {
        std::uint64_t scanned = 0;
        for (const RecoveryReport& partition : report.partitions) {
            scanned += partition.scanned_bytes;
        }
        log::info("recovery", "recovered after an unclean stop",
                  {{"partitions", report.partitions.size()}, {"scanned_bytes", scanned}});
    }
}

std::string Storage::keyed_log_name_of(std::string_view directory) const {
    if (directory == std::string(logs::kCatalogLogName) + "-0") {
        return keyed_log_name(directory, logs::kCatalogLogId);
    }
    for (const LogDirectory::Unclaimed& found : logs->unclaimed()) {
        if (directory == found.topic + "-" + std::to_string(found.partition.value)) {
            return keyed_log_name(directory, found.topic_id);
        }
    }
    return std::string(directory);
}

}  // namespace partita::assembly
