//! What holds for every picture: nothing leaves the view, cards do not overlap, text fits and meets
//! no other text, and things keep their places.

use kafka_sim_site::diagram::Scene;
use kafka_sim_site::diagram::scene::{Group, Item, Part, Rect, Role, Shape, Subject};

/// Whether the item is a machine's card.
fn is_card(item: &Item) -> bool {
    matches!(item.part, Part::Card | Part::CardLead | Part::CardStop | Part::CardOut)
}

fn rect(item: &Item) -> Option<Rect> {
    match item.shape {
        Shape::Box { rect, .. } => Some(rect),
        _ => None,
    }
}

/// Every card with its owner.
fn cards(scene: &Scene) -> Vec<(&Subject, Rect)> {
    let groups = scene.groups.iter();
    groups
        .filter_map(|group| {
            let card = group.items.iter().find(|item| is_card(item))?;
            Some((&group.subject, rect(card)?))
        })
        .collect()
}

/// Every text with its words.
fn texts(groups: &[Group]) -> Vec<(String, Rect)> {
    let items = groups.iter().flat_map(|group| &group.items);
    items
        .filter_map(|item| {
            let Shape::Text { runs, .. } = &item.shape else { return None };
            let words = runs.iter().map(|run| run.text.as_str()).collect::<Vec<_>>().join(" ");
            Some((words, item.shape.text_room()?))
        })
        .collect()
}

/// What is wrong with a picture, in words.
pub fn faults(scene: &Scene) -> Vec<String> {
    let mut faults = Vec::new();
    let cards = cards(scene);
    for (index, (owner, card)) in cards.iter().enumerate() {
        for (other, second) in &cards[index + 1..] {
            if card.overlaps(*second) {
                faults.push(format!("{owner:?} overlaps {other:?}"));
            }
        }
    }
    let view = scene.view();
    for item in scene.items() {
        let place = rect(item).filter(|_| item.part != Part::Ring).or(item.shape.text_room());
        if let Some(place) = place.filter(|place| !view.contains(*place)) {
            faults.push(format!("{:?} leaves the view: {place:?} {:?}", item.part, item.shape));
        }
        if let Shape::Path(strokes) = &item.shape {
            let outside = strokes.iter().any(|stroke| {
                use kafka_sim_site::diagram::scene::Stroke::{Bend, Close, Line, Move};
                match stroke {
                    Move(to) | Line(to) | Bend(_, to) => {
                        !view.contains(Rect::new(to.x, to.y, 0.0, 0.0))
                    }
                    Close => false,
                }
            });
            if outside {
                faults.push(format!("a {:?} leaves the view", item.part));
            }
        }
    }
    let still: Vec<Group> = scene
        .groups
        .iter()
        .filter(|group| !matches!(group.subject, Subject::Message(_)))
        .cloned()
        .collect();
    let texts = texts(&still);
    for (index, (words, room)) in texts.iter().enumerate() {
        for (other, second) in &texts[index + 1..] {
            if room.overlaps(*second) {
                faults.push(format!("`{words}` meets `{other}`"));
            }
        }
        for (owner, card) in &cards {
            if card.overlaps(*room) && !card.contains(*room) {
                faults.push(format!("`{words}` is cut by the card of {owner:?}"));
            }
        }
    }
    faults
}

/// Where things stand that must not move: cards, lanes, rails.
pub fn places(scene: &Scene) -> Vec<(Subject, Item)> {
    let mut places = Vec::new();
    for group in &scene.groups {
        for item in &group.items {
            let is_rail = matches!(item.part, Part::Tube | Part::TubeQuiet);
            if is_card(item) || item.part == Part::Lane || is_rail {
                let mut item = item.clone();
                item.part = if is_card(&item) { Part::Card } else { item.part };
                item.role = Role::Plain;
                places.push((group.subject.clone(), item));
            }
        }
    }
    places
}
