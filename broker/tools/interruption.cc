#include "broker/tools/interruption.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "protocol/assert.h"

namespace partita::tools {
namespace {

volatile std::sig_atomic_t is_interrupted = 0;
volatile std::sig_atomic_t wake_descriptor = -1;

void interrupt(int) {
    const int saved = errno;
    is_interrupted = 1;
    const char byte = 0;
    // The pipe has room for one byte, or already contains one.
    [[maybe_unused]] const auto written = ::write(wake_descriptor, &byte, 1);
    errno = saved;
}

void handle(void (*handler)(int)) {
    struct sigaction action{};
    action.sa_handler = handler;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (const int signal : {SIGINT, SIGTERM}) {
        ::sigaction(signal, &action, nullptr);
    }
}

}  // namespace

Interruption::Interruption() {
    PARTITA_ASSERT(wake_descriptor < 0, "one of these in a process");
    // Without the pipe a wait ends later; nothing else changes.
    if (::pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) != 0) {
        pipe_[0] = pipe_[1] = -1;
    }
    is_interrupted = 0;
    wake_descriptor = pipe_[1];
    handle(interrupt);
    std::signal(SIGPIPE, SIG_IGN);
}

Interruption::~Interruption() {
    handle(SIG_DFL);
    wake_descriptor = -1;
    for (const int descriptor : pipe_) {
        if (descriptor >= 0) {
            ::close(descriptor);
        }
    }
}

bool Interruption::is_asked() const { return is_interrupted != 0; }

}  // namespace partita::tools
