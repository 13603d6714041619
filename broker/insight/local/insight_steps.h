#pragma once

#include "broker/logs/append_steps.h"
#include "broker/logs/read_steps.h"
#include "broker/logs/topic_steps.h"

/// Steps by which the observers of keys and readers see requests.

namespace partita::insight {

class FencedReads;
class RequestNotes;

/// Offers batches that the log has accepted to the observer of keys. On while that observer takes samples.
class KeySampleStep final : public logs::AppendStep {
  public:
    explicit KeySampleStep(RequestNotes& notes) : notes_(notes) {}

    void after_staging(const logs::AppendRequest& request, const logs::Append& append, logs::Turn& turn) override;

  private:
    RequestNotes& notes_;
};

/// Notes reads of partitions from which a member was removed. On while a member is suspected to keep reading.
class FencedReadStep final : public logs::ReadStep {
  public:
    explicit FencedReadStep(FencedReads& reads) : reads_(reads) {}

    void on_found(logs::ReadRequest& request, const logs::Read& read, logs::Turn& turn) override;

  private:
    FencedReads& reads_;
};

/// Reports the reads of topics that have grown, and what was sent to the readers, as a step of each such topic.
class ReaderReportStep final : public logs::ReadStep {
  public:
    explicit ReaderReportStep(RequestNotes& notes) : notes_(notes) {}

    void on_found(logs::ReadRequest& request, const logs::Read& read, logs::Turn& turn) override;
    void tell_topic(const logs::ReadRequest& request, const logs::TopicState& topic, logs::Turn& turn) override;
    void tell_changed_topic(const logs::ReadRequest& request, const logs::TopicState& topic, logs::Turn& turn) override;

  private:
    RequestNotes& notes_;
};

/// Gives each topic that has grown its step.
class ReaderReportSteps final : public logs::TopicStepSource {
  public:
    explicit ReaderReportSteps(RequestNotes& notes) : notes_(notes) {}

    void add_steps(const logs::TopicState& topic, logs::TopicSteps& steps) override;

  private:
    RequestNotes& notes_;
};

}  // namespace partita::insight
