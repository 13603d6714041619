#include "storage/mapped_window.h"

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/ucontext.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <mutex>
#include <utility>

#include "protocol/assert.h"

namespace partita {
namespace {

/// Where a copy on this thread continues if the system cannot provide a page.
thread_local sigjmp_buf* way_out = nullptr;
/// The signals that the thread had blocked before.
thread_local sigset_t blocked_before{};
/// The earlier handler of the signal.
struct sigaction predecessor{};

void on_bus_error(int signal, siginfo_t* info, void* context) {
    if (way_out != nullptr) {
        blocked_before = static_cast<const ucontext_t*>(context)->uc_sigmask;
        siglongjmp(*way_out, 1);
    }
    if ((predecessor.sa_flags & SA_SIGINFO) != 0) {
        return predecessor.sa_sigaction(signal, info, context);
    }
    if (predecessor.sa_handler != SIG_DFL && predecessor.sa_handler != SIG_IGN) {
        return predecessor.sa_handler(signal);
    }
    // The failed access runs again when this returns. It then ends the process, as it would have without this room.
    ::sigaction(SIGBUS, &predecessor, nullptr);
}

void take_over_bus_errors() {
    static std::once_flag done;
    std::call_once(done, [] {
        struct sigaction action{};
        action.sa_sigaction = on_bus_error;
        action.sa_flags = SA_SIGINFO;
        PARTITA_ASSERT(::sigaction(SIGBUS, &action, &predecessor) == 0, "SIGBUS can be handled");
    });
}

/// Copies into memory that a file backs. False if the system could not provide a page, because the device failed or another
/// process cut the file. A plain copy would then end the process by SIGBUS. After a failure a part may have been copied.
bool copy_to_mapped(std::byte* to, Bytes from) {
    sigjmp_buf here;
    // The signal mask is not saved, which would cost a system call for each copy.
    if (sigsetjmp(here, 0) != 0) {
        way_out = nullptr;
        // The jump left the handler without returning from it, which would have restored the mask.
        PARTITA_ASSERT(::pthread_sigmask(SIG_SETMASK, &blocked_before, nullptr) == 0, "a mask that was there can be set");
        return false;
    }
    way_out = &here;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::memcpy(to, from.data(), from.size());
    std::atomic_signal_fence(std::memory_order_seq_cst);
    way_out = nullptr;
    return true;
}

/// True for file systems where written bytes can be replaced even when the disk is full. ext4 and XFS reserve the blocks when
/// they accept a write, though they choose them later. A file system that copies on write needs new blocks each time. A file
/// served by another process or machine may be read by others without this page cache.
bool is_trusted_with_windows(int descriptor) {
    struct statfs status{};
    if (::fstatfs(descriptor, &status) != 0) {
        return false;
    }
    return status.f_type == EXT4_SUPER_MAGIC || status.f_type == XFS_SUPER_MAGIC || status.f_type == TMPFS_MAGIC;
}

std::uint64_t page_bytes() {
    static const auto kBytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return kBytes;
}

std::atomic<std::size_t> window_count{0};

/// One of the windows that the process may have.
class WindowPermit {
  public:
    WindowPermit() : is_granted_(window_count.fetch_add(1, std::memory_order_relaxed) < kWindowsMax) {}
    ~WindowPermit() { window_count.fetch_sub(1, std::memory_order_relaxed); }
    WindowPermit(const WindowPermit&) = delete;
    WindowPermit& operator=(const WindowPermit&) = delete;

    [[nodiscard]] bool is_granted() const { return is_granted_; }

  private:
    const bool is_granted_;
};

class MappedWindow final : public FileWindow {
  public:
    MappedWindow(std::unique_ptr<WindowPermit> permit, std::string path, std::byte* memory, std::uint64_t first,
                 std::uint64_t end)
        : permit_(std::move(permit)), path_(std::move(path)), memory_(memory), first_(first), end_(end) {}
    ~MappedWindow() override { ::munmap(memory_, end_ - first_); }

    [[nodiscard]] std::uint64_t end() const override { return end_; }

    void prepare(std::uint64_t from, std::uint64_t end) override {
        PARTITA_ASSERT(from >= first_ && from <= end && end <= end_, "a window is prepared within");
        const std::uint64_t page = from - from % page_bytes();
        // One fault for a run of pages replaces one fault for each. A write to a page that is missing now asks for it again.
        (void)::madvise(memory_ + (page - first_), end - page, MADV_POPULATE_WRITE);
    }

    StorageResult<void> write_at(std::uint64_t position, std::span<const Bytes> pieces) override {
        for (const Bytes piece : pieces) {
            PARTITA_ASSERT(position >= first_ && position <= end_ && piece.size() <= end_ - position,
                           "a window is written within");
            if (!copy_to_mapped(memory_ + (position - first_), piece)) {
                return std::unexpected(io_error("write", path_, EIO));
            }
            position += piece.size();
        }
        return {};
    }

  private:
    const std::unique_ptr<WindowPermit> permit_;
    const std::string path_;
    std::byte* const memory_;
    /// Positions in the file; the first one is the start of a page.
    const std::uint64_t first_;
    const std::uint64_t end_;
};

}  // namespace

StorageResult<std::unique_ptr<FileWindow>> map_window(int descriptor, const std::string& path, std::uint64_t position,
                                                      std::uint64_t length) {
    if (!is_trusted_with_windows(descriptor)) {
        return nullptr;
    }
    auto permit = std::make_unique<WindowPermit>();
    if (!permit->is_granted()) {
        return nullptr;
    }
    take_over_bus_errors();
    const std::uint64_t first = position - position % page_bytes();
    const std::uint64_t end = position + length;
    void* const memory = ::mmap(nullptr, end - first, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, static_cast<off_t>(first));
    if (memory == MAP_FAILED) {
        return std::unexpected(io_error("map", path, errno));
    }
    return std::make_unique<MappedWindow>(std::move(permit), path, static_cast<std::byte*>(memory), first, end);
}

}  // namespace partita
