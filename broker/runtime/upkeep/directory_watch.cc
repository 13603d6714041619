#include "broker/runtime/upkeep/directory_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "broker/config/log_setup.h"
#include "broker/logs/internal_logs.h"
#include "broker/logs/published_topics.h"
#include "broker/runtime/loop/fail_stop.h"
#include "broker/runtime/loop/reactor.h"

namespace partita::runtime {
namespace {

/// True for what the broker uses until it ends: its own files, and the directories of partitions that it serves. The broker
/// renames the directories of topics before it deletes them itself. Everything else in the directory is ignored.
bool is_in_use(const logs::PublishedTopics& topics, std::string_view name) {
    if (name == ".lock" || name == "partita.properties" || name == "partita-metadata") {
        return true;
    }
    const std::size_t dash = name.rfind('-');
    if (dash == std::string_view::npos) {
        return false;
    }
    if (name.substr(0, dash) == logs::kCatalogLogName) {
        return true;
    }
    std::int32_t partition = -1;
    const std::string_view number = name.substr(dash + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), partition);
    const auto table = topics.table();
    const logs::TopicState* topic = table->find(name.substr(0, dash));
    return error == std::errc() && end == number.data() + number.size() && topic != nullptr &&
           topic->topic->has_partition(PartitionIndex{partition});
}

}  // namespace

class DirectoryWatch::Events {
  public:
    Events(Reactor& first_reactor, std::string directory, const logs::PublishedTopics& topics)
        : directory_(std::move(directory)), topics_(topics), descriptor_(first_reactor.context()) {}

    void start() {
        const int events = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        if (events < 0 ||
            ::inotify_add_watch(events, directory_.c_str(), IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR) < 0) {
            log::info("storage", "cannot watch the data directory for deletion", {{"reason", std::strerror(errno)}});
            if (events >= 0) {
                ::close(events);
            }
            return;
        }
        descriptor_.assign(events);
        wait();
    }

    void stop() {
        boost::system::error_code ignored;
        descriptor_.close(ignored);
    }

  private:
    void wait() {
        descriptor_.async_read_some(boost::asio::buffer(buffer_),
                                    [this](const boost::system::error_code& error, std::size_t size_bytes) {
                                        if (!error) {
                                            take(size_bytes);
                                            wait();
                                        }
                                    });
    }

    void take(std::size_t size_bytes) {
        std::size_t at = 0;
        while (at + sizeof(inotify_event) <= size_bytes) {
            inotify_event event;
            std::memcpy(&event, buffer_.data() + at, sizeof event);
            // The name ends with its first zero; the kernel pads it with more.
            const std::string_view name =
                event.len == 0 ? std::string_view() : std::string_view(buffer_.data() + at + sizeof event);
            at += sizeof event + event.len;
            judge(event.mask, name);
        }
    }

    void judge(std::uint32_t what, std::string_view name) {
        if ((what & IN_DELETE_SELF) != 0) {
            fail_stop(io_error("continue: deleted while the broker uses it:", directory_, ENOENT));
        }
        if ((what & IN_MOVE_SELF) != 0) {
            fail_stop(io_error("continue: moved while the broker uses it:", directory_, ENOENT));
        }
        if ((what & IN_DELETE) != 0 && is_in_use(topics_, name)) {
            fail_stop(io_error("continue: deleted while the broker uses it:", directory_ + "/" + std::string(name), ENOENT));
        }
    }

    const std::string directory_;
    const logs::PublishedTopics& topics_;
    boost::asio::posix::stream_descriptor descriptor_;
    alignas(inotify_event) std::array<char, 16 * 1024> buffer_;
};

DirectoryWatch::DirectoryWatch(Reactor& first_reactor, std::string directory, const logs::PublishedTopics& topics)
    : events_(std::make_unique<Events>(first_reactor, std::move(directory), topics)) {}

DirectoryWatch::~DirectoryWatch() = default;

void DirectoryWatch::start() { events_->start(); }

void DirectoryWatch::stop() { events_->stop(); }

}  // namespace partita::runtime
