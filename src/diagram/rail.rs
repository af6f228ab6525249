//! The way between two machines: a line of right angles along which messages travel. Pure geometry.

use super::scene::{Point, Stroke, at};

/// Radius of a rail's corners.
const CORNER: f64 = 9.0;

/// A line through points; neighbours differ in one coordinate only.
#[derive(Clone, Debug, PartialEq)]
pub struct Rail {
    points: Vec<Point>,
}

/// Where a message's head is, and which way it points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Head {
    /// Its tip.
    pub tip: Point,
    /// Its direction: one of the four unit vectors.
    pub direction: Point,
}

impl Rail {
    /// A rail through `points`, at least two; points that repeat are dropped.
    #[must_use]
    pub fn new(points: &[Point]) -> Rail {
        let mut kept: Vec<Point> = Vec::with_capacity(points.len());
        for &point in points {
            if kept.last().is_none_or(|&last| distance(last, point) > 0.01) {
                kept.push(point);
            }
        }
        if kept.len() < 2 {
            kept = vec![points[0], at(points[0].x + 1.0, points[0].y)];
        }
        Rail { points: kept }
    }

    /// The rail that was drawn with these strokes.
    #[must_use]
    pub fn drawn(strokes: &[Stroke]) -> Option<Rail> {
        let corner = |stroke: &Stroke| match stroke {
            Stroke::Move(point) | Stroke::Bend(point, _) => Some(*point),
            Stroke::Line(_) | Stroke::Close => None,
        };
        let end = strokes.iter().rev().find_map(|stroke| match stroke {
            Stroke::Line(point) => Some(*point),
            _ => None,
        });
        let points: Vec<Point> = strokes.iter().filter_map(corner).chain(end).collect();
        (points.len() > 1).then(|| Rail::new(&points))
    }

    /// The same way, walked from its end.
    #[must_use]
    pub fn reversed(&self) -> Rail {
        Rail { points: self.points.iter().rev().copied().collect() }
    }

    /// Its length.
    #[must_use]
    pub fn length(&self) -> f64 {
        self.points.windows(2).map(|pair| distance(pair[0], pair[1])).sum()
    }

    /// Its first `length` units.
    #[must_use]
    pub fn cut(&self, length: f64) -> Rail {
        let mut left = length.max(0.5);
        let mut points = vec![self.points[0]];
        for pair in self.points.windows(2) {
            let step = distance(pair[0], pair[1]);
            if left < step {
                let part = left / step;
                points.push(at(
                    pair[0].x + (pair[1].x - pair[0].x) * part,
                    pair[0].y + (pair[1].y - pair[0].y) * part,
                ));
                break;
            }
            left -= step;
            points.push(pair[1]);
        }
        Rail { points }
    }

    /// The point and direction `length` units from the start.
    #[must_use]
    pub fn head(&self, length: f64) -> Head {
        let cut = self.cut(length);
        let tip = cut.points[cut.points.len() - 1];
        let before = cut.points[cut.points.len() - 2];
        Head { tip, direction: at(sign(tip.x - before.x), sign(tip.y - before.y)) }
    }

    /// The length of its first straight stretch, if it has a corner.
    #[must_use]
    pub fn first_stretch(&self) -> Option<f64> {
        (self.points.len() > 2).then(|| distance(self.points[0], self.points[1]))
    }

    /// Whether the two ways cross.
    #[must_use]
    pub fn crosses(&self, other: &Rail) -> bool {
        let across = |a: &[Point], b: &[Point]| {
            let is_level = (a[0].y - a[1].y).abs() < 0.01;
            let is_upright = (b[0].x - b[1].x).abs() < 0.01;
            is_level
                && is_upright
                && a[0].x.min(a[1].x) < b[0].x
                && b[0].x < a[0].x.max(a[1].x)
                && b[0].y.min(b[1].y) < a[0].y
                && a[0].y < b[0].y.max(b[1].y)
        };
        let mut pairs =
            self.points.windows(2).flat_map(|a| other.points.windows(2).map(move |b| (a, b)));
        pairs.any(|(a, b)| across(a, b) || across(b, a))
    }

    /// Its strokes, corners rounded.
    #[must_use]
    pub fn strokes(&self) -> Vec<Stroke> {
        let points = &self.points;
        let last = points.len() - 1;
        let mut strokes = vec![Stroke::Move(points[0])];
        for i in 1..last {
            let (before, corner, after) = (points[i - 1], points[i], points[i + 1]);
            let into = distance(before, corner) / if i == 1 { 1.0 } else { 2.0 };
            let out = distance(corner, after) / if i + 1 == last { 1.0 } else { 2.0 };
            let radius = CORNER.min(into).min(out);
            strokes.push(Stroke::Line(toward(corner, before, radius)));
            strokes.push(Stroke::Bend(corner, toward(corner, after, radius)));
        }
        strokes.push(Stroke::Line(points[last]));
        strokes
    }
}

fn distance(a: Point, b: Point) -> f64 {
    (a.x - b.x).abs() + (a.y - b.y).abs()
}

fn toward(from: Point, to: Point, by: f64) -> Point {
    at(from.x + by * sign(to.x - from.x), from.y + by * sign(to.y - from.y))
}

fn sign(value: f64) -> f64 {
    if value > 0.001 {
        1.0
    } else if value < -0.001 {
        -1.0
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook() -> Rail {
        Rail::new(&[at(100.0, 0.0), at(80.0, 0.0), at(80.0, 50.0), at(100.0, 50.0)])
    }

    #[test]
    fn a_head_stands_where_its_way_ends_and_points_on() {
        assert!((hook().length() - 90.0).abs() < 1e-9);
        let head = hook().head(30.0);
        assert_eq!((head.tip, head.direction), (at(80.0, 10.0), at(0.0, 1.0)));
        let home = hook().reversed().head(90.0);
        assert_eq!((home.tip, home.direction), (at(100.0, 0.0), at(1.0, 0.0)));
    }

    #[test]
    fn ways_cross_where_one_passes_through_the_other() {
        let level = |y| Rail::new(&[at(70.0, y), at(90.0, y)]);
        assert!(hook().crosses(&level(20.0)) && level(20.0).crosses(&hook()));
        assert!(!hook().crosses(&level(60.0)));
        assert!(!hook().crosses(&hook()));
    }

    #[test]
    fn points_that_repeat_make_no_corner() {
        let straight = Rail::new(&[at(0.0, 5.0), at(0.0, 5.0), at(9.0, 5.0), at(9.0, 5.0)]);
        assert_eq!(straight.points.as_slice(), [at(0.0, 5.0), at(9.0, 5.0)]);
        assert_eq!(straight.strokes().len(), 2);
    }
}
