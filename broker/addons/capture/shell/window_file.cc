#include "broker/addons/capture/shell/window_file.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "broker/logs/aborted_follower.h"
#include "broker/logs/batch_walk.h"
#include "protocol/try.h"

namespace partita::capture {
namespace {

using logs::AbortedFollower;
using logs::BatchVisitor;
using logs::BatchWalk;

/// The growing file. The first byte creates it.
class EventFile {
  public:
    EventFile(FileSystem& file_system, const std::string& path, const SyncMarker& sync)
        : file_system_(file_system), path_(path), sync_(sync) {}

    [[nodiscard]] StorageResult<void> begin() {
        PARTITA_TRY_ASSIGN(file_, file_system_.open(path_, OpenMode::create_empty));
        std::vector<std::byte> header;
        append_file_header(sync_, header);
        return write({{Bytes(header)}});
    }
    [[nodiscard]] StorageResult<void> add(const RecordView& record) {
        if (!file_) {
            PARTITA_TRY(begin());
        }
        append_event(record, events_);
        ++event_count_;
        return events_.size() < kBlockBytes ? StorageResult<void>() : end_block();
    }
    /// Does nothing if nothing was begun.
    [[nodiscard]] StorageResult<void> finish() {
        if (!file_) {
            return {};
        }
        PARTITA_TRY(end_block());
        return file_->sync_data();
    }
    /// Size with the bytes that are not written yet.
    [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(written_ + events_.size()); }

  private:
    [[nodiscard]] StorageResult<void> end_block() {
        if (event_count_ == 0) {
            return {};
        }
        std::vector<std::byte> header;
        append_block_header(event_count_, events_.size(), header);
        auto done = write({{Bytes(header), Bytes(events_), Bytes(sync_)}});
        if (events_.capacity() > 4 * kBlockBytes) {
            events_ = {};  // A large record made the buffer large.
        }
        events_.clear();
        event_count_ = 0;
        return done;
    }
    [[nodiscard]] StorageResult<void> write(const std::vector<Bytes>& pieces) {
        PARTITA_TRY(file_->write_at(written_, pieces));
        for (const Bytes& piece : pieces) {
            written_ += piece.size();
        }
        return {};
    }

    FileSystem& file_system_;
    const std::string& path_;
    const SyncMarker& sync_;
    std::shared_ptr<File> file_;
    std::uint64_t written_ = 0;
    std::vector<std::byte> events_;
    std::int64_t event_count_ = 0;
};

class WindowWriter final : public BatchVisitor {
  public:
    WindowWriter(EventFile& file, const PartitionLog& log, const WindowRange& range, FunctionRef<bool()> may_go_on)
        : file_(file), log_(log), range_(range), may_go_on_(may_go_on), written_{.next = range.from, .lost = {}, .damage = {}} {}

    bool batch(const Batch& batch) override {
        if (error_) {
            return false;
        }
        if (!may_go_on_()) {
            return fail({.kind = StorageError::Kind::closed, .message = "capture was stopped"});
        }
        pass_removed(batch.header.next_offset());
        if (!knows_aborted(batch.header)) {
            return fail({.kind = StorageError::Kind::corrupt,
                         .message = "cannot read the aborted transactions of " + log_.directory_name()});
        }
        if (aborted_.covers(batch.header) || batch.header.attributes.is_control()) {
            written_.next = std::max(written_.next, batch.header.next_offset());
            return true;
        }
        const auto walked = for_each_record(batch, {}, [&](const RecordView& record) { return take(record); });
        if (!walked) {
            damage(written_.next, batch_error_text(walked.error()));
        }
        if (!error_ && !is_full_) {
            written_.next = std::max(written_.next, batch.header.next_offset());
        }
        return !error_ && !is_full_;
    }
    void damage(Offset offset, std::string_view reason) override {
        if (range_.leaves_out_damage) {
            if (written_.damage.size() < kToldDamageMax) {
                written_.damage.emplace_back(offset, reason);
            }
        } else if (!error_) {
            error_ = {.kind = StorageError::Kind::corrupt,
                      .message = "cannot read " + log_.directory_name() + " at offset " + std::to_string(offset.value) + ": " +
                                 std::string(reason)};
        }
    }

    /// Concludes the walk. Behind its last batch there was nothing readable.
    [[nodiscard]] StorageResult<WrittenWindow> finish() {
        if (!error_ && !is_full_) {
            pass_removed(range_.until);
            written_.next = std::max(written_.next, range_.until);
        }
        if (error_) {
            return std::unexpected(*error_);
        }
        return std::move(written_);
    }

  private:
    /// Number of offsets for which it looks up aborted transactions at a time.
    static constexpr std::int64_t kOffsetsAtATime = 65'536;

    bool fail(StorageError error) {
        error_ = std::move(error);
        return false;
    }
    /// Records below the log's start no longer count, even if they are read with their batch.
    void pass_removed(Offset behind) {
        const Offset start = std::min(log_.log_start_offset(), behind);
        if (written_.next < start) {
            written_.lost.emplace_back(written_.next, start);
            written_.next = start;
        }
    }
    bool knows_aborted(const BatchHeader& header) {
        while (known_until_ <= header.last_offset()) {
            const Offset from = std::max(known_until_, range_.from);
            const Offset to = std::max(from, header.base_offset) + kOffsetsAtATime;
            if (log_.has_aborted_transactions(from) && !aborted_.look_up(log_, from, to)) {
                return false;
            }
            known_until_ = to;
        }
        return true;
    }
    bool take(const RecordView& record) {
        if (record.offset < written_.next) {
            return true;  // Batches are read whole: the file may begin within the first one.
        }
        if (record.offset >= range_.until) {
            return false;
        }
        if (auto added = file_.add(record); !added) {
            return fail(std::move(added.error()));
        }
        ++written_.records;
        written_.next = record.offset + 1;
        is_full_ = file_.bytes() >= range_.bytes_max;
        return !is_full_;
    }

    EventFile& file_;
    const PartitionLog& log_;
    const WindowRange& range_;
    FunctionRef<bool()> may_go_on_;
    WrittenWindow written_;
    AbortedFollower aborted_;
    Offset known_until_{0};
    bool is_full_ = false;
    std::optional<StorageError> error_;
};

}  // namespace

StorageResult<WrittenWindow> write_window(FileSystem& file_system, const std::string& path, const PartitionLog& log,
                                          const WindowRange& range, const SyncMarker& sync, FunctionRef<bool()> may_go_on) {
    EventFile file(file_system, path, sync);
    if (range.writes_empty) {
        PARTITA_TRY(file.begin());
    }
    WindowWriter writer(file, log, range, may_go_on);
    BatchWalk().walk(log, range.from, range.until, writer);
    PARTITA_TRY_ASSIGN(auto written, writer.finish());
    PARTITA_TRY(file.finish());
    written.bytes = file.bytes();
    return written;
}

}  // namespace partita::capture
