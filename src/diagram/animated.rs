//! A whole run as one picture that plays by itself, for places that show pictures and run no
//! script: an `img` in a README, a post or a slide. It begins anew at its end.

use super::rail::Rail;
use super::scene::{
    Anchor, Group, Item, Mark, Part, Point, Rect, Role, Scene, Shape, Stroke, Subject, at,
};
use super::svg::{self, Caption, MARGIN, MONO_BOLD, SANS, Writer, escape, number, write};
use super::text::{Face, fit};
use super::theme::{Colour, Look, Scheme, look};
use super::timeline::{Beat, Flight, Timeline};
use super::{Move, Storyboard};

/// Under the picture: the strip of steps and the title of the one that is shown.
const FOOT: f64 = 52.0;
/// The row of buttons, where there are any.
const BUTTONS: f64 = 44.0;
/// A cell of the strip.
const CELL: f64 = 8.0;
/// In an animation's list of times, decimals of the whole.
const PLACES: usize = 5;

/// One step as the picture names it.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Its title.
    pub title: &'a str,
    /// Its time in milliseconds.
    pub time_ms: u64,
}

/// The run of `steps` as an SVG that plays; without animation it shows the first step.
#[must_use]
pub fn animated(board: &Storyboard, steps: &[Step<'_>], caption: &Caption) -> String {
    draw((board, steps), caption, "")
}

/// The same with buttons and keys of its own, for who opens the file by itself, from disk too. It
/// waits until it is asked to play.
#[must_use]
pub fn playable(board: &Storyboard, steps: &[Step<'_>], caption: &Caption) -> String {
    let timeline = timeline(board, steps);
    let starts: Vec<String> =
        timeline.beats.iter().map(|beat| format!("{:.0}", beat.from_ms)).collect();
    let starts = starts.join(",");
    let script = include_str!("../../static/playable.js").replace("/*steps*/", &starts);
    draw((board, steps), caption, &format!("<script><![CDATA[{script}]]></script>"))
}

/// `script` is what stands at the end of a file that has buttons.
fn draw((board, steps): (&Storyboard, &[Step<'_>]), caption: &Caption, script: &str) -> String {
    let timeline = timeline(board, steps);
    let (width, height) = size(board);
    let foot_height = if script.is_empty() { FOOT } else { FOOT + BUTTONS };
    let (w, h) = (number(width + 2.0 * MARGIN), number(height + foot_height + 2.0 * MARGIN));
    let mut out = String::with_capacity(65536);
    write(
        &mut out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" \
             viewBox=\"-16 -16 {w} {h}\" role=\"img\" aria-labelledby=\"{id}at {id}ad\" \
             font-family=\"{SANS}\" font-size=\"12.4\">",
            id = escape(caption.id)
        ),
    );
    svg::head(&mut out, caption, "a");
    out.push_str("<style>@media (prefers-reduced-motion:reduce){.v{display:none}}");
    svg::dark(&mut out);
    out.push_str("</style>");
    let mut writer = Writer { out, style: Some(Scheme::Auto) };
    write(&mut writer.out, format_args!("<rect x=\"-16\" y=\"-16\" width=\"{w}\" height=\"{h}\""));
    writer.look(&Look { fill: Some(Colour::Paper), ..Look::default() });
    writer.out.push_str("/>");
    let mut player = Player { writer, timeline: &timeline, board };
    for (index, picture) in board.pictures.iter().enumerate() {
        player.step(index, &picture.wide, &foot(steps, index, (width, height)));
    }
    let mut out = player.writer.out;
    if !script.is_empty() {
        buttons(&mut out, height + FOOT);
        out.push_str(script);
    }
    out.push_str("</svg>\n");
    out
}

fn timeline(board: &Storyboard, steps: &[Step<'_>]) -> Timeline {
    let times: Vec<u64> = steps.iter().map(|step| step.time_ms).collect();
    Timeline::new(&times, board)
}

/// Room for the widest and the highest picture.
fn size(board: &Storyboard) -> (f64, f64) {
    let scenes = || board.pictures.iter().map(|picture| &picture.wide);
    let widest = scenes().map(|scene| scene.width).fold(0.0, f64::max);
    (widest, scenes().map(|scene| scene.height).fold(0.0, f64::max))
}

/// One picture of a film.
#[derive(Clone, Debug, PartialEq)]
pub struct Still {
    /// A standalone SVG; all of a film have one size.
    pub svg: String,
    /// How long it is seen, in milliseconds.
    pub shown_ms: f64,
}

/// The run of `steps` as a film, for what knows no animated SVG: one still while a step rests, and
/// others on the way to the next, one each `every_ms`.
#[must_use]
pub fn film(board: &Storyboard, steps: &[Step<'_>], scheme: Scheme, every_ms: f64) -> Vec<Still> {
    let timeline = timeline(board, steps);
    let size = size(board);
    let mut stills = Vec::new();
    for (index, beat) in timeline.beats.iter().enumerate() {
        let foot = foot(steps, index, size);
        let scene = &board.pictures[index].wide;
        let still = |at_ms: f64| {
            let mut writer = Writer { out: still_head(size, scheme), style: Some(scheme) };
            let is_seen = |group: &&Group| at_ms < beat.leaves_ms || !is_moving(group);
            let seen: Vec<Group> = scene.groups.iter().filter(is_seen).cloned().collect();
            writer.groups(&seen);
            writer.groups(std::slice::from_ref(&foot));
            for flight in timeline.flights.iter().filter(|flight| flight.step == index) {
                fly(&mut writer, scene, &board.moves[flight.index], flight.part(at_ms));
            }
            writer.out.push_str("</svg>");
            writer.out
        };
        stills.push(Still { svg: still(beat.from_ms), shown_ms: beat.leaves_ms - beat.from_ms });
        let way = beat.until_ms - beat.leaves_ms;
        let count = (way / every_ms).round().max(0.0);
        let mut passed = 0.0;
        while passed < count {
            let shown_ms = way / count;
            // What is seen for a while is what is the case in its middle.
            let svg = still(beat.leaves_ms + (passed + 0.5) * shown_ms);
            stills.push(Still { svg, shown_ms });
            passed += 1.0;
        }
    }
    stills
}

fn still_head((width, height): (f64, f64), scheme: Scheme) -> String {
    let (w, h) = (number(width + 2.0 * MARGIN), number(height + FOOT + 2.0 * MARGIN));
    let ground = Colour::Paper.value(scheme);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" \
         viewBox=\"-16 -16 {w} {h}\" font-family=\"{SANS}\" font-size=\"12.4\"><rect x=\"-16\" \
         y=\"-16\" width=\"{w}\" height=\"{h}\" fill=\"{ground}\"/>"
    )
}

/// A mark where it is when this part of its rail lies behind it.
fn fly(writer: &mut Writer, scene: &Scene, one: &Move, part: Option<f64>) {
    let Some(part) = part else { return };
    let Some(rail) = strokes(scene, &one.rail).and_then(Rail::drawn) else { return };
    let part = if one.back { 1.0 - part } else { part };
    let Point { x, y } = rail.head(rail.length() * part).tip;
    write(
        &mut writer.out,
        format_args!("<g transform=\"translate({} {})\">", number(x), number(y)),
    );
    token(writer, one);
    writer.out.push_str("</g>");
}

/// The strip and the title at one step, for a picture of this size.
fn foot(steps: &[Step<'_>], index: usize, (width, height): (f64, f64)) -> Group {
    let (top, count) = (height + 20.0, steps.len());
    #[expect(clippy::cast_precision_loss, reason = "a run has a few steps")]
    let each = (width + 4.0) / count.max(1) as f64;
    let mut items = Vec::new();
    for cell in 0..count {
        #[expect(clippy::cast_precision_loss, reason = "a run has a few steps")]
        let x = cell as f64 * each;
        let rect = Rect::new(x, top, each - 4.0, CELL);
        let part = if cell <= index { Part::Head } else { Part::Slot };
        let role = if cell <= index { Role::Lead } else { Role::Plain };
        items.push(Item::rect(part, rect, 3.0).role(role));
    }
    let base = top + CELL + 20.0;
    let number = format!("{} of {count}", index + 1);
    let seconds = steps[index].time_ms;
    let time = format!("t = {}.{:03} s", seconds / 1000, seconds % 1000);
    items.push(Item::text(Part::Mute, at(0.0, base), number, Face::Mono));
    let title = fit(steps[index].title, Face::Name, width - 190.0);
    items.push(Item::text(Part::Text, at(64.0, base), title, Face::Name));
    let end = Item::text(Part::Mute, at(width, base), time, Face::Mono);
    items.push(end.anchor(Anchor::End));
    Group { subject: Subject::Stage, items }
}

/// The buttons of a file that plays when it is asked to; `playable.js` gives them their meaning.
fn buttons(out: &mut String, top: f64) {
    let all = [
        ("back", "Previous step", "M22 8v20L10 18z"),
        ("play", "Play or pause", "M12 8v20l7-5V13zM21 12.5v11l7-5.5z"),
        ("next", "Next step", "M14 8v20l12-10z"),
    ];
    for ((name, label, shape), x) in all.into_iter().zip([0, 44, 88]) {
        write(
            out,
            format_args!(
                "<g id=\"{name}\" role=\"button\" tabindex=\"0\" aria-label=\"{label}\" \
                 cursor=\"pointer\" transform=\"translate({x} {})\"><rect width=\"36\" \
                 height=\"36\" rx=\"8\" fill=\"#0062a0\"/><path d=\"{shape}\" fill=\"#fff\"/></g>",
                number(top)
            ),
        );
    }
}

struct Player<'a> {
    writer: Writer,
    timeline: &'a Timeline,
    board: &'a Storyboard,
}

impl Player<'_> {
    /// One step: seen from when it is reached until the next one is; its messages stand while it
    /// rests and then move.
    fn step(&mut self, index: usize, scene: &Scene, foot: &Group) {
        let Beat { from_ms, leaves_ms, until_ms } = self.timeline.beats[index];
        let (moving, still): (Vec<Group>, Vec<Group>) =
            scene.groups.iter().cloned().partition(is_moving);
        self.open("", index == 0, (from_ms, until_ms));
        self.writer.groups(&still);
        self.writer.groups(std::slice::from_ref(foot));
        self.open("", true, (from_ms, leaves_ms));
        self.writer.groups(&moving);
        self.writer.out.push_str("</g>");
        let flights = self.timeline.flights.iter().filter(|flight| flight.step == index);
        for flight in flights {
            self.flight(flight, scene);
        }
        self.writer.out.push_str("</g>");
    }

    /// Begins a group that is seen for a while only; `is_seen` says whether without animation too.
    fn open(&mut self, class: &str, is_seen: bool, (from, until): (f64, f64)) {
        let opacity = if is_seen { "" } else { " opacity=\"0\"" };
        write(&mut self.writer.out, format_args!("<g{class}{opacity}>"));
        let length = self.timeline.length_ms;
        let is_first = from <= 0.0;
        let is_last = until >= length;
        let (values, times) = match (is_first, is_last) {
            (true, true) => return,
            (true, false) => ("1;0".to_owned(), format!("0;{}", self.part(until))),
            (false, true) => ("0;1".to_owned(), format!("0;{}", self.part(from))),
            (false, false) => {
                ("0;1;0".to_owned(), format!("0;{};{}", self.part(from), self.part(until)))
            }
        };
        let animate = format_args!(
            "<animate attributeName=\"opacity\" calcMode=\"discrete\" values=\"{values}\" \
             keyTimes=\"{times}\" dur=\"{length:.0}ms\" repeatCount=\"indefinite\"/>"
        );
        write(&mut self.writer.out, animate);
    }

    /// A time as a part of the whole.
    fn part(&self, time: f64) -> String {
        trimmed(time / self.timeline.length_ms)
    }

    /// A mark that moves along its rail.
    fn flight(&mut self, flight: &Flight, scene: &Scene) {
        let one = &self.board.moves[flight.index];
        let Some(rail) = strokes(scene, &one.rail).map(svg::path) else { return };
        let (Some(first), Some(last)) = (flight.way.first(), flight.way.last()) else { return };
        self.open(" class=\"v\"", false, (first.0, last.0));
        let part = |done: f64| trimmed(if one.back { 1.0 - done } else { done });
        let mut times = vec!["0".to_owned()];
        let mut points = vec![part(first.1)];
        for (time, done) in &flight.way {
            times.push(self.part(*time));
            points.push(part(*done));
        }
        times.push("1".to_owned());
        points.push(part(last.1));
        let (times, points) = (times.join(";"), points.join(";"));
        let length = self.timeline.length_ms;
        let motion = format_args!(
            "<animateMotion path=\"{rail}\" calcMode=\"linear\" keyPoints=\"{points}\" \
             keyTimes=\"{times}\" dur=\"{length:.0}ms\" repeatCount=\"indefinite\"/>"
        );
        write(&mut self.writer.out, motion);
        token(&mut self.writer, one);
        self.writer.out.push_str("</g>");
    }
}

/// A part of a whole, without zeros at its end.
fn trimmed(part: f64) -> String {
    let text = format!("{part:.PLACES$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Whether a group shows a message that is under way, and not one that is held.
fn is_moving(group: &Group) -> bool {
    let is_held = |item: &Item| matches!(item.part, Part::Hold | Part::Clock);
    matches!(group.subject, Subject::Message(_)) && !group.items.iter().any(is_held)
}

/// The way of the rail of a name.
fn strokes<'a>(scene: &'a Scene, name: &str) -> Option<&'a [Stroke]> {
    scene.items().find_map(|item| match (&item.mark, &item.shape) {
        (Mark::Rail(found), Shape::Path(strokes)) if found == name => Some(strokes.as_slice()),
        _ => None,
    })
}

/// The mark of a message around the origin: a cell with the record's offset, or a dot.
fn token(writer: &mut Writer, one: &Move) {
    let role = match one.role {
        "ok" => Role::Ok,
        "pend" => Role::Pending,
        "bad" => Role::Bad,
        _ => Role::Plain,
    };
    let Some(label) = &one.token else {
        let radius = if one.role == "quiet" { 4 } else { 6 };
        write(&mut writer.out, format_args!("<circle r=\"{radius}\""));
        let looks = match role {
            Role::Plain => Look { fill: Some(Colour::Mute), ..Look::default() },
            _ => look(Part::Head, role),
        };
        writer.look(&looks);
        writer.out.push_str("/>");
        return;
    };
    let width = (9 * label.chars().count() + 8).max(20);
    let half = width / 2;
    write(
        &mut writer.out,
        format_args!("<rect x=\"-{half}\" y=\"-10\" width=\"{width}\" height=\"20\" rx=\"5\""),
    );
    writer.look(&look(Part::Record, role));
    write(&mut writer.out, format_args!("/><text y=\"4.4\" text-anchor=\"middle\"{MONO_BOLD}"));
    writer.look(&look(Part::Colour, role));
    write(&mut writer.out, format_args!(">{}</text>", escape(label)));
}
