#include "protocol/arena.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "protocol/assert.h"

namespace partita {

struct alignas(std::max_align_t) Arena::Chunk {
    Chunk* next;
    std::size_t capacity;

    [[nodiscard]] std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(this + 1); }
};

Arena::~Arena() { free_all(); }

Arena::Arena(Arena&& other) noexcept { *this = std::move(other); }

Arena& Arena::operator=(Arena&& other) noexcept {
    if (this == &other) {
        return *this;
    }
    free_all();
    chunks_ = std::exchange(other.chunks_, nullptr);
    spare_ = std::exchange(other.spare_, nullptr);
    position_ = std::exchange(other.position_, 0);
    end_ = std::exchange(other.end_, 0);
    limit_ = std::exchange(other.limit_, kNoLimit);
    limited_ = std::exchange(other.limited_, 0);
    reserved_ = std::exchange(other.reserved_, 0);
    return *this;
}

void Arena::free_all() {
    for (Chunk* list : {std::exchange(chunks_, nullptr), std::exchange(spare_, nullptr)}) {
        while (list != nullptr) {
            std::free(std::exchange(list, list->next));
        }
    }
    position_ = end_ = 0;
    reserved_ = 0;
}

void Arena::use(Chunk* chunk) {
    chunk->next = chunks_;
    chunks_ = chunk;
    position_ = chunk->begin();
    end_ = position_ + chunk->capacity;
}

void* Arena::allocate_in_new_chunk(std::size_t size, std::size_t alignment) {
    PARTITA_ASSERT(alignment <= alignof(std::max_align_t), "the arena serves ordinary alignments only");
    if (spare_ != nullptr && spare_->capacity >= size) {
        use(std::exchange(spare_, spare_->next));
    } else {
        const std::size_t ordinary = std::clamp(reserved_, kSmallestChunk, kLargestChunk) - sizeof(Chunk);
        const std::size_t capacity = std::max(size, ordinary);
        auto* chunk = static_cast<Chunk*>(std::malloc(sizeof(Chunk) + capacity));
        PARTITA_ASSERT(chunk != nullptr, "out of memory");
        chunk->capacity = capacity;
        reserved_ += sizeof(Chunk) + capacity;
        use(chunk);
    }
    const std::uintptr_t start = position_;
    position_ += size;
    return reinterpret_cast<void*>(start);
}

void Arena::reset(std::size_t limit_bytes) {
    limit_ = limit_bytes;
    limited_ = 0;
    // Puts all chunks into one list, and keeps the largest ones that fit the allowance. The next request of the same size then
    // needs no malloc, and one huge request does not hold its memory for ever.
    while (spare_ != nullptr) {
        Chunk* chunk = std::exchange(spare_, spare_->next);
        chunk->next = chunks_;
        chunks_ = chunk;
    }
    std::size_t kept = 0;
    Chunk* sorted = nullptr;
    while (chunks_ != nullptr) {
        Chunk* chunk = std::exchange(chunks_, chunks_->next);
        const std::size_t total = sizeof(Chunk) + chunk->capacity;
        if (kept + total > kRetainedBytes) {
            reserved_ -= total;
            std::free(chunk);
            continue;
        }
        kept += total;
        Chunk** place = &sorted;
        while (*place != nullptr && (*place)->capacity > chunk->capacity) {
            place = &(*place)->next;
        }
        chunk->next = *place;
        *place = chunk;
    }
    spare_ = sorted;
    position_ = end_ = 0;
}

}  // namespace partita
