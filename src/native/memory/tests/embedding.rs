//! Vectors from a service on loopback: what they find, and what an outage or a refusal costs.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::json;

use super::*;

/// What the service does with the inputs of a request.
type Does = fn(&[String]) -> (u16, String);

/// A service on loopback that answers each request with a status and a body made of the inputs.
fn service(answers: Vec<Does>) -> (Embedder, std::sync::mpsc::Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, asked) = std::sync::mpsc::sync_channel(16);
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = Vec::new();
            let mut part = vec![0; 65_536];
            let (head, body) = loop {
                let read = stream.read(&mut part).unwrap();
                bytes.extend_from_slice(&part[..read]);
                let text = String::from_utf8_lossy(&bytes).into_owned();
                if let Some((head, body)) = text.split_once("\r\n\r\n")
                    && let Ok(body) = serde_json::from_str::<Value>(body)
                {
                    break (head.to_owned(), body);
                }
            };
            let inputs: Vec<String> = serde_json::from_value(body["input"].clone()).unwrap();
            let (status, text) = answer(&inputs);
            let answer =
                format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}", text.len());
            stream.write_all(answer.as_bytes()).unwrap();
            if tell.send((head, body)).is_err() {
                return;
            }
        }
    });
    let url = Secret::new(format!("http://{address}/v1/"));
    (Embedder::new(&url, "m", Some(Secret::new("key-of-the-service"))).unwrap(), asked)
}

/// Animals near each other, whatever else far from them.
fn vectors(inputs: &[String]) -> (u16, String) {
    let animal = |text: &String| ["cat", "dog", "pet"].iter().any(|animal| text.contains(animal));
    let one = |(index, text): (usize, &String)| json!({"index": index, "embedding": if animal(text) { [1.0, 0.1] } else { [-0.2, 1.0] }});
    // In any order.
    let data: Vec<Value> = inputs.iter().enumerate().rev().map(one).collect();
    (200, json!({"data": data}).to_string())
}

/// Waits until rows have their vectors.
async fn embedded(bench: &Bench) {
    loop {
        let waiting = bench.memory.store.read(|store| store.unembedded("m", Timestamp::now(), 9));
        let waiting: Vec<crate::store::memory::Unembedded> = waiting.await.map_err(|error: StoreError| error).unwrap();
        if waiting.is_empty() {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_means_the_same_is_found_without_the_same_words() {
    let (embedder, asked) = service(vec![vectors, vectors, vectors]);
    let bench = bench_with(Some(embedder));
    let long = format!("a cat {}", "x".repeat(20_000));
    bench.text("s1", "reflect_and_persist", json!({"content": long})).await;
    embedded(&bench).await;
    bench.text("s1", "reflect_and_persist", json!({"content": "the build is slow"})).await;
    embedded(&bench).await;
    let found = bench.text("s1", "refresh_memory", json!({"context_hint": "pets"})).await;
    assert!(found.contains("1 of 2") && found.contains(&long), "whole: {}", found.len());
    let (head, body) = asked.recv().unwrap();
    assert!(head.starts_with("POST /v1/embeddings HTTP/1.1"), "{head}");
    assert!(head.to_lowercase().contains("authorization: bearer key-of-the-service"), "{head}");
    assert_eq!(body["model"], json!("m"));
    assert_eq!(body["input"][0].as_str().unwrap().chars().count(), 8_000, "only what is sent is trimmed");
    assert!(!format!("{:?}", bench.memory).contains("key-of-the-service"));
}

#[tokio::test]
async fn an_outage_loses_no_row_and_fails_no_tool() {
    let broken: Does = |_| (500, "no".to_owned());
    let nonsense: Does = |_| (200, "{\"data\": [{\"embedding\": []}]}".to_owned());
    let (embedder, _asked) = service(vec![broken, nonsense, vectors]);
    let bench = bench_with(Some(embedder));
    bench.text("s1", "reflect_and_persist", json!({"content": "a cat"})).await;
    let found = bench.text("s1", "refresh_memory", json!({"context_hint": "the cat"})).await;
    assert!(found.contains("a cat"), "by its words: {found}");
    // It is tried again, and the row gets its vector.
    tokio::time::timeout(std::time::Duration::from_secs(20), embedded(&bench)).await.unwrap();
}

#[tokio::test]
async fn a_service_that_refuses_everything_costs_no_row_its_vector() {
    let no_model: Does = |_| (400, String::new());
    let (embedder, _asked) = service(vec![no_model, no_model, vectors]);
    let bench = bench_with(None);
    bench.text("s1", "reflect_and_persist", json!({"content": "a cat"})).await;
    embedder.wake(&bench.memory.store);
    tokio::time::timeout(std::time::Duration::from_secs(20), embedded(&bench)).await.unwrap();
    let wanted = crate::store::memory::Vector { model: "m".to_owned(), numbers: vec![1.0, 0.1] };
    let id = agent_id("Acme", &"release".into());
    let found = bench
        .memory
        .store
        .read(move |store| store.diary_like(&id, &Likeness::to("pets", Some(wanted)), Timestamp::now(), 9));
    let found: Vec<_> = found.await.map_err(|error: StoreError| error).unwrap();
    assert_eq!(found.len(), 1, "found by its vector, which it has once the model is there");
}

#[tokio::test]
async fn a_text_that_is_refused_keeps_no_other_one_waiting() {
    let refuses: Does =
        |inputs| if inputs.iter().any(|text| text.contains("bad")) { (400, String::new()) } else { vectors(inputs) };
    let (embedder, _asked) = service(vec![refuses; 8]);
    let bench = bench_with(None);
    for content in ["a dog", "bad words", "a cat"] {
        bench.text("s1", "reflect_and_persist", json!({"content": content})).await;
    }
    embedder.wake(&bench.memory.store);
    tokio::time::timeout(std::time::Duration::from_secs(20), embedded(&bench)).await.unwrap();
}
