//! What an observable can be at an instant, how two values compare, and how they print.

use std::cmp::Ordering;
use std::fmt;

/// The value of an observable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// The format's `none`: there is nothing to observe.
    None,
    /// Kafka's null: a record's key or value.
    Null,
    /// A number.
    Number(i64),
    /// A word, a name, a text, `true` or `false`.
    Text(String),
    /// A list, each item as it prints.
    List(Vec<String>),
}

impl Value {
    /// The value of a JSON leaf of the snapshot's tree.
    #[must_use]
    pub fn from_json(json: &serde_json::Value) -> Value {
        match json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Array(items) => {
                Value::List(items.iter().map(|item| Value::from_json(item).to_string()).collect())
            }
            serde_json::Value::String(text) => Value::Text(text.clone()),
            serde_json::Value::Number(number) => {
                number.as_i64().map_or_else(|| Value::Text(number.to_string()), Value::Number)
            }
            other => Value::Text(other.to_string()),
        }
    }

    /// The number, where it is one.
    #[must_use]
    pub fn number(&self) -> Option<i64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::None => f.write_str("none"),
            Value::Null => f.write_str("null"),
            Value::Number(number) => number.fmt(f),
            Value::Text(text) => f.write_str(text),
            Value::List(items) if items.is_empty() => f.write_str("[]"),
            Value::List(items) => f.write_str(&items.join(", ")),
        }
    }
}

/// How an observable is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl Op {
    /// The operators as they are written, the longer before the shorter.
    pub const ALL: [(&'static str, Op); 6] = [
        ("==", Op::Equal),
        ("!=", Op::NotEqual),
        ("<=", Op::LessEqual),
        (">=", Op::GreaterEqual),
        ("<", Op::Less),
        (">", Op::Greater),
    ];

    /// As it is written.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        Op::ALL.iter().find(|(_, op)| *op == self).map_or("", |(symbol, _)| symbol)
    }

    /// Whether it asks for an order, which only numbers have.
    #[must_use]
    pub fn is_ordering(self) -> bool {
        !matches!(self, Op::Equal | Op::NotEqual)
    }

    /// Whether `left OP right` holds. What has no order is neither less nor greater.
    #[must_use]
    pub fn holds(self, left: &Value, right: &Value) -> bool {
        let ordering = match (left, right) {
            (Value::Number(_), _) | (_, Value::Number(_)) => {
                left.number().zip(right.number()).map(|(left, right)| left.cmp(&right))
            }
            _ => (left == right).then_some(Ordering::Equal),
        };
        match self {
            Op::Equal => ordering == Some(Ordering::Equal),
            Op::NotEqual => ordering != Some(Ordering::Equal),
            Op::Less => ordering == Some(Ordering::Less),
            Op::LessEqual => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
            Op::Greater => ordering == Some(Ordering::Greater),
            Op::GreaterEqual => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absence_equals_only_itself_and_has_no_order() {
        assert!(Op::Equal.holds(&Value::None, &Value::None));
        assert!(Op::NotEqual.holds(&Value::None, &Value::Number(3)));
        assert!(Op::NotEqual.holds(&Value::None, &Value::Null));
        for op in [Op::Less, Op::LessEqual, Op::Greater, Op::GreaterEqual] {
            assert!(!op.holds(&Value::None, &Value::Number(3)));
        }
    }

    #[test]
    fn numbers_compare_as_numbers() {
        assert!(Op::Less.holds(&Value::Number(9), &Value::Number(10)));
        assert!(Op::Equal.holds(&Value::Text("007".to_owned()), &Value::Number(7)));
        assert!(!Op::Equal.holds(&Value::Text("007".to_owned()), &Value::Text("7".to_owned())));
    }
}
