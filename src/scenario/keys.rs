//! Every key of the format, with what its value may be: the one source for the check of a file
//! ([`super::lint`]) and for the JSON Schema ([`super::schema`]). Actions stand in
//! [`super::action_keys`].

use super::action_keys::ACTION;
use super::limits;
use super::shape::Shape::{
    Boolean, Choice, Duration, Id, List, Map, Markdown, Nullable, Number, Slug, Text, Word,
};
use super::shape::{Object, Shape, object, optional, required};

/// A list of texts.
const TEXTS: Shape = List(&Text);
/// Kafka settings: a value, or a list where Kafka takes one.
pub const SETTINGS: Shape = Map("setting", &Choice(&[Text, TEXTS]));
/// Replicas of partition 0, 1, ...
pub const PLACEMENT: Shape = List(&List(&BROKER_ID));
/// A broker's id.
pub const BROKER_ID: Shape = Number(0, i32::MAX as u64);
/// A number without an upper bound of its own.
pub const COUNT: Shape = Number(0, i64::MAX as u64);

/// A scenario file.
pub static SCENARIO: Object = object(
    "a scenario",
    &[
        required("id", Id, "The chapter's id and a number: 00.1.2."),
        optional("slug", Slug, "Its part of addresses; default: the file's name."),
        required("title", Text, "Short name, for lists and breadcrumbs."),
        optional("headline", Text, "The page's heading; default: the title."),
        required("level", Word(&["beginner", "intermediate", "advanced"]), "For whom."),
        required("summary", Markdown, "For cards and search engines."),
        optional("start", Markdown, "What the reader starts with; values of the first step."),
        optional("takeaway", Markdown, "What to remember; values of the last step."),
        optional("simplified", Markdown, "What a real cluster does differently."),
        optional("configs", TEXTS, "Settings that the page explains, in this order."),
        optional("reading", List(&Shape::Object(&LINK)), "Further reading."),
        optional("tags", TEXTS, "Words to find it by."),
        optional("follow", Text, "The record whose journey the pictures trace: orders-0@0."),
        optional("requires", List(&Id), "Ids of scenarios to read first."),
        optional("aliases", List(&Slug), "Earlier slugs, redirected."),
        optional("draft", Boolean, "Checked, but neither simulated nor published."),
        optional("minutes", Number(1, 1_000), "Reading time; default: computed."),
        optional("warm", Boolean, "True: at 0 s the world has been up for a while."),
        optional("seed", Number(0, u64::MAX), "Every random choice comes from it; default 1."),
        optional("kafka", Word(&["4.3"]), "Kafka's version."),
        optional("timing", Shape::Object(&TIMING), "How slow links and disks are."),
        optional("cluster", Shape::Object(&CLUSTER), "Brokers and controllers."),
        optional("topics", Map("topic", &Shape::Object(&TOPIC)), "The topics."),
        optional("producers", Map("name", &Shape::Object(&PRODUCER)), "The producers."),
        optional("groups", Map("group.id", &Shape::Object(&GROUP)), "Groups and their consumers."),
        optional("actions", List(&Shape::Object(&ACTION)), "What happens, and when."),
        required("steps", List(&Shape::Object(&STEP)), "The moments that the page shows."),
        optional("variants", List(&Shape::Object(&VARIANT)), "The same script with changes."),
        optional("tables", List(&Shape::Object(&TABLE)), "Outcomes, computed by running."),
    ],
);

/// `chapter.yaml`.
pub static CHAPTER: Object = object(
    "a chapter",
    &[
        required("id", Id, "Such as 00.1."),
        required("title", Text, "Its name."),
        required("summary", Markdown, "What it is about."),
        optional("course", Text, "The course that it belongs to."),
    ],
);

static LINK: Object = object(
    "a link",
    &[required("title", Text, "Its words."), required("url", Text, "Its address.")],
);

static TIMING: Object = object(
    "timing",
    &[
        optional("network", Duration, "One-way delay between any two machines; least 1ms."),
        optional("append", Duration, "Time to append a batch on one replica."),
    ],
);

static CLUSTER: Object = object(
    "a cluster",
    &[
        optional(
            "brokers",
            Choice(&[
                Number(1, limits::BROKERS),
                List(&Shape::Object(&Object { name: "a broker", keys: BROKER_KEYS, one_of: &[] })),
            ]),
            "How many, with ids from 1; or a list.",
        ),
        optional("racks", TEXTS, "Racks, dealt out in turn."),
        optional("controllers", Number(1, limits::BROKERS), "How many: controller-1, ..."),
        optional("config", SETTINGS, "Settings of all brokers and controllers."),
    ],
);

const BROKER_KEYS: &[super::shape::Key] =
    &[required("id", BROKER_ID, "Its id."), optional("rack", Text, "Its rack.")];

/// The fields under `topics`, which `create_topic` takes too.
pub const TOPIC_KEYS: [super::shape::Key; 4] = [
    optional("partitions", Number(1, limits::PARTITIONS), "How many; default num.partitions."),
    optional("replication_factor", Number(1, limits::BROKERS), "How many replicas each."),
    optional("assignment", PLACEMENT, "Replicas of partition 0, 1, ...; the first leads."),
    optional("config", SETTINGS, "The topic's settings."),
];

static TOPIC: Object = object("a topic", &TOPIC_KEYS);

static PRODUCER: Object = object(
    "a producer",
    &[
        optional("topic", Text, "The topic of records that name none."),
        optional("config", SETTINGS, "Its settings."),
        optional("start", Text, "A time such as 5s, or manual; default: with the world."),
    ],
);

static GROUP: Object = object(
    "a group",
    &[
        optional("topics", TEXTS, "What its consumers subscribe to."),
        optional("protocol", Word(&["classic", "consumer", "share"]), "Default: classic."),
        optional("config", SETTINGS, "Settings of its clients, and of the group at the broker."),
        optional("consumers", List(&Choice(&[Text, Shape::Object(&CONSUMER)])), "Its members."),
        optional("poll_interval", Duration, "Work between two poll() calls; default 100ms."),
        optional("poll_timeout", Duration, "How long a poll() may wait; default 1s."),
    ],
);

static CONSUMER: Object = object(
    "a consumer",
    &[
        required("name", Text, "Its name."),
        optional("start", Text, "A time such as 5s, or manual; default: with the world."),
        optional("config", SETTINGS, "Its own settings, over those of the group."),
        optional("topics", TEXTS, "Its own subscription."),
        optional("poll_interval", Duration, "Default: the group's."),
        optional("poll_timeout", Duration, "Default: the group's."),
    ],
);

/// What an `expect` line may hold on its right.
const EXPECTED: Shape = Choice(&[Nullable, List(&Nullable), Shape::Object(&COMPARISON)]);

static COMPARISON: Object = Object {
    name: "a comparison",
    keys: &[
        optional("eq", Nullable, "Equal to this text, whatever it looks like."),
        optional("all", List(&Nullable), "All of these comparisons."),
    ],
    one_of: &["eq", "all"],
};

const EXPECTATIONS: Shape = Map("observable", &EXPECTED);

static STEP: Object = Object {
    name: "a step",
    keys: &[
        optional("at", Duration, "Its time."),
        optional("when", Text, "The first instant at which this is true."),
        optional("within", Duration, "How long to wait for `when`; default 60s."),
        required("title", Text, "Its heading."),
        optional("text", Markdown, "What happens."),
        optional("ask", Markdown, "A question before the text's decisive part."),
        optional("answer", Markdown, "Its answer."),
        optional("expect", EXPECTATIONS, "What must be true."),
        optional("simplified", Markdown, "What a real cluster does differently here."),
        optional("configs", TEXTS, "Settings that matter at this step."),
        optional("cite", List(&Choice(&[Text, Shape::Object(&LINK)])), "KIP numbers or links."),
    ],
    one_of: &["at", "when"],
};

static VARIANT: Object = object(
    "a variant",
    &[
        required("id", Slug, "Its part of addresses."),
        required("title", Text, "Its name."),
        optional("text", Markdown, "What differs; values of the last step."),
        optional("set", CHANGES, "New values at paths of the file."),
        optional("actions", List(&Shape::Object(&ACTION)), "Actions that are added."),
        optional("drop_actions", NUMBERS, "Actions that are left out, by number from 1."),
        optional("steps", Map("step number", &Shape::Object(&VARIANT_STEP)), "Steps that differ."),
    ],
);

/// What `set` holds.
const CHANGES: Shape =
    Map("path of the file", &Choice(&[Nullable, List(&Choice(&[Nullable, List(&Nullable)]))]));
const NUMBERS: Shape = List(&Number(1, limits::ACTIONS as u64));

static VARIANT_STEP: Object = object(
    "a variant's step",
    &[
        optional("at", Duration, "Its time in the variant."),
        optional("when", Text, "The first instant at which this is true."),
        optional("within", Duration, "How long to wait for `when`; default 60s."),
        optional("title", Text, "Its heading."),
        optional("text", Markdown, "What happens."),
        optional("ask", Markdown, "A question before the text's decisive part."),
        optional("answer", Markdown, "Its answer."),
        optional("expect", EXPECTATIONS, "What must be true."),
        optional("simplified", Markdown, "What a real cluster does differently here."),
        optional("drop", Boolean, "True: the variant leaves the step out."),
    ],
);

static TABLE: Object = object(
    "a table",
    &[
        required("id", Slug, "Its part of addresses."),
        required("title", Text, "Its heading."),
        required("rows", AXIS, "One path with its values, or a list of changes."),
        optional("columns", AXIS, "As rows."),
        required("cells", List(&Shape::Object(&CELL)), "The first that holds is printed."),
    ],
);

const AXIS: Shape = Choice(&[
    List(&Shape::Object(&CHANGE)),
    Map(
        "path of the file",
        &List(&Choice(&[Nullable, List(&Choice(&[Nullable, List(&Nullable)]))])),
    ),
]);

static CHANGE: Object = object(
    "a change",
    &[
        required("title", Text, "The row's or column's heading."),
        optional("set", CHANGES, "New values at paths of the file."),
        optional("actions", List(&Shape::Object(&ACTION)), "Actions that are added."),
        optional("drop_actions", NUMBERS, "Actions that are left out, by number from 1."),
    ],
);

static CELL: Object = object(
    "a cell's line",
    &[
        optional("if", Text, "A condition at the end of the run; default: always."),
        required("say", Markdown, "What the cell says."),
    ],
);
