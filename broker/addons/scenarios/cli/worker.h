#pragma once

#include <expected>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "broker/addons/scenarios/cli/process.h"
#include "broker/addons/scenarios/core/run.h"
#include "schedule/executor.h"

namespace partita::scenarios {

/// Carries out deeds that wait for the broker, one at a time, on a thread of its own, so that the application is heard meanwhile.
class DeedWorker {
  public:
    /// The error is a sentence.
    [[nodiscard]] static std::expected<std::unique_ptr<DeedWorker>, std::string> make(std::string kafka, std::string http);
    /// Ends a deed that is under way. The broker should be gone by then, or it may take as long as the deed.
    ~DeedWorker();
    DeedWorker(const DeedWorker&) = delete;
    DeedWorker& operator=(const DeedWorker&) = delete;

    /// Begins a deed: Write, Ask, ReadRecords or ReadReports. The one before must be done.
    void begin(Deed deed, std::string report_source);
    /// Becomes readable when the deed is done.
    [[nodiscard]] int descriptor() const { return done_.out.get(); }
    /// The event of a deed that is done; unset while one is under way, or none was begun.
    [[nodiscard]] std::optional<Event> take();

  private:
    DeedWorker(std::string kafka, std::string http, Pipe done, Pipe cancel)
        : kafka_(std::move(kafka)), http_(std::move(http)), done_(std::move(done)), cancel_(std::move(cancel)) {}

    const std::string kafka_;
    const std::string http_;
    Pipe done_;
    Pipe cancel_;
    std::future<Event> result_;
    std::unique_ptr<Worker> worker_;
};

}  // namespace partita::scenarios
