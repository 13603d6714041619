package main

import (
	"context"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"

	"partita/interop/go/agent"
)

func (library) CreateTopic(r *agent.Request, _ agent.Object) error {
	topic := kafka.TopicConfig{Topic: r.Topic, NumPartitions: int(r.Partitions), ReplicationFactor: 1}
	for name, value := range r.Configs {
		topic.ConfigEntries = append(topic.ConfigEntries, kafka.ConfigEntry{ConfigName: name, ConfigValue: value})
	}
	answer, err := client().CreateTopics(context.Background(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{topic}})
	if err != nil {
		return err
	}
	return answer.Errors[r.Topic]
}

func (library) CreatePartitions(r *agent.Request, _ agent.Object) error {
	answer, err := client().CreatePartitions(context.Background(), &kafka.CreatePartitionsRequest{
		Topics: []kafka.TopicPartitionsConfig{{Name: r.Topic, Count: int32(r.Count)}}})
	if err != nil {
		return err
	}
	return answer.Errors[r.Topic]
}

func (library) DeleteTopic(r *agent.Request, _ agent.Object) error {
	answer, err := client().DeleteTopics(context.Background(), &kafka.DeleteTopicsRequest{Topics: []string{r.Topic}})
	if err != nil {
		return err
	}
	return answer.Errors[r.Topic]
}

func (library) OffsetsForTime(r *agent.Request, reply agent.Object) error {
	ids, err := partitionIDs(r.Topic)
	if err != nil {
		return err
	}
	wanted := []kafka.OffsetRequest{}
	for _, id := range ids {
		wanted = append(wanted, kafka.TimeOffsetOf(id, time.UnixMilli(r.Timestamp)))
	}
	answer, err := client().ListOffsets(context.Background(), &kafka.ListOffsetsRequest{
		Topics: map[string][]kafka.OffsetRequest{r.Topic: wanted}})
	if err != nil {
		return err
	}
	offsets := agent.Object{}
	for _, p := range answer.Topics[r.Topic] {
		if p.Error != nil {
			return p.Error
		}
		offsets[strconv.Itoa(p.Partition)] = -1
		for offset := range p.Offsets {
			offsets[strconv.Itoa(p.Partition)] = offset
		}
	}
	reply["offsets"] = offsets
	return nil
}

func (library) Committed(r *agent.Request, reply agent.Object) error {
	ids, err := partitionIDs(r.Topic)
	if err != nil {
		return err
	}
	answer, err := client().OffsetFetch(context.Background(), &kafka.OffsetFetchRequest{GroupID: r.Group,
		Topics: map[string][]int{r.Topic: ids}})
	if err != nil {
		return err
	}
	if answer.Error != nil {
		return answer.Error
	}
	offsets := agent.Object{}
	for _, p := range answer.Topics[r.Topic] {
		if p.Error != nil {
			return p.Error
		}
		if p.CommittedOffset >= 0 {
			offsets[strconv.Itoa(p.Partition)] = p.CommittedOffset
		}
	}
	reply["offsets"] = offsets
	return nil
}

func (library) ListTopics(_ *agent.Request, reply agent.Object) error {
	answer, err := client().Metadata(context.Background(), &kafka.MetadataRequest{})
	if err != nil {
		return err
	}
	names := []string{}
	for _, topic := range answer.Topics {
		names = append(names, topic.Name)
	}
	reply["topics"] = names
	return nil
}

func (library) TopicConfig(r *agent.Request, reply agent.Object) error {
	answer, err := client().DescribeConfigs(context.Background(), &kafka.DescribeConfigsRequest{
		Resources: []kafka.DescribeConfigRequestResource{{ResourceType: kafka.ResourceTypeTopic, ResourceName: r.Topic,
			ConfigNames: []string{r.Config}}}})
	if err != nil {
		return err
	}
	for _, resource := range answer.Resources {
		if resource.Error != nil {
			return resource.Error
		}
		for _, entry := range resource.ConfigEntries {
			reply["value"] = entry.ConfigValue
		}
	}
	return nil
}

func (library) SetTopicConfig(r *agent.Request, _ agent.Object) error {
	answer, err := client().IncrementalAlterConfigs(context.Background(), &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{{ResourceType: kafka.ResourceTypeTopic,
			ResourceName: r.Topic, Configs: []kafka.IncrementalAlterConfigsRequestConfig{{Name: r.Config, Value: r.Value,
				ConfigOperation: kafka.ConfigOperationSet}}}}})
	if err != nil {
		return err
	}
	for _, resource := range answer.Resources {
		if resource.Error != nil {
			return resource.Error
		}
	}
	return nil
}

func (library) ListGroups(_ *agent.Request, reply agent.Object) error {
	answer, err := client().ListGroups(context.Background(), &kafka.ListGroupsRequest{})
	if err != nil {
		return err
	}
	names := []string{}
	for _, group := range answer.Groups {
		names = append(names, group.GroupID)
	}
	reply["groups"] = names
	return answer.Error
}

func (library) DescribeGroup(r *agent.Request, reply agent.Object) error {
	answer, err := client().DescribeGroups(context.Background(), &kafka.DescribeGroupsRequest{GroupIDs: []string{r.Group}})
	if err != nil {
		return err
	}
	group := answer.Groups[0]
	reply["state"], reply["members"] = group.GroupState, len(group.Members)
	return group.Error
}

func (library) DeleteGroup(r *agent.Request, _ agent.Object) error {
	answer, err := client().DeleteGroups(context.Background(), &kafka.DeleteGroupsRequest{GroupIDs: []string{r.Group}})
	if err != nil {
		return err
	}
	return answer.Errors[r.Group]
}
