package main

import (
	"context"
	"errors"
	"time"

	"github.com/segmentio/kafka-go"

	"partita/interop/go/agent"
)

// A member of a group: reports every record once it has it, then commits it. It sits on kafka-go's ConsumerGroup, as
// its Reader does, because the Reader does not tell what it was assigned.
type member struct {
	group  *kafka.ConsumerGroup
	name   string
	topic  string
	cancel context.CancelFunc
	done   chan struct{}
}

func (library) StartMember(r *agent.Request, reply agent.Object) error {
	config := kafka.ConsumerGroupConfig{ID: r.Group, Brokers: []string{bootstrap}, Topics: []string{r.Topic}, Dialer: dialer(),
		GroupBalancers: []kafka.GroupBalancer{kafka.RangeGroupBalancer{}}, StartOffset: kafka.FirstOffset,
		HeartbeatInterval: 500 * time.Millisecond, JoinGroupBackoff: 200 * time.Millisecond}
	if r.SessionTimeoutMs != 0 {
		config.SessionTimeout = time.Duration(r.SessionTimeoutMs) * time.Millisecond
	}
	if r.MetadataAgeMs != 0 {
		config.WatchPartitionChanges = true
		config.PartitionWatchInterval = time.Duration(r.MetadataAgeMs) * time.Millisecond
	}
	group, err := kafka.NewConsumerGroup(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &member{group: group, name: r.Name, topic: r.Topic, cancel: cancel, done: make(chan struct{})}
	go m.run(ctx)
	reply["started"] = m
	return nil
}

func (m *member) run(ctx context.Context) {
	defer close(m.done)
	for {
		generation, err := m.group.Next(ctx)
		switch {
		case ctx.Err() != nil || errors.Is(err, kafka.ErrGroupClosed):
			return
		case err != nil:
			// kafka-go reports what it is going to retry: a coordinator that rebalances, for example.
			if _, ok := code(err); !ok {
				m.tell("failed", err)
				return
			}
			continue
		}
		owned := []int32{}
		for _, assignment := range generation.Assignments[m.topic] {
			owned = append(owned, int32(assignment.ID))
		}
		agent.EmitOwned(m.name, "assigned", owned)
		for _, assignment := range generation.Assignments[m.topic] {
			assignment := assignment
			generation.Start(func(ctx context.Context) { m.consume(ctx, generation, assignment) })
		}
	}
}

// consume serves one partition until the generation ends.
func (m *member) consume(ctx context.Context, generation *kafka.Generation, assignment kafka.PartitionAssignment) {
	from := reader(m.topic, assignment.ID)
	defer from.Close()
	if err := from.SetOffset(assignment.Offset); err != nil {
		m.tell("failed", err)
		return
	}
	for {
		message, err := from.ReadMessage(ctx)
		if err != nil {
			if !errors.Is(err, kafka.ErrGenerationEnded) {
				m.tell("failed", err)
			}
			return
		}
		agent.EmitRecord(m.name, describe(message))
		err = generation.CommitOffsets(map[string]map[int]int64{m.topic: {assignment.ID: message.Offset + 1}})
		if err != nil {
			m.tell("commit_failed", err)
			return
		}
	}
}

func (m *member) tell(what string, err error) {
	event := agent.Failure(err, code)
	event["member"], event["event"], event["partitions"] = m.name, what, []int32{}
	agent.Emit(event)
}

func (m *member) Finish(agent.Object) error {
	m.cancel()
	err := m.group.Close()
	<-m.done
	agent.Emit(agent.Object{"member": m.name, "event": "closed"})
	return err
}
