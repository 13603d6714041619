#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <map>

#include "broker/insight/identity/client_registry.h"
#include "protocol/types.h"

/// The places of records that producers placed by an earlier count after the topic had grown. These records stay there when the
/// producer switches or is gone. A group that already has newer records of the same keys may still get them, too late. Pure and
/// bounded: the client that wrote longest ago is forgotten first.
namespace partita::insight {

class StaleWrites {
  public:
    static constexpr std::size_t kWritersMax = 256;
    /// Most partitions of all writers together.
    static constexpr std::size_t kPlacesMax = 4096;

    /// The records that one client wrote by an earlier count after one expansion.
    struct Writer {
        ClientIdentity client;
        std::int32_t old_count = 0;
        std::int32_t new_count = 0;
        std::int64_t records = 0;
        /// False: further records may exist that nobody looked at.
        bool is_exact = true;
        /// Milliseconds between the expansion and the last of these records.
        std::int64_t last_after_ms = 0;
        /// The last of these records in each partition.
        std::map<PartitionIndex, Offset> last;
        /// The client has not switched yet and is not silent: H04 then reports it as a producer.
        bool is_writing = false;
        /// When it will count as silent, if it is still writing and nothing more comes.
        TimestampMs silent_from = kNoTimestamp;
    };

    void note(const ClientIdentity& client, std::int32_t old_count, std::int32_t new_count, PartitionIndex partition,
              Offset offset, std::int64_t after_ms) {
        Writer& writer = writer_of(client, old_count, new_count);
        ++writer.records;
        writer.last_after_ms = after_ms;
        if (const auto known = writer.last.find(partition); known != writer.last.end()) {
            known->second = offset;
            return;
        }
        while (writers_.size() > kWritersMax || (places_ == kPlacesMax && writers_.size() > 1)) {
            places_ -= writers_.front().last.size();
            writers_.pop_front();
        }
        if (places_ < kPlacesMax) {
            writer.last.emplace(partition, offset);
            ++places_;
        }
    }
    /// All writers in the order of their last writes, the oldest first.
    [[nodiscard]] const std::list<Writer>& writers() const { return writers_; }

  private:
    /// Finds the client's entry, or creates one, and moves it to the end.
    Writer& writer_of(const ClientIdentity& client, std::int32_t old_count, std::int32_t new_count) {
        for (auto known = writers_.rbegin(); known != writers_.rend(); ++known) {
            if (known->new_count == new_count && known->client == client) {
                writers_.splice(writers_.end(), writers_, std::prev(known.base()));
                return writers_.back();
            }
        }
        return writers_.emplace_back(Writer{.client = client, .old_count = old_count, .new_count = new_count});
    }

    std::list<Writer> writers_;
    std::size_t places_ = 0;
};

}  // namespace partita::insight
