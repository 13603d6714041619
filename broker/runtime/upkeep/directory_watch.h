#pragma once

#include <memory>
#include <string>

namespace partita::logs {
class PublishedTopics;
}  // namespace partita::logs

namespace partita::runtime {

class Reactor;

/// Notices that somebody deletes or moves the data directory, or takes away what the broker did not, while it runs: what is
/// written into files without a name is gone with the process, so nothing more may be acknowledged. The kernel tells
/// (inotify): `rm -rf` ends the broker as soon as the first file of the broker's own, or the first directory of a partition that
/// it serves, is gone, and producing pays nothing for it. What is deleted inside of a partition's directory, which stays
/// itself, is not noticed here.
///
/// Lives on the first reactor.
class DirectoryWatch {
  public:
    DirectoryWatch(Reactor& first_reactor, std::string directory, const logs::PublishedTopics& topics);
    ~DirectoryWatch();

    /// Where the kernel gives no watch (there are bounds for each user) the log says so, and the broker runs without.
    void start();
    /// Before the broker takes its own files away. On the first reactor's thread, or after it ended.
    void stop();

  private:
    class Events;
    std::unique_ptr<Events> events_;
};

}  // namespace partita::runtime
