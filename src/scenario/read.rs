//! From the tree of a scenario file to a [`Scenario`]. The tree's structure has been checked by
//! [`super::lint`], whose findings are not repeated here: what is missing or of the wrong type is
//! passed over in silence, so that every other mistake of the file is found in the same run.

use std::sync::Arc;

use super::context::Context;
use super::keys;
use super::lint::lint;
use super::model::{Level, Reading, Scenario, Script, Text, Written};
use super::tree::Node;
use super::{actions, effect, given, limits, settings, steps, tables, topology, variants, yaml};
use crate::catalog;
use crate::diag::{Code, Problem, Report, SourceFile, Span};
use crate::sim::ids::{Offset, TopicPartition};
use crate::sim::snapshot::RecordRef;

/// Reads one scenario file. `None`: it has errors, and the report names all of them.
#[must_use]
pub fn read(file: &Arc<SourceFile>) -> (Option<Scenario>, Report) {
    let mut report = Report::default();
    let scenario = yaml::read(file, &mut report).and_then(|root| {
        lint(file, &root, &keys::SCENARIO, &mut report);
        scenario(file, &root, &mut report)
    });
    let scenario = scenario.filter(|_| !report.has_errors());
    (scenario, report)
}

fn scenario(file: &Arc<SourceFile>, root: &Node, report: &mut Report) -> Option<Scenario> {
    let names = variants::names(file, root);
    let mut context = Context { file, names: &names, report };
    let mut script = script(&mut context, root);
    script.steps = steps::read(&mut context, root.get("steps"));
    steps::warn(&mut context, &script.steps);
    let all = names.step_count;
    let mut text = |key, step| optional_text(&mut context, root, key, step);
    let (summary, start) = (text("summary", all), text("start", 1));
    let (takeaway, simplified) = (text("takeaway", all), text("simplified", all));
    let variants = variants::read(&mut context, root, &script);
    let tables = tables::read(&mut context, root, &script);
    let configs = config_names(&mut context, root.get("configs"));
    context.warn_about_network(root);
    let slug = slug(&mut context, root);
    let title = root.get("title")?.text()?.to_owned();
    Some(Scenario {
        id: root.get("id")?.text()?.to_owned(),
        slug,
        chapter: folder_of(&file.path),
        headline: text_of(root, "headline").unwrap_or_else(|| title.clone()),
        title,
        level: level(root.get("level")?.text()?)?,
        summary: summary?,
        start,
        takeaway,
        simplified,
        configs,
        reading: reading(file, root),
        tags: texts(root.get("tags")),
        requires: texts(root.get("requires")),
        aliases: texts(root.get("aliases")),
        draft: root.get("draft").is_some_and(Node::is_true),
        minutes: root.get("minutes").and_then(Node::number),
        script,
        variants,
        tables,
        file: Arc::clone(file),
    })
}

/// Reads the part of a tree that is run, without its steps; variants and tables read their changed
/// trees with it too.
pub fn script(context: &mut Context<'_>, root: &Node) -> Script {
    let world = topology::read(context, root);
    let actions = actions::read(context, root.get("actions"), &world);
    effect::warn(context, &actions, &world);
    let follow = root.get("follow").and_then(|node| follow(context, node));
    let declared = ["producers", "groups"].into_iter().filter_map(|key| root.get(key));
    let places = declared.flat_map(Node::entries).map(|entry| (entry.key.clone(), entry.key_span));
    let cold = root.get("warm").filter(|_| !world.warm).map(|warm| warm.span);
    let settings = given::collect(root);
    let places = places.collect();
    Script { world, actions, steps: Vec::new(), follow, places, settings, cold }
}

impl Context<'_> {
    fn warn_about_network(&mut self, root: &Node) {
        let Some(node) = root.get("timing").and_then(|timing| timing.get("network")) else {
            return;
        };
        let slow = node.text().and_then(|text| super::duration::parse(text).ok());
        if slow.is_some_and(|ms| ms > limits::CALM_NETWORK_MS) {
            let message = "a network slower than 700ms lets the controllers' own time-outs fire";
            let problem = Problem::warning(Code::SlowNetwork, self.file, node.span, message)
                .note("they are 1 s and 2 s; a hop and its answer take twice the delay");
            self.report.push(problem);
        }
    }
}

/// A text with values, where the key stands there.
pub fn optional_text(
    context: &mut Context<'_>,
    node: &Node,
    key: &str,
    latest_step: u32,
) -> Option<Text> {
    let node = node.get(key).filter(|node| node.text().is_some())?;
    let written = Written::of(context.file, node);
    Some(Text::read(context, written, latest_step))
}

/// The text of a key.
pub fn text_of(node: &Node, key: &str) -> Option<String> {
    node.get(key).and_then(Node::text).map(str::to_owned)
}

/// The texts of a list.
pub fn texts(node: Option<&Node>) -> Vec<String> {
    let items = node.map_or(&[][..], Node::items);
    items.iter().filter_map(Node::text).map(str::to_owned).collect()
}

/// Names of settings, which Kafka must know in any scope.
pub fn config_names(context: &mut Context<'_>, node: Option<&Node>) -> Vec<String> {
    for item in node.map_or(&[][..], Node::items) {
        let name = item.text().unwrap_or_default();
        if !name.is_empty()
            && catalog::settings_named(name).is_empty()
            && let Err(mistake) = settings::known(name, &catalog::Scope::ALL)
        {
            let problem = mistake.at(context.file, item.span);
            context.report.push(problem);
        }
    }
    texts(node)
}

fn level(word: &str) -> Option<Level> {
    [Level::Beginner, Level::Intermediate, Level::Advanced]
        .into_iter()
        .find(|level| level.word() == word)
}

fn reading(file: &Arc<SourceFile>, root: &Node) -> Vec<Reading> {
    let items = root.get("reading").map_or(&[][..], Node::items);
    let reading = items.iter().filter_map(|item| {
        let title = text_of(item, "title")?;
        Some(Reading { title, url: Written::of(file, item.get("url")?) })
    });
    reading.collect()
}

fn follow(context: &mut Context<'_>, node: &Node) -> Option<RecordRef> {
    let text = node.text()?;
    let parsed = text.rsplit_once('@').and_then(|(partition, offset)| {
        Some((partition, TopicPartition::parse(partition)?, offset.parse().ok()?))
    });
    let Some((name, partition, offset)) = parsed else {
        let message = format!("`{text}` is not a record");
        let problem = Problem::error(Code::BadValue, context.file, node.span, message);
        context.report.push(problem.note("a record is written <topic>-<p>@<offset>: orders-0@0"));
        return None;
    };
    if let Err(note) = context.names.partition(name) {
        let message = format!("there is no partition `{name}`");
        let problem = Problem::error(Code::UnknownName, context.file, node.span, message);
        context.report.push(problem.note(note));
    }
    Some(RecordRef { partition, offset: Offset(offset) })
}

/// The slug: the author's, or the file's name without its ending. In a site, that must be one then.
fn slug(context: &mut Context<'_>, root: &Node) -> String {
    if let Some(slug) = text_of(root, "slug") {
        return slug;
    }
    let slug = slug_of_file(&context.file.path);
    if super::id::is_slug(slug) {
        return slug.to_owned();
    }
    // Only a site has addresses; a file on its own just needs a name.
    if context.file.path.starts_with("scenarios/") {
        let message = format!("the file's name gives the slug `{slug}`, which is none");
        let problem = Problem::error(Code::BadId, context.file, Span::default(), message);
        let help = "name the file in small letters, digits and hyphens, or set `slug`";
        context.report.push(problem.help(help));
    }
    "scenario".to_owned()
}

/// The file's name without its ending.
pub fn slug_of_file(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// The name of the folder that a file stands in.
pub fn folder_of(path: &str) -> Option<String> {
    let (folders, _) = path.rsplit_once('/')?;
    folders.rsplit('/').next().map(str::to_owned)
}
