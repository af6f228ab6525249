//! The JSON Schema of scenario files, for editors: made from the table of keys that checks them.

use serde_json::{Map, Value, json};

use super::keys::SCENARIO;
use super::shape::{Key, Need, Object, Shape};

/// The text of `schema/scenario.json`.
#[must_use]
pub fn scenario_schema() -> String {
    let mut schema = object(&SCENARIO);
    if let Value::Object(fields) = &mut schema {
        let dialect = json!("https://json-schema.org/draft/2020-12/schema");
        fields.insert("$schema".to_owned(), dialect);
        fields.insert("title".to_owned(), json!("A scenario of kafka-sim-site"));
    }
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is plain data");
    text.push('\n');
    text
}

fn object(object: &Object) -> Value {
    let mut properties = Map::new();
    for key in object.keys {
        properties.insert(key.name.to_owned(), described(key));
    }
    let required: Vec<&str> =
        object.keys.iter().filter(|key| key.need == Need::Required).map(|key| key.name).collect();
    let mut schema = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if !object.one_of.is_empty() {
        let one = |name: &&str| json!({ "required": [name] });
        schema["oneOf"] = object.one_of.iter().map(one).collect();
    }
    schema
}

fn described(key: &Key) -> Value {
    let mut schema = shape(&key.shape);
    schema["description"] = json!(key.doc);
    schema
}

fn shape(of: &Shape) -> Value {
    let text = json!(["string", "number", "boolean"]);
    let duration = "^(0|[0-9]+(\\.[0-9]+)?(ms|s|m|h|d))$";
    match of {
        Shape::Text | Shape::Markdown => json!({ "type": text }),
        Shape::Nullable => json!({ "type": ["string", "number", "boolean", "null"] }),
        Shape::Id => json!({ "type": ["string", "number"], "pattern": "^[0-9]+(\\.[0-9]+)*$" }),
        Shape::Slug => json!({ "type": ["string", "number"], "pattern": "^[a-z0-9-]+$" }),
        Shape::Word(words) => json!({ "enum": words }),
        Shape::Boolean => json!({ "type": "boolean" }),
        Shape::Number(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Shape::Duration => {
            json!({ "type": ["string", "integer"], "pattern": duration, "maximum": 0 })
        }
        Shape::SignedDuration => {
            let signed = duration.replacen("^(", "^-?(", 1);
            json!({ "type": ["string", "integer"], "pattern": signed, "maximum": 0 })
        }
        Shape::List(item) => json!({ "type": "array", "items": shape(item) }),
        Shape::Map(_, value) => {
            json!({ "type": "object", "additionalProperties": shape(value) })
        }
        Shape::Object(of) => object(of),
        Shape::Choice(shapes) => {
            json!({ "anyOf": shapes.iter().map(shape).collect::<Vec<_>>() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_knows_the_keys_that_the_parser_knows() {
        let schema: Value = serde_json::from_str(&scenario_schema()).expect("it is JSON");
        assert_eq!(schema["required"], json!(["id", "title", "level", "summary", "steps"]));
        let step = &schema["properties"]["steps"]["items"];
        assert_eq!(step["oneOf"], json!([{ "required": ["at"] }, { "required": ["when"] }]));
        let action = &schema["properties"]["actions"]["items"]["properties"];
        assert_eq!(action["produce"]["required"], json!(["producer"]));
        assert_eq!(schema["properties"]["level"]["enum"][0], json!("beginner"));
    }
}
