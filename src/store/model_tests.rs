//! The store against a model: any steps leave what the model holds, over restarts, too.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::items::{Comment, Filter, Item, Who};
use super::tests::{AT, all, fresh, new, somebody};
use super::{FILE, ItemChanges, NewItem, Store, backup};
use crate::clock::Timestamp;

/// One step of the property test. Items are meant by their place among all that were made.
#[derive(Clone, Debug)]
enum Step {
    Create(u8, u8),
    Title(u8, u8),
    Assign(u8, Option<bool>),
    Parent(u8, u8),
    Remove(u8, bool),
    Tree(u8, bool),
    Move(u8, bool),
    Merge(u8, u8),
    Link(u8, u8, bool),
    Order(Vec<u8>),
    Comment(u8),
    Uncomment(u8),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let two = || (any::<u8>(), any::<u8>());
    let step = prop_oneof![
        4 => (0..3_u8, 0..6_u8).prop_map(|(status, word)| Step::Create(status, word)),
        3 => (any::<u8>(), 0..6_u8).prop_map(|(item, word)| Step::Title(item, word)),
        2 => (any::<u8>(), any::<Option<bool>>()).prop_map(|(item, who)| Step::Assign(item, who)),
        3 => two().prop_map(|(item, above)| Step::Parent(item, above)),
        3 => (any::<u8>(), any::<bool>()).prop_map(|(item, removed)| Step::Remove(item, removed)),
        3 => (any::<u8>(), any::<bool>()).prop_map(|(item, removed)| Step::Tree(item, removed)),
        2 => (any::<u8>(), any::<bool>()).prop_map(|(item, web)| Step::Move(item, web)),
        2 => two().prop_map(|(item, into)| Step::Merge(item, into)),
        2 => (any::<u8>(), any::<u8>(), any::<bool>()).prop_map(|(item, other, adds)| Step::Link(item, other, adds)),
        1 => proptest::collection::vec(any::<u8>(), 0..5).prop_map(Step::Order),
        2 => any::<u8>().prop_map(Step::Comment),
        1 => any::<u8>().prop_map(Step::Uncomment),
        1 => Just(Step::Reopen),
    ];
    proptest::collection::vec(step, 1..40)
}

const WORDS: [&str; 6] = ["apple", "banana", "cherry", "damson", "elder", "fig"];
const STATES: [&str; 3] = ["todo", "done", "closed"];

/// What the store should hold. An item's number is its place, counted from one.
#[derive(Default)]
struct Model {
    items: Vec<Item>,
    comments: Vec<Comment>,
    numbers: HashMap<String, i64>,
    /// Keys that items had before they were moved.
    keys: HashMap<String, i64>,
    links: BTreeSet<(i64, &'static str, i64)>,
    /// With which item's tree an item went into the trash.
    trees: HashMap<i64, i64>,
    order: Vec<i64>,
    changes: i64,
}

impl Model {
    fn pick(&self, index: u8) -> Option<usize> {
        (!self.items.is_empty()).then(|| usize::from(index) % self.items.len())
    }

    fn two(&self, one: u8, other: u8) -> Option<(usize, usize)> {
        let (one, other) = (self.pick(one)?, self.pick(other)?);
        (one != other).then_some((one, other))
    }

    fn at(&mut self, id: i64) -> &mut Item {
        self.items.iter_mut().find(|item| item.id == id).unwrap()
    }

    /// Everything below an item, whatever is in the trash.
    fn below(&self, id: i64) -> HashSet<i64> {
        let mut found = HashSet::new();
        let mut next = vec![id];
        while let Some(above) = next.pop() {
            let children = self.items.iter().filter(|item| item.parent == Some(above)).map(|item| item.id);
            next.extend(children.filter(|child| found.insert(*child)));
        }
        found
    }

    fn number(&mut self, project: &str) -> i64 {
        let last = self.numbers.entry(project.to_owned()).or_default();
        *last += 1;
        *last
    }

    #[expect(clippy::too_many_lines, reason = "a few lines for each operation")]
    async fn take(&mut self, step: &Step, store: &Store) {
        match step {
            Step::Create(status, word) => {
                let status = STATES[usize::from(*status)].into();
                let new = NewItem { status, ..new(WORDS[usize::from(*word)]) };
                let made = store.write(move |s| s.create_item(new, &somebody())).await.unwrap();
                assert_eq!(made.row.number, self.number("WEB"));
                self.items.push(made.row);
                self.changes += 1;
            }
            Step::Title(index, word) => {
                let title = WORDS[usize::from(*word)].to_owned();
                self.change(*index, store, ItemChanges { title: Some(title), ..ItemChanges::default() }).await;
            }
            Step::Assign(index, who) => {
                let who = who.map(|agent| Who::new(if agent { "agent" } else { "user" }, "ada"));
                self.change(*index, store, ItemChanges { assignee: Some(who), ..ItemChanges::default() }).await;
            }
            Step::Parent(index, above) => {
                let Some((at, above)) = self.two(*index, *above) else { return };
                let (item, above) = (self.items[at].id, self.items[above].id);
                if !self.below(item).contains(&above) {
                    let changes = ItemChanges { parent: Some(Some(above)), ..ItemChanges::default() };
                    self.change(*index, store, changes).await;
                }
            }
            Step::Remove(index, removed) => {
                let Some(at) = self.pick(*index) else { return };
                let (item, removed) = (self.items[at].clone(), *removed);
                self.flip(item.id, removed, None);
                let now = store.write(move |s| s.set_removed(&item, removed, &somebody())).await.unwrap();
                assert_eq!(now.row, self.items[at]);
            }
            Step::Tree(index, removed) => self.tree(*index, *removed, store).await,
            Step::Move(index, web) => self.move_item(*index, if *web { "WEB" } else { "APP" }, store).await,
            Step::Merge(index, into) => self.merge(*index, *into, store).await,
            Step::Link(index, other, adds) => {
                let Some((one, other)) = self.two(*index, *other) else { return };
                let (one, other, adds) = (self.items[one].clone(), self.items[other].clone(), *adds);
                let link = (one.id, "blocks", other.id);
                let differs = if adds { self.links.insert(link) } else { self.links.remove(&link) };
                let link = move |s: &super::WriteStore<'_>| {
                    let by = somebody();
                    if adds { s.link(&one, "blocks", &other, &by) } else { s.unlink(&one, "blocks", &other, &by) }
                };
                assert_eq!(store.write(link).await.unwrap().is_some(), differs);
                self.changes += i64::from(differs);
            }
            Step::Order(all) => {
                let mut order: Vec<i64> = Vec::new();
                for id in all.iter().filter_map(|index| self.pick(*index)).map(|at| self.items[at].id) {
                    if !order.contains(&id) {
                        order.push(id);
                    }
                }
                let ids = order.clone();
                let set = store.write(move |s| s.set_queue("ada", &ids, &somebody())).await.unwrap();
                assert_eq!(set.is_some(), order != self.order);
                self.changes += i64::from(order != self.order);
                self.order = order;
            }
            Step::Comment(index) => {
                let Some(at) = self.pick(*index) else { return };
                let item = self.items[at].clone();
                let made = store.write(move |s| s.add_comment(&item, "said", None, &somebody())).await.unwrap();
                self.comments.push(made.row);
                self.changes += 1;
            }
            Step::Uncomment(index) => {
                if self.comments.is_empty() {
                    return;
                }
                let at = usize::from(*index) % self.comments.len();
                let comment = self.comments[at].clone();
                let item = self.items.iter().find(|item| item.id == comment.item).unwrap().clone();
                let changes = comment.removed.is_none();
                let now = store.write(move |s| s.remove_comment(&comment, &item, &somebody())).await.unwrap();
                self.changes += i64::from(changes);
                self.comments[at] = now.row;
            }
            Step::Reopen => {}
        }
    }

    /// Into the trash or out of it, in the model.
    fn flip(&mut self, id: i64, removed: bool, root: Option<i64>) {
        let item = self.at(id);
        if item.removed.is_some() == removed {
            return;
        }
        item.removed = removed.then_some(AT);
        item.version += 1;
        match root {
            Some(root) => self.trees.insert(id, root),
            None => self.trees.remove(&id),
        };
        self.changes += 1;
    }

    async fn tree(&mut self, index: u8, removed: bool, store: &Store) {
        let Some(at) = self.pick(index) else { return };
        let root = self.items[at].clone();
        let mut expected: Vec<i64> = if removed {
            let below = self.below(root.id);
            below.into_iter().filter(|id| self.at(*id).removed.is_none()).collect()
        } else {
            self.trees.iter().filter(|(_, with)| **with == root.id).map(|(id, _)| *id).collect()
        };
        expected.sort_unstable();
        let id = root.id;
        let found = if removed {
            store.read(move |s| s.below(id, 1000)).await.unwrap()
        } else {
            store.read(move |s| s.removed_with(id)).await.unwrap()
        };
        assert_eq!(found.iter().map(|item| item.id).collect::<Vec<_>>(), expected);
        for id in expected {
            self.flip(id, removed, removed.then_some(root.id));
        }
        self.flip(root.id, removed, None);
        let job = move |s: &super::WriteStore<'_>| {
            if removed { s.remove_tree(&root, &found, &somebody()) } else { s.restore_tree(&root, &somebody()) }
        };
        assert_eq!(store.write(job).await.unwrap().row, self.items[at]);
    }

    async fn move_item(&mut self, index: u8, project: &'static str, store: &Store) {
        let Some(at) = self.pick(index) else { return };
        let item = self.items[at].clone();
        if item.project != project {
            self.keys.insert(item.key(), item.id);
            let number = self.number(project);
            let now = &mut self.items[at];
            (now.project, now.number, now.version) = (project.to_owned(), number, now.version + 1);
            self.changes += 1;
        }
        let moved = store.write(move |s| s.move_item(&item, project, &somebody())).await.unwrap();
        assert_eq!(moved.row, self.items[at]);
    }

    async fn merge(&mut self, index: u8, into: u8, store: &Store) {
        let Some((at, into)) = self.two(index, into) else { return };
        let (item, into) = (self.items[at].clone(), self.items[into].clone());
        let deeper = into.parent != Some(item.id) && self.below(item.id).contains(&into.id);
        if item.merged.is_some() || deeper {
            return;
        }
        self.changes += i64::from(self.links.insert((item.id, "duplicates", into.id))) + 1;
        let children: Vec<i64> =
            self.items.iter().filter(|child| child.parent == Some(item.id)).map(|child| child.id).collect();
        for child in children {
            let parent = if child == into.id { item.parent } else { Some(into.id) };
            let child = self.at(child);
            (child.parent, child.version) = (parent, child.version + 1);
            self.changes += 1;
        }
        let now = &mut self.items[at];
        (now.status, now.merged, now.version) = ("closed".to_owned(), Some(into.id), now.version + 1);
        self.changes += 1;
        let merged = store.write(move |s| s.merge_item(&item, &into, &somebody())).await.unwrap();
        assert_eq!(merged.row, self.items[at]);
    }

    async fn change(&mut self, index: u8, store: &Store, changes: ItemChanges) {
        let Some(at) = self.pick(index) else { return };
        let before = self.items[at].clone();
        let mut expected = before.clone();
        if let Some(title) = &changes.title {
            expected.title.clone_from(title);
        }
        if let Some(assignee) = &changes.assignee {
            expected.assignee.clone_from(assignee);
        }
        if let Some(parent) = changes.parent {
            expected.parent = parent;
        }
        let differs = expected != before;
        expected.version += i64::from(differs);
        let item = before.clone();
        let now = store.write(move |s| s.update_item(&item, changes, &somebody())).await.unwrap();
        assert_eq!((&now.row, now.position.is_some()), (&expected, differs));
        self.changes += i64::from(differs);
        self.items[at] = now.row;
    }

    async fn compare(&self, store: &Store) {
        let newest_first = |which: &dyn Fn(&Item) -> bool| -> Vec<Item> {
            self.items.iter().rev().filter(|item| which(item)).cloned().collect()
        };
        let list = async |filter: Filter| store.read(move |s| s.items(&filter)).await.unwrap();
        assert_eq!(list(all(1000)).await, newest_first(&|item| item.removed.is_none()));
        let trash = Filter { removed: true, ..all(1000) };
        assert_eq!(list(trash).await, newest_first(&|item| item.removed.is_some()));
        let open = Filter { not_statuses: vec!["done".into(), "closed".into()], ..all(2) };
        let mut expected = newest_first(&|item| item.removed.is_none() && item.status == "todo");
        expected.truncate(2);
        assert_eq!(list(open).await, expected);
        let mine = Filter { assignee: Some("ada".into()), ..all(1000) };
        assert_eq!(list(mine).await, newest_first(&|item| item.removed.is_none() && item.assignee.is_some()));
        for word in WORDS {
            let is_found = |item: &Item| item.removed.is_none() && item.title == word && item.project == "WEB";
            let found = store.read(move |s| s.search_items(word, &["WEB".to_owned()], 1000)).await.unwrap();
            assert_eq!(found, newest_first(&is_found), "{word}");
            let filter = Filter { text: Some(word.to_owned()), projects: vec!["WEB".to_owned()], ..all(1000) };
            assert_eq!(list(filter).await, newest_first(&is_found), "{word}");
        }
        for item in self.items.iter().cloned() {
            let id = item.id;
            let of: Vec<_> = self.comments.iter().filter(|c| c.item == id && c.removed.is_none()).cloned().collect();
            assert_eq!(store.read(move |s| s.comments(id, 0, 1000)).await.unwrap(), of);
            let links = store.read(move |s| s.links(id)).await.unwrap();
            let kept = |link: &super::items::Link| {
                let (from, to) = if link.reversed { (link.other, id) } else { (id, link.other) };
                self.links.iter().any(|(a, kind, b)| (*a, *kind, *b) == (from, link.kind.as_str(), to))
            };
            let count = self.links.iter().filter(|(a, _, b)| *a == id || *b == id).count();
            assert!(links.len() == count && links.iter().all(kept), "{links:?}");
        }
        for (key, id) in self.keys.clone() {
            assert_eq!(store.read(move |s| s.item(&key)).await.unwrap().unwrap().id, id, "an earlier key");
        }
        let queue: Vec<i64> = store.read(|s| s.queue("ada")).await.unwrap().into_iter().map(|item| item.id).collect();
        let there = |id: &&i64| self.items.iter().any(|item| item.id == **id && item.removed.is_none());
        assert_eq!(queue, self.order.iter().filter(there).copied().collect::<Vec<_>>());
        let changes = store.read(|s| s.days(Timestamp::from_millis(0), &[])).await.unwrap();
        let counted: i64 = changes.iter().flat_map(|day| &day.counts).map(|(_, count)| count).sum();
        assert_eq!(counted, self.changes, "each change leaves one row");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_store_holds_what_a_model_holds(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = Arc::new(tempfile::tempdir().unwrap());
            let mut store = fresh(folder.path()).await;
            store.write(|s| s.put_project("APP", "App", AT)).await.unwrap();
            let mut model = Model::default();
            for step in &steps {
                model.take(step, &store).await;
                if matches!(step, Step::Reopen) {
                    store = Store::new(folder.path());
                }
            }
            model.compare(&store).await;
            drop(store);
            backup::verify(&folder.path().join(FILE)).unwrap();
        });
    }
}
