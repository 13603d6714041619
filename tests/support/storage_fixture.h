#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/record_batch_builder.h"
#include "storage/log_directory.h"
#include "tests/support/declared_settings.h"
#include "tests/support/memory_file_system.h"

namespace partita::test {

struct TestBatch {
    int records = 1;
    std::size_t value_bytes = 20;
    TimestampMs timestamp{1000};
    ProducerId producer_id = kNoProducerId;
    ProducerEpoch producer_epoch{-1};
    Sequence base_sequence{-1};
    bool transactional = false;
    Codec codec = Codec::none;
    /// Makes values differ.
    std::uint64_t content = 0;
};

inline std::vector<std::byte> make_batch(const TestBatch& wanted = {}) {
    BatchBuilder builder({.codec = wanted.codec,
                          .producer_id = wanted.producer_id,
                          .producer_epoch = wanted.producer_epoch,
                          .base_sequence = wanted.base_sequence,
                          .transactional = wanted.transactional});
    for (int i = 0; i < wanted.records; ++i) {
        std::string value = std::to_string(wanted.content) + "/" + std::to_string(i) + "/";
        value.resize(std::max(value.size(), wanted.value_bytes), 'v');
        builder.append(wanted.timestamp, as_bytes("key"), as_bytes(value));
    }
    std::vector<std::byte> bytes;
    builder.build(bytes);
    return bytes;
}

/// A data directory on a memory file system that can be stopped, killed and opened again.
class StorageWorld {
  public:
    StorageWorld() { open(); }

    void open() {
        files = std::make_unique<OpenFiles>(system, 8);
        auto opened = try_open();
        if (!opened) {
            throw std::runtime_error(opened.error().message);
        }
    }
    StorageResult<void> try_open() {
        auto opened =
            LogDirectory::open(system, *files, "/data",
                               {.recovery_threads = 1, .default_config = std::shared_ptr<const LogConfig>(config), .now = {1}});
        if (!opened) {
            return std::unexpected(std::move(opened.error()));
        }
        directory = std::move(*opened);
        return {};
    }
    /// Drops everything without writing to the disk, as a killed process does.
    void vanish() {
        logs.clear();
        directory.reset();
        files.reset();
    }
    void kill() {
        vanish();
        system.crash_process();
        open();
    }
    void lose_power(std::uint64_t seed) {
        vanish();
        system.crash_power(seed);
        open();
    }
    void restart_cleanly() {
        if (auto closed = directory->close(); !closed) {
            throw std::runtime_error(closed.error().message);
        }
        vanish();
        system.crash_process();
        open();
    }
    /// Opens a directory whose partition 0 has this one segment.
    void open_with(std::string segment) {
        vanish();
        system.crash_process();
        if (auto made = system.make_directories("/data/t-0"); !made) {
            throw std::runtime_error(made.error().message);
        }
        system.set_content("/data/t-0/00000000000000000000.log", std::move(segment));
        open();
    }
    PartitionLog& log(int partition = 0) {
        auto claimed = directory->claim(topic, PartitionIndex{partition}, config);
        if (!claimed) {
            throw std::runtime_error(claimed.error().message);
        }
        logs.push_back(*claimed);
        return **claimed;
    }
    std::shared_ptr<PartitionLog> shared_log(int partition = 0) {
        log(partition);
        return logs.back();
    }
    const RecoveryReport& report() const { return directory->open_report().partitions.at(0); }

    MemoryFileSystem system;
    std::shared_ptr<LogConfig> config = std::make_shared<LogConfig>(declared_log_config());
    std::shared_ptr<const LogTopic> topic = std::make_shared<LogTopic>(LogTopic{"t", {{1, 2, 3}}});
    std::unique_ptr<OpenFiles> files;
    std::unique_ptr<LogDirectory> directory;
    std::vector<std::shared_ptr<PartitionLog>> logs;
};

/// Returns everything from `from` on that a consumer would see, as bytes.
inline std::string read_all(const PartitionLog& log, Offset from) {
    std::string all;
    while (from < log.log_end_offset()) {
        auto slice = log.read(from, {.upper_bound = log.log_end_offset(), .max_bytes = 1 << 20, .minimum_one_batch = true});
        if (!slice) {
            return "error: " + slice.error().message;
        }
        std::vector<std::byte> bytes(slice->size);
        if (slice->file == nullptr) {
            return "empty at " + std::to_string(from.value);
        }
        auto count = slice->file->read_at(slice->position, bytes);
        if (!count || *count != bytes.size()) {
            return "short read";
        }
        BatchCursor cursor(bytes);
        while (cursor.next()) {
            if (!check_crc(cursor.batch())) {
                return "bad CRC at " + std::to_string(cursor.batch().header.base_offset.value);
            }
            from = cursor.batch().header.next_offset();
        }
        if (cursor.error()) {
            return "bad batch";
        }
        all += as_text(Bytes(bytes).first(cursor.position_bytes()));
    }
    return all;
}

}  // namespace partita::test
