#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "broker/logs/append_steps.h"
#include "broker/logs/read_steps.h"

namespace partita::runtime {

class Connections;
class ShownPartitions;
class TopicExpansion;
struct ClientConnection;

/// Makes the expansion hear when the connection ends.
void tell_when_closed(ClientConnection& client, const std::shared_ptr<TopicExpansion>& expansion);

/// The step of one topic whose growth is watched: it notes producers, marks their batches in the fence, and holds records back
/// from readers as the fence demands (TopicExpansion).
class FenceStep final : public logs::AppendStep, public logs::ReadStep {
  public:
    explicit FenceStep(std::shared_ptr<TopicExpansion> expansion) : expansion_(std::move(expansion)) {}

    void before_staging(const logs::AppendRequest& request, const logs::Append& append, const BatchHeader& batch,
                        logs::Turn& turn) override;
    void on_found(logs::ReadRequest& request, const logs::Read& read, logs::Turn& turn) override;
    [[nodiscard]] Offset judge(const logs::ReadRequest& request, const logs::Read& read, logs::ReadResult& result, Offset bound,
                               Now now) override;

  private:
    const std::shared_ptr<TopicExpansion> expansion_;
};

/// Notes that the client of a connection writes or reads, once each. Fences and hidden partitions tell clients apart by these
/// roles (Connections, ShownPartitions).
void note_producer(ClientConnection& client, std::string_view client_id, Connections& connections, ShownPartitions& shown);
void note_consumer(ClientConnection& client, std::string_view client_id, Connections& connections, ShownPartitions& shown);

class RoleStep final : public logs::AppendStep, public logs::ReadStep {
  public:
    RoleStep(Connections& connections, ShownPartitions& shown) : connections_(connections), shown_(shown) {}

    [[nodiscard]] logs::Outcome admit(logs::AppendRequest& request, logs::Turn& turn) override;
    void admit(logs::ReadRequest& request, logs::Turn& turn) override;

  private:
    Connections& connections_;
    ShownPartitions& shown_;
};

}  // namespace partita::runtime
