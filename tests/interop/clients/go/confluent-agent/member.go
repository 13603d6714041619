package main

import (
	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"partita/interop/go/agent"
)

// maximumBatch bounds what is taken before a commit.
const maximumBatch = 500

// A member of a group: reports every record once it has it, then commits it. Rebalances are told within its polls.
type member struct {
	consumer    *kafka.Consumer
	name        string
	topic       string
	owned       map[int32]bool
	uncommitted map[int32]kafka.Offset
	stop, done  chan struct{}
}

func (library) StartMember(r *agent.Request, reply agent.Object) error {
	consumer, err := newConsumer(r)
	if err != nil {
		return err
	}
	m := &member{consumer: consumer, name: r.Name, topic: r.Topic, owned: map[int32]bool{},
		uncommitted: map[int32]kafka.Offset{}, stop: make(chan struct{}), done: make(chan struct{})}
	if err := consumer.Subscribe(r.Topic, m.rebalance); err != nil {
		return err
	}
	go m.run()
	reply["started"] = m
	return nil
}

func (m *member) rebalance(consumer *kafka.Consumer, event kafka.Event) error {
	change := "assigned"
	switch e := event.(type) {
	case kafka.AssignedPartitions:
		for _, p := range e.Partitions {
			m.owned[p.Partition] = true
		}
	case kafka.RevokedPartitions:
		change = "lost"
		if !consumer.AssignmentLost() {
			change = "revoked"
			m.commit()
		}
		for _, p := range e.Partitions {
			delete(m.owned, p.Partition)
			delete(m.uncommitted, p.Partition)
		}
	}
	owned := []int32{}
	for p := range m.owned {
		owned = append(owned, p)
	}
	agent.EmitOwned(m.name, change, owned)
	return nil
}

// commit commits what was taken. A refusal that a rebalance explains is told and kept: the revocation or the next round
// commits it. It says false if there is nothing to hope for.
func (m *member) commit() bool {
	if len(m.uncommitted) == 0 {
		return true
	}
	offsets, partitions := []kafka.TopicPartition{}, []int32{}
	for p, next := range m.uncommitted {
		offsets = append(offsets, kafka.TopicPartition{Topic: &m.topic, Partition: p, Offset: next})
		partitions = append(partitions, p)
	}
	_, err := m.consumer.CommitOffsets(offsets)
	if err == nil {
		m.uncommitted = map[int32]kafka.Offset{}
		return true
	}
	switch found, _ := code(err); kafka.ErrorCode(found) {
	case kafka.ErrRebalanceInProgress, kafka.ErrIllegalGeneration, kafka.ErrUnknownMemberID:
		m.tell("commit_failed", err, partitions)
		return true
	}
	m.tell("failed", err, partitions)
	return false
}

func (m *member) tell(what string, err error, partitions []int32) {
	event := agent.Failure(err, code)
	event["member"], event["event"], event["partitions"] = m.name, what, partitions
	agent.Emit(event)
}

// take says false when the member is over.
func (m *member) take() bool {
	patienceMs := 100
	for i := 0; i < maximumBatch; i++ {
		switch event := m.consumer.Poll(patienceMs).(type) {
		case *kafka.Message:
			agent.EmitRecord(m.name, describe(event))
			m.uncommitted[event.TopicPartition.Partition] = event.TopicPartition.Offset + 1
			patienceMs = 0
		case kafka.Error:
			// Others are for information: the library goes on by itself.
			if event.IsFatal() {
				m.tell("failed", event, []int32{})
				return false
			}
		case nil:
			return m.commit()
		}
	}
	return m.commit()
}

func (m *member) run() {
	defer close(m.done)
	for m.take() {
		select {
		case <-m.stop:
			return
		default:
		}
	}
}

func (m *member) Finish(agent.Object) error {
	close(m.stop)
	<-m.done
	err := m.consumer.Close()
	agent.Emit(agent.Object{"member": m.name, "event": "closed"})
	return err
}
