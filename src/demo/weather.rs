//! `weather`: made-up weather, without any network. Its hints are of the kinds that need a second look: none, one
//! of a wrong type, and two that contradict each other; the example configuration settles some of them.

use serde_json::{Map, Value, json};

use super::protocol::{Answer, Demo, Era, settle, text, tool};

/// Observations that were reported in this run.
#[derive(Default)]
pub(super) struct Weather {
    observations: Vec<(String, f64)>,
}

const SKIES: [&str; 6] = ["clear", "some cloud", "overcast", "drizzle", "rain", "fog"];
const KEPT: usize = 1000;

impl Weather {
    fn forecast(arguments: &Map<String, Value>) -> Result<Answer, String> {
        let city = text(arguments, "city")?;
        // Made up from the name: the same city always has the same weather.
        let seed = city.bytes().fold(7_usize, |seed, byte| (seed * 31 + usize::from(byte)) % 1009);
        let sky = SKIES.get(seed % SKIES.len()).copied().unwrap_or("clear");
        let celsius = seed % 28;
        let text = format!("{city}: {sky}, {celsius} °C (made up)");
        Ok(Answer::Data(text, json!({"city": city, "sky": sky, "celsius": celsius})))
    }

    fn report(&mut self, arguments: &Map<String, Value>) -> Result<Answer, String> {
        let station = text(arguments, "station")?;
        let celsius = arguments.get("celsius").and_then(Value::as_f64).ok_or("celsius is not a number")?;
        if self.observations.len() >= KEPT {
            return Err(format!("there are {KEPT} observations already; reset_stations forgets them"));
        }
        self.observations.push((station.to_owned(), celsius));
        Ok(Answer::Text(format!("noted {celsius} °C at {station}")))
    }

    fn history(&self) -> Answer {
        let lines: Vec<String> =
            self.observations.iter().map(|(station, celsius)| format!("{station}: {celsius} °C")).collect();
        Answer::Text(if lines.is_empty() { "no observations yet".to_owned() } else { lines.join("\n") })
    }

    fn reset(&mut self) -> Answer {
        let count = self.observations.len();
        self.observations.clear();
        Answer::Text(format!("forgot {count} observation(s)"))
    }
}

impl Demo for Weather {
    fn name(&self) -> &'static str {
        "weather"
    }

    fn era(&self) -> Era {
        Era::Older
    }

    fn instructions(&self) -> &'static str {
        "Made-up weather for demonstrations."
    }

    fn tools(&self) -> Vec<Value> {
        let string = |description: &str| json!({"type": "string", "description": description});
        let celsius = json!({"type": "number", "description": "Degrees Celsius."});
        vec![
            tool("forecast", "Tomorrow's weather in a city.", &[("city", string("The city."))], None),
            tool(
                "report_observation",
                "Notes a temperature at a station.",
                &[("station", string("The station.")), ("celsius", celsius)],
                None,
            ),
            tool("observations", "What was reported so far.", &[], Some(json!({"readOnlyHint": "true"}))),
            tool(
                "reset_stations",
                "Forgets all observations.",
                &[],
                Some(json!({"readOnlyHint": true, "destructiveHint": true})),
            ),
        ]
    }

    fn call(&mut self, tool: &str, arguments: &Map<String, Value>) -> Option<Answer> {
        Some(settle(match tool {
            "forecast" => Self::forecast(arguments),
            "report_observation" => self.report(arguments),
            "observations" => Ok(self.history()),
            "reset_stations" => Ok(self.reset()),
            _ => return None,
        }))
    }
}
