//! The keys of `actions`: `at` and one action with its fields.

use super::keys::{BROKER_ID, COUNT, PLACEMENT, TOPIC_KEYS};
use super::limits;
use super::shape::Shape::{
    Boolean, Choice, Duration, List, Map, Nullable, Number, SignedDuration, Text, Word,
};
use super::shape::{Key, Object, Shape, object, optional, required};

/// One entry of `actions`.
pub static ACTION: Object = Object {
    name: "an action",
    keys: &[
        required("at", Duration, "When."),
        optional("produce", Shape::Object(&PRODUCE), "Sends one record or a burst."),
        optional("start_producer", Shape::Object(&PRODUCER), "Starts a fresh process."),
        optional("close_producer", Shape::Object(&PRODUCER), "Flushes and closes."),
        optional("crash_producer", Shape::Object(&PRODUCER), "Kills the process."),
        optional("begin_transaction", Shape::Object(&PRODUCER), "Begins."),
        optional("commit_transaction", Shape::Object(&COMMIT_TRANSACTION), "Commits."),
        optional("abort_transaction", Shape::Object(&PRODUCER), "Aborts."),
        optional("crash_broker", Shape::Object(&BROKER), "kill -9; the disk stays."),
        optional("start_broker", Shape::Object(&BROKER), "Starts it again."),
        optional("shutdown_broker", Shape::Object(&BROKER), "A controlled shutdown."),
        optional("pause_broker", Shape::Object(&BROKER), "Nothing of it runs; links stay open."),
        optional("resume_broker", Shape::Object(&BROKER), "It goes on."),
        optional("crash_controller", Shape::Object(&CONTROLLER), "kill -9."),
        optional("start_controller", Shape::Object(&CONTROLLER), "Starts it again."),
        optional("partition_network", Shape::Object(&GROUPS), "Cuts machines off."),
        optional("heal_network", Shape::Object(&NOTHING), "All links work again."),
        optional("slow_link", Shape::Object(&SLOW_LINK), "Another latency for one link."),
        optional("stall_replica", Shape::Object(&REPLICA), "It stops fetching."),
        optional("unstall_replica", Shape::Object(&REPLICA), "It fetches again."),
        optional("create_topic", Shape::Object(&CREATE_TOPIC), "Creates a topic."),
        optional("delete_topic", Shape::Object(&TOPIC), "Deletes it."),
        optional("create_partitions", Shape::Object(&CREATE_PARTITIONS), "More partitions."),
        optional("alter_config", Shape::Object(&ALTER_CONFIG), "Changes settings."),
        optional("reassign_partitions", Shape::Object(&REASSIGN), "Moves a partition."),
        optional("elect_leaders", Shape::Object(&ELECT), "Asks for an election."),
        optional("delete_records", Shape::Object(&DELETE_RECORDS), "Moves the log start."),
        optional("start_consumer", Shape::Object(&CONSUMER), "Starts a fresh process."),
        optional("stop_consumer", Shape::Object(&CONSUMER), "Closes it: it leaves its group."),
        optional("crash_consumer", Shape::Object(&CONSUMER), "Kills the process."),
        optional("pause_consumer", Shape::Object(&PAUSE), "It hangs."),
        optional("resume_consumer", Shape::Object(&PAUSE), "It goes on."),
        optional("pause_partitions", Shape::Object(&CONSUMER_PARTITIONS), "Kafka's pause()."),
        optional("resume_partitions", Shape::Object(&CONSUMER_PARTITIONS), "Kafka's resume()."),
        optional("commit", Shape::Object(&COMMIT), "Commits an offset, or the position."),
        optional("seek", Shape::Object(&SEEK), "Moves the position."),
        optional("acknowledge", Shape::Object(&ACKNOWLEDGE), "Settles a record of a share group."),
        optional("reset_offsets", Shape::Object(&RESET), "Sets a group's committed offsets."),
        optional("run_retention", Shape::Object(&JOB), "Runs the periodic job now."),
        optional("run_cleaner", Shape::Object(&JOB), "Runs the periodic job now."),
    ],
    one_of: &[
        "produce",
        "start_producer",
        "close_producer",
        "crash_producer",
        "begin_transaction",
        "commit_transaction",
        "abort_transaction",
        "crash_broker",
        "start_broker",
        "shutdown_broker",
        "pause_broker",
        "resume_broker",
        "crash_controller",
        "start_controller",
        "partition_network",
        "heal_network",
        "slow_link",
        "stall_replica",
        "unstall_replica",
        "create_topic",
        "delete_topic",
        "create_partitions",
        "alter_config",
        "reassign_partitions",
        "elect_leaders",
        "delete_records",
        "start_consumer",
        "stop_consumer",
        "crash_consumer",
        "pause_consumer",
        "resume_consumer",
        "pause_partitions",
        "resume_partitions",
        "commit",
        "seek",
        "acknowledge",
        "reset_offsets",
        "run_retention",
        "run_cleaner",
    ],
};

const PRODUCER_KEY: Key = required("producer", Text, "Which.");
const CONSUMER_KEY: Key = required("consumer", Text, "Which.");
const BROKER_KEY: Key = required("broker", BROKER_ID, "Which.");
const PARTITION_KEY: Key = required("partition", Text, "Which, as orders-0.");
const ANY_PARTITION: Key = optional("partition", Text, "Which, as orders-0; default: all.");
const OFFSET_KEY: Key = required("offset", COUNT, "The offset.");
const TOPIC_KEY: Key = required("topic", Text, "Which.");

static PRODUCER: Object = object("an action on a producer", &[PRODUCER_KEY]);
static CONSUMER: Object = object("an action on a consumer", &[CONSUMER_KEY]);
static BROKER: Object = object("an action on a broker", &[BROKER_KEY]);
static CONTROLLER: Object =
    object("an action on a controller", &[required("controller", Text, "Which.")]);
static TOPIC: Object = object("an action on a topic", &[TOPIC_KEY]);
static NOTHING: Object = object("an action without fields", &[]);
static JOB: Object = object("a periodic job", &[ANY_PARTITION]);
static REPLICA: Object = object("an action on a replica", &[BROKER_KEY, ANY_PARTITION]);

static PRODUCE: Object = object(
    "`produce`",
    &[
        PRODUCER_KEY,
        optional("topic", Text, "Default: the producer's."),
        optional("key", Nullable, "The key; {n} counts a burst from 1."),
        optional("value", Nullable, "The value; null is a tombstone."),
        optional("headers", Map("header", &Text), "Names and texts."),
        optional("partition", BROKER_ID, "An explicit partition: a bare number."),
        optional("timestamp", SignedDuration, "-8d: before now, 2h: after."),
        optional("size", Number(0, 1 << 30), "Bytes of the value."),
        optional("count", Number(1, limits::RECORDS), "How many records."),
        optional("every", Duration, "Time between two of them."),
    ],
);

static COMMIT_TRANSACTION: Object = object(
    "`commit_transaction`",
    &[
        PRODUCER_KEY,
        optional("offsets", Shape::Object(&TRANSACTION_OFFSETS), "Offsets to commit with it."),
    ],
);

static TRANSACTION_OFFSETS: Object = object(
    "offsets of a transaction",
    &[required("group", Text, "The group."), required("consumer", Text, "Whose positions.")],
);

/// Machines: brokers by id, controllers and clients by name.
const MACHINES: Shape = List(&Text);

static GROUPS: Object = object(
    "`partition_network`",
    &[required("groups", List(&MACHINES), "Groups that cannot reach each other.")],
);

static SLOW_LINK: Object = object(
    "`slow_link`",
    &[
        required("from", Text, "A machine."),
        required("to", Text, "Another."),
        required("latency", Text, "A duration, or default."),
        optional("one_way", Boolean, "True: in this direction only."),
    ],
);

const CREATE_TOPIC_KEYS: [Key; 5] = {
    let [partitions, replication_factor, assignment, config] = TOPIC_KEYS;
    [TOPIC_KEY, partitions, replication_factor, assignment, config]
};

static CREATE_TOPIC: Object = object("`create_topic`", &CREATE_TOPIC_KEYS);

static CREATE_PARTITIONS: Object = object(
    "`create_partitions`",
    &[
        TOPIC_KEY,
        required("total", Number(1, limits::PARTITIONS), "How many there shall be."),
        optional("assignment", PLACEMENT, "Replicas of the new ones."),
    ],
);

static ALTER_CONFIG: Object = Object {
    name: "`alter_config`",
    keys: &[
        optional("topic", Text, "A topic's settings."),
        optional("broker", Text, "A broker's id, or all."),
        optional("group", Text, "The broker's settings of a group."),
        required(
            "set",
            Map("setting", &Choice(&[Nullable, List(&Text)])),
            "New values; null takes a setting back.",
        ),
    ],
    one_of: &["topic", "broker", "group"],
};

static REASSIGN: Object = object(
    "`reassign_partitions`",
    &[PARTITION_KEY, required("replicas", List(&BROKER_ID), "The new replicas, in order.")],
);

static ELECT: Object = object(
    "`elect_leaders`",
    &[required("type", Word(&["preferred", "unclean"]), "Which election."), ANY_PARTITION],
);

static DELETE_RECORDS: Object = object(
    "`delete_records`",
    &[PARTITION_KEY, required("before", COUNT, "Every offset below this one goes.")],
);

static PAUSE: Object = object(
    "an action on a consumer",
    &[CONSUMER_KEY, optional("mode", Word(&["process", "app"]), "Default: process.")],
);

static CONSUMER_PARTITIONS: Object = object(
    "an action on a consumer's partitions",
    &[CONSUMER_KEY, required("partitions", List(&Text), "Which.")],
);

static COMMIT: Object = object(
    "`commit`",
    &[CONSUMER_KEY, PARTITION_KEY, optional("offset", COUNT, "Default: the position.")],
);

static SEEK: Object = object("`seek`", &[CONSUMER_KEY, PARTITION_KEY, OFFSET_KEY]);

static ACKNOWLEDGE: Object = object(
    "`acknowledge`",
    &[
        CONSUMER_KEY,
        PARTITION_KEY,
        OFFSET_KEY,
        required("type", Word(&["accept", "release", "reject", "renew"]), "How."),
    ],
);

static RESET: Object = object(
    "`reset_offsets`",
    &[
        required("group", Text, "Which."),
        required("to", Text, "earliest, latest or an offset."),
        ANY_PARTITION,
    ],
);
