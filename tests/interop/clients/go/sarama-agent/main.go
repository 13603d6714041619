// sarama as an agent: the requests and events are described in clients.py.
package main

import (
	"errors"
	"os"
	"sort"
	"strconv"
	"time"

	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"

	"partita/interop/go/agent"
)

var bootstrap string

// library is sarama behind the operations of an agent.
type library struct{}

func (library) Code(err error) (int, bool) { return code(err) }

// code finds Kafka's error code.
func code(err error) (int, bool) {
	var kafka sarama.KError
	if errors.As(err, &kafka) {
		return int(kafka), true
	}
	return 0, false
}

// A conversation of SCRAM, which sarama leaves to others.
type conversation struct{ *scram.ClientConversation }

func (c *conversation) Begin(user, password, authorization string) error {
	client, err := scram.SHA512.NewClient(user, password, authorization)
	if err == nil {
		c.ClientConversation = client.NewConversation()
	}
	return err
}

// identify says who the client is.
func identify(c *sarama.Config) {
	who := agent.Who()
	c.Net.TLS.Enable, c.Net.TLS.Config = who.TLS != nil, who.TLS
	if who.User != "" {
		c.Net.SASL.Enable, c.Net.SASL.User, c.Net.SASL.Password = true, who.User, who.Password
		c.Net.SASL.Mechanism = sarama.SASLTypeSCRAMSHA512
		c.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &conversation{} }
	}
}

func config(r *agent.Request) *sarama.Config {
	c := sarama.NewConfig()
	c.Version = sarama.MaxVersion
	identify(c)
	c.Metadata.Retry.Backoff = 50 * time.Millisecond
	if r.MetadataAgeMs != 0 {
		c.Metadata.RefreshFrequency = time.Duration(r.MetadataAgeMs) * time.Millisecond
	}
	if r.UnknownTopicWaitMs != 0 {
		c.Metadata.Retry.Max = 1
	}
	c.Consumer.MaxWaitTime = 100 * time.Millisecond
	c.Consumer.Offsets.Initial = sarama.OffsetOldest
	if r.Reset == "latest" {
		c.Consumer.Offsets.Initial = sarama.OffsetNewest
	}
	if r.ClientID != "" {
		c.ClientID = r.ClientID
	}
	c.Consumer.Offsets.AutoCommit.Enable = false
	c.Consumer.Return.Errors = true
	if r.SessionTimeoutMs != 0 {
		c.Consumer.Group.Session.Timeout = time.Duration(r.SessionTimeoutMs) * time.Millisecond
		c.Consumer.Group.Heartbeat.Interval = 500 * time.Millisecond
	}
	c.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyRange()}
	c.Consumer.Group.InstanceId = r.InstanceID
	return c
}

func producerConfig(r *agent.Request) *sarama.Config {
	c := config(r)
	codecs := map[string]sarama.CompressionCodec{"": sarama.CompressionNone, "none": sarama.CompressionNone,
		"gzip": sarama.CompressionGZIP, "snappy": sarama.CompressionSnappy, "lz4": sarama.CompressionLZ4,
		"zstd": sarama.CompressionZSTD}
	acks := map[string]sarama.RequiredAcks{"": sarama.WaitForAll, "all": sarama.WaitForAll, "0": sarama.NoResponse,
		"1": sarama.WaitForLocal}
	c.Producer.Compression = codecs[r.Codec]
	c.Producer.RequiredAcks = acks[r.Acks]
	c.Producer.Return.Successes = true
	c.Producer.MaxMessageBytes = 20_000_000
	c.Producer.Flush.Frequency = 5 * time.Millisecond
	if r.Idempotence == nil || *r.Idempotence {
		c.Producer.Idempotent = true
		c.Net.MaxOpenRequests = 1
	}
	if len(r.Records) > 0 && r.Records[0].Partition != nil {
		c.Producer.Partitioner = sarama.NewManualPartitioner
	}
	return c
}

func withAdmin(f func(admin sarama.ClusterAdmin) error) error {
	admin, err := sarama.NewClusterAdmin([]string{bootstrap}, config(&agent.Request{}))
	if err != nil {
		return err
	}
	defer admin.Close()
	return f(admin)
}

func withClient(r *agent.Request, f func(client sarama.Client) error) error {
	client, err := sarama.NewClient([]string{bootstrap}, config(r))
	if err != nil {
		return err
	}
	defer client.Close()
	return f(client)
}

// encoder keeps null apart from empty.
func encoder(value *string) sarama.Encoder {
	if value == nil {
		return nil
	}
	return sarama.ByteEncoder(agent.Raw(value))
}

func describe(message *sarama.ConsumerMessage) agent.Object {
	headers := []agent.Header{}
	for _, h := range message.Headers {
		headers = append(headers, agent.Header{agent.Text(h.Key), agent.Text(h.Value)})
	}
	return agent.Object{"topic": message.Topic, "partition": message.Partition, "offset": message.Offset,
		"timestamp": message.Timestamp.UnixMilli(), "key": agent.Text(message.Key), "value": agent.Text(message.Value),
		"headers": headers}
}

func (library) Produce(r *agent.Request, reply agent.Object) error {
	producer, err := sarama.NewAsyncProducer([]string{bootstrap}, producerConfig(r))
	if err != nil {
		return err
	}
	acks := make([]agent.Object, len(r.Records))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range r.Records {
			select {
			case m := <-producer.Successes():
				acks[m.Metadata.(int)] = agent.Object{"partition": m.Partition, "offset": m.Offset}
			case e := <-producer.Errors():
				acks[e.Msg.Metadata.(int)] = agent.Failure(e.Err, code)
			}
		}
	}()
	for i, in := range r.Records {
		message := &sarama.ProducerMessage{Topic: r.Topic, Key: encoder(in.Key), Value: encoder(in.Value), Metadata: i}
		if in.Partition != nil {
			message.Partition = *in.Partition
		}
		if in.Timestamp != nil {
			message.Timestamp = time.UnixMilli(*in.Timestamp)
		}
		for _, h := range in.Headers {
			message.Headers = append(message.Headers, sarama.RecordHeader{Key: agent.Raw(h[0]), Value: agent.Raw(h[1])})
		}
		producer.Input() <- message
	}
	<-done
	reply["acks"] = acks
	return producer.Close()
}

func partitionIDs(client sarama.Client, topic string) ([]int32, error) {
	ids, err := client.Partitions(topic)
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	return ids, err
}

func (library) Read(r *agent.Request, reply agent.Object) error {
	return withClient(r, func(client sarama.Client) error {
		ids, err := partitionIDs(client, r.Topic)
		if err != nil {
			return err
		}
		consumer, err := sarama.NewConsumerFromClient(client)
		if err != nil {
			return err
		}
		defer consumer.Close()
		messages := make(chan *sarama.ConsumerMessage)
		stop := make(chan struct{})
		defer close(stop)
		for _, id := range ids {
			partition, err := consumer.ConsumePartition(r.Topic, id, sarama.OffsetOldest)
			if err != nil {
				return err
			}
			defer partition.AsyncClose()
			go func() {
				for message := range partition.Messages() {
					select {
					case messages <- message:
					case <-stop:
						return
					}
				}
			}()
		}
		records := []agent.Object{}
		deadline := time.After(time.Duration(r.TimeoutMs) * time.Millisecond)
		for len(records) < r.Count {
			select {
			case message := <-messages:
				records = append(records, describe(message))
			case <-deadline:
				reply["records"] = records
				return nil
			}
		}
		reply["records"] = records
		return nil
	})
}

func (library) OffsetsForTime(r *agent.Request, reply agent.Object) error {
	return withClient(r, func(client sarama.Client) error {
		ids, err := partitionIDs(client, r.Topic)
		if err != nil {
			return err
		}
		offsets := agent.Object{}
		for _, id := range ids {
			offset, err := client.GetOffset(r.Topic, id, r.Timestamp)
			if err != nil {
				return err
			}
			offsets[strconv.Itoa(int(id))] = offset
		}
		reply["offsets"] = offsets
		return nil
	})
}

func (library) StartStream(r *agent.Request, reply agent.Object) error {
	producer, err := sarama.NewAsyncProducer([]string{bootstrap}, producerConfig(r))
	if err != nil {
		return err
	}
	s := &stream{producer: producer, told: make(chan struct{})}
	go s.listen()
	s.Start(r, func(n int, key string) {
		producer.Input() <- &sarama.ProducerMessage{Topic: r.Topic, Metadata: n, Key: sarama.StringEncoder(key),
			Value: sarama.StringEncoder(strconv.Itoa(n))}
	})
	reply["started"] = s
	return nil
}

type stream struct {
	agent.Stream
	producer sarama.AsyncProducer
	told     chan struct{}
}

func (s *stream) listen() {
	defer close(s.told)
	successes, failures := s.producer.Successes(), s.producer.Errors()
	for successes != nil || failures != nil {
		select {
		case m, ok := <-successes:
			if !ok {
				successes = nil
			} else {
				s.Add(m.Metadata.(int), m.Partition, m.Offset)
			}
		case e, ok := <-failures:
			if !ok {
				failures = nil
			} else {
				s.Fail(e.Msg.Metadata.(int), e.Err)
			}
		}
	}
}

func (s *stream) Finish(reply agent.Object) error {
	s.Stop()
	s.producer.AsyncClose()
	<-s.told
	s.Report(reply)
	return nil
}

func (library) Partitions(r *agent.Request, reply agent.Object) error {
	return withClient(r, func(client sarama.Client) error {
		ids, err := partitionIDs(client, r.Topic)
		reply["partitions"] = ids
		return err
	})
}

func main() {
	bootstrap = os.Args[1]
	agent.Serve(library{}, "github.com/IBM/sarama")
}
