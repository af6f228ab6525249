//! Settings that an administrator changes at run time.
//!
//! Follows `ConfigurationControlManager`,
//! `ReplicationControlManager.maybeTriggerMinIsrConfigUpdate`, `DynamicBrokerConfig`.

use std::sync::Arc;

use crate::sim::command::{AlterConfig, ConfigResource};
use crate::sim::error::KafkaError;
use crate::sim::kernel::Kernel;
use crate::sim::metadata::{Change, TopicState};
use crate::sim::settings::GroupSettings;
use crate::sim::world::Settings;

use super::Controller;

impl Controller {
    /// Changes settings of a topic, a broker, all brokers or a group.
    ///
    /// # Errors
    /// `UNKNOWN_TOPIC_OR_PARTITION`; `INVALID_REQUEST` for a setting that cannot change;
    /// `INVALID_CONFIG` for `min.insync.replicas` of a single broker, which the ELR (KIP-966) does
    /// not allow, and for what a group may not have.
    pub fn alter_config(
        &mut self,
        wish: &AlterConfig,
        kernel: &mut Kernel,
    ) -> Result<(), KafkaError> {
        if !wish.refused.is_empty() {
            return Err(KafkaError::InvalidRequest);
        }
        match &wish.resource {
            ConfigResource::Topic(topic) => {
                let state = self.image.topics.get(topic).cloned();
                let state = state.ok_or(KafkaError::UnknownTopicOrPartition)?;
                let config = changed(&state.config, &wish.set);
                let state = TopicState { config, ..(*state).clone() };
                self.decide(Change::Topic(topic.clone(), Some(Arc::new(state))), kernel);
            }
            ConfigResource::Broker(broker) => {
                if wish.set.iter().any(|(name, _)| name == "min.insync.replicas") {
                    return Err(KafkaError::InvalidConfig);
                }
                let own = self.image.broker_config.get(broker).cloned().unwrap_or_default();
                let own = changed(&own, &wish.set);
                self.decide(Change::BrokerConfig(*broker, Arc::new(own)), kernel);
            }
            ConfigResource::AllBrokers => {
                let dynamic = changed(&self.image.dynamic_config, &wish.set);
                self.decide(Change::ClusterConfig(Arc::new(dynamic)), kernel);
            }
            ConfigResource::Group(group) => {
                let own = self.image.group_config.get(group).cloned().unwrap_or_default();
                let own = changed(&own, &wish.set);
                if !GroupSettings::are_accepted(&own, &self.image.static_config) {
                    return Err(KafkaError::InvalidConfig);
                }
                self.decide(Change::GroupConfig(group.clone(), Arc::new(own)), kernel);
            }
        }
        if wish.set.iter().any(|(name, _)| name == "min.insync.replicas") {
            self.reconsider_partitions(kernel);
        }
        Ok(())
    }
}

/// Settings with changes applied.
fn changed(settings: &Settings, set: &[(String, Option<String>)]) -> Settings {
    let mut settings = settings.clone();
    for (name, value) in set {
        match value {
            Some(value) => settings.insert(name.clone(), value.clone()),
            None => settings.remove(name),
        };
    }
    settings
}
