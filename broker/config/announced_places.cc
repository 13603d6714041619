#include "broker/config/announced_places.h"

#include <mutex>

namespace partita::config {
namespace {

std::mutex places_mutex;
ConfigMap places;  // Guarded by places_mutex.

}  // namespace

void announce_places(const std::string& http, const std::string& data_directory) {
    const std::scoped_lock lock(places_mutex);
    places = {{"partita.http.advertised", http}, {"partita.data.directory", data_directory}};
}

ConfigMap announced_places() {
    const std::scoped_lock lock(places_mutex);
    return places;
}

}  // namespace partita::config
