//! The usual admin calls.

use agent::{json, Failure, Reply, Request};
use rdkafka::admin::{
    AdminClient, AdminOptions, AlterConfig, NewPartitions, NewTopic, ResourceSpecifier, TopicReplication,
};
use rdkafka::client::{Client, ClientContext, DefaultClientContext};
use rdkafka::config::ClientConfig;
use rdkafka::groups::GroupList;
use rdkafka::{Offset, TopicPartitionList};

use crate::{code_failure, failure, TIMEOUT};

type Admin = AdminClient<DefaultClientContext>;

pub fn partition_ids<C: ClientContext>(client: &Client<C>, topic: &str) -> Result<Vec<i32>, Failure> {
    let metadata = client.fetch_metadata(Some(topic), TIMEOUT).map_err(failure)?;
    let topic = &metadata.topics()[0];
    if let Some(error) = topic.error() {
        return Err(code_failure(error.into()));
    }
    let mut ids: Vec<_> = topic.partitions().iter().map(|partition| partition.id()).collect();
    ids.sort();
    Ok(ids)
}

/// The result of the one topic, group or resource that was asked about.
fn only<T, N>(results: Vec<Result<T, (N, rdkafka::types::RDKafkaErrorCode)>>) -> Result<(), Failure> {
    results.into_iter().try_for_each(|result| result.map(|_| ()).map_err(|(_, code)| code_failure(code)))
}

fn groups(client: &Client, group: Option<&str>) -> Result<GroupList, Failure> {
    client.fetch_group_list(group, TIMEOUT).map_err(failure)
}

async fn create_topic(admin: &Admin, request: &Request, options: &AdminOptions) -> Result<(), Failure> {
    let configs: Vec<_> = request
        .configs
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str().map_or_else(|| value.to_string(), str::to_string)))
        .collect();
    let mut topic = NewTopic::new(&request.topic, request.partitions, TopicReplication::Fixed(1));
    for (name, value) in &configs {
        topic = topic.set(name, value);
    }
    only(admin.create_topics([&topic], options).await.map_err(failure)?)
}

async fn topic_config(admin: &Admin, request: &Request, options: &AdminOptions) -> Reply {
    let wanted = ResourceSpecifier::Topic(&request.topic);
    let mut resources = admin.describe_configs([&wanted], options).await.map_err(failure)?;
    let resource = resources.remove(0).map_err(code_failure)?;
    Ok(json!({"value": resource.get(&request.config).and_then(|entry| entry.value.clone())}))
}

async fn delete_records(admin: &Admin, request: &Request, options: &AdminOptions) -> Reply {
    let mut wanted = TopicPartitionList::new();
    let offset = Offset::Offset(request.offset);
    wanted.add_partition_offset(&request.topic, request.partition, offset).map_err(failure)?;
    let answer = admin.delete_records(&wanted, options).await.map_err(failure)?;
    let element = &answer.elements()[0];
    element.error().map_err(failure)?;
    Ok(json!({"low_watermark": element.offset().to_raw()}))
}

pub async fn call(config: &ClientConfig, request: Request) -> Reply {
    let admin: Admin = config.create().map_err(failure)?;
    let client = admin.inner();
    let options = AdminOptions::new().request_timeout(Some(TIMEOUT)).operation_timeout(Some(TIMEOUT));
    let topic = request.topic.as_str();
    match request.op.as_str() {
        "create_topic" => create_topic(&admin, &request, &options).await?,
        "create_partitions" => {
            let wanted = NewPartitions::new(topic, request.count);
            only(admin.create_partitions([&wanted], &options).await.map_err(failure)?)?
        }
        "delete_topic" => only(admin.delete_topics(&[topic], &options).await.map_err(failure)?)?,
        "set_topic_config" => {
            let change = AlterConfig::new(ResourceSpecifier::Topic(topic)).set(&request.config, &request.value);
            only(admin.alter_configs([&change], &options).await.map_err(failure)?)?
        }
        "delete_group" => only(admin.delete_groups(&[&request.group], &options).await.map_err(failure)?)?,
        "topic_config" => return topic_config(&admin, &request, &options).await,
        "delete_records" => return delete_records(&admin, &request, &options).await,
        "partitions" => return Ok(json!({"partitions": partition_ids(client, topic)?})),
        "list_topics" => {
            let metadata = client.fetch_metadata(None, TIMEOUT).map_err(failure)?;
            return Ok(json!({"topics": metadata.topics().iter().map(|topic| topic.name()).collect::<Vec<_>>()}));
        }
        "list_groups" => {
            let list = groups(client, None)?;
            return Ok(json!({"groups": list.groups().iter().map(|group| group.name()).collect::<Vec<_>>()}));
        }
        "describe_group" => {
            let list = groups(client, Some(&request.group))?;
            let group = &list.groups()[0];
            return Ok(json!({"state": group.state(), "members": group.members().len()}));
        }
        other => return Err(Failure::new(-1, &format!("unknown op {other}"))),
    }
    Ok(json!({}))
}
