//! The one table of problem codes: what each means, and a smallest example of the mistake.
//!
//! `explain KS0101` prints a row. A stage that finds a new kind of mistake adds a row here; a code
//! that is not in the table does not compile, and a test finds rows that nothing uses. Groups: 00xx
//! file and YAML, 01xx references, 02xx meaning, 03xx content, 04xx links, 05xx templates.

use std::fmt;

macro_rules! codes {
    ($($name:ident $id:literal, $title:literal, $explanation:literal, $example:literal;)*) => {
        /// The kind of a mistake. Ordered as in the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = concat!($id, ": ", $title, ". ", $explanation)] $name,)*
        }

        impl Code {
            /// All codes, in the table's order.
            pub const ALL: &[Code] = &[$(Code::$name),*];

            /// The code as it is printed: `KS0101`.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self { $(Code::$name => $id),* }
            }

            /// A few words: what is wrong.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Code::$name => $title),* }
            }

            /// Why it is a mistake and what to do, in a few sentences.
            #[must_use]
            pub fn explanation(self) -> &'static str {
                match self { $(Code::$name => $explanation),* }
            }

            /// The mistake at its smallest, as an author would write it.
            #[must_use]
            pub fn example(self) -> &'static str {
                match self { $(Code::$name => $example),* }
            }
        }
    };
}

codes! {
    NotUtf8 "KS0001", "file is not UTF-8",
        "Every text file of a site is UTF-8. Save the file again in that encoding.",
        "a file saved as Latin-1";
    Limit "KS0002", "limit exceeded",
        "The format has limits on sizes, counts and times, so that a build always ends. The \
         message names the limit.",
        "cluster: { brokers: 101 }";
    Syntax "KS0003", "not valid YAML or TOML",
        "The file could not be read as what its name says. Anchors, aliases and tags are not \
         part of the format.",
        "title: [One record";
    UnknownKey "KS0004", "unknown key",
        "The format has no such key at this place. The message suggests the nearest one.",
        "titel: One record";
    MissingKey "KS0005", "missing key",
        "A required key is not there. The place shown is its parent.",
        "steps: [{ at: 0s }]";
    WrongType "KS0006", "wrong type",
        "The value has another type than this key takes, such as a text where a list stands.",
        "steps: none";
    DuplicateKey "KS0007", "duplicate key",
        "A key stands twice in one mapping, and only one of the two could count.",
        "{ title: a, title: b }";
    BadValue "KS0008", "value is not allowed",
        "The value has the right type but is not one of those that this key takes. The message \
         names the allowed ones.",
        "level: expert";
    BadDuration "KS0009", "not a duration",
        "Durations carry a unit: ms, s, m, h or d, as in `900ms` or `1.4s`. A bare 0 is \
         allowed. Nothing is finer than 1 ms.",
        "at: 900";
    UnquotedBraces "KS0010", "value begins with braces",
        "YAML takes a value that begins with `{{` for a mapping. Put quotes around the text.",
        "text: {{ partitions.orders-0.leader }}";
    NotYet "KS0011", "not supported yet",
        "The format has this, but this version of the simulator does not do it yet.",
        "protocol: share";
    BadId "KS0012", "not an id or slug",
        "A chapter's id is two numbers, `00.1`, a scenario's is its chapter's id and a number, \
         `00.1.2`. Slugs consist of a-z, 0-9 and hyphens.",
        "slug: Write Path";
    SymbolicLink "KS0013", "symbolic link",
        "Only what lies in the site's folder belongs to the site, so that it builds the same \
         everywhere. The link is left out.",
        "scenarios/shared -> ../elsewhere";
    ChapterFolder "KS0014", "file or folder outside of any chapter",
        "Each folder in `scenarios` is a chapter and has a `chapter.yaml`; scenarios stand \
         directly in such a folder, and their names end in `.yaml`.",
        "scenarios/anatomy/chaptr.yaml";
    UnknownName "KS0101", "unknown name",
        "Something is named that the file does not declare: a topic, a broker, a client, a group.",
        "produce: { producer: nobody }";
    DuplicateName "KS0102", "name used twice",
        "Names of producers, consumers and controllers are unique in a file; ids, slugs and \
         aliases are unique in the site.",
        "two files with `slug: write-path`";
    UnknownPath "KS0103", "unknown observable",
        "The path does not lead to anything in the snapshot of the world.",
        "expect: { partitions.orders-0.leeder: 1 }";
    UnknownScenario "KS0104", "unknown scenario",
        "A scenario, chapter, step or table is referred to that the site does not have.",
        "requires: [99.9.9]";
    UnknownSetting "KS0201", "unknown setting",
        "Kafka 4.3 has no setting of this name. The message suggests the nearest one, or says \
         when it was removed.",
        "config: { min.insync.replica: 2 }";
    SettingElsewhere "KS0202", "setting does not belong here",
        "Kafka has the setting, but somewhere else: a topic's setting on a producer, for example.",
        "producers: { p: { config: { retention.ms: 1 } } }";
    SettingValue "KS0203", "setting has a value that Kafka refuses",
        "The value has the wrong type or is out of range. The message says what Kafka takes.",
        "config: { min.insync.replicas: 0 }";
    RefusedCombination "KS0204", "settings that Kafka refuses together",
        "Each setting is valid, but the process would not start with these together. The note \
         is Kafka's own message.",
        "config: { enable.idempotence: true, acks: 1 }";
    BadCondition "KS0205", "condition cannot be read",
        "A condition is `PATH OP VALUE`, joined by `and`; OP is ==, !=, <, <=, > or >=.",
        "when: partitions.orders-0.leader = 1";
    StepOrder "KS0206", "steps out of time order",
        "Steps stand in the order in which they happen.",
        "steps at 2s, then at 1s";
    ExpectFailed "KS0207", "expectation is not true",
        "The simulator reached this step, and the observable has another value than the file \
         says. Either the text is wrong or the scenario's settings are.",
        "expect: { partitions.orders-0.leader: 2 }";
    NeverTrue "KS0208", "condition never became true",
        "The time given by `within` (60 s if it is left out) passed and the condition did not \
         hold once.",
        "when: partitions.orders-0.high_watermark == 99";
    BadPlacement "KS0209", "placement of replicas is impossible",
        "The assignment names a broker twice, an unknown broker, or a number of replicas that \
         differs from the replication factor, or there are too few brokers.",
        "assignment: [[1, 1]]";
    SlowNetwork "KS0210", "network is slower than the controllers' time-outs",
        "Above 700 ms one way, the controllers' own time-outs of 1 and 2 s begin to fire.",
        "timing: { network: 900ms }";
    AfterTheEnd "KS0211", "action after the last step",
        "The run ends with the last step, so the action is never done.",
        "an action at 10s, the last step at 3s";
    NoExpect "KS0212", "step without expectations",
        "Nothing proves the step's text. Give it an `expect` with what the text rests on.",
        "a step with `text` and no `expect`";
    BareNumber "KS0213", "bare number in a step's text",
        "A number that stands in prose goes stale without notice. Write `{{ path }}`, or mark \
         it as code.",
        "text: The log end is 1.";
    NoDifference "KS0214", "variant changes nothing",
        "Everything that can be observed in the variant's steps is as in the main run.",
        "a variant whose `set` gives the default";
    VariantText "KS0215", "variant needs its own step text",
        "An `expect` line of the main run does not hold in the variant, so the step's text \
         would be untrue there. Give the step its own title, text and expectations.",
        "a variant without `steps`";
    NoEffect "KS0216", "action that can do nothing",
        "By the script, the machine is not in the state that the action needs: a stopped broker \
         cannot crash, a producer that runs cannot start.",
        "crash_broker: { broker: 1 } twice";
    IgnoredSetting "KS0217", "setting is ignored",
        "The simulator does not do what this setting asks for, so a page that rests on it could \
         be untrue.",
        "config: { retention.ms: 1000 }";
    FrontMatter "KS0301", "front matter is wrong",
        "A Markdown page begins with `---`, its keys, and `---`.",
        "--- without an end";
    BadMacro "KS0302", "insertion cannot be read",
        "An insertion in a text is `{{#kafka-scenario ID step=N}}` or `{{#kafka-table SLUG ID}}`.",
        "{{#kafka-scenrio 00.1.2}}";
    UnsafeLink "KS0303", "link is not allowed",
        "Links lead to http, https, mailto, or to a page of the site. `javascript:` and `data:` \
         are refused.",
        "[here](javascript:alert(1))";
    DeadLink "KS0401", "link leads nowhere",
        "The page, or the place in the page, is not among what the build makes.",
        "[guide](../configs/no-such-setting/)";
    ShareCard "KS0402", "share card cannot be drawn",
        "A scenario's card is a picture, drawn with the bundled faces alone, which know the Latin \
         script and what diagrams need. One with other characters is left out: its pages then have \
         no picture to be shown beside a link.",
        "title: 日本語";
    TemplateSyntax "KS0501", "template cannot be read",
        "Tera could not parse the template.",
        "{% if x %} without endif";
    TemplateRender "KS0502", "template cannot be filled",
        "The template uses something that its page does not provide.",
        "{{ scenario.titel }}";
    PagePolicy "KS0503", "page breaks its own policy",
        "Pages run no script and use no style but the site's own files, load nothing from \
         elsewhere, and give each id once. A template of the site, or a file that it includes, \
         brings something else.",
        "<p style=\"color: red\">";
}

impl Code {
    /// The code of this text, in any letter case: `KS0101`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.id().eq_ignore_ascii_case(text))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn ids_are_unique_well_formed_and_ascending() {
        for pair in Code::ALL.windows(2) {
            assert!(pair[0].id() < pair[1].id(), "{} stands before {}", pair[0], pair[1]);
        }
        for code in Code::ALL {
            let digits = code.id().strip_prefix("KS").expect("codes begin with KS");
            assert!(digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()));
            assert!(!code.title().is_empty() && !code.example().is_empty());
            assert!(code.explanation().ends_with('.'), "{code} is explained in sentences");
        }
    }

    #[test]
    fn a_code_is_found_by_its_text() {
        assert_eq!(Code::parse("ks0004"), Some(Code::UnknownKey));
        assert_eq!(Code::parse("KS9999"), None);
    }
}
