#include "broker/cli/librdkafka.h"

#include <dlfcn.h>

namespace partita::cli {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    return function != nullptr;
}

}  // namespace

std::expected<std::unique_ptr<Librdkafka>, std::string> Librdkafka::load() {
    constexpr const char* kLibrary = "librdkafka.so.1";
    // Never closed again: its threads may outlive what we know of them, and the process ends soon.
    void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        return std::unexpected(std::string("--bootstrap needs librdkafka, which is not here (apt-get install librdkafka1): ") +
                               ::dlerror());
    }
    auto functions = std::make_unique<Librdkafka>();
    const char* missing = nullptr;
#define PARTITA_FIND(name) \
    if (!find(library, "rd_kafka_" #name, functions->name)) missing = "rd_kafka_" #name;
    PARTITA_LIBRDKAFKA_FUNCTIONS(PARTITA_FIND)
#undef PARTITA_FIND
    if (!find(library, "rd_kafka_new", functions->new_handle)) {
        missing = "rd_kafka_new";
    }
    if (missing != nullptr) {
        return std::unexpected(std::string("the librdkafka that is here is too old (2.0 is needed): it has no ") + missing);
    }
    return functions;
}

}  // namespace partita::cli
