#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "broker/addons/capture/core/event_data.h"

namespace partita::test {

/// An event as a capture file has it. The value of a property follows the number of its branch in the union.
struct AvroEvent {
    std::int64_t sequence_number = 0;
    std::string offset;
    std::string enqueued_time;
    std::map<std::string, std::string> system_properties;
    std::map<std::string, std::string> properties;
    std::optional<std::string> body;
};

/// Reads capture files by Avro's specification, without the code that wrote them. Throws for anything that breaks the
/// specification.
class AvroFileReader {
  public:
    static std::vector<AvroEvent> read(std::string_view file) { return AvroFileReader(file).events(); }

  private:
    explicit AvroFileReader(std::string_view file) : left_(file) {}

    std::vector<AvroEvent> events() {
        if (take(4) != std::string_view("Obj\1", 4)) {
            throw std::runtime_error("no magic");
        }
        std::map<std::string, std::string> metadata;
        for (std::int64_t count = number(); count != 0; count = number()) {
            for (; count > 0; --count) {
                std::string name = text();
                metadata[std::move(name)] = text();
            }
        }
        if (metadata.at("avro.codec") != "null" || metadata.at("avro.schema") != capture::event_data_schema()) {
            throw std::runtime_error("not the metadata of capture");
        }
        const std::string sync(take(16));
        std::vector<AvroEvent> events;
        while (!left_.empty()) {
            const std::int64_t count = number();
            const auto bytes = static_cast<std::size_t>(number());
            const std::size_t end = left_.size() - bytes;
            for (std::int64_t index = 0; index < count; ++index) {
                events.push_back(event());
            }
            if (left_.size() != end || take(16) != sync) {
                throw std::runtime_error("a block does not end where it says");
            }
        }
        return events;
    }
    AvroEvent event() {
        AvroEvent event;
        event.sequence_number = number();
        event.offset = text();
        event.enqueued_time = text();
        event.system_properties = properties();
        event.properties = properties();
        if (number() == 1) {
            event.body = text();
        }
        return event;
    }
    std::map<std::string, std::string> properties() {
        std::map<std::string, std::string> found;
        for (std::int64_t count = number(); count != 0; count = number()) {
            for (; count > 0; --count) {
                std::string name = text();
                const std::int64_t branch = number();
                std::string value = branch == 0 ? std::to_string(number()) : text();
                if (!found.emplace(std::move(name), std::to_string(branch) + ":" + value).second) {
                    throw std::runtime_error("a property twice");
                }
            }
        }
        return found;
    }
    std::int64_t number() {
        std::uint64_t value = 0;
        for (int shift = 0;; shift += 7) {
            const auto byte = static_cast<std::uint8_t>(take(1)[0]);
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if ((byte & 0x80) == 0) {
                break;
            }
        }
        return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
    }
    std::string text() { return std::string(take(static_cast<std::size_t>(number()))); }
    std::string_view take(std::size_t size) {
        if (size > left_.size()) {
            throw std::runtime_error("the file ends early");
        }
        const std::string_view taken = left_.substr(0, size);
        left_.remove_prefix(size);
        return taken;
    }

    std::string_view left_;
};

}  // namespace partita::test
