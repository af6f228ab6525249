//! What holds for every picture: nothing leaves the view, cards do not overlap, text fits and meets
//! no other text, and things keep their places.

use std::collections::BTreeMap;

use kafka_sim_site::diagram::Scene;
use kafka_sim_site::diagram::scene::{Group, Item, Mark, Part, Rect, Shape, Subject};

/// Whether the item is a replica's cell in the dense form.
fn is_cell(item: &Item) -> bool {
    matches!(item.part, Part::CellLead | Part::CellSync | Part::CellOut | Part::CellStop)
}

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
            let card = group.items.iter().find(|item| is_card(item) || is_cell(item))?;
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

/// Whether the picture is a grid.
pub fn is_dense(scene: &Scene) -> bool {
    !scene.items().any(|item| item.part == Part::Lane)
        && scene.groups.iter().any(|group| matches!(group.subject, Subject::Replica(_)))
}

/// Where things stand that must not move: cards, lanes, cells, rails. What has something of its
/// own in every picture is counted by its subject; rails by their names.
pub fn places(scene: &Scene) -> BTreeMap<String, String> {
    let mut places = BTreeMap::new();
    for group in &scene.groups {
        for item in &group.items {
            let name = match (&item.mark, item.part) {
                (Mark::Rail(name), _) => name.clone(),
                _ if is_card(item) => format!("card of {:?}", group.subject),
                (_, Part::Lane) => format!("lane of {:?}", group.subject),
                _ if is_cell(item) => format!("cell of {:?}", group.subject),
                _ => continue,
            };
            places.insert(name, format!("{:?}", item.shape));
        }
    }
    places
}
