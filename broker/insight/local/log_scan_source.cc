#include "broker/insight/local/log_scan_source.h"

namespace partita::insight {
namespace {

class SinkVisitor final : public logs::BatchVisitor {
  public:
    SinkVisitor(const ScanRange& range, ScanSink& sink) : range_(range), sink_(sink) {}

    bool batch(const Batch& batch) override {
        if (batch.header.attributes.is_control()) {
            return true;
        }
        bool stopped = false;
        const auto walked = for_each_record(batch, {}, [&](const RecordView& record) {
            if (record.offset < range_.from || record.offset >= range_.end) {
                return true;
            }
            const std::size_t size = (record.key ? record.key->size() : 0) + (record.value ? record.value->size() : 0);
            stopped = !sink_.record({record.offset, record.key, size, record.value.has_value()});
            return !stopped;
        });
        if (!walked) {
            sink_.damage(batch.header.base_offset, batch_error_text(walked.error()));
        }
        return !stopped;
    }
    void damage(Offset offset, std::string_view reason) override { sink_.damage(offset, reason); }

  private:
    const ScanRange& range_;
    ScanSink& sink_;
};

}  // namespace

std::expected<void, std::string> LogScanSource::read(const ScanRange& range, ScanSink& sink) {
    SinkVisitor visitor(range, sink);
    walk_.walk(*logs_.at(static_cast<std::size_t>(range.partition.value)), range.from, range.end, visitor);
    return {};
}

}  // namespace partita::insight
