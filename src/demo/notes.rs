//! `notes`: text files in a folder. Every tool says what it does, and deleting asks for `confirm`.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::protocol::{Answer, Demo, Era, settle, text, tool};

/// The longest note, in bytes.
const MOST: u64 = 1 << 20;

pub(super) struct Notes {
    dir: PathBuf,
}

impl Notes {
    /// Opens the folder; a new one gets two notes to begin with.
    pub(super) fn open(scratch: &Path) -> io::Result<Self> {
        let dir = scratch.join("notes");
        match fs::create_dir(&dir) {
            Ok(()) => {
                fs::write(dir.join("welcome.md"), "These notes are real files. Ask an agent to change them.\n")?;
                fs::write(dir.join("shopping.md"), "- coffee\n- oat milk\n")?;
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        Ok(Self { dir })
    }

    /// The file of a note. Names cannot leave the folder, and links are not followed out of it.
    fn path(&self, name: &str) -> Result<PathBuf, String> {
        let usable = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_');
        if name.is_empty() || name.len() > 64 || !name.chars().all(usable) {
            return Err(format!("{name:?} cannot name a note: 1 to 64 of letters, digits, blanks, - and _"));
        }
        let path = self.dir.join(format!("{name}.md"));
        match fs::symlink_metadata(&path) {
            Ok(metadata) if !metadata.is_file() => Err(format!("{name:?} is not a note")),
            _ => Ok(path),
        }
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_str().and_then(|name| name.strip_suffix(".md"));
            if let Some(name) = name.filter(|_| entry.file_type().is_ok_and(|kind| kind.is_file())) {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    fn list(&self) -> Result<Answer, String> {
        let names = self.names().map_err(failed("the folder"))?;
        let text = if names.is_empty() { "there are no notes".to_owned() } else { names.join("\n") };
        Ok(Answer::Data(text, json!({"notes": names})))
    }

    fn read(&self, arguments: &Map<String, Value>) -> Result<Answer, String> {
        let name = text(arguments, "name")?;
        fs::read_to_string(self.path(name)?).map(Answer::Text).map_err(failed(name))
    }

    fn search(&self, arguments: &Map<String, Value>) -> Result<Answer, String> {
        let wanted = text(arguments, "text")?.to_lowercase();
        let mut hits = Vec::new();
        for name in self.names().map_err(failed("the folder"))? {
            let content = fs::read_to_string(self.path(&name)?).map_err(failed(&name))?;
            let lines = content.lines().enumerate().filter(|(_, line)| line.to_lowercase().contains(&wanted));
            hits.extend(lines.map(|(number, line)| format!("{name}:{}: {line}", number + 1)));
        }
        Ok(Answer::Text(if hits.is_empty() { "no note has it".to_owned() } else { hits.join("\n") }))
    }

    fn write(&self, arguments: &Map<String, Value>) -> Result<Answer, String> {
        let (name, content) = (text(arguments, "name")?, text(arguments, "text")?);
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(self.path(name)?).map_err(failed(name))?;
        file.write_all(content.as_bytes()).map_err(failed(name))?;
        Ok(Answer::Text(format!("wrote {name}: {} bytes", content.len())))
    }

    fn append(&self, arguments: &Map<String, Value>) -> Result<Answer, String> {
        let (name, line) = (text(arguments, "name")?, text(arguments, "line")?);
        let mut file = OpenOptions::new().append(true).open(self.path(name)?).map_err(failed(name))?;
        let length = file.metadata().map_err(failed(name))?.len();
        if length + line.len() as u64 > MOST {
            return Err(format!("{name} would be longer than {MOST} bytes"));
        }
        file.write_all(format!("{line}\n").as_bytes()).map_err(failed(name))?;
        Ok(Answer::Text(format!("appended to {name}")))
    }

    /// What the person said, as a note.
    fn dictated(&self, said: &Value) -> Result<Answer, String> {
        match said.get("action").and_then(Value::as_str) {
            Some("accept") => {}
            Some("decline") => return Err("the person declined; nothing was written".to_owned()),
            _ => return Err("nobody answered; nothing was written".to_owned()),
        }
        let content = said.get("content").and_then(Value::as_object).ok_or("the answer holds nothing")?;
        let (name, written) = (text(content, "name")?, text(content, "text")?);
        let mark = match content.get("kind").and_then(Value::as_str) {
            Some("list") => "- ",
            Some("heading") => "# ",
            _ => "",
        };
        let urgent = if content.get("urgent") == Some(&Value::Bool(true)) { " (urgent)" } else { "" };
        let note = json!({"name": name, "text": format!("{mark}{written}{urgent}\n")});
        self.write(note.as_object().unwrap_or(content))
    }

    fn delete(&self, arguments: &Map<String, Value>) -> Result<Answer, String> {
        let name = text(arguments, "name")?;
        if arguments.get("confirm") != Some(&Value::Bool(true)) {
            return Err("confirm: true is required to delete a note; nothing was deleted".to_owned());
        }
        fs::remove_file(self.path(name)?).map_err(failed(name))?;
        Ok(Answer::Text(format!("deleted {name}")))
    }
}

/// What is asked before a note is written.
fn question() -> Value {
    let kinds = json!([
        {"const": "plain", "title": "A line of text"},
        {"const": "list", "title": "The first item of a list"},
        {"const": "heading", "title": "A heading"},
    ]);
    json!({
        "message": "What should the new note say?\nIt is written to the demo's folder when you send this.",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "name": {
                    "type": "string", "title": "Name", "minLength": 1, "maxLength": 64,
                    "description": "Letters, digits, blanks, - and _.",
                },
                "text": {"type": "string", "title": "Text"},
                "kind": {"type": "string", "title": "Written as", "oneOf": kinds, "default": "plain"},
                "urgent": {"type": "boolean", "title": "Urgent"},
            },
            "required": ["name", "text"],
        },
    })
}

impl Demo for Notes {
    fn name(&self) -> &'static str {
        "notes"
    }

    fn era(&self) -> Era {
        Era::Both
    }

    fn instructions(&self) -> &'static str {
        "Short text notes, kept as files in a scratch folder of the demo."
    }

    fn tools(&self) -> Vec<Value> {
        let hints = |read_only: bool, destructive: bool, idempotent: bool| {
            Some(json!({
                "readOnlyHint": read_only,
                "destructiveHint": destructive,
                "idempotentHint": idempotent,
                "openWorldHint": false,
            }))
        };
        let name = ("name", json!({"type": "string", "description": "The note's name, without an ending."}));
        let string = |description: &str| json!({"type": "string", "description": description});
        let confirm = json!({"type": "boolean", "description": "Must be true: a deleted note is gone."});
        vec![
            tool("list_notes", "Names of all notes.", &[], hints(true, false, true)),
            tool("read_note", "The text of a note.", std::slice::from_ref(&name), hints(true, false, true)),
            tool(
                "search_notes",
                "Lines of all notes that contain a text, whatever its case.",
                &[("text", string("What to look for."))],
                hints(true, false, true),
            ),
            tool(
                "write_note",
                "Writes a new note. Refuses when there is one of that name.",
                &[name.clone(), ("text", string("The whole text."))],
                hints(false, false, false),
            ),
            tool(
                "append_note",
                "Appends a line to a note.",
                &[name.clone(), ("line", string("The line."))],
                hints(false, false, false),
            ),
            tool(
                "dictate_note",
                "Asks the person at the dashboard what to write, and writes it as a new note.",
                &[],
                hints(false, false, false),
            ),
            tool("delete_note", "Deletes a note for good.", &[name, ("confirm", confirm)], hints(false, true, false)),
        ]
    }

    fn call(&mut self, tool: &str, arguments: &Map<String, Value>) -> Option<Answer> {
        Some(settle(match tool {
            "list_notes" => self.list(),
            "read_note" => self.read(arguments),
            "search_notes" => self.search(arguments),
            "write_note" => self.write(arguments),
            "append_note" => self.append(arguments),
            "delete_note" => self.delete(arguments),
            _ => return None,
        }))
    }

    fn ask(&mut self, tool: &str, said: Option<&Value>) -> Option<Answer> {
        (tool == "dictate_note").then(|| match said {
            None => Answer::Ask(question()),
            Some(said) => settle(self.dictated(said)),
        })
    }
}

fn failed(name: &str) -> impl Fn(io::Error) -> String {
    move |error| match error.kind() {
        io::ErrorKind::NotFound => format!("there is no note \"{name}\""),
        io::ErrorKind::AlreadyExists => format!("there is a note \"{name}\" already"),
        _ => format!("{name}: {error}"),
    }
}
