#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

/// The part of an agent that does not depend on its library: it speaks the language of clients.py over the standard streams.
namespace agent {

using Json = nlohmann::json;

/// A request that the library answered with an error.
struct Failure : std::runtime_error {
    Failure(int code, const std::string& message) : std::runtime_error(message), code(code) {}

    /// The fields of a failed reply.
    [[nodiscard]] Json fields() const { return {{"ok", false}, {"code", code}, {"message", what()}, {"type", "Failure"}}; }

    int code;
};

/// Writes one line.
void emit(const Json& line);

/// Returns a text of a request; nothing when it is null or absent.
[[nodiscard]] std::optional<std::string> text(const Json& object, const char* name);
/// Returns the bytes of a record as text; null when there are none.
[[nodiscard]] Json text_of(const void* bytes, std::size_t size);

/// Collects what a stream learned from its acknowledgements. Thread-safe.
class Progress {
  public:
    explicit Progress(std::string name) : name_(std::move(name)) {}

    /// Reports the first acknowledgement of a partition and every thousandth.
    void add(int n, int partition, std::int64_t offset);
    void fail(int n, const std::string& error);
    /// The reply to stream_stop.
    [[nodiscard]] Json reply() const;

  private:
    const std::string name_;
    mutable std::mutex mutex_;
    Json acked_ = Json::array();
    Json failed_ = Json::array();
    std::set<int> seen_;
};

/// A stream or a member at work.
class Running {
  public:
    virtual ~Running() = default;
    /// Ends it. The reply to stream_stop or member_stop.
    [[nodiscard]] virtual Json finish() = 0;
};

struct Operations {
    /// By name: the fields of the reply, or a Failure.
    std::map<std::string, std::function<Json(const Json&)>> calls;
    /// stream_start and member_start.
    std::map<std::string, std::function<std::unique_ptr<Running>(const Json&)>> starts;
};

/// Answers requests until standard input ends.
void serve(const Operations& operations);

}  // namespace agent
