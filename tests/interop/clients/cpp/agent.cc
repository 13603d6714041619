#include "tests/interop/clients/cpp/agent.h"

#include <iostream>

namespace agent {

void emit(const Json& line) {
    static std::mutex mutex;
    const std::scoped_lock lock(mutex);
    std::cout << line.dump() << std::endl;
}

std::optional<std::string> text(const Json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || found->is_null()) {
        return std::nullopt;
    }
    return found->get<std::string>();
}

Json text_of(const void* bytes, std::size_t size) {
    if (bytes == nullptr) {
        return nullptr;
    }
    return std::string(static_cast<const char*>(bytes), size);
}

void Progress::add(int n, int partition, std::int64_t offset) {
    const std::scoped_lock lock(mutex_);
    acked_.push_back({n, partition, offset});
    const bool is_first = seen_.insert(partition).second;
    if (is_first || acked_.size() % 1000 == 0) {
        emit({{"stream", name_},
              {"event", is_first ? "partition" : "progress"},
              {"partition", partition},
              {"acked", acked_.size()}});
    }
}

void Progress::fail(int n, const std::string& error) {
    const std::scoped_lock lock(mutex_);
    failed_.push_back({n, error});
}

Json Progress::reply() const {
    const std::scoped_lock lock(mutex_);
    return {{"acked", acked_}, {"failed", failed_}};
}

void serve(const Operations& operations) {
    std::map<std::string, std::unique_ptr<Running>> running;
    const auto answer = [&](const Json& request) -> Json {
        const std::string name = request.at("op");
        if (const auto start = operations.starts.find(name); start != operations.starts.end()) {
            running[request.at("name")] = start->second(request);
            return Json::object();
        }
        if (name == "stream_stop" || name == "member_stop") {
            const auto stopped = running.extract(request.at("name").get<std::string>());
            return stopped.mapped()->finish();
        }
        return operations.calls.at(name)(request);
    };
    for (std::string line; std::getline(std::cin, line);) {
        const Json request = Json::parse(line);
        Json reply;
        try {
            reply = answer(request);
            reply["ok"] = true;
        } catch (const Failure& failure) {
            reply = failure.fields();
        }
        reply["reply"] = request.at("id");
        emit(reply);
    }
}

}  // namespace agent
