#pragma once

#include <memory>
#include <string>

namespace partita::logs {
class PublishedTopics;
}  // namespace partita::logs

namespace partita::runtime {

class Reactor;

/// Notices when another program deletes or moves the data directory, or parts of it, while the broker runs. Writes to deleted
/// files vanish with the process, so the broker must not acknowledge anything more.
///
/// The kernel reports deletions (inotify), so producing costs nothing extra. `rm -rf` ends the broker as soon as the first of its
/// own files, or the first directory of a served partition, is gone. A deletion inside a partition's directory is not noticed if
/// the directory itself stays.
///
/// Lives on the first reactor.
class DirectoryWatch {
  public:
    DirectoryWatch(Reactor& first_reactor, std::string directory, const logs::PublishedTopics& topics);
    ~DirectoryWatch();

    /// Starts watching. If the kernel gives no watch (each user has a limit), the broker logs that and runs without one.
    void start();
    /// Stops watching. Call this before the broker removes its own files, on the first reactor's thread or after that thread
    /// ended.
    void stop();

  private:
    class Events;
    std::unique_ptr<Events> events_;
};

}  // namespace partita::runtime
