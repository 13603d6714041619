// confluent-kafka-go as an agent: the requests and events are described in clients.py.
package main

import (
	"errors"
	"os"
	"sort"
	"strconv"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"partita/interop/go/agent"
)

const timeoutMs = 30_000

var bootstrap string

// library is confluent-kafka-go behind the operations of an agent.
type library struct{}

func (library) Code(err error) (int, bool) { return code(err) }

// code finds Kafka's error code, or librdkafka's own, which are negative.
func code(err error) (int, bool) {
	var found kafka.Error
	if errors.As(err, &found) {
		return int(found.Code()), true
	}
	return 0, false
}

// config is what all clients of a request have in common, and more.
func config(r *agent.Request, more kafka.ConfigMap) *kafka.ConfigMap {
	patience := r.UnknownTopicWaitMs
	if patience == 0 {
		patience = 10_000
	}
	// Ask at once after a topic was created; the default waits out a propagation delay of a large cluster.
	c := kafka.ConfigMap{"bootstrap.servers": bootstrap, "topic.metadata.propagation.max.ms": int(patience),
		"topic.metadata.refresh.fast.interval.ms": 50}
	if r.MetadataAgeMs != 0 {
		c["topic.metadata.refresh.interval.ms"] = int(r.MetadataAgeMs)
	}
	for name, value := range agent.Settings() {
		c[name] = value
	}
	for name, value := range more {
		c[name] = value
	}
	return &c
}

func or(value, absent string) string {
	if value == "" {
		return absent
	}
	return value
}

func newProducer(r *agent.Request) (*kafka.Producer, error) {
	return kafka.NewProducer(config(r, kafka.ConfigMap{"linger.ms": 5, "acks": or(r.Acks, "all"),
		"compression.type": or(r.Codec, "none"), "enable.idempotence": r.Idempotence == nil || *r.Idempotence,
		"message.max.bytes": 20_000_000}))
}

func newConsumer(r *agent.Request) (*kafka.Consumer, error) {
	more := kafka.ConfigMap{"enable.auto.commit": false, "auto.offset.reset": "earliest",
		"group.id": or(r.Group, "unused"), "fetch.wait.max.ms": 100}
	if r.SessionTimeoutMs != 0 {
		more["session.timeout.ms"], more["heartbeat.interval.ms"] = int(r.SessionTimeoutMs), 500
	}
	if r.InstanceID != "" {
		more["group.instance.id"] = r.InstanceID
	}
	if r.Assignor != "" {
		more["partition.assignment.strategy"] = map[string]string{"cooperative": "cooperative-sticky", "range": "range"}[r.Assignor]
	}
	return kafka.NewConsumer(config(r, more))
}

func withConsumer(r *agent.Request, f func(consumer *kafka.Consumer) error) error {
	consumer, err := newConsumer(r)
	if err != nil {
		return err
	}
	defer consumer.Close()
	return f(consumer)
}

func message(topic string, in *agent.Record, opaque interface{}) *kafka.Message {
	m := &kafka.Message{TopicPartition: kafka.TopicPartition{Topic: &topic, Partition: kafka.PartitionAny},
		Key: agent.Raw(in.Key), Value: agent.Raw(in.Value), Opaque: opaque}
	if in.Partition != nil {
		m.TopicPartition.Partition = *in.Partition
	}
	if in.Timestamp != nil {
		m.Timestamp = time.UnixMilli(*in.Timestamp)
	}
	for _, h := range in.Headers {
		m.Headers = append(m.Headers, kafka.Header{Key: *h[0], Value: agent.Raw(h[1])})
	}
	return m
}

func describe(m *kafka.Message) agent.Object {
	headers := []agent.Header{}
	for _, h := range m.Headers {
		key := h.Key
		headers = append(headers, agent.Header{&key, agent.Text(h.Value)})
	}
	return agent.Object{"topic": *m.TopicPartition.Topic, "partition": m.TopicPartition.Partition,
		"offset": int64(m.TopicPartition.Offset), "timestamp": m.Timestamp.UnixMilli(), "key": agent.Text(m.Key),
		"value": agent.Text(m.Value), "headers": headers}
}

func (library) Produce(r *agent.Request, reply agent.Object) error {
	producer, err := newProducer(r)
	if err != nil {
		return err
	}
	defer producer.Close()
	acks := make([]agent.Object, len(r.Records))
	delivered := make(chan kafka.Event, len(r.Records))
	waiting := 0
	for i := range r.Records {
		if err := producer.Produce(message(r.Topic, &r.Records[i], i), delivered); err != nil {
			acks[i] = agent.Failure(err, code)
		} else {
			waiting++
		}
	}
	for ; waiting > 0; waiting-- {
		m := (<-delivered).(*kafka.Message)
		if err := m.TopicPartition.Error; err != nil {
			acks[m.Opaque.(int)] = agent.Failure(err, code)
		} else {
			acks[m.Opaque.(int)] = agent.Object{"partition": m.TopicPartition.Partition,
				"offset": int64(m.TopicPartition.Offset)}
		}
	}
	reply["acks"] = acks
	return nil
}

// everywhere names all partitions of a topic at one offset.
func everywhere(consumer *kafka.Consumer, topic string, at kafka.Offset) ([]kafka.TopicPartition, error) {
	metadata, err := consumer.GetMetadata(&topic, false, timeoutMs)
	if err != nil {
		return nil, err
	}
	found := metadata.Topics[topic]
	if found.Error.Code() != kafka.ErrNoError {
		return nil, found.Error
	}
	all := []kafka.TopicPartition{}
	for _, p := range found.Partitions {
		all = append(all, kafka.TopicPartition{Topic: &topic, Partition: p.ID, Offset: at})
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Partition < all[j].Partition })
	return all, nil
}

func (library) Partitions(r *agent.Request, reply agent.Object) error {
	return withConsumer(r, func(consumer *kafka.Consumer) error {
		all, err := everywhere(consumer, r.Topic, kafka.OffsetInvalid)
		ids := []int32{}
		for _, p := range all {
			ids = append(ids, p.Partition)
		}
		reply["partitions"] = ids
		return err
	})
}

func (library) Read(r *agent.Request, reply agent.Object) error {
	return withConsumer(r, func(consumer *kafka.Consumer) error {
		all, err := everywhere(consumer, r.Topic, kafka.OffsetBeginning)
		if err != nil {
			return err
		}
		if err := consumer.Assign(all); err != nil {
			return err
		}
		records := []agent.Object{}
		deadline := time.Now().Add(time.Duration(r.TimeoutMs) * time.Millisecond)
		for len(records) < r.Count && time.Now().Before(deadline) {
			switch event := consumer.Poll(100).(type) {
			case *kafka.Message:
				records = append(records, describe(event))
			case kafka.Error:
				return event
			}
		}
		reply["records"] = records
		return nil
	})
}

// tell fills a reply with offsets by partition; none is what librdkafka says where there is no offset.
func tell(reply agent.Object, found []kafka.TopicPartition, keep func(offset kafka.Offset) bool) error {
	offsets := agent.Object{}
	for _, p := range found {
		if p.Error != nil {
			return p.Error
		}
		if keep(p.Offset) {
			offsets[strconv.Itoa(int(p.Partition))] = int64(p.Offset)
		}
	}
	reply["offsets"] = offsets
	return nil
}

// OffsetsForTime says "end" (-1), as librdkafka does, where no record is as late as asked for.
func (library) OffsetsForTime(r *agent.Request, reply agent.Object) error {
	return withConsumer(r, func(consumer *kafka.Consumer) error {
		wanted, err := everywhere(consumer, r.Topic, kafka.Offset(r.Timestamp))
		if err != nil {
			return err
		}
		found, err := consumer.OffsetsForTimes(wanted, timeoutMs)
		if err != nil {
			return err
		}
		return tell(reply, found, func(kafka.Offset) bool { return true })
	})
}

func (library) Committed(r *agent.Request, reply agent.Object) error {
	return withConsumer(r, func(consumer *kafka.Consumer) error {
		wanted, err := everywhere(consumer, r.Topic, kafka.OffsetInvalid)
		if err != nil {
			return err
		}
		found, err := consumer.Committed(wanted, timeoutMs)
		if err != nil {
			return err
		}
		return tell(reply, found, func(offset kafka.Offset) bool { return offset >= 0 })
	})
}

type stream struct {
	agent.Stream
	producer *kafka.Producer
	told     chan struct{}
}

func (library) StartStream(r *agent.Request, reply agent.Object) error {
	producer, err := newProducer(r)
	if err != nil {
		return err
	}
	s := &stream{producer: producer, told: make(chan struct{})}
	go s.listen()
	s.Start(r, func(n int, key string) {
		value := strconv.Itoa(n)
		if err := producer.Produce(message(r.Topic, &agent.Record{Key: &key, Value: &value}, n), nil); err != nil {
			s.Fail(n, err)
		}
	})
	reply["started"] = s
	return nil
}

func (s *stream) listen() {
	defer close(s.told)
	for event := range s.producer.Events() {
		m, ok := event.(*kafka.Message)
		if !ok {
			continue
		}
		if err := m.TopicPartition.Error; err != nil {
			s.Fail(m.Opaque.(int), err)
		} else {
			s.Add(m.Opaque.(int), m.TopicPartition.Partition, int64(m.TopicPartition.Offset))
		}
	}
}

func (s *stream) Finish(reply agent.Object) error {
	s.Stop()
	s.producer.Flush(timeoutMs)
	s.producer.Close()
	<-s.told
	s.Report(reply)
	return nil
}

func main() {
	bootstrap = os.Args[1]
	agent.Serve(library{}, "github.com/confluentinc/confluent-kafka-go/v2")
}
