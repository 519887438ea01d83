//! What seats remember, against a model; and what each row has to keep.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::clock::Timestamp;
use crate::store::{Store, StoreError};

const NOON: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn store() -> (Store, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (Store::new(folder.path()), folder)
}

fn after(millis: i64) -> Timestamp {
    Timestamp::from_millis(NOON.millis() + millis)
}

fn entry(agent: &str, content: &str, kind: DiaryKind) -> NewEntry {
    NewEntry {
        agent_id: agent.to_owned(),
        kind,
        content: content.to_owned(),
        source: "test".to_owned(),
        turn_id: None,
        metadata: "{}".to_owned(),
        at: NOON,
    }
}

async fn write<T: Send + 'static>(
    store: &Store,
    job: impl FnOnce(&crate::store::WriteStore<'_>) -> Result<T, StoreError> + Send + 'static,
) -> T {
    store.write(job).await.unwrap()
}

async fn read<T: Send + 'static>(
    store: &Store,
    job: impl FnOnce(&crate::store::ReadStore<'_>) -> Result<T, StoreError> + Send + 'static,
) -> T {
    store.read(job).await.unwrap()
}

async fn like(store: &Store, agent: &'static str, like: Likeness, at: Timestamp) -> Vec<String> {
    let found = read(store, move |store| store.diary_like(agent, &like, at, 5)).await;
    found.into_iter().map(|entry| entry.content).collect()
}

#[tokio::test]
async fn a_diary_is_its_seats_alone_and_what_is_over_is_not_found() {
    let (store, _folder) = store();
    write(&store, |store| {
        store.write_diary(&entry("a", "Deployments run on Tuesdays", DiaryKind::Long))?;
        store.write_diary(&entry("a", "deployment freeze", DiaryKind::Short { until: after(1000) }))?;
        store.write_diary(&entry("b", "deployment secret of b", DiaryKind::Long))
    })
    .await;
    // Stemmed words, the seat's own, not yet over.
    let text = || Likeness::to("when are our deployments?", None);
    assert_eq!(like(&store, "a", text(), NOON).await.len(), 2);
    assert_eq!(like(&store, "a", text(), after(1000)).await, ["Deployments run on Tuesdays"]);
    assert_eq!(like(&store, "b", text(), NOON).await, ["deployment secret of b"]);
    assert_eq!(like(&store, "c", text(), NOON).await, Vec::<String>::new());
    // Words that would be operators of the index, and no words at all.
    for nothing in ["owner:x61 OR", "\" ) OR (", "", "NEAR", "*"] {
        assert_eq!(like(&store, "a", Likeness::to(nothing, None), NOON).await, Vec::<String>::new(), "{nothing:?}");
    }
    let newest = read(&store, |store| store.diary("a", NOON, 10)).await;
    assert_eq!(newest.iter().map(|entry| entry.content.as_str()).collect::<Vec<_>>()[0], "deployment freeze");
    assert_eq!(read(&store, |store| store.diary_length("a", after(1000))).await, 1);
    // What is over is not only hidden: the next entry takes it away, for whoever asks and whenever.
    write(&store, |store| {
        store.write_diary(&NewEntry { at: after(1000), ..entry("b", "x", DiaryKind::Long) })?;
        assert_eq!(store.diary_length("a", NOON)?, 2, "another seat's stays");
        store.write_diary(&NewEntry { at: after(1000), ..entry("a", "y", DiaryKind::Long) })
    })
    .await;
    let kept = read(&store, |store| store.diary("a", NOON, 10)).await;
    assert_eq!(
        kept.iter().map(|entry| entry.content.as_str()).collect::<Vec<_>>(),
        ["y", "Deployments run on Tuesdays"]
    );
    assert_eq!(like(&store, "a", text(), NOON).await, ["Deployments run on Tuesdays"]);
}

#[tokio::test]
async fn the_newest_entries_are_read_as_far_as_there_is_room_for_them() {
    let (store, _folder) = store();
    write(&store, |store| {
        for content in ["x".repeat(100), "22".to_owned(), "é".to_owned(), "y".repeat(1000)] {
            store.write_diary(&entry("a", &content, DiaryKind::Long))?;
        }
        store.write_diary(&entry("b", "another's", DiaryKind::Long)).map(|_| ())
    })
    .await;
    let lengths = async |limit: i64, bytes: i64| -> Vec<usize> {
        let newest = read(&store, move |store| store.newest_diary("a", NOON, (limit, bytes))).await;
        newest.iter().map(|entry| entry.content.len()).collect()
    };
    assert_eq!(lengths(50, 10_000).await, [1000, 2, 2, 100]);
    assert_eq!(lengths(50, 1003).await, [1000, 2]);
    assert_eq!(lengths(50, 10).await, [1000], "the newest one in any case");
    assert_eq!(lengths(3, 10_000).await, [1000, 2, 2]);
}

fn vector(model: &str, numbers: &[f32]) -> Vector {
    Vector { model: model.to_owned(), numbers: numbers.to_vec() }
}

#[tokio::test]
async fn rows_without_a_vector_are_found_by_their_words_beside_those_with_one() {
    let (store, _folder) = store();
    write(&store, |store| {
        for content in ["north", "east", "south"] {
            store.write_diary(&entry("a", content, DiaryKind::Long))?;
        }
        Ok(())
    })
    .await;
    let waiting = read(&store, |store| store.unembedded("m", NOON, 10)).await;
    assert_eq!(waiting.iter().map(|row| row.text.as_str()).collect::<Vec<_>>(), ["south", "east", "north"]);
    write(&store, move |store| {
        store.embed(&waiting[2], "m", Some(&vector("m", &[0.0, 1.0])))?;
        store.embed(&waiting[1], "m", Some(&vector("m", &[1.0, 0.0])))
    })
    .await;
    let waiting = read(&store, |store| store.unembedded("m", NOON, 10)).await;
    assert_eq!(waiting.len(), 1, "south still waits");
    let near = Likeness::to("south", Some(vector("m", &[0.2, 1.0])));
    let found = like(&store, "a", near, NOON).await;
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[..2].contains(&"south".to_owned()) && found[..2].contains(&"north".to_owned()), "{found:?}");
    // Another model's vectors, and those of another length, mean nothing here.
    for other in [vector("n", &[0.0, 1.0]), vector("m", &[0.0, 1.0, 0.0]), vector("m", &[0.0, 0.0])] {
        assert_eq!(like(&store, "a", Likeness::to("south", Some(other)), NOON).await, ["south"]);
    }
    assert_eq!(read(&store, |store| store.unembedded("n", NOON, 10)).await.len(), 3, "another model begins anew");
}

fn turn(handle: &str, task: &str, review: Review, millis: i64) -> NewEpisode {
    NewEpisode {
        agent_handle: handle.to_owned(),
        agent_role: "Role".to_owned(),
        task_id: None,
        turn_id: format!("t{millis}"),
        started: NOON,
        ended: after(millis),
        task_summary: task.to_owned(),
        plan_summary: String::new(),
        tools: vec!["a".to_owned(), "b".to_owned()],
        skills: Vec::new(),
        review,
    }
}

#[tokio::test]
async fn finished_turns_are_found_by_words_and_by_outcome() {
    let (store, _folder) = store();
    write(&store, |store| {
        store.add_episode(&turn("ops", "fix the login page", Review::Done, 10))?;
        store.add_episode(&turn("ops", "fix the build", Review::Failed, 20))?;
        // A handle that holds the other one's as a part.
        store.add_episode(&turn("ops-lead", "fix the login page, too", Review::Done, 30))
    })
    .await;
    let find = |words: &'static str, only| {
        read(&store, move |store| store.episodes_like("ops", &Likeness::to(words, None), only, 5))
    };
    let turns = |found: Vec<Episode>| found.into_iter().map(|episode| episode.turn_id).collect::<Vec<_>>();
    assert_eq!(turns(find("login", None).await), ["t10"]);
    assert_eq!(turns(find("fixing", None).await).len(), 2);
    assert_eq!(turns(find("fixing", Some(Review::Failed)).await), ["t20"]);
    let all = read(&store, |store| store.episodes("ops", None, 9)).await;
    assert_eq!((all[0].duration_ms, all[0].kind.as_str(), all[0].tools.len()), (20, "raw", 2));
}

#[tokio::test]
async fn a_skill_keeps_its_last_ten_texts() {
    let (store, _folder) = store();
    let new = NewSkill {
        agent_id: "a".to_owned(),
        name: "deploy".to_owned(),
        description: String::new(),
        body: "v1".to_owned(),
        at: NOON,
    };
    let again = new.clone();
    assert!(write(&store, move |store| store.add_skill(&new)).await.is_some());
    assert_eq!(write(&store, move |store| store.add_skill(&again)).await, None, "the name is taken");
    for n in 2..=14 {
        write(&store, move |store| {
            let skill = store.skill("a", "deploy")?.unwrap();
            let version = store.rewrite_skill(&skill, &format!("v{n}"), ("test", Some("why")), after(n))?;
            assert_eq!(version, n);
            Ok(())
        })
        .await;
    }
    let (skill, versions) = read(&store, |store| {
        let skill = store.skill("a", "deploy")?.unwrap();
        let versions = store.skill_versions(&skill)?;
        Ok((skill, versions))
    })
    .await;
    assert_eq!((skill.body.as_str(), skill.version), ("v14", 14));
    let kept: Vec<_> = versions.iter().map(|version| (version.version, version.body.clone())).collect();
    let expected: Vec<_> = (4..=13).rev().map(|n| (n, format!("v{n}"))).collect();
    assert_eq!(kept, expected);
    assert_eq!(read(&store, |store| store.skill("b", "deploy")).await, None, "another seat's");
}

#[tokio::test]
async fn the_last_marker_counts() {
    let (store, _folder) = store();
    for summary in ["first", "second"] {
        let marker = Marker {
            agent_id: "a".to_owned(),
            handle: "h".to_owned(),
            role: "r".to_owned(),
            chain_hash: summary.to_owned(),
            summary: summary.to_owned(),
            at: NOON,
        };
        write(&store, move |store| store.mark_onboarded(&marker)).await;
    }
    let kept = read(&store, |store| store.onboarded("a")).await.unwrap();
    assert_eq!((kept.summary.as_str(), kept.chain_hash.as_str()), ("second", "second"));
    assert_eq!(read(&store, |store| store.onboarded("b")).await, None);
}

/// What can happen to two diaries and their skills.
#[derive(Clone, Debug)]
enum Step {
    Write { agent: usize, content: String, days: Option<i64> },
    Found { nth: usize },
    Make { agent: usize, name: usize },
    Rewrite { agent: usize, name: usize, body: String },
    State { agent: usize, name: usize, state: usize },
    Pass { days: i64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let agent = 0..2_usize;
    let name = 0..3_usize;
    let step = prop_oneof![
        (agent.clone(), "[a-d ]{0,12}", prop::option::of(1..6_i64)).prop_map(|(agent, content, days)| Step::Write {
            agent,
            content,
            days
        }),
        (0..8_usize).prop_map(|nth| Step::Found { nth }),
        (agent.clone(), name.clone()).prop_map(|(agent, name)| Step::Make { agent, name }),
        (agent.clone(), name.clone(), "[a-z]{1,5}").prop_map(|(agent, name, body)| Step::Rewrite { agent, name, body }),
        (agent, name, 0..3_usize).prop_map(|(agent, name, state)| Step::State { agent, name, state }),
        (0..4_i64).prop_map(|days| Step::Pass { days }),
    ];
    prop::collection::vec(step, 0..40)
}

const AGENTS: [&str; 2] = ["a", "b"];
const NAMES: [&str; 3] = ["one", "two", "three"];
const DAY: i64 = 86_400_000;

/// The same in memory.
#[derive(Default)]
struct Model {
    now: i64,
    diary: Vec<(usize, String, Option<i64>, i64)>,
    skills: BTreeMap<(usize, &'static str), (String, i64, SkillState)>,
}

impl Model {
    fn diary_of(&self, agent: usize) -> Vec<(String, i64)> {
        let own = self
            .diary
            .iter()
            .rev()
            .filter(|(whose, _, until, _)| *whose == agent && until.is_none_or(|until| until > self.now));
        own.map(|(_, content, _, found)| (content.clone(), *found)).collect()
    }
}

async fn apply(step: Step, store: &Store, model: &mut Model) {
    let at = after(model.now);
    match step {
        Step::Write { agent, content, days } => {
            let until = days.map(|days| model.now + days * DAY);
            let kind = until.map_or(DiaryKind::Long, |until| DiaryKind::Short { until: after(until) });
            let new = entry(AGENTS[agent], &content, kind);
            write(store, move |store| store.write_diary(&new)).await;
            model.diary.push((agent, content, until, 0));
        }
        Step::Found { nth } => {
            let id = i64::try_from(nth).unwrap() + 1;
            write(store, move |store| store.note_retrieved(&[id], at)).await;
            if let Some(row) = model.diary.get_mut(nth) {
                row.3 += 1;
            }
        }
        Step::Make { agent, name } => {
            let name = NAMES[name];
            let (agent_id, text) = (AGENTS[agent].to_owned(), "first".to_owned());
            let new = NewSkill { agent_id, name: name.to_owned(), description: String::new(), body: text.clone(), at };
            let made = write(store, move |store| store.add_skill(&new)).await;
            assert_eq!(made.is_some(), !model.skills.contains_key(&(agent, name)));
            model.skills.entry((agent, name)).or_insert((text, 1, SkillState::Active));
        }
        Step::Rewrite { agent, name, body } => {
            let new = body.clone();
            let found = write(store, move |store| {
                let skill = store.skill(AGENTS[agent], NAMES[name])?;
                skill.map(|skill| store.rewrite_skill(&skill, &new, ("test", None), at)).transpose()
            })
            .await;
            let known = model.skills.get_mut(&(agent, NAMES[name]));
            assert_eq!(found.is_some(), known.is_some());
            if let Some(known) = known {
                (known.0, known.1) = (body, known.1 + 1);
                assert_eq!(found, Some(known.1));
            }
        }
        Step::State { agent, name, state } => {
            let state = SkillState::ALL[state];
            write(store, move |store| match store.skill(AGENTS[agent], NAMES[name])? {
                Some(skill) => store.set_skill_state(&skill, state, at),
                None => Ok(()),
            })
            .await;
            if let Some(known) = model.skills.get_mut(&(agent, NAMES[name])) {
                known.2 = state;
            }
        }
        Step::Pass { days } => model.now += days * DAY,
    }
}

async fn agree(store: &Store, model: &Model) {
    let at = after(model.now);
    for (agent, id) in AGENTS.into_iter().enumerate() {
        let (diary, length, skills) = read(store, move |store| {
            Ok((store.diary(id, at, 100)?, store.diary_length(id, at)?, store.skills(id, 100)?))
        })
        .await;
        let kept: Vec<_> = diary.iter().map(|entry| (entry.content.clone(), entry.retrieved)).collect();
        assert_eq!(kept, model.diary_of(agent));
        assert_eq!(length, i64::try_from(kept.len()).unwrap());
        let kept: Vec<_> =
            skills.into_iter().map(|skill| (skill.name, (skill.body, skill.version, skill.state))).collect();
        let mut expected: Vec<_> = model
            .skills
            .iter()
            .filter(|((whose, _), _)| *whose == agent)
            .map(|((_, name), known)| ((*name).to_owned(), known.clone()))
            .collect();
        expected.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(kept, expected);
        // By each word: exactly those rows that hold it.
        for word in ["a", "bb", "abc"] {
            let like = Likeness::to(word, None);
            let found = read(store, move |store| store.diary_like(id, &like, at, 100)).await;
            let mut found: Vec<String> = found.into_iter().map(|entry| entry.content).collect();
            let holds = |content: &str| content.split_whitespace().any(|own| own == word);
            let mut expected: Vec<String> = model
                .diary_of(agent)
                .into_iter()
                .map(|(content, _)| content)
                .filter(|content| holds(content))
                .collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{word}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn the_store_does_what_a_list_in_memory_would(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (store, _folder) = store();
            let mut model = Model::default();
            for step in steps {
                apply(step, &store, &mut model).await;
            }
            agree(&store, &model).await;
        });
    }
}
