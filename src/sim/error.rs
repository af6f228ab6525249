//! Kafka's error codes, so far as the model's brokers, controllers and clients use them.

use std::fmt;

/// What a client does with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// It gives up.
    Final,
    /// It may try again (`RetriableException`).
    Retriable,
    /// It may try again, after it has asked for fresh metadata (`InvalidMetadataException`).
    Metadata,
}

macro_rules! errors {
    ($($variant:ident = $name:literal, $retry:ident;)*) => {
        /// An error code by Kafka's name (`org.apache.kafka.common.protocol.Errors`).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "Kafka's own names")]
        pub enum KafkaError {
            $($variant,)*
        }

        impl KafkaError {
            /// Every code of the model, for the test that holds them against Kafka's table.
            pub const ALL: &'static [KafkaError] = &[$(KafkaError::$variant,)*];

            /// The name in Kafka's table.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(KafkaError::$variant => $name,)*
                }
            }

            /// What a client does with it.
            #[must_use]
            pub fn retry(self) -> Retry {
                match self {
                    $(KafkaError::$variant => Retry::$retry,)*
                }
            }
        }
    };
}

errors! {
    OffsetOutOfRange = "OFFSET_OUT_OF_RANGE", Final;
    UnknownTopicOrPartition = "UNKNOWN_TOPIC_OR_PARTITION", Metadata;
    NotLeaderOrFollower = "NOT_LEADER_OR_FOLLOWER", Metadata;
    RequestTimedOut = "REQUEST_TIMED_OUT", Retriable;
    MessageTooLarge = "MESSAGE_TOO_LARGE", Final;
    NetworkException = "NETWORK_EXCEPTION", Metadata;
    CoordinatorLoadInProgress = "COORDINATOR_LOAD_IN_PROGRESS", Retriable;
    CoordinatorNotAvailable = "COORDINATOR_NOT_AVAILABLE", Retriable;
    NotCoordinator = "NOT_COORDINATOR", Retriable;
    RecordListTooLarge = "RECORD_LIST_TOO_LARGE", Final;
    InvalidTopicException = "INVALID_TOPIC_EXCEPTION", Final;
    NotEnoughReplicas = "NOT_ENOUGH_REPLICAS", Retriable;
    NotEnoughReplicasAfterAppend = "NOT_ENOUGH_REPLICAS_AFTER_APPEND", Retriable;
    IllegalGeneration = "ILLEGAL_GENERATION", Final;
    InconsistentGroupProtocol = "INCONSISTENT_GROUP_PROTOCOL", Final;
    UnknownMemberId = "UNKNOWN_MEMBER_ID", Final;
    InvalidSessionTimeout = "INVALID_SESSION_TIMEOUT", Final;
    RebalanceInProgress = "REBALANCE_IN_PROGRESS", Final;
    InvalidTimestamp = "INVALID_TIMESTAMP", Final;
    TopicAlreadyExists = "TOPIC_ALREADY_EXISTS", Final;
    InvalidPartitions = "INVALID_PARTITIONS", Final;
    InvalidReplicationFactor = "INVALID_REPLICATION_FACTOR", Final;
    InvalidReplicaAssignment = "INVALID_REPLICA_ASSIGNMENT", Final;
    InvalidConfig = "INVALID_CONFIG", Final;
    NotController = "NOT_CONTROLLER", Retriable;
    InvalidRequest = "INVALID_REQUEST", Final;
    PolicyViolation = "POLICY_VIOLATION", Final;
    OutOfOrderSequenceNumber = "OUT_OF_ORDER_SEQUENCE_NUMBER", Final;
    InvalidProducerEpoch = "INVALID_PRODUCER_EPOCH", Final;
    InvalidTxnState = "INVALID_TXN_STATE", Final;
    InvalidProducerIdMapping = "INVALID_PRODUCER_ID_MAPPING", Final;
    InvalidTransactionTimeout = "INVALID_TRANSACTION_TIMEOUT", Final;
    ConcurrentTransactions = "CONCURRENT_TRANSACTIONS", Retriable;
    TransactionCoordinatorFenced = "TRANSACTION_COORDINATOR_FENCED", Final;
    ProducerFenced = "PRODUCER_FENCED", Final;
    FencedLeaderEpoch = "FENCED_LEADER_EPOCH", Metadata;
    UnknownLeaderEpoch = "UNKNOWN_LEADER_EPOCH", Retriable;
    StaleBrokerEpoch = "STALE_BROKER_EPOCH", Final;
    OffsetNotAvailable = "OFFSET_NOT_AVAILABLE", Retriable;
    MemberIdRequired = "MEMBER_ID_REQUIRED", Final;
    PreferredLeaderNotAvailable = "PREFERRED_LEADER_NOT_AVAILABLE", Metadata;
    FencedInstanceId = "FENCED_INSTANCE_ID", Final;
    EligibleLeadersNotAvailable = "ELIGIBLE_LEADERS_NOT_AVAILABLE", Metadata;
    ElectionNotNeeded = "ELECTION_NOT_NEEDED", Metadata;
    InvalidRecord = "INVALID_RECORD", Final;
    UnsupportedAssignor = "UNSUPPORTED_ASSIGNOR", Final;
    StaleMemberEpoch = "STALE_MEMBER_EPOCH", Final;
    UnreleasedInstanceId = "UNRELEASED_INSTANCE_ID", Final;
    FencedMemberEpoch = "FENCED_MEMBER_EPOCH", Final;
    GroupMaxSizeReached = "GROUP_MAX_SIZE_REACHED", Final;
    InvalidRecordState = "INVALID_RECORD_STATE", Final;
    InvalidUpdateVersion = "INVALID_UPDATE_VERSION", Final;
    DuplicateBrokerRegistration = "DUPLICATE_BROKER_REGISTRATION", Final;
    IneligibleReplica = "INELIGIBLE_REPLICA", Final;
}

impl KafkaError {
    /// Whether a client may try again.
    #[must_use]
    pub fn is_retriable(self) -> bool {
        self.retry() != Retry::Final
    }

    /// Whether a client asks for fresh metadata first.
    #[must_use]
    pub fn needs_metadata(self) -> bool {
        self.retry() == Retry::Metadata
    }
}

impl fmt::Display for KafkaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
