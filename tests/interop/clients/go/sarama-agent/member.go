package main

import (
	"context"
	"errors"

	"github.com/IBM/sarama"

	"partita/interop/go/agent"
)

// A member of a group: reports every record once it has it, then commits it.
type member struct {
	group  sarama.ConsumerGroup
	name   string
	topic  string
	cancel context.CancelFunc
	done   chan struct{}
}

func (library) StartMember(r *agent.Request, reply agent.Object) error {
	group, err := sarama.NewConsumerGroup([]string{bootstrap}, r.Group, config(r))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &member{group: group, name: r.Name, topic: r.Topic, cancel: cancel, done: make(chan struct{})}
	go m.listen()
	go m.run(ctx)
	reply["started"] = m
	return nil
}

// listen tells of the errors that sarama reports beside the sessions.
func (m *member) listen() {
	for err := range m.group.Errors() {
		found, _ := code(err)
		switch sarama.KError(found) {
		case sarama.ErrRebalanceInProgress, sarama.ErrIllegalGeneration, sarama.ErrUnknownMemberId:
			event := agent.Failure(err, code)
			event["member"], event["event"], event["partitions"] = m.name, "commit_failed", []int32{}
			agent.Emit(event)
		default:
			m.fail(err)
		}
	}
}

func (m *member) run(ctx context.Context) {
	defer close(m.done)
	for ctx.Err() == nil {
		if err := m.group.Consume(ctx, []string{m.topic}, m); err != nil && !errors.Is(err, sarama.ErrClosedConsumerGroup) {
			m.fail(err)
			return
		}
	}
}

func (m *member) fail(err error) {
	event := agent.Failure(err, code)
	event["member"], event["event"] = m.name, "failed"
	agent.Emit(event)
}

func (m *member) Finish(agent.Object) error {
	m.cancel()
	<-m.done
	err := m.group.Close()
	agent.Emit(agent.Object{"member": m.name, "event": "closed"})
	return err
}

// Setup begins a generation.
func (m *member) Setup(session sarama.ConsumerGroupSession) error {
	agent.EmitOwned(m.name, "assigned", session.Claims()[m.topic])
	return nil
}

// Cleanup ends a generation; sarama commits what is marked afterwards, too.
func (m *member) Cleanup(session sarama.ConsumerGroupSession) error {
	session.Commit()
	agent.EmitOwned(m.name, "revoked", nil)
	return nil
}

// ConsumeClaim serves one partition of a generation.
func (m *member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message, ok := <-claim.Messages():
			if !ok {
				return nil
			}
			agent.EmitRecord(m.name, describe(message))
			session.MarkMessage(message, "")
			// Commits a batch: what is already here is taken first.
			if len(claim.Messages()) == 0 {
				session.Commit()
			}
		case <-session.Context().Done():
			return nil
		}
	}
}
