//! From text to the marked tree: YAML events, anchors, aliases, merge keys, and the bounds on all of them.
//!
//! Called by [`super::load`] only. A document that is no YAML, or too large once its aliases are written out, ends
//! here with one problem; duplicate keys are collected and reading goes on.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};

use super::diagnostic::{Report, child, item, quoted};
use super::tree::{Entry, Mark, Node, Scalar, Style, Value};

/// A document larger than this is not read.
pub(super) const MAX_BYTES: usize = 4 * 1024 * 1024;
/// Nodes of the tree, aliases written out.
const MAX_NODES: usize = 100_000;
/// Levels of lists and mappings.
const MAX_DEPTH: usize = 64;
/// Bytes of a key.
const MAX_KEY: usize = 1024;

/// Reading cannot go on; the reason is in the report.
struct Stop;

/// Reads a document. `None` when it cannot be read; the report says why.
pub(super) fn read(text: &str, report: &mut Report) -> Option<Node> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; at most {MAX_BYTES} are read", text.len());
        report.error(Mark { line: 1, column: 1 }, "", message);
        return None;
    }
    let mut reader = Reader {
        parser: Parser::new_from_str(text),
        text,
        anchors: HashMap::new(),
        nodes: 0,
        path: Vec::new(),
        report,
    };
    reader.document().ok()
}

struct Reader<'t, 'r> {
    parser: Parser<'t, StrInput<'t>>,
    text: &'t str,
    /// Finished nodes by anchor, each with its number of nodes.
    anchors: HashMap<usize, (Node, usize)>,
    nodes: usize,
    /// Where the reader is.
    path: Vec<Step>,
    report: &'r mut Report,
}

enum Step {
    Key(Arc<str>),
    Item(usize),
}

impl<'t> Reader<'t, '_> {
    fn document(&mut self) -> Result<Node, Stop> {
        let root = loop {
            match self.next()? {
                (Event::StreamEnd, _) => return Err(self.empty()),
                (Event::StreamStart | Event::Nothing | Event::DocumentStart(_) | Event::DocumentEnd, _) => {}
                (event, span) => break self.node(event, span, 0)?,
            }
        };
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => break,
                (Event::DocumentStart(_), span) => {
                    let first = root.mark.line;
                    let message = format!("a second document starts here; the first one starts on line {first}");
                    return Err(self.stop(mark(span.start), &message, "keep one document in the file"));
                }
                _ => {}
            }
        }
        if root.is_null() { Err(self.empty()) } else { Ok(root) }
    }

    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Node, Stop> {
        let at = mark(span.start);
        if depth > MAX_DEPTH {
            return Err(self.too_deep(at));
        }
        let before = self.nodes;
        self.count(1, at)?;
        let (anchor, value) = match event {
            Event::Alias(anchor) => return self.alias(anchor, at),
            Event::Scalar(text, style, anchor, tag) => (anchor, self.scalar(text, style, tag.as_deref(), span)?),
            Event::SequenceStart(anchor, tag) => {
                self.no_tag(tag.as_deref(), at)?;
                (anchor, Value::List(self.list(depth)?.into()))
            }
            Event::MappingStart(anchor, tag) => {
                self.no_tag(tag.as_deref(), at)?;
                (anchor, Value::Map(self.map(depth)?.into()))
            }
            _ => return Err(self.stop(at, "a value is missing here", "complete the line")),
        };
        let node = Node { mark: at, value };
        if anchor > 0 {
            self.anchors.insert(anchor, (node.clone(), self.nodes - before));
        }
        Ok(node)
    }

    fn alias(&mut self, anchor: usize, at: Mark) -> Result<Node, Stop> {
        let Some((node, size)) = self.anchors.get(&anchor) else {
            return Err(self.stop(at, "an alias stands inside the value that it refers to", "write the value out"));
        };
        let (size, node) = (*size, node);
        // Counted before it is copied, so that a small file cannot become a large tree.
        if self.nodes.saturating_add(size) > MAX_NODES {
            return Err(self.too_large(at));
        }
        self.nodes += size;
        Ok(node.clone())
    }

    fn scalar(&mut self, text: Cow<'t, str>, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Result<Value, Stop> {
        let text_tag = tag.is_some_and(|tag| tag.suffix == "str" || (tag.handle.is_empty() && tag.suffix == "!"));
        if !text_tag {
            self.no_tag(tag, mark(span.start))?;
        }
        let style = if style == ScalarStyle::Plain && !text_tag { Style::Plain } else { Style::Quoted };
        let span = (span.start.index(), span.end.index());
        Ok(Value::Scalar(Scalar { text: Arc::from(text), style, span }))
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, Stop> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, span) => {
                    self.path.push(Step::Item(items.len()));
                    items.push(self.node(event, span, depth + 1)?);
                    self.path.pop();
                }
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Vec<Entry>, Stop> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut places: HashMap<Arc<str>, Mark> = HashMap::new();
        let mut merges: Vec<(Node, Mark)> = Vec::new();
        loop {
            let (event, span) = self.next()?;
            let at = mark(span.start);
            if event == Event::MappingEnd {
                break;
            }
            let key = self.node(event, span, depth + 1)?;
            let Value::Scalar(Scalar { text: key, style, .. }) = key.value else {
                return Err(self.stop(at, "a key is a list or a mapping", "a key is plain text before a colon"));
            };
            if key.len() > MAX_KEY {
                return Err(self.stop(at, &format!("a key is longer than {MAX_KEY} bytes"), "shorten it"));
            }
            let (event, span) = self.next()?;
            self.path.push(Step::Key(key.clone()));
            let value = self.node(event, span, depth + 1)?;
            self.path.pop();
            if &*key == "<<" && style == Style::Plain {
                merges.push((value, at));
            } else if let Some(first) = places.get(&key) {
                let message = format!("the key {} stands twice; first on line {}", quoted(&key), first.line);
                let path = child(&self.path(), &key);
                self.report.error(at, path, message).help("keep one of them");
            } else {
                places.insert(key.clone(), at);
                entries.push(Entry { key, mark: at, value });
            }
        }
        for (base, at) in merges {
            self.merge(&mut entries, &mut places, base, at)?;
        }
        Ok(entries)
    }

    /// `<<`: the keys of one mapping, or of several of which the first wins, where the mapping has none itself.
    fn merge(
        &mut self,
        entries: &mut Vec<Entry>,
        places: &mut HashMap<Arc<str>, Mark>,
        base: Node,
        at: Mark,
    ) -> Result<(), Stop> {
        let bases = match base.value {
            Value::List(bases) => bases,
            _ => Arc::from([base]),
        };
        for base in bases.iter() {
            let Value::Map(inherited) = &base.value else {
                return Err(self.stop(
                    at,
                    "the merge key `<<` wants a mapping, or a list of mappings",
                    "use `<<: *name`",
                ));
            };
            for entry in inherited.iter() {
                if !places.contains_key(&entry.key) {
                    places.insert(entry.key.clone(), entry.mark);
                    entries.push(entry.clone());
                }
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Result<(Event<'t>, Span), Stop> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(self.no_yaml(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn count(&mut self, nodes: usize, at: Mark) -> Result<(), Stop> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > MAX_NODES { Err(self.too_large(at)) } else { Ok(()) }
    }

    fn no_tag(&mut self, tag: Option<&Tag>, at: Mark) -> Result<(), Stop> {
        match tag {
            None => Ok(()),
            Some(tag) if tag.is_yaml_core_schema() => Ok(()),
            Some(tag) => {
                Err(self.stop(at, &format!("the tag {} is not supported", quoted(&tag.to_string())), "remove it"))
            }
        }
    }

    fn no_yaml(&mut self, error: &ScanError) -> Stop {
        let at = mark(*error.marker());
        let info = error.info();
        if info.contains("unknown anchor") {
            return self.stop(
                at,
                "the alias refers to nothing",
                "write `&name` before a value above, and `*name` here",
            );
        }
        // The scanner reads ahead of the events and has a limit of its own.
        if info.contains("recursion limit") {
            return self.too_deep(at);
        }
        if info.contains("tab")
            && let Some(tab) = self.tab_from(at)
        {
            return self.stop(tab, "this line is indented with a tab", "YAML is indented with spaces only");
        }
        let help = "look at the indentation, the quotes and the brackets here and on the line before";
        self.stop(at, &format!("this is not YAML: {info}"), help)
    }

    /// The first tab that indents a line, from a line on.
    fn tab_from(&self, at: Mark) -> Option<Mark> {
        let lines = (1..).zip(self.text.lines()).skip_while(|(number, _)| *number < at.line);
        for (line, text) in lines {
            let indent = text.chars().take_while(|c| c.is_whitespace());
            if let Some((column, _)) = (1..).zip(indent).find(|(_, c)| *c == '\t') {
                return Some(Mark { line, column });
            }
        }
        None
    }

    fn path(&self) -> String {
        self.path.iter().fold(String::new(), |path, step| match step {
            Step::Key(key) => child(&path, key),
            Step::Item(index) => item(&path, *index),
        })
    }

    fn empty(&mut self) -> Stop {
        self.stop(
            Mark { line: 1, column: 1 },
            "the file holds no configuration",
            "write at least `name: My Company` and a list `mcp_servers:`, or start without a file to see the demo",
        )
    }

    fn too_deep(&mut self, at: Mark) -> Stop {
        self.stop(at, &format!("lists and mappings nest deeper than {MAX_DEPTH} levels"), "flatten it")
    }

    fn too_large(&mut self, at: Mark) -> Stop {
        let message = format!("the document has more than {MAX_NODES} values once its aliases are written out");
        self.stop(at, &message, "use fewer aliases (`*name`)")
    }

    fn stop(&mut self, at: Mark, message: &str, help: &str) -> Stop {
        self.report.error(at, "", message).help(help);
        Stop
    }
}

fn mark(marker: Marker) -> Mark {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Mark { line: number(marker.line().max(1)), column: number(marker.col()).saturating_add(1) }
}
